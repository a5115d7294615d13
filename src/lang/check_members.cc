// Parts of values and other views of them: members, elements, what a pointer points to, offsets, casts.
#include "lang/checker.h"

#include "lang/c_types.h"
#include "lang/walk.h"

#include "base/text.h"

#include <algorithm>

namespace lang {

using type::Kind;
using namespace spec;

// Where an address is that the script has only as a number.
type::Space Checker::space_of_numbers() const {
  if (machine_.stopped) return type::Space::user;
  if (!probe_) return type::Space::kernel;
  const probe::Event& event = *probe_->events.front();
  bool of_process = event.provider.starts_with("uprobe") || event.provider.starts_with("uretprobe") ||
                    event.provider.starts_with("usdt") || event.category == "syscalls";
  return of_process ? type::Space::user : type::Space::kernel;
}

// The type of a parameter does not say where a pointer points: the calls do.
void Checker::learn_space(type::Space& known, const type::Type& given, Range where) {
  if (!given.is(Kind::pointer) || given.space == type::Space::none || known == given.space) return;
  if (machine_.stopped && given.space != type::Space::script) {
    known = type::Space::user; // there is no other memory
    return;
  }
  if (known != type::Space::none)
    return error(
        tag::type_mismatch, where,
        "this function is given pointers into the kernel in one place and into the process in another",
        "write a function for each");
  known = given.space;
}

// At both ends of a round.
void Checker::settle_spaces(bool at_start) {
  auto settle = [&](LearnedSpace& space) {
    if (at_start)
      space = {.settled = space.seen};
    else
      changed_ |= space.seen != space.settled;
  };
  for (Function* f : program_.functions) {
    for (Parameter& p : f->parameters) settle(p.space);
    settle(f->result_space);
  }
}

const type::Type* Checker::in_learned_space(const type::Type* t, type::Space space) {
  return t->is(Kind::pointer) && space != type::Space::none ? types_.pointer(t->element, space) : t;
}

// ----------------------------------------------------------------------------------------------- members

// Of functions of the kernel.
static std::string why_no_arguments(const probe::Event& event) {
  if (!probe::is_kernel_function(event.kind)) return {};
  if (event.kind == probe::Kind::kretprobe)
    return "fexit:" + event.function + " has them also when the function returns";
  if (event.offset) return "they are known where the function is entered";
  return "the kernel's types do not describe this function: use arg0, arg1, …";
}

const type::Type* Checker::check_arguments_field(FieldRef& e) {
  probe::Event& event = *probe_->events.front();
  e.recipe = nullptr;
  if (user_event() && event.kind != probe::Kind::usdt) return check_parameter_value(e);
  const type::Type* args = probe::arguments(machine_, event);
  if (!args)
    return mistake(tag::misplaced, e.operand->where,
                   "`args` can't be used here: " + event.name + " has no named arguments",
                   why_no_arguments(event));
  // args.0, of translations of languages whose arguments have no names: by its place.
  const bool has_order = probe::is_kernel_function(event.kind) || event.kind == probe::Kind::rawtracepoint;
  if (const auto position = has_order ? base::parse_integer(e.name) : std::nullopt; position && *position < args->fields().size())
    e.name = args->fields()[*position].name;
  auto field = args->find(e.name);
  if (!field) {
    std::vector<std::string_view> names;
    for (const type::Field& f : args->fields()) names.push_back(f.name);
    std::string_view near = base::nearest(e.name, names);
    std::string hint = near.empty() ? "" : "did you mean `args." + std::string(near) + "`? ";
    return mistake(tag::unknown_field, e.name_where,
                   event.name + " has no argument `" + std::string(e.name) + "`",
                   hint + "`acu list -v " + event.name + "` shows all");
  }
  if (event.kind == probe::Kind::usdt) {
    std::string reason = probe::access(machine_, event, probe::Context::registers, e.name).reason;
    if (!reason.empty())
      return mistake(tag::bad_argument, e.name_where,
                     "`" + std::string(e.name) + "` of " + event.name + " " + reason,
                     "`acu list -v " + event.name + "` shows all");
  }
  e.field = *field;
  e.operand->type = args;
  read_argument(e.name);
  return field->type;
}

void Checker::read_argument(std::string_view name) {
  if (std::find(probe_->fields.begin(), probe_->fields.end(), name) == probe_->fields.end())
    probe_->fields.push_back(name);
}

// `args` by itself: all arguments.
const type::Type* Checker::check_arguments(Name& e) {
  if (!probe_)
    return mistake(tag::misplaced, e.where, "`args` can't be used in a function", "pass what it needs");
  probe::Event& event = *probe_->events.front();
  const type::Type* args = probe::arguments(machine_, event);
  if (!args)
    return mistake(tag::misplaced, e.where,
                   "`args` can't be used here: " + event.name + " has no named arguments",
                   why_no_arguments(event));
  if (user_event() && event.kind != probe::Kind::usdt && !check_parameters_whole(e)) return types_.none();
  for (const type::Field& f : args->fields()) read_argument(f.name);
  return args;
}

static void collect_names(const type::Type& of, std::vector<std::string_view>& into) {
  for (const type::Field& f : of.fields())
    if (f.name.empty() && f.type)
      collect_names(*f.type, into);
    else
      into.push_back(f.name);
}

// A structure that one file of a program only declares, as another one has it.
const type::Type* Checker::completed(const type::Type* t) {
  if (!t || t->has_size || !t->is(Kind::structure) || t->name.empty()) return t;
  const type::Type* known = program_type(t->is_union ? "union" : "struct", t->name);
  return known && known->has_size ? types_.in_space(known, t->space) : t;
}

// Tells that there is no such member.
void Checker::unknown_member(const type::Type& of, std::string_view name, Range where) {
  if (!of.has_size)
    return error(tag::unknown_field, where, text(&of) + " is only declared: its members are not known",
                 "define it in the script");
  std::vector<std::string_view> names;
  collect_names(of, names);
  std::string_view near = base::nearest(name, names);
  error(tag::unknown_field, where, text(&of) + " has no member `" + std::string(name) + "`",
        near.empty() ? "" : "did you mean `" + std::string(near) + "`?");
}

// config.NAME
const type::Type* Checker::unknown_key(const FieldRef& e) {
  std::vector<std::string_view> names;
  for (const ConfigKey& key : config_keys) names.push_back(key.name);
  const std::string_view near = base::nearest(e.name, names);
  return mistake(tag::unknown_field, e.name_where, "there is no configuration key `" + std::string(e.name) + "`",
                 near.empty() ? "" : "did you mean `" + std::string(near) + "`?");
}

const type::Type* Checker::check_field(FieldRef& e) {
  if (const Name* name = if_a<Name>(e.operand); name && name->name == "args") {
    as<Name>(*e.operand).builtin = find_builtin("args");
    if (!probe_)
      return mistake(tag::misplaced, e.where, "`args` can't be used in a function", "pass what it needs");
    return check_arguments_field(e);
  }
  if (const Name* name = if_a<Name>(e.operand); name && name->name == "locals") return check_local(e);
  if (is_target(*e.operand)) return check_global(e);
  const type::Type* t = check_value(*e.operand);
  if (t->is(Kind::none)) return t;
  e.through_pointer = t->is(Kind::pointer);
  const type::Type* of = e.through_pointer ? completed(t->element) : t;
  if (e.through_pointer && of && of->is(Kind::pointer))
    return mistake(tag::bad_operand, e.operand->where, text(t) + " has no members",
                   "it points to a pointer: `(*…)." + std::string(e.name) + "`");
  if (!of || (!of->is(Kind::structure) && !of->is(Kind::tuple)))
    return mistake(tag::bad_operand, e.operand->where, text(t) + " has no members",
                   t->is(Kind::pointer) || t->is_integer()
                       ? "cast it first: `((struct x *)…)." + std::string(e.name) + "`"
                       : "");
  auto field = of->find(e.name);
  if (!field) {
    const Builtin* row = builtin_of(*e.operand);
    if (row && id_of(*row) == id("config")) return unknown_key(e);
    unknown_member(*of, e.name, e.name_where);
    return types_.none();
  }
  e.field = *field;
  if (of->is(Kind::tuple)) take_element(e, *e.operand, e.name);
  return of->is(Kind::structure) ? check_part(field->type, t->space) : field->type;
}

// An element of a tuple that is known when the script is compiled is known as well; so are the members of `config`.
void Checker::take_element(Expr& e, const Expr& tuple, std::string_view name) {
  if (const Builtin* row = builtin_of(tuple); row && id_of(*row) == id("config")) {
    const spec::Config& config = program_.config;
    const type::Type& t = *tuple.type->find(name)->type;
    if (t.is(Kind::string)) return set_text(e, config.text(name));
    return set_integer(e, t.is(Kind::boolean) ? config.flag(name) : static_cast<int64_t>(config.number(name)));
  }
  const Tuple* t = if_a<Tuple>(&tuple);
  if (!t || !is_known(*t)) return;
  const auto fields = t->type->fields();
  for (size_t i = 0; i < t->elements.size() && i < fields.size(); i++)
    if (fields[i].name == name) e.constant = t->elements[i]->constant;
}

// A member or an element as a value: characters become text, with a NUL.
const type::Type* Checker::check_part(const type::Type* t, type::Space space) {
  if (!t) return types_.none();
  return t->is(Kind::string) ? types_.string(t->size + 1) : types_.in_space(t, space);
}

// ---------------------------------------------------------------------------------------------- elements

const type::Type* Checker::check_index(Index& e) {
  const type::Type* t = check_value(*e.operand);
  check_integer(*e.index, "an index");
  if (t->is(Kind::none)) return t;
  bool known = e.index->constant.kind == Constant::integer;
  int64_t n = e.index->constant.integer_value;
  if (t->is(Kind::tuple)) {
    if (!known || n < 0 || static_cast<size_t>(n) >= t->fields().size())
      return mistake(tag::bad_index, e.index->where,
                     "the index of a tuple must be a constant from 0 to " +
                         std::to_string(static_cast<int64_t>(t->fields().size()) - 1));
    take_element(e, *e.operand, t->fields()[static_cast<size_t>(n)].name);
    return t->fields()[static_cast<size_t>(n)].type;
  }
  if (t->is(Kind::pointer)) return check_part(check_pointee(*e.operand, t, "indexed"), type::Space::none);
  if (t->is(Kind::array) || t->is(Kind::string)) {
    uint32_t count = t->is(Kind::array) ? t->count : stored_size(*e.operand);
    // An array without a size of its own ends a structure: what is there only the program knows.
    bool is_open = t->is(Kind::array) && t->count == 0;
    if (known && (n < 0 || (!is_open && static_cast<uint64_t>(n) >= count)))
      error(tag::bad_index, e.index->where, "index " + std::to_string(n) + " is outside " + text(t),
            count && n >= 0 ? "the last one is " + std::to_string(count - 1) : "");
    return t->is(Kind::array) ? check_part(t->element, type::Space::none) : types_.character();
  }
  return mistake(tag::bad_operand, e.operand->where, text(t) + " can't be indexed");
}

// Of something that a pointer leads to, and of a variable of the traced program; nullptr: it has no address
// there.
const type::Type* Checker::address_in_memory(const Expr& e) {
  const FieldRef* f = if_a<FieldRef>(&e);
  const type::Type* t = e.type;
  if (f && f->field.bit_size) return nullptr;
  if (f && f->recipe)
    return f->recipe->kind == probe::Recipe::address ? types_.pointer(f->field.type, type::Space::user)
                                                     : nullptr;
  const Index* x = if_a<Index>(&e);
  // An element of an array that is chosen while the script runs is a copy: the index may be outside.
  if (x && !x->operand->type->is(Kind::pointer) && x->index->constant.kind != Constant::integer)
    return nullptr;
  const Unary* u = if_a<Unary>(&e);
  const Expr* through = u && u->op == UnaryOp::dereference ? u->operand
                        : x                                ? x->operand
                        : f                                ? f->operand
                                                           : nullptr;
  if (f && f->field.type) t = f->field.type;
  if (!through || !through->type || t->is(Kind::none)) return nullptr;
  if (through->type->is(Kind::pointer))
    return through->type->space == type::Space::script ? nullptr : types_.pointer(t, through->type->space);
  const type::Type* outer = address_in_memory(*through);
  return outer && !through->type->is(Kind::tuple) ? types_.pointer(t, outer->space) : nullptr;
}

// &$v and &@m: addresses of the script's own memory.
const type::Type* Checker::check_address(Unary& e) {
  if (VariableRef* v = if_a<VariableRef>(e.operand)) {
    const type::Type* t = v->type = check_variable(*v);
    if (v->variable) v->variable->captured = true; // it must have an address
    return t->is(Kind::none) ? t : types_.pointer(t, type::Space::script);
  }
  MapRef* m = if_a<MapRef>(e.operand);
  if (!m) {
    const type::Type* t = check_value(*e.operand);
    if (t->is(Kind::none)) return t;
    if (const type::Type* pointer = address_in_memory(*e.operand)) return pointer;
    return mistake(
        tag::bad_operand, e.where,
        "`&` can be used on variables, on maps, and on what is in the memory of a program or the kernel");
  }
  const type::Type* t = m->type = check_map(*m, false);
  if (m->key)
    return mistake(tag::bad_operand, e.where, "a value under a key has no address that stays",
                   "`&` works on variables and on maps without keys");
  if (t->is_aggregation()) return mistake(tag::bad_map_use, e.where, text(t) + " can't be used as a value");
  return t->is(Kind::none) ? t : types_.pointer(t, type::Space::script);
}

// What a pointer points to, in the memory that the pointer is of.
const type::Type* Checker::check_pointee(const Expr& e, const type::Type* t, std::string_view what) {
  if (!t->element)
    return mistake(tag::bad_operand, e.where, "a `void *` can't be " + std::string(what),
                   "cast it first: `(uint64 *)…`");
  const type::Type* element = completed(t->element);
  if (!element->has_size)
    return mistake(tag::unknown_type, e.where,
                   text(element) + " is only declared: a pointer to it can't be " + std::string(what),
                   "define it in the script");
  return types_.in_space(element, t->space);
}

// ----------------------------------------------------------------------------------------------- offsets

const type::Type* Checker::check_offset_of(OffsetOf& e) {
  const type::Type* t = e.target ? resolve(*e.target) : check_value(*e.operand);
  if (t->is(Kind::pointer) && t->element && e.operand) t = t->element;
  uint64_t offset = 0;
  size_t next = 0;
  for (std::string_view name : e.path) {
    if (t->is(Kind::none)) break;
    if (name.empty()) {
      Expr& index = *e.indexes[next++];
      check_integer(index, "an index");
      if (!t->is(Kind::array) && !t->is(Kind::string)) {
        error(tag::bad_operand, e.where, text(t) + " can't be indexed");
        break;
      }
      if (index.constant.kind != Constant::integer || index.constant.integer_value < 0) {
        error(tag::bad_index, index.where, "an index in offsetof must be known when the script is compiled");
        break;
      }
      t = t->is(Kind::array) ? t->element : types_.character();
      offset += static_cast<uint64_t>(index.constant.integer_value) * t->size;
      continue;
    }
    if (!t->is(Kind::structure) && !t->is(Kind::tuple)) {
      error(tag::bad_operand, e.where, text(t) + " has no members");
      break;
    }
    auto field = t->find(name);
    if (!field) {
      unknown_member(*t, name, e.where);
      break;
    }
    if (field->bit_size) error(tag::bad_operand, e.where, "a bit-field has no offset in bytes");
    offset += field->offset;
    t = field->type;
  }
  e.member = t;
  set_integer(e, static_cast<int64_t>(offset));
  e.adapts = true;
  return types_.uint64();
}

// container_of(p, struct T, path): a pointer less the offset of the member it points to.
const type::Type* Checker::check_container_of(Call& e) {
  if (e.arguments.size() != 2)
    return mistake(tag::wrong_argument_count, e.where, "`container_of` takes a pointer, a type and a member",
                   std::string(e.builtin->texts().signature));
  const type::Type* t = check_value(*e.arguments[0]);
  OffsetOf& offset = as<OffsetOf>(*e.arguments[1]);
  check(offset);
  if (t->is(Kind::none) || !offset.target->type || offset.target->type->is(Kind::none)) return types_.none();
  if (!t->is(Kind::pointer) && !t->is_integer())
    return mistake(tag::bad_argument, e.arguments[0]->where,
                   "`container_of` takes a pointer here, not " + text(t), std::string(e.builtin->texts().signature));
  return types_.pointer(offset.target->type, t->is(Kind::pointer) ? t->space : space_of_numbers());
}

// `sizeof(x)`: only now it is known that x is no type but an enumerator.
void Checker::name_in_sizeof(SizeOf& e) {
  const TypeName& t = *e.target;
  if (t.of || !t.keyword.empty() || !t.suffixes.empty() || base_type(t)) return;
  if (!enumerator(t.name)) return;
  Name* name = program_.arena.make<Name>(t.where);
  name->name = t.name;
  e.operand = name;
  e.target = nullptr;
}

// ------------------------------------------------------------------------------------------------- casts

// The pointer by which an array is reached that is a member or an element; nullptr where it stands in the
// script.
static const Expr* pointer_before(const Expr& e) {
  const FieldRef* f = if_a<FieldRef>(&e);
  const Index* x = if_a<Index>(&e);
  const Expr* of = f ? f->operand : x ? x->operand : nullptr;
  if (!of || !of->type) return nullptr;
  return of->type->is(Kind::pointer) ? of : pointer_before(*of);
}

// Whether it is a part of `args`.
static bool is_argument(const Expr& e) {
  const FieldRef* f = if_a<FieldRef>(&e);
  const Index* x = if_a<Index>(&e);
  const Name* name = if_a<Name>(&e);
  return name ? name->name == "args" : f ? is_argument(*f->operand) : x && is_argument(*x->operand);
}

const type::Type* Checker::check_cast(Cast& e) {
  const type::Type* to = resolve(*e.target);
  const type::Type* from = to->is(Kind::boolean) ? check_truth(e.operand) : check_value(*e.operand);
  if (to->is(Kind::none) || from->is(Kind::none)) return to;
  if (e.target->is_open_array() && to->is(Kind::array)) { // T[]: up to the size of the operand
    uint32_t size = to->element->size;
    to = e.target->type =
        types_.array(to->element, std::max(1u, stored_size(*e.operand) / std::max(1u, size)));
  }
  if (to->is(Kind::pointer)) {
    bool is_null = e.operand->constant.kind == Constant::integer && e.operand->constant.integer_value == 0;
    if (from->is_integer())
      return types_.pointer(to->element, is_null ? type::Space::none : space_of_numbers());
    if (from->is(Kind::pointer)) {
      const Unary* u = if_a<Unary>(e.operand);
      bool is_address = u && u->op == UnaryOp::address_of && from->element && to->element;
      if (is_address && from->element->size < to->element->size)
        warning(tag::bad_cast, e.where,
                text(to->element) + " has " + std::to_string(to->element->size) + " bytes, " +
                    text(from->element) + " only " + std::to_string(from->element->size));
      return types_.pointer(to->element, from->space);
    }
    // As in C, an array is where it begins.
    const Expr* before =
        from->is(Kind::array) || from->is(Kind::string) ? pointer_before(*e.operand) : nullptr;
    if (before && before->type->space != type::Space::script)
      return types_.pointer(to->element, before->type->space);
    const bool is_in_record = !before && (from->is(Kind::array) || from->is(Kind::string)) && probe_ &&
                              probe_->events.front()->kind == probe::Kind::tracepoint && is_argument(*e.operand);
    if (is_in_record) return types_.pointer(to->element, type::Space::kernel); // of the kernel, which wrote it
  }
  if (to->is_integer()) {
    if (from->is_integer() || from->is(Kind::pointer)) return fold_cast(e, to);
    if (from->is(Kind::floating) && from->is_scalar()) return to;
    if (from->is(Kind::array) && from->element->is_integer() && from->size == to->size) return to;
    if (from->is(Kind::array))
      return mistake(tag::bad_cast, e.where,
                     "can't cast " + text(from) + " to " + text(to) + ": their sizes differ");
  }
  if (to->is(Kind::array) && to->element->is_integer()) {
    bool literal = e.operand->constant.kind == Constant::integer && to->size <= 8;
    bool bytes = from->is_integer() || from->is(Kind::array);
    if (bytes && (from->size == to->size || literal)) return to;
    if (bytes)
      return mistake(tag::bad_cast, e.where,
                     "can't cast " + text(from) + " to " + text(to) + ": their sizes differ");
    if (from->is(Kind::string) && to->element->size == 1) return to;
  }
  if (to->is(Kind::string) && from->is(Kind::string)) return to;
  if (to == from) return to;
  // An address as text or bytes: str() and buf() of so many.
  if ((to->is(Kind::string) || to->is(Kind::buffer)) && (from->is(Kind::pointer) || from->is(Kind::integer))) {
    Integer* size = program_.arena.make<Integer>(e.target->where);
    size->value = to->is(Kind::string) ? to->size : to->count;
    check(*size);
    e.operand = in_call(to->is(Kind::string) ? "str" : "buf", *e.operand, size);
    return to;
  }
  std::string hint;
  if (to->is(Kind::structure) && (from->is_integer() || from->is(Kind::pointer)))
    hint = "a pointer can be cast: `*(" + text(to) + " *)…`";
  return mistake(tag::bad_cast, e.where, "can't cast " + text(from) + " to " + text(to), std::move(hint));
}

const type::Type* Checker::fold_cast(Cast& e, const type::Type* to) {
  if (e.operand->constant.kind != Constant::integer) return to;
  auto v = static_cast<uint64_t>(e.operand->constant.integer_value);
  unsigned unused = 64 - to->size * 8;
  int64_t kept = to->is_signed ? static_cast<int64_t>(v << unused) >> unused
                               : static_cast<int64_t>(unused ? v << unused >> unused : v);
  set_integer(e, to->is(Kind::boolean) ? v != 0 : kept);
  return to;
}

} // namespace lang
