#include "format/elf_words.h"

#include <algorithm>
#include <cstring>
#include <elf.h>

namespace format {

using base::ByteSpan;
using base::Reader;

static constexpr uint64_t word = 8;
static constexpr size_t most_dynamic = 4096;

ElfWords::ElfWords(const ElfFile& file) : file_(&file) {
  for (const ElfSegment& s : file.elf().segments()) {
    if (s.type != PT_DYNAMIC) continue;
    Reader r(base::slice(file.bytes(), s.offset, s.file_size));
    uint64_t address = 0, size = 0;
    for (size_t i = 0; i < most_dynamic && r.ok(); i++) {
      auto tag = r.number<uint64_t>(), value = r.number<uint64_t>();
      if (tag == DT_NULL) break;
      if (tag == DT_RELA) address = value;
      if (tag == DT_RELASZ) size = value;
    }
    if (address) read_relocations(address, size);
  }
}

void ElfWords::read_relocations(uint64_t address, uint64_t size) {
  ByteSpan table = bytes(address);
  Reader r(table.first(std::min<uint64_t>(table.size(), size)));
  for (;;) {
    auto at = r.number<uint64_t>(), info = r.number<uint64_t>(), addend = r.number<uint64_t>();
    if (!r.ok()) break;
    auto type = static_cast<uint32_t>(info);
    const uint32_t relative = file_->elf().machine() == EM_AARCH64 ? R_AARCH64_RELATIVE : R_X86_64_RELATIVE;
    if (type == relative) relocated_.emplace_back(at, addend);
  }
  if (!std::ranges::is_sorted(relocated_)) std::ranges::sort(relocated_);
}

ByteSpan ElfWords::bytes(uint64_t address) const {
  for (const ElfSegment& s : file_->elf().segments()) {
    if (s.type != PT_LOAD || address < s.address || address - s.address >= s.file_size) continue;
    if (s.offset >= file_->bytes().size()) continue;
    ByteSpan segment = file_->bytes().subspan(s.offset);
    segment = segment.first(std::min<uint64_t>(segment.size(), s.file_size));
    const uint64_t at = address - s.address;
    return at < segment.size() ? segment.subspan(at) : ByteSpan();
  }
  return {};
}

std::optional<uint64_t> ElfWords::at(uint64_t address) const {
  auto moved = std::ranges::lower_bound(relocated_, address, {}, &std::pair<uint64_t, uint64_t>::first);
  if (moved != relocated_.end() && moved->first == address) return moved->second;
  Reader r(bytes(address));
  auto value = r.number<uint64_t>();
  return r.ok() ? std::optional(value) : std::nullopt;
}

std::vector<uint64_t> ElfWords::find(uint64_t value, size_t most) const {
  std::vector<uint64_t> out;
  for (auto [address, target] : relocated_)
    if (target == value && out.size() < most) out.push_back(address);
  for (const ElfSegment& s : file_->elf().segments()) {
    if (s.type != PT_LOAD || !(s.flags & PF_W)) continue;
    ByteSpan data = bytes(s.address);
    for (size_t from = 0; out.size() < most;) {
      const void* found = data.size() < word + from
                              ? nullptr
                              : ::memmem(data.data() + from, data.size() - from, &value, word);
      if (!found) break;
      from = static_cast<size_t>(static_cast<const std::byte*>(found) - data.data());
      if ((s.address + from) % word == 0) out.push_back(s.address + from);
      from++;
    }
  }
  return out;
}

} // namespace format
