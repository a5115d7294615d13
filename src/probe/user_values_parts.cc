#include "probe/user_values_parts.h"

#include <algorithm>

namespace probe {

static constexpr uint64_t most_constant_bytes = 4096; // of a value that stands in the debug information

namespace {

bool is_number(const type::Type& type) { return type.is_scalar() && type.size <= 8; }

// The steps that leave `bits` bits of a part, at most 64, as number.
Steps number_of(const ValuePart& part, uint64_t bits) {
  StepWriter out;
  uint64_t first = part.first_bit;
  if (part.kind == ValuePart::bytes) {
    out.constant(base::Reader(part.bytes_of)
                     .number_of(static_cast<unsigned>(std::min<size_t>(8, part.bytes_of.size()))));
    return out.take();
  }
  out.append(part.steps);
  if (part.kind == ValuePart::memory) {
    out.add_constant(first / 8);
    uint64_t needed = (first % 8 + bits + 7) / 8;
    out.load(needed > 4 ? 8 : needed > 2 ? 4 : needed > 1 ? 2 : 1);
    first %= 8;
  }
  if (first) {
    out.constant(first);
    out.op(Step::lshr);
  }
  if (bits < 64) {
    out.constant((uint64_t{1} << bits) - 1);
    out.op(Step::and_);
  }
  return out.take();
}

// A number that is spread over several places, put together.
MadeRecipe join(const std::vector<ValuePart>& parts, const type::Type& type) {
  StepWriter out;
  uint64_t at = 0;
  for (const ValuePart& part : parts) {
    if (at >= type.size * 8) break;
    uint64_t bits = std::min(part.bits, type.size * 8 - at);
    if (part.kind == ValuePart::gone) return {{}, part.reason};
    out.append(number_of(part, bits));
    if (at) {
      out.constant(at);
      out.op(Step::shl);
      out.op(Step::or_);
    }
    at += bits;
  }
  out.extend(static_cast<uint8_t>(type.size), type.is_signed);
  MadeRecipe made{{.kind = Recipe::value, .steps = out.take()}, {}};
  if (at < type.size * 8)
    made.reason = "only " + std::to_string(at) + " of its " + std::to_string(type.size * 8) +
                  " bits are to be had here";
  return made;
}

// Whole bytes from a constant, as pieces of 8.
void add_constant_pieces(std::vector<Piece>& to, dwarf::ByteSpan bytes, uint64_t wanted) {
  for (uint64_t at = 0; at < wanted; at += 8) {
    uint64_t size = std::min<uint64_t>(8, wanted - at);
    uint64_t known = at < bytes.size() ? std::min<uint64_t>(size, bytes.size() - at) : 0;
    StepWriter steps;
    steps.constant(
        base::Reader(bytes, std::min<uint64_t>(at, bytes.size())).number_of(static_cast<unsigned>(known)));
    to.push_back({steps.take(), false, static_cast<uint32_t>(size)});
  }
}

// One part of a structure; false: it is not made of whole bytes.
bool add_piece(std::vector<Piece>& to, const ValuePart& part, uint64_t bytes, uint64_t& gone) {
  auto size = static_cast<uint32_t>(bytes);
  StepWriter steps;
  switch (part.kind) {
  case ValuePart::gone:
    to.push_back({{}, false, size});
    gone += bytes;
    return true;
  case ValuePart::bytes: add_constant_pieces(to, part.bytes_of, bytes); return part.first_bit == 0;
  case ValuePart::memory:
    steps.append(part.steps);
    steps.add_constant(part.first_bit / 8);
    to.push_back({steps.take(), true, size});
    return part.first_bit % 8 == 0;
  case ValuePart::value:
    steps.append(part.steps);
    if (part.first_bit) {
      steps.constant(part.first_bit);
      steps.op(Step::lshr);
    }
    to.push_back({steps.take(), false, std::min(size, 8u)});
    if (size > 8) to.push_back({{}, false, size - 8}), gone += size - 8;
    return part.first_bit < 64;
  }
  return false;
}

MadeRecipe make_pieces(const std::vector<ValuePart>& parts, const type::Type& type) {
  MadeRecipe out;
  out.recipe.kind = Recipe::pieces;
  uint64_t at = 0, gone = 0;
  for (const ValuePart& part : parts) {
    if (at >= type.size) break;
    uint64_t left = type.size - at, bytes = part.bits ? std::min(part.bits / 8, left) : left;
    if (part.bits % 8 != 0 && part.bits / 8 < left)
      return {{}, "is put together from single bits here, which acu cannot follow"};
    if (part.kind == ValuePart::gone && out.reason.empty()) out.reason = part.reason;
    if (!add_piece(out.recipe.pieces_of, part, bytes, gone))
      return {{}, "is put together from single bits here, which acu cannot follow"};
    at += bytes;
  }
  if (at < type.size) {
    out.recipe.pieces_of.push_back({{}, false, static_cast<uint32_t>(type.size - at)});
    gone += type.size - at;
  }
  if (gone >= type.size) return {{}, out.reason.empty() ? "is optimised away here" : out.reason};
  if (gone > 0)
    out.reason = std::to_string(gone) + " of its " + std::to_string(type.size) +
                 " bytes are not to be had here" + (out.reason.empty() ? "" : " (it " + out.reason + ")");
  return out;
}

} // namespace

MadeRecipe make_recipe(const std::vector<ValuePart>& parts, const type::Type& type) {
  const ValuePart& first = parts.front();
  bool is_whole =
      parts.size() == 1 && (first.bits == 0 || first.bits >= type.size * 8) && first.first_bit == 0;
  if (is_whole && first.kind == ValuePart::gone) return {{}, first.reason};
  if (is_whole && first.kind == ValuePart::memory)
    return {{.kind = Recipe::address, .steps = first.steps}, {}};
  if (is_whole && first.kind == ValuePart::bytes) return make_constant(0, first.bytes_of, type);
  if (is_whole && is_number(type)) {
    StepWriter steps;
    steps.append(first.steps);
    steps.extend(static_cast<uint8_t>(type.size), type.is_signed);
    return {{.kind = Recipe::value, .steps = steps.take()}, {}};
  }
  return is_number(type) ? join(parts, type) : make_pieces(parts, type);
}

MadeRecipe make_constant(uint64_t number, dwarf::ByteSpan bytes, const type::Type& type) {
  if (type.size > most_constant_bytes)
    return {{}, "is a constant of " + std::to_string(type.size) + " bytes"};
  if (is_number(type)) {
    if (!bytes.empty())
      number =
          base::Reader(bytes).number_of(static_cast<unsigned>(std::min<size_t>(type.size, bytes.size())));
    unsigned unused = 64 - static_cast<unsigned>(type.size) * 8;
    if (type.is_signed)
      number = static_cast<uint64_t>(static_cast<int64_t>(number << unused) >> unused);
    else
      number = number << unused >> unused;
    StepWriter steps;
    steps.constant(number);
    return {{.kind = Recipe::value, .steps = steps.take()}, {}};
  }
  MadeRecipe out;
  out.recipe.kind = Recipe::pieces;
  std::byte small[8];
  for (size_t i = 0; i < 8; i++) small[i] = static_cast<std::byte>(number >> (8 * i));
  add_constant_pieces(out.recipe.pieces_of, bytes.empty() ? dwarf::ByteSpan(small) : bytes, type.size);
  return out;
}

} // namespace probe
