// Builtins that send events: each is a row of Program::actions, and a record of its arguments' bytes.
#include "ir/lowering.h"

#include <algorithm>
#include <array>

namespace ir {

using namespace lang;

static constexpr uint32_t join_items = 16;

uint32_t Lowering::add_action(Action a) {
  a.where = where_;
  program_.actions.push_back(std::move(a));
  return static_cast<uint32_t>(program_.actions.size() - 1);
}

// Makes room for the record, lets `fill` write the payload, and sends it; without room the event is lost (and
// counted).
void Lowering::send(uint32_t action, const std::function<void(const Place&)>& fill) {
  const ActionKind kind = program_.actions[action].kind;
  const bool ends_script = kind == ActionKind::exit || kind == ActionKind::assert_failed;
  if (speculation_ != ~0u && !ends_script) return hold(action, fill);
  Reg record = fresh();
  BlockId room = new_block(), after = new_block();
  append({.op = Op::event, .dst = record, .imm2 = program_.actions[action].record_size(), .index = action});
  branch(Cond::ne, Operand::of(record), number(0), room, after);
  start(room);
  fill({Space::script, Operand::of(record), 8});
  append({.op = Op::send, .a = Operand::of(record), .index = action});
  jump(after);
  start(after);
}

// Nothing that could leave the probe may run between making room and sending; in a try, nothing that could leave that either.
static bool may_leave(const Expr& e, bool in_try) {
  bool found = false;
  lang::walk(&e, [&](const Expr& x) {
    const bool reads = x.kind == ExprKind::field || x.kind == ExprKind::index || x.kind == ExprKind::call || x.kind == ExprKind::unary;
    found |= x.kind == ExprKind::block || x.kind == ExprKind::conditional || (in_try && reads) ||
             (x.kind == ExprKind::call && static_cast<const Call&>(x).function);
  });
  return found;
}

// Whether output is of a user's script beside acu's own.
bool Lowering::is_users(base::Range where) const {
  return std::ranges::any_of(source_.users_texts, [&](base::Range text) { return text.begin <= where.begin && where.begin <= text.end; });
}

void Lowering::send_values(Action a, List<Expr*> values) {
  std::vector<const Type*> elements;
  for (const Expr* e : values) elements.push_back(as_word(e->type));
  a.is_users = (a.kind == ActionKind::printf || a.kind == ActionKind::print_value) && is_users(where_);
  std::array<Operand, stamp_fields> stamp;
  if (a.is_users) {
    stamp = {query(Query::ktime), query(Query::pid_tgid), emit(Op::zext, query(Query::cpu), {}, 4)};
    elements.insert(elements.end(), {types_.uint64(), types_.uint64(), types_.uint64()});
  }
  const bool is_stamped = a.is_users;
  a.payload = types_.tuple(elements);
  std::vector<Operand> numbers(values.size());
  std::vector<std::optional<Place>> made(values.size());
  for (size_t i = 0; i < values.size(); i++) {
    if (elements[i]->is_scalar())
      numbers[i] = scalar(*values[i]);
    else if (may_leave(*values[i], recovery_.block != no_block) || context_ == probe::Context::iterator) // see need_object()
      made[i] = temporary(*values[i], *elements[i]);
  }
  const Type& payload = *a.payload;
  send(add_action(std::move(a)), [&](const Place& to) {
    const Recovery outer = std::exchange(recovery_, {}); // what a builtin like `ppid` cannot read is 0, also in a try
    for (size_t i = 0; i < values.size(); i++) {
      Place at = to.plus(payload.fields()[i].offset);
      if (elements[i]->is_scalar())
        store(at, numbers[i], std::max(1u, elements[i]->size));
      else if (made[i])
        copy(at, *made[i], elements[i]->size);
      else
        into(*values[i], at, *elements[i], false);
    }
    for (size_t i = values.size(); is_stamped && i < elements.size(); i++) store(to.plus(payload.fields()[i].offset), stamp[i - values.size()], 8);
    recovery_ = outer;
  });
}

// join(list): up to 16 strings of an argv-like list.
void Lowering::send_list(const Call& c) {
  const Expr& list = *c.arguments[0];
  Action a{.kind = ActionKind::join};
  a.text = c.arguments.size() > 1 ? std::string(c.arguments[1]->constant.text_value) : " ";
  a.items = join_items;
  a.string_size = static_cast<uint32_t>(std::min<uint64_t>(source_.config.number("max_strlen"), 1024));
  uint32_t size = a.string_size;
  bool is_array = list.type->is(Kind::array);
  Space space = is_array ? Space::script : pointer_space(list) == Space::user ? Space::user : Space::kernel;
  Operand base = is_array ? address(temporary(list, *list.type)) : scalar(list);
  uint32_t items = is_array ? std::min(join_items, list.type->count) : join_items;
  Space text_space = is_array ? Space::kernel : space;
  send(add_action(std::move(a)), [&](const Place& to) {
    BlockId done = new_block();
    store(to, number(0), 8);
    for (uint32_t i = 0; i < items; i++) {
      Operand text = load_word({space, base, 8 * i}, 8, false);
      BlockId more = new_block();
      branch(Cond::ne, text, number(0), more, done);
      start(more);
      read_text(to.plus(8 + static_cast<int64_t>(i) * size), size, text, text_space, {}, false);
      store(to, number(i + 1), 4);
    }
    jump(done);
    start(done);
  });
}

// print(@m[key]) of what stands in parts on several CPUs: the engine puts them together when the record arrives.
void Lowering::send_entry(const MapRef& m) {
  const Map& map = map_of(m);
  const Type* elements[] = {map.key};
  Place made = temporary(*m.key, *map.key);
  uint32_t action =
      add_action({.kind = ActionKind::print_entry, .payload = types_.tuple(elements), .map = m.map->id});
  send(action, [&](const Place& to) { copy(to, made, map.key->size); });
}

// exit([status])
void Lowering::send_exit(const Call& c) {
  Operand status = c.arguments.empty() ? number(0) : scalar(*c.arguments[0]);
  const Type* elements[] = {types_.int64()};
  int64_t known = status.is_constant() ? status.value : 0;
  uint32_t action = add_action({.kind = ActionKind::exit, .payload = types_.tuple(elements), .status = known});
  send(action, [&](const Place& to) { store(to, status, 8); });
  leave_probe();
}

void Lowering::send_unwatch(const Call& c) {
  const Type* elements[] = {types_.uint64()};
  Operand watched = scalar(*c.arguments[0]);
  uint32_t action = add_action({.kind = ActionKind::unwatch, .payload = types_.tuple(elements)});
  send(action, [&](const Place& to) { store(to, watched, 8); });
}

// Whether there are stacks in the keys of a map, and its values can be added up.
static bool is_flame(const lang::Map& map) {
  auto is_stack = [](const Type& t) { return t.is(Kind::kstack) || t.is(Kind::ustack) || t.is(Kind::stack); };
  if (!map.key || !map.value) return false;
  bool found = is_stack(*map.key);
  if (map.key->is(Kind::tuple))
    for (const type::Field& f : map.key->fields()) found |= is_stack(*f.type);
  const Type& v = *map.value;
  return found && (v.is_integer() || v.is(Kind::count) || v.is(Kind::sum) || v.is(Kind::avg) || v.is(Kind::stats));
}

// printf and its kin: the format, and a record of the values.
void Lowering::send_formatted(ActionKind kind, const Call& c) {
  Action a = {.kind = kind, .text = std::string(c.arguments[0]->constant.text_value)};
  if (kind == ActionKind::errorf || kind == ActionKind::warnf)
    for (const MacroUse* use = c.expanded; use; use = use->outer) a.expanded_at.push_back(use->where);
  where_ = c.where;
  send_values(std::move(a), c.arguments.subspan(1));
}

// Nobody takes the records of a program that stays behind.
void Lowering::refuse_in_file(const Call& c) {
  diagnostics_.error(spec::tag::misplaced, c.where,
                     "`" + std::string(c.name) + "` can't be used in an iterator that stays when acu ends",
                     "what it tells is the text of its file: printf() writes that");
}

// Where it stays behind: the text of its file.
void Lowering::print_formatted(const Call& c) {
  if (is_pinned_) return print_text(c.arguments[0]->constant.text_value, c.arguments.subspan(1));
  send_formatted(ActionKind::printf, c);
}

void Lowering::send_map_action(ActionKind kind, const Call& c) {
  send(add_action({.kind = kind, .map = as<MapRef>(*c.arguments[0]).map->id}), [](const Place&) {});
}

void Lowering::send_flame(const Call& c) {
  auto text = [&](size_t i) { return std::string(c.arguments[i]->constant.text_value); };
  const lang::Map& map = *as<MapRef>(*c.arguments[0]).map;
  if (!is_flame(map))
    diagnostics_.error(spec::tag::bad_map_use, c.arguments[0]->where,
                       "`flame` takes a map with a stack in its keys, and numbers for values",
                       "such as @[comm, ustack] = count()");
  send(add_action({.kind = ActionKind::flame,
                   .text = text(1) + std::string(1, '\0') + (c.arguments.size() > 2 ? text(2) : std::string()),
                   .map = map.id}),
       [](const Place&) {});
}

void Lowering::send_time(const Call& c) {
  std::string format = c.arguments.empty() ? "%H:%M:%S\n" : std::string(c.arguments[0]->constant.text_value);
  send(add_action({.kind = ActionKind::time, .text = format}), [](const Place&) {});
}

void Lowering::send_assert(const Call& c) {
  BlockId fine = new_block(), failed = new_block();
  condition(*c.arguments[0], fine, failed);
  start(failed);
  send(add_action({.kind = ActionKind::assert_failed, .text = std::string(c.arguments[1]->constant.text_value)}),
       [](const Place&) {});
  leave_probe();
  start(fine);
}

// print(value), print(map [, top [, div]])
void Lowering::send_print(const Call& c) {
  const MapRef* m = if_a<MapRef>(c.arguments[0]);
  if (m && m->key && m->type->is_aggregation()) return send_entry(*m);
  if (!m || m->key) return send_values({.kind = ActionKind::print_value}, c.arguments.first(1));
  const Type* elements[] = {types_.int64(), types_.int64()};
  uint32_t action =
      add_action({.kind = ActionKind::print_map, .payload = types_.tuple(elements), .map = m->map->id});
  send(action, [&](const Place& to) {
    for (size_t i = 1; i <= 2; i++)
      store(to.plus(static_cast<int64_t>(i - 1) * 8),
            number(c.arguments.size() > i ? c.arguments[i]->constant.integer_value : 0), 8);
  });
}

} // namespace ir
