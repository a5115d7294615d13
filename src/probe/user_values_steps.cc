// One pass over the operations. The kinds of values on DWARF's stack are known while translating: those of
// the generic type are 64 bits wide, those of integer types are kept extended to that.
#include "probe/user_values_steps.h"

#include "dwarf/expression.h"
#include "dwarf/type_entry.h"
#include "spec/arch.h"

#include <array>

namespace probe {

using namespace dwarf;

static constexpr size_t most_steps = 512; // of one recipe: each becomes a few instructions of a program
static constexpr size_t most_parts = 64;

// ---- registers

std::optional<uint32_t> place_of_register(uint64_t number) {
  const spec::Register* known = spec::arch.by_dwarf(number);
  return known ? std::optional(known->offset) : std::nullopt;
}

std::string name_of_register(uint64_t number) {
  for (const spec::RegisterRange& r : spec::arch.others)
    if (number >= r.first && number < r.first + uint64_t{r.count}) return std::string(r.prefix) + std::to_string(number - r.first + r.from);
  const spec::Register* known = spec::arch.by_dwarf(number);
  return known ? std::string(known->name) : "register " + std::to_string(number);
}

// What frames are addressed from.
static bool is_frame_register(uint64_t number) {
  return number == spec::arch.dwarf_of(spec::arch.frame_pointer) || number == spec::arch.dwarf_of(spec::arch.sp);
}

// ---- writing steps

void StepWriter::add_constant(uint64_t value) {
  if (value == 0) return;
  size_t n = steps_.size();
  if (n > fixed_ && steps_[n - 1].op == Step::constant) {
    steps_[n - 1].value = static_cast<int64_t>(static_cast<uint64_t>(steps_[n - 1].value) + value);
  } else if (n >= fixed_ + 2 && steps_[n - 1].op == Step::add && steps_[n - 2].op == Step::constant) {
    steps_[n - 2].value = static_cast<int64_t>(static_cast<uint64_t>(steps_[n - 2].value) + value);
    if (steps_[n - 2].value == 0) steps_.resize(n - 2);
  } else {
    constant(value);
    op(Step::add);
  }
}

void StepWriter::extend(uint8_t bytes, bool is_signed) {
  if (bytes >= 8) return;
  if (bytes != 1 && bytes != 2 && bytes != 4) {
    for (Step::Op shift : {Step::shl, is_signed ? Step::ashr : Step::lshr}) {
      constant(64 - 8 * bytes);
      op(shift);
    }
    return;
  }
  bool is_read_so = steps_.size() > fixed_ && steps_.back().op == Step::load && steps_.back().size == bytes;
  if (is_read_so)
    steps_.back().is_signed = is_signed;
  else
    steps_.push_back({is_signed ? Step::sext : Step::zext, bytes, is_signed, 0});
}

void StepWriter::append(const Steps& more) { steps_.insert(steps_.end(), more.begin(), more.end()); }

// ---- translating

namespace {

// Of a value on DWARF's stack.
struct StackType {
  uint8_t bytes = 8;
  bool is_generic = true, is_signed = false;
  bool operator==(const StackType&) const = default;
};

struct Branch {
  size_t step;     // which branches
  uint32_t target; // number of an operation
  std::vector<StackType> types;
};

class Translation {
public:
  explicit Translation(const StepSource& source) : source_(source) {}
  base::Status run(const Unit& unit, ByteSpan bytes, int depth);
  base::Result<std::vector<ValuePart>> finish();

private:
  base::Status operation(const Operation& o, const Unit& unit, int depth);
  base::Status stack_operation(const Operation& o);
  base::Status unary(const Operation& o);
  base::Status binary(const Operation& o);
  base::Status address(const Operation& o, const Unit& unit);
  base::Status part_operation(const Operation& o);
  base::Status entry_value(const Operation& o, const Unit& unit);
  base::Status typed(const Operation& o, const Unit& unit);
  base::Status call(const Operation& o, const Unit& unit, int depth);
  base::Result<StackType> type_at(const Unit& unit, uint64_t offset) const;

