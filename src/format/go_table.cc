#include "format/go_table.h"

#include <algorithm>
#include <cstring>
#include <elf.h>

namespace format {

using base::ByteSpan;
using base::Reader;

static constexpr GoForm forms[] = {
    {.magic = 0xfffffffb, .functions_data = 8 + 31},                                     // Go 1.2
    {.magic = 0xfffffffa, .has_parts = true, .first_part = 2, .functions_data = 8 + 35}, // 1.16
    {.magic = 0xfffffff0,
     .has_offsets = true,
     .has_parts = true,
     .first_part = 3,
     .functions_data = 4 + 35}, // 1.18
    {.magic = 0xfffffff1,
     .has_offsets = true,
     .has_parts = true,
     .first_part = 3,
     .functions_data = 4 + 39}, // 1.20
};
static constexpr uint64_t most_functions = 16 << 20, longest_name = 64 << 10;
static constexpr uint64_t header_begin = 8, word = 8;
static constexpr uint64_t most_searched = 256 << 20; // bytes of a segment
static constexpr int most_tried = 16;                // places that look like the begin of a table

// ---- finding it

std::optional<GoTable> GoTable::find(const ElfFile& file) {
  for (const char* name : {".gopclntab", ".data.rel.ro.gopclntab"})
    if (const ElfSection* section = file.elf().section(name))
      if (auto table = read(file, section->address, file.elf().content(*section))) return table;
  // Who has a symbol table is not known by this one only.
  return file.elf().section(".symtab") ? std::nullopt : look_for(file);
}

// How a table begins; nullptr: not so.
static const GoForm* form_of(ByteSpan bytes) {
  Reader r(bytes);
  auto magic = r.number<uint32_t>();
  bool is_padded = r.number<uint16_t>() == 0;
  auto instruction = r.number<uint8_t>(), address_size = r.number<uint8_t>();
  bool is_known = instruction == 1 || instruction == 2 || instruction == 4;
  auto form = std::ranges::find(forms, magic, &GoForm::magic);
  return form != std::end(forms) && is_padded && is_known && address_size == word ? form : nullptr;
}

std::optional<GoTable> GoTable::look_for(const ElfFile& file) {
  constexpr std::string_view common("\xff\xff\xff\0\0", 5); // of all headers, after the magic's first byte
  int tried = 0;
  auto is_read_only = [](const ElfSegment& s) { return s.type == PT_LOAD && !(s.flags & (PF_W | PF_X)); };
  const bool has_read_only = std::ranges::any_of(file.elf().segments(), is_read_only); // else that is beside the code
  for (const ElfSegment& s : file.elf().segments()) {
    if (s.type != PT_LOAD || s.offset >= file.bytes().size() || ((s.flags & PF_X) && has_read_only)) continue;
    ByteSpan bytes = file.bytes().subspan(s.offset);
    bytes = bytes.first(std::min({uint64_t{bytes.size()}, s.file_size, most_searched}));
    for (size_t from = 0;;) {
      const void* found = ::memmem(bytes.data() + from, bytes.size() - from, common.data(), common.size());
      if (!found) break;
      from = static_cast<size_t>(static_cast<const std::byte*>(found) - bytes.data());
      if (from > 0 && (s.address + from - 1) % word == 0 && form_of(bytes.subspan(from - 1))) {
        if (auto table = read(file, s.address + from - 1, bytes.subspan(from - 1))) return table;
        if (++tried == most_tried) return std::nullopt;
      }
      from++;
    }
  }
  return std::nullopt;
}

std::optional<GoTable> GoTable::read(const ElfFile& file, uint64_t address, ByteSpan bytes) {
  const GoForm* form = form_of(bytes);
  if (!form) return std::nullopt;
  GoTable out(file, address, bytes);
  out.form_ = form;
  out.instruction_size_ = static_cast<uint8_t>(bytes[6]);
  if (!out.read_header() || (form->has_offsets && !out.find_code())) return std::nullopt;
  auto first = out.at(0);
  auto end = out.begin(out.count_);
  auto is_code = [&](const ElfSegment& s) {
    return s.type == PT_LOAD && (s.flags & PF_X) && first->begin - s.address < s.memory_size &&
           *end - s.address <= s.memory_size;
  };
  if (!first || !end || *end <= first->begin || std::ranges::none_of(file.elf().segments(), is_code))
    return std::nullopt;
  return out;
}

// ---- the header

bool GoTable::read_header() {
  Reader r(bytes_, header_begin);
  count_ = r.number<uint64_t>();
  if (!r.ok() || count_ == 0 || count_ > most_functions) return false;
  if (form_->has_parts) {
    if (!read_parts(r)) return false;
  } else {
    names_ = numbers_ = bytes_; // all places count from the table's begin, …
    functions_ = bytes_;        // also those of records
    functions_address_ = address_;
    read_old_files();
  }
  return count_ < functions_.size() / entry_size();
}

bool GoTable::read_parts(Reader& header) {
  header.skip(word); // how many files
  if (form_->first_part == 3)
    code_ = words_.at(address_ + header_begin + 2 * word).value_or(0), header.skip(word);
  uint64_t functions = 0;
  for (ByteSpan* part : {&names_, &file_lists_, &files_, &numbers_, &functions_}) {
    functions = header.number<uint64_t>();
    if (!header.ok() || functions > bytes_.size()) return false;
    *part = bytes_.subspan(functions);
  }
  functions_address_ = address_ + functions;
  return true;
}

// Behind the functions: where the list of files is, whose first number is how many there are.
void GoTable::read_old_files() {
  const uint64_t behind = header_begin + word + count_ * entry_size() + word;
  uint64_t list = Reader(bytes_, behind).number<uint32_t>();
  if (list < bytes_.size()) file_lists_ = bytes_.subspan(list);
  files_ = bytes_;
}

// ---- functions

// Of the one behind the last: where that ends.
std::optional<uint64_t> GoTable::begin(uint64_t index) const {
  const uint64_t at = (form_->has_parts ? 0 : header_begin + word) + index * entry_size();
  if (!form_->has_offsets) return words_.at(functions_address_ + at);
  Reader r(functions_, at);
  auto offset = r.number<uint32_t>();
  return r.ok() ? std::optional(code_ + offset) : std::nullopt;
}

std::optional<GoTable::Function> GoTable::at(uint64_t index) const {
  const uint64_t first = form_->has_parts ? 0 : header_begin + word, half = entry_size() / 2;
  auto begin = this->begin(index), end = this->begin(index + 1);
  Reader entry(functions_, first + index * entry_size() + half);
  const uint64_t place = entry.number_of(static_cast<unsigned>(half));
  if (!begin || !end || *end < *begin || !entry.ok() || place >= functions_.size()) return std::nullopt;
  Reader record(functions_, place + (form_->has_offsets ? 4 : 8));
  auto name = record.number<uint32_t>();
  if (!record.ok() || name >= names_.size()) return std::nullopt;
  std::string_view text =
      base::text_at(names_.first(std::min<uint64_t>(names_.size(), name + longest_name)), name);
  if (text.empty()) return std::nullopt;
  return Function{text, *begin, *end, place};
}

std::optional<GoTable::Function> GoTable::holding(uint64_t address) const {
  uint64_t low = 0, high = count_; // those below `low` begin at or before the address
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    (begin(middle).value_or(UINT64_MAX) <= address) ? low = middle + 1 : high = middle;
  }
  auto found = low ? at(low - 1) : std::nullopt;
  return found && address - found->begin < found->end - found->begin ? found : std::nullopt;
}

