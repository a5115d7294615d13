// `acu flame` and `acu record`: a recording from the command line to a file.
#include "base/output_file.h"
#include "profile/formats.h"
#include "profile/interpreters.h"
#include "profile/tables.h"
#include "session/arguments.h"
#include "tool/sampled.h"
#include "tool/tool.h"

#include <unistd.h>

namespace tool {

namespace {

using spec::OptionId;

struct Request {
  flame::SamplingOptions sampling;
  std::string output;
  uint64_t top = 0; // functions that are printed
  bool quiet = false;
};

base::Result<Request> read_request(const session::Arguments& arguments, std::string_view default_output) {
  Request out;
  ACU_TRY(out.sampling, read_sampling(arguments));
  if (const std::string* text = arguments.value(OptionId::top)) {
    ACU_TRY(out.top, session::read_count("--top", *text, 1'000'000));
  }
  const std::string* output = arguments.value(OptionId::output);
  out.output = output ? *output : std::string(default_output);
  out.quiet = out.sampling.quiet;
  ACU_TRY(const profile::Format* format, profile::format_of_output(out.output));
  if (out.sampling.split_ns && !format->has_slices)
    return base::Error{base::Failure::usage, "`--split` requires an .html or .acu file, not `" + out.output + "`"};
  out.sampling.has_links = format->has_links;
  if (format->has_interpreters && out.sampling.languages == runtime::Show::folded) out.sampling.languages = runtime::Show::foldable;
  return out;
}

base::Status write(const Request& request, const flame::Recording& recording) {
  ACU_TRY(const profile::Format* format, profile::format_of_file(request.output));
  return base::write_file(request.output, format->write(recording.profile));
}

// A file without samples is not a success: a calling script must notice.
int complain_of_nothing(std::string_view subcommand, const profile::About& about) {
  complain("acu " + std::string(subcommand) + ": nothing was recorded: no such event in " + profile::amount({.unit = "ns"}, about.duration_ns) + " of " +
           about.what + "\n");
  return 1;
}

int make(const session::Arguments& arguments, std::string_view subcommand, std::string_view default_output) {
  auto request = read_request(arguments, default_output);
  if (!request.ok()) return fail(request.error());
  bool waits = request->sampling.command.empty() && !request->sampling.duration_ns;
  if (waits && !request->quiet && ::isatty(STDERR_FILENO)) complain("recording; press Ctrl-C to stop\n");
  auto recording = flame::record(request->sampling);
  if (!recording.ok()) return fail(recording.error());
  if (auto written = write(*request, *recording); !written.ok()) return fail(written.error());
  profile::drop_interpreters(recording->profile);
  if (!request->quiet) {
    const profile::Profile& p = recording->profile;
    complain(profile::header_text(p.about, p.total()));
    complain("wrote " + request->output + "\n");
  }
  if (request->top) say(profile::top_text(recording->profile, {.top = request->top}));
  if (recording->command_status || !recording->profile.samples().empty()) return recording->command_status;
  return complain_of_nothing(subcommand, recording->profile.about);
}

// `--flight` is among the options, which end at `--`.
bool is_flight(Words words) {
  for (std::string_view word : words)
    if (word == "--" || word == "--flight") return word == "--flight";
  return false;
}

} // namespace

int flame(const session::Arguments& arguments) { return make(arguments, "flame", "flame.html"); }

int record(Words words) {
  if (is_flight(words)) return run_command("flight", words, flight);
  return run_command("record", words, [](const session::Arguments& arguments) { return make(arguments, "record", "recording.acu"); });
}

} // namespace tool
