#include "graph/call_graph.h"

#include <algorithm>

namespace graph {

namespace {

constexpr uint64_t no_depth = ~0ull;
// Stacks of threads are smaller, and other stacks (sigaltstack, coroutines) lie further away.
constexpr uint64_t farthest = 64 << 20;
// What waits for a call around it is told before, when there is so much or it is so old.
constexpr size_t max_whole = 1 << 14;
constexpr uint64_t oldest_ns = 1'000'000'000;

OffCpu since(OffCpu now, OffCpu before) {
  auto gain = [](uint64_t a, uint64_t b) { return a > b ? a - b : 0; };
  return {gain(now.waited, before.waited), gain(now.preempted, before.preempted)};
}

bool is_above(uint64_t stack, uint64_t other) { return stack > other && stack - other < farthest; }

} // namespace

CallGraph::Thread& CallGraph::thread(const Moment& at) {
  std::unique_ptr<Thread>& t = threads_[at.tid];
  if (!t) t = std::make_unique<Thread>();
  t->about.tid = at.tid, t->about.pid = at.pid, t->about.cpu = at.cpu;
  if (!at.thread.empty() && t->about.name != at.thread) t->about.name = at.thread;
  t->off = at.off;
  return *t;
}

void CallGraph::open(Thread& t, Call call, uint64_t depth) {
  call.is_outermost =
      std::none_of(t.open.begin(), t.open.end(), [&](const Call& c) { return c.function == call.function && !c.forked_from; });
  calls_ += !call.forked_from;
  t.open.push_back(std::move(call));
  t.depths.push_back(depth);
  for (CallListener* l : listeners_) l->begin(t.about, t.open.back(), t.open.size() - 1);
}

// A forked process that makes calls does so within those of its parent.
void CallGraph::open_inherited(Thread& t) {
  auto found = forked_.find(t.about.tid);
  if (found == forked_.end()) return;
  Forked forked = std::move(found->second);
  forked_.erase(found);
  for (size_t i = 0; i < forked.open.size(); i++) open(t, std::move(forked.open[i]), forked.depths[i]);
}

// The innermost.
void CallGraph::close(Thread& t, uint64_t ns, OffCpu off, Ended how) {
  if (how == Ended::left && t.landed_how != Ended::open && t.open.back().start_ns <= t.landed.ns)
    ns = t.landed.ns, off = t.landed.off, how = t.landed_how;
  Call call = std::move(t.open.back());
  t.open.pop_back();
  t.depths.pop_back();
  call.end_ns = std::max(ns, call.start_ns);
  call.off = since(off, call.off);
  if (call.ended == Ended::open)
    call.ended = call.function->has_return || how == Ended::by_exit ? how : Ended::unknown;
  if (call.has_duration() && !t.open.empty()) t.open.back().inner_ns += call.duration();
  for (CallListener* l : listeners_) l->end(t.about, call, t.open.size());
  // What stood in a program that is gone.
  while (!t.open.empty() && t.open.back().ended == Ended::by_exec && how == Ended::returned)
    close(t, ns, off, Ended::by_exec);
}

void CallGraph::close_from(Thread& t, size_t level, uint64_t ns, OffCpu off, Ended how) {
  while (t.open.size() > level) close(t, ns, off, how);
}

void CallGraph::enter(const Moment& at, const CalledFunction& function, uint64_t depth, uint64_t stack,
                      std::string arguments) {
  Thread& t = thread(at);
  open_inherited(t);
  // User code runs again: the kernel has returned. What stood below on the stack is gone, and what the kernel
  // no longer counts as open has returned unseen.
  auto is_over = [&](const Call& c, uint64_t its_depth, bool is_innermost) {
    if (!function.is_kernel && c.function->is_kernel) return true;
    if (c.ended != Ended::open) return true;
    if (its_depth != no_depth && its_depth >= depth) return true;
    if (!stack || !c.stack) return false;
    // At the same place stands what the innermost call goes on as (a tail call), or what came behind it.
    return is_above(stack, c.stack) || (c.stack == stack && !(is_innermost && c.function->has_return));
  };
  size_t level = t.open.size();
  for (size_t i = t.open.size(); i-- > 0;)
    if (is_over(t.open[i], t.depths[i], i + 1 == t.open.size())) level = i;
  close_from(t, level, at.ns, at.off, Ended::left);
  Call call;
  call.function = &function;
  call.start_ns = at.ns;
  call.off = at.off;
  call.stack = stack;
  call.arguments = std::move(arguments);
  open(t, std::move(call), function.has_return ? depth : no_depth);
}

void CallGraph::leave(const Moment& at, const CalledFunction& function, uint64_t stack, std::string result) {
  Thread& t = thread(at);
  open_inherited(t);
  size_t level = t.open.size();
  while (level > 0) {
    const Call& c = t.open[level - 1];
    if (c.function == &function && c.stack == stack) break;
    level--;
  }
  if (!level) {
    // It began before the probes were there, or its entry was lost: only that it returned is known.
    unbegun_++;
    if (function.is_kernel) {
      size_t kernel = t.open.size();
      while (kernel > 0 && t.open[kernel - 1].function->is_kernel) kernel--;
      close_from(t, kernel, at.ns, at.off, Ended::left);
    } else {
      size_t inner = 0;
      while (inner < t.open.size() && !t.open[inner].function->is_kernel &&
             !is_above(stack, t.open[inner].stack))
        inner++;
      close_from(t, inner, at.ns, at.off, Ended::left);
    }
    Call call;
    call.function = &function;
    call.start_ns = call.end_ns = at.ns;
    call.is_begun = false;
    call.ended = Ended::returned;
    call.result = std::move(result);
    for (CallListener* l : listeners_) l->end(t.about, call, t.open.size());
    return;
  }
  close_from(t, level, at.ns, at.off, Ended::left);
  t.open.back().result = std::move(result);
  close(t, at.ns, at.off, Ended::returned);
}

void CallGraph::land(const Moment& at, uint64_t stack, Ended how) {
  Thread& t = thread(at);
  open_inherited(t);
  t.landed_how = Ended::open;
  if (!stack) {
    t.landed = at, t.landed.thread = {}, t.landed_how = how;
    return;
  }
  size_t level = t.open.size();
  while (level > 0 && (t.open[level - 1].function->is_kernel || is_above(stack, t.open[level - 1].stack))) level--;
  close_from(t, level, at.ns, at.off, how);
}

void CallGraph::fork(const Moment& at, uint32_t child) {
  Thread& t = thread(at);
  open_inherited(t);
  Forked forked;
  for (size_t i = 0; i < t.open.size(); i++) {
    if (t.open[i].function->is_kernel) continue;
    Call& call = forked.open.emplace_back(t.open[i]);
    call.start_ns = at.ns;
    call.off = {};
    call.inner_ns = 0;
    call.forked_from = at.pid;
    forked.depths.push_back(t.depths[i]);
  }
  if (!forked.open.empty()) forked_[child] = std::move(forked);
}

void CallGraph::take_whole(const Moment& at, Call call, uint64_t depth) {
  Thread& t = thread(at);
  if (!t.whole.empty() && at.ns - t.whole.back().call.end_ns > oldest_ns &&
      t.whole.back().call.start_ns < call.start_ns)
    report_complete(t);
  Tree tree;
  auto inner = std::find_if(t.whole.begin(), t.whole.end(),
                            [&](const Tree& other) { return other.call.start_ns >= call.start_ns; });
  tree.inner.assign(std::make_move_iterator(inner), std::make_move_iterator(t.whole.end()));
  t.whole.erase(inner, t.whole.end());
  tree.call = std::move(call);
  t.whole.push_back(std::move(tree));
  if (depth == 0 || t.whole.size() > max_whole) report_complete(t);
}

void CallGraph::take_unended(const Moment& at, Call call) {
  std::unique_ptr<Thread>& t = threads_[at.tid];
  if (!t) {
    t = std::make_unique<Thread>();
    t->about = {.tid = at.tid, .pid = at.tid, .cpu = 0, .name = std::string(at.thread)};
  }
  t->whole.push_back({std::move(call), {}});
}

// Puts those into each other that lie in each other, in the order of their begin.
void CallGraph::put_together(Thread& t) {
  std::stable_sort(t.whole.begin(), t.whole.end(), [](const Tree& a, const Tree& b) {
    return a.call.start_ns != b.call.start_ns ? a.call.start_ns < b.call.start_ns
                                              : a.call.end_ns > b.call.end_ns;
  });
  std::vector<Tree> out;
  for (Tree& tree : t.whole) {
    std::vector<Tree>* place = &out;
    while (!place->empty() && place->back().call.end_ns >= tree.call.end_ns) place = &place->back().inner;
    place->push_back(std::move(tree));
  }
  t.whole = std::move(out);
}

void CallGraph::tell_tree(Thread& t, Tree& tree) {
  Call begun = tree.call;
  const uint64_t end_ns = begun.end_ns;
  const OffCpu off = tree.call.off;
  const Ended how = begun.ended == Ended::open ? Ended::returned : begun.ended;
  begun.result.clear();
  begun.off = {};
  open(t, std::move(begun), no_depth);
  for (Tree& inner : tree.inner) tell_tree(t, inner);
  t.open.back().result = std::move(tree.call.result);
  close(t, end_ns, off, how);
}

void CallGraph::report_complete(Thread& t) {
  for (Tree& tree : t.whole) tell_tree(t, tree);
  t.whole.clear();
}

// The calls of user code are gone with their memory; those of the kernel that stand in them go on.
void CallGraph::exec(const Moment& at) {
  if (forked_.erase(at.tid) || !threads_.contains(at.tid)) return;
  Thread& t = thread(at);
  for (Call& c : t.open)
    if (!c.function->is_kernel) c.ended = Ended::by_exec;
  while (!t.open.empty() && t.open.back().ended == Ended::by_exec) close(t, at.ns, at.off, Ended::by_exec);
}

void CallGraph::end_thread(const Moment& at) {
  if (forked_.erase(at.tid) || !threads_.contains(at.tid)) return;
  Thread& t = thread(at);
  close_from(t, 0, at.ns, at.off, Ended::by_exit);
  report_complete(t);
}

void CallGraph::finish(uint64_t ns) {
  for (auto& [tid, t] : threads_) {
    put_together(*t);
    report_complete(*t);
    close_from(*t, 0, ns, t->off, Ended::by_end);
  }
}

} // namespace graph
