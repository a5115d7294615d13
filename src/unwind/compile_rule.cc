#include "unwind/compile_rule.h"

#include "dwarf/expression.h"

#include <optional>

namespace unwind {

using dwarf::ByteSpan;
using dwarf::RegisterRule;

static constexpr unsigned rbp = ARCH_RBP, rsp = ARCH_RSP, rip = ARCH_RIP;

namespace {

// "register + offset", then perhaps read from there, then something added: most expressions of frames.
struct Place {
  unsigned reg = 0;
  int64_t offset = 0;
  bool is_read = false;
  int64_t added = 0;
};

// The two halves of a rule.
struct Cfa {
  unwind_cfa kind;
  int32_t offset;
};
struct Rbp {
  unwind_rbp kind;
  int16_t offset = 0;
};

} // namespace

static std::optional<Place> read_place(ByteSpan expression) {
  base::Reader r(expression);
  auto code = r.number<uint8_t>();
  if (code < dwarf::DW_OP_breg0 || code > dwarf::DW_OP_breg0 + 31) return std::nullopt;
  Place out{.reg = static_cast<unsigned>(code - dwarf::DW_OP_breg0), .offset = r.sleb128()};
  if (r.ok() && r.at() < expression.size()) {
    out.is_read = r.number<uint8_t>() == dwarf::DW_OP_deref;
    if (!out.is_read) return std::nullopt;
  }
  if (r.ok() && r.at() < expression.size()) {
    if (r.number<uint8_t>() != dwarf::DW_OP_plus_uconst) return std::nullopt;
    out.added = static_cast<int64_t>(r.uleb128());
  }
  return r.ok() && r.at() == expression.size() ? std::optional(out) : std::nullopt;
}

static bool fits(int64_t value) { return value == static_cast<int16_t>(value); }

// What linkers write for a table of jumps (PLT) whose entries push a number in their middle:
//   rsp + N + ((rip & 15) >= M) << 3
static std::optional<Cfa> read_plt(ByteSpan expression) {
  using namespace dwarf;
  base::Reader r(expression);
  auto is = [&](uint8_t code) { return r.number<uint8_t>() == code; };
  if (!is(DW_OP_breg0 + rsp)) return std::nullopt;
  int64_t offset = r.sleb128();
  if (!is(DW_OP_breg0 + rip) || r.sleb128() != 0 || !is(DW_OP_lit0 + 15) || !is(DW_OP_and))
    return std::nullopt;
  int64_t from = r.number<uint8_t>() - DW_OP_lit0;
  if (from < 0 || from > 15 || !is(DW_OP_ge) || !is(DW_OP_lit0 + 3) || !is(DW_OP_shl) || !is(DW_OP_plus) ||
      !r.ok() || r.at() != expression.size() || !fits(offset))
    return std::nullopt;
  return Cfa{UNWIND_CFA_PLT, join_parts(static_cast<int16_t>(offset), static_cast<int16_t>(from))};
}

// All registers of the interrupted frame lie in a struct ucontext: how C libraries describe the code that
// handlers of signals return to.
static std::optional<unwind_rule> read_signal(const dwarf::FrameRow& row) {
  auto stands_at = [&](const RegisterRule& rule, int64_t base, int64_t field) {
    if (rule.kind != RegisterRule::at_expression) return false;
    std::optional<Place> place = read_place(rule.expression_bytes());
    return place && place->reg == rsp && !place->is_read && place->offset == base + field;
  };
  if (!row.cfa.is_expression) return std::nullopt;
  std::optional<Place> cfa = read_place(row.cfa.expression);
  if (!cfa || cfa->reg != rsp || !cfa->is_read || cfa->added != 0) return std::nullopt;
  int64_t base = cfa->offset - ARCH_UCONTEXT_RSP;
  const RegisterRule& sp = row.rules[rsp];
  if (!fits(base) || !stands_at(row.rules[rip], base, ARCH_UCONTEXT_RIP) ||
      !stands_at(row.rules[rbp], base, ARCH_UCONTEXT_RBP) ||
      (sp.kind != RegisterRule::unspecified && !stands_at(sp, base, ARCH_UCONTEXT_RSP)))
    return std::nullopt;
  return rule_of_parts(UNWIND_CFA_SIGNAL, static_cast<int16_t>(base), 0);
}

static std::optional<Cfa> compile_cfa(const dwarf::CfaRule& cfa) {
  if (!cfa.is_expression) {
    if (cfa.reg == rsp || cfa.reg == rbp) {
      if (cfa.offset != static_cast<int32_t>(cfa.offset)) return std::nullopt;
      return Cfa{cfa.reg == rsp ? UNWIND_CFA_RSP : UNWIND_CFA_RBP, static_cast<int32_t>(cfa.offset)};
    }
    if (cfa.reg >= rip || !fits(cfa.offset)) return std::nullopt;
    return Cfa{UNWIND_CFA_REGISTER,
               join_parts(static_cast<int16_t>(cfa.offset), static_cast<int16_t>(cfa.reg))};
  }
  std::optional<Place> place = read_place(cfa.expression);
  if (!place) return read_plt(cfa.expression);
  if (!place->is_read || !fits(place->offset) || !fits(place->added) ||
      (place->reg != rsp && place->reg != rbp))
    return std::nullopt;
  return Cfa{place->reg == rsp ? UNWIND_CFA_RSP_MEMORY : UNWIND_CFA_RBP_MEMORY,
             join_parts(static_cast<int16_t>(place->offset), static_cast<int16_t>(place->added))};
}

static std::optional<Rbp> compile_rbp(const RegisterRule& from) {
  switch (from.kind) {
  case RegisterRule::unspecified:
  case RegisterRule::same: return Rbp{UNWIND_RBP_SAME};
  case RegisterRule::undefined: return Rbp{UNWIND_RBP_UNDEFINED};
  case RegisterRule::at_offset:
    if (!fits(from.offset)) return std::nullopt;
    return Rbp{UNWIND_RBP_AT_CFA, static_cast<int16_t>(from.offset)};
  case RegisterRule::at_expression: {
    std::optional<Place> place = read_place(from.expression_bytes());
    if (!place || place->is_read || (place->reg != rsp && place->reg != rbp) || !fits(place->offset))
      return std::nullopt;
    return Rbp{place->reg == rbp ? UNWIND_RBP_AT_RBP : UNWIND_RBP_AT_RSP,
               static_cast<int16_t>(place->offset)};
  }
  default: return std::nullopt;
  }
}

unwind_rule compile_rule(const dwarf::FrameRow& row) {
  const unwind_rule not_held = rule_of(UNWIND_CFA_NOT_HELD);
  if (row.return_register != rip) return not_held;
  const RegisterRule& back = row.rules[rip];
  if (back.kind == RegisterRule::undefined) return rule_of(UNWIND_CFA_END);
  if (!row.has_cfa) return not_held;
  if (row.is_signal) return read_signal(row).value_or(not_held);
  const RegisterRule& sp = row.rules[rsp];
  bool sp_is_cfa =
      sp.kind == RegisterRule::unspecified || (sp.kind == RegisterRule::is_offset && sp.offset == 0);
  if (back.kind != RegisterRule::at_offset || back.offset != -8 || !sp_is_cfa) return not_held;
  std::optional<Cfa> cfa = compile_cfa(row.cfa);
  std::optional<Rbp> saved = compile_rbp(row.rules[rbp]);
  if (!cfa || !saved) return not_held;
  return std::bit_cast<unwind_rule>(rule_bits(cfa->kind, cfa->offset, saved->kind, saved->offset));
}

} // namespace unwind
