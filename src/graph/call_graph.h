// Nested calls per thread: builds call trees from the entries and returns that probes report.
//
// A return belongs to the call of that function at the same stack position. Calls made
// later that are still open were left another way, or their returns were lost: they are closed and marked, so that
// nothing stays open and nesting is correct from there on. When an exception or longjmp lands, the calls below that
// stack position end at that moment. A forked process is in the calls of its parent. If probes report
// complete calls at their return (take_whole), calls are nested by time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace graph {

// How a call ended.
enum class Ended : uint8_t {
  open, // it has not
  returned,
  unknown, // its return is not probed
  by_exception,
  by_jump, // longjmp
  left,    // it was left another way, or its return was lost
  by_exec, // another program runs in the process
  by_exit, // of the thread
  by_end,  // acu stopped looking
};

struct CalledFunction {
  std::string name;
  bool is_kernel = false;
  bool has_return = true; // it is probed
};

// Time off the CPU, in ns.
struct OffCpu {
  uint64_t waited = 0;    // it slept
  uint64_t preempted = 0; // it could have run
  uint64_t sum() const { return waited + preempted; }
};

struct Call {
  const CalledFunction* function = nullptr;
  uint64_t start_ns = 0, end_ns = 0; // CLOCK_MONOTONIC; of an end that is not known: when it was noticed
  OffCpu off;                        // while it ran; until it ends: of the thread until its start
  uint64_t inner_ns = 0;             // of the calls in it
  uint64_t stack = 0;                // user functions: where the return address stands
  bool is_begun = true;              // its entry was seen
  bool is_outermost = true;          // of its function, in the thread
  uint32_t forked_from = 0;          // the process that made it, before this one was forked; it starts with the fork
  Ended ended = Ended::open;
  std::string arguments, result; // as they are shown; empty: none are known
  uint64_t duration() const { return end_ns - start_ns; }
  uint64_t self_ns() const { return duration() > inner_ns ? duration() - inner_ns : 0; }
  bool is_left() const { return ended == Ended::by_exception || ended == Ended::by_jump; }
  bool has_duration() const {
    return is_begun && (ended == Ended::returned || ended == Ended::by_end || is_left());
  }
};

struct CallThread {
  uint32_t tid = 0, pid = 0;
  uint32_t cpu = 0; // it was on last
  std::string name;
};

// Receives calls in the order in which each thread makes them; for different threads, in the order of the records.
class CallListener {
public:
  virtual ~CallListener() = default;
  // `level`: number of open calls of the thread around it.
  virtual void begin(const CallThread&, const Call&, size_t /*level*/) {}
  virtual void end(const CallThread& thread, const Call& call, size_t level) = 0;
};

class CallGraph {
public:
  // Common to all records.
  struct Moment {
    uint32_t tid = 0, pid = 0, cpu = 0;
    uint64_t ns = 0;
    OffCpu off; // of the thread until then
    std::string_view thread;
  };

  explicit CallGraph(std::vector<CallListener*> listeners) : listeners_(std::move(listeners)) {}

  // `depth`: open calls of the thread, as counted by the kernel. `stack`: address of the return
  // address; 0: not known (kernel functions).
  void enter(const Moment& at, const CalledFunction& function, uint64_t depth, uint64_t stack,
             std::string arguments);
  void leave(const Moment& at, const CalledFunction& function, uint64_t stack, std::string result);
  // An exception or longjmp continues with this stack pointer; 0: not known, then the next call shows what was left.
  void land(const Moment& at, uint64_t stack, Ended how);
  // The process of the thread forked; the first thread of the copy is `child`.
  void fork(const Moment& at, uint32_t child);
  // A complete call, reported at its return: `call` has all but `ended`, and `off` until its start. `depth`: 0: it
  // is the outermost.
  void take_whole(const Moment& at, Call call, uint64_t depth);
  // A call that has not returned, reported the same way at the end.
  void take_unended(const Moment& at, Call call);
  void exec(const Moment& at);
  void end_thread(const Moment& at);
  // Closes open calls.
  void finish(uint64_t ns);

  uint64_t calls() const { return calls_; }
  size_t threads() const { return threads_.size(); }
  uint64_t unbegun() const { return unbegun_; } // returns of calls that began before

private:
  struct Tree {
    Call call;
    std::vector<Tree> inner;
  };
  struct Thread {
    CallThread about;
    std::vector<Call> open;
    std::vector<uint64_t> depths; // of those
    OffCpu off;
    std::vector<Tree> whole; // that wait for what is around them
    Moment landed;           // where it is not known
    Ended landed_how = Ended::open;
  };
  struct Forked {
    std::vector<Call> open;
    std::vector<uint64_t> depths;
  };

  Thread& thread(const Moment& at);
  void open(Thread& t, Call call, uint64_t depth);
  void open_inherited(Thread& t);
  void close(Thread& t, uint64_t ns, OffCpu off, Ended how);
  void close_from(Thread& t, size_t level, uint64_t ns, OffCpu off, Ended how);
  static void put_together(Thread& t);
  void tell_tree(Thread& t, Tree& tree);
  void report_complete(Thread& t);

  std::vector<CallListener*> listeners_;
  std::map<uint32_t, std::unique_ptr<Thread>> threads_;
  std::map<uint32_t, Forked> forked_; // by threads that have made no call yet
  uint64_t calls_ = 0, unbegun_ = 0;
};

} // namespace graph
