// Which functions must not be probed where they return, and at which instructions others can be, see
// uprobe.h. While the function runs, its return address is one of the kernel's, and the kernel keeps the real
// one in a list for the thread. Code that looks at return addresses, copies stacks, or comes back on another
// stack or another way takes the wrong one: the program dies.
#include "format/elf_dynamic.h"
#include "probe/uprobe.h"
#include "symbol/function_ends.h"

#include <algorithm>

namespace probe {

using symbol::FunctionSymbol;

namespace {

// Their caller's frame is entered again later (by longjmp and the like), or they leave on another stack.
constexpr std::string_view frame_switchers[] = {
    "setjmp",        "_setjmp",         "sigsetjmp",     "__sigsetjmp", "longjmp",      "_longjmp",
    "siglongjmp",    "____longjmp_chk", "__longjmp_chk", "getcontext",  "setcontext",   "swapcontext",
    "makecontext",   "__start_context", "vfork",         "__vfork",     "__libc_vfork", "jump_fcontext",
    "make_fcontext", "ontop_fcontext",  "clone",         "__clone",     "clone3",       "__clone3",
    "coro_transfer", "switch_stack",
};

// They look for the caller's frames by return addresses, and never return the usual way.
constexpr std::string_view throwers[] = {
    "__cxa_throw",
    "__cxa_rethrow",
    "_Unwind_RaiseException",
    "_Unwind_Resume",
    "_Unwind_Resume_or_Rethrow",
    "_Unwind_ForcedUnwind",
    "__cxa_call_unexpected",
    "__cxa_bad_cast",
    "__cxa_bad_typeid",
};

template<size_t n> bool is_one_of(const std::string_view (&names)[n], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// The kernel or the loader jumps to them: the number of arguments is on top of the stack.
constexpr std::string_view program_begins[] = {"_start", "_dl_start_user"};

} // namespace

bool is_part_of_function(std::string_view name) {
  const size_t at = name.find(".cold");
  return at != name.npos && (at + 5 == name.size() || name[at + 5] == '.');
}

std::string why_not_at_return(symbol::Binary& binary, const FunctionSymbol& f) {
  const std::string what = "the return of `" + std::string(f.name) + "`";
  if (binary.is_go())
    return what + " can't be probed: " + binary.name() +
           " is a Go program, whose runtime moves stacks and checks return addresses; it would be stopped "
           "with "
           "\"unexpected return pc\"";
  if (binary.file().elf().section(".note.GNU-split-stack"))
    return what + " can't be probed: " + binary.name() +
           " is compiled with -fsplit-stack, and functions change stacks while they run";
  if (is_one_of(program_begins, f.name))
    return what + " can't be probed: the program begins there, and what would be taken for its return address is the number of arguments";
  if (is_part_of_function(f.name))
    return what + " can't be probed: it is a part of a function that is jumped to, so no return address is on top of its stack";
  if (is_one_of(frame_switchers, f.name))
    return what +
           " can't be probed: it leaves by another frame or stack than it was called in, and the program "
           "would be stopped";
  if (is_one_of(throwers, f.name) || (f.name.starts_with("_ZSt") && f.name.find("__throw_") != f.name.npos))
    return what + " can't be probed: it does not return but throws, and the exception would find no handler";
  return {};
}

std::string switches_stacks(symbol::Binary& binary) {
  constexpr std::string_view names[] = {"swapcontext",        "jump_fcontext",
                                        "ontop_fcontext",     "coro_transfer",
                                        "slp_switch",         "switch_fiber",
                                        "coroutine_transfer", "qemu_coroutine_switch",
                                        "co_switch",          "zend_fiber_switch_context",
                                        "pth_mctx_switch"};
  // A library that offers it to others need not use it.
  if (!format::library_name(binary.file().elf()).empty()) return {};
  std::string found;
  for (std::string_view table : {".dynsym", ".symtab"})
    if (const format::ElfSection* section = binary.file().elf().section(table))
      binary.file().elf().for_each_symbol(*section, [&](const format::ElfSymbol& s) {
        if (found.empty() && is_one_of(names, symbol::split_version(s.name).name)) found = s.name;
      });
  return found;
}

namespace {

constexpr size_t most_followed = 64; // functions, one jumping to the next

// The function that begins at an address, also where it has no name.
FunctionSymbol function_from(symbol::Binary& binary, uint64_t address) {
  auto f = binary.function_at(address);
  if (f && f->address == address) return *f;
  return {.name = {}, .version = {}, .address = address};
}

std::string shown(symbol::Binary& binary, const FunctionSymbol& f) {
  return f.name.empty() ? "the code at " + hex(f.address) : "`" + std::string(binary.shown(f.name)) + "`";
}

base::Error unknown_end(symbol::Binary& binary, const FunctionSymbol& f, bool is_first,
                        const std::string& why) {
  const std::string whose =
      is_first ? std::string() : "it ends with a jump to " + shown(binary, f) + ", of which: ";
  return {base::Failure::unsupported, whose + why};
}

} // namespace

base::Result<ReturnPlaces> find_return_places(symbol::Binary& binary, const FunctionSymbol& function) {
  ReturnPlaces out;
  std::vector<FunctionSymbol> all = {function};
  for (size_t i = 0; i < all.size(); i++) {
    const FunctionSymbol f = all[i];
    auto ends = symbol::find_ends(binary, f);
    if (!ends.ok()) return unknown_end(binary, f, i == 0, ends.error().message);
    if (!ends->unknown.empty()) return unknown_end(binary, f, i == 0, ends->unknown);
    std::vector<uint64_t>& returns = i ? out.in_place : out.own;
    returns.insert(returns.end(), ends->returns.begin(), ends->returns.end());
    if (i) out.tail_calls.entries.push_back(f.address);
    for (const symbol::TailCall& call : ends->tail_calls) {
      (i ? out.tail_calls.onward : out.tail_calls.jumps).push_back(call.at);
      auto is_target = [&](const FunctionSymbol& other) { return other.address == call.target; };
      if (call.target == function.address)
        return unknown_end(binary, f, i == 0,
                           "it comes back to the begin of " + shown(binary, function) + " by a jump");
      if (std::none_of(all.begin(), all.end(), is_target)) all.push_back(function_from(binary, call.target));
      if (all.size() > most_followed)
        return unknown_end(binary, function, true, "it leads to too many functions by jumps at its end");
    }
  }
  return out;
}

} // namespace probe
