#include "why/rounds.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/print.h"
#include "base/text.h"
#include "why/inference.h"

#include <algorithm>
#include <chrono>
#include <fcntl.h>
#include <optional>
#include <set>
#include <thread>

namespace why {

namespace {

// What one round measures together.
struct Task {
  const InstrumentKind* kind = nullptr;
  int pid = -1;
  std::vector<std::string> measurements; // of those that its instrument takes
  std::vector<std::string> reasons;      // of each
  std::unique_ptr<Instrument> instrument = {};
  base::Status outcome = {};
};

struct Prepared {
  Instrument& instrument;
  base::Status& outcome;
};

// Gives how long the interval was.
uint64_t run_together(std::span<const Prepared> all, uint64_t interval_ns) {
  // Names and stacks are facts; nobody reads what the scripts themselves say.
  const base::Fd nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  session::Output output(nowhere.get(), session::Buffering::full, false);
  std::vector<session::Runner*> runners;
  const uint64_t begin = base::clock_ns();
  for (const Prepared& p : all) {
    p.instrument.begin();
    session::Runner* runner = p.instrument.runner();
    if (runner) p.outcome = runner->start(output);
    if (runner && p.outcome.ok()) runners.push_back(runner);
  }
  session::Runner::run(runners);
  const uint64_t passed = base::clock_ns() - begin;
  // Those that read counters need the interval, whatever scripts do.
  if (passed < interval_ns) std::this_thread::sleep_for(std::chrono::nanoseconds(interval_ns - passed));
  for (const Prepared& p : all)
    if (p.outcome.ok() && p.instrument.runner()) p.outcome = p.instrument.runner()->outcome();
  return base::clock_ns() - begin;
}

class Rounds {
public:
  Rounds(const Question& question, const session::Options& run, const Progress& progress) : question_(question), run_(run), progress_(progress) {}

  base::Result<Answer> find();

private:
  std::vector<Task> first_round();
  std::vector<Task> next_round(const std::vector<Need>& needs);
  std::string problem_of(const InstrumentKind* kind, int pid) const;
  void take(std::vector<Task>& tasks, uint64_t interval_ns);
  void finish(Task& task, uint64_t begin_ns, uint64_t interval_ns);
  void relate_to_calls(Fact& fact);
  void refuse(const Task& task, const base::Error& error);
  uint64_t left_ns() const;

