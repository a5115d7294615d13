// Puts rows in the order of addresses together to tables (tables.h): numbers rules, leaves out rows that
// change nothing, begins pages.
#pragma once

#include "unwind/tables.h"

#include <unordered_map>
#include <vector>

namespace unwind {

class TableMaker {
public:
  // Of pages; addresses further apart than 4 GiB are not held.
  static constexpr uint64_t most_pages = 1 << 16;

  TableMaker();
  // From `address` on the rule holds. Addresses rise. False: too far from the first.
  bool put(uint64_t address, const unwind_rule& rule);
  // All of it as bytes; nothing may be put afterwards.
  Tables finish(uint32_t damaged);

private:
  uint16_t number_of(const unwind_rule& rule);
  bool go_to_page(uint64_t page, bool begins_page);

  struct Known {
    uint64_t bits = ~uint64_t{0};
    uint16_t number = 0;
  };
  std::vector<Known> recent_; // by a hash, in front of numbers_
  std::unordered_map<uint64_t, uint16_t> numbers_;
  std::vector<unwind_rule> rules_;
  std::vector<uint32_t> starts_;
  std::vector<unwind_row> rows_;
  uint64_t first_page_ = 0;
  uint16_t last_ = UNWIND_RULE_NO_TABLE;
  uint32_t not_held_ = 0;
};

} // namespace unwind
