// What to say when a program has no such function or line: the nearest names, where the function is instead,
// and what would help to know more names.
#include "format/elf_dynamic.h"
#include "probe/uprobe.h"

#include "base/text.h"

#include <algorithm>
#include <elf.h>
#include <set>

namespace probe {

using symbol::Binary;
using symbol::FunctionSymbol;

namespace {

// The library that has a function which `binary` only uses; empty: it does not use one of this name.
std::string library_with(Binary& binary, std::string_view name) {
  const format::ElfSection* table = binary.file().elf().section(".dynsym");
  bool uses = false;
  if (table)
    binary.file().elf().for_each_symbol(
        *table, [&](const format::ElfSymbol& s) { uses |= s.section == SHN_UNDEF && s.name == name; });
  if (!uses) return {};
  symbol::Binaries others;
  for (std::string_view library : format::needed_libraries(binary.file().elf()))
    if (auto found = others.find(library); found.ok() && !found->front()->find_functions(name).empty())
      return std::string(library);
  return {};
}

// The name with the last part near to it, among those of the file.
std::string nearest_function(Binary& binary, const UserPlace& place) {
  std::vector<std::string_view> names;
  bool by_source = place.by_source || place.function.find("::") != std::string::npos;
  for (const FunctionSymbol& f : binary.functions())
    names.push_back(by_source ? symbol::split_source_name(binary.shown(f.name)).name : f.name);
  std::string_view wanted = symbol::split_version(place.function).name;
  if (std::string_view near = base::nearest(wanted, names); !near.empty()) return std::string(near);
  // Perhaps only the case or the beginning differs.
  std::string lower = base::lower(wanted);
  for (std::string_view name : names)
    if (wanted.size() > 3 && base::lower(name).find(lower) != std::string::npos) return std::string(name);
  return {};
}

std::string versions_of(const std::vector<FunctionSymbol>& functions) {
  std::string out;
  for (const FunctionSymbol& f : functions)
    if (!f.version.empty())
      out += (out.empty() ? "" : ", ") +
             base::quoted(std::string(f.name) + (f.is_default ? "@@" : "@") + std::string(f.version));
  return out;
}

void tell_of_one(Binary& binary, const UserPlace& place, Mismatch& mismatch) {
  const std::string& name = place.function;
  mismatch.message = binary.name() + " has no function " + base::quoted(name);
  symbol::VersionedName parts = symbol::split_version(name);
  if (!parts.version.empty())
    if (auto others = binary.find_functions(parts.name); !others.empty()) {
      std::string versions = versions_of(others);
      mismatch.hint =
          versions.empty() ? base::quoted(parts.name) + " has no versions there" : "it has " + versions;
      return;
    }
  if (std::string library = library_with(binary, name); !library.empty()) {
    mismatch.message += " of its own";
    mismatch.hint = "it is in " + library + ": uprobe:" + library + ":" + name;
    return;
  }
  if (is_inlined(binary, name)) {
    mismatch.message = base::quoted(name) + " of " + binary.name() +
                       " has no code of its own: the compiler put it into its callers";
    mismatch.hint = "probe a line of it, as in `uprobe:" + std::string(place.binary) + "@FILE:LINE`";
    return;
  }
  if (binary.functions().empty()) mismatch.message = "no function of " + binary.name() + " is known";
  if (std::string near = nearest_function(binary, place); !near.empty())
    mismatch.hint = "did you mean " + base::quoted(near) + "?";
  if (binary.is_stripped())
    mismatch.hint += (mismatch.hint.empty() ? "" : " ") +
                     std::string("The file is stripped, so that only the ") +
                     "functions which other files use are known; " + binary.debug_hint();
  if (mismatch.hint.empty())
    mismatch.hint = "`acu list 'uprobe:" + std::string(place.binary) + ":*'` shows what there is";
}

} // namespace

bool is_inlined(Binary& binary, const std::string& name) {
  if (base::has_glob(name) || !binary.debug_info()) return false;
  const dwarf::Index* index = binary.index_for(name);
  bool found = false;
  if (index)
    index->find(name, dwarf::kinds_of({dwarf::NameKind::function}), [&](const dwarf::IndexEntry& entry) {
      found |= entry.is_inlined && !entry.has_place;
      return !found;
    });
  return found;
}

void tell_missing_function(const std::vector<Binary*>& binaries, const UserPlace& place, Mismatch& mismatch) {
  mismatch.kind = Mismatch::missing;
  if (binaries.size() == 1) return tell_of_one(*binaries.front(), place, mismatch);
  mismatch.message = "none of the " + std::to_string(binaries.size()) +
                     " programs and libraries that match " + base::quoted(place.binary) + " has a function " +
                     base::quoted(place.function);
}

void tell_missing_line(Binary& binary, const UserPlace& place, const symbol::LineMiss& miss,
                       Mismatch& mismatch) {
  mismatch.kind = Mismatch::missing;
  const std::string line = place.file + ":" + std::to_string(place.line);
  if (!binary.debug_info()) {
    mismatch.message = binary.name() + " has no debug information, which tells where lines are";
    mismatch.hint = binary.debug_hint();
  } else if (!miss.columns.empty()) {
    mismatch.message = line + " has no statement at column " + std::to_string(place.column);
    for (uint32_t column : miss.columns)
      mismatch.hint += (mismatch.hint.empty() ? "there are some at column " : ", ") + std::to_string(column);
  } else if (miss.has_file) {
    mismatch.message = "no code of " + binary.name() + " comes from " + line;
    std::string near = miss.after ? "line " + std::to_string(miss.after) : std::string();
    if (miss.before) near = "line " + std::to_string(miss.before) + (near.empty() ? "" : " and " + near);
    mismatch.hint = "the nearest with code: " + near;
  } else {
    mismatch.message = "no code of " + binary.name() + " comes from a file " + base::quoted(place.file);
    for (const std::string& path : miss.near)
      mismatch.hint += (mismatch.hint.empty() ? "did you mean " : ", ") + base::quoted(path);
    if (!mismatch.hint.empty()) mismatch.hint += "?";
  }
}

} // namespace probe
