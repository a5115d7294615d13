// Expressions of DWARF, which tell where something is or what it is, to a list of operations with operands
// read. Operations that differ only in how they write their operand are one here. Specification: DWARF 5,
// sections 2.5, 2.6 and 7.7; before version 5 GNU's codes for what became part of it.
#pragma once

#include "base/result.h"
#include "dwarf/debug_info.h"

#include <string>
#include <vector>

namespace dwarf {

// What an operation is, under the specification's name; the numbers are its codes.
enum : uint8_t {
  DW_OP_addr = 0x03, // first: an address of the file, before the loader moves it
  DW_OP_deref = 0x06,
  DW_OP_constu = 0x10, // first: the number; also const1u … const8s, consts, lit0 … lit31
  DW_OP_dup = 0x12,
  DW_OP_drop,
  DW_OP_over,
  DW_OP_pick, // first: how far below the top
  DW_OP_swap,
  DW_OP_rot,
  DW_OP_xderef,
  DW_OP_abs,
  DW_OP_and,
  DW_OP_div,
  DW_OP_minus,
  DW_OP_mod,
  DW_OP_mul,
  DW_OP_neg,
  DW_OP_not,
  DW_OP_or,
  DW_OP_plus,
  DW_OP_plus_uconst, // first
  DW_OP_shl,
  DW_OP_shr,
  DW_OP_shra,
  DW_OP_xor,
  DW_OP_bra, // target
  DW_OP_eq,
  DW_OP_ge,
  DW_OP_gt,
  DW_OP_le,
  DW_OP_lt,
  DW_OP_ne,
  DW_OP_skip, // target
  DW_OP_lit0 = 0x30,
  DW_OP_reg0 = 0x50,
  DW_OP_breg0 = 0x70,
  DW_OP_regx = 0x90, // first: the register; also reg0 … reg31
  DW_OP_fbreg,       // first: what is added, signed
  DW_OP_bregx,       // first: the register, second: what is added, signed; also breg0 … breg31
  DW_OP_piece,       // first: bytes
  DW_OP_deref_size,  // first: bytes
  DW_OP_xderef_size,
  DW_OP_nop,
  DW_OP_push_object_address,
  DW_OP_call2, // first: offset of an entry of the unit; also call4
  DW_OP_call4,
  DW_OP_call_ref, // first: offset of an entry of .debug_info
  DW_OP_form_tls_address,
  DW_OP_call_frame_cfa,
  DW_OP_bit_piece,      // first: bits, second: the first of them
  DW_OP_implicit_value, // block
  DW_OP_stack_value,
  DW_OP_implicit_pointer, // first: offset of an entry of .debug_info, second: bytes into what that describes
  DW_OP_addrx,            // first: index of .debug_addr
  DW_OP_constx,
  DW_OP_entry_value, // block: an expression
  DW_OP_const_type,  // first: offset of a type's entry in the unit, block
  DW_OP_regval_type, // first: the register, second: the type
  DW_OP_deref_type,  // first: bytes, second: the type
  DW_OP_xderef_type,
  DW_OP_convert, // first: the type, 0: the generic one
  DW_OP_reinterpret,
  DW_OP_GNU_push_tls_address = 0xe0, // read as DW_OP_form_tls_address, and so on
  DW_OP_GNU_uninit = 0xf0,
  DW_OP_GNU_implicit_pointer = 0xf2,
  DW_OP_GNU_entry_value = 0xf3,
  DW_OP_GNU_const_type = 0xf4,
  DW_OP_GNU_regval_type = 0xf5,
  DW_OP_GNU_deref_type = 0xf6,
  DW_OP_GNU_convert = 0xf7,
  DW_OP_GNU_reinterpret = 0xf9,
  DW_OP_GNU_parameter_ref = 0xfa, // first: offset of a parameter's entry in the unit
  DW_OP_GNU_addr_index = 0xfb,
  DW_OP_GNU_const_index = 0xfc,
  DW_OP_GNU_variable_value = 0xfd, // first: offset of a variable's entry of .debug_info
};

struct Operation {
  uint8_t code = 0;
  uint32_t target = 0; // of branches: the number of the operation to go on with; may be one past the last
  uint64_t first = 0, second = 0;
  ByteSpan block;
};

// Failure: an unknown operation, operands cut off, a branch to where no operation begins, too long.
base::Result<std::vector<Operation>> read_expression(ByteSpan bytes, const Encoding& encoding);

// What DW_OP_call2, call4 and call_ref carry on with: the location of an entry. No unit: it has none, which is
// no mistake. Failure: no such entry, one without a single expression, or `depth` calls are too many within each
// other.
struct CalledExpression {
  const Unit* unit = nullptr;
  ByteSpan bytes;
};
base::Result<CalledExpression> called_expression(const Operation& o, const Unit& unit, int depth);

// "entry_value", as after DW_OP_; "0x17" of one that is not known.
std::string operation_name(uint8_t code);

} // namespace dwarf
