// Numbers are cut to the width that the length modifier asks for: none means 32 bits, as in C. Integers with at most a width are written
// here, as there may be a million of them a second; others go through snprintf with flags and precision, and always 64 bits.
// Everything else is made as text first and then padded, so that no width of an intermediate buffer limits it.
#include "report/format.h"

#include "report/gfp.h"
#include "report/number.h"
#include "report/text.h"

#include <charconv>
#include <cstdio>

namespace report {

using type::Conversion;

namespace {

// Bits that a length modifier stands for.
unsigned bits_of(std::string_view length) {
  if (length.empty()) return 32;
  if (length == "h") return 16;
  return length == "hh" ? 8 : 64;
}

uint64_t cut(uint64_t value, unsigned bits, bool is_signed) {
  unsigned unused = 64 - bits;
  value <<= unused;
  return is_signed ? static_cast<uint64_t>(static_cast<int64_t>(value) >> unused) : value >> unused;
}

// Pads to the width of a conversion.
void append_padded(std::string& out, const Conversion& c, std::string_view text) {
  size_t width = c.width > 0 ? static_cast<size_t>(c.width) : 0;
  size_t blanks = width > text.size() ? width - text.size() : 0;
  bool left = c.flags.find('-') != c.flags.npos;
  if (!left) out.append(blanks, ' ');
  out += text;
  if (left) out.append(blanks, ' ');
}

// snprintf of one value by a conversion made from ours: `letter` with its length modifier.
template<class Value>
void append_printed(std::string& out, const Conversion& c, std::string_view letter, Value value) {
  std::string spec = "%" + c.flags;
  if (c.width >= 0) spec += std::to_string(c.width);
  if (c.precision >= 0) spec += "." + std::to_string(c.precision);
  spec += letter;
  char buffer[128];
  int length = std::snprintf(buffer, sizeof buffer, spec.c_str(), value);
  if (length < 0) return;
  auto size = static_cast<size_t>(length);
  if (size < sizeof buffer) {
    out.append(buffer, size);
    return;
  }
  size_t before = out.size();
  out.resize(before + size + 1);
  std::snprintf(out.data() + before, size + 1, spec.c_str(), value);
  out.resize(before + size);
}

uint64_t as_integer(const type::Type& type, Bytes bytes) {
  if (auto number = number_of(type, bytes)) return number->bits;
  return type.is_scalar() ? extend(type, bytes) : 0;
}

// False: the conversion asks for more than a width.
bool append_plain(std::string& out, const Conversion& c, uint64_t value, bool is_signed) {
  constexpr std::string_view decimal = "diu";
  const int radix = c.conversion == 'x' ? 16 : c.conversion == 'o' ? 8 : decimal.find(c.conversion) != decimal.npos ? 10 : 0;
  if (!radix || c.precision >= 0 || c.flags.find_first_not_of("-0") != c.flags.npos) return false;
  const bool is_negative = is_signed && static_cast<int64_t>(value) < 0;
  char buffer[64];
  char* const end = std::to_chars(buffer + 1, std::end(buffer), is_negative ? 0 - value : value, radix).ptr;
  if (is_negative) buffer[0] = '-';
  const std::string_view text(buffer + !is_negative, end);
  const bool has_zeros = c.width > 0 && c.flags.find('0') != c.flags.npos && c.flags.find('-') == c.flags.npos;
  if (!has_zeros) return append_padded(out, c, text), true;
  const std::string_view sign = text.substr(0, is_negative), digits = text.substr(is_negative);
  out += sign;
  out.append(static_cast<size_t>(c.width) > text.size() ? static_cast<size_t>(c.width) - text.size() : 0, '0');
  out += digits;
  return true;
}

void append_number(std::string& out, const Conversion& c, uint64_t value) {
  bool is_signed = c.conversion == 'd' || c.conversion == 'i';
  value = cut(value, bits_of(c.length), is_signed);
  if (append_plain(out, c, value, is_signed)) return;
  std::string letter = std::string("ll") + c.conversion;
  if (is_signed)
    append_printed(out, c, letter, static_cast<long long>(value));
  else
    append_printed(out, c, letter, static_cast<unsigned long long>(value));
}

void append_buffer(std::string& out, const Conversion& c, Bytes bytes) {
  std::string text;
  if (!c.variant) append_escaped(text, bytes);
  constexpr std::string_view digits = "0123456789abcdef";
  for (size_t i = 0; c.variant && i < bytes.size(); i++) {
    auto b = static_cast<unsigned char>(bytes[i]);
    if (c.variant == 'x')
      text += "\\x";
    else if (i)
      text += ' ';
    text.append(1, digits[b >> 4]).append(1, digits[b & 15]);
  }
  append_padded(out, c, text);
}

void append_value(std::string& out, Context& context, const Conversion& c, const type::Type& type,
                  Bytes bytes) {
  switch (c.conversion) {
  case 'c': append_padded(out, c, std::string(1, static_cast<char>(as_integer(type, bytes)))); break;
  case 's': {
    std::string text = text_of(context, type, bytes);
    append_padded(out, c, std::string_view(text).substr(0, c.precision >= 0 ? c.precision : text.npos));
    break;
  }
  case 'f':
  case 'F':
  case 'e':
  case 'E':
  case 'g':
  case 'G':
  case 'a':
  case 'A': append_printed(out, c, std::string("L") + c.conversion, floating_of(type, bytes)); break;
  case 'p': append_printed(out, c, "p", reinterpret_cast<void*>(as_integer(type, bytes))); break;
  case 'r':
    if (c.variant == 'g') return append_padded(out, c, gfp_text(as_integer(type, bytes)));
    if (type.is(type::Kind::buffer)) append_buffer(out, c, buffer_bytes(type, bytes));
    break;
  default: append_number(out, c, as_integer(type, bytes)); break;
  }
}

} // namespace

void append_values(std::string& out, Context& context, std::span<const Conversion> pieces, const type::Type* payload, Bytes bytes) {
  std::span<const type::Field> fields = payload ? payload->fields() : std::span<const type::Field>();
  size_t next = 0;
  for (const Conversion& c : pieces) {
    out += c.text;
    if (!c.conversion || next >= fields.size()) continue;
    const type::Field& f = fields[next++];
    append_value(out, context, c, *f.type, part(bytes, f.offset, f.type->size));
  }
}

} // namespace report