  const Question& question_;
  const session::Options& run_;
  const Progress& progress_;
  std::shared_ptr<session::Shared> shared_ = std::make_shared<session::Shared>();
  Inference inference_;
  Answer answer_;
  std::set<std::pair<std::string, int>> asked_; // measurements that were taken, or cannot be
  uint64_t began_ns_ = base::clock_ns();
  double calls_ready_ = 0;   // the part of the calls' time in which they run or wait for a CPU
  std::optional<bool> were_called_; // and whether there were any; none: that was not measured
};

constexpr uint64_t round_ns = 3'000'000'000;
constexpr uint64_t least_round_ns = 1'000'000'000; // a shorter one tells too little

uint64_t Rounds::left_ns() const {
  const uint64_t passed = base::clock_ns() - began_ns_;
  return question_.limit_ns > passed ? question_.limit_ns - passed : 0;
}

void add_to(std::vector<Task>& tasks, const std::string& measurement, const std::string& reason, int pid) {
  const InstrumentKind* kind = find_instrument(measurement);
  auto task = std::ranges::find_if(tasks, [&](const Task& t) { return t.kind == kind && t.pid == pid; });
  if (task == tasks.end()) task = tasks.insert(task, {.kind = kind, .pid = pid, .measurements = {}, .reasons = {}});
  task->measurements.push_back(measurement);
  task->reasons.push_back(reason);
}

std::vector<Task> Rounds::first_round() {
  std::vector<Task> out;
  // First, as they say how the calls spend their time.
  if (!question_.function.empty())
    for (const MeasurementName& m : measurement_names)
      if (const InstrumentKind* kind = find_instrument(m.name); m.knows_calls && kind) {
        if (std::string problem = problem_of(kind, question_.pid); !problem.empty())
          answer_.taken.push_back({.measurement = std::string(m.name), .pid = question_.pid, .why = {}, .problem = std::move(problem)});
        else
          add_to(out, std::string(m.name), "", question_.pid);
      }
  for (const InstrumentKind& kind : instrument_kinds())
    for (std::string_view name : base::split(kind.measurements, ' '))
      if (kind.is_first) add_to(out, std::string(name), "", kind.needs_pid ? question_.pid : -1);
  return out;
}

// Why a measurement cannot be taken; empty: it can be.
std::string Rounds::problem_of(const InstrumentKind* kind, int pid) const {
  if (!kind) return "acu cannot take it yet";
  if (kind->needs_pid && pid < 0) return "it measures a process, and none is named";
  if (kind->cost > question_.max_cost) return base::print("it may take %.0f%% of a CPU, above --max-cost", kind->cost);
  return {};
}

// The most urgent ones, as many as one round can take without getting in each other's way.
std::vector<Task> Rounds::next_round(const std::vector<Need>& needs) {
  constexpr size_t most_tasks = 4;
  std::vector<Task> out;
  for (const Need& need : needs) {
    const std::optional<int64_t> target = base::parse_integer(need.target);
    const int pid = target ? static_cast<int>(*target) : question_.pid;
    const bool is_of_another = question_.pid >= 0 && pid != question_.pid; // who is not asked about
    if (is_of_another || !asked_.emplace(need.measurement, pid).second) continue;
    const InstrumentKind* kind = find_instrument(need.measurement);
    const std::string problem = problem_of(kind, pid);
    if (!problem.empty()) {
      answer_.taken.push_back({.measurement = need.measurement, .pid = pid, .why = need.text, .problem = problem});
      continue;
    }
    add_to(out, need.measurement, need.text, pid);
    if (out.size() == most_tasks) break;
  }
  return out;
}

void Rounds::refuse(const Task& task, const base::Error& error) {
  for (size_t i = 0; i < task.measurements.size(); i++)
    answer_.taken.push_back({.measurement = task.measurements[i], .pid = task.pid, .why = task.reasons[i], .problem = error.message});
}

void Rounds::take(std::vector<Task>& tasks, uint64_t interval_ns) {
  std::string what;
  for (const Task& t : tasks)
    for (const std::string& m : t.measurements) {
      asked_.emplace(m, t.pid);
      what += (what.empty() ? "" : ", ") + m + (t.pid < 0 ? "" : " of " + std::to_string(t.pid));
    }
  if (progress_) progress_(what, left_ns());
  for (Task& t : tasks) {
    // To prepare a script takes long on a busy host.
    if (&t != &tasks.front() && left_ns() < interval_ns + least_round_ns) {
      t.outcome = base::Error{base::Failure::runtime, "no time was left"};
      continue;
    }
    t.instrument = t.kind->make({.pid = t.pid, .interval_ns = interval_ns, .max_cost = question_.max_cost, .asked = question_.pid, .function = question_.function, .shared = shared_});
    t.outcome = t.instrument->prepare(run_);
  }
  std::vector<Prepared> all;
  for (Task& t : tasks)
    if (t.outcome.ok()) all.push_back({*t.instrument, t.outcome});
  const uint64_t begin_ns = base::clock_ns() - began_ns_;
  const uint64_t measured_ns = run_together(all, interval_ns);
  for (Task& t : tasks) finish(t, begin_ns, measured_ns);
}

// If calls are asked about, the process is as busy as they are.
void Rounds::relate_to_calls(Fact& fact) {
  const auto slot = [&](std::string_view name) -> Value* {
    const auto at = std::ranges::find(fact.slots, name, &std::pair<std::string_view, Value>::first);
    return at == fact.slots.end() ? nullptr : &at->second;
  };
  const auto number = [&](std::string_view name) { return std::get<double>(*slot(name)); };
  if (fact.kind->name == "process-time") {
    calls_ready_ = number("running") + number("runnable");
    were_called_ = calls_ready_ + number("waiting") > 0;
  }
  if (fact.kind->name == "process" && std::get<int64_t>(*slot("pid")) == question_.pid) *slot("busiest") = calls_ready_;
}

// Its facts, and that it was taken: what it did not find was not there.
void Rounds::finish(Task& task, uint64_t begin_ns, uint64_t interval_ns) {
  if (!task.outcome.ok()) return refuse(task, task.outcome.error());
  base::Result<std::vector<Fact>> facts = task.instrument->end(interval_ns);
  if (!facts.ok()) return refuse(task, facts.error());
  if (question_.wants_pictures)
    for (Picture& picture : task.instrument->pictures()) answer_.pictures.push_back(std::move(picture));
  for (size_t i = 0; i < task.measurements.size(); i++) {
    const std::string& name = task.measurements[i];
    Taken taken = {.measurement = name, .pid = task.pid, .why = task.reasons[i], .problem = {}, .begin_ns = begin_ns, .interval_ns = interval_ns};
    for (Fact& f : *facts) {
      if (f.measurement != name) continue;
      if (!question_.function.empty()) relate_to_calls(f);
      inference_.add(f), taken.facts++;
    }
    inference_.add({.kind = find_fact_kind("measured"),
                    .slots = {{"pid", int64_t{task.pid}}, {"seconds", static_cast<double>(interval_ns) / 1e9}},
                    .measurement = find_measurement_name(name)->name});
    answer_.taken.push_back(std::move(taken));
  }
}

base::Result<Answer> Rounds::find() {
  ACU_CHECK(begin_inference(inference_, question_));
  Conclusions conclusions;
  for (std::vector<Task> tasks = first_round(); !tasks.empty();) {
    take(tasks, std::min(round_ns, std::max(least_round_ns, left_ns() / 3)));
    if (!question_.function.empty() && !were_called_.value_or(false)) {
      answer_.notes.push_back(!were_called_ ? "how the calls of " + base::quoted(question_.function) + " spend their time could not be measured" : "no thread was seen in a call of " + base::quoted(question_.function) + "; `acu flame -p " + std::to_string(question_.pid) + "` shows which functions run");
      break;
    }
    conclusions = inference_.run();
    if (left_ns() < least_round_ns) break;
    tasks = next_round(conclusions.needs);
  }
  conclude(conclusions, question_, answer_);
  answer_.duration_ns = base::clock_ns() - began_ns_;
  answer_.cpu_ns = base::clock_ns(CLOCK_PROCESS_CPUTIME_ID);
  return std::move(answer_);
}

} // namespace

namespace {

// What no measurement has seen in the calls themselves is likely at most, and its size is the process's.
void weigh_for_calls(Answer& answer) {
  const auto knows_calls = [](const Evidence& e) { return e.supports && find_measurement_name(e.measurement)->knows_calls; };
  std::string others;
  for (Finding& f : answer.findings) {
    if (f.verdict > Verdict::likely || std::ranges::any_of(f.evidence, knows_calls)) continue;
    f.verdict = Verdict::likely;
    others += (others.empty() ? "" : ", ") + f.about.cause;
  }
  std::ranges::stable_sort(answer.findings, {}, &Finding::verdict);
  if (!others.empty()) answer.notes.push_back("the sizes of these are parts of the time of the whole process, not of the calls: " + others);
}

} // namespace

base::Status begin_inference(Inference& inference, const Question& question) {
  inference.load_own();
  if (!question.rules.empty()) ACU_CHECK(inference.load_folder(question.rules));
  inference.add({.kind = find_fact_kind("request"),
                 .slots = {{"kind", question.kind}, {"pid", int64_t{question.pid}}, {"name", question.name}},
                 .measurement = {}});
  return {};
}

void conclude(const Conclusions& conclusions, const Question& question, Answer& answer) {
  answer.findings = judge(conclusions);
  if (!question.function.empty()) weigh_for_calls(answer);
  // What other processes may have is no answer.
  std::erase_if(answer.findings, [&](const Finding& f) { return question.pid >= 0 && f.about.pid() >= 0 && f.about.pid() != question.pid && f.verdict >= Verdict::open; });
  answer.notes.insert(answer.notes.end(), conclusions.mistakes.begin(), conclusions.mistakes.end());
  if (!conclusions.stopped.empty()) answer.notes.push_back("rules were stopped while " + conclusions.stopped + " fired again and again");
}

base::Result<Answer> find_answer(const Question& question, const session::Options& run, const Progress& progress) {
  return Rounds(question, run, progress).find();
}

base::Result<std::vector<Fact>> measure(std::string_view measurement, const Subject& subject, const session::Options& run) {
  const InstrumentKind* kind = find_instrument(measurement);
  if (!kind) return base::Error{base::Failure::usage, "there is no measurement " + base::quoted(measurement)};
  if (!subject.function.empty() && !find_measurement_name(measurement)->knows_calls)
    return base::Error{base::Failure::usage, base::quoted(measurement) + " is of a whole process: leave out " + base::quoted(subject.function)};
  if (kind->needs_pid && subject.pid < 0) return base::Error{base::Failure::usage, base::quoted(measurement) + " measures a process: add -p PID"};
  const std::unique_ptr<Instrument> instrument = kind->make(subject);
  ACU_CHECK(instrument->prepare(run));
  base::Status outcome;
  const Prepared alone = {*instrument, outcome};
  const uint64_t measured_ns = run_together(std::span(&alone, 1), subject.interval_ns);
  ACU_CHECK(outcome);
  ACU_TRY(std::vector<Fact> facts, instrument->end(measured_ns));
  std::erase_if(facts, [&](const Fact& f) { return f.measurement != measurement; });
  return facts;
}

} // namespace why
