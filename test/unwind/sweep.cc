#include "sweep.h"

#ifdef ACU_HAVE_LIBDW

#include "dwarf/expression_run.h"
#include "dwarf/frame_rules.h"
#include "unwind/compile_rule.h"
#include "unwind/tables.h"

#include <cstdio>
#include <cstring>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <functional>
#include <libelf.h>
#include <memory>
#include <unistd.h>

namespace samples {

namespace {

constexpr unsigned rbp = 6, rsp = 7, rip = 16, registers = 17;

// Arbitrary, but the same for all who ask.
uint64_t mixed(uint64_t number) {
  number = (number ^ number >> 31) * 0x7fb5d329728ea185u;
  number = (number ^ number >> 27) * 0x81dadef4bc2dd44du;
  return number ^ number >> 33;
}
uint64_t memory(uint64_t address) { return mixed(address + 0x1234567); }

struct State {
  uint64_t pc = 0;
  uint64_t reg(uint64_t number) const { return number == rip ? pc : mixed(number + 1) >> 16; }
};

// The caller's value of a register.
struct Value {
  enum Kind { known, lost, not_told } kind = not_told;
  uint64_t number = 0;
  bool operator==(const Value& o) const { return kind == o.kind && (kind != known || number == o.number); }
};
std::string text(const Value& v) {
  char out[40];
  std::snprintf(out, sizeof out, "%s %llx", v.kind == Value::known ? "is" : "lost",
                static_cast<unsigned long long>(v.number));
  return out;
}

// libdw's list of operations, as far as frames have them.
Value run(const Dwarf_Op* ops, size_t count, const State& state, uint64_t cfa) {
  std::vector<uint64_t> stack;
  auto pop = [&] {
    uint64_t top = stack.empty() ? 0 : stack.back();
    if (!stack.empty()) stack.pop_back();
    return top;
  };
  bool is_value = false;
  for (size_t i = 0; i < count; i++) {
    const Dwarf_Op& o = ops[i];
    uint64_t a, b;
    if (o.atom >= 0x70 && o.atom <= 0x8f) { // breg0 …
      stack.push_back(state.reg(o.atom - 0x70u) + o.number);
    } else if (o.atom >= 0x50 && o.atom <= 0x6f) { // reg0 …
      return {Value::known, state.reg(o.atom - 0x50u)};
    } else if (o.atom >= 0x30 && o.atom <= 0x4f) { // lit0 …
      stack.push_back(o.atom - 0x30u);
    } else if (o.atom >= 0x08 && o.atom <= 0x11) { // const1u …
      stack.push_back(o.number);
    } else {
      switch (o.atom) {
      case 0x92: stack.push_back(state.reg(o.number) + o.number2); break; // bregx
      case 0x9c: stack.push_back(cfa); break;                             // call_frame_cfa
      case 0x90: return {Value::known, state.reg(o.number)};              // regx
      case 0x06: stack.push_back(memory(pop())); break;                   // deref
      case 0x12: a = pop(), stack.push_back(a), stack.push_back(a); break;
      case 0x1a: a = pop(), b = pop(), stack.push_back(a & b); break;
      case 0x1c: a = pop(), b = pop(), stack.push_back(b - a); break;
      case 0x1e: a = pop(), b = pop(), stack.push_back(a * b); break;
      case 0x22: a = pop(), b = pop(), stack.push_back(a + b); break;
      case 0x23: stack.push_back(pop() + o.number); break; // plus_uconst
      case 0x24: a = pop(), b = pop(), stack.push_back(b << a); break;
      case 0x2a:
        a = pop(), b = pop();
        stack.push_back(static_cast<int64_t>(b) >= static_cast<int64_t>(a));
        break;
      case 0x9f: is_value = true; break; // stack_value
      default: return {};
      }
    }
  }
  if (stack.empty()) return {};
  return {Value::known, is_value ? stack.back() : memory(stack.back())};
}

struct Expected {
  bool has_cfa = false, is_signal = false;
  uint64_t cfa = 0, begin = 0, end = 0;
  Value values[registers];
};

Expected expected_of(Dwarf_Frame* frame, const State& state) {
  Expected out;
  Dwarf_Addr begin = 0, end = 0;
  dwarf_frame_info(frame, &begin, &end, &out.is_signal);
  out.begin = begin, out.end = end;
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  if (dwarf_frame_cfa(frame, &ops, &count) != 0 || count == 0) return out;
  std::vector<Dwarf_Op> cfa(ops, ops + count);
  cfa.push_back({.atom = 0x9f});
  Value value = run(cfa.data(), cfa.size(), state, 0);
  out.has_cfa = value.kind == Value::known;
  out.cfa = value.number;
  for (unsigned i = 0; i < registers; i++) {
    Dwarf_Op space[3];
    if (dwarf_frame_register(frame, static_cast<int>(i), space, &ops, &count) != 0) continue;
    if (count != 0)
      out.values[i] = run(ops, count, state, out.cfa);
    else if (ops == nullptr)
      out.values[i] = {Value::known, state.reg(i)};
    else
      out.values[i] = {Value::lost};
  }
  return out;
}

// "": as expected.
std::string compare_rule(const unwind_rule& rule, const Expected& wanted, const State& state) {
  if (rule.cfa == UNWIND_CFA_NOT_HELD) return "";
  if (rule.cfa == UNWIND_CFA_NO_TABLE) return "there is no rule";
  if (rule.cfa == UNWIND_CFA_END) return wanted.values[rip].kind == Value::lost ? "" : "it is no end";
  uint64_t cfa = 0, from = state.reg(rsp);
  int64_t offset = rule.cfa_parts.offset, extra = rule.cfa_parts.extra;
  switch (rule.cfa) {
  case UNWIND_CFA_RSP: cfa = from + static_cast<uint64_t>(int64_t{rule.cfa_offset}); break;
  case UNWIND_CFA_RBP: cfa = state.reg(rbp) + static_cast<uint64_t>(int64_t{rule.cfa_offset}); break;
  case UNWIND_CFA_RSP_MEMORY:
  case UNWIND_CFA_RBP_MEMORY:
    cfa = memory(state.reg(rule.cfa == UNWIND_CFA_RSP_MEMORY ? rsp : rbp) + static_cast<uint64_t>(offset)) +
          static_cast<uint64_t>(extra);
    break;
  case UNWIND_CFA_REGISTER:
    cfa = state.reg(static_cast<uint64_t>(extra)) + static_cast<uint64_t>(offset);
    break;
  case UNWIND_CFA_PLT:
    cfa = from + static_cast<uint64_t>(offset) + (static_cast<int64_t>(state.pc & 15) >= extra ? 8 : 0);
    break;
  case UNWIND_CFA_SIGNAL: {
    uint64_t context = from + static_cast<uint64_t>(offset);
    if (!wanted.is_signal) return "it is no frame of a signal";
    bool same = wanted.cfa == memory(context + ARCH_UCONTEXT_RSP) &&
                wanted.values[rip].number == memory(context + ARCH_UCONTEXT_RIP) &&
                wanted.values[rbp].number == memory(context + ARCH_UCONTEXT_RBP);
    return same ? "" : "the signal's registers are elsewhere";
  }
  default: return "a rule of no kind";
  }
  if (wanted.is_signal) return "it is a frame of a signal";
  if (!wanted.has_cfa || cfa != wanted.cfa) return "the CFA differs";
  if (!(wanted.values[rip] == Value{Value::known, memory(cfa - 8)})) return "the return address differs";
  auto at = [&](uint64_t base) {
    return Value{Value::known, memory(base + static_cast<uint64_t>(int64_t{rule.rbp_offset}))};
  };
  Value value = rule.rbp == UNWIND_RBP_SAME        ? Value{Value::known, state.reg(rbp)}
                : rule.rbp == UNWIND_RBP_AT_CFA    ? at(cfa)
                : rule.rbp == UNWIND_RBP_AT_RBP    ? at(state.reg(rbp))
                : rule.rbp == UNWIND_RBP_UNDEFINED ? Value{Value::lost}
                                                   : at(from);
  return value == wanted.values[rbp] ? ""
                                     : "rbp differs: " + text(value) + ", libdw: " + text(wanted.values[rbp]);
}

Value full_value(const dwarf::RegisterRule& rule, unsigned number, uint64_t cfa, const State& state,
                 const dwarf::ExpressionState& how) {
  auto offset = static_cast<uint64_t>(rule.offset);
  switch (rule.kind) {
  case dwarf::RegisterRule::unspecified:
    if (number == rsp) return {Value::known, cfa};
    // Of what nothing is said: libdw has rax (0) among the registers that callees keep where rbx (3) belongs.
    return number == 0 || number == rbp || (number >= 12 && number <= 15)
               ? Value{Value::known, state.reg(number)}
               : Value{Value::lost};
  case dwarf::RegisterRule::undefined: return {Value::lost};
  case dwarf::RegisterRule::same: return {Value::known, state.reg(number)};
  case dwarf::RegisterRule::at_offset: return {Value::known, memory(cfa + offset)};
  case dwarf::RegisterRule::is_offset: return {Value::known, cfa + offset};
  case dwarf::RegisterRule::in_register: return {Value::known, state.reg(offset)};
  default: break;
  }
  auto result = dwarf::run_frame_expression(rule.expression_bytes(), cfa, how);
  if (!result.ok()) return {};
  return {Value::known, rule.kind == dwarf::RegisterRule::at_expression ? memory(*result) : *result};
}

std::string compare_full(const std::optional<dwarf::FrameRow>& row, const Expected& wanted,
                         const State& state) {
  if (!row || !row->has_cfa) return "there is no full rule";
  dwarf::ExpressionState how;
  how.reg = [&](uint64_t number) { return std::optional(state.reg(number)); };
  how.read = [](uint64_t address, std::span<std::byte> to) {
    uint64_t value = memory(address);
    std::memcpy(to.data(), &value, to.size());
    return true;
  };
  uint64_t cfa = state.reg(row->cfa.reg) + static_cast<uint64_t>(row->cfa.offset);
  if (row->cfa.is_expression) {
    auto result = dwarf::run_frame_expression(row->cfa.expression, std::nullopt, how);
    if (!result.ok()) return "the CFA's expression is not understood";
    cfa = *result;
  }
  if (cfa != wanted.cfa) return "the full CFA differs";
  if (row->is_signal != wanted.is_signal) return "only one is of a signal";
  for (unsigned i = 0; i < registers; i++)
    if (Value value = full_value(row->rules[i], i, cfa, state, how); !(value == wanted.values[i]))
      return "register " + std::to_string(i) + ": " + text(value) + ", libdw: " + text(wanted.values[i]);
  return "";
}

// Where the functions begin, as the search table says.
std::vector<uint64_t> listed_functions(const format::ElfFile& file) {
  const format::ElfSection* section = file.elf().section(".eh_frame_hdr");
  std::vector<uint64_t> out;
  if (!section) return out;
  base::Reader r(file.section(*section));
  r.skip(4 + 4);
  auto count = r.number<uint32_t>();
  for (uint32_t i = 0; i < count && r.ok(); i++) {
    auto at = static_cast<int32_t>(r.number<uint32_t>());
    r.skip(4);
    if (r.ok()) out.push_back(section->address + static_cast<uint64_t>(int64_t{at}));
  }
  return out;
}

struct Free {
  void operator()(void* p) const { std::free(p); }
};

} // namespace

Sweep sweep_file(const std::string& path, size_t every) {
  Sweep out;
  auto file = format::ElfFile::open(path);
  if (!file.ok()) {
    out.problem = file.error().message;
    return out;
  }
  elf_version(EV_CURRENT);
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  Elf* elf = elf_begin(fd, ELF_C_READ_MMAP, nullptr);
  Dwarf_CFI* cfi = elf ? dwarf_getcfi_elf(elf) : nullptr;
  if (!cfi) out.problem = "libdw finds no tables";
  unwind::Tables tables = unwind::make_tables(*file);
  dwarf::FrameLookup lookup(dwarf::frame_tables_of(*file));
  auto differs = [&](uint64_t address, const std::string& what) {
    if (what.empty()) return;
    out.differences++;
    char place[32];
    std::snprintf(place, sizeof place, "%#llx: ", static_cast<unsigned long long>(address));
    if (out.examples.size() < 20) out.examples.push_back(place + what);
  };
  std::vector<uint64_t> functions = cfi ? listed_functions(*file) : std::vector<uint64_t>();
  for (size_t i = 0; i < functions.size(); i += every) {
    out.entries++;
    uint64_t next_function = i + 1 < functions.size() ? functions[i + 1] : UINT64_MAX;
    for (uint64_t pc = functions[i]; pc < next_function;) {
      Dwarf_Frame* raw = nullptr;
      if (dwarf_cfi_addrframe(cfi, pc, &raw) != 0) break;
      std::unique_ptr<Dwarf_Frame, Free> frame(raw);
      State state{pc};
      Expected wanted = expected_of(raw, state);
      if (wanted.begin > pc || wanted.end <= pc) break;
      out.rows++;
      unwind_rule rule = tables.rule_at(pc);
      if (rule.cfa == UNWIND_CFA_NOT_HELD) {
        out.not_held++;
        char place[32];
        std::snprintf(place, sizeof place, "%#llx", static_cast<unsigned long long>(pc));
        out.not_held_rows.push_back(place);
      }
      differs(pc, compare_rule(rule, wanted, state));
      differs(pc, compare_full(lookup.find(pc), wanted, state));
      uint64_t last = std::min<uint64_t>(wanted.end, next_function) - 1;
      if (unwind::bits_of(tables.rule_at(last)) != unwind::bits_of(rule))
        differs(last, "another rule in the same row");
      pc = wanted.end;
    }
  }
  for (size_t page = 0; cfi && every == 1 && page < tables.header().pages; page++)
    for (uint32_t i = tables.starts()[page]; i < tables.starts()[page + 1]; i++) {
      unwind_row row = tables.rows()[i];
      uint64_t address = ((tables.first_page() + page) << UNWIND_PAGE_BITS) + row.address;
      // The first row of a page may stand in padding that the function before it was extended over.
      if (row.rule == UNWIND_RULE_NO_TABLE || row.address == 0) continue;
      Dwarf_Frame* raw = nullptr;
      if (dwarf_cfi_addrframe(cfi, address, &raw) == 0)
        std::free(raw);
      else
        out.only_ours++;
    }
  if (cfi) dwarf_cfi_end(cfi);
  if (elf) elf_end(elf);
  if (fd >= 0) ::close(fd);
  return out;
}

} // namespace samples

#else

namespace samples {
Sweep sweep_file(const std::string&, size_t) {
  return {.problem = "libdw's headers (libdw-dev) were not there when this was built"};
}
} // namespace samples

#endif
