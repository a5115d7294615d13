// Numbers are carried as 64 bits and a sign flag from the bytes to the last step, because all integer types
// of the language fit, and because what an aggregation comes to takes its sign from the type (type.h).
#include "report/number.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace report {

using type::Kind;

uint64_t load(Bytes bytes, uint32_t size) {
  uint64_t value = 0;
  size_t count = std::min<size_t>({size, bytes.size(), sizeof value});
  if (count) std::memcpy(&value, bytes.data(), count);
  return value;
}

uint64_t extend(const type::Type& type, Bytes bytes) {
  uint64_t value = load(bytes, type.size);
  if (!type.is_signed || type.size >= 8 || type.size == 0) return value;
  unsigned unused = 64 - type.size * 8;
  return static_cast<uint64_t>(static_cast<int64_t>(value << unused) >> unused);
}

namespace {

template<class T> T held_in(Bytes bytes) {
  T value = 0;
  std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof value));
  return value;
}

// With the fewest digits that read back as the same number. Not std::to_chars, which would load libm at each start.
template <class Floating> void append_shortest(std::string& out, Floating value, Floating read_back(const char*, char**)) {
  char buffer[64];
  for (int digits = 1; digits <= std::numeric_limits<Floating>::max_digits10; ++digits) {
    std::snprintf(buffer, sizeof buffer, "%.*Lg", digits, static_cast<long double>(value));
    if (read_back(buffer, nullptr) == value) break;
  }
  out += buffer;
}

} // namespace

long double floating_of(const type::Type& type, Bytes bytes) {
  if (type.size == 4) return held_in<float>(bytes);
  return type.size == 8 ? held_in<double>(bytes) : held_in<long double>(bytes);
}

void append_floating(std::string& out, const type::Type& type, Bytes bytes) {
  if (type.size == 4) return append_shortest(out, held_in<float>(bytes), std::strtof);
  if (type.size == 8) return append_shortest(out, held_in<double>(bytes), std::strtod);
  append_shortest(out, held_in<long double>(bytes), std::strtold);
}

std::optional<Number> number_of(const type::Type& type, Bytes bytes) {
  switch (type.kind) {
  case Kind::integer: return Number{extend(type, bytes), type.is_signed};
  case Kind::count:
  case Kind::sum:
  case Kind::min:
  case Kind::max: return Number{load(bytes, 8), type.is_signed};
  case Kind::avg: return stats_of(type, bytes).average;
  default: return std::nullopt;
  }
}

Stats stats_of(const type::Type& type, Bytes bytes) {
  Stats s{.count = load(part(bytes, 8, 8), 8), .total = {load(bytes, 8), type.is_signed}};
  s.average = s.count ? divide(s.total, s.count) : Number{0, type.is_signed};
  return s;
}

Number divide(Number n, uint64_t by) {
  if (by <= 1) return n;
  bool negative = n.is_signed && static_cast<int64_t>(n.bits) < 0;
  uint64_t quotient = (negative ? -n.bits : n.bits) / by;
  return {negative ? -quotient : quotient, n.is_signed};
}

void append(std::string& out, Number n) {
  char buffer[24];
  auto end = n.is_signed ? std::to_chars(buffer, std::end(buffer), static_cast<int64_t>(n.bits))
                         : std::to_chars(buffer, std::end(buffer), n.bits);
  out.append(buffer, end.ptr);
}

void append_hex(std::string& out, uint64_t n) {
  char buffer[17];
  out.append(buffer, std::to_chars(buffer, std::end(buffer), n, 16).ptr);
}

std::string bare(uint64_t address) {
  std::string out = "0x";
  append_hex(out, address);
  return out;
}

std::string grouped(uint64_t n) {
  const std::string digits = std::to_string(n);
  std::string out;
  for (size_t i = 0; i < digits.size(); i++) {
    if (i && (digits.size() - i) % 3 == 0) out += ',';
    out += digits[i];
  }
  return out;
}

} // namespace report
