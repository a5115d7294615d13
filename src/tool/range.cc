#include "tool/range.h"

namespace tool {

using spec::OptionId;

base::Result<profile::TimeRange> read_range(const session::Arguments& arguments) {
  profile::TimeRange out;
  if (const std::string* text = arguments.value(OptionId::from)) {
    ACU_TRY(out.from, session::read_time("--from", *text, 0));
  }
  if (const std::string* text = arguments.value(OptionId::until)) {
    ACU_TRY(out.until, session::read_time("--until", *text, 0));
  }
  if (out.until && out.from.value_or(0) >= *out.until)
    return base::Error{base::Failure::usage, "`--until` must be later than `--from`"};
  return out;
}

} // namespace tool
