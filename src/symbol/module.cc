#include "symbol/module.h"

#include "dwarf/address_lookup.h"
#include "format/go_lines.h"
#include "symbol/debug_family.h"
#include "symbol/demangle.h"
#include "symbol/file_names.h"

#include <elf.h>
#include <unordered_map>

namespace symbol {

// Where lines are looked up.
struct Module::Lines {
  Lines(const format::ElfFile& file, const DebugFile& debug, const std::string& path,
        const DebugSearch& search)
      : family(file, debug, path, search), lookup(family.info()) {}

  // The name to be shown of a frame; lives as long as this or the files.
  std::string_view name(const dwarf::SourceFrame& frame, bool mangled) {
    std::string_view name = frame.linkage.empty() ? frame.name : frame.linkage;
    if (mangled || !is_mangled(name)) return name;
    auto known = demangled.find(name);
    if (known == demangled.end()) known = demangled.emplace(name, demangle(name)).first;
    return known->second.empty() ? name : std::string_view(known->second);
  }

  DebugFamily family;
  dwarf::AddressLookup lookup;
  std::unordered_map<std::string_view, std::string> demangled; // names are the files'
  std::vector<Frame> frames;                                   // of one address
};

// What a program of Go knows of its own code.
struct Module::GoCode {
  explicit GoCode(format::GoTable found) : table(std::move(found)) {}

  format::GoTable table;
  format::GoLines lines{table};
};

Module::Module(format::ElfFile file, std::string path, DebugSearch search)
    : path_(std::move(path)), search_(std::move(search)), file_(std::move(file)) {}

Module::Module(DebugFile debug, std::string path) : path_(std::move(path)), debug_(std::move(debug)) {}

Module::~Module() = default;

const DebugFile& Module::debug() {
  if (!debug_) debug_ = find_debug_file(*file_, path_, search_);
  return *debug_;
}

FunctionNames& Module::names(const Cache& cache) {
  if (names_) return *names_;
  if (!file_)
    names_.emplace();
  else
    names_ = names_of_file(*file_, file_->elf().section(".symtab") ? nullptr : &debug(), cache);
  return *names_;
}

bool Module::open_lines() {
  if (lines_) return true;
  const DebugFile& known = debug();
  const format::ElfFile* file = known.source == DebugFile::Source::module ? this->file() : nullptr;
  if (!file && known.debug.file) file = &*known.debug.file;
  if (!file || !known.has_dwarf) return false;
  lines_ = std::make_unique<Lines>(*file, known, path_, search_);
  return true;
}

// All but the outermost.
static void mark_inlined(std::span<Frame> frames) {
  for (size_t i = 0; i + 1 < frames.size(); i++) frames[i].kind = spec::FrameKind::inlined;
}

void Module::find_lines(std::span<const uint64_t> addresses, const FrameOptions& options,
                        const TakeFrames& take) {
  if (!open_lines()) return find_go_lines(addresses, options, take);
  lines_->lookup.find(addresses, [&](size_t index, std::span<const dwarf::SourceFrame> frames) {
    std::vector<Frame>& out = lines_->frames;
    out.clear();
    for (const dwarf::SourceFrame& f : frames)
      if (options.inlines || !f.inlined)
        out.push_back({.name = lines_->name(f, options.mangled), .file = f.file, .line = f.line, .column = f.column});
    if (!options.inlines && !frames.empty() &&
        !out.empty()) { // where the code is, not where it was inlined to
      out.front().file = frames.front().file;
      out.front().line = frames.front().line;
      out.front().column = frames.front().column;
    }
    mark_inlined(out);
    if (!out.empty()) take(index, out);
  });
}

// Through a stripped file one has to search for Go's table; whether there is one is known since the names
// were made.
bool Module::may_be_go(const FunctionNames& names) const {
  return file_ && (file_->elf().section(".symtab") || names.source() == FunctionNames::source_go);
}

bool Module::open_go() {
  if (names_) take_hints(*names_);
  if (std::exchange(is_go_tried_, true) || !file_) return go_ != nullptr;
  if (auto table = format::GoTable::find(*file_)) go_ = std::make_unique<GoCode>(std::move(*table));
  return go_ != nullptr;
}

void Module::find_go_lines(std::span<const uint64_t> addresses, const FrameOptions& options,
                           const TakeFrames& take) {
  if (!open_go()) return;
  std::vector<Frame> out;
  for (size_t i = 0; i < addresses.size(); i++) {
    out.clear();
    for (const format::GoFrame& f : go_->lines.find(addresses[i]))
      out.push_back({.name = f.function, .file = f.file, .line = f.line});
    if (out.empty()) continue;
    if (!options.inlines) { // where the code is, not where it was inlined to
      out.front().name = out.back().name;
      out.resize(1);
    }
    mark_inlined(out);
    take(i, out);
  }
}

void Module::close_debug() {
  lines_.reset();
  if (file_ && !names_) debug_.reset(); // names may be parts of it
}

std::optional<uint64_t> symbol_address(const format::ElfFile& file, std::string_view name) {
  std::optional<uint64_t> found;
  for (std::string_view section : {".symtab", ".dynsym"}) {
    const format::ElfSection* table = file.elf().section(section);
    if (!table || found) continue;
    file.elf().for_each_symbol(*table, [&](const format::ElfSymbol& s) {
      if (!found && s.section != SHN_UNDEF && s.name == name) found = s.value;
    });
  }
  return found;
}

} // namespace symbol
