// Builtins that are decided when the script is compiled: parameters, assertions, what is known of the machine.
#include "lang/checker.h"

#include "base/text.h"
#include "host/environment.h"
#include "lang/walk.h"
#include "type/format_string.h"

#include <algorithm>
#include <sys/stat.h>

namespace lang {

using type::Kind;
using namespace spec;

const type::Type* Checker::check_getopt(Call& e) {
  std::string_view name = e.arguments[0]->constant.text_value;
  const std::string* given = nullptr;
  for (auto& [key, value] : options_.named)
    if (key == name) given = &value;
  const Expr* fallback = e.arguments.size() > 1 ? e.arguments[1] : nullptr;
  if (tells()) {
    std::string shown = !fallback ? "false"
                        : fallback->constant.kind == Constant::text
                            ? std::string(fallback->constant.text_value)
                            : std::to_string(fallback->constant.integer_value);
    std::string help = e.arguments.size() > 2 ? std::string(e.arguments[2]->constant.text_value) : "";
    bool known = std::any_of(parameters_.begin(), parameters_.end(), [&](auto& p) { return p.name == name; });
    if (!known) parameters_.push_back({std::string(name), shown, help});
  }
  auto wrong = [&](std::string_view wanted) {
    return mistake(tag::bad_parameter, e.where,
                   "--" + std::string(name) + "=" + *given + ": this parameter takes " + std::string(wanted));
  };
  if (!fallback || fallback->type->is(Kind::boolean)) {
    bool value = fallback && fallback->constant.integer_value;
    if (given) {
      const std::optional<bool> flag = given->empty() ? true : base::parse_boolean(*given);
      if (!flag) return wrong("true or false");
      value = *flag;
    }
    set_integer(e, value);
    return types_.boolean();
  }
  if (fallback->constant.kind == Constant::text) {
    std::string_view value = given ? types_.keep(*given) : fallback->constant.text_value;
    set_text(e, value);
    return types_.string(static_cast<uint32_t>(value.size()) + 1);
  }
  if (fallback->constant.kind != Constant::integer)
    return mistake(tag::bad_argument, fallback->where, "the default of a parameter must be a literal");
  int64_t value = fallback->constant.integer_value;
  if (given) {
    bool negative = given->starts_with("-");
    auto number = base::parse_integer(std::string_view(*given).substr(negative));
    if (!number) return wrong("a number");
    value = static_cast<int64_t>(negative ? 0 - *number : *number);
  }
  const bool is_large = value < 0 && !(given ? given->starts_with("-") : fallback->type->is_signed); // no int64 holds it
  set_integer(e, value);
  e.adapts = !is_large;
  return is_large ? types_.uint64() : types_.int64();
}

void Checker::check_static_assert(Call& e) {
  const Constant& c = e.arguments[0]->constant;
  if (c.kind != Constant::integer)
    error(tag::bad_argument, e.arguments[0]->where,
          "static_assert needs a condition that is known when the script is compiled");
  else if (!c.integer_value)
    error(tag::user_failure, e.where, std::string(e.arguments[1]->constant.text_value));
}

// fail(format, …)
void Checker::check_fail(Call& e) {
  std::string problem, message;
  size_t next = 1;
  for (const type::Conversion& c : type::parse_format(e.arguments[0]->constant.text_value, problem)) {
    message += c.text;
    if (!c.conversion || next >= e.arguments.size()) continue;
    const Constant& value = e.arguments[next++]->constant;
    message +=
        value.kind == Constant::text ? std::string(value.text_value) : std::to_string(value.integer_value);
  }
  error(tag::user_failure, e.where, message);
}

const type::Type* Checker::check_cgroup_id(Call& e) {
  struct stat st = {};
  std::string path(e.arguments[0]->constant.text_value);
  if (!machine_.host().is_this_host())
    return mistake(tag::unresolved, e.arguments[0]->where, "the ids of control groups are not known of a saved host",
                   "give the number: a parameter of the script can hold it");
  if (::stat(path.c_str(), &st) != 0)
    return mistake(tag::unresolved, e.arguments[0]->where, "there is no cgroup at " + path);
  set_integer(e, static_cast<int64_t>(st.st_ino));
  return nullptr;
}

const type::Type* Checker::check_in_cgroup(Call& e) {
  const std::string_view path = e.arguments[0]->constant.text_value;
  if (!path.starts_with('/'))
    return mistake(tag::bad_argument, e.arguments[0]->where, "the path of a control group starts with `/`, the root of the hierarchy",
                   "such as in_cgroup(\"/system.slice\"); `acu sql \"select path from cgroups\"` lists them");
  ask_for_groups({spec::GroupSet::subtree, std::string(path)});
  return nullptr;
}

void Checker::ask_for_groups(spec::GroupSet set) {
  if (std::ranges::find(program_.group_sets, set) == program_.group_sets.end()) program_.group_sets.push_back(std::move(set));
}

// container == "web", cgroup_path == "/a"
std::optional<GroupComparison> group_comparison(const Binary& e) {
  for (const auto& [side, other] : {std::pair(e.left, e.right), std::pair(e.right, e.left)}) {
    if (other->constant.kind != Constant::text) continue;
    const Name* name = if_a<Name>(side);
    const Call* call = if_a<Call>(side);
    const spec::Builtin* row = name ? name->builtin : call ? call->builtin : nullptr;
    if (!row || (call && call->arguments.size() > 1)) continue; // with a filter: of any hierarchy
    const Expr* id = call && !call->arguments.empty() ? call->arguments[0] : nullptr;
    const std::string text(text_of(*other));
    if (spec::id_of(*row) == spec::id("container")) return GroupComparison{id, {spec::GroupSet::container, text}};
    if (spec::id_of(*row) == spec::id("cgroup_path"))
      return GroupComparison{id, {spec::GroupSet::path, text.starts_with("unified:") ? text.substr(8) : text}};
  }
  return std::nullopt;
}

// config: a record of the keys; `config.KEY` is a constant.
const type::Type* Checker::check_config(Expr&) {
  std::vector<const type::Type*> elements;
  std::vector<std::string_view> names;
  for (const ConfigKey& key : config_keys) {
    names.push_back(key.name);
    elements.push_back(key.kind == ConfigKind::number    ? types_.uint64()
                       : key.kind == ConfigKind::boolean ? types_.boolean()
                                                         : types_.string(static_cast<uint32_t>(program_.config.text(key.name).size()) + 1));
  }
  return types_.record(elements, names);
}

// ------------------------------------------------------------------------------------ typeinfo, comptime

static std::string_view kind_text(const type::Type& t) {
  switch (t.kind) {
  case Kind::none: return "void";
  case Kind::integer: return "int";
  case Kind::floating: return "float";
  case Kind::kstack: return "kstack_t";
  case Kind::ustack: return "ustack_t";
  case Kind::stack: return "stack_t";
  default: return type::kind_name(t);
  }
}

const type::Type* Checker::check_type_text(TypeText& e) {
  const type::Type* t = e.target ? resolve(*e.target) : check_for_type(*e.operand);
  const bool is_void = e.target && !e.target->of && e.target->name == "void";
  if (t->is(Kind::none) && !is_void) {
    if (e.operand) refuse_without_value(*e.operand);
    return t;
  }
  return literal(e, e.is_kind ? std::string(kind_text(*t)) : is_void ? "void" : text(t));
}

bool is_known(const Expr& e) {
  const Tuple* t = if_a<Tuple>(&e);
  if (t) return std::all_of(t->elements.begin(), t->elements.end(), [](const Expr* x) { return is_known(*x); });
  return e.constant.kind != Constant::none;
}

const type::Type* Checker::check_comptime(Comptime& e) {
  const type::Type* t = check_value(*e.operand);
  e.constant = e.operand->constant;
  e.adapts = e.operand->adapts;
  if (t->is(Kind::none) || is_known(*e.operand)) return t;
  return mistake(tag::bad_operand, e.where, "`comptime` needs a value that is known when the script is compiled");
}

// Whether the answer depends on types that the rest of the script may still change.
static bool asks_for_types(const Expr& e) {
  bool found = false;
  walk(&e, [&](const Expr& x) {
    const Call* call = if_a<Call>(&x);
    found |= x.kind == ExprKind::variable || x.kind == ExprKind::map || (call && !call->builtin);
  });
  return found;
}

// Whether the type of something in it is not known yet.
static bool is_open(const Expr& e) {
  bool found = false;
  walk(&e, [&](const Expr& x) {
    const VariableRef* v = if_a<VariableRef>(&x);
    const MapRef* m = if_a<MapRef>(&x);
    found |= (v && (!v->variable || !v->variable->type)) || (m && !m->map->value);
  });
  return found;
}

// A condition: its constant says from then on which branch is taken. What depends on types is decided only once all
// that can be learned without it is known; the branch that is taken may teach more, but not change the answer.
bool Checker::decide(Comptime& e) {
  const Constant now = e.constant;
  const bool is_answer = now.kind == Constant::integer;
  if (e.decided.kind == Constant::none) {
    if (is_answer && !asks_for_types(*e.operand)) {
      e.decided = now;
    } else {
      if (is_answer && decides_ && !is_open(*e.operand)) e.decided = now, changed_ = true;
      waits_ = true;
      kept_silent_ = true;
      return false;
    }
  }
  if (is_answer && (now.integer_value != 0) != (e.decided.integer_value != 0))
    error(tag::unresolved, e.where, "the branch that was taken here changes the answer: a type that the condition asks for",
          "give the variable its type before: `let $x : uint64`");
  e.constant = e.decided;
  return true;
}

} // namespace lang
