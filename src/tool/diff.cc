// `acu diff`: two recordings compared, as a table and a page.
#include "base/output_file.h"
#include "base/text.h"
#include "profile/diff.h"
#include "profile/formats.h"
#include "profile/interpreters.h"
#include "recording/report.h"
#include "profile/slices.h"
#include "session/arguments.h"
#include "tool/range.h"
#include "tool/tool.h"

namespace tool {

using spec::OptionId;

static base::Result<int> compare(const session::Arguments& arguments) {
  ACU_TRY(const profile::TimeRange range, read_range(arguments));
  const bool is_of_one = !range.is_whole();
  if (is_of_one && arguments.words.size() != 1)
    return base::Error{base::Failure::usage, "`--from` and `--until` take one recording: that range is compared with the rest"};
  if (!is_of_one && arguments.words.size() != 2)
    return base::Error{base::Failure::usage,
                       "`acu diff` takes two recordings, BEFORE and AFTER (see `acu help diff`)"};
  size_t top = 20;
  if (const std::string* text = arguments.value(OptionId::top)) {
    ACU_TRY(top, session::read_count("--top", *text));
  }
  const std::string* output = arguments.value(OptionId::output);
  if (output && !output->ends_with(".html"))
    return base::Error{base::Failure::usage,
                       "`" + *output + "`: a comparison is an .html page"};
  if (output) ACU_CHECK(base::check_output(*output));
  ACU_TRY(profile::Profile before, recording::read_profile(arguments.words[0]));
  ACU_TRY(profile::Profile after, recording::read_profile(arguments.words.back()));
  for (profile::Profile* p : {&before, &after}) profile::drop_interpreters(*p);
  if (is_of_one) {
    ACU_CHECK(profile::keep_part(before, range, profile::Part::outside));
    ACU_CHECK(profile::keep_part(after, range));
  }
  ACU_TRY(profile::Difference difference, profile::compare(before, after, arguments.words[0], arguments.words.back()));
  if (output) ACU_CHECK(base::write_file(*output, profile::difference_page(difference)));
  say(arguments.has(OptionId::json) ? profile::difference_json(difference, top)
                                    : profile::difference_text(difference, top));
  return 0;
}

int diff(const session::Arguments& arguments) {
  auto compared = compare(arguments);
  return compared.ok() ? *compared : fail(compared.error());
}

} // namespace tool
