// Numbers in bytes: plain integers, and what the aggregations come to.
#pragma once

#include "report/context.h"

#include <optional>

namespace report {

// 64 bits and how to read them.
struct Number {
  uint64_t bits = 0;
  bool is_signed = false;
};

// Up to 8 bytes, little-endian; missing ones are 0.
uint64_t load(Bytes bytes, uint32_t size);
// A value of an integer type, boolean, enumeration or pointer, extended to 64 bits by its sign.
uint64_t extend(const type::Type& type, Bytes bytes);

// A value of a floating-point type; those of 4 and 8 bytes are converted without loss.
long double floating_of(const type::Type& type, Bytes bytes);
// With the fewest digits that give the same value of its type when they are read again; "nan", "-inf".
void append_floating(std::string& out, const type::Type& type, Bytes bytes);

// The number a value prints as: integers, count, sum, min, max, avg. Nothing: it is no number.
std::optional<Number> number_of(const type::Type& type, Bytes bytes);

struct Stats {
  uint64_t count = 0;
  Number average, total;
};
Stats stats_of(const type::Type& type, Bytes bytes);

Number divide(Number n, uint64_t by); // by 0: unchanged

// "1,234,567"
std::string grouped(uint64_t n);
void append(std::string& out, Number n);
void append_hex(std::string& out, uint64_t n); // without "0x"
std::string bare(uint64_t address);            // of nothing known: with "0x"

} // namespace report
