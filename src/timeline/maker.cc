#include "timeline/maker.h"

#include "timeline/wait_kinds.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace timeline {

using recording::Batch;
using recording::EventKind;
using recording::FieldType;
using recording::Meaning;

namespace {

constexpr uint64_t dead_states = 0x10 | 0x20 | 0x80; // EXIT_DEAD, EXIT_ZOMBIE, TASK_DEAD (include/linux/sched.h)

// What the scheduler did. Of one time, a thread starts before it is woken, is woken before it runs, and ends before it leaves its CPU.
struct Step {
  uint64_t time;
  enum What : uint8_t { start, wake, exit, swap } what;
  bool is_dead = false, is_runnable = false; // of the thread that leaves its CPU
  uint32_t cpu, thread, other, stack;
};

// Of a thread: a call, or why it waits.
struct Interval {
  uint64_t begin, end;
  uint32_t name;    // text, or a kind and `is_kind`
  uint32_t stack;
  uint8_t of_class; // CallClass; of a reason to wait, State
};
constexpr uint32_t is_kind = uint32_t{1} << 31; // intervals without a name of their own are called as their kind

struct Value {
  uint64_t time;
  int64_t value;
};

// Columns of a batch, by what they mean; nullptr: the kind has none.
const std::vector<uint64_t>* column(const Batch& batch, const EventKind& kind, FieldType type, std::string_view name = {}) {
  for (size_t i = 0; i < kind.fields.size() && i < batch.columns.size(); i++)
    if (kind.fields[i].type == type && (name.empty() || kind.fields[i].name == name)) return &batch.columns[i];
  return nullptr;
}
uint32_t at(const std::vector<uint64_t>* column, size_t i) { return column ? static_cast<uint32_t>((*column)[i]) : 0; }

template<class T> T& slot(std::vector<T>& list, size_t i) {
  if (list.size() <= i) list.resize(i + 1);
  return list[i];
}

// Intervals as segments by depth: a call is below those that it began in.
void nest(std::vector<Interval>& intervals, uint32_t thread, Timeline& out) {
  std::ranges::sort(intervals, [](const Interval& a, const Interval& b) { return std::tie(a.begin, b.end) < std::tie(b.begin, a.end); });
  std::vector<uint64_t> open; // ends, the outermost call's first
  std::vector<Segments> rows;
  for (const Interval& i : intervals) {
    while (!open.empty() && open.back() <= i.begin) open.pop_back();
    const size_t depth = open.size();
    open.push_back(i.end);
    if (depth >= max_call_depth) {
      out.calls_left_out++;
      continue;
    }
    Segments& row = slot(rows, depth);
    // The end of the call before is the last segment; it is replaced where this one begins at once.
    row.add(i.begin, i.of_class, i.name);
    row.begins.push_back(i.end), row.classes.push_back(CALL_NONE), row.refs.push_back(0);
  }
  for (size_t depth = 0; depth < rows.size(); depth++) out.tracks.push_back({Track::calls, thread, static_cast<uint32_t>(depth), std::move(rows[depth])});
}

// What a thread waited for in a system call: its stack says it better than the call's name.
State reason_of(const Interval& call, std::string_view name, WaitKinds& waits) {
  if (const auto state = waits.of_stack(call.stack)) return *state;
  return wait_of_syscall(name).value_or(State::waiting);
}

// Waits that came without a stack, by what is known of their time. Of the reasons around the middle of a wait, the one that began last counts.
void explain_waits(Segments& s, std::vector<Interval>& reasons, uint64_t end) {
  std::ranges::stable_sort(reasons, {}, &Interval::begin);
  size_t next = 0;
  std::vector<const Interval*> open; // that have begun; one that has ended is no reason for later waits either
  for (size_t i = 0; i < s.size(); i++) {
    if (s.classes[i] != static_cast<uint8_t>(State::waiting) || s.refs[i]) continue;
    const uint64_t middle = s.begins[i] + (s.end_of(i, end) - s.begins[i]) / 2;
    while (next < reasons.size() && reasons[next].begin <= middle) open.push_back(&reasons[next++]);
    while (!open.empty() && open.back()->end < middle) open.pop_back();
    if (open.empty()) continue;
    s.classes[i] = open.back()->of_class, s.refs[i] = open.back()->stack;
  }
}

} // namespace

