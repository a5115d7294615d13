#include "unwind/walk.h"

#include "dwarf/expression_run.h"
#include "spec/arch_x86_64.h"
#include "unwind/compile_rule.h"

#include <cstring>

namespace unwind {

using dwarf::RegisterRule;

namespace {

// The registers that a function gives back as it found them.
constexpr uint32_t kept_by_callees = [] {
  uint32_t out = 0;
  for (const spec::Register& r : spec::x86_64.registers)
    if (r.is_kept) out |= 1u << r.dwarf;
  return out;
}();

// What one step gives: the caller, or why there is none.
struct Step {
  enum Outcome : uint8_t {
    caller,
    ended,
    needs_all
  } outcome = ended; // needs_all: registers that rows do not follow
  unwind_end end = UNWIND_COMPLETE;
  Frame next;

  Step(unwind_end why) : end(why) {}
  Step(Outcome o) : outcome(o) {}
  Step(Frame frame) : outcome(caller), next(std::move(frame)) {}
};

class Walker {
public:
  Walker(const ReadMemory& read, const FindCode& find, bool all_registers)
      : read_(read), find_(find), all_registers_(all_registers) {}
  // Sets what the frame says of itself, too.
  Step step(Frame& frame, bool is_innermost);
  bool has_table(const Frame& frame) {
    const CodePlace& place = place_at(frame.look_up());
    return place.file && place.file->tables().rule_at(frame.look_up() - place.bias).cfa != UNWIND_CFA_NO_TABLE;
  }

private:
  Step by_rule(Frame& frame, const unwind_rule& rule);
  Step by_row(Frame& frame, const dwarf::FrameRow& row, uint64_t bias);
  Step by_signal(Frame& frame, uint64_t context);
  Step by_frame_pointer(Frame& frame, bool is_innermost);
  Step from_bad_jump(Frame& frame);
  std::optional<uint64_t> cfa_of(const Registers& from, const unwind_rule& rule, unwind_end& why);
  bool restore_rbp(const Frame& frame, const unwind_rule& rule, Registers& to);
  std::optional<uint64_t> restore(const dwarf::ExpressionState& state, const Frame& frame, unsigned number,
                                  const RegisterRule& rule, unwind_end& why);
  Step check_caller(Frame& frame, Frame next);

  std::optional<uint64_t> load(uint64_t address) const {
    uint64_t value = 0;
    return read_(address, std::as_writable_bytes(std::span(&value, 1))) ? std::optional(value) : std::nullopt;
  }
  // A caller is asked for twice: whether it is code, then by which rule it goes on.
  const CodePlace& place_at(uint64_t address) {
    if (!last_ || last_address_ != address) last_ = find_(last_address_ = address);
    return *last_;
  }
  bool is_code(uint64_t address) { return place_at(address).is_code; }

