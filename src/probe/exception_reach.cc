#include "probe/exception_reach.h"

#include "base/text.h"
#include "format/elf_dynamic.h"
#include "spec/nothrow_functions.h"
#include "symbol/library_search.h"

#include <algorithm>

namespace probe {

using symbol::Binary;
using symbol::FunctionSymbol;

namespace {

constexpr size_t most_functions = 64; // that are read to prove that a function throws nothing

// "libc.so.6" is "libc", "libc.musl-x86_64.so.1" too.
bool is_library_of(std::string_view list, std::string_view soname) {
  for (std::string_view name : base::split(list, ' '))
    if (soname.starts_with(name) && soname.size() > name.size() && soname[name.size()] == '.') return true;
  return false;
}

bool is_listed(std::string_view list, std::string_view name) {
  name.remove_prefix(std::min(name.find_first_not_of('_'), name.size()));
  for (std::string_view one : base::split(list, ' '))
    if (base::glob_match(one, name)) return true;
  return false;
}

// Whether the file calls the unwinder itself to throw: LuaJIT does, whose handlers have no table.
bool throws_itself(const format::Elf& elf) {
  const format::ElfSection* table = elf.section(".dynsym");
  bool does = false;
  if (table) elf.for_each_symbol(*table, [&](const format::ElfSymbol& s) { does |= s.section == 0 && s.name == "_Unwind_RaiseException"; });
  return does;
}

// Handlers of exceptions, or what has to be done while one passes.
bool has_handlers(Binary& binary) {
  const format::Elf& elf = binary.file().elf();
  if (is_library_of(spec::files_without_handlers, format::library_name(elf))) return false;
  if (throws_itself(elf)) return true;
  const bool has_sections = elf.section(".text") != nullptr;
  return !has_sections || elf.section(".gcc_except_table");
}

// Of a library it is not known which processes use it.
bool is_program(Binary& binary) {
  const format::Elf& elf = binary.file().elf();
  constexpr uint32_t interpreter = 3; // PT_INTERP
  auto asks_loader = [](const format::ElfSegment& s) { return s.type == interpreter; };
  return format::library_name(elf).empty() &&
         (elf.is_executable() || std::any_of(elf.segments().begin(), elf.segments().end(), asks_loader));
}

} // namespace

// What the declaration of a function promises, whatever it calls.
bool ExceptionReach::is_declared_so(Binary& binary, const FunctionSymbol& f) {
  if (is_listed(spec::nothrow_allocation_functions, f.name)) return true;
  const std::string_view file = format::library_name(binary.file().elf());
  if (is_library_of("libm", file)) return true;
  return is_library_of(spec::c_library_files, file) && is_listed(spec::nothrow_library_functions, f.name);
}

// The program, and the libraries that the loader will map for it.
bool ExceptionReach::has_handlers_below(Binary& program) {
  std::vector<Binary*> files = {&program};
  std::set<std::string> known;
  for (size_t i = 0; i < files.size(); i++) {
    if (has_handlers(*files[i])) return true;
    for (std::string_view name : format::needed_libraries(files[i]->file().elf())) {
      if (!known.insert(std::string(name)).second) continue;
      const std::vector<std::string> paths = symbol::find_libraries(name, binaries_.root());
      if (paths.empty()) return true;
      auto found = binaries_.find(paths.front());
      if (!found.ok() || found->empty()) return true;
      files.push_back(found->front());
    }
  }
  return false;
}

bool ExceptionReach::find_handlers(Binary& binary) {
  if (binaries_.pid() < 0) return !is_program(binary) || has_handlers_below(binary);
  for (const auto& mapped : binaries_.mapped()) {
    auto found = binaries_.find(mapped.path);
    if (!found.ok()) return true;
    for (Binary* file : *found)
      if (has_handlers(*file)) return true;
  }
  return false;
}

// Whether anything in the processes that use the file could notice that an exception found no way: in the one
// of -p; else in the program that the file is. Whose processes a library is in is not known.
bool ExceptionReach::may_be_caught(Binary& binary) {
  auto [at, is_new] = has_handlers_.try_emplace(&binary, true);
  if (is_new) at->second = find_handlers(binary);
  return at->second;
}

bool ExceptionReach::calls_nothing_unknown(Binary& binary, const FunctionSymbol& f) {
  std::vector<FunctionSymbol> all = {f};
  std::set<uint64_t> known = {f.address};
  auto add = [&](uint64_t address) {
    if (!known.insert(address).second) return true;
    auto callee = binary.function_at(address);
    if (!callee || callee->address != address) return false;
    all.push_back(*callee);
    return all.size() <= most_functions;
  };
  for (size_t i = 0; i < all.size(); i++) {
    auto ends = symbol::find_ends(binary, all[i]);
    if (!ends.ok() || ends->calls_by_pointer || !ends->unknown.empty()) return false;
    for (uint64_t address : ends->callees)
      if (!add(address)) return false;
    for (const symbol::TailCall& call : ends->tail_calls)
      if (!add(call.target)) return false;
  }
  return true;
}

bool ExceptionReach::may_pass(Binary& binary, const FunctionSymbol& f) {
  if (is_declared_so(binary, f) || !may_be_caught(binary)) return false;
  if (!symbol::has_exception_frame(binary, f.address)) return false; // no unwinder gets beyond it anyway
  return !calls_nothing_unknown(binary, f);
}

} // namespace probe