struct Maker::Parts {
  const recording::About& about;
  std::span<const EventKind> kinds;
  std::vector<Step> steps;
  std::vector<std::vector<Interval>> calls, reasons; // by thread
  std::map<uint32_t, std::vector<Value>> counters;   // by name
  std::map<uint32_t, std::vector<Value>> requests;   // by device: one more, one fewer
  std::map<uint32_t, std::vector<Value>> transfers;  // by operation (send, receive): bytes of each
  std::vector<Sample> samples;
  struct MarkOf {
    uint64_t time;
    uint32_t text;
    bool is_line;
  };
  std::vector<MarkOf> marks;
  std::set<uint32_t> observed; // threads with events other than the scheduler's
  uint64_t events = 0, swaps = 0;

  struct Thread {
    Segments segments;
    bool is_running = false;
    bool is_ending = false; // it may wait a few times before it is gone
  };
  struct Cpu {
    Segments segments;
    uint32_t thread = 0;
    bool is_known = false;
  };
  std::vector<Thread> threads;
  std::vector<Cpu> cpus;

  uint64_t since_begin(uint64_t time) const { return time > about.begin_ns ? time - about.begin_ns : 0; }
  uint64_t length() const { return about.end_ns - std::min(about.begin_ns, about.end_ns); }
  void add_steps(const Batch& batch, const EventKind& kind);
  void add_intervals(const Batch& batch, const EventKind& kind);
  void add_points(const Batch& batch, const EventKind& kind);
  void replay(WaitKinds& waits, Timeline& out);
  void swap(const Step& step, WaitKinds& waits, Timeline& out);
  void set(uint32_t thread, uint64_t time, State state, uint32_t ref);
  void forget(uint32_t thread);
  void fill_from_samples();
  void add_transfers(const Batch& batch, const EventKind& kind);
  void add_counter(uint32_t name, std::vector<Value>& values, Timeline& out);
  void add_rates(Timeline& out);
  void add_counters(Timeline& out);
  void add_threads(WaitKinds& waits, Timeline& out);
};

Maker::Maker(const recording::About& about, std::span<const EventKind> kinds) : parts_(std::make_unique<Parts>(about, kinds)) {}
Maker::~Maker() = default;

void Maker::add(const Batch& batch) {
  const EventKind& kind = parts_->kinds[batch.kind];
  parts_->events += batch.size();
  if (kind.meaning == Meaning::interval || kind.meaning == Meaning::sample) parts_->observed.insert(batch.threads.begin(), batch.threads.end());
  parts_->add_steps(batch, kind);
  if (kind.meaning == Meaning::interval) parts_->add_intervals(batch, kind);
  parts_->add_points(batch, kind);
  if (kind.name == "network") parts_->add_transfers(batch, kind);
}

void Maker::Parts::add_steps(const Batch& batch, const EventKind& kind) {
  Step::What what;
  if (kind.meaning == Meaning::sched)
    what = Step::swap;
  else if (kind.meaning == Meaning::wakeup)
    what = Step::wake;
  else if (kind.name == "process_start")
    what = Step::start;
  else if (kind.name == "process_exit")
    what = Step::exit;
  else
    return;
  const auto *other = column(batch, kind, FieldType::thread), *stack = column(batch, kind, FieldType::stack), *state = column(batch, kind, FieldType::number, "state");
  for (size_t i = 0; i < batch.size(); i++)
    steps.push_back({since_begin(batch.times[i]), what, state && ((*state)[i] & dead_states) != 0, state && (*state)[i] == 0, batch.cpus[i], batch.threads[i], at(other, i), at(stack, i)});
}