  const ReadMemory& read_;
  const FindCode& find_;
  bool all_registers_;
  uint64_t last_address_ = 0;
  std::optional<CodePlace> last_;
};

} // namespace

Step Walker::step(Frame& frame, bool is_innermost) {
  const CodePlace place = place_at(frame.look_up());
  if (!place.is_code) return frame.is_exact ? from_bad_jump(frame) : Step(UNWIND_NO_CODE);
  if (!place.file) return by_frame_pointer(frame, is_innermost);
  uint64_t address = frame.look_up() - place.bias;
  unwind_rule rule = place.file->tables().rule_at(address);
  // What interrupted code had is in memory; tables of the file may not know.
  if (rule.cfa != UNWIND_CFA_SIGNAL && (all_registers_ || rule.cfa == UNWIND_CFA_NOT_HELD)) {
    if (std::optional<dwarf::FrameRow> row = place.file->full_rule_at(address))
      return by_row(frame, *row, place.bias);
    if (rule.cfa == UNWIND_CFA_NOT_HELD) return UNWIND_NOT_UNDERSTOOD;
  }
  if (rule.cfa == UNWIND_CFA_NO_TABLE) return by_frame_pointer(frame, is_innermost);
  return by_rule(frame, rule);
}

// What every caller has to fulfil, but for one that a signal interrupted.
Step Walker::check_caller(Frame& frame, Frame next) {
  uint64_t rsp = frame.registers.get(Registers::rsp).value_or(0), rip = *next.registers.get(Registers::rip);
  // The return address lies below the CFA, and not below what is in use.
  if (frame.cfa < 8 || frame.cfa - 8 < rsp) return UNWIND_NO_PROGRESS;
  if (rip == 0) return UNWIND_COMPLETE;
  if (!is_code(rip - 1)) return UNWIND_NO_CODE;
  return next;
}

// ---- by rows

std::optional<uint64_t> Walker::cfa_of(const Registers& from, const unwind_rule& rule, unwind_end& why) {
  auto of = [&](uint64_t number, int64_t offset) -> std::optional<uint64_t> {
    std::optional<uint64_t> value = from.get(number);
    if (!value) why = UNWIND_NOT_UNDERSTOOD;
    return value ? std::optional(*value + static_cast<uint64_t>(offset)) : std::nullopt;
  };
  auto in_memory = [&](uint64_t number) -> std::optional<uint64_t> {
    std::optional<uint64_t> at = of(number, rule.cfa_parts.offset);
    if (!at) return std::nullopt;
    std::optional<uint64_t> value = load(*at);
    if (!value) why = UNWIND_UNREADABLE;
    return value ? std::optional(*value + static_cast<uint64_t>(int64_t{rule.cfa_parts.extra}))
                 : std::nullopt;
  };
  switch (rule.cfa) {
  case UNWIND_CFA_RSP: return of(Registers::rsp, rule.cfa_offset);
  case UNWIND_CFA_RBP: return of(Registers::rbp, rule.cfa_offset);
  case UNWIND_CFA_RSP_MEMORY: return in_memory(Registers::rsp);
  case UNWIND_CFA_RBP_MEMORY: return in_memory(Registers::rbp);
  case UNWIND_CFA_REGISTER:
    return of(static_cast<uint64_t>(int64_t{rule.cfa_parts.extra}), rule.cfa_parts.offset);
  case UNWIND_CFA_PLT: {
    uint64_t rip = *from.get(Registers::rip);
    return of(Registers::rsp,
              rule.cfa_parts.offset + (static_cast<int>(rip & 15) >= rule.cfa_parts.extra ? 8 : 0));
  }
  }
  why = UNWIND_NOT_UNDERSTOOD;
  return std::nullopt;
}

// False: it cannot be read.
bool Walker::restore_rbp(const Frame& frame, const unwind_rule& rule, Registers& to) {
  std::optional<uint64_t> base;
  switch (rule.rbp) {
  case UNWIND_RBP_SAME:
    if (std::optional<uint64_t> same = frame.registers.get(Registers::rbp)) to.set(Registers::rbp, *same);
    return true;
  case UNWIND_RBP_UNDEFINED: return true;
  case UNWIND_RBP_AT_CFA: base = frame.cfa; break;
  case UNWIND_RBP_AT_RBP: base = frame.registers.get(Registers::rbp); break;
  case UNWIND_RBP_AT_RSP: base = frame.registers.get(Registers::rsp); break;
  }
  if (!base) return true; // stays unknown
  std::optional<uint64_t> value = load(*base + static_cast<uint64_t>(int64_t{rule.rbp_offset}));
  if (value) to.set(Registers::rbp, *value);
  return value.has_value();
}

Step Walker::by_rule(Frame& frame, const unwind_rule& rule) {
  if (rule.cfa == UNWIND_CFA_END) return UNWIND_COMPLETE;
  if (rule.cfa == UNWIND_CFA_SIGNAL)
    return by_signal(frame, *frame.registers.get(Registers::rsp) +
                                static_cast<uint64_t>(int64_t{rule.cfa_parts.offset}));
  unwind_end why = UNWIND_COMPLETE;
  std::optional<uint64_t> cfa = cfa_of(frame.registers, rule, why);
  if (!cfa && why == UNWIND_NOT_UNDERSTOOD && !all_registers_) return Step::needs_all;
  if (!cfa) return why;
  frame.cfa = *cfa;
  Frame next;
  std::optional<uint64_t> rip = load(*cfa - 8);
  if (!rip || !restore_rbp(frame, rule, next.registers)) return UNWIND_UNREADABLE;
  if (all_registers_) // code that no table tells of: what callees keep is taken for kept
    for (unsigned i = 0; i < Registers::count; i++)
      if (i != Registers::rbp && kept_by_callees >> i & 1 && frame.registers.knows(i))
        next.registers.set(i, *frame.registers.get(i));
  next.registers.set(Registers::rip, *rip);
  next.registers.set(Registers::rsp, *cfa);
  return check_caller(frame, std::move(next));
}

Step Walker::by_signal(Frame& frame, uint64_t context) {
  static constexpr auto fields = spec::each_dwarf_register<Registers::count>(
      spec::x86_64, [](const spec::Register& r) { return static_cast<uint64_t>(r.in_ucontext); });
  frame.is_signal = true;
  Frame next;
  next.is_exact = true;
  for (unsigned i = 0; i < Registers::count; i++) {
    std::optional<uint64_t> value = load(context + fields[i]);
    if (!value) return UNWIND_UNREADABLE;
    next.registers.set(i, *value);
  }
  frame.cfa = *next.registers.get(Registers::rsp);
  return next;
}

// ---- without tables

Step Walker::by_frame_pointer(Frame& frame, bool is_innermost) {
  std::optional<uint64_t> rbp = frame.registers.get(Registers::rbp);
  uint64_t rsp = *frame.registers.get(Registers::rsp);
  if (rbp == 0 && !is_innermost) return UNWIND_COMPLETE;
  if (!rbp || *rbp < rsp || *rbp % 8 != 0 || *rbp - rsp > UNWIND_MOST_FRAME) return UNWIND_NO_FRAME_POINTER;
  std::optional<uint64_t> below = load(*rbp), rip = load(*rbp + 8);
  if (!below || !rip) return UNWIND_UNREADABLE;
  if (*rip != 0 && !is_code(*rip - 1)) return UNWIND_NO_FRAME_POINTER;
  if (*rip == 0) return UNWIND_COMPLETE;
  frame.by_frame_pointer = true;
  frame.cfa = *rbp + 16;
  Frame next;
  next.registers.set(Registers::rip, *rip);
  next.registers.set(Registers::rsp, frame.cfa);
  next.registers.set(Registers::rbp, *below);
  return next;
}

// A jump to where no code is, such as a call through a null pointer: the call has left its return address.
Step Walker::from_bad_jump(Frame& frame) {
  uint64_t rsp = *frame.registers.get(Registers::rsp);
  std::optional<uint64_t> rip = load(rsp);
  if (!rip) return UNWIND_UNREADABLE;
  if (*rip == 0 || !is_code(*rip - 1)) return UNWIND_NO_CODE;
  frame.cfa = rsp + 8;
  Frame next;
  for (unsigned i = 0; i < Registers::count; i++)
    if (kept_by_callees >> i & 1 && frame.registers.knows(i)) next.registers.set(i, *frame.registers.get(i));
  next.registers.set(Registers::rip, *rip);
  next.registers.set(Registers::rsp, frame.cfa);
  return next;
}

// ---- by everything that the file says

std::optional<uint64_t> Walker::restore(const dwarf::ExpressionState& state, const Frame& frame,
                                        unsigned number, const RegisterRule& rule, unwind_end& why) {
  auto in_memory = [&](uint64_t at) {
    std::optional<uint64_t> value = load(at);
    if (!value) why = UNWIND_UNREADABLE;
    return value;
  };
  auto offset = static_cast<uint64_t>(rule.offset);
  switch (rule.kind) {
  case RegisterRule::unspecified:
    if (number == Registers::rsp) return frame.cfa;
    return kept_by_callees >> number & 1 ? frame.registers.get(number) : std::nullopt;
  case RegisterRule::undefined: return std::nullopt;
  case RegisterRule::same: return frame.registers.get(number);
  case RegisterRule::at_offset: return in_memory(frame.cfa + offset);
  case RegisterRule::is_offset: return frame.cfa + offset;
  case RegisterRule::in_register: return state.reg(offset);
  case RegisterRule::at_expression:
  case RegisterRule::is_expression: break;
  }
  auto result = dwarf::run_frame_expression(rule.expression_bytes(), frame.cfa, state);
  if (!result.ok()) return why = UNWIND_NOT_UNDERSTOOD, std::nullopt;
  return rule.kind == RegisterRule::at_expression ? in_memory(*result) : *result;
}

Step Walker::by_row(Frame& frame, const dwarf::FrameRow& row, uint64_t bias) {
  if (row.return_register >= Registers::count) return UNWIND_NOT_UNDERSTOOD;
  if (row.rules[row.return_register].kind == RegisterRule::undefined) return UNWIND_COMPLETE;
  if (!row.has_cfa) return UNWIND_NOT_UNDERSTOOD;
  bool lacks_register = false, lacks_memory = false;
  dwarf::ExpressionState state;
  state.bias = bias;
  state.reg = [&](uint64_t number) {
    lacks_register |= !frame.registers.knows(number);
    return frame.registers.get(number);
  };
  state.read = [&](uint64_t address, std::span<std::byte> to) {
    bool is_read = read_(address, to);
    lacks_memory |= !is_read;
    return is_read;
  };
  auto failed = [&](unwind_end otherwise) -> Step {
    if (lacks_memory) return UNWIND_UNREADABLE;
    return lacks_register && !all_registers_ ? Step(Step::needs_all) : Step(otherwise);
  };

  if (row.cfa.is_expression) {
    auto cfa = dwarf::run_frame_expression(row.cfa.expression, std::nullopt, state);
    if (!cfa.ok()) return failed(UNWIND_NOT_UNDERSTOOD);
    frame.cfa = *cfa;
  } else {
    std::optional<uint64_t> base = state.reg(row.cfa.reg);
    if (!base) return failed(UNWIND_NOT_UNDERSTOOD);
    frame.cfa = *base + static_cast<uint64_t>(row.cfa.offset);
  }
  frame.is_signal = row.is_signal;
  Frame next;
  next.is_exact = row.is_signal;
  unwind_end why = UNWIND_NOT_UNDERSTOOD;
  for (unsigned i = 0; i < Registers::rip; i++)
    if (std::optional<uint64_t> value = restore(state, frame, i, row.rules[i], why))
      next.registers.set(i, *value);
  why = UNWIND_NOT_UNDERSTOOD;
  auto back = static_cast<unsigned>(row.return_register);
  std::optional<uint64_t> rip = restore(state, frame, back, row.rules[back], why);
  if (!rip || !next.registers.knows(Registers::rsp)) return failed(why);
  next.registers.set(Registers::rip, *rip);
  if (row.is_signal) return next;
  return check_caller(frame, std::move(next));
}

// ---- the walk

// Nothing: rows were not enough, and all registers have to be followed from the start.
static std::optional<Walk> walk_once(const Registers& start, const ReadMemory& read, const FindCode& find,
                                     const WalkOptions& options, bool all_registers) {
  Walk out;
  if (!start.knows(Registers::rip) || !start.knows(Registers::rsp)) {
    out.end = UNWIND_NOT_UNDERSTOOD;
    return out;
  }
  Walker walker(read, find, all_registers);
  Frame frame{.registers = start};
  frame.is_exact = true;
  for (;;) {
    if (options.correct) options.correct(frame, walker.has_table(frame));
    std::optional<Frame> caller = options.caller ? options.caller(frame) : std::nullopt;
    if (caller) frame.cfa = *caller->registers.get(Registers::rsp);
    Step step = caller ? Step(std::move(*caller)) : walker.step(frame, out.frames.empty());
    if (step.outcome == Step::needs_all) return std::nullopt;
    out.frames.push_back(std::move(frame));
    out.end = step.end;
    if (step.outcome == Step::ended) return out;
    if (out.frames.size() >= options.most_frames) {
      out.end = UNWIND_TOO_DEEP;
      return out;
    }
    frame = std::move(step.next);
  }
}

Walk walk(const Registers& start, const ReadMemory& read, const FindCode& find, const WalkOptions& options) {
  if (!options.all_registers)
    if (std::optional<Walk> out = walk_once(start, read, find, options, false)) return *out;
  return *walk_once(start, read, find, options, true);
}

} // namespace unwind
