// What the files of uprobe and uretprobe share.
#pragma once

#include "probe/kinds.h"
#include "probe/uprobe_text.h"
#include "symbol/binaries.h"
#include "symbol/instructions.h"
#include "symbol/source_names.h"

#include <string>
#include <vector>

namespace probe {

std::string hex(uint64_t number); // "0x1f"

// How names of probes show a file: as the script names it where that is a path, else where it was found.
std::string shown_path(std::string_view typed, const symbol::Binary& binary);

// Nothing in `binaries` is called so: why, and what is near.
void tell_missing_function(const std::vector<symbol::Binary*>& binaries, const UserPlace& place,
                           Mismatch& mismatch);
// All its calls were inlined, as the debug information tells.
bool is_inlined(symbol::Binary& binary, const std::string& function);
void tell_missing_line(symbol::Binary& binary, const UserPlace& place, const symbol::LineMiss& miss,
                       Mismatch& mismatch);

// Why a function must not be probed where it returns; empty: it may. The kernel puts an address of its own in
// the place of the return address for as long as the function runs.
std::string why_not_at_return(symbol::Binary& binary, const symbol::FunctionSymbol& function);

// What compilers put aside as hardly ever executed: "f.cold", "f.cold.1".
bool is_part_of_function(std::string_view name);

// The function by which a program goes from one stack to another, if it has such; empty: it does not seem to.
// What returns in another order than it was called must not be probed at its return.
std::string switches_stacks(symbol::Binary& binary);

// Where a function returns, for probes at instructions: addresses.
struct ReturnPlaces {
  std::vector<uint64_t> own;      // its return instructions
  std::vector<uint64_t> in_place; // those of functions that it jumps to at its end
  TailCalls tail_calls;           // addresses too; empty: there are none
};
// Failure: not all of them can be told; the message is the reason.
base::Result<ReturnPlaces> find_return_places(symbol::Binary& binary, const symbol::FunctionSymbol& function);

// Of a probe at the entry of a function: moves it to an instruction that the kernel can carry out itself,
// where that makes no difference (Event::address, file_offset).
void choose_entry(Machine& machine, symbol::Binary& binary, const symbol::FunctionSymbol& function, Event& event);

// Where calls of a function were inlined: the first instruction of each copy, as debug information tells.
// `known`: its code, if it also has some of its own.
std::vector<uint64_t> inlined_entries(symbol::Binary& binary, std::string_view name,
                                      const std::vector<symbol::FunctionSymbol>& known);

// The entry of a call of `name` in the code of `function` that begins at this address.
std::optional<dwarf::Die> inlined_call(const dwarf::Die& function, uint64_t address, std::string_view name);

// Of a probe elsewhere: newer kernels put a call in the place of a nop of 5 bytes, and a call writes below
// the stack pointer, where functions that call no others may keep variables. Moves the probe behind such a
// nop; false: it can't be.
bool avoid_red_zone(Machine& machine, symbol::Binary& binary, const symbol::FunctionSymbol* function, Event& event);

} // namespace probe
