// Where things are while a program runs: frames, what the loader added to addresses, variables of threads.
// Specification of the latter: "ELF Handling For Thread-Local Storage", sections 3.4.2 (x86-64: variant II)
// and 4.1; the table of a thread's modules as glibc has it.
#include "format/thread_variable.h"
#include "probe/user_values_state.h"

#include "dwarf/expression.h"
#include "spec/arch.h"

#include <algorithm>
#include <elf.h>

namespace probe {

using namespace dwarf;

// ---- frames

MaybeSteps UserValues::State::cfa_at(const Spot& spot) {
  StepWriter out;
  std::optional<CfaRule> rule = code.cfa_rule(spot.address);
  if (!rule && spot.at_entry && spec::arch.return_address_bytes) {
    out.reg(*spec::find_register(spec::arch.sp)); // nothing but the return address was pushed
    out.add_constant(spec::arch.return_address_bytes);
    return out.take();
  }
  if (!rule) return no_value("is in the frame, and no table (.eh_frame) tells where that is here");
  if (!rule->is_expression) {
    std::optional<uint32_t> place = place_of_register(rule->reg);
    if (!place) return no_value("is in the frame, which is found by " + name_of_register(rule->reg));
    out.reg(*place);
    out.add_constant(static_cast<uint64_t>(rule->offset));
    return out.take();
  }
  StepSource source{.unit = spot.function.die.unit};
  auto none = [] { return no_value("is in the frame, whose place is described by itself"); };
  source.frame_base = source.cfa = source.thread_variable = none;
  source.address = [&](uint64_t address) { return address_of(address, spot.event, std::nullopt); };
  auto parts = translate_expression(source, rule->expression);
  if (!parts) return std::move(parts.error());
  if (parts->size() != 1 || (*parts)[0].kind != ValuePart::memory) return none();
  return (*parts)[0].steps;
}

MaybeSteps UserValues::State::frame_base_at(const Spot& spot) {
  const Die& function = spot.function.die;
  Location base = location_of(function, find_attribute(function, DW_AT_frame_base));
  std::optional<ByteSpan> expression = expression_at(*function.unit, base, spot.address);
  auto none = [] { return no_value("is in the frame, whose place is not described here"); };
  if (!expression) return none();
  StepSource source = source_at(&spot, *function.unit, spot.event, std::nullopt);
  source.frame_base = none;
  auto parts = translate_expression(source, *expression);
  if (!parts) return std::move(parts.error());
  const ValuePart& part = (*parts)[0];
  bool is_place = part.kind == ValuePart::memory || part.kind == ValuePart::value; // DW_OP_reg6: what it has
  if (parts->size() != 1 || !is_place) return none();
  return part.steps;
}

// The steps are "a register plus a number".
static bool is_register_plus(const Steps& steps, int64_t& reg, int64_t& offset) {
  if (steps.empty() || steps[0].op != Step::reg) return false;
  reg = steps[0].value;
  offset = steps.size() == 3 ? steps[1].value : 0;
  return steps.size() == 1 ||
         (steps.size() == 3 && steps[1].op == Step::constant && steps[2].op == Step::add);
}

bool UserValues::State::is_on_callers_stack(const Spot& spot, const ValuePart& part) {
  const Die& function = spot.function.die;
  Location base = location_of(function, find_attribute(function, DW_AT_frame_base));
  // Else places count from a register that is not yet what it will be.
  bool counts_from_cfa = base.kind == Location::expression && base.bytes.size() == 1 &&
                         static_cast<uint8_t>(base.bytes[0]) == DW_OP_call_frame_cfa;
  if (!counts_from_cfa) return false;
  MaybeSteps cfa = cfa_at(spot);
  int64_t reg, offset, cfa_reg, cfa_offset;
  return part.kind == ValuePart::memory && cfa && is_register_plus(part.steps, reg, offset) &&
         is_register_plus(*cfa, cfa_reg, cfa_offset) && reg == cfa_reg && offset >= cfa_offset;
}

// ---- addresses

// What the kernel calls the start of a program's code, before it is moved (fs/binfmt_elf.c; from 5.6 on only
// what is executable counts).
static std::optional<uint64_t> first_code(const format::Elf& elf) {
  std::optional<uint64_t> out;
  for (const format::ElfSegment& s : elf.segments())
    if (s.type == PT_LOAD && (s.flags & PF_X)) out = std::min(out.value_or(UINT64_MAX), s.address);
  return out;
}

bool UserValues::is_program() const {
  return state_->sources.file && format::is_program_file(state_->sources.file->elf());
}

MaybeSteps UserValues::State::address_of(uint64_t address, const Event* event, std::optional<uint64_t> bias) {
  StepWriter out;
  const format::Elf& elf = sources.file->elf();
  if (!bias && event && event->module == sources.binary) bias = event->bias;
  if (bias || elf.is_executable()) {
    out.constant(address + bias.value_or(0));
    return out.take();
  }
  bool is_user = event && (event->kind == Kind::uprobe || event->kind == Kind::usdt);
  std::optional<uint32_t> ip = spec::find_register(spec::arch.ip);
  if (is_user && event->module == sources.binary && ip) {
    out.reg(*ip);
    out.add_constant(address - event->address);
    return out.take();
  }
  if (std::optional<uint64_t> first = first_code(elf); first && format::is_program_file(elf)) {
    out.op(Step::code_start);
    out.add_constant(address - *first);
    return out.take();
  }
  return no_value(event && event->kind == Kind::uretprobe
                      ? "is in a library, of which a return probe does not tell where it is: entry(…) keeps "
                        "what it was, or trace one process (-p PID)"
                      : "is in a library, of which this probe does not tell where it is: trace one process "
                        "(-p PID), or ask in a probe of the library");
}

// ---- variables of threads

// What the loader writes for the code of a library to find its threads' variables by.
struct ThreadSlot {
  uint64_t place = 0;    // address of the number
  bool is_module = true; // it is the module's own, else how far from the thread's base …
  uint64_t offset = 0;   // … what has this offset in the module's block is
};

// Relocations of symbols that another module may define tell of that one.
static std::optional<ThreadSlot> thread_slot(const format::ElfFile& file) {
  base::ByteSpan symbols = file.section(".dynsym"), relocations = file.section(".rela.dyn");
  std::optional<ThreadSlot> fixed;
  for (uint64_t at = 0; at + sizeof(Elf64_Rela) <= relocations.size(); at += sizeof(Elf64_Rela)) {
    base::Reader r(relocations, at);
    auto place = r.number<uint64_t>(), info = r.number<uint64_t>(), addend = r.number<uint64_t>();
    uint64_t kind = ELF64_R_TYPE(info), symbol = ELF64_R_SYM(info) * sizeof(Elf64_Sym);
    if (kind != R_X86_64_DTPMOD64 && kind != R_X86_64_TPOFF64) continue;
    if (symbol && base::Reader(symbols, symbol + 6).number<uint16_t>() == SHN_UNDEF) continue;
    if (kind == R_X86_64_DTPMOD64) return ThreadSlot{.place = place};
    uint64_t value = symbol ? base::Reader(symbols, symbol + 8).number<uint64_t>() : 0;
    fixed = ThreadSlot{place, false, value + addend};
  }
  return fixed;
}

MaybeSteps UserValues::State::thread_variable(const Event* event, std::optional<uint64_t> bias) {
  if (spec::arch.name != "x86_64") return no_value("belongs to a thread, which acu cannot follow here");
  const format::Elf& elf = sources.file->elf();
  StepWriter out; // the offset in the block of the module is on the stack
  if (format::is_program_file(elf)) {
    std::optional<uint64_t> block = format::program_block(elf);
    if (!block) return no_value("belongs to a thread, but the program has no block of such variables");
    out.op(Step::thread_base);
    out.op(Step::add);
    out.add_constant(-*block);
    return out.take();
  }
  std::optional<ThreadSlot> slot = thread_slot(*sources.file);
  if (!slot) return no_value("belongs to a thread, and nothing in the library tells where its block is");
  if (slot->is_module && format::needs_musl(*sources.file))
    return no_value("belongs to a thread, in a library of musl, whose table of modules acu does not know");
  MaybeSteps place = address_of(slot->place, event, bias);
  if (!place) return place;
  out.op(Step::thread_base);
  if (slot->is_module) { // the second word there leads to the table of modules, 16 bytes each
    out.add_constant(8);
    out.load(8);
  }
  out.append(*place);
  out.load(8);
  if (slot->is_module) {
    out.constant(4);
    out.op(Step::shl);
  }
  out.op(Step::add);
  if (slot->is_module) out.load(8);
  out.op(Step::add);
  out.add_constant(-slot->offset);
  return out.take();
}

// ---- expressions at a spot

StepSource UserValues::State::source_at(const Spot* spot, const Unit& unit, const Event* event,
                                        std::optional<uint64_t> bias) {
  StepSource out{.unit = &unit, .at_entry = spot && spot->at_entry};
  auto outside = [] { return no_value("is in the frame of a function"); };
  out.frame_base = out.cfa = outside;
  if (spot) {
    out.frame_base = [this, spot] { return frame_base_at(*spot); };
    out.cfa = [this, spot] { return cfa_at(*spot); };
    bool is_frame = event && (event->kind == Kind::frame || event->kind == Kind::fault);
    out.has_vectors = is_frame && event->has_vectors;
    out.is_stopped = is_frame;
    if (is_frame) out.entry_value = [this, spot](uint64_t number) { return entry_value(*spot, number); };
  }
  out.address = [this, event, bias](uint64_t address) { return address_of(address, event, bias); };
  out.thread_variable = [this, event, bias] { return thread_variable(event, bias); };
  return out;
}

std::string UserValues::State::place_name(const Spot& spot, uint64_t address) {
  std::string name = spot.event && !spot.event->function.empty() ? spot.event->function
                                                                 : std::string(name_of(spot.function.die));
  if (address < spot.function.entry) return name + "-" + std::to_string(spot.function.entry - address);
  return name + "+" + std::to_string(address - spot.function.entry);
}

std::string UserValues::State::available(const Spot& spot, const Unit& unit, const Location& location,
                                         const type::Type& type) {
  static constexpr size_t most_told = 3;
  std::vector<AddressRange> good;
  for (const LocationRange& range : location_list(unit, location)) {
    bool is_empty = range.expression.empty() || range.code.begin == range.code.end;
    if (is_empty || range.is_default || good.size() > 64) continue;
    Spot there = spot;
    there.address = range.code.begin;
    there.at_entry = false;
    auto parts = translate_expression(source_at(&there, unit, spot.event, std::nullopt), range.expression);
    if (!parts || make_recipe(*parts, type).recipe.kind == Recipe::none) continue;
    if (!good.empty() && good.back().end == range.code.begin)
      good.back().end = range.code.end;
    else
      good.push_back(range.code);
  }
  std::string out;
  for (size_t i = 0; i < good.size() && i < most_told; i++)
    out += (i ? ", " : "; it is there from ") + place_name(spot, good[i].begin) + " to +" +
           std::to_string(good[i].end - spot.function.entry);
  if (good.size() > most_told) out += ", …";
  return out;
}

// Of a variable that has no place, but always one value.
void UserValues::State::take_constant(UserValue& out, const Location& location) {
  MadeRecipe made = make_constant(location.number, location.bytes, *out.type);
  out.recipe = std::move(made.recipe);
  out.reason = std::move(made.reason);
  if (out.recipe.kind != Recipe::none) out.kind = UserValue::found;
}

UserValue UserValues::State::value_at(const Spot& spot, const Die& die) {
  Variable variable;
  const Unit* unit;
  UserValue out = describe(die, variable, unit);
  const Location& location = variable.location;
  if (!out.type) {
    out.reason = "has no type that values can have";
    return out;
  }
  if (location.kind == Location::constant) {
    take_constant(out, location);
    return out;
  }
  std::optional<uint64_t> entry;
  if (spot.at_entry || spot.address == spot.function.entry) entry = spot.function.entry;
  std::optional<ByteSpan> expression = expression_at(*unit, location, spot.address, entry);
  if (!expression) {
    out.reason = "is optimised away here" + available(spot, *unit, location, *out.type);
    return out;
  }
  auto parts = translate_expression(source_at(&spot, *unit, spot.event, std::nullopt), *expression);
  bool is_in_frame = location.kind == Location::expression && parts &&
                     std::ranges::any_of(*parts, [](const ValuePart& p) { return p.in_frame; });
  if (spot.after_return && location.kind != Location::constant) {
    bool is_static = parts && std::ranges::none_of(*parts, [](const ValuePart& p) {
                       return p.in_frame || p.kind == ValuePart::value;
                     });
    if (!is_static || location.kind != Location::expression) {
      out.reason = "is gone when the function has returned";
      return out;
    }
  }
  uint64_t ready = is_in_frame ? code.prologue_end(spot.function) : 0;
  bool is_before = is_in_frame && spot.address >= spot.function.entry && spot.address < ready &&
                   !(parts->size() == 1 && is_on_callers_stack(spot, (*parts)[0]));
  if (is_before) {
    out.reason = "has no value yet: its place in the frame is ready at " + place_name(spot, ready);
    return out;
  }
  take_parts(out, parts);
  if (!out && location.kind != Location::expression)
    out.reason += available(spot, *unit, location, *out.type);
  return out;
}

} // namespace probe
