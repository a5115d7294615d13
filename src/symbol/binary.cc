#include "symbol/binary.h"

#include "base/text.h"
#include "format/archive.h"
#include "format/go_table.h"
#include "symbol/binary_parts.h"
#include "symbol/demangle.h"
#include "symbol/frame_functions.h"

#include <algorithm>
#include <elf.h>

namespace symbol {

// ---- opening

static base::Error not_opened(const std::string& name, base::Error error) {
  return std::move(error).with("cannot open " + name);
}

// The message names the path as acu sees it.
static base::Error unreachable(const std::string& name, base::Error error) {
  if (error.kind == base::Failure::runtime) error.kind = base::Failure::nothing_matched;
  size_t why = error.message.rfind(": ");
  if (why != std::string::npos) error.message.erase(0, why + 2);
  return not_opened(name, std::move(error));
}

base::Result<std::unique_ptr<Binary>> Binary::open(BinaryPlace place) {
  const std::string name = place.name;
  auto map = base::FileMap::open(place.path, place.search.root);
  if (!map.ok()) return unreachable(name, std::move(map.error()));
  std::unique_ptr<Binary> out(new Binary(std::move(place)));
  base::Result<format::ElfFile> file = base::Error();
  if (out->place_.inner.empty()) {
    file = format::ElfFile::of(std::move(*map));
  } else {
    auto found = format::find_in_archive(map->bytes(), out->place_.inner);
    if (!found.ok()) return not_opened(name, std::move(found.error()));
    out->offset_in_archive_ = found->offset;
    file = format::ElfFile::view(base::slice(map->bytes(), found->offset, found->size));
    out->archive_ = std::move(*map);
  }
  if (!file.ok()) return not_opened(name, std::move(file.error()));
  if (file->elf().is_relocatable())
    return base::Error{base::Failure::usage, name + " is an object file, which nothing executes"};
  out->file_ = std::move(*file);
  return out;
}

Binary::Binary(BinaryPlace place) : place_(std::move(place)) {
  host_path_ = place_.search.root + place_.path;
}

Binary::~Binary() = default;

bool Binary::is_go() const {
  if (!is_go_) is_go_ = file_->elf().section(".go.buildinfo") || format::has_go_functions(*file_);
  return *is_go_;
}

// ---- places

std::optional<uint64_t> Binary::offset_of_address(uint64_t address) const {
  auto offset = file_->elf().offset_of_address(address);
  if (!offset) return std::nullopt;
  return *offset + offset_in_archive_;
}

bool Binary::is_code(uint64_t address) const {
  return std::any_of(file_->elf().segments().begin(), file_->elf().segments().end(), [&](const auto& s) {
    return s.type == PT_LOAD && (s.flags & PF_X) && address - s.address < s.file_size;
  });
}

base::ByteSpan Binary::code_at(uint64_t address, uint64_t most) const {
  for (const format::ElfSegment& s : file_->elf().segments()) {
    if (s.type != PT_LOAD || !(s.flags & PF_X) || address - s.address >= s.file_size) continue;
    uint64_t at = address - s.address;
    return base::slice(file_->bytes(), s.offset + at, std::min(most, s.file_size - at));
  }
  return {};
}

bool Binary::may_be_jumped_to(uint64_t first, uint64_t last) {
  constexpr uint64_t largest = 64 << 20; // bytes; some 0.1 s
  for (const format::ElfSegment& s : file_->elf().segments()) {
    if (s.type != PT_LOAD || !(s.flags & PF_X) || first - s.address >= s.file_size) continue;
    if (s.file_size > largest) return true;
    auto known = jumps_.find(s.address);
    if (known == jumps_.end())
      known = jumps_.emplace(s.address, JumpTargets(code_at(s.address, s.file_size), s.address)).first;
    return known->second.any(first, last);
  }
  return true;
}

// ---- functions

// Of the file itself, what is packed inside of it, and where it was stripped its debug file.
void Binary::each_symbol_file(const std::function<bool(const format::ElfFile&)>& take) {
  if (!take(*file_)) return;
  if (file_->elf().section(".symtab")) return;
  if (const format::ElfFile* packed = file_->packed_symbols(); packed && !take(*packed)) return;
  if (const auto& debug = debug_file().debug.file) take(*debug);
}

bool Binary::is_stripped() {
  bool has_table = false;
  each_symbol_file([&](const format::ElfFile& file) {
    has_table |= file.elf().section(".symtab") || format::has_go_functions(file);
    return !has_table;
  });
  return !has_table;
}

static bool in_order(const FunctionSymbol& a, const FunctionSymbol& b) {
  if (a.name != b.name) return a.name < b.name;
  if (a.is_default != b.is_default) return a.is_default;
  if (a.address != b.address) return a.address < b.address;
  return a.version > b.version; // those with one first
}

// Drops what is there twice, from several tables.
static void put_in_order(std::vector<FunctionSymbol>& functions) {
  std::sort(functions.begin(), functions.end(), in_order);
  auto same = [](const FunctionSymbol& a, const FunctionSymbol& b) {
    return a.address == b.address && a.name == b.name;
  };
  for (size_t i = functions.size(); i-- > 1;)
    if (same(functions[i - 1], functions[i])) functions[i - 1].is_exported |= functions[i].is_exported;
  functions.erase(std::unique(functions.begin(), functions.end(), same), functions.end());
}

const std::vector<FunctionSymbol>& Binary::functions() {
  if (functions_) return *functions_;
  functions_.emplace();
  each_symbol_file([&](const format::ElfFile& file) {
    for_each_function(file, [&](const FunctionSymbol& f) {
      if (!f.is_label) functions_->push_back(f);
    });
    return true;
  });
  put_in_order(*functions_);
  return *functions_;
}

std::vector<FunctionSymbol> Binary::find_functions(std::string_view name, bool labels) {
  VersionedName wanted = split_version(name);
  bool default_only = name.substr(wanted.name.size()).starts_with("@@");
  auto fits = [&](const FunctionSymbol& f) {
    if (f.name != wanted.name) return false;
    return wanted.version.empty() || (f.version == wanted.version && (f.is_default || !default_only));
  };
  if (auto f = unnamed_function(name)) return {*f};
  std::vector<FunctionSymbol> out;
  constexpr unsigned few = 16; // each goes over all symbols
  if (!functions_ && ++searches_ > few) functions();
  if (functions_) {
    auto at = std::lower_bound(functions_->begin(), functions_->end(), wanted.name,
                               [](const FunctionSymbol& f, std::string_view n) { return f.name < n; });
    for (; at != functions_->end() && at->name == wanted.name; ++at)
      if (fits(*at)) out.push_back(*at);
    if (!out.empty() || !labels) return out;
  }
  each_symbol_file([&](const format::ElfFile& file) {
    for_each_function(file, [&](const FunctionSymbol& f) {
      if (fits(f) && (labels || !f.is_label)) out.push_back(f);
    });
    return out.empty();
  });
  if (std::any_of(out.begin(), out.end(), [](auto& f) { return !f.is_label; }))
    std::erase_if(out, [](auto& f) { return f.is_label; });
  put_in_order(out);
  return out;
}

// What is called by its address because it has no name. Not in the list of all: a pattern means what has a
// name.
std::optional<FunctionSymbol> Binary::unnamed_function(std::string_view name) {
  auto address = frame_function_address(name);
  auto found = address && !function_at(*address) ? called_frame_function(*file_, *address) : std::nullopt;
  if (!found) return std::nullopt;
  std::string_view kept = shown_.try_emplace(std::string(name)).first->first;
  return FunctionSymbol{.name = kept, .address = found->address, .size = found->size, .is_local = true};
}

std::optional<FunctionSymbol> Binary::function_at(uint64_t address) {
  std::optional<FunctionSymbol> best;
  auto is_better = [&](const FunctionSymbol& f) {
    if (!best || f.is_label != best->is_label) return !best || best->is_label;
    return f.address > best->address || (f.address == best->address && is_better_known(f, *best));
  };
  each_symbol_file([&](const format::ElfFile& file) {
    for_each_function(file, [&](const FunctionSymbol& f) {
      if (address < f.address || (address != f.address && address - f.address >= f.size)) return;
      if (is_better(f)) best = f;
    });
    return true;
  });
  return best;
}

std::string_view Binary::shown(std::string_view name) {
  if (!is_mangled(name)) return name;
  auto [at, is_new] = shown_.try_emplace(std::string(name));
  if (is_new) at->second = demangle(name);
  return at->second.empty() ? std::string_view(at->first) : at->second;
}

void Binary::each_symbol(const std::function<bool(const format::ElfSymbol&)>& take) {
  bool wants_more = true;
  each_symbol_file([&](const format::ElfFile& file) {
    for (std::string_view table : {".symtab", ".dynsym"}) {
      const format::ElfSection* section = file.elf().section(table);
      if (!section || !wants_more) continue;
      file.elf().for_each_symbol(*section, [&](const format::ElfSymbol& s) {
        if (wants_more && s.section != SHN_UNDEF) wants_more = take(s);
      });
    }
    return wants_more;
  });
}

std::optional<SymbolPlace> Binary::find_symbol(std::string_view name) {
  auto [at, is_new] = symbols_.try_emplace(std::string(name));
  std::optional<SymbolPlace>& found = at->second;
  if (!is_new) return found;
  each_symbol([&](const format::ElfSymbol& s) {
    if (split_version(s.name).name == name) found = {s.value, s.size, s.type == STT_TLS};
    return !found;
  });
  return found;
}

std::optional<uint64_t> Binary::symbol_address(std::string_view name) {
  auto found = find_symbol(name);
  return found && !found->is_of_threads ? std::optional(found->address) : std::nullopt;
}

std::string Binary::symbol_like(std::string_view name) {
  std::vector<std::string_view> names;
  each_symbol([&](const format::ElfSymbol& s) {
    if (!s.name.empty() && s.type != STT_SECTION && s.type != STT_FILE) names.push_back(split_version(s.name).name);
    return true;
  });
  return std::string(base::nearest(name, names));
}

} // namespace symbol
