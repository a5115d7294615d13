#include "dwarf/expression_run.h"

#include "dwarf/type_entry.h"
#include "dwarf/types.h"

#include <cmath>
#include <cstring>

namespace dwarf {

static constexpr int most_operations_run = 1 << 16; // loops included
static constexpr size_t deepest_stack = 1024, most_parts = 64;

namespace {

// Of a value on the stack: integers are kept extended to 64 bits, floating point as the bits of a double.
struct StackType {
  uint8_t bytes = 8;
  bool is_generic = true, is_signed = false, is_float = false;
  bool operator==(const StackType&) const = default;
};

struct StackValue {
  uint64_t number = 0;
  StackType type;
};

base::Error damaged() { return {base::Failure::runtime, "the debug information is damaged"}; }
base::Error unknown(std::string what) { return {base::Failure::runtime, std::move(what) + " is not known"}; }

double as_double(uint64_t bits) {
  double out;
  std::memcpy(&out, &bits, sizeof out);
  return out;
}
uint64_t bits_of(double value) {
  uint64_t out;
  std::memcpy(&out, &value, sizeof out);
  return out;
}

uint64_t extended(uint64_t value, unsigned bytes, bool is_signed) {
  if (bytes >= 8) return value;
  unsigned unused = 64 - 8 * bytes;
  return is_signed ? static_cast<uint64_t>(static_cast<int64_t>(value << unused) >> unused)
                   : value << unused >> unused;
}

class Run {
public:
  explicit Run(const ExpressionState& state) : state_(state) {}
  void begin_with(uint64_t number) { stack_.push_back({number, {}}); }
  std::optional<uint64_t> top() const {
    return stack_.empty() ? std::nullopt : std::optional(stack_.back().number);
  }
  base::Status run(const Unit& unit, ByteSpan bytes, int depth);
  base::Result<std::vector<PlacePart>> finish();

private:
  base::Status operation(const Operation& o, const Unit& unit, int depth);
  base::Status push_from(const Operation& o, const Unit& unit);
  base::Status stack_operation(const Operation& o);
  base::Status unary(const Operation& o);
  base::Status binary(const Operation& o);
  base::Status arithmetic(uint8_t code, const StackValue& a, const StackValue& b);
  base::Status floating(uint8_t code, double a, double b, const StackType& type);
  base::Status typed(const Operation& o, const Unit& unit);
  base::Status convert(const StackType& to);
  base::Status load(uint64_t bytes, const StackType& type);
  base::Status place(const Operation& o);
  base::Status call(const Operation& o, const Unit& unit, int depth);
  base::Status end_part(uint64_t bits, uint64_t first_bit);
  base::Result<StackType> type_at(const Unit& unit, uint64_t offset) const;

  base::Status push(std::optional<uint64_t> number, const char* what) {
    if (!number) return unknown(what);
    stack_.push_back({*number, {}});
    return {};
  }
  std::optional<uint64_t> reg(uint64_t number) const {
    return state_.reg ? state_.reg(number) : std::nullopt;
  }

