// `acu why`: finds the cause by itself.
#include "session/arguments.h"
#include "session/output.h"
#include "tool/tool.h"
#include "tool/whose.h"
#include "why/causes.h"
#include "why/process_files.h"
#include "why/report.h"

#include <algorithm>

namespace tool {

namespace {

using spec::OptionId;

constexpr std::string_view kinds[] = {"slow", "growing", "stuck", "failing"};

base::Error usage(std::string message) { return {base::Failure::usage, std::move(message)}; }

struct Request {
  why::Question question;
  std::string measurement; // only this one; empty: answer the question
  session::Options run;
  bool json = false;
};

base::Result<Request> read_request(const session::Arguments& arguments) {
  Request out;
  for (const std::string& word : arguments.words) {
    if (std::ranges::find(kinds, word) == std::end(kinds))
      return usage("`" + word + "`: ask `slow`, `growing`, `stuck` or `failing`, or nothing for any of them");
    if (out.question.kind != "any") return usage("`" + word + "`: one question at a time");
    out.question.kind = word;
  }
  ACU_TRY(const session::TargetFilter filter, read_target_filter(arguments));
  if (filter.pids.size() > 1) return usage("-p: one process at a time; without -p, the whole host is looked at");
  out.question.pid = filter.pid;
  if (filter.pid >= 0) {
    out.question.name = why::name_of_process(filter.pid);
    if (out.question.name.empty()) return usage("there is no process " + std::to_string(filter.pid));
  }
  if (const std::string* text = arguments.value(OptionId::duration)) {
    ACU_TRY(out.question.limit_ns, session::read_time("--duration", *text, 1'000'000'000));
  }
  if (const std::string* folder = arguments.value(OptionId::rules)) out.question.rules = *folder;
  if (const std::string* name = arguments.value(OptionId::measure)) out.measurement = *name;
  if (const std::string* file = arguments.value(OptionId::output)) out.run.output_file = *file;
  out.run.pid = filter.pid;
  out.run.quiet = true;
  out.json = arguments.has(OptionId::json);
  return out;
}

base::Status measure_one(const Request& request, session::Output& output) {
  ACU_TRY(const std::vector<why::Fact> facts, why::measure(request.measurement, {.pid = request.question.pid}, request.run));
  output.out(request.json ? why::facts_json(facts) : facts.empty() ? std::string("no facts\n") : why::facts_text(facts));
  return {};
}

base::Status answer(const Request& request, session::Output& output, bool quiet) {
  const auto progress = [&](const std::string& what, uint64_t left_ns) {
    if (!quiet) complain("measuring " + what + " (at most " + std::to_string(left_ns / 1'000'000'000) + " s left)\n");
  };
  ACU_TRY(const why::Answer found, why::find_answer(request.question, request.run, progress));
  output.out(request.json ? why::answer_json(request.question, found) : why::answer_text(request.question, found));
  return {};
}

} // namespace

int why(Words words) {
  const spec::Subcommand& self = *spec::find_subcommand("why");
  auto arguments = session::parse_arguments(self, words);
  if (!arguments.ok()) return refuse(arguments.error().message);
  if (arguments->has(OptionId::help)) return say(session::help_text(self)), 0;
  if (arguments->has(OptionId::causes)) return say(why::causes_text()), 0;
  auto request = read_request(*arguments);
  if (!request.ok()) return fail(request.error());
  auto output = session::Output::open(request->run);
  if (!output.ok()) return fail(output.error());
  const base::Status status = request->measurement.empty() ? answer(*request, **output, arguments->has(OptionId::quiet)) : measure_one(*request, **output);
  if (!status.ok()) return fail(status.error());
  const base::Status finished = (*output)->finish();
  return finished.ok() ? 0 : fail(finished.error());
}

} // namespace tool
