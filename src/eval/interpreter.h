// One run of a probe: interprets its function, and those it calls, over a State.
//
// Method: steps of a function (code.h), each of which goes to the next by itself (labels as values, of gcc
// and clang), so that the processor learns for each kind of step what follows it. Registers, constants and
// objects of a call lie on a stack of their own: calls take none of this process's. A loop's body has one
// place there for all its turns, and works on the objects of its parent.
#pragma once

#include "base/result.h"
#include "eval/engine.h"

namespace eval {

class Interpreter {
public:
  explicit Interpreter(State& state);
  base::Result<int64_t> run(uint32_t function); // gives what it returns, of 32 bits

private:
  struct Activation {
    FunctionCode* code;
    int64_t* values; // registers, then constants
    std::byte* objects;
    int64_t get(const ir::Operand& o) const { return o.is_reg() ? values[o.as_reg()] : o.value; }
    void set(const ir::Inst& i, int64_t value) { values[i.dst] = value; }
  };
  struct Call {
    Code* from;
    Activation caller;
  };

  int64_t execute(Activation now);
  // Takes room from the stack for a function that is to run; false: there is none left.
  bool enter(FunctionCode& code, Activation& now);
  // One instruction that does not choose what is next.
  void step(Activation& now, const ir::Inst& i);
  void step_map(Activation& now, const ir::Inst& i);
  // The bytes of a load that is not in the area of this step's last one; nullptr: they cannot be read.
  const std::byte* find_elsewhere(Code& step, uint64_t address, uint64_t size);
  // Loads and reads: false at a fault.
  bool fetch(Activation& now, const ir::Inst& i);
  bool load(Activation& now, const ir::Inst& i);
  bool read_string(Activation& now, const ir::Inst& i);
  // The bytes of the target at an address, where they lie; nullptr: not all are there, or not in one piece.
  const std::byte* find_target(uint64_t address, uint64_t size) {
    target::Window& last = state_.windows[0];
    return last.holds(address, size) ? last.bytes + (address - last.begin) : find_window(address, size);
  }
  const std::byte* find_window(uint64_t address, uint64_t size);
  // Of a stopped program there is one memory: what is not the script's own is in it.
  bool is_of_target(ir::Space space) const {
    return state_.options.target && (space == ir::Space::user || space == ir::Space::kernel);
  }
  bool read_target(uint64_t address, std::span<std::byte> to);
  bool more_steps();
  void count_fault(uint32_t site);
  int64_t keep_stack(const ir::Inst& i);

  bool enter_body(const Activation& parent, size_t function, Activation& body);
  void leave_body(const Activation& body);
  int64_t loop(Activation& now, const ir::Inst& i);
  void for_each(Activation& now, const ir::Inst& i);
  int64_t query(ir::Query query);
  int64_t open_record(const ir::Inst& i);
  void send_record(int64_t address);
  int64_t hold_record(const ir::Inst& i, std::byte* to);
  void commit(const std::byte* from);
  static int64_t exchange(std::byte* word, int64_t expected, int64_t next);
  std::string_view key(const Activation& now, const ir::Inst& i) const;
  static bool read_own(uint64_t address, std::span<std::byte> to);
  bool read_foreign(ir::Space space, uint64_t address, std::span<std::byte> to);
  void fail(std::string why);

  State& state_;
  uint64_t steps_left_;
  int64_t* top_; // of the stack: what lies above is free
  std::vector<Call> calls_;
  uint32_t nesting_ = 0; // of execute()
  std::byte word_[8];    // what lies in two areas, put together
  uint64_t thread_; // key of task maps
  std::string failure_;
  bool stopped_ = false;
};

} // namespace eval
