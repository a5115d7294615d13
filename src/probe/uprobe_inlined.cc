// Calls that were inlined: where a compiler put the code of a function into its callers, a probe on the
// function sees the calls there too. Debug information tells where the code of each such copy is entered
// (DWARF 5, section 3.3.8). Copies in other units than the one that declares the function (link-time
// optimisation) are not found.
#include "probe/uprobe.h"

#include "dwarf/ranges.h"
#include "dwarf/type_entry.h"
#include "format/elf_dynamic.h"

#include <algorithm>

namespace probe {

using namespace dwarf;

static constexpr size_t most_copies = 4096;

static std::optional<uint64_t> entry_of(const Die& call) {
  if (Attribute pc = find_attribute(call, DW_AT_entry_pc)) {
    if (auto address = address_of(*call.unit, pc)) return address;
    auto low =
        address_of(*call.unit, find_attribute(call, DW_AT_low_pc)); // DWARF 5: also an offset from there
    if (low) return *low + pc.number;
  }
  std::vector<AddressRange> ranges = ranges_of(call);
  if (ranges.empty()) return std::nullopt;
  return ranges[0].begin;
}

// Adds the entries of all copies of `function`, an abstract instance, in its unit.
static void add_copies(const Die& function, std::vector<uint64_t>& to) {
  DieCursor cursor(*function.unit);
  while (cursor.next() && to.size() < most_copies) {
    const Die& die = cursor.die();
    if (die.tag() != DW_TAG_inlined_subroutine) continue;
    Attribute origin = find_attribute(die, DW_AT_abstract_origin);
    std::optional<Die> whole = origin ? reference_of(*die.unit, origin) : std::nullopt;
    if (!whole || whole->offset != function.offset || whole->unit->header != function.unit->header) continue;
    if (auto entry = entry_of(die)) to.push_back(*entry);
  }
}

std::vector<uint64_t> inlined_entries(symbol::Binary& binary, std::string_view name,
                                      const std::vector<symbol::FunctionSymbol>& known) {
  std::vector<uint64_t> out;
  // A library's own calls of what it exports are left alone: to ask would cost a hundred times as much as all
  // else when its debug information was never read before.
  auto is_exported = [](const symbol::FunctionSymbol& f) { return f.is_exported; };
  bool is_library = !format::library_name(binary.file().elf()).empty();
  if (is_library && !known.empty() && std::all_of(known.begin(), known.end(), is_exported)) return out;
  bool any = known.empty() ? binary.has_inlined_calls(name)
                           : std::any_of(known.begin(), known.end(), [&](const symbol::FunctionSymbol& f) {
                               return binary.has_inlined_calls(f.name);
                             });
  if (!any || !binary.debug_info()) return out;
  for (const symbol::FunctionSymbol& f : known) {
    std::optional<Die> die = binary.function_entry(f.address);
    Attribute origin = die ? find_attribute(*die, DW_AT_abstract_origin) : Attribute();
    if (!origin) continue; // never inlined
    if (auto whole = reference_of(*die->unit, origin)) add_copies(*whole, out);
  }
  if (known.empty() && binary.debug_info())
    for (const Die& die : binary.find_entries(name, kinds_of({NameKind::function})))
      if (find_attribute(die, DW_AT_inline)) add_copies(die, out);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::optional<Die> inlined_call(const Die& function, uint64_t address, std::string_view name) {
  DieCursor cursor(function);
  while (cursor.next()) {
    const Die& die = cursor.die();
    if (die.tag() != DW_TAG_inlined_subroutine || entry_of(die) != address) continue;
    if (name_of(die) == name || linkage_name_of(die) == name) return die;
  }
  return std::nullopt;
}

} // namespace probe