void Maker::Parts::add_intervals(const Batch& batch, const EventKind& kind) {
  const auto* duration = column(batch, kind, FieldType::duration);
  if (!duration) return;
  const bool is_lock = kind.name == "lock", is_disk = kind.name == "block_io";
  const uint8_t of_class = kind.name == "call" ? CALL_FUNCTION : kind.name == "syscall" ? CALL_SYSCALL : CALL_OTHER;
  const auto *name = column(batch, kind, FieldType::text), *stack = column(batch, kind, FieldType::stack);
  for (size_t i = 0; i < batch.size(); i++) {
    const uint64_t end = since_begin(batch.times[i]), begin = batch.times[i] > (*duration)[i] ? since_begin(batch.times[i] - (*duration)[i]) : 0;
    if (is_lock || is_disk) slot(reasons, batch.threads[i]).push_back({begin, end, 0, at(stack, i), static_cast<uint8_t>(is_lock ? State::lock : State::disk)});
    if (is_disk) {
      auto& changes = requests[at(name, i)];
      changes.push_back({begin, 1}), changes.push_back({end, -1});
    }
    if (!is_lock && !is_disk && end > begin) slot(calls, batch.threads[i]).push_back({begin, end, name ? at(name, i) : batch.kind | is_kind, at(stack, i), of_class});
  }
}

void Maker::Parts::add_points(const Batch& batch, const EventKind& kind) {
  const auto *text = column(batch, kind, FieldType::text), *value = column(batch, kind, FieldType::signed_number);
  const auto *stack = column(batch, kind, FieldType::stack), *weight = column(batch, kind, FieldType::duration);
  for (size_t i = 0; i < batch.size(); i++) {
    const uint64_t time = since_begin(batch.times[i]);
    if (kind.meaning == Meaning::sample) samples.push_back({time, weight ? (*weight)[i] : 0, batch.threads[i], at(stack, i)});
    if (kind.meaning == Meaning::counter && value) counters[at(text, i)].push_back({time, static_cast<int64_t>((*value)[i])});
    if (kind.meaning == Meaning::mark || kind.name == "log") marks.push_back({time, at(text, i), kind.meaning != Meaning::mark});
  }
}

void Maker::Parts::add_transfers(const Batch& batch, const EventKind& kind) {
  const auto *operation = column(batch, kind, FieldType::text, "operation"), *bytes = column(batch, kind, FieldType::number, "bytes");
  for (size_t i = 0; bytes && i < batch.size(); i++) transfers[at(operation, i)].push_back({since_begin(batch.times[i]), static_cast<int64_t>((*bytes)[i])});
}

// ---- the scheduler

void Maker::Parts::set(uint32_t thread, uint64_t time, State state, uint32_t ref) {
  if (thread == 0) return; // idle
  Thread& t = slot(threads, thread);
  t.segments.add(time, static_cast<uint8_t>(state), ref);
  t.is_running = state == State::running;
}

// That it ran was wrong at some time since: events were lost.
void Maker::Parts::forget(uint32_t thread) {
  if (thread == 0) return;
  Thread& t = slot(threads, thread);
  if (!t.is_running) return;
  t.segments.add(t.segments.begins.back(), static_cast<uint8_t>(State::unknown), 0);
  t.is_running = false;
}

void Maker::Parts::swap(const Step& step, WaitKinds& waits, Timeline& out) {
  Cpu& cpu = slot(cpus, step.cpu);
  swaps++;
  if (!cpu.is_known) {
    cpu.segments.add(0, step.thread ? CPU_BUSY : CPU_IDLE, step.thread);
    if (step.thread && slot(threads, step.thread).segments.begins.empty()) set(step.thread, 0, State::running, step.cpu);
  } else if (cpu.thread != step.thread) {
    out.out_of_step++;
    forget(cpu.thread), forget(step.thread);
    cpu.segments.classes.back() = CPU_UNKNOWN, cpu.segments.refs.back() = 0;
  }
  if (step.thread && slot(threads, step.thread).segments.begins.empty()) set(step.thread, 0, State::unknown, 0);
  if (step.is_runnable)
    set(step.thread, step.time, State::runnable, 0);
  else if (step.is_dead || slot(threads, step.thread).is_ending)
    set(step.thread, step.time, State::none, 0);
  else
    set(step.thread, step.time, waits.of_stack(step.stack).value_or(State::waiting), step.stack);
  if (step.other) {
    if (slot(threads, step.other).segments.begins.empty()) set(step.other, 0, State::unknown, 0);
    set(step.other, step.time, State::running, step.cpu);
  }
  cpu.segments.add(step.time, step.other ? CPU_BUSY : CPU_IDLE, step.other);
  cpu.thread = step.other, cpu.is_known = true;
}

