// A table's rows by name: an open hash made when acu is compiled, so that a look-up touches one row of the table
// (the rows of builtins are spread over many pages of memory).
#pragma once

#include "base/constant.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace spec {

// Slots: a power of two, more than twice the number of rows.
template<size_t Slots> class NameIndex {
  static_assert((Slots & (Slots - 1)) == 0);

public:
  // `name_of` gives the name of each row; of equal names the first is found.
  template<class Rows, class NameOf>
  consteval NameIndex(const Rows& rows, NameOf name_of) {
    uint16_t number = 0;
    for (const auto& row : rows) {
      size_t slot = hash(name_of(row)) % Slots;
      while (slots_[slot]) slot = (slot + 1) % Slots;
      slots_[slot] = ++number;
    }
    if (number * 2 > Slots) base::wrong_constant("more slots are needed");
  }
  // The number of the row, or -1.
  template<class Rows, class NameOf>
  constexpr int find(const Rows& rows, NameOf name_of, std::string_view name) const {
    for (size_t slot = hash(name) % Slots; slots_[slot]; slot = (slot + 1) % Slots)
      if (name_of(rows[slots_[slot] - 1u]) == name) return slots_[slot] - 1;
    return -1;
  }

private:
  static constexpr uint32_t hash(std::string_view name) { // FNV-1a
    uint32_t h = 2166136261u;
    for (char c : name) h = (h ^ static_cast<unsigned char>(c)) * 16777619u;
    return h ^ h >> 15;
  }
  std::array<uint16_t, Slots> slots_ = {}; // number of the row, from 1
};

} // namespace spec
