#include "symbol/function_names_maker.h"

#include "format/go_table.h"
#include "symbol/demangle.h"

#include <algorithm>
#include <elf.h>

namespace symbol {

namespace {

// Code without a size does not reach further.
constexpr uint64_t largest_unsized = 1 << 20;
// More than any program has; names of a damaged file may all lie in one text, again and again.
constexpr size_t most_functions = 16 << 20, most_name_bytes = 1 << 30;
// Of larger programs few of the names are ever shown.
constexpr size_t most_demangled_at_once = 1 << 16;

enum Rank : uint8_t { label, local, weak, global };

// Other files see `global` and `weak` alike; which of the two a name is says nothing about how well it is
// known.
Rank rank_of(const format::ElfSymbol& s) {
  if (!s.is_function()) return label;
  return s.binding == STB_GLOBAL ? global : s.binding == STB_WEAK ? weak : local;
}

size_t underscores(std::string_view name) { return std::min(name.find_first_not_of('_'), name.size()); }

// "pthread_cond_wait@@GLIBC_2.3.2": the version is no part of the name.
std::string_view without_version(std::string_view name) {
  size_t at = name.find('@');
  return at == 0 ? name : name.substr(0, at);
}

void append(std::vector<std::byte>& to, const void* bytes, size_t size) {
  const auto* from = static_cast<const std::byte*>(bytes);
  to.insert(to.end(), from, from + size);
}

template<class T> void append_array(std::vector<std::byte>& to, const std::vector<T>& elements) {
  append(to, elements.data(), elements.size() * sizeof(T));
}

} // namespace

bool FunctionNamesMaker::can_take(std::string_view name) const {
  return !name.empty() && names_.size() + name.size() < most_name_bytes && functions_.size() < most_functions;
}

void FunctionNamesMaker::add(uint64_t address, uint64_t size, std::string_view name, uint8_t rank) {
  if (!can_take(name)) return;
  functions_.push_back({address, size, names_.size(), static_cast<uint32_t>(name.size()), rank});
  names_.append(name);
}

void FunctionNamesMaker::add_table(const format::ElfFile& file, std::string_view table_name) {
  const format::Elf& elf = file.elf();
  const format::ElfSection* table = elf.section(table_name);
  if (!table) return;
  elf.for_each_symbol(*table, [&](const format::ElfSymbol& s) {
    bool is_label = s.type == STT_NOTYPE;
    if (s.section == SHN_UNDEF || s.section >= elf.sections().size() || !(s.is_function() || is_label))
      return;
    const format::ElfSection& section = elf.sections()[s.section];
    if (!(section.flags & SHF_EXECINSTR) || s.value - section.address >= section.size) return;
    if (is_label && (s.name.starts_with('$') || s.name.starts_with(".L"))) return; // marks of the assembler
    add(s.value, s.size, without_version(s.name), rank_of(s));
  });
}

void FunctionNamesMaker::add_symbols(const format::ElfFile& file) {
  add_table(file, ".symtab");
  if (file.elf().section(".symtab")) return; // which has all of .dynsym
  add_table(file, ".dynsym");
}

void FunctionNamesMaker::add_go_functions(const format::ElfFile& file) {
  format::for_each_go_function(file, [&](const format::GoTable::Function& f) {
    add(f.begin, f.end - f.begin, f.name, local);
    source_ = FunctionNames::source_go;
  });
}

void FunctionNamesMaker::add_unnamed(const format::ElfFile& file) {
  for_each_frame_function(file, [&](const FrameFunction& f) {
    if (unnamed_.size() < most_functions) unnamed_.push_back(f);
  });
}

void FunctionNamesMaker::add_segments(const format::ElfFile& file) {
  for (const format::ElfSegment& s : file.elf().segments())
    if (s.type == PT_LOAD && (s.flags & PF_X)) add_segment({s.offset, s.address, s.file_size});
}

bool FunctionNamesMaker::is_better(const Function& a, const Function& b) const {
  if (a.rank != b.rank && (a.rank < weak || b.rank < weak)) return a.rank > b.rank;
  if ((a.size != 0) != (b.size != 0)) return a.size != 0;
  return underscores(name(a)) < underscores(name(b));
}

void FunctionNamesMaker::keep_one_per_address() {
  std::stable_sort(functions_.begin(), functions_.end(), [this](const Function& a, const Function& b) {
    return a.address != b.address ? a.address < b.address : is_better(a, b);
  });
  auto same = [](const Function& a, const Function& b) { return a.address == b.address; };
  functions_.erase(std::unique(functions_.begin(), functions_.end(), same), functions_.end());
}

// A function whose symbol has no size has that of its range; a range within a function is a piece of that.
void FunctionNamesMaker::name_unnamed() {
  std::ranges::stable_sort(unnamed_, {}, &FrameFunction::address);
  const size_t known = functions_.size();
  size_t next = 0;
  uint64_t end = 0; // of what begins before
  for (const FrameFunction& f : unnamed_) {
    for (; next < known && functions_[next].address <= f.address; next++)
      end = std::max(end, functions_[next].address + functions_[next].size);
    if (next > 0 && functions_[next - 1].address == f.address) {
      if (!functions_[next - 1].size) functions_[next - 1].size = f.size;
    } else if (std::string name = frame_function_name(f.address); f.address >= end && can_take(name)) {
      add(f.address, f.size, name);
      functions_.back().is_derived = true;
    }
    end = std::max(end, f.address + f.size);
  }
  std::ranges::inplace_merge(functions_, functions_.begin() + static_cast<std::ptrdiff_t>(known), {},
                             &Function::address);
}

void FunctionNamesMaker::drop_far_away() {
  if (functions_.empty()) return;
  uint64_t end = functions_[0].address + UINT32_MAX; // what is further away than any code is damaged
  std::erase_if(functions_, [&](const Function& f) { return f.address >= end; });
}

// One pass over the starts, with a stack of functions that were begun and not ended: where one ends, the one
// around it goes on.
std::vector<FunctionNamesMaker::Range> FunctionNamesMaker::take_apart() const {
  std::vector<Range> out;
  struct Open {
    uint64_t end;
    uint32_t function;
  };
  std::vector<Open> open;
  uint64_t at = 0; // everything before it is told
  auto tell_until = [&](uint64_t next) {
    while (!open.empty() && open.back().end <= next) {
      at = std::max(at, open.back().end);
      open.pop_back();
      while (!open.empty() && open.back().end <= at) open.pop_back();
      if (at < next) out.push_back({at, open.empty() ? FunctionNames::no_function : open.back().function});
    }
    at = next;
  };
  for (uint32_t i = 0; i < functions_.size(); i++) {
    const Function& f = functions_[i];
    tell_until(f.address);
    if (f.size == 0 && !open.empty()) continue; // a label inside a function
    uint64_t next = i + 1 < functions_.size() ? functions_[i + 1].address : UINT64_MAX;
    uint64_t size = f.size ? f.size : std::min(next - f.address, largest_unsized);
    size = std::min(size, UINT64_MAX - f.address);
    open.push_back({f.address + size, i});
    out.push_back({f.address, i});
  }
  if (!functions_.empty()) tell_until(functions_[0].address + UINT32_MAX);
  return out;
}

std::vector<std::byte> FunctionNamesMaker::make() {
  keep_one_per_address();
  name_unnamed();
  drop_far_away();
  FunctionNames::Header header;
  header.base = functions_.empty() ? 0 : functions_[0].address;
  std::string texts(1, '\0'); // place 0: the empty text
  auto keep = [&](std::string_view text) {
    auto place = static_cast<uint32_t>(texts.size());
    texts.append(text).push_back('\0');
    return place;
  };
  std::vector<FunctionNames::Record> records;
  records.reserve(functions_.size());
  bool demangles = functions_.size() <= most_demangled_at_once;
  for (const Function& f : functions_) {
    FunctionNames::Record r = {.start = static_cast<uint32_t>(f.address - header.base),
                               .size = static_cast<uint32_t>(std::min<uint64_t>(f.size, UINT32_MAX)),
                               .name = keep(name(f)),
                               .shown = f.is_derived ? FunctionNames::derived : FunctionNames::not_shown};
    if (demangles && is_mangled(name(f)) && texts.size() < most_name_bytes) {
      std::string text = demangle(name(f));
      r.shown = text.empty() ? r.name : keep(text);
    }
    records.push_back(r);
  }
  std::vector<uint32_t> starts, functions;
  for (const Range& r : take_apart()) {
    starts.push_back(static_cast<uint32_t>(r.start - header.base));
    functions.push_back(r.function);
  }
  header.segments = static_cast<uint32_t>(segments_.size());
  header.ranges = static_cast<uint32_t>(starts.size());
  header.records = static_cast<uint32_t>(records.size());
  header.source = keep(source_);
  header.is_whole = is_whole_;
  header.texts = texts.size();

  std::vector<std::byte> out;
  append(out, &header, sizeof header);
  append_array(out, segments_);
  append_array(out, starts);
  append_array(out, functions);
  append_array(out, records);
  append(out, texts.data(), texts.size());
  return out;
}

std::vector<std::byte> make_function_names(const format::ElfFile& file, const format::ElfFile* debug,
                                           std::string_view debug_path) {
  FunctionNamesMaker maker;
  maker.add_segments(file);
  maker.add_symbols(file);
  if (const format::ElfFile* packed = file.packed_symbols()) maker.add_symbols(*packed);
  if (debug) {
    maker.add_symbols(*debug);
    maker.set_source(debug_path);
  }
  if (!debug && !file.elf().section(".symtab")) maker.add_go_functions(file);
  maker.add_unnamed(file);
  if (debug || file.elf().section(".symtab")) maker.set_whole();
  return maker.make();
}

} // namespace symbol