void Maker::Parts::replay(WaitKinds& waits, Timeline& out) {
  std::ranges::stable_sort(steps, {}, [](const Step& s) { return std::tuple(s.time, s.what); });
  for (const Step& s : steps) {
    if (s.what == Step::swap) {
      swap(s, waits, out);
    } else if (s.what == Step::exit) {
      slot(threads, s.thread).is_ending = true;
    } else if (s.what == Step::start && s.other && slot(threads, s.other).segments.begins.empty()) {
      if (s.time) set(s.other, 0, State::none, 0);
      set(s.other, s.time, State::runnable, s.thread + 1);
    } else if (s.what == Step::wake && s.other) {
      Thread& t = slot(threads, s.other);
      if (t.segments.begins.empty()) set(s.other, 0, State::waiting, 0);
      // One that has not left its CPU yet goes on.
      const auto now = static_cast<State>(t.segments.classes.back());
      if (is_blocked(now) || now == State::none) set(s.other, s.time, State::runnable, (waits.is_interrupt(s.stack) ? 0 : s.thread) + 1);
    }
  }
  steps = {};
  // A recording of some processes has the switches to and from their threads only; nothing else is known of the threads before and after them.
  out.is_of_some = !observed.empty() && out.out_of_step * 20 > swaps;
}

// A recording of samples alone: a thread ran in the time that each stands for.
void Maker::Parts::fill_from_samples() {
  std::ranges::sort(samples, {}, &Sample::time);
  std::vector<bool> is_new;
  for (const Sample& s : samples) {
    if (!s.thread) continue;
    Segments& segments = slot(threads, s.thread).segments;
    if (is_new.size() <= s.thread) is_new.resize(s.thread + 1, false);
    if (segments.begins.empty()) is_new[s.thread] = true, segments.add(0, static_cast<uint8_t>(State::unknown), 0);
    if (!is_new[s.thread]) continue;
    segments.add(s.time - std::min(s.time, s.weight), static_cast<uint8_t>(State::running), 0); // not before the last one ended
    segments.add(s.time, static_cast<uint8_t>(State::unknown), 0);
  }
}

// ---- the end

void Maker::Parts::add_counter(uint32_t name, std::vector<Value>& values, Timeline& out) {
  Track track{Track::counter, name, 0, {}};
  std::ranges::stable_sort(values, {}, &Value::time);
  for (const Value& v : values) track.segments.begins.push_back(v.time), track.segments.classes.push_back(1), track.segments.values.push_back(v.value);
  out.tracks.push_back(std::move(track));
}

