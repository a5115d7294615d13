#include "symbol/function_names.h"

#include "symbol/demangle.h"

#include <cstring>

namespace symbol {

namespace {

// A copy, because bytes of a file need not lie where numbers may.
template<class T> T element(base::ByteSpan array, size_t index) {
  T value;
  std::memcpy(&value, array.data() + index * sizeof value, sizeof value);
  return value;
}

// The first `count` elements of `bytes`, which begin behind them then. False: there are fewer.
template<class T> bool take_array(base::ByteSpan& bytes, uint64_t count, base::ByteSpan& array) {
  if (count > bytes.size() / sizeof(T)) return false;
  array = bytes.first(count * sizeof(T));
  bytes = bytes.subspan(array.size());
  return true;
}

} // namespace

base::Result<FunctionNames> FunctionNames::of(base::ByteSpan bytes, std::shared_ptr<const void> owner) {
  base::Error none{base::Failure::runtime, "not a table of functions"};
  if (bytes.size() < sizeof(Header)) return none;
  FunctionNames out;
  out.header_ = element<Header>(bytes, 0);
  const Header& h = out.header_;
  bytes = bytes.subspan(sizeof h);
  if (h.magic != Header().magic || !take_array<CodeSegment>(bytes, h.segments, out.segments_) ||
      !take_array<uint32_t>(bytes, h.ranges, out.starts_) ||
      !take_array<uint32_t>(bytes, h.ranges, out.functions_) ||
      !take_array<Record>(bytes, h.records, out.records_) || !take_array<char>(bytes, h.texts, out.texts_) ||
      !bytes.empty())
    return none;
  out.owner_ = std::move(owner);
  return out;
}

FunctionNames::Record FunctionNames::record(uint32_t index) const { return element<Record>(records_, index); }

CodeSegment FunctionNames::segment(uint32_t index) const { return element<CodeSegment>(segments_, index); }

std::optional<FoundFunction> FunctionNames::find(uint64_t address) const {
  uint64_t at = address - header_.base;
  if (address < header_.base || at > UINT32_MAX) return std::nullopt;
  uint32_t low = 0, high = header_.ranges; // of the ranges below `low` all begin at or before the address
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (element<uint32_t>(starts_, middle) <= at)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == 0) return std::nullopt;
  uint32_t index = element<uint32_t>(functions_, low - 1);
  if (index >= header_.records) return std::nullopt; // also no_function
  Record r = record(index);
  std::string_view name = base::text_at(texts_, r.name);
  if (name.empty() || r.start > at) return std::nullopt;
  return FoundFunction{name, header_.base + r.start, r.size, at - r.start, index, r.shown == derived};
}

std::optional<uint64_t> FunctionNames::address_of_offset(uint64_t offset) const {
  for (uint32_t i = 0; i < header_.segments; i++) {
    CodeSegment s = segment(i);
    if (offset >= s.offset && offset - s.offset < s.size) return s.address + (offset - s.offset);
  }
  return std::nullopt;
}

std::vector<CodeSegment> FunctionNames::segments() const {
  std::vector<CodeSegment> out;
  for (uint32_t i = 0; i < header_.segments; i++) out.push_back(segment(i));
  return out;
}

size_t FunctionNames::count_derived() const {
  size_t out = 0;
  for (uint32_t i = 0; i < header_.records; i++) out += record(i).shown == derived;
  return out;
}

std::string_view FunctionNames::source() const { return base::text_at(texts_, header_.source); }

std::string_view FunctionNames::shown(const FoundFunction& function) {
  if (function.is_derived || !is_mangled(function.name) || function.index >= header_.records)
    return function.name;
  Record r = record(function.index);
  if (r.shown != not_shown) {
    std::string_view text = base::text_at(texts_, r.shown);
    return text.empty() ? function.name : text;
  }
  auto [at, is_new] = demangled_.try_emplace(r.name);
  if (is_new) at->second = demangle(function.name);
  return at->second.empty() ? function.name : std::string_view(at->second);
}

} // namespace symbol
