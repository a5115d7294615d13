// A recording of a simulated host, and what is true of it: make_recording FILE EVENTS [CPUS [THREADS]]. Threads of several processes run, are preempted, wait for locks, disks,
// peers and timers, and wake each other; a few start late or end. Prints JSON that test/timeline/run.py compares the page with: sums of time by state in a range, states of
// threads at some times, calls and samples in the range. The sums are made while the simulation runs, in another way than timeline::Maker makes them.
#include "recording/event_kinds.h"
#include "recording/writer.h"
#include "timeline/states.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <random>
#include <string>
#include <vector>

using recording::Batch;
using recording::Kind;
using timeline::State;

namespace {

constexpr uint64_t begin_ns = 1'000'000'000'000;
constexpr size_t chunk = 20'000, batch_kinds = recording::kind_rows.size();

struct Reason {
  State state;
  std::string_view syscall;
  uint64_t task_state;
  std::vector<std::string_view> user, kernel; // the innermost last
};
const std::array reasons = {
    Reason{State::lock, "futex", 1, {"main", "serve", "take_lock", "pthread_mutex_lock"}, {"do_syscall_64", "do_futex", "futex_wait"}},
    Reason{State::disk, "pread64", 2, {"main", "serve", "read_page"}, {"do_syscall_64", "filemap_read", "folio_wait_bit_common", "io_schedule"}},
    Reason{State::network, "recvfrom", 1, {"main", "serve", "read_request"}, {"do_syscall_64", "tcp_recvmsg", "sk_wait_data"}},
    Reason{State::sleeping, "clock_nanosleep", 1, {"main", "tick"}, {"do_syscall_64", "hrtimer_nanosleep", "do_nanosleep"}},
    Reason{State::gil, "futex", 1, {"main", "run_script", "take_gil", "pthread_cond_timedwait"}, {"do_syscall_64", "do_futex", "futex_wait"}},
    Reason{State::waiting, "epoll_wait", 1, {"main", "event_loop"}, {"do_syscall_64", "do_epoll_wait", "ep_poll"}},
};

struct Thread {
  uint32_t number = 0;
  State state = State::none;
  uint64_t since = 0, call_begin = 0;
  size_t reason = 0;
  uint32_t cpu = 0;
};
struct Call {
  uint64_t count = 0, total = 0, max = 0;
};

class Simulation {
public:
  Simulation(recording::Writer& writer, uint64_t events, size_t cpus, size_t threads) : writer_(writer), events_(events), cpus_(cpus), chance_(7) {
    for (size_t k = 0; k < batch_kinds; k++) batches_[k].kind = writer.add_kind(recording::kind_of(static_cast<Kind>(k)));
    for (size_t k = 0; k < batch_kinds; k++) batches_[k].columns.resize(recording::kind_of(static_cast<Kind>(k)).fields.size());
    make_names(threads);
  }
  void run();
  void finish(recording::About& about);
  void print() const;

private:
  struct Cpu {
    uint64_t next = 0;
    uint32_t thread = 0; // of threads_, 0: idle
  };
  uint32_t text(std::string_view t);
  uint32_t stack_of(const std::vector<std::string_view>& user, const std::vector<std::string_view>& kernel);
  void make_names(size_t threads);
  void add(Kind kind, uint64_t time, uint32_t cpu, uint32_t thread, std::initializer_list<uint64_t> values);
  void flush(size_t kind);
  void change(Thread& t, uint64_t time, State state);
  void call(uint64_t begin, uint64_t end, uint32_t cpu, const Thread& t, uint32_t name, bool is_syscall);
  void leave(Cpu& cpu, uint32_t number, uint64_t now);
  void wake_some(uint64_t now, uint32_t cpu, uint32_t by);
  uint64_t random(uint64_t from, uint64_t to) { return std::uniform_int_distribution<uint64_t>(from, to)(chance_); }

