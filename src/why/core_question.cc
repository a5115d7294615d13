#include "why/core_question.h"

#include "base/clock.h"
#include "base/print.h"
#include "profile/tables.h"
#include "snapshot/last_words.h"
#include "snapshot/summary.h"
#include "target/core_target.h"
#include "why/inference.h"
#include "why/program_code.h"

#include <algorithm>
#include <csignal>
#include <sys/syscall.h>

namespace why {

namespace {

constexpr std::string_view notes = "core-notes", memory = "core-memory";

StillThread thread_of(const target::Thread& t) {
  const auto word = [&](std::string_view name) { return t.registers[spec::x86_64.word_of(name)]; };
  StillThread out;
  out.tid = out.own_tid = t.id;
  out.state = 'S';
  out.call = static_cast<int64_t>(word(spec::x86_64.syscall_number));
  for (size_t i = 0; i < out.arguments.size(); i++) out.arguments[i] = word(spec::x86_64.syscall_arguments[i]);
  out.sp = word(spec::x86_64.sp);
  out.pc = word(spec::x86_64.ip);
  return out;
}

std::string reason_of(const target::Fault& fault) {
  constexpr uint64_t near_null = 4096; // bytes
  if (fault.signal == SIGABRT) return "abort";
  if (fault.signal == SIGSEGV && fault.address && *fault.address < near_null) return "null pointer";
  return std::string(fault.meaning);
}

// "p = 0x0, n = 5"
std::string values_of(const snapshot::Line& line) {
  constexpr size_t most_values = 6;
  std::string out;
  for (size_t i = 0; i < line.values.size() && i < most_values; i++) out += (i ? ", " : "") + line.values[i].name + " = " + line.values[i].text;
  return out;
}

// The innermost call of the program's own.
const snapshot::Line* own_line(const std::vector<snapshot::Line>& stack) {
  const auto is_own = [](const snapshot::Line& line) {
    symbol::Frame frame;
    frame.name = line.function, frame.module = line.module, frame.kind = line.kind;
    return !line.left_out && !line.function.empty() && !profile::is_shared_code(line.module, line.function) && !profile::is_of_library(frame);
  };
  const auto at = std::ranges::find_if(stack, is_own);
  return at == stack.end() ? nullptr : &*at;
}

class CoreFacts {
public:
  CoreFacts(target::Target& target, Inference& inference, Answer& answer) : target_(target), inference_(inference), answer_(answer) {}

  void add_notes();
  void add_memory();

private:
  void add(std::string_view kind, std::string_view measurement, Slots slots);
  void end(std::string_view measurement, uint64_t began_ns);
  void add_crash();

  target::Target& target_;
  Inference& inference_;
  Answer& answer_;
  size_t facts_ = 0; // of the measurement that is going on
};

void CoreFacts::add(std::string_view kind, std::string_view measurement, Slots slots) {
  inference_.add(fact_about(static_cast<int>(target_.pid()), kind, measurement, std::move(slots)));
  facts_++;
}

void CoreFacts::end(std::string_view measurement, uint64_t began_ns) {
  inference_.add(fact_about(static_cast<int>(target_.pid()), "measured", measurement, {{"seconds", 0.0}}));
  answer_.taken.push_back({.measurement = std::string(measurement), .interval_ns = base::clock_ns() - began_ns, .facts = std::exchange(facts_, 0)});
}

void CoreFacts::add_notes() {
  const uint64_t began = base::clock_ns();
  const std::vector<target::Thread>& threads = target_.threads();
  const std::string name(target_.name());
  add("process", notes, {{"name", name}, {"threads", static_cast<int64_t>(threads.size())}});
  const auto waiting = std::ranges::count_if(threads, [](const target::Thread& t) { return thread_of(t).call == SYS_futex; });
  if (waiting) add("syscall", notes, {{"call", std::string("futex")}, {"time", static_cast<double>(waiting) / static_cast<double>(threads.size())}});
  if (const target::Fault* f = target_.fault())
    add("crash-report", notes, {{"name", name}, {"signal", std::string(f->signal_name)}, {"reason", reason_of(*f)}});
  end(notes, began);
}

void CoreFacts::add_crash() {
  const target::Fault* f = target_.fault();
  if (!f) return;
  target::Stacks stacks(target_);
  probe::StoppedProgram stopped(target_, stacks);
  const std::vector<snapshot::Line> stack = snapshot::fault_stack(stopped);
  const snapshot::Line* line = own_line(stack);
  if (!line && !stack.empty()) line = &stack.front();
  std::string detail = snapshot::last_words(stopped);
  if (f->address) detail = base::print("address 0x%llx", static_cast<unsigned long long>(*f->address));
  Slots slots = {{"name", std::string(target_.name())}, {"signal", std::string(f->signal_name)}, {"reason", reason_of(*f)}};
  if (line) {
    const std::string values = values_of(*line);
    if (!values.empty()) detail += (detail.empty() ? "" : "; ") + values;
    const size_t slash = line->place.rfind('/');
    std::string place = line->place.substr(slash == std::string::npos ? 0 : slash + 1); // "crash.c:7:12"
    if (std::ranges::count(place, ':') > 1) place.resize(place.rfind(':'));
    put_location(slots, location_at(line->function, place));
  }
  slots.emplace_back("detail", std::move(detail));
  add("crash-report", memory, std::move(slots));
}

void CoreFacts::add_memory() {
  const uint64_t began = base::clock_ns();
  add_crash();
  std::map<uint32_t, StillThread> threads;
  for (const target::Thread& t : target_.threads()) threads[t.id] = thread_of(t);
  ProgramCode code(target_);
  const auto read = [&](uint64_t address, std::span<std::byte> to) { return target_.memory().read(address, to) == target::Missing::none; };
  for (Slots& slots : lock_cycles(threads, read, &code, 0)) add("lock-cycle", memory, std::move(slots));
  end(memory, began);
}

} // namespace

base::Result<Answer> find_answer_in_core(Question& question) {
  const uint64_t began = base::clock_ns();
  ACU_TRY(const std::unique_ptr<target::Target> target, target::open_core(question.file, {}));
  question.pid = static_cast<int>(target->pid());
  question.name = target->name();
  Answer out;
  Inference inference;
  ACU_CHECK(begin_inference(inference, question));
  CoreFacts facts(*target, inference, out);
  facts.add_notes();
  facts.add_memory();
  for (const std::string& problem : target->problems()) out.notes.push_back(problem);
  conclude(inference.run(), question, out);
  out.duration_ns = base::clock_ns() - began;
  out.cpu_ns = base::clock_ns(CLOCK_PROCESS_CPUTIME_ID);
  return out;
}

} // namespace why
