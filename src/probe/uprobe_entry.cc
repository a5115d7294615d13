// Where in the entry of a function a probe is put, see uprobe.h.
#include "probe/red_zone.h"
#include "probe/uprobe.h"
#include "spec/arch_x86_64.h"

#include "dwarf/frame_rules.h"

#include <algorithm>

namespace probe {

// Of functions whose size is not known, or that are larger, branches back to the entry can't be looked for.
static constexpr uint64_t largest = 1 << 20;

// Whether code elsewhere may enter the function between `from` and `to`: its own part that is hardly ever
// executed, or another function that shares its body (such as mempcpy that of memcpy). Jumps over short
// distances are looked for around it, long ones everywhere.
static bool may_be_entered(symbol::Binary& binary, const symbol::FunctionSymbol& f, uint64_t from,
                           uint64_t to) {
  constexpr uint64_t reach = 130; // of short jumps
  uint64_t begin = f.address - std::min(f.address, reach);
  while (begin < f.address && binary.code_at(begin, 1).empty()) begin++;
  base::ByteSpan around = binary.code_at(begin, f.address - begin + std::max(f.size, 2 * reach));
  auto at = [&](uint64_t address) { return static_cast<unsigned>(address - begin); };
  return symbol::is_branched_to(around, at(from), at(to)) || binary.may_be_jumped_to(from, to);
}

// Whether memory below the stack pointer may be in use: the function has moved it for nothing yet.
static bool may_use_red_zone(symbol::Binary& binary, uint64_t address) {
  auto rule = dwarf::cfa_rule_at(dwarf::frame_tables_of(binary.file()), address);
  constexpr uint64_t rsp = 7;
  return !rule || rule->is_expression || (rule->reg == rsp && rule->offset <= 8);
}

bool avoid_red_zone(Machine& machine, symbol::Binary& binary, const symbol::FunctionSymbol* f, Event& event) {
  constexpr unsigned nop_size = 5;
  if (!machine.emulates_nops() || !symbol::is_nop5(binary.code_at(event.address, nop_size)))
    return true;
  if (!may_use_red_zone(binary, event.address)) return true;
  if (!f || !f->size || f->size > largest || event.address + nop_size >= f->address + f->size)
    return nop5_keeps_red_zone(machine.host());
  auto at = static_cast<unsigned>(event.address - f->address);
  base::ByteSpan code = binary.code_at(f->address, f->size);
  if (symbol::is_branched_to(code, at + nop_size, at + nop_size)) return nop5_keeps_red_zone(machine.host());
  event.address += nop_size;
  event.file_offset += nop_size;
  return true;
}

void choose_entry(Machine& machine, symbol::Binary& binary, const symbol::FunctionSymbol& f, Event& event) {
  if (binary.file().elf().machine() != spec::x86_64.elf_machine || !f.size || f.size > largest) return;
  base::ByteSpan code = binary.code_at(f.address, f.size);
  bool nops = machine.emulates_nops();
  if (symbol::is_emulated(code, nops)) return;
  unsigned bytes = symbol::best_entry(code, nops);
  if (!bytes || may_be_entered(binary, f, f.address + 1, f.address + bytes)) return;
  event.address += bytes;
  event.file_offset += bytes;
}

} // namespace probe
