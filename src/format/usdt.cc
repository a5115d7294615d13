// The notes: words of name and description size, kind, the name "stapsdt", then three addresses (instruction,
// base, counter) and three texts (provider, name, arguments).
#include "format/usdt.h"

#include "format/elf_file.h"

#include <algorithm>

namespace format {

using base::ByteSpan;
using base::Reader;

static constexpr uint32_t usdt_kind = 3; // the current version of the layout

// What a person may be shown, and a script can name.
static bool is_name(std::string_view text) {
  return !text.empty() &&
         std::none_of(text.begin(), text.end(), [](unsigned char c) { return c <= ' ' || c == 127; });
}

static std::optional<UsdtNote> read_note(ByteSpan description, std::optional<uint64_t> base) {
  Reader r(description);
  UsdtNote note;
  note.address = r.number<uint64_t>();
  auto noted_base = r.number<uint64_t>();
  note.counter = r.number<uint64_t>();
  note.provider = r.text();
  note.name = r.text();
  note.arguments = r.text();
  if (!r.ok() || !is_name(note.provider) || !is_name(note.name)) return std::nullopt;
  // Tools that move a linked file to another address change its sections, and know nothing of these notes.
  if (base && noted_base) {
    uint64_t moved = *base - noted_base;
    note.address += moved;
    if (note.counter) note.counter += moved;
  }
  return note;
}

std::vector<UsdtNote> read_usdt_notes(ByteSpan notes, std::optional<uint64_t> base) {
  std::vector<UsdtNote> out;
  auto padded = [](uint64_t size) { return (size + 3) & ~uint64_t{3}; };
  for (uint64_t at = 0; at < notes.size() && out.size() < usdt_limit;) {
    Reader r(notes, at);
    uint64_t name_size = r.number<uint32_t>(), size = r.number<uint32_t>();
    auto kind = r.number<uint32_t>();
    if (!r.ok()) break;
    bool is_usdt = kind == usdt_kind && base::text_at(base::slice(notes, r.at(), name_size), 0) == "stapsdt";
    uint64_t description = at + padded(12 + name_size);
    if (is_usdt)
      if (auto note = read_note(base::slice(notes, description, size), base)) out.push_back(*note);
    at = description + padded(size);
  }
  return out;
}

std::vector<UsdtNote> read_usdt(const ElfFile& file) {
  // Cheap for the many files that have none.
  const ElfSection* notes = file.elf().section(".note.stapsdt");
  if (!notes) return {};
  const ElfSection* base = file.elf().section(".stapsdt.base");
  return read_usdt_notes(file.section(*notes), base ? std::optional(base->address) : std::nullopt);
}

} // namespace format
