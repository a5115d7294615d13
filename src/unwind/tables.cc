#include "unwind/tables.h"

#include "unwind/compile_rule.h"

#include <algorithm>

namespace unwind {

// Raised when the same file would get other bytes.
static constexpr uint32_t format_version = 4;

// The first `count` elements of `bytes`, which begin behind them then. False: there are fewer.
template<class T> static bool take_array(base::ByteSpan& bytes, uint64_t count, std::span<const T>& out) {
  if (count > bytes.size() / sizeof(T)) return false;
  out = {reinterpret_cast<const T*>(bytes.data()), static_cast<size_t>(count)};
  bytes = bytes.subspan(static_cast<size_t>(count) * sizeof(T));
  return true;
}

// Whoever copies rows to a place where nobody looks again relies on this.
static bool is_whole(const Tables::Header& h, std::span<const unwind_rule> rules,
                     std::span<const uint32_t> starts, std::span<const unwind_row> rows) {
  if (rules.size() < UNWIND_FIXED_RULES || starts.front() != 0 || starts.back() != h.rows) return false;
  for (size_t page = 0; page < h.pages; page++)
    if (starts[page] >= starts[page + 1] || rows[starts[page]].address != 0) return false;
  return std::all_of(rows.begin(), rows.end(), [&](unwind_row row) { return row.rule < rules.size(); });
}

base::Result<Tables> Tables::of(base::ByteSpan bytes, std::shared_ptr<const void> owner) {
  base::Error none{base::Failure::runtime, "not tables of frames"};
  Tables out;
  out.bytes_ = bytes;
  std::span<const Header> header;
  if (reinterpret_cast<uintptr_t>(bytes.data()) % alignof(Header) != 0 || !take_array(bytes, 1, header))
    return none;
  const Header& h = out.header_ = header[0];
  if (h.magic != Header().magic || h.rules > UNWIND_MOST_RULES || !take_array(bytes, h.rules, out.rules_) ||
      !take_array(bytes, uint64_t{h.pages} + 1, out.starts_) || !take_array(bytes, h.rows, out.rows_) ||
      !bytes.empty())
    return none;
  // Addresses up to the end of the last page can be written down.
  if (h.pages > 0 && h.first_page > (UINT64_MAX >> UNWIND_PAGE_BITS) - (h.pages - 1)) return none;
  if (!is_whole(h, out.rules_, out.starts_, out.rows_)) return none;
  out.owner_ = std::move(owner);
  return out;
}

unwind_rule Tables::rule_at(uint64_t address) const {
  uint64_t page = (address >> UNWIND_PAGE_BITS) - header_.first_page;
  if (address >> UNWIND_PAGE_BITS < header_.first_page || page >= header_.pages)
    return rule_of(UNWIND_CFA_NO_TABLE);
  auto begin = rows_.begin() + starts_[page], end = rows_.begin() + starts_[page + 1];
  auto low = static_cast<uint16_t>(address);
  auto after = std::upper_bound(begin + 1, end, low,
                                [](uint16_t wanted, const unwind_row& row) { return wanted < row.address; });
  return rules_[(after - 1)->rule];
}

Tables tables_of_file(const format::ElfFile& file, const symbol::Cache& cache) {
  symbol::CacheKey key{.kind = "unwind", .version = format_version, .build_id = file.build_id()};
  if (!key.build_id.empty()) {
    if (std::optional<symbol::CachedFile> cached = cache.find(key)) {
      auto owner = std::make_shared<symbol::CachedFile>(std::move(*cached));
      base::ByteSpan bytes = owner->bytes();
      if (auto tables = Tables::of(bytes, std::move(owner)); tables.ok()) return std::move(*tables);
    }
  }
  Tables made = make_tables(file);
  // Without a cache everything works, only slower. What was read of a file that is being written or cut is
  // not kept.
  if (!key.build_id.empty() && !file.damaged() && made.header().damaged == 0)
    (void)cache.store(key, made.bytes());
  return made;
}

} // namespace unwind