// Bytes a second, of up to 1,000 parts of the timeline; where nothing is transferred it is 0.
void Maker::Parts::add_rates(Timeline& out) {
  constexpr uint64_t ms = 1'000'000, second = 1'000 * ms;
  const uint64_t part = std::max(length() / 1'000, ms);
  for (const auto& [operation, values] : transfers) {
    std::map<uint64_t, int64_t> sums; // by part
    for (const Value& v : values) sums[v.time / part] += v.value;
    std::vector<Value> rates = {{0, 0}};
    for (const auto& [number, bytes] : sums) {
      if (rates.back().time == number * part) rates.pop_back();
      rates.push_back({number * part, static_cast<int64_t>(static_cast<double>(bytes) * static_cast<double>(second) / static_cast<double>(part))});
      if ((number + 1) * part < length()) rates.push_back({(number + 1) * part, 0});
    }
    out.names.texts.push_back("network, " + out.names.texts[operation] + ": bytes/s");
    add_counter(static_cast<uint32_t>(out.names.texts.size() - 1), rates, out);
  }
}

void Maker::Parts::add_counters(Timeline& out) {
  for (auto& [name, values] : counters) add_counter(name, values, out);
  for (auto& [device, changes] : requests) {
    std::ranges::stable_sort(changes, {}, &Value::time);
    int64_t now = 0;
    for (Value& v : changes) v.value = now += v.value;
    out.names.texts.push_back("requests of " + out.names.texts[device]);
    add_counter(static_cast<uint32_t>(out.names.texts.size() - 1), changes, out);
  }
  add_rates(out);
}

void Maker::Parts::add_threads(WaitKinds& waits, Timeline& out) {
  struct Row {
    bool is_recorded; // its process has events other than the scheduler's: it is what the recording is about
    uint64_t of_process, pid, ran;
    uint32_t thread;
  };
  std::vector<Row> rows;
  std::map<uint32_t, uint64_t> processes;
  std::set<uint32_t> recorded;
  for (uint32_t thread : observed) recorded.insert(out.names.threads[thread].pid);
  if (threads.size() < calls.size()) threads.resize(calls.size());
  const auto first_kind = static_cast<uint32_t>(out.names.texts.size());
  for (const EventKind& kind : kinds) out.names.texts.push_back(kind.name);
  for (uint32_t thread = 1; thread < threads.size(); thread++) {
    const Segments& s = threads[thread].segments;
    if (s.begins.empty() && slot(calls, thread).empty()) continue;
    uint64_t ran = 0;
    for (size_t i = 0; i < s.size(); i++)
      if (s.classes[i] == static_cast<uint8_t>(State::running)) ran += s.end_of(i, out.length) - s.begins[i];
    const uint32_t pid = out.names.threads[thread].pid;
    const bool is_recorded = recorded.contains(pid);
    if (out.is_of_some && !is_recorded) continue;
    processes[pid] += ran;
    rows.push_back({is_recorded, 0, pid, ran, thread});
  }
  for (Row& r : rows) r.of_process = processes[static_cast<uint32_t>(r.pid)];
  std::ranges::stable_sort(rows, std::ranges::greater{}, [](const Row& r) { return std::tuple(r.is_recorded, r.of_process, r.pid, r.ran); });
  for (const Row& r : rows) {
    Segments& s = threads[r.thread].segments;
    if (s.begins.empty()) s.add(0, static_cast<uint8_t>(State::unknown), 0);
    std::vector<Interval>& reason = slot(reasons, r.thread);
    for (Interval& i : slot(calls, r.thread)) {
      if (i.name & is_kind) i.name = first_kind + (i.name & ~is_kind);
      if (i.of_class == CALL_SYSCALL) reason.push_back({i.begin, i.end, 0, i.stack, static_cast<uint8_t>(reason_of(i, out.names.texts[i.name], waits))});
    }
    explain_waits(s, reason, out.length);
    out.tracks.push_back({Track::thread, r.thread, 0, std::move(s)});
    nest(calls[r.thread], r.thread, out);
  }
}

Timeline Maker::finish(const recording::Names& names) {
  Timeline out{.about = parts_->about, .names = names, .length = parts_->length(), .events = parts_->events};
  WaitKinds waits(names);
  parts_->replay(waits, out);
  parts_->fill_from_samples();
  out.samples = std::move(parts_->samples);
  std::ranges::stable_sort(parts_->marks, {}, &Parts::MarkOf::time);
  for (const auto& [time, text, is_line] : parts_->marks) out.marks.push_back({time, names.texts[text], is_line});
  for (size_t cpu = 0; cpu < parts_->cpus.size(); cpu++)
    if (parts_->cpus[cpu].is_known) out.tracks.push_back({Track::cpu, static_cast<uint32_t>(cpu), 0, std::move(parts_->cpus[cpu].segments)});
  parts_->add_counters(out);
  parts_->add_threads(waits, out);
  keep_part(out, 0, out.length);
  return out;
}

base::Result<Timeline> make_timeline(const recording::Reader& reader) {
  Maker maker(reader.about(), reader.kinds());
  ACU_CHECK(reader.each({}, [&](const Batch& batch) { return maker.add(batch), true; }));
  Timeline out = maker.finish(reader.names());
  for (const recording::Count& c : reader.counts()) out.lost += c.lost;
  return out;
}

} // namespace timeline