// ---- the runtime's description of the program

// What it has since Go 1.18 as words of this index, all of them addresses.
enum : uint64_t { header_word = 0, names_word = 1, first_word = 20, last_word = 21, code_word = 22 };

// The start of the code, if this is the description: the code's two ends are there twice.
std::optional<uint64_t> GoTable::first_in(uint64_t module_data) const {
  auto at = [&](uint64_t index) { return words_.at(module_data + index * word); };
  auto names = at(names_word), first = at(first_word), last = at(last_word), code = at(code_word);
  Reader begin(functions_), end(functions_, count_ * entry_size());
  if (!names || !first || !last || !code) return std::nullopt;
  if (*names - address_ != static_cast<uint64_t>(names_.data() - bytes_.data())) return std::nullopt;
  const uint64_t begins = begin.number<uint32_t>(), ends = end.number<uint32_t>();
  return *first - *code == begins && *last - *code == ends ? code : std::nullopt;
}

// It tells where the code begins, which is not where .text does when C is linked in. The header told it, too,
// up to Go 1.25.
bool GoTable::find_code() {
  constexpr size_t most = 64;
  for (uint64_t place : words_.find(address_, most)) {
    auto code = first_in(place);
    if (!code) continue;
    code_ = *code;
    module_data_ = place;
    return true;
  }
  return code_ != 0;
}

// ---- all functions

bool has_go_functions(const ElfFile& file) { return GoTable::find(file).has_value(); }

void for_each_go_function(const ElfFile& file, const std::function<void(const GoTable::Function&)>& take) {
  auto table = GoTable::find(file);
  for (uint64_t i = 0; table && i < table->size(); i++)
    if (auto function = table->at(i)) take(*function);
}

} // namespace format