  const ExpressionState& state_;
  std::vector<StackValue> stack_;
  std::vector<PlacePart> parts_;
  std::optional<PlacePart> simple_; // what was said of the present part, if it is not in memory
  int operations_ = 0;
};

} // namespace

// A value as it stands in memory or a register, to how it is kept here.
static StackValue value_of_bits(uint64_t bits, const StackType& type) {
  if (!type.is_float) return {extended(bits, type.bytes, type.is_signed), type};
  if (type.bytes == 8) return {bits, type};
  auto low = static_cast<uint32_t>(bits);
  float small;
  std::memcpy(&small, &low, sizeof small);
  return {bits_of(small), type};
}

// And back.
static uint64_t bits_of_value(const StackValue& value) {
  if (!value.type.is_float || value.type.bytes == 8) return value.number;
  auto small = static_cast<float>(as_double(value.number));
  uint32_t out;
  std::memcpy(&out, &small, sizeof out);
  return out;
}

base::Result<StackType> Run::type_at(const Unit& unit, uint64_t offset) const {
  if (offset == 0) return StackType();
  std::optional<Die> die = read_die(unit, unit.header->offset + offset);
  if (!die || die->tag() != DW_TAG_base_type) return damaged();
  TypeEntry e = read_type_entry(*die);
  uint64_t bytes = size_of(e).value_or(0), encoding = e.encoding.number;
  bool is_float = encoding == DW_ATE_float;
  if (bytes == 0 || bytes > 8 || (is_float && bytes != 4 && bytes != 8) || encoding == DW_ATE_complex_float ||
      encoding == DW_ATE_decimal_float)
    return base::Error{base::Failure::unsupported, "it is computed with a type that acu cannot compute with"};
  return StackType{static_cast<uint8_t>(bytes), false,
                   encoding == DW_ATE_signed || encoding == DW_ATE_signed_char, is_float};
}

base::Status Run::push_from(const Operation& o, const Unit& unit) {
  switch (o.code) {
  case DW_OP_constu: stack_.push_back({o.first, {}}); return {};
  case DW_OP_addr: stack_.push_back({o.first + state_.bias, {}}); return {};
  case DW_OP_addrx:
  case DW_OP_constx: {
    std::optional<uint64_t> number = indexed_address(unit, o.first);
    if (!number) return damaged();
    stack_.push_back({*number + (o.code == DW_OP_addrx ? state_.bias : 0), {}});
    return {};
  }
  case DW_OP_bregx:
    ACU_CHECK(push(reg(o.first), "a register"));
    stack_.back().number += o.second;
    return {};
  case DW_OP_fbreg:
    ACU_CHECK(push(state_.frame_base ? state_.frame_base() : std::nullopt, "the base of the frame"));
    stack_.back().number += o.first;
    return {};
  case DW_OP_call_frame_cfa: return push(state_.cfa ? state_.cfa() : std::nullopt, "the frame");
  case DW_OP_push_object_address: return push(state_.object, "the object it is a part of");
  case DW_OP_entry_value:
    return push(state_.entry_value ? state_.entry_value(o.block) : std::nullopt,
                "what it was when the function began");
  case DW_OP_form_tls_address: {
    if (stack_.empty()) return damaged();
    uint64_t offset = stack_.back().number;
    stack_.pop_back();
    return push(state_.thread_variable ? state_.thread_variable(offset) : std::nullopt,
                "where the thread's variables are");
  }
  }
  return damaged();
}

base::Status Run::stack_operation(const Operation& o) {
  size_t n = stack_.size();
  uint64_t below = o.code == DW_OP_dup ? 0 : o.code == DW_OP_over ? 1 : o.first;
  switch (o.code) {
  case DW_OP_dup:
  case DW_OP_over:
  case DW_OP_pick:
    if (below >= n) return damaged();
    stack_.push_back(stack_[n - 1 - static_cast<size_t>(below)]);
    return {};
  case DW_OP_drop:
    if (n < 1) return damaged();
    stack_.pop_back();
    return {};
  case DW_OP_swap:
    if (n < 2) return damaged();
    std::swap(stack_[n - 1], stack_[n - 2]);
    return {};
  case DW_OP_rot:
    if (n < 3) return damaged();
    std::swap(stack_[n - 1], stack_[n - 2]);
    std::swap(stack_[n - 2], stack_[n - 3]);
    return {};
  }
  return damaged();
}

base::Status Run::load(uint64_t bytes, const StackType& type) {
  if (stack_.empty() || bytes == 0 || bytes > 8) return damaged();
  uint64_t number = 0;
  std::span<std::byte> to = std::as_writable_bytes(std::span(&number, 1)).first(static_cast<size_t>(bytes));
  if (!state_.read || !state_.read(stack_.back().number, to)) return unknown("memory");
  stack_.back() = value_of_bits(number, type);
  return {};
}

base::Status Run::unary(const Operation& o) {
  if (stack_.empty()) return damaged();
  StackValue& top = stack_.back();
  if (o.code == DW_OP_deref) return load(8, {});
  if (o.code == DW_OP_deref_size) return load(o.first, {});
  if (top.type.is_float) {
    double value = as_double(top.number);
    if (o.code == DW_OP_abs)
      top.number = bits_of(std::fabs(value));
    else if (o.code == DW_OP_neg)
      top.number = bits_of(-value);
    else
      return damaged();
    return {};
  }
  switch (o.code) {
  case DW_OP_plus_uconst: top.number += o.first; break;
  case DW_OP_abs:
    if (static_cast<int64_t>(top.number) < 0 && (top.type.is_generic || top.type.is_signed))
      top.number = -top.number;
    break;
  case DW_OP_neg: top.number = -top.number; break;
  case DW_OP_not: top.number = ~top.number; break;
  }
  top.number = extended(top.number, top.type.bytes, top.type.is_signed);
  return {};
}

base::Status Run::floating(uint8_t code, double a, double b, const StackType& type) {
  double out = 0;
  switch (code) {
  case DW_OP_plus: out = a + b; break;
  case DW_OP_minus: out = a - b; break;
  case DW_OP_mul: out = a * b; break;
  case DW_OP_div: out = a / b; break;
  case DW_OP_eq: stack_.push_back({a == b, {}}); return {};
  case DW_OP_ne: stack_.push_back({a != b, {}}); return {};
  case DW_OP_lt: stack_.push_back({a < b, {}}); return {};
  case DW_OP_le: stack_.push_back({a <= b, {}}); return {};
  case DW_OP_gt: stack_.push_back({a > b, {}}); return {};
  case DW_OP_ge: stack_.push_back({a >= b, {}}); return {};
  default: return damaged();
  }
  if (type.bytes == 4) out = static_cast<double>(static_cast<float>(out));
  stack_.push_back({bits_of(out), type});
  return {};
}

// The generic type compares and divides as signed, but for the rest of a division.
base::Status Run::arithmetic(uint8_t code, const StackValue& left, const StackValue& right) {
  const StackType& type = left.type;
  uint64_t a = left.number, b = right.number, out = 0;
  auto sa = static_cast<int64_t>(a), sb = static_cast<int64_t>(b);
  bool is_signed = type.is_generic || type.is_signed;
  unsigned width = 8 * type.bytes;
  if ((code == DW_OP_div || code == DW_OP_mod) && b == 0) return unknown("what a division by 0 gives");
  bool compares = code >= DW_OP_eq && code <= DW_OP_ne;
  switch (code) {
  case DW_OP_and: out = a & b; break;
  case DW_OP_or: out = a | b; break;
  case DW_OP_xor: out = a ^ b; break;
  case DW_OP_plus: out = a + b; break;
  case DW_OP_minus: out = a - b; break;
  case DW_OP_mul: out = a * b; break;
  case DW_OP_div: out = !is_signed ? a / b : sb == -1 ? -a : static_cast<uint64_t>(sa / sb); break;
  case DW_OP_mod: out = !type.is_signed ? a % b : sb == -1 ? 0 : static_cast<uint64_t>(sa % sb); break;
  case DW_OP_shl: out = b >= width ? 0 : a << b; break;
  case DW_OP_shr: out = b >= width ? 0 : extended(a, type.bytes, false) >> b; break;
  case DW_OP_shra:
    out = static_cast<uint64_t>(static_cast<int64_t>(extended(a, type.bytes, true)) >> (b > 63 ? 63 : b));
    break;
  case DW_OP_eq: out = a == b; break;
  case DW_OP_ne: out = a != b; break;
  case DW_OP_lt: out = is_signed ? sa < sb : a < b; break;
  case DW_OP_le: out = is_signed ? sa <= sb : a <= b; break;
  case DW_OP_gt: out = is_signed ? sa > sb : a > b; break;
  case DW_OP_ge: out = is_signed ? sa >= sb : a >= b; break;
  default: return damaged();
  }
  if (compares)
    stack_.push_back({out, {}});
  else
    stack_.push_back({extended(out, type.bytes, type.is_signed), type});
  return {};
}

base::Status Run::binary(const Operation& o) {
  if (stack_.size() < 2) return damaged();
  StackValue b = stack_.back(), a = stack_[stack_.size() - 2];
  stack_.resize(stack_.size() - 2);
  bool shifts = o.code == DW_OP_shl || o.code == DW_OP_shr || o.code == DW_OP_shra;
  if (!(a.type == b.type) && (!shifts || a.type.is_float || b.type.is_float)) return damaged();
  if (a.type.is_float) return floating(o.code, as_double(a.number), as_double(b.number), a.type);
  return arithmetic(o.code, a, b);
}

base::Status Run::convert(const StackType& to) {
  if (stack_.empty()) return damaged();
  StackValue& top = stack_.back();
  if (to.is_float && top.type.is_float) {
    double value = as_double(top.number);
    top.number = bits_of(to.bytes == 4 ? static_cast<double>(static_cast<float>(value)) : value);
  } else if (to.is_float) {
    bool is_signed = top.type.is_generic || top.type.is_signed;
    double value =
        is_signed ? static_cast<double>(static_cast<int64_t>(top.number)) : static_cast<double>(top.number);
    top.number = bits_of(to.bytes == 4 ? static_cast<double>(static_cast<float>(value)) : value);
  } else if (top.type.is_float) {
    double value = as_double(top.number);
    if (!(value >= -0x1p63 && value < 0x1p63)) return unknown("a number of this size");
    top.number = extended(static_cast<uint64_t>(static_cast<int64_t>(value)), to.bytes, to.is_signed);
  } else {
    top.number = extended(top.number, to.bytes, to.is_signed);
  }
  top.type = to;
  return {};
}

base::Status Run::typed(const Operation& o, const Unit& unit) {
  bool is_second = o.code == DW_OP_regval_type || o.code == DW_OP_deref_type;
  ACU_TRY(StackType type, type_at(unit, is_second ? o.second : o.first));
  switch (o.code) {
  case DW_OP_const_type:
    if (o.block.size() > 8) return damaged();
    stack_.push_back(
        value_of_bits(base::Reader(o.block).number_of(static_cast<unsigned>(o.block.size())), type));
    return {};
  case DW_OP_regval_type: {
    std::optional<uint64_t> number = reg(o.first);
    if (!number) return unknown("a register");
    stack_.push_back(value_of_bits(*number, type));
    return {};
  }
  case DW_OP_deref_type: return load(o.first, type);
  case DW_OP_convert: return convert(type);
  }
  if (stack_.empty()) return damaged(); // DW_OP_reinterpret
  stack_.back() = value_of_bits(bits_of_value(stack_.back()), type);
  return {};
}

base::Status Run::call(const Operation& o, const Unit& unit, int depth) {
  ACU_TRY(CalledExpression called, called_expression(o, unit, depth));
  return called.unit ? run(*called.unit, called.bytes, depth + 1) : base::Status();
}

base::Status Run::end_part(uint64_t bits, uint64_t first_bit) {
  PlacePart part;
  if (simple_)
    part = *simple_;
  else if (!stack_.empty())
    part.kind = PlacePart::memory;
  if (part.kind == PlacePart::memory) part.number = stack_.back().number;
  if (part.kind == PlacePart::value) part.number = bits_of_value(stack_.back());
  if (parts_.size() >= most_parts) return damaged();
  part.bits = bits;
  part.first_bit = first_bit;
  parts_.push_back(part);
  simple_.reset();
  stack_.clear();
  return {};
}

base::Status Run::place(const Operation& o) {
  switch (o.code) {
  case DW_OP_regx: simple_ = PlacePart{.kind = PlacePart::reg, .number = o.first}; return {};
  case DW_OP_stack_value:
    if (stack_.empty()) return damaged();
    simple_ = PlacePart{.kind = PlacePart::value};
    return {};
  case DW_OP_implicit_value: simple_ = PlacePart{.kind = PlacePart::bytes, .block = o.block}; return {};
  case DW_OP_implicit_pointer:
    simple_ =
        PlacePart{.kind = PlacePart::pointer, .number = o.first, .offset = static_cast<int64_t>(o.second)};
    return {};
  case DW_OP_piece: {
    if (o.first > UINT32_MAX) return damaged();
    return o.first ? end_part(o.first * 8, 0) : base::Status();
  }
  case DW_OP_bit_piece:
    if (o.first > UINT32_MAX || o.second > UINT32_MAX) return damaged();
    return o.first ? end_part(o.first, o.second) : base::Status();
  }
  return damaged();
}

base::Status Run::operation(const Operation& o, const Unit& unit, int depth) {
  switch (o.code) {
  case DW_OP_nop: return {};
  case DW_OP_constu:
  case DW_OP_addr:
  case DW_OP_addrx:
  case DW_OP_constx:
  case DW_OP_bregx:
  case DW_OP_fbreg:
  case DW_OP_call_frame_cfa:
  case DW_OP_push_object_address:
  case DW_OP_entry_value:
  case DW_OP_form_tls_address: return push_from(o, unit);
  case DW_OP_dup:
  case DW_OP_over:
  case DW_OP_pick:
  case DW_OP_drop:
  case DW_OP_swap:
  case DW_OP_rot: return stack_operation(o);
  case DW_OP_deref:
  case DW_OP_deref_size:
  case DW_OP_plus_uconst:
  case DW_OP_abs:
  case DW_OP_neg:
  case DW_OP_not: return unary(o);
  case DW_OP_const_type:
  case DW_OP_regval_type:
  case DW_OP_deref_type:
  case DW_OP_convert:
  case DW_OP_reinterpret: return typed(o, unit);
  case DW_OP_regx:
  case DW_OP_stack_value:
  case DW_OP_implicit_value:
  case DW_OP_implicit_pointer:
  case DW_OP_piece:
  case DW_OP_bit_piece: return place(o);
  case DW_OP_call2:
  case DW_OP_call_ref: return call(o, unit, depth);
  case DW_OP_xderef:
  case DW_OP_xderef_size:
  case DW_OP_xderef_type:
  case DW_OP_GNU_parameter_ref:
  case DW_OP_GNU_variable_value:
    return base::Error{base::Failure::unsupported, "acu does not follow DW_OP_" + operation_name(o.code)};
  }
  return binary(o);
}

base::Status Run::run(const Unit& unit, ByteSpan bytes, int depth) {
  ACU_TRY(std::vector<Operation> operations, read_expression(bytes, unit.encoding()));
  for (size_t at = 0; at < operations.size();) {
    const Operation& o = operations[at++];
    if (++operations_ > most_operations_run)
      return base::Error{base::Failure::runtime, "an expression does not end"};
    if (stack_.size() > deepest_stack) return damaged();
    bool is_size = o.code == DW_OP_piece || o.code == DW_OP_bit_piece || o.code == DW_OP_nop;
    if (simple_ && !is_size) return damaged(); // a part that is described in full
    if (o.code == DW_OP_skip) {
      at = o.target;
    } else if (o.code == DW_OP_bra) {
      if (stack_.empty()) return damaged();
      if (stack_.back().number != 0) at = o.target;
      stack_.pop_back();
    } else {
      ACU_CHECK(operation(o, unit, depth));
    }
  }
  return {};
}

base::Result<std::vector<PlacePart>> Run::finish() {
  if (parts_.empty() || simple_ || !stack_.empty()) ACU_CHECK(end_part(0, 0));
  if (parts_.size() > 1 && parts_.back().bits == 0) return damaged();
  return std::move(parts_);
}

base::Result<std::vector<PlacePart>> run_expression(const Unit& unit, ByteSpan bytes,
                                                    const ExpressionState& state) {
  Run run(state);
  if (auto done = run.run(unit, bytes, 0); !done) return std::move(done.error());
  return run.finish();
}

// Operations that need neither a unit nor another expression, and describe no parts.
static bool is_of_frames(uint8_t code) {
  switch (code) {
  case DW_OP_addr:
  case DW_OP_constu:
  case DW_OP_bregx:
  case DW_OP_deref_size:
  case DW_OP_nop: return true;
  }
  return code == DW_OP_deref || (code >= DW_OP_dup && code <= DW_OP_skip && code != DW_OP_xderef);
}

base::Result<uint64_t> run_frame_expression(ByteSpan bytes, std::optional<uint64_t> first,
                                            const ExpressionState& state) {
  UnitHeader header;
  header.encoding = {.version = 5};
  Unit unit;
  unit.header = &header;
  ACU_TRY(std::vector<Operation> operations, read_expression(bytes, header.encoding));
  for (const Operation& o : operations)
    if (!is_of_frames(o.code)) return damaged();
  Run run(state);
  if (first) run.begin_with(*first);
  if (auto done = run.run(unit, bytes, 0); !done) return std::move(done.error());
  std::optional<uint64_t> top = run.top();
  if (!top) return damaged();
  return *top;
}

} // namespace dwarf
