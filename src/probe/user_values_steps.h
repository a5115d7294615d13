// Expressions of debug information to steps of recipes: what depends on the thread stays to be done where the
// probe fires, all else is settled here. For use by user_values*.cc.
#pragma once

#include "base/result.h"
#include "dwarf/locations.h"
#include "probe/recipe.h"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace probe {

using Steps = std::vector<Step>;
// Steps, or the reason why there are none (as in UserValue::reason).
using MaybeSteps = base::Result<Steps>;
inline base::Error no_value(std::string reason) { return {base::Failure::unsupported, std::move(reason)}; }

// Adds steps; arithmetic with constants is done at once.
class StepWriter {
public:
  void constant(uint64_t value) {
    steps_.push_back({.op = Step::constant, .value = static_cast<int64_t>(value)});
  }
  void reg(uint32_t offset) { steps_.push_back({.op = Step::reg, .value = offset}); }
  void load(uint8_t bytes, bool is_signed = false) { steps_.push_back({Step::load, bytes, is_signed, 0}); }
  void op(Step::Op op, int64_t value = 0) { steps_.push_back({.op = op, .value = value}); }
  void add_constant(uint64_t value);
  // Of what is wider than `bytes` (1 to 8) the low part.
  void extend(uint8_t bytes, bool is_signed);
  void append(const Steps& more);
  // Branches may lead to here: what was written before stays as it is.
  void mark() { fixed_ = steps_.size(); }
  size_t size() const { return steps_.size(); }
  Step& at(size_t i) { return steps_[i]; }
  Steps take() { return std::move(steps_); }
  const Steps& steps() const { return steps_; }

private:
  Steps steps_;
  size_t fixed_ = 0;
};

// Where in struct pt_regs a register of DWARF's numbers stands; nothing: not there (xmm0, …).
std::optional<uint32_t> place_of_register(uint64_t number);
// "xmm0", "rax"; "register 99" of others.
std::string name_of_register(uint64_t number);

// What an expression may ask of the place where it holds. Steps leave one address.
struct StepSource {
  const dwarf::Unit* unit = nullptr; // whose expression it is
  bool at_entry = false;             // registers still have what the caller left there
  bool has_vectors = false;          // xmm0 … can be read, see stopped_vectors
  bool is_stopped = false;           // of a stopped program
  std::function<MaybeSteps()> frame_base, cfa;
  std::function<MaybeSteps(uint64_t address)> address; // where an address of the file is in memory
  // What a register had when the function began; missing: nobody knows.
  std::function<MaybeSteps(uint64_t number)> entry_value;
  // Takes the offset of the thread's variable off the stack, leaves its address.
  std::function<MaybeSteps()> thread_variable;
};

// A part of a value.
struct ValuePart {
  enum Kind : uint8_t { memory, value, bytes, gone } kind = gone;
  Steps steps;              // memory: leave its address; value: leave the value
  dwarf::ByteSpan bytes_of; // of `bytes`
  std::string reason;       // of `gone`
  uint64_t bits = 0;        // of the value that are here; 0: all
  uint64_t first_bit = 0;   // of what the steps lead to
  bool in_frame = false;    // in memory that the function itself fills: not before it has begun
};

// The parts in order of memory; one without `bits` where the value is in one place. Failure: the reason.
base::Result<std::vector<ValuePart>> translate_expression(const StepSource& source, dwarf::ByteSpan bytes);

} // namespace probe