  base::Status push_register(uint64_t number);
  base::Status append(MaybeSteps steps);
  bool needs(size_t n) const { return types_.size() >= n; }
  void push(StackType type = {}) { types_.push_back(type); }
  void normalise(const StackType& type) {
    if (!type.is_generic) writer_.extend(type.bytes, type.is_signed);
  }
  base::Status branch(const Operation& o, uint32_t number);
  // Settles the branches that lead to this operation.
  base::Status begin_operation(uint32_t number, bool can_be_reached);
  // Ends the description of one part, which has this many bits.
  base::Status end_part(uint64_t bits, uint64_t first_bit);

  const StepSource& source_;
  StepWriter writer_;
  std::vector<StackType> types_;
  std::vector<ValuePart> parts_;
  std::optional<ValuePart> simple_; // what was said of the present part, if it is not in memory
  std::vector<Branch> open_;        // of the present expression
  bool in_frame_ = false;
};

base::Error damaged() { return no_value("is described by debug information that is damaged"); }

} // namespace

base::Status Translation::append(MaybeSteps steps) {
  if (!steps) return std::move(steps.error());
  writer_.append(*steps);
  return {};
}

base::Status Translation::push_register(uint64_t number) {
  std::optional<uint32_t> place = place_of_register(number);
  const uint64_t first_vector = spec::arch.others[0].first;
  const bool is_vector = number >= first_vector && number < first_vector + spec::arch.vectors;
  if (!place && is_vector && source_.has_vectors) place = stopped_vectors + (number - first_vector) * vector_bytes;
  if (!place) {
    const bool is_lost = is_vector && source_.is_stopped;
    return no_value(name_of_register(number) + (is_lost ? " here, which calls do not keep" : " here, which probes cannot read"));
  }
  writer_.reg(*place);
  push();
  return {};
}

base::Result<StackType> Translation::type_at(const Unit& unit, uint64_t offset) const {
  if (offset == 0) return StackType();
  std::optional<Die> die = read_die(unit, unit.header->offset + offset);
  if (!die || die->tag() != DW_TAG_base_type) return damaged();
  TypeEntry e = read_type_entry(*die);
  uint64_t bytes = size_of(e).value_or(0), encoding = e.encoding.number;
  if (encoding == DW_ATE_float || encoding == DW_ATE_complex_float || encoding == DW_ATE_decimal_float)
    return no_value("is computed in floating point here, which probes cannot do");
  if (bytes == 0 || bytes > 8)
    return no_value("is computed with " + std::to_string(bytes * 8) + " bits here");
  return StackType{static_cast<uint8_t>(bytes), false,
                   encoding == DW_ATE_signed || encoding == DW_ATE_signed_char};
}

base::Status Translation::stack_operation(const Operation& o) {
  size_t n = types_.size();
  switch (o.code) {
  case DW_OP_dup:
    if (!needs(1)) return damaged();
    writer_.op(Step::pick, 0), types_.push_back(types_[n - 1]);
    return {};
  case DW_OP_over:
  case DW_OP_pick: {
    uint64_t below = o.code == DW_OP_over ? 1 : o.first;
    if (below >= n) return damaged();
    writer_.op(Step::pick, static_cast<int64_t>(below));
    types_.push_back(types_[n - 1 - static_cast<size_t>(below)]);
    return {};
  }
  case DW_OP_drop:
    if (!needs(1)) return damaged();
    writer_.op(Step::drop), types_.pop_back();
    return {};
  case DW_OP_swap:
    if (!needs(2)) return damaged();
    writer_.op(Step::swap), std::swap(types_[n - 1], types_[n - 2]);
    return {};
  case DW_OP_rot:
    if (!needs(3)) return damaged();
    writer_.op(Step::rot);
    std::swap(types_[n - 1], types_[n - 2]);
    std::swap(types_[n - 2], types_[n - 3]);
    return {};
  }
  return damaged();
}

base::Status Translation::unary(const Operation& o) {
  if (!needs(1)) return damaged();
  StackType& top = types_.back();
  switch (o.code) {
  case DW_OP_deref: writer_.load(8), top = {}; return {};
  case DW_OP_deref_size:
    if (o.first != 1 && o.first != 2 && o.first != 4 && o.first != 8) return damaged();
    writer_.load(static_cast<uint8_t>(o.first)), top = {};
    return {};
  case DW_OP_plus_uconst: writer_.add_constant(o.first); break;
  case DW_OP_abs:
    if (top.is_generic || top.is_signed) writer_.op(Step::abs);
    break;
  case DW_OP_neg: writer_.op(Step::neg); break;
  case DW_OP_not: writer_.op(Step::not_); break;
  }
  normalise(top);
  return {};
}

// The generic type compares and divides as signed, but for the rest of a division (section 2.5.1.4).
static Step::Op op_of(uint8_t code, const StackType& type) {
  bool is_signed = type.is_generic || type.is_signed;
  switch (code) {
  case DW_OP_and: return Step::and_;
  case DW_OP_div: return is_signed ? Step::sdiv : Step::udiv;
  case DW_OP_minus: return Step::sub;
  case DW_OP_mod: return Step::umod;
  case DW_OP_mul: return Step::mul;
  case DW_OP_or: return Step::or_;
  case DW_OP_plus: return Step::add;
  case DW_OP_shl: return Step::shl;
  case DW_OP_shr: return Step::lshr;
  case DW_OP_shra: return Step::ashr;
  case DW_OP_xor: return Step::xor_;
  case DW_OP_eq: return Step::eq;
  case DW_OP_ne: return Step::ne;
  case DW_OP_ge: return Step::sge;
  case DW_OP_gt: return Step::sgt;
  case DW_OP_le: return Step::sle;
  default: return Step::slt;
  }
}

base::Status Translation::binary(const Operation& o) {
  if (!needs(2)) return damaged();
  StackType right = types_.back();
  types_.pop_back();
  StackType type = types_.back();
  bool shifts = o.code == DW_OP_shl || o.code == DW_OP_shr || o.code == DW_OP_shra;
  if (!(type == right) && !shifts) return damaged();
  bool compares = o.code >= DW_OP_eq && o.code <= DW_OP_ne;
  bool is_unsigned_64 = !type.is_generic && !type.is_signed && type.bytes == 8;
  if (compares && is_unsigned_64 && o.code != DW_OP_eq && o.code != DW_OP_ne) {
    // a < b without sign is what a and b with their highest bit turned are with it.
    for (int i = 0; i < 2; i++) {
      writer_.constant(uint64_t{1} << 63), writer_.op(Step::xor_);
      writer_.op(Step::swap);
    }
  }
  bool is_signed_rest = o.code == DW_OP_mod && !type.is_generic && type.is_signed;
  if (is_signed_rest) { // a - a / b * b
    writer_.op(Step::pick, 1), writer_.op(Step::pick, 1);
    writer_.op(Step::sdiv), writer_.op(Step::mul), writer_.op(Step::sub);
  } else if ((o.code == DW_OP_shr || o.code == DW_OP_shra) && type.bytes < 8) {
    writer_.op(Step::swap), writer_.extend(type.bytes, o.code == DW_OP_shra), writer_.op(Step::swap);
    writer_.op(op_of(o.code, type));
  } else {
    writer_.op(op_of(o.code, type));
  }
  if (compares)
    types_.back() = StackType();
  else
    normalise(type);
  return {};
}

base::Status Translation::address(const Operation& o, const Unit& unit) {
  switch (o.code) {
  case DW_OP_addr: push(); return append(source_.address(o.first));
  case DW_OP_addrx:
  case DW_OP_constx: {
    std::optional<uint64_t> number = indexed_address(unit, o.first);
    if (!number) return damaged();
    push();
    if (o.code == DW_OP_addrx) return append(source_.address(*number));
    writer_.constant(*number);
    return {};
  }
  case DW_OP_fbreg:
    in_frame_ = true;
    push();
    ACU_CHECK(append(source_.frame_base()));
    writer_.add_constant(o.first);
    return {};
  case DW_OP_call_frame_cfa: in_frame_ = true, push(); return append(source_.cfa());
  case DW_OP_form_tls_address:
    if (!needs(1)) return damaged();
    types_.back() = {};
    return append(source_.thread_variable());
  }
  return damaged();
}

base::Status Translation::entry_value(const Operation& o, const Unit& unit) {
  if (!source_.at_entry && !source_.entry_value)
    return no_value(
        "is gone here; it is what it was when the function began: ask for it there, or by entry(…)");
  auto inner = read_expression(o.block, unit.encoding());
  if (!inner || inner->size() != 1) return damaged();
  const Operation& only = (*inner)[0];
  if (!source_.at_entry) {
    if (only.code != DW_OP_regx) return no_value("is optimised away here");
    push();
    return append(source_.entry_value(only.first));
  }
  if (only.code == DW_OP_regx) return push_register(only.first);
  if (only.code != DW_OP_bregx) return damaged();
  ACU_CHECK(push_register(only.first));
  writer_.add_constant(only.second);
  return {};
}

base::Status Translation::typed(const Operation& o, const Unit& unit) {
  bool has_register = o.code == DW_OP_regval_type || o.code == DW_OP_deref_type;
  auto type = type_at(unit, has_register ? o.second : o.first);
  if (!type) return std::move(type.error());
  switch (o.code) {
  case DW_OP_const_type: {
    if (o.block.size() > 8) return damaged();
    writer_.constant(base::Reader(o.block).number_of(static_cast<unsigned>(o.block.size())));
    push(*type);
    break;
  }
  case DW_OP_regval_type:
    ACU_CHECK(push_register(o.first));
    types_.back() = *type;
    break;
  case DW_OP_deref_type:
    if (!needs(1) || (o.first != 1 && o.first != 2 && o.first != 4 && o.first != 8)) return damaged();
    writer_.load(static_cast<uint8_t>(o.first));
    types_.back() = *type;
    break;
  default: // convert, reinterpret
    if (!needs(1)) return damaged();
    types_.back() = *type;
  }
  normalise(*type);
  return {};
}

// What another entry says of its place is carried out as if it stood here.
base::Status Translation::call(const Operation& o, const Unit& unit, int depth) {
  ACU_TRY(CalledExpression called, called_expression(o, unit, depth));
  return called.unit ? run(*called.unit, called.bytes, depth + 1) : base::Status();
}

base::Status Translation::end_part(uint64_t bits, uint64_t first_bit) {
  ValuePart part;
  if (simple_) {
    part = std::move(*simple_);
    if (part.kind == ValuePart::value) part.steps = writer_.take();
  } else if (!types_.empty()) {
    part.kind = ValuePart::memory;
    part.steps = writer_.take();
    part.in_frame = in_frame_;
  } else {
    part.reason = "is optimised away here";
  }
  if (types_.size() > 1 || parts_.size() >= most_parts) return damaged();
  part.bits = bits;
  part.first_bit = first_bit;
  parts_.push_back(std::move(part));
  simple_.reset();
  types_.clear();
  writer_ = StepWriter();
  in_frame_ = false;
  return {};
}

base::Status Translation::part_operation(const Operation& o) {
  switch (o.code) {
  case DW_OP_regx:
    simple_.emplace();
    if (auto pushed = push_register(o.first); pushed)
      simple_->kind = ValuePart::value;
    else
      simple_->reason = "is in " + pushed.error().message;
    return {};
  case DW_OP_stack_value:
    if (!needs(1)) return damaged();
    simple_.emplace().kind = ValuePart::value;
    return {};
  case DW_OP_implicit_value:
    simple_.emplace().kind = ValuePart::bytes;
    simple_->bytes_of = o.block;
    return {};
  case DW_OP_implicit_pointer:
    simple_.emplace().reason = "points to something that has no place in memory here";
    return {};
  case DW_OP_piece:
    if (o.first > UINT32_MAX) return damaged();
    if (o.first == 0) return {};
    return end_part(o.first * 8, 0);
  case DW_OP_bit_piece:
    if (o.first > UINT32_MAX || o.second > UINT32_MAX) return damaged();
    if (o.first == 0) return {};
    return end_part(o.first, o.second);
  }
  return damaged();
}

base::Status Translation::operation(const Operation& o, const Unit& unit, int depth) {
  switch (o.code) {
  case DW_OP_nop: return {};
  case DW_OP_constu: writer_.constant(o.first), push(); return {};
  case DW_OP_bregx:
    ACU_CHECK(push_register(o.first));
    writer_.add_constant(o.second);
    in_frame_ |= is_frame_register(o.first);
    return {};
  case DW_OP_addr:
  case DW_OP_addrx:
  case DW_OP_constx:
  case DW_OP_fbreg:
  case DW_OP_call_frame_cfa:
  case DW_OP_form_tls_address: return address(o, unit);
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
  case DW_OP_regx:
  case DW_OP_stack_value:
  case DW_OP_implicit_value:
  case DW_OP_implicit_pointer:
  case DW_OP_piece:
  case DW_OP_bit_piece: return part_operation(o);
  case DW_OP_entry_value: return entry_value(o, unit);
  case DW_OP_const_type:
  case DW_OP_regval_type:
  case DW_OP_deref_type:
  case DW_OP_convert:
  case DW_OP_reinterpret: return typed(o, unit);
  case DW_OP_call2:
  case DW_OP_call_ref: return call(o, unit, depth);
  case DW_OP_GNU_parameter_ref:
    return no_value("is gone: only the callers of the function know what it would be");
  case DW_OP_push_object_address:
  case DW_OP_GNU_variable_value:
  case DW_OP_xderef:
  case DW_OP_xderef_size:
  case DW_OP_xderef_type:
    return no_value("is described by DW_OP_" + operation_name(o.code) + ", which acu does not follow");
  }
  return binary(o);
}

base::Status Translation::begin_operation(uint32_t number, bool can_be_reached) {
  bool is_known = can_be_reached;
  for (const Branch& branch : open_) {
    if (branch.target != number) continue;
    writer_.at(branch.step).value = static_cast<int64_t>(writer_.size() - branch.step - 1);
    writer_.mark();
    if (!is_known) types_ = branch.types;
    if (types_.size() != branch.types.size()) return damaged();
    is_known = true;
  }
  return is_known ? base::Status() : damaged();
}

// Branches lead forward over steps whose number is known once they are written.
base::Status Translation::branch(const Operation& o, uint32_t number) {
  bool is_conditional = o.code == DW_OP_bra;
  if (o.target <= number) return no_value("takes a loop to find here");
  if (simple_ || (is_conditional && !needs(1))) return damaged();
  if (is_conditional) types_.pop_back();
  open_.push_back({writer_.size(), o.target, types_});
  writer_.op(is_conditional ? Step::branch : Step::skip);
  writer_.mark();
  return {};
}

base::Status Translation::run(const Unit& unit, ByteSpan bytes, int depth) {
  auto operations = read_expression(bytes, unit.encoding());
  if (!operations) return no_value(operations.error().message);
  std::vector<Branch> outer;
  outer.swap(open_);
  bool can_be_reached = true;
  auto count = static_cast<uint32_t>(operations->size());
  for (uint32_t i = 0; i <= count; i++) {
    ACU_CHECK(begin_operation(i, can_be_reached));
    can_be_reached = true;
    if (i == count) break;
    const Operation& o = (*operations)[i];
    if (writer_.size() > most_steps) return no_value("takes too many steps to find here");
    if (o.code == DW_OP_bra || o.code == DW_OP_skip) {
      ACU_CHECK(branch(o, i));
      can_be_reached = o.code == DW_OP_bra;
      continue;
    }
    // After a part is described in full only its size may follow; parts do not depend on branches.
    bool is_size = o.code == DW_OP_piece || o.code == DW_OP_bit_piece;
    if ((simple_ && !is_size && o.code != DW_OP_nop) || (is_size && (depth > 0 || !open_.empty())))
      return damaged();
    ACU_CHECK(operation(o, unit, depth));
  }
  outer.swap(open_);
  return {};
}

base::Result<std::vector<ValuePart>> Translation::finish() {
  bool is_left = simple_ || !types_.empty();
  if (parts_.empty() || is_left) ACU_CHECK(end_part(0, 0));
  if (parts_.size() > 1 && parts_.back().bits == 0) return damaged();
  return std::move(parts_);
}

base::Result<std::vector<ValuePart>> translate_expression(const StepSource& source, ByteSpan bytes) {
  Translation translation(source);
  if (auto done = translation.run(*source.unit, bytes, 0); !done) return std::move(done.error());
  return translation.finish();
}

} // namespace probe
