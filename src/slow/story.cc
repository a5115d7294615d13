// What a wait was for is told by its system call, and of futex(2) by who called that. Whoever ends the wait for a lock had
// it until then; that it had it all the time is known where the mutex itself said so when the wait began.
#include "slow/story.h"

#include "base/text.h"
#include "symbol/source_names.h"

#include <algorithm>
#include <map>
#include <unistd.h>

namespace slow {

namespace {

constexpr size_t nowhere = ~size_t{0};

std::string name_of_thread(uint32_t pid, uint32_t tid) {
  auto name = base::read_file("/proc/" + std::to_string(pid) + "/task/" + std::to_string(tid) + "/comm");
  return name.ok() ? std::string(base::trim(*name)) : std::string();
}

} // namespace

bool StoryWriter::is_function(std::string_view frame) const {
  return base::glob_match(function_, frame) || symbol::SourceName(function_).matches(frame);
}

size_t StoryWriter::place_of_function(const std::vector<std::string>& user) const {
  for (size_t i = user.size(); !function_.empty() && i-- > 0;)
    if (is_function(user[i])) return i;
  return nowhere;
}

bool StoryWriter::is_within(const StackId& user) { return place_of_function(waits_.stack({}, user).user) != nowhere; }

StoryWriter::Within StoryWriter::where_is(const StackId& user) {
  const std::vector<symbol::Frame>& frames = stacks_.frames(user);
  const auto is_call = [&](const symbol::Frame& f) { return !spec::is_note(f.kind) && !spec::is_inlined(f.kind) && is_function(f.name); };
  if (std::ranges::any_of(frames, is_call)) return Within::yes;
  return frames.empty() || spec::is_note(frames.back().kind) ? Within::unknown : Within::no;
}

// The wait of who had the lock meanwhile, and who that is.
void StoryWriter::tell_holder(const Wait& wait, NamedWait& out) {
  if (const std::string name = name_of_thread(wait.thread.pid, wait.owner); wait.owner && !name.empty())
    out.holder = Thread{.pid = wait.thread.pid, .tid = wait.owner, .name = name};
  out.waker_held = out.waker.has_value();
  if (!out.holder && out.waker) out.holder = out.waker;
  if (out.holder && out.waker && out.waker->tid == out.holder->tid) out.holder = out.waker;
  if (!out.holder) return;
  const Wait* own = notes_.longest_wait(out.holder->tid, wait.left, wait.woken);
  if (!own) return;
  out.busy = out.holder;
  out.busy_stack = waits_.stack(own->kernel, own->user);
  out.busy_with = waits_.what(*own, out.busy_stack);
  out.busy_ns = std::min(own->back, wait.woken) - std::max(own->left, wait.left);
}

void StoryWriter::tell_ender(const Wait& wait, NamedWait& out) {
  if (!wait.wake) return;
  const Wake& wake = *wait.wake;
  if (waits_.is_by_interrupt(wake)) {
    out.interrupt = waits_.interrupt(wake);
    return;
  }
  out.waker = wake.by;
  out.waker_stack = waits_.stack(wake.kernel, wake.user);
}

NamedWait StoryWriter::told(const Wait& wait) {
  NamedWait out;
  const NamedStack whole = waits_.stack(wait.kernel, wait.user);
  out.what = waits_.what(wait, whole);
  out.ns = wait.woken - wait.left;
  out.queued_ns = wait.queued_ns();
  out.is_preempted = wait.is_preempted;
  for (const Ran& r : wait.others) {
    // One that began before had only a part of it.
    const uint64_t from = std::max(r.until - std::min(r.until, r.ns), wait.woken);
    if (r.until > from && r.until <= wait.back) out.ran.emplace_back(r.thread, r.until - from);
  }
  if (out.ran.empty() && wait.ran.pid) out.ran.emplace_back(wait.ran, std::min(wait.ran_ns, wait.queued_ns()));
  out.cpu = wait.cpu;
  out.stack = whole;
  if (!wait.is_preempted) tell_ender(wait, out);
  if (waits_.is_for_lock(wait, whole)) tell_holder(wait, out);
  return out;
}

// Who had the CPU longest comes first.
static void add_ran(RanFor& all, const RanFor& more) {
  for (const auto& [thread, ns] : more) {
    const auto ran = std::ranges::find_if(all, [&](const auto& r) { return r.first.tid == thread.tid; });
    if (ran == all.end())
      all.emplace_back(thread, ns);
    else
      ran->second += ns;
  }
  std::ranges::stable_sort(all, std::greater(), [](const auto& r) { return r.second; });
}

// Of the time on the CPU by stack: that of the innermost functions.
static std::vector<NamedHot> hottest(const std::map<std::vector<std::string>, uint64_t>& seen, uint64_t whole_ns) {
  struct Leaf {
    uint64_t ns = 0;
    const std::vector<std::string>* most = nullptr; // its most frequent stack
    uint64_t most_ns = 0;
  };
  std::map<std::string_view, Leaf> leaves;
  for (const auto& [stack, ns] : seen) {
    Leaf& leaf = leaves[stack.empty() ? std::string_view() : std::string_view(stack.front())];
    leaf.ns += ns;
    if (ns > leaf.most_ns) leaf.most = &stack, leaf.most_ns = ns;
  }
  std::vector<NamedHot> out;
  for (const auto& [name, leaf] : leaves)
    if (leaf.ns * 10 >= whole_ns) out.push_back({.name = std::string(name), .on_cpu_ns = leaf.ns, .stack = {.kernel = {}, .user = *leaf.most, .end = {}}});
  std::ranges::stable_sort(out, std::greater(), [](const NamedHot& h) { return h.on_cpu_ns; });
  return out;
}

static void add(NamedTurns& all, const Turn& turn) {
  all.number++;
  all.queued_ns += turn.queued_ns;
  all.longest_ns = std::max(all.longest_ns, turn.queued_ns);
  if (turn.ran.pid) add_ran(all.ran, {{turn.ran, std::min(turn.ran_ns, turn.queued_ns)}});
}

static void add(std::vector<NamedWaits>& all, NamedWait wait) {
  const auto same = [&](const NamedWaits& w) {
    return w.longest.what == wait.what && w.longest.is_preempted == wait.is_preempted && w.longest.stack == wait.stack;
  };
  auto at = std::ranges::find_if(all, same);
  if (at == all.end()) at = all.insert(at, NamedWaits{.longest = wait});
  at->number++;
  at->ns += wait.ns;
  at->queued_ns += wait.queued_ns;
  if (wait.ns + wait.queued_ns > at->longest.ns + at->longest.queued_ns) at->longest = wait;
  add_ran(at->ran, wait.ran);
}

Story StoryWriter::tell(const Outlier& o) {
  Story out;
  out.thread = o.call.thread;
  out.start = o.call.start;
  out.ns = o.call.end - o.call.start;
  out.is_whole = o.is_whole;
  out.is_counted = o.call.is_counted;
  out.is_cut = o.is_cut;
  out.has_ended = o.call.has_ended;
  out.left_by = o.call.left_by;
  out.what = o.call.call >= 0 ? waits_.call(o.call.thread, o.call.call, o.call.arguments, o.call.has_ended ? &o.call.result : nullptr) : function_;
  if (out.what.empty()) out.what = what_;
  out.stack = waits_.stack({}, o.call.user);
  out.marks = !function_.empty();
  if (out.marks) out.stack.user.insert(out.stack.user.begin(), function_);
  std::map<std::string, NamedCallee> callees;
  // The frame that the function called, and from the function on outward.
  auto split = [&](NamedStack& stack) {
    const size_t at = place_of_function(stack.user);
    if (at == nowhere) return std::string();
    out.what = stack.user[at];
    out.stack.user.assign(stack.user.begin() + static_cast<ptrdiff_t>(at), stack.user.end());
    out.stack.end = stack.end;
    stack.user.resize(at);
    return at ? stack.user.back() : std::string();
  };
  for (const Wait& w : waits_.locks().join(o.waits, [this](const Wake& wake) { return waits_.is_by_interrupt(wake); })) {
    NamedWait told_wait = told(w);
    NamedCallee& callee = callees[split(told_wait.stack)];
    // It may last longer than the call.
    const uint64_t until = std::min(w.back, o.call.end), woken = std::min(w.woken, until);
    out.waiting_ns += woken - w.left;
    out.queued_ns += until - woken;
    callee.waiting_ns += until - w.left;
    if (o.call.call >= 0 && told_wait.stack.user == out.stack.user) told_wait.stack.user.clear();
    add(out.waits, std::move(told_wait));
  }
  if (o.call.is_counted) {
    out.waiting_ns = o.call.away_ns - std::min(o.call.queued_ns, o.call.away_ns);
    out.queued_ns = o.call.queued_ns;
  }
  for (const Turn& t : o.turns) add(out.turns, t);
  // Samples come at a fixed rate, but where only some were taken they stand for all the time.
  constexpr uint64_t regular_ns = 1'000'000'000 / 999;
  const uint64_t sample_ns = o.call.is_counted || o.samples.empty() ? regular_ns : out.on_cpu_ns() / o.samples.size();
  std::map<std::vector<std::string>, uint64_t> seen;
  for (const OnCpu& s : o.samples) {
    NamedStack stack = waits_.stack({}, s.user);
    callees[split(stack)].on_cpu_ns += sample_ns;
    seen[stack.user] += sample_ns;
  }
  out.hot = hottest(seen, out.ns);
  if (!function_.empty())
    for (auto& [name, callee] : callees) {
      callee.name = name;
      out.callees.push_back(callee);
    }
  std::ranges::stable_sort(out.callees, std::greater(), [](const NamedCallee& c) { return c.waiting_ns + c.on_cpu_ns; });
  return out;
}

// "vda", "8:1" where it has no name any more.
static std::string device_name(uint32_t device) {
  constexpr uint32_t minor_bits = 20; // MKDEV of linux/kdev_t.h
  if (!device) return "a disk";
  const std::string number = std::to_string(device >> minor_bits) + ":" + std::to_string(device & ((1u << minor_bits) - 1));
  char target[256];
  const ssize_t n = ::readlink(("/sys/dev/block/" + number).c_str(), target, sizeof target);
  const std::string_view path(target, n > 0 ? static_cast<size_t>(n) : 0);
  return path.empty() ? number : std::string(path.substr(path.rfind('/') + 1));
}

Story StoryWriter::tell(const Io& io) {
  constexpr std::string_view operations[] = {"read", "write", "flush", "discard"};
  Story out;
  out.is_io = true;
  out.thread = io.thread;
  out.start = io.asked;
  out.ns = io.done - io.asked;
  out.waiting_ns = (io.issued >= io.asked ? io.issued : io.asked) - io.asked;
  out.device_ns = out.ns - out.waiting_ns;
  out.what = io.operation < std::size(operations) ? operations[io.operation] : "operation " + std::to_string(io.operation);
  if (io.bytes) out.what += " of " + std::to_string(io.bytes) + " bytes at sector " + std::to_string(io.sector);
  out.what += " of " + device_name(io.device);
  out.stack = waits_.stack(io.kernel, io.user);
  return out;
}

} // namespace slow
