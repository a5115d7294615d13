#include "format/load_bias.h"

#include <algorithm>
#include <elf.h>

namespace format {

static constexpr uint64_t page = 4096;

static uint64_t page_of(uint64_t at) { return at / page * page; }

std::vector<const ElfSegment*> segments_of_page(std::span<const ElfSegment> segments, uint64_t offset) {
  std::vector<const ElfSegment*> out;
  const uint64_t wanted = page_of(offset);
  for (const ElfSegment& s : segments) {
    const uint64_t first = page_of(s.offset);
    const bool has_it = wanted >= first && wanted - first < s.offset - first + s.file_size;
    if (s.type == PT_LOAD && s.file_size && has_it) out.push_back(&s);
  }
  return out;
}

// How well a segment explains a mapping. A mapping may have been split (by mprotect), and is larger than its
// segment where a library's first mapping keeps the room for all others.
static int likelihood(const ElfSegment& s, const MappedPages& pages) {
  const uint64_t size = page_of(s.offset % page + s.file_size + page - 1);
  return (page_of(s.offset) == pages.offset ? 2 : 0) + (size == pages.end - pages.begin ? 1 : 0);
}

std::vector<uint64_t> possible_biases(std::span<const ElfSegment> segments, const MappedPages& pages) {
  struct Candidate {
    uint64_t bias;
    int likelihood;
  };
  std::vector<Candidate> found;
  const auto add = [&](bool fits_rights) {
    for (const ElfSegment* s : segments_of_page(segments, pages.offset)) {
      const bool is_code = s->flags & PF_X;
      if (fits_rights && pages.may_be_executed.value_or(is_code) != is_code) continue;
      found.push_back({pages.begin - (s->address + (pages.offset - s->offset)), likelihood(*s, pages)});
    }
  };
  add(true);
  if (found.empty()) add(false); // rights were changed
  std::stable_sort(found.begin(), found.end(), [](auto& a, auto& b) { return a.likelihood > b.likelihood; });
  std::vector<uint64_t> out;
  for (const Candidate& c : found)
    if (std::find(out.begin(), out.end(), c.bias) == out.end()) out.push_back(c.bias);
  return out;
}

uint64_t agreed_bias(std::span<const ElfSegment> segments, std::span<const uint64_t> biases,
                     std::span<const MappedPages> others) {
  std::vector<size_t> agreeing(biases.size());
  for (const MappedPages& other : others)
    for (uint64_t bias : possible_biases(segments, other))
      if (auto at = std::find(biases.begin(), biases.end(), bias); at != biases.end())
        agreeing[static_cast<size_t>(at - biases.begin())]++;
  return biases[static_cast<size_t>(std::max_element(agreeing.begin(), agreeing.end()) - agreeing.begin())];
}

std::optional<uint64_t> bias_of(std::span<const ElfSegment> segments, const MappedPages& pages,
                                std::span<const MappedPages> others) {
  const std::vector<uint64_t> biases = possible_biases(segments, pages);
  if (biases.empty()) return std::nullopt;
  return biases.size() == 1 ? biases[0] : agreed_bias(segments, biases, others);
}

} // namespace format
