#include "format/go_functions.h"

#include <algorithm>

namespace format {

static constexpr uint32_t go_1_18 = 0xfffffff0, go_1_20 = 0xfffffff1;
static constexpr uint64_t entry_size = 8;
static constexpr uint64_t most_functions = 16 << 20, longest_name = 64 << 10;

static const ElfSection* table_of(const Elf& elf) {
  const ElfSection* table = elf.section(".gopclntab");
  return table ? table : elf.section(".data.rel.ro.gopclntab");
}

bool has_go_functions(const Elf& elf) { return table_of(elf) != nullptr; }

void for_each_go_function(const ElfFile& file,
                          const std::function<void(std::string_view, uint64_t, uint64_t)>& take) {
  const ElfSection* section = table_of(file.elf());
  const ElfSection* code = file.elf().section(".text");
  if (!section) return;
  base::ByteSpan table = file.elf().content(*section);
  base::Reader header(table);
  auto magic = header.number<uint32_t>();
  header.skip(3); // 0, 0, the smallest size of an instruction
  if ((magic != go_1_18 && magic != go_1_20) || header.number<uint8_t>() != 8) return; // bytes of an address
  auto count = header.number<uint64_t>();
  header.skip(8); // files
  auto text = header.number<uint64_t>(), names = header.number<uint64_t>();
  header.skip(24); // units, files, lines
  auto functions = header.number<uint64_t>();
  if (!header.ok() || count > most_functions || functions > table.size() || names > table.size()) return;
  if (!text && code) text = code->address; // where the loader puts it, it is not told
  base::ByteSpan entries = table.subspan(functions), texts = table.subspan(names);
  for (uint64_t i = 0; i < count; i++) {
    base::Reader r(entries, i * entry_size);
    auto begin = r.number<uint32_t>(), place = r.number<uint32_t>(), end = r.number<uint32_t>();
    base::Reader function(entries, place);
    function.skip(4); // the entry again
    auto name = function.number<uint32_t>();
    if (!r.ok()) return;
    if (!function.ok() || end < begin || name >= texts.size()) continue;
    std::string_view known =
        base::text_at(texts.first(std::min<uint64_t>(texts.size(), name + longest_name)), name);
    if (!known.empty()) take(known, text + begin, end - begin);
  }
}

} // namespace format
