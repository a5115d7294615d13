// `acu flame` and `acu record`: a recording from the command line to a file.
#include "base/text.h"
#include "profile/formats.h"
#include "profile/tables.h"
#include "session/arguments.h"
#include "session/color.h"
#include "session/sampling.h"
#include "tool/tool.h"
#include "tool/whose.h"

#include <unistd.h>

namespace tool {

namespace {

using spec::OptionId;

struct Request {
  session::SamplingOptions sampling;
  std::string output;
  uint64_t top = 0; // functions that are printed
  bool quiet = false;
};

base::Error usage(std::string message) { return {base::Failure::usage, std::move(message)}; }

base::Result<uint64_t> read_number(std::string_view name, const std::string& text, uint64_t most) {
  auto number = base::parse_integer(text);
  if (!number || *number == 0 || *number > most)
    return usage("`" + std::string(name) + "` takes a number from 1 to " + std::to_string(most) + ", not `" +
                 text + "`");
  return *number;
}

base::Error unknown_kind(const std::string& word) {
  std::vector<std::string_view> names;
  std::string all;
  for (const spec::ProfileKind& k : spec::profile_kinds) names.push_back(k.name), all.append(k.name).append(", ");
  std::string_view near = base::nearest(word, names);
  return usage("there is no kind `" + word + "`; " + (near.empty() ? "there are " + all + "or a probe; a command goes behind `--`" : "did you mean `" + std::string(near) + "`?"));
}

// A kind of the table, or a probe.
base::Status read_kind(const session::Arguments& arguments, session::SamplingOptions& to) {
  const std::string* event = arguments.value(OptionId::event);
  if (const std::string* weight = arguments.value(OptionId::weight)) to.weight = *weight;
  if (event && *event == "cycles") to.kind = spec::find_profile_kind("cycles");
  if (arguments.words_before > 1) return usage("`" + arguments.words[1] + "`: a command goes behind `--`");
  if (arguments.words_before) {
    const std::string& word = arguments.words[0];
    if (event) return usage("`-e` is for the CPU, not for `" + word + "`");
    const spec::ProfileKind* kind = spec::find_profile_kind(word);
    if (!kind && word.find(':') == word.npos) return unknown_kind(word);
    if (kind) to.kind = kind;
    if (!kind) to.probe = word;
  }
  if (arguments.has(OptionId::leaks)) {
    if (to.kind->name != "alloc" && to.kind->name != "leaks") return usage("`--leaks` is for `alloc`");
    to.kind = spec::find_profile_kind("leaks");
  }
  if (arguments.has(OptionId::waker)) {
    if (to.kind->name != "offcpu" && to.kind->name != "offwake") return usage("`--waker` is for `offcpu`");
    to.kind = spec::find_profile_kind("offwake");
  }
  if (to.kind->follows_allocations && to.filter.pid < 0 && !to.filter.command)
    return usage("what is not freed is told of one process: acu flame alloc --leaks -p 4711, or of a command behind `--`");
  if (!to.weight.empty() && to.probe.empty())
    return usage("`--weight` is for a probe: acu flame tracepoint:syscalls:sys_exit_read --weight args.ret");
  return {};
}

base::Result<Request> read_request(const session::Arguments& arguments, std::string_view default_output) {
  Request out;
  session::SamplingOptions& s = out.sampling;
  ACU_TRY(s.filter, read_whose(arguments));
  s.command = arguments.behind;
  ACU_CHECK(read_kind(arguments, s));
  const bool is_cycles = s.kind->name == "cycles";
  if (const std::string* text = arguments.value(OptionId::frequency)) {
    ACU_TRY(s.rate, read_number("-F", *text, 10000));
  }
  // Of cycles a count is given: so many that a processor of 3 GHz makes as many samples.
  if (is_cycles) s.rate = 3'000'000'000 / s.rate;
  if (const std::string* text = arguments.value(OptionId::max_cost)) {
    ACU_TRY(uint64_t percent, read_number("--max-cost", *text, 10000));
    s.max_cost = static_cast<double>(percent);
  }
  if (const std::string* text = arguments.value(OptionId::duration)) {
    ACU_TRY(s.duration_ns, session::read_time("--duration", *text));
  }
  if (const std::string* text = arguments.value(OptionId::top)) {
    ACU_TRY(out.top, read_number("--top", *text, 1'000'000));
  }
  const std::string* output = arguments.value(OptionId::output);
  out.output = output ? *output : std::string(default_output);
  out.quiet = s.quiet = arguments.has(OptionId::quiet);
  ACU_TRY([[maybe_unused]] const profile::Format* format, profile::format_of_file(out.output));
  return out;
}

base::Status write(const Request& request, const session::Recording& recording) {
  ACU_TRY(const profile::Format* format, profile::format_of_file(request.output));
  return profile::write_file(request.output, format->write(recording.profile));
}

int make(Words words, std::string_view subcommand, std::string_view default_output) {
  const spec::Subcommand& self = *spec::find_subcommand(subcommand);
  auto arguments = session::parse_arguments(self, words);
  if (!arguments.ok()) return refuse(arguments.error().message);
  if (arguments->has(OptionId::help)) return say(session::help_text(self)), 0;
  auto request = read_request(*arguments, default_output);
  if (!request.ok()) return fail(request.error());
  bool waits = request->sampling.command.empty() && !request->sampling.duration_ns;
  if (waits && !request->quiet && ::isatty(STDERR_FILENO)) complain("recording; Ctrl-C ends it\n");
  auto recording = session::record(request->sampling);
  if (!recording.ok()) return fail(recording.error());
  if (auto written = write(*request, *recording); !written.ok()) return fail(written.error());
  if (!request->quiet) {
    const profile::Profile& p = recording->profile;
    complain(profile::header_text(p.about, p.total()));
    complain("wrote " + request->output + "\n");
  }
  if (request->top) say(profile::top_text(recording->profile, {.top = request->top}));
  return recording->command_status;
}

} // namespace

int flame(Words words) { return make(words, "flame", "flame.html"); }
int record(Words words) { return make(words, "record", "recording.acu"); }

} // namespace tool
