// Each entry gets a rank, the number its value is sorted by, worked out once; equal ranks are told apart by
// key. That makes the order of output the same on every run, whatever order the kernel hands the entries over
// in.
#include "report/order.h"

#include "report/histogram.h"
#include "report/number.h"
#include "report/text.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace report {

using type::Kind;

namespace {

template<class T> int order(T a, T b) { return (a > b) - (a < b); }

// Integers of 4 and 8 bytes compare as signed, whatever their type; smaller ones stand for wider keys that
// they were widened to, by their own sign.
int compare_integers(const type::Type& type, Bytes a, Bytes b) {
  if (type.size == 4) return order(static_cast<int32_t>(load(a, 4)), static_cast<int32_t>(load(b, 4)));
  return order(static_cast<int64_t>(extend(type, a)), static_cast<int64_t>(extend(type, b)));
}

int compare_bytes(Bytes a, Bytes b) {
  size_t common = std::min(a.size(), b.size());
  int difference = common ? std::memcmp(a.data(), b.data(), common) : 0;
  return difference ? difference : order(a.size(), b.size());
}

// Larger ones are larger, of all values but NaN, which comes last: the bits of what is below zero count backwards.
uint64_t rank_of_floating(const type::Type& type, Bytes value) {
  const double number = static_cast<double>(floating_of(type, value));
  const auto bits = std::bit_cast<uint64_t>(number == 0 ? 0.0 : std::isnan(number) ? std::abs(number) : number);
  constexpr uint64_t sign = uint64_t{1} << 63;
  return bits & sign ? ~bits : bits | sign;
}

int compare_keys(const type::Type& type, Bytes a, Bytes b) {
  switch (type.kind) {
  case Kind::boolean:
  case Kind::integer:
  case Kind::enumeration: return compare_integers(type, a, b);
  case Kind::floating: return order(rank_of_floating(type, a), rank_of_floating(type, b));
  case Kind::string: {
    const int difference = characters(a).compare(characters(b));
    return difference ? difference : compare_bytes(a, b); // one that was cut has a mark behind its text
  }
  case Kind::array:
    for (uint32_t i = 0; i < type.count; i++) {
      size_t size = type.element->size, at = size * i;
      if (int c = compare_keys(*type.element, part(a, at, size), part(b, at, size))) return c;
    }
    return 0;
  case Kind::tuple:
    for (const type::Field& f : type.fields()) {
      size_t size = f.type->size;
      if (int c = compare_keys(*f.type, part(a, f.offset, size), part(b, f.offset, size))) return c;
    }
    return 0;
  default: return type.size == 8 ? order(load(a, 8), load(b, 8)) : compare_bytes(a, b);
  }
}

// What values are sorted by. Without a rank only the key counts.
std::optional<Number> rank_of(const type::Type& type, Bytes value) {
  switch (type.kind) {
  case Kind::enumeration: return Number{extend(type, value), type.is_signed};
  case Kind::min:
  case Kind::max: return Number{load(value, 8), false};
  case Kind::stats: return stats_of(type, value).average;
  case Kind::hist:
  case Kind::lhist: return Number{histogram_total(type, value), false};
  case Kind::floating: return Number{rank_of_floating(type, value), false};
  default: return number_of(type, value);
  }
}

int compare_numbers(Number a, Number b) {
  if (a.is_signed) return order(static_cast<int64_t>(a.bits), static_cast<int64_t>(b.bits));
  return order(a.bits, b.bits);
}

} // namespace

void sort_items(const ir::Map& map, std::vector<Item>& items) {
  struct Ranked {
    Item item;
    Number rank;
  };
  std::vector<Ranked> ranked;
  ranked.reserve(items.size());
  for (const Item& i : items) ranked.push_back({i, rank_of(*map.value, i.value).value_or(Number{})});
  std::sort(ranked.begin(), ranked.end(), [&](const Ranked& a, const Ranked& b) {
    int by_value = compare_numbers(a.rank, b.rank);
    if (by_value || !map.key) return by_value < 0;
    return compare_keys(*map.key, a.item.key, b.item.key) < 0;
  });
  for (size_t i = 0; i < items.size(); i++) items[i] = ranked[i].item;
}

} // namespace report
