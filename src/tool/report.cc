// `acu report`: a recording as tables, or in another format.
#include "base/output_file.h"
#include "base/text.h"
#include "profile/formats.h"
#include "profile/interpreters.h"
#include "profile/slices.h"
#include "profile/tables.h"
#include "recording/exports.h"
#include "recording/report.h"
#include "session/arguments.h"
#include "tool/range.h"
#include "tool/tool.h"

#include <algorithm>
#include <unistd.h>

namespace tool {

using spec::OptionId;

// Tables, or with `format` a file.
static base::Result<int> show_profile(profile::Profile& p, const session::Arguments& arguments, const profile::Format* format) {
  profile::ReportOptions options;
  if (const std::string* by = arguments.value(OptionId::sort)) options.by = profile::sort_of(*by);
  if (const std::string* function = arguments.value(OptionId::function)) options.function = *function;
  if (const std::string* text = arguments.value(OptionId::top)) {
    ACU_TRY(options.top, session::read_count("--top", *text));
  }
  if (!format || !format->has_interpreters) profile::drop_interpreters(p);
  if (format) {
    ACU_CHECK(base::write_file(*arguments.value(OptionId::output), format->write(p)));
    return 0;
  }
  if (!options.function.empty() && std::ranges::none_of(profile::functions_of(p, options.by), [&](const profile::Row& r) { return base::glob_match(options.function, r.name); }))
    return base::Error{base::Failure::nothing_matched, "--function: no function of the recording matches " + base::quoted(options.function)};
  say(arguments.has(OptionId::json) ? profile::report_json(p, options) : profile::report_text(p, options));
  return 0;
}

// A recording of events: what is in it, its events in the format of another tool, or its CPU samples in a format for stacks.
static base::Result<int> show_events(const std::string& file, const session::Arguments& arguments) {
  const std::string* output = arguments.value(OptionId::output);
  const recording::Export* events_format = output ? recording::export_of_file(*output) : nullptr;
  const profile::Format* format = nullptr;
  if (output && !events_format) {
    ACU_TRY(format, profile::format_of_output(*output));
  }
  ACU_TRY(const recording::Reader reader, recording::Reader::open(file));
  ACU_TRY(const profile::TimeRange range, read_range(arguments));
  const uint64_t begin = reader.about().begin_ns;
  const recording::Part part = {.from_ns = begin + range.from.value_or(0), .until_ns = range.until ? begin + *range.until : ~uint64_t{0}};
  if (events_format) {
    ACU_CHECK(events_format->write(reader, part, *output));
    return 0;
  }
  const bool is_of_samples = format || arguments.has(OptionId::function) || arguments.has(OptionId::sort);
  recording::ReportOptions options;
  if (const std::string* text = arguments.value(OptionId::top)) {
    ACU_TRY(options.top, session::read_count("--top", *text));
  }
  if (!is_of_samples) {
    ACU_TRY(const std::string text, arguments.has(OptionId::json) ? recording::report_json(reader, part, options) : recording::report_text(reader, part, options));
    say(text);
    return 0;
  }
  ACU_TRY(profile::Profile p, recording::profile_of(reader, part));
  return show_profile(p, arguments, format);
}

static base::Result<int> show(const session::Arguments& arguments) {
  if (arguments.words.size() != 1)
    return base::Error{base::Failure::usage,
                       arguments.words.empty()
                           ? "no recording: give a file, or - (see `acu help report`)"
                           : "only one recording can be read at a time, not also `" + arguments.words[1] + "`"};
  ACU_TRY(const profile::TimeRange range, read_range(arguments));
  const std::string file = arguments.words[0] == "-" ? "/dev/stdin" : arguments.words[0];
  if (recording::is_event_recording_file(file)) return show_events(file, arguments);
  const profile::Format* format = nullptr;
  if (const std::string* output = arguments.value(OptionId::output)) {
    if (recording::export_of_file(*output) && !profile::format_of_file(*output).ok())
      return base::Error{base::Failure::usage, base::quoted(*output) + " is for events, but " + base::quoted(file) + " has only stacks\nhint: acu record --flight records events"};
    ACU_TRY(format, profile::format_of_output(*output));
  }
  ACU_TRY(profile::Profile p, profile::read_profile(file));
  if (!range.is_whole()) ACU_CHECK(profile::keep_part(p, range));
  return show_profile(p, arguments, format);
}

int report(const session::Arguments& arguments) {
  auto shown = show(arguments);
  return shown.ok() ? *shown : fail(shown.error());
}

} // namespace tool
