// Expressions: `scalar` gives a number in a register, `place` tells where an aggregate's bytes are, `into`
// writes a value to memory of the script (a key, a map value, an event record).
#include "ir/lowering.h"

#include "lang/check.h"

#include <algorithm>
#include <bit>

namespace ir {

using namespace lang;
using spec::id;

// A number as its type holds it: low bytes, extended to 64 bits.
Operand Lowering::narrow(Operand v, const Type& t) {
  if (t.is(Kind::boolean)) return set(Cond::ne, v, number(0));
  if (!t.is_integer() || t.size >= 8) return v;
  return emit(t.is_signed ? Op::sext : Op::zext, v, {}, static_cast<uint8_t>(t.size));
}

Operand Lowering::scalar(const Expr& e) {
  base::Range outer = std::exchange(where_, e.where);
  Operand v = e.constant.kind == Constant::integer && e.type->is_scalar() ? number(e.constant.integer_value)
                                                                          : scalar_of(e);
  where_ = outer;
  return v;
}

Operand Lowering::scalar_of(const Expr& e) {
  switch (e.kind) {
  case ExprKind::integer: return number(static_cast<int64_t>(as<Integer>(e).value));
  case ExprKind::boolean: return number(as<Boolean>(e).value);
  case ExprKind::string: return number(0);
  case ExprKind::name: {
    const Name& n = as<Name>(e);
    if (n.recipe) return recipe_scalar(*n.recipe, *e.type);
    if (n.arg_number >= 0) return argument_by_number(n.arg_number);
    return builtin(e);
  }
  case ExprKind::variable: {
    const Variable& v = *as<VariableRef>(e).variable;
    if (!in_register(v)) {
      Operand n = load(variable_place(v), *as_word(v.type));
      // In a loop, what a branch tells of the number must not stick to the variable: a verifier would carry
      // every combination from turn to turn.
      bool in_loop = function().role == Role::body && v.type->is_integer();
      return in_loop ? emit(Op::blur, n) : n;
    }
    // A copy: the variable may change before the value is used.
    Reg copy_of = fresh();
    assign(copy_of, Operand::of(variable_register(v)));
    return Operand::of(copy_of);
  }
  case ExprKind::map: return read_map(as<MapRef>(e));
  case ExprKind::positional:
  case ExprKind::positional_count:
  case ExprKind::size_of:
  case ExprKind::offset_of: return number(e.constant.integer_value);
  case ExprKind::call: {
    const Call& c = as<Call>(e);
    return c.recipe ? recipe_scalar(*c.recipe, *e.type) : call(c);
  }
  case ExprKind::unary: return unary(as<Unary>(e));
  case ExprKind::binary: return binary(as<Binary>(e));
  case ExprKind::ternary:
  case ExprKind::attempt:
  case ExprKind::conditional:
  case ExprKind::block: return by_control_flow(e);
  case ExprKind::cast: return cast(as<Cast>(e));
  case ExprKind::field: {
    const FieldRef& f = as<FieldRef>(e);
    if (is_builtin(*f.operand, id("args")) && !f.field.bit_size && e.type->is_scalar()) {
      probe::Access access = probe::access(machine_, *probe_->events.front(), context_, f.name);
      if (access.kind == probe::Access::computed && access.recipe.kind == probe::Recipe::value)
        return recipe_scalar(access.recipe, *e.type);
    }
    return f.recipe ? recipe_field(*f.recipe, f.field) : load_field(place(e), f.field);
  }
  case ExprKind::index: return index_scalar(as<Index>(e));
  case ExprKind::comptime: return scalar(*as<Comptime>(e).operand);
  case ExprKind::tuple:
  case ExprKind::type_text:
  case ExprKind::type_name: return number(0);
  }
  return number(0);
}

// ------------------------------------------------------------------------------------------ operators

Operand Lowering::compare(const Binary& e) {
  const Type& l = *e.left->type;
  if (l.is(Kind::probe_name) || e.right->type->is(Kind::probe_name)) {
    const Expr& id = l.is(Kind::probe_name) ? *e.left : *e.right;
    const Expr& other = l.is(Kind::probe_name) ? *e.right : *e.left;
    Operand b =
        other.constant.kind == Constant::text ? number(probe_name(other.constant.text_value)) : scalar(other);
    return set(e.op == BinaryOp::eq ? Cond::eq : Cond::ne, scalar(id), b);
  }
  if (const auto groups = group_comparison(e)) return compare_group(e, *groups);
  if (l.is(Kind::username) || e.right->type->is(Kind::username)) return compare_user(e);
  if (!l.is_scalar()) {
    Operand same;
    if (l.is(Kind::string) && e.op != BinaryOp::eq && e.op != BinaryOp::ne) return compare_order(e);
    if (l.is(Kind::string)) {
      same = equal_text(*e.left, *e.right);
    } else {
      same = equal_values(e);
    }
    return e.op == BinaryOp::eq ? same : emit(Op::xor_, same, number(1));
  }
  struct Row {
    BinaryOp op;
    Cond is_signed, is_unsigned;
  };
  constexpr Row rows[] = {{BinaryOp::lt, Cond::slt, Cond::ult}, {BinaryOp::le, Cond::sle, Cond::ule},
                          {BinaryOp::gt, Cond::sgt, Cond::ugt}, {BinaryOp::ge, Cond::sge, Cond::uge},
                          {BinaryOp::eq, Cond::eq, Cond::eq},   {BinaryOp::ne, Cond::ne, Cond::ne}};
  const Row& row = rows[static_cast<int>(e.op) - static_cast<int>(BinaryOp::lt)];
  Operand a = scalar(*e.left);
  Operand b = scalar(*e.right);
  return set(is_signed_comparison(e) ? row.is_signed : row.is_unsigned, a, b);
}

// A zero divisor gives 1 and is counted.
Operand Lowering::divide(BinaryOp which, Operand a, Operand b) {
  Op op = which == BinaryOp::div ? Op::udiv : Op::umod;
  if (b.is_constant() && b.value != 0) return emit(op, a, b);
  Reg dst = fresh();
  BlockId fine = new_block(), zero_divisor = new_block(), after = new_block();
  branch(Cond::ne, b, number(0), fine, zero_divisor);
  start(fine);
  append({.op = op, .dst = dst, .a = a, .b = b});
  jump(after);
  start(zero_divisor);
  if (!recovery_.of || !recovers(Fault::division_by_zero, {Space::script, number(0), 0})) {
    count(Fault::division_by_zero);
    assign(dst, number(1));
    jump(after);
  }
  start(after);
  return Operand::of(dst);
}

// Pointers step by what they point to.
uint32_t stride(const Type& t) {
  return t.is(Kind::pointer) && t.element && t.element->size > 1 ? t.element->size : 1;
}

// An address as a number: those of the kernel's objects and of the script's memory are more than that to a verifier.
Operand Lowering::number_of(Operand address, const Type& t) {
  return t.is(Kind::pointer) && t.space != type::Space::user && address.is_reg() ? emit(Op::number_of, address) : address;
}

// What is added to an address of the script's memory leads into that memory, where it is read and written as such.
Operand Lowering::to_calculate_with(Operand v, const Type& t) {
  return t.space == type::Space::script ? v : number_of(v, t);
}

Operand Lowering::binary(const Binary& e) {
  if (e.op == BinaryOp::logical_and || e.op == BinaryOp::logical_or) return by_control_flow(e);
  if (e.op >= BinaryOp::lt && e.op <= BinaryOp::ne) return compare(e);
  Operand a = to_calculate_with(scalar(*e.left), *e.left->type);
  Operand b = to_calculate_with(scalar(*e.right), *e.right->type);
  if (uint32_t n = stride(*e.left->type); n > 1 && e.right->type->is_integer())
    b = emit(Op::mul, b, number(n));
  if (uint32_t n = stride(*e.right->type); n > 1 && e.left->type->is_integer())
    a = emit(Op::mul, a, number(n));
  return combine(e.op, a, b, e.left->type->is_signed);
}

Operand Lowering::combine(BinaryOp op, Operand a, Operand b, bool is_signed) {
  switch (op) {
  case BinaryOp::mul: return emit(Op::mul, a, b);
  case BinaryOp::div:
  case BinaryOp::mod: return divide(op, a, b);
  case BinaryOp::add: return emit(Op::add, a, b);
  case BinaryOp::sub: return emit(Op::sub, a, b);
  case BinaryOp::shl: return emit(Op::shl, a, b);
  case BinaryOp::shr: return emit(is_signed && !(a.is_constant() && a.value >= 0) ? Op::ashr : Op::lshr, a, b);
  case BinaryOp::bit_and: return emit(Op::and_, a, b);
  case BinaryOp::bit_xor: return emit(Op::xor_, a, b);
  case BinaryOp::bit_or: return emit(Op::or_, a, b);
  default: return number(0);
  }
}

Operand Lowering::unary(const Unary& e) {
  switch (e.op) {
  case UnaryOp::negate: return emit(Op::sub, number(0), scalar(*e.operand));
  case UnaryOp::bit_not: return emit(Op::xor_, scalar(*e.operand), number(-1));
  case UnaryOp::logical_not: return set(Cond::eq, scalar(*e.operand), number(0));
  case UnaryOp::dereference: return load(place(e), *e.type);
  case UnaryOp::address_of:
    if (const MapRef* m = if_a<MapRef>(e.operand)) return find(m->map->id, {});
    if (e.operand->kind != ExprKind::variable) return address(place(*e.operand));
    return address(variable_place(*as<VariableRef>(*e.operand).variable));
  default: return increment(e);
  }
}

Operand Lowering::increment(const Unary& e) {
  bool up = e.op == UnaryOp::pre_increment || e.op == UnaryOp::post_increment;
  bool wants_old = e.op == UnaryOp::post_increment || e.op == UnaryOp::post_decrement;
  int64_t step = stride(*e.operand->type);
  if (const MapRef* m = if_a<MapRef>(e.operand))
    return update_map(*m, up ? BinaryOp::add : BinaryOp::sub, number(step), wants_old);
  const Variable& v = *as<VariableRef>(*e.operand).variable;
  Operand old = to_calculate_with(scalar(*e.operand), *v.type);
  Operand next = changed(v, narrow(emit(up ? Op::add : Op::sub, old, number(step)), *v.type));
  set_variable(v, next);
  return wants_old ? old : next;
}

Operand Lowering::cast(const Cast& e) {
  const Type& from = *e.operand->type;
  const Type& to = *e.type;
  if (!from.is_scalar() && to.is(Kind::pointer)) return address(place(*e.operand));
  if (!from.is_scalar()) return load(place(*e.operand), to); // the bytes of an array as a number
  Operand v = scalar(*e.operand);
  if (from.is(Kind::floating) && to.is_integer()) v = whole_part(v, from, to);
  if (from.is(Kind::integer) && to.is(Kind::pointer)) return narrow(v, *types_.integer(from.size, false)); // an address has no sign
  return to.is_integer() ? narrow(number_of(v, from), to) : v;
}

// ----------------------------------------------------------------------------------------- conditions

void Lowering::condition(const Expr& e, BlockId yes, BlockId no) {
  if (e.constant.kind == Constant::integer) return jump(e.constant.integer_value ? yes : no);
  base::Range outer = std::exchange(where_, e.where);
  const Binary* b = if_a<Binary>(&e);
  const Unary* u = if_a<Unary>(&e);
  if (b && (b->op == BinaryOp::logical_and || b->op == BinaryOp::logical_or)) {
    BlockId second = new_block();
    bool is_and = b->op == BinaryOp::logical_and;
    condition(*b->left, is_and ? second : yes, is_and ? no : second);
    start(second);
    condition(*b->right, yes, no);
  } else if (u && u->op == UnaryOp::logical_not) {
    condition(*u->operand, no, yes);
  } else {
    Operand v = scalar(e);
    // A comparison just made becomes the branch itself.
    if (!open_.empty() && open_.back().op == Op::set && v == Operand::of(open_.back().dst)) {
      Inst last = open_.back();
      open_.pop_back();
      branch(last.cond, last.a, last.b, yes, no);
    } else {
      branch(Cond::ne, v, number(0), yes, no);
    }
  }
  where_ = outer;
}

// Runs the parts of a choice; `with` gets the chosen value's expression (or nullptr where a block gives
// none).
void Lowering::choose(const Expr& e, const std::function<void(const Expr*)>& with) {
  auto block = [&](const lang::Block* b) {
    if (!b) return with(nullptr);
    lower(*b);
    with(b->value);
  };
  if (const BlockExpr* b = if_a<BlockExpr>(&e)) return block(b->block);
  if (const lang::Attempt* a = if_a<lang::Attempt>(&e)) {
    if (a->otherwise) return attempt(a->fault ? a : nullptr, [&] { with(a->first); }, [&] { with(a->otherwise); });
    const Recovery outer = std::exchange(recovery_, {});
    with(a->first);
    recovery_ = outer;
    return;
  }
  // Known when the script is compiled: the other side was not even checked.
  const Conditional* by_block = if_a<Conditional>(&e);
  const Ternary* by_value = if_a<Ternary>(&e);
  const Expr* chooser = by_block ? by_block->condition : by_value->condition;
  if (chooser->constant.kind == Constant::integer) {
    bool is_true = chooser->constant.integer_value != 0;
    if (by_block) return block(is_true ? by_block->then : by_block->otherwise);
    return with(!is_true ? by_value->otherwise : by_value->then ? by_value->then : by_value->condition);
  }
  BlockId then = new_block(), otherwise = new_block(), after = new_block();
  if (const Conditional* c = if_a<Conditional>(&e)) {
    condition(*c->condition, then, otherwise);
    start(then);
    block(c->then);
    jump(after);
    start(otherwise);
    block(c->otherwise);
  } else {
    const Ternary& t = as<Ternary>(e);
    condition(*t.condition, then, otherwise);
    start(then);
    with(t.then ? t.then : t.condition);
    jump(after);
    start(otherwise);
    with(t.otherwise);
  }
  jump(after);
  start(after);
}

// A read that fails in the first part leads to the second one.
void Lowering::attempt(const lang::Attempt* of, const std::function<void()>& first, const std::function<void()>& second) {
  BlockId failed = new_block(), after = new_block();
  auto outer = std::exchange(recovery_, {function_, failed, of});
  first();
  recovery_ = outer;
  jump(after);
  start(failed);
  second();
  jump(after);
  start(after);
}

Operand Lowering::by_control_flow(const Expr& e) {
  if (e.kind == ExprKind::binary) { // && and ||
    BlockId yes = new_block(), no = new_block();
    condition(e, yes, no);
    return truth(yes, no);
  }
  Reg dst = fresh();
  bool gives = e.type->is_scalar();
  choose(e, [&](const Expr* value) {
    if (gives && value)
      assign(dst, scalar(*value));
    else if (gives)
      assign(dst, number(0));
    else if (const Call* c = if_a<Call>(value); c && c->builtin && run_builtin(*c))
      return;
    else if (value && value->type->is(Kind::none))
      run_for_effect(*value);
    else if (value)
      place(*value);
  });
  return Operand::of(dst);
}

// An expression without a value, for its effect.
void Lowering::run_for_effect(const Expr& e) {
  if (e.kind == ExprKind::call)
    call(as<Call>(e));
  else
    by_control_flow(e);
}

// --------------------------------------------------------------------------------------------- places

// A member that the kernel's verifier knows by its offset, too: not in a union.
static bool is_plain_member(const FieldRef& f) {
  const Type* of = f.through_pointer ? f.operand->type->element : f.operand->type;
  if (!of || !of->is(Kind::structure) || of->is_union || !of->has_size || f.field.bit_size) return false;
  return std::ranges::any_of(of->fields(), [&](const type::Field& own) { return own.name == f.name; });
}

// Whether it is a member of what such a pointer points to, or of structures in that, and points to a structure itself.
bool Lowering::is_followed(const Expr& pointer) {
  const Type& t = *pointer.type;
  if (!t.is(Kind::pointer) || t.space != type::Space::kernel) return false;
  if (!t.element || !t.element->is(Kind::structure) || t.element->is_union || !t.element->has_size) return false;
  for (const FieldRef* f = if_a<FieldRef>(&pointer); f; f = if_a<FieldRef>(f->operand)) {
    if (is_builtin(*f->operand, id("args")) || is_builtin(*f->operand, id("ctx")) || !is_plain_member(*f)) return false;
    if (f->through_pointer) return pointer_space(*f->operand) == Space::task;
  }
  return false;
}

// Pointers the kernel vouches for are followed without a helper call: the current task, typed arguments, and what is
// reached from those by members.
Space Lowering::pointer_space(const Expr& e) {
  if (is_builtin(e, id("curtask"))) return Space::task;
  if (const FieldRef* f = if_a<FieldRef>(&e)) {
    if (context_ == probe::Context::iterator && is_builtin(*f->operand, id("ctx"))) return Space::task;
    if (is_builtin(*f->operand, id("args")) &&
        (context_ == probe::Context::btf_tracepoint || context_ == probe::Context::function) && e.type->element &&
        e.type->element->is(Kind::structure)) {
      probe::Access access = probe::access(machine_, *probe_->events.front(), context_, f->name);
      if (access.kind == probe::Access::raw && access.path.empty()) return Space::task;
    }
  }
  if (context_ == probe::Context::function && is_builtin(e, id("retval")) && e.type->element &&
      e.type->element->is(Kind::structure))
    return Space::task;
  if (is_followed(e)) return Space::task;
  switch (e.type->space) {
  case type::Space::user: return Space::user;
  case type::Space::script: return Space::script;
  default: return Space::kernel;
  }
}

Place Lowering::pointee(const Expr& pointer, int64_t offset) {
  Place p = pointee(pointer_space(pointer), scalar(pointer), offset);
  p.is_free |= is_followed(pointer);
  return p;
}

Place Lowering::args_place(std::string_view field) {
  probe::Access access = probe::access(machine_, *probe_->events.front(), context_, field);
  if (access.kind == probe::Access::record) return context_place(access.offset);
  if (access.kind == probe::Access::computed) {
    auto of = probe_->events.front()->args ? probe_->events.front()->args->find(field) : std::nullopt;
    return recipe_place(access.recipe, of ? *of->type : *types_.uint64());
  }
  Place p = context_place(8 * static_cast<int64_t>(access.argument));
  for (uint32_t offset : access.path) {
    Operand pointer = load_word(p, 8, false);
    p = {context_ == probe::Context::btf_tracepoint ? Space::task : Space::kernel, pointer, offset};
  }
  return p;
}

// `ctx` or a cast of it, where its bytes can be loaded as they are.
bool Lowering::is_context(const Expr& e) const {
  if (!probe::registers_at(context_) && context_ != probe::Context::iterator) return false;
  if (const Cast* cast = if_a<Cast>(&e)) return is_context(*cast->operand);
  return is_builtin(e, id("ctx"));
}

// All arguments, laid out as the record of the event is.
void Lowering::arguments_into(const Place& to, const Type& as) {
  zero(to, as.size);
  for (const type::Field& f : as.fields()) {
    Place from = args_place(f.name);
    if (f.data_loc)
      store(to.plus(f.offset), load_word(from, 4, false), 4);
    else if (f.type->is_scalar())
      store(to.plus(f.offset), load(from, *f.type), f.type->size);
    else
      copy(to.plus(f.offset), from.space == Space::context ? Place{Space::kernel, address(from), 0} : from,
           f.type->size);
  }
}

// Where the bytes of an expression stand. Those of a computed value are put into a new object.
Place Lowering::place(const Expr& e) {
  if (const probe::Recipe* r = recipe_of(e)) return recipe_place(*r, *e.type);
  if (const FieldRef* f = if_a<FieldRef>(&e)) {
    if (is_builtin(*f->operand, id("args"))) return args_place(f->name);
    if (f->through_pointer && is_context(*f->operand)) return context_place(f->field.offset);
    if (f->through_pointer) return pointee(*f->operand, f->field.offset);
    return place(*f->operand).plus(f->field.offset);
  }
  if (const Unary* u = if_a<Unary>(&e); u && u->op == UnaryOp::dereference) return pointee(*u->operand, 0);
  if (const Index* x = if_a<Index>(&e)) {
    const Type& of = *x->operand->type;
    if (of.is(Kind::tuple))
      return place(*x->operand)
          .plus(of.fields()[static_cast<size_t>(x->index->constant.integer_value)].offset);
    uint32_t size = of.is(Kind::string) ? 1 : std::max(1u, of.element->size);
    bool known = x->index->constant.kind == Constant::integer;
    if (of.is(Kind::pointer)) {
      Space space = pointer_space(*x->operand) == Space::user ? Space::user : Space::kernel;
      if (of.space == type::Space::script) space = Space::script;
      Operand base = scalar(*x->operand);
      if (known) return pointee(space, base, x->index->constant.integer_value * size);
      return pointee(space, emit(Op::add, base, emit(Op::mul, scalar(*x->index), number(size))), 0);
    }
    Place p = place(*x->operand);
    if (known) return p.plus(x->index->constant.integer_value * size);
    return index_place(p, of, scalar(*x->index), size);
  }
  if (const VariableRef* v = if_a<VariableRef>(&e)) return variable_place(*v->variable);
  return temporary(e, *e.type);
}

// An element chosen while the script runs; outside the array it is 0 and counted. Goes on in a block where there is
// such an element, and gives its place.
Place Lowering::start_element(const Place& array, const Type& of, Operand index, uint32_t size, BlockId outside) {
  uint32_t elements = of.is(Kind::array) ? of.count : of.size;
  Place from = array;
  if (array.space == Space::context) from = {Space::kernel, address(array), 0};
  if (from.space == Space::task) from.space = Space::kernel;
  BlockId fine = new_block();
  branch(Cond::ult, index, number(elements), fine, outside);
  start(fine);
  Operand step = size > 1 ? emit(Op::mul, index, number(size)) : index;
  return {from.space, emit(Op::add, from.base, step), from.offset, from.is_free};
}

Place Lowering::index_place(const Place& array, const Type& of, Operand index, uint32_t size) {
  Place element = scratch_place(size, "element");
  BlockId outside = new_block(), after = new_block();
  copy(element, start_element(array, of, index, size, outside), size);
  jump(after);
  start(outside);
  count(Fault::index_out_of_range);
  zero(element, size);
  jump(after);
  start(after);
  return element;
}

// The same of a number in foreign memory, which needs no object.
Operand Lowering::index_scalar(const Index& x) {
  const Type& of = *x.operand->type;
  bool is_array = of.is(Kind::array) && x.index->constant.kind != Constant::integer;
  if (!is_array || recipe_of(x)) return load(place(x), *x.type);
  Place array = place(*x.operand);
  Operand index = scalar(*x.index);
  if (array.space == Space::script)
    return load(index_place(array, of, index, std::max(1u, of.element->size)), *x.type);
  BlockId outside = new_block(), after = new_block();
  Reg value = fresh();
  assign(value, load(start_element(array, of, index, std::max(1u, of.element->size), outside), *x.type));
  jump(after);
  start(outside);
  count(Fault::index_out_of_range);
  assign(value, number(0));
  jump(after);
  start(after);
  return Operand::of(value);
}

Place Lowering::temporary(const Expr& e, const Type& as) {
  Place p = scratch_place(as.size, "value");
  if (as.size % 8) zero(p.plus(as.size / 8 * 8), 8); // whole words are defined
  into(e, p, as);
  return p;
}

// ----------------------------------------------------------------------------------------------- into

// Its value is that of one of its parts (Lowering::choose).
static bool chooses(const Expr& e) {
  return e.kind == ExprKind::ternary || e.kind == ExprKind::attempt || e.kind == ExprKind::conditional || e.kind == ExprKind::block;
}

void Lowering::into(const Expr& e, const Place& to, const Type& as, bool pad) {
  base::Range outer = std::exchange(where_, e.where);
  if (e.type->is(Kind::probe_name) || (e.type->is_scalar() && as.is_scalar())) {
    store(to, scalar(e), std::max(1u, as.size));
  } else {
    into_aggregate(e, to, as, pad);
    if (e.constant.kind != Constant::text && e.kind != ExprKind::name && !chooses(e))
      move_cut_mark(to, *e.type, as);
  }
  where_ = outer;
}

// Text that was cut says so in its last byte, which is elsewhere in a wider place.
void Lowering::move_cut_mark(const Place& to, const Type& from, const Type& as) {
  if (!from.is(Kind::string) || !as.is(Kind::string) || from.size >= as.size || from.size == 0) return;
  Operand mark = load_word(to.plus(from.size - 1), 1, false);
  store(to.plus(from.size - 1), number(0), 1);
  store(to.plus(as.size - 1), mark, 1);
}

void Lowering::cast_into(const Cast& c, const Place& to, const Type& as, bool pad) {
  if (c.operand->type->is_scalar()) { // a number as an array of bytes
    zero(to, as.size);
    return store_bytes(to, scalar(*c.operand), std::min(8u, as.size));
  }
  if (c.operand->type == &as || as.is(Kind::string)) return into(*c.operand, to, as, pad);
  if (c.operand->type->size <= as.size) { // the same bytes by another name
    if (c.operand->type->size < as.size) zero(to, as.size);
    return into(*c.operand, to, *c.operand->type, pad);
  }
  return copy(to, temporary(*c.operand, *c.operand->type), as.size);
}

// A tuple's elements, in the order in which they are written. Bytes behind an integer that belong to nobody are part
// of its store where that is one, and are cleared otherwise. `size`: of a key that fills words, with what is behind it.
void Lowering::put_elements(const Tuple& e, const Place& to, const Type& as, bool pad, uint32_t size) {
  const uint32_t align = size > as.size ? 8 : as.align;
  for (size_t i = 0; i < e.elements.size(); i++) {
    const Expr& x = *e.elements[i];
    const size_t index = *as.index_of(e.type->fields()[i], i);
    const type::Field& f = as.fields()[index];
    const uint32_t end = index + 1 < as.fields().size() ? as.fields()[index + 1].offset : size;
    const uint32_t room = end - f.offset, gap = pad ? room - f.type->size : 0;
    const bool is_one_store = gap && f.type->is(Kind::integer) && x.type->is(Kind::integer) && room <= align &&
                              std::has_single_bit(room) && f.offset % room == 0;
    if (!is_one_store) {
      const bool owns_word = gap && size > as.size && end == size && f.offset + 8 <= size;
      if (owns_word) zero(to.plus(size - 8), 8);
      into(x, to.plus(f.offset), *f.type, pad);
      if (gap && !owns_word) zero(to.plus(f.offset + f.type->size), gap);
      continue;
    }
    Operand value = scalar(x);
    const bool is_clean = !x.type->is_signed && x.type->size <= f.type->size;
    store(to.plus(f.offset), is_clean ? value : emit(Op::zext, value, {}, static_cast<uint8_t>(f.type->size)), room);
  }
}

void Lowering::into_aggregate(const Expr& e, const Place& to, const Type& as, bool pad) {
  if (e.constant.kind == Constant::text) {
    put_text(to, lang::text_of(e), as.size);
    if (lang::is_cut(e)) store(to.plus(as.size - 1), number(1), 1);
    return;
  }
  if (const Comptime* c = if_a<Comptime>(&e)) return into_aggregate(*c->operand, to, as, pad);
  if (const Tuple* t = if_a<Tuple>(&e)) return put_elements(*t, to, as, pad, as.size);
  if (chooses(e))
    return choose(e, [&](const Expr* value) {
      if (value)
        into(*value, to, as, pad);
      else
        zero(to, as.size);
    });
  if (as.is(Kind::tuple) && &as != e.type) return convert(to, as, place(e), *e.type);
  if (const MapRef* m = if_a<MapRef>(&e)) return read_map_into(*m, to, as);
  bool is_name = e.kind == ExprKind::name && !recipe_of(e);
  if (is_name || (e.kind == ExprKind::call && !lang::as<Call>(e).function))
    return builtin_into(e, to, as, pad);
  if (const Call* c = if_a<Call>(&e)) {
    user_call(*c, &to);
    return;
  }
  if (const Cast* c = if_a<Cast>(&e)) return cast_into(*c, to, as, pad);
  Place from = place(e);
  const Type& t = *e.type;
  uint32_t size = lang::stored_size(e);
  if (t.is(Kind::string) && from.space != Space::script) {
    Space space = from.space == Space::user ? Space::user : Space::kernel;
    read_text(to, as.size, address(from), space, number(t.size), pad);
    if (size < t.size && as.size == t.size) store(to.plus(size), number(0), 1); // what was read there is not of the text
    return;
  }
  if (from.space == Space::context) from = {Space::kernel, address(from), 0};
  copy(to, from, std::min(size, as.size));
  if (as.size > size) zero(to.plus(size), as.size - size);
}

} // namespace ir