  recording::Writer& writer_;
  uint64_t events_, sent_ = 0, now_ = 0, dead_ = 0, steps_ = 0, sample_weight_ = 0;
  std::vector<Cpu> cpus_;
  std::mt19937_64 chance_;
  recording::Names names_;
  std::map<std::string, uint32_t, std::less<>> texts_;
  std::map<uint32_t, uint32_t> frames_; // by text
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> known_stacks_; // by caller and frame
  std::vector<Thread> threads_;
  std::deque<uint32_t> ready_;
  std::vector<uint32_t> blocked_;
  std::vector<uint32_t> stacks_, work_;
  std::array<Batch, batch_kinds> batches_;
  std::array<recording::Count, batch_kinds> counts_ = {};

public:
  uint64_t from = 0, until = 0; // of the sums, ns since the begin
  std::vector<std::array<uint64_t, timeline::state_rows.size()>> sums;
  std::map<uint32_t, Call> calls;
  struct Look {
    uint32_t thread;
    uint64_t time;
    State state;
  };
  std::vector<Look> looks;
};

uint32_t Simulation::text(std::string_view t) {
  if (const auto at = texts_.find(t); at != texts_.end()) return at->second;
  names_.texts.emplace_back(t);
  return texts_[std::string(t)] = static_cast<uint32_t>(names_.texts.size() - 1);
}

uint32_t Simulation::stack_of(const std::vector<std::string_view>& user, const std::vector<std::string_view>& kernel) {
  uint32_t caller = 0;
  const auto push = [&](std::string_view name, spec::FrameKind kind) {
    const auto [frame, is_new_frame] = frames_.try_emplace(text(name), static_cast<uint32_t>(names_.frames.size()));
    if (is_new_frame) names_.frames.push_back({text(name), kind == spec::FrameKind::user ? text("/usr/bin/server") : 0, kind});
    const auto [stack, is_new_stack] = known_stacks_.try_emplace({caller, frame->second}, static_cast<uint32_t>(names_.stacks.size()));
    if (is_new_stack) names_.stacks.push_back({caller, frame->second});
    caller = stack->second;
  };
  for (std::string_view f : user) push(f, spec::FrameKind::user);
  for (std::string_view f : kernel) push(f, spec::FrameKind::kernel);
  return caller;
}

void Simulation::make_names(size_t threads) {
  threads_.resize(threads + 1);
  sums.resize(threads + 1);
  constexpr std::array programs = {"nginx", "postgres", "python3", "redis-server", "backup", "java"};
  for (uint32_t i = 1; i <= threads; i++) {
    const uint32_t process = (i - 1) / 8, pid = 1000 + process * 100;
    names_.threads.push_back({.pid = pid, .tid = pid + (i - 1) % 8, .process = text(programs[process % programs.size()]), .name = text("worker" + std::to_string((i - 1) % 8))});
    threads_[i].number = i;
  }
  for (const Reason& r : reasons) stacks_.push_back(stack_of(r.user, r.kernel));
  for (int i = 0; i < 40; i++) {
    const std::string handler = "handle_" + std::to_string(i % 8), step = "step_" + std::to_string(i);
    work_.push_back(stack_of({"main", "serve", handler, step}, {}));
  }
}

void Simulation::add(Kind kind, uint64_t time, uint32_t cpu, uint32_t thread, std::initializer_list<uint64_t> values) {
  Batch& b = batches_[static_cast<size_t>(kind)];
  b.times.push_back(begin_ns + time), b.cpus.push_back(cpu), b.threads.push_back(thread);
  size_t column = 0;
  for (uint64_t v : values) b.columns[column++].push_back(v);
  sent_++;
  if (b.size() == chunk) flush(static_cast<size_t>(kind));
}

void Simulation::flush(size_t kind) {
  Batch& b = batches_[kind];
  if (!b.size()) return;
  counts_[kind].sent += b.size(), counts_[kind].kept += b.size();
  if (auto done = writer_.add(b, names_); !done.ok()) std::fprintf(stderr, "%s\n", done.error().message.c_str()), std::exit(1);
  b.times.clear(), b.cpus.clear(), b.threads.clear();
  for (auto& column : b.columns) column.clear();
}

void Simulation::change(Thread& t, uint64_t time, State state) {
  const uint64_t first = std::max(t.since, from), last = std::min(time, until);
  if (last > first) sums[t.number][static_cast<size_t>(t.state)] += last - first;
  if (looks.size() < 64 && time - t.since > 2 && t.state != State::none && random(0, 499) == 0) looks.push_back({t.number, t.since + (time - t.since) / 2, t.state});
  t.state = state, t.since = time;
}

void Simulation::call(uint64_t begin, uint64_t end, uint32_t cpu, const Thread& t, uint32_t name, bool is_syscall) {
  if (begin >= end) return;
  if (is_syscall)
    add(Kind::syscall, end, cpu, t.number, {end - begin, name, 0, 0});
  else
    add(Kind::call, end, cpu, t.number, {end - begin, name, 0});
  const uint64_t first = std::max(begin, from), last = std::min(end, until);
  if (last <= first) return;
  Call& c = calls[name];
  c.count++, c.total += last - first, c.max = std::max(c.max, last - first);
}

void Simulation::wake_some(uint64_t now, uint32_t cpu, uint32_t by) {
  for (size_t count = blocked_.size() > threads_.size() / 2 ? 2 : random(0, 1); count && !blocked_.empty(); count--) {
    std::swap(blocked_[random(0, blocked_.size() - 1)], blocked_.back());
    Thread& t = threads_[blocked_.back()];
    blocked_.pop_back();
    const Reason& r = reasons[t.reason];
    if (r.state == State::disk) add(Kind::block_io, now, cpu, t.number, {now - t.since, text(t.number % 2 ? "nvme0n1" : "sda"), text("read"), 4096, 0, now / 1000});
    add(Kind::sched_wakeup, now, cpu, by, {t.number, 0});
    change(t, now, State::runnable);
    ready_.push_back(t.number);
  }
}

// Its time is over: it waits, is preempted, or ends.
void Simulation::leave(Cpu& cpu, uint32_t number, uint64_t now) {
  const uint32_t here = static_cast<uint32_t>(&cpu - cpus_.data());
  Thread& t = threads_[cpu.thread];
  const uint64_t begin = t.since;
  const uint32_t work = work_[random(0, work_.size() - 1)];
  if (t.number) {
    const uint32_t handler = names_.frames[names_.stacks[names_.stacks[work].caller].frame].name, step = names_.frames[names_.stacks[work].frame].name;
    if (now - begin > 4000) call(begin + 1000, now - 1, here, t, step, false);
    call(begin + 500, now - 1, here, t, handler, false);
    if (sent_ % 5 == 0) add(Kind::cpu_sample, now - 1, here, t.number, {work, 1'000'000}), sample_weight_ += now - 1 >= from && now - 1 < until ? 1'000'000 : 0;
  }
  wake_some(now - 1, here, t.number);
  const uint64_t dice = random(0, 99);
  uint64_t task_state = 0;
  uint32_t stack = 0;
  State state = State::runnable;
  if (dice < 70) {
    t.reason = random(0, reasons.size() - 1), t.call_begin = now;
    state = reasons[t.reason].state, task_state = reasons[t.reason].task_state, stack = stacks_[t.reason];
  } else if (dice == 99 && dead_ < threads_.size() / 10) {
    dead_++, state = State::none, task_state = 0x80;
    add(Kind::process_exit, now - 1, here, t.number, {});
  }
  add(Kind::sched_switch, now, here, t.number, {number, t.number ? task_state : 0, t.number ? stack : 0});
  if (!t.number) return;
  change(t, now, state);
  if (state == State::runnable) ready_.push_back(t.number);
  else if (state != State::none) blocked_.push_back(t.number);
}

void Simulation::run() {
  for (uint32_t i = 1; i < threads_.size(); i++) {
    add(Kind::process_start, i, 0, 0, {i});
    change(threads_[i], i, State::runnable);
    ready_.push_back(i);
  }
  for (size_t c = 0; c < cpus_.size(); c++) cpus_[c].next = threads_.size() + 100 + c;
  while (sent_ < events_) {
    const auto cpu = std::ranges::min_element(cpus_, {}, &Cpu::next);
    const auto here = static_cast<uint32_t>(cpu - cpus_.begin());
    now_ = std::max(cpu->next, now_ + 3); // no two CPUs do anything at one time, so the order of all events is known
    const uint32_t next = ready_.empty() ? 0 : ready_.front();
    if (next) ready_.pop_front();
    if (next || cpu->thread) leave(*cpu, next, now_);
    else wake_some(now_ - 1, here, 0);
    cpu->thread = next;
    if (next) {
      Thread& t = threads_[next];
      change(t, now_, State::running);
      if (t.call_begin) call(std::exchange(t.call_begin, 0), now_, here, t, text(reasons[t.reason].syscall), true);
    }
    if (++steps_ % 1000 == 0) add(Kind::log, now_, here, next, {text("slow request")});
    if (sent_ % 16 == 0) add(Kind::counter, now_, here, next, {text("run queue"), ready_.size()});
    cpu->next = now_ + random(2'000, random(0, 9) ? 60'000 : 900'000);
  }
  add(Kind::mark, now_ * 6 / 10, 0, 0, {text("p99 over 10 ms")});
}

void Simulation::finish(recording::About& about) {
  for (Thread& t : threads_)
    if (t.number) change(t, now_ + 1000, t.state);
  for (size_t k = 0; k < batch_kinds; k++) flush(k);
  about.end_ns = begin_ns + now_ + 1000;
  if (auto done = writer_.finish(about, counts_); !done.ok()) std::fprintf(stderr, "%s\n", done.error().message.c_str()), std::exit(1);
}

void Simulation::print() const {
  std::printf("{\"events\":%lu,\"lines\":%lu,\"length\":%lu,\"from\":%lu,\"until\":%lu,\"samples_ns\":%lu,\"states\":{", sent_, steps_ / 1000, now_ + 1000, from, until, sample_weight_);
  for (uint32_t i = 1; i < threads_.size(); i++) {
    std::printf("%s\"%u\":[", i > 1 ? "," : "", i);
    for (size_t s = 0; s < sums[i].size(); s++) std::printf("%s%lu", s ? "," : "", sums[i][s]);
    std::printf("]");
  }
  std::printf("},\"calls\":{");
  bool is_first = true;
  for (const auto& [name, c] : calls) std::printf("%s\"%s\":[%lu,%lu,%lu]", std::exchange(is_first, false) ? "" : ",", names_.texts[name].c_str(), c.count, c.total, c.max);
  std::printf("},\"looks\":[");
  for (size_t i = 0; i < looks.size(); i++) std::printf("%s[%u,%lu,%u]", i ? "," : "", looks[i].thread, looks[i].time, static_cast<unsigned>(looks[i].state));
  std::printf("]}\n");
}

} // namespace

int main(int argc, char** argv) {
  if (argc < 3) return std::fprintf(stderr, "usage: make_recording FILE EVENTS [CPUS [THREADS]]\n"), 2;
  const auto number = [&](int i, unsigned long otherwise) { return i < argc ? std::strtoul(argv[i], nullptr, 10) : otherwise; };
  const uint64_t events = number(2, 0);
  recording::About about{.what = "a simulated host", .host = "example", .version = "test", .begin_ns = begin_ns, .begin_wall_ns = 1'700'000'000'000'000'000, .cpus = static_cast<uint32_t>(number(3, 8))};
  auto writer = recording::Writer::create(argv[1], about);
  if (!writer.ok()) return std::fprintf(stderr, "%s\n", writer.error().message.c_str()), 1;
  Simulation simulation(*writer, events, number(3, 8), number(4, 200));
  // About the middle of the recording: an event takes about 2 µs of its time.
  simulation.from = events * 700, simulation.until = events * 1100;
  simulation.run();
  simulation.finish(about);
  simulation.print();
}
