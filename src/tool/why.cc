// `acu why`: finds the cause by itself.
#include "base/fd.h"
#include "base/text.h"
#include "proc/process_files.h"
#include "report/page.h"
#include "session/arguments.h"
#include "session/child.h"
#include "session/output.h"
#include "tool/tool.h"
#include "tool/whose.h"
#include "why/candidates.h"
#include "why/causes.h"
#include "why/core_question.h"
#include "why/page.h"
#include "why/recording_question.h"
#include "why/report.h"

#include <algorithm>
#include <fcntl.h>
#include <filesystem>

namespace tool {

namespace {

using spec::OptionId;

constexpr std::string_view kinds[] = {"slow", "growing", "stuck", "failing"};

struct Request {
  why::Question question;
  std::string measurement; // only this one; empty: answer the question
  session::Options run;
  bool json = false;
  std::string note; // how the process was chosen
};

// A container or a name is asked about by its busiest process.
base::Status choose_process(const session::Arguments& arguments, const session::TargetFilter& filter, Request& out) {
  const std::string* name = arguments.value(OptionId::comm);
  if (!name && filter.container.empty()) return {};
  if (name && (filter.pid >= 0 || !filter.container.empty())) return base::usage_error("`-p`, `--container` and `-C` cannot be combined");
  const std::string what = name ? "called " + base::quoted(*name) : "in container " + filter.container;
  const std::vector<int> all = name ? why::processes_called(*name) : why::processes_in(filter.cgroup);
  if (all.empty()) return base::Error{base::Failure::nothing_matched, "there is no process " + what};
  out.question.pid = why::busiest_of(all);
  if (all.size() > 1) out.note = "of " + std::to_string(all.size()) + " processes " + what + ", the busiest was looked at; -p asks about another";
  return {};
}

// The kind of question, a file, or the function of a process.
base::Status read_words(const session::Arguments& arguments, why::Question& out) {
  const bool has_process = arguments.has(OptionId::pid) || arguments.has(OptionId::comm) || arguments.has(OptionId::container);
  std::error_code none;
  for (const std::string& word : arguments.words) {
    const bool is_kind = std::ranges::find(kinds, word) != std::end(kinds);
    if (is_kind && out.kind != "any") return base::usage_error("`" + word + "`: one question at a time");
    if (is_kind)
      out.kind = word;
    else if (out.file.empty() && (!has_process || word.find_first_of("/.") != word.npos) && std::filesystem::is_regular_file(word, none))
      out.file = word;
    else if (has_process && out.function.empty())
      out.function = word;
    else
      return base::usage_error("`" + word + "`: ask `slow`, `growing`, `stuck` or `failing`, or nothing for any of them; or name a core dump, a recording, or with -p a function");
  }
  if (out.function.empty()) return {};
  if (out.kind != "any" && out.kind != "slow") return base::usage_error("`" + out.function + "`: calls of a function can be `slow`, not `" + out.kind + "`");
  out.kind = "slow";
  return {};
}

base::Result<Request> read_request(const session::Arguments& arguments) {
  Request out;
  ACU_CHECK(read_words(arguments, out.question));
  ACU_TRY(const session::TargetFilter filter, read_target_filter(arguments));
  if (filter.pids.size() > 1) return base::usage_error("-p: one process at a time; without -p, the whole host is looked at");
  out.question.pid = filter.pid;
  ACU_CHECK(choose_process(arguments, filter, out));
  if (const int pid = out.question.pid; pid >= 0) {
    ACU_CHECK(session::watch_process(pid));
    out.question.name = proc::name_of_process(pid);
  }
  if (!out.question.file.empty() && (out.question.pid >= 0 || arguments.has(OptionId::measure)))
    return base::usage_error("`" + out.question.file + "`: a file is asked about by itself, without -p, -C, --container and --measure");
  if (const std::string* text = arguments.value(OptionId::duration)) {
    ACU_TRY(out.question.limit_ns, session::read_time("--duration", *text, 1'000'000'000));
  }
  if (const std::string* file = arguments.value(OptionId::before)) {
    if (out.question.file.empty()) return base::usage_error("--before: name the later recording, too: acu why --before " + base::in_shell(*file) + " FILE");
    out.question.before = *file;
  }
  if (const std::string* folder = arguments.value(OptionId::rules)) out.question.rules = *folder;
  if (const std::string* name = arguments.value(OptionId::measure)) out.measurement = *name;
  if (const std::string* file = arguments.value(OptionId::output)) out.run.output_file = *file;
  out.question.wants_pictures = report::is_page(out.run.output_file);
  if (const std::string* text = arguments.value(OptionId::max_cost)) {
    ACU_TRY(out.question.max_cost, session::read_percent("--max-cost", *text));
  }
  out.run.pid = out.question.pid;
  out.run.quiet = true;
  out.json = arguments.has(OptionId::json) || arguments.text(OptionId::format) == "json";
  return out;
}

base::Status measure_one(const Request& request, session::Output& output) {
  ACU_TRY(const std::vector<why::Fact> facts, why::measure(request.measurement, {.pid = request.question.pid, .max_cost = request.question.max_cost, .function = request.question.function}, request.run));
  output.out(request.json ? why::facts_json(facts) : facts.empty() ? std::string("no facts\n") : why::facts_text(facts));
  return {};
}

base::Result<why::Answer> find_answer(Request& request, const why::Progress& progress) {
  if (request.question.file.empty()) return why::find_answer(request.question, request.run, progress);
  const base::Fd file(::open(request.question.file.c_str(), O_RDONLY | O_CLOEXEC));
  ACU_TRY(const std::string magic, base::read_up_to(file, 4, request.question.file));
  const bool is_core = magic == "\x7f" "ELF";
  if (is_core && !request.question.before.empty()) return base::usage_error("--before: " + base::quoted(request.question.file) + " is a core dump, not a recording");
  return is_core ? why::find_answer_in_core(request.question) : why::find_answer_in_recording(request.question);
}

base::Status answer(Request& request, session::Output& output, bool quiet) {
  const auto progress = [&](const std::string& what, uint64_t left_ns) {
    if (!quiet) complain("measuring " + what + " (at most " + std::to_string(left_ns / 1'000'000'000) + " s left)\n");
  };
  ACU_TRY(why::Answer found, find_answer(request, progress));
  if (!request.note.empty()) found.notes.insert(found.notes.begin(), request.note);
  output.out(request.json                      ? why::answer_json(request.question, found)
             : request.question.wants_pictures ? why::answer_page(request.question, found)
                                               : why::answer_text(request.question, found));
  return {};
}

} // namespace

int why(const session::Arguments& arguments) {
  if (arguments.has(OptionId::causes)) return say(why::causes_text()), 0;
  auto request = read_request(arguments);
  if (!request.ok()) return fail(request.error());
  auto output = session::Output::open(request->run);
  if (!output.ok()) return fail(output.error());
  const base::Status status = request->measurement.empty() ? answer(*request, **output, arguments.has(OptionId::quiet)) : measure_one(*request, **output);
  if (!status.ok()) return fail(status.error());
  const base::Status finished = (*output)->finish();
  return finished.ok() ? 0 : fail(finished.error());
}

} // namespace tool
