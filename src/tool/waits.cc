// `acu waits`: who waits for whom, and the bottlenecks.
#include "waits/waits.h"

#include "session/arguments.h"
#include "tool/tool.h"
#include "tool/whose.h"

namespace tool {

using spec::OptionId;

static base::Result<waits::Options> read_request(const session::Arguments& arguments) {
  waits::Options out;
  ACU_TRY(out.filter, read_target_filter(arguments));
  out.command = arguments.behind;
  if (arguments.words_before) return base::Error{base::Failure::usage, "`" + arguments.words[0] + "`: a command goes after `--`"};
  ACU_CHECK(require_target(out.filter, arguments));
  if (const std::string* text = arguments.value(OptionId::min_duration)) {
    ACU_TRY(out.min_duration_ns, session::read_time("--min-duration", *text, 1'000));
  }
  if (const std::string* text = arguments.value(OptionId::duration)) {
    ACU_TRY(out.duration_ns, session::read_time("--duration", *text));
  }
  if (const std::string* text = arguments.value(OptionId::top)) {
    ACU_TRY(out.top, session::read_count("--top", *text));
  }
  if (const std::string* file = arguments.value(OptionId::output)) out.output = *file;
  out.languages = runtime::show_of(arguments.text(OptionId::lang));
  out.json = arguments.has(OptionId::json);
  out.quiet = arguments.has(OptionId::quiet);
  return out;
}

int waits(const session::Arguments& arguments) {
  auto request = read_request(arguments);
  if (!request.ok()) return fail(request.error());
  auto status = waits::find_waits(*request);
  return status.ok() ? *status : fail(status.error());
}

} // namespace tool
