#include "dwarf/expression.h"

#include "dwarf/type_entry.h"
#include "dwarf/types.h"

#include <algorithm>
#include <array>

namespace dwarf {

// Real ones have a handful of operations; a compiler may put a large constant into one.
static constexpr size_t most_operations = 4096;
static constexpr int deepest_call = 8;

namespace {

enum Operand : uint8_t { none, address, u1, u2, u4, u8, s1, s2, s4, s8, uleb, sleb, block, block1, offset };

struct Row {
  uint8_t code;
  Operand first, second;
  uint8_t as; // the operation that it is read as
  std::string_view name;
};

constexpr Row rows[] = {
    {0x03, address, none, DW_OP_addr, "addr"},
    {0x06, none, none, DW_OP_deref, "deref"},
    {0x08, u1, none, DW_OP_constu, "const1u"},
    {0x09, s1, none, DW_OP_constu, "const1s"},
    {0x0a, u2, none, DW_OP_constu, "const2u"},
    {0x0b, s2, none, DW_OP_constu, "const2s"},
    {0x0c, u4, none, DW_OP_constu, "const4u"},
    {0x0d, s4, none, DW_OP_constu, "const4s"},
    {0x0e, u8, none, DW_OP_constu, "const8u"},
    {0x0f, s8, none, DW_OP_constu, "const8s"},
    {0x10, uleb, none, DW_OP_constu, "constu"},
    {0x11, sleb, none, DW_OP_constu, "consts"},
    {0x12, none, none, DW_OP_dup, "dup"},
    {0x13, none, none, DW_OP_drop, "drop"},
    {0x14, none, none, DW_OP_over, "over"},
    {0x15, u1, none, DW_OP_pick, "pick"},
    {0x16, none, none, DW_OP_swap, "swap"},
    {0x17, none, none, DW_OP_rot, "rot"},
    {0x18, none, none, DW_OP_xderef, "xderef"},
    {0x19, none, none, DW_OP_abs, "abs"},
    {0x1a, none, none, DW_OP_and, "and"},
    {0x1b, none, none, DW_OP_div, "div"},
    {0x1c, none, none, DW_OP_minus, "minus"},
    {0x1d, none, none, DW_OP_mod, "mod"},
    {0x1e, none, none, DW_OP_mul, "mul"},
    {0x1f, none, none, DW_OP_neg, "neg"},
    {0x20, none, none, DW_OP_not, "not"},
    {0x21, none, none, DW_OP_or, "or"},
    {0x22, none, none, DW_OP_plus, "plus"},
    {0x23, uleb, none, DW_OP_plus_uconst, "plus_uconst"},
    {0x24, none, none, DW_OP_shl, "shl"},
    {0x25, none, none, DW_OP_shr, "shr"},
    {0x26, none, none, DW_OP_shra, "shra"},
    {0x27, none, none, DW_OP_xor, "xor"},
    {0x28, s2, none, DW_OP_bra, "bra"},
    {0x29, none, none, DW_OP_eq, "eq"},
    {0x2a, none, none, DW_OP_ge, "ge"},
    {0x2b, none, none, DW_OP_gt, "gt"},
    {0x2c, none, none, DW_OP_le, "le"},
    {0x2d, none, none, DW_OP_lt, "lt"},
    {0x2e, none, none, DW_OP_ne, "ne"},
    {0x2f, s2, none, DW_OP_skip, "skip"},
    {0x90, uleb, none, DW_OP_regx, "regx"},
    {0x91, sleb, none, DW_OP_fbreg, "fbreg"},
    {0x92, uleb, sleb, DW_OP_bregx, "bregx"},
    {0x93, uleb, none, DW_OP_piece, "piece"},
    {0x94, u1, none, DW_OP_deref_size, "deref_size"},
    {0x95, u1, none, DW_OP_xderef_size, "xderef_size"},
    {0x96, none, none, DW_OP_nop, "nop"},
    {0x97, none, none, DW_OP_push_object_address, "push_object_address"},
    {0x98, u2, none, DW_OP_call2, "call2"},
    {0x99, u4, none, DW_OP_call2, "call4"},
    {0x9a, offset, none, DW_OP_call_ref, "call_ref"},
    {0x9b, none, none, DW_OP_form_tls_address, "form_tls_address"},
    {0x9c, none, none, DW_OP_call_frame_cfa, "call_frame_cfa"},
    {0x9d, uleb, uleb, DW_OP_bit_piece, "bit_piece"},
    {0x9e, block, none, DW_OP_implicit_value, "implicit_value"},
    {0x9f, none, none, DW_OP_stack_value, "stack_value"},
    {0xa0, offset, sleb, DW_OP_implicit_pointer, "implicit_pointer"},
    {0xa1, uleb, none, DW_OP_addrx, "addrx"},
    {0xa2, uleb, none, DW_OP_constx, "constx"},
    {0xa3, block, none, DW_OP_entry_value, "entry_value"},
    {0xa4, uleb, block1, DW_OP_const_type, "const_type"},
    {0xa5, uleb, uleb, DW_OP_regval_type, "regval_type"},
    {0xa6, u1, uleb, DW_OP_deref_type, "deref_type"},
    {0xa7, u1, uleb, DW_OP_xderef_type, "xderef_type"},
    {0xa8, uleb, none, DW_OP_convert, "convert"},
    {0xa9, uleb, none, DW_OP_reinterpret, "reinterpret"},
    {0xe0, none, none, DW_OP_form_tls_address, "GNU_push_tls_address"},
    {0xf0, none, none, DW_OP_nop, "GNU_uninit"},
    {0xf2, offset, sleb, DW_OP_implicit_pointer, "GNU_implicit_pointer"},
    {0xf3, block, none, DW_OP_entry_value, "GNU_entry_value"},
    {0xf4, uleb, block1, DW_OP_const_type, "GNU_const_type"},
    {0xf5, uleb, uleb, DW_OP_regval_type, "GNU_regval_type"},
    {0xf6, u1, uleb, DW_OP_deref_type, "GNU_deref_type"},
    {0xf7, uleb, none, DW_OP_convert, "GNU_convert"},
    {0xf9, uleb, none, DW_OP_reinterpret, "GNU_reinterpret"},
    {0xfa, u4, none, DW_OP_GNU_parameter_ref, "GNU_parameter_ref"},
    {0xfb, uleb, none, DW_OP_addrx, "GNU_addr_index"},
    {0xfc, uleb, none, DW_OP_constx, "GNU_const_index"},
    {0xfd, offset, none, DW_OP_GNU_variable_value, "GNU_variable_value"},
};

// The number of the row of each code; 255: none.
constexpr auto row_of_code = [] {
  std::array<uint8_t, 256> out{};
  out.fill(255);
  for (size_t i = 0; i < std::size(rows); i++) out[rows[i].code] = static_cast<uint8_t>(i);
  return out;
}();
static_assert(std::size(rows) < 255);

uint64_t extended(uint64_t value, unsigned bytes) {
  unsigned unused = 64 - bytes * 8;
  return static_cast<uint64_t>(static_cast<int64_t>(value << unused) >> unused);
}

void read_operand(base::Reader& r, Operand kind, const Encoding& encoding, uint64_t& to, ByteSpan& bytes) {
  switch (kind) {
  case none: return;
  case address: to = r.number_of(encoding.address_size); return;
  case u1: to = r.number<uint8_t>(); return;
  case u2: to = r.number<uint16_t>(); return;
  case u4: to = r.number<uint32_t>(); return;
  case u8:
  case s8: to = r.number<uint64_t>(); return;
  case s1: to = extended(r.number<uint8_t>(), 1); return;
  case s2: to = extended(r.number<uint16_t>(), 2); return;
  case s4: to = extended(r.number<uint32_t>(), 4); return;
  case uleb: to = r.uleb128(); return;
  case sleb: to = static_cast<uint64_t>(r.sleb128()); return;
  case block: bytes = r.bytes(r.uleb128()); return;
  case block1: bytes = r.bytes(r.number<uint8_t>()); return;
  // Version 2 had addresses there.
  case offset: to = r.number_of(encoding.version == 2 ? encoding.address_size : encoding.offset_size); return;
  }
}

// One operation; false: it is not known.
bool read_operation(base::Reader& r, const Encoding& encoding, Operation& out) {
  auto code = r.number<uint8_t>();
  if (code >= DW_OP_lit0 && code < DW_OP_regx) {
    int family = (code - DW_OP_lit0) / 32;
    out.code = family == 0 ? DW_OP_constu : family == 1 ? DW_OP_regx : DW_OP_bregx;
    out.first = static_cast<uint64_t>((code - DW_OP_lit0) % 32);
    if (family == 2) out.second = static_cast<uint64_t>(r.sleb128());
    return true;
  }
  if (row_of_code[code] == 255) return false;
  const Row& row = rows[row_of_code[code]];
  out.code = row.as;
  read_operand(r, row.first, encoding, out.first, out.block);
  read_operand(r, row.second, encoding, out.second, out.block);
  return true;
}

} // namespace

base::Result<std::vector<Operation>> read_expression(ByteSpan bytes, const Encoding& encoding) {
  std::vector<Operation> out;
  std::vector<uint64_t> starts; // where each operation begins, then the end
  base::Reader r(bytes);
  auto failed = [](std::string message) {
    return base::Error{base::Failure::runtime, "the debug information is damaged: " + std::move(message)};
  };
  while (r.at() < bytes.size()) {
    if (out.size() >= most_operations) return failed("an expression is too long");
    starts.push_back(r.at());
    Operation& operation = out.emplace_back();
    if (!read_operation(r, encoding, operation))
      return base::Error{base::Failure::unsupported,
                         "it is described with an operation that acu does not know (" +
                             operation_name(static_cast<uint8_t>(bytes[starts.back()])) + ")"};
    if (!r.ok()) return failed("an expression is cut off");
    if (operation.code == DW_OP_bra || operation.code == DW_OP_skip) operation.first += r.at();
  }
  starts.push_back(bytes.size());
  for (Operation& operation : out) {
    if (operation.code != DW_OP_bra && operation.code != DW_OP_skip) continue;
    auto at = std::lower_bound(starts.begin(), starts.end(), operation.first);
    if (at == starts.end() || *at != operation.first) return failed("a branch leads nowhere");
    operation.target = static_cast<uint32_t>(at - starts.begin());
  }
  return out;
}

base::Result<CalledExpression> called_expression(const Operation& o, const Unit& unit, int depth) {
  auto damaged = [] { return base::Error{base::Failure::runtime, "the debug information is damaged"}; };
  std::optional<Die> die =
      o.code == DW_OP_call_ref ? unit.info->die_at(o.first) : read_die(unit, unit.header->offset + o.first);
  if (!die || depth >= deepest_call) return damaged();
  Location location = location_of(*die, find_attribute(*die, DW_AT_location));
  if (location.kind == Location::none) return CalledExpression();
  if (location.kind != Location::expression) return damaged();
  return CalledExpression{die->unit, location.bytes};
}

std::string operation_name(uint8_t code) {
  if (code >= DW_OP_lit0 && code < DW_OP_regx) {
    const char* families[] = {"lit", "reg", "breg"};
    return families[(code - DW_OP_lit0) / 32] + std::to_string((code - DW_OP_lit0) % 32);
  }
  if (row_of_code[code] != 255) return std::string(rows[row_of_code[code]].name);
  static constexpr char digits[] = "0123456789abcdef";
  return {'0', 'x', digits[code >> 4], digits[code & 15]};
}

} // namespace dwarf
