// Which functions must not be probed where they return, see uprobe.h. While the function runs, its return
// address is one of the kernel's, and the kernel keeps the real one in a list for the thread. Code that looks
// at return addresses, copies stacks, or comes back on another stack or another way takes the wrong one: the
// program dies.
#include "format/elf_dynamic.h"
#include "probe/uprobe.h"
#include "symbol/demangle.h"

#include <algorithm>

namespace probe {

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

// What compilers put aside as hardly ever executed: "f.cold", "f.cold.1".
bool is_part(std::string_view name) {
  const size_t at = name.find(".cold");
  return at != name.npos && (at + 5 == name.size() || name[at + 5] == '.');
}

} // namespace

std::string why_not_at_return(symbol::Binary& binary, const symbol::FunctionSymbol& f) {
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
  if (is_part(f.name))
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

// Looks for bytes of calls and jumps wherever they are: of a function without them nothing can throw.
static bool may_call(base::ByteSpan code) {
  for (size_t i = 0; i < code.size(); i++) {
    auto b = static_cast<uint8_t>(code[i]);
    if (b == 0xe8 || b == 0xe9) return true;
    if (b != 0xff || i + 1 >= code.size()) continue;
    unsigned operation = static_cast<uint8_t>(code[i + 1]) >> 3 & 7;
    if (operation == 2 || operation == 4) return true; // call, jmp to where memory or a register says
  }
  return false;
}

bool may_be_passed_by_exceptions(symbol::Binary& binary, const symbol::FunctionSymbol& f) {
  bool has_exceptions = symbol::is_mangled(f.name) && binary.file().elf().section(".gcc_except_table");
  return has_exceptions && (!f.size || may_call(binary.code_at(f.address, f.size)));
}

} // namespace probe
