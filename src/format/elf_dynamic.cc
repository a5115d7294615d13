#include "format/elf_dynamic.h"

#include "base/text.h"

#include <elf.h>

namespace format {

static constexpr size_t most_entries = 4096;

// The values of one kind of entry, in the order of the file.
static std::vector<uint64_t> values_of(const Elf& elf, uint64_t wanted) {
  std::vector<uint64_t> out;
  const ElfSection* dynamic = elf.section(".dynamic");
  if (!dynamic) return out;
  base::Reader r(elf.content(*dynamic));
  for (size_t i = 0; i < most_entries && r.ok(); i++) {
    auto tag = r.number<uint64_t>(), value = r.number<uint64_t>();
    if (tag == DT_NULL) break;
    if (tag == wanted) out.push_back(value);
  }
  return out;
}

static std::vector<std::string_view> texts_of(const Elf& elf, uint64_t wanted) {
  std::vector<std::string_view> out;
  const ElfSection* dynamic = elf.section(".dynamic");
  if (!dynamic || dynamic->link >= elf.sections().size()) return out;
  base::ByteSpan names = elf.content(elf.sections()[dynamic->link]);
  for (uint64_t value : values_of(elf, wanted))
    if (std::string_view text = base::text_at(names, value); !text.empty()) out.push_back(text);
  return out;
}

std::vector<std::string_view> needed_libraries(const Elf& elf) { return texts_of(elf, DT_NEEDED); }

std::vector<std::string_view> library_folders(const Elf& elf) {
  std::vector<std::string_view> out;
  for (const auto tag : {DT_RPATH, DT_RUNPATH})
    for (std::string_view list : texts_of(elf, tag))
      for (std::string_view folder : base::split(list, ':')) out.push_back(folder);
  return out;
}

std::string_view library_name(const Elf& elf) {
  std::vector<std::string_view> all = texts_of(elf, DT_SONAME);
  return all.empty() ? std::string_view() : all.front();
}

bool is_position_independent_program(const Elf& elf) {
  for (uint64_t flags : values_of(elf, DT_FLAGS_1))
    if (flags & DF_1_PIE) return true;
  return false;
}

} // namespace format
