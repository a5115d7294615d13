// `acu report`: a recording as tables, or in another format.
#include "base/output_file.h"
#include "base/text.h"
#include "profile/formats.h"
#include "profile/interpreters.h"
#include "profile/slices.h"
#include "profile/tables.h"
#include "session/arguments.h"
#include "tool/range.h"
#include "tool/tool.h"

#include <unistd.h>

namespace tool {

using spec::OptionId;

static base::Result<int> show(const session::Arguments& arguments) {
  if (arguments.words.size() != 1)
    return base::Error{base::Failure::usage,
                       arguments.words.empty()
                           ? "no recording: give a file, or - (see `acu help report`)"
                           : "only one recording can be read at a time, not also `" + arguments.words[1] + "`"};
  profile::ReportOptions options;
  if (const std::string* by = arguments.value(OptionId::sort)) options.by = profile::sort_of(*by);
  if (const std::string* function = arguments.value(OptionId::function)) options.function = *function;
  if (const std::string* text = arguments.value(OptionId::top)) {
    ACU_TRY(options.top, session::read_count("--top", *text));
  }
  ACU_TRY(const profile::TimeRange range, read_range(arguments));
  const profile::Format* format = nullptr;
  const std::string* output = arguments.value(OptionId::output);
  if (output) {
    ACU_TRY(format, profile::format_of_output(*output));
  }
  ACU_TRY(profile::Profile p,
          profile::read_profile(arguments.words[0] == "-" ? "/dev/stdin" : arguments.words[0]));
  if (!range.is_whole()) ACU_CHECK(profile::keep_part(p, range));
  if (!format || !format->has_interpreters) profile::drop_interpreters(p);
  if (output) {
    ACU_CHECK(base::write_file(*output, format->write(p)));
    return 0;
  }
  say(arguments.has(OptionId::json) ? profile::report_json(p, options) : profile::report_text(p, options));
  return 0;
}

int report(Words words) {
  const spec::Subcommand& self = *spec::find_subcommand("report");
  auto arguments = session::parse_arguments(self, words);
  if (!arguments.ok()) return refuse(arguments.error().message);
  if (arguments->has(OptionId::help)) return say(session::help_text(self)), 0;
  auto shown = show(*arguments);
  return shown.ok() ? *shown : fail(shown.error());
}

} // namespace tool
