#include "unwind/table_maker.h"

#include "unwind/compile_rule.h"

#include <cstring>

namespace unwind {

static constexpr size_t recent_bits = 10;

TableMaker::TableMaker() : recent_(size_t{1} << recent_bits) {
  for (uint8_t cfa = 0; cfa < UNWIND_FIXED_RULES; cfa++) {
    rules_.push_back(rule_of(cfa));
    numbers_.emplace(bits_of(rules_.back()), cfa);
  }
}

uint16_t TableMaker::number_of(const unwind_rule& rule) {
  uint64_t bits = bits_of(rule);
  Known& recent = recent_[bits * 0x9e3779b97f4a7c15u >> (64 - recent_bits)];
  if (recent.bits == bits) return recent.number;
  auto [at, is_new] = numbers_.try_emplace(bits, UNWIND_RULE_NOT_HELD);
  if (is_new && rules_.size() < UNWIND_MOST_RULES) {
    at->second = static_cast<uint16_t>(rules_.size());
    rules_.push_back(rule);
  }
  recent = {bits, at->second};
  return at->second;
}

// Begins the pages up to this one with the rule that holds there.
bool TableMaker::go_to_page(uint64_t page, bool begins_page) {
  if (starts_.empty()) first_page_ = page;
  if (page - first_page_ >= most_pages) return false;
  for (uint64_t next = first_page_ + starts_.size(); next <= page; next++) {
    starts_.push_back(static_cast<uint32_t>(rows_.size()));
    if (next < page || !begins_page) rows_.push_back({0, last_});
  }
  return true;
}

bool TableMaker::put(uint64_t address, const unwind_rule& rule) {
  uint16_t number = number_of(rule);
  if (number == last_) return true;
  auto low = static_cast<uint16_t>(address);
  if (!go_to_page(address >> UNWIND_PAGE_BITS, low == 0)) return false;
  rows_.push_back({low, number});
  not_held_ += number == UNWIND_RULE_NOT_HELD;
  last_ = number;
  return true;
}

Tables TableMaker::finish(uint32_t damaged) {
  starts_.push_back(static_cast<uint32_t>(rows_.size()));
  Tables::Header header;
  header.rules = static_cast<uint32_t>(rules_.size());
  header.pages = static_cast<uint32_t>(starts_.size() - 1);
  header.rows = static_cast<uint32_t>(rows_.size());
  header.first_page = first_page_;
  header.not_held = not_held_;
  header.damaged = damaged;
  auto bytes = std::make_shared<std::vector<std::byte>>();
  auto append = [&](base::ByteSpan part) { bytes->insert(bytes->end(), part.begin(), part.end()); };
  append(std::as_bytes(std::span(&header, 1)));
  append(std::as_bytes(std::span(rules_)));
  append(std::as_bytes(std::span(starts_)));
  append(std::as_bytes(std::span(rows_)));
  base::ByteSpan view = *bytes;
  auto out = Tables::of(view, std::move(bytes));
  return out.ok() ? std::move(*out) : Tables();
}

} // namespace unwind
