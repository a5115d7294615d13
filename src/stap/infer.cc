// Which variables are local, and whether they and the results of functions are numbers or texts: SystemTap infers it as well.
#include "stap/lowering.h"

#include "base/text.h"
#include "stap/walk.h"

#include <algorithm>

namespace stap {

namespace {

bool is_text(Kind k) { return k == Kind::text || k == Kind::symbol; }

// Of two assignments to one variable: texts and numbers don't mix in SystemTap, so the first that is known decides.
Kind merged(Kind before, Kind now) {
  if (now == Kind::unknown) return before;
  if (now == Kind::narrow || now == Kind::truth) now = Kind::number;
  return before == Kind::unknown ? now : before;
}

constexpr std::string_view text_functions[] = {"sprintf", "sprint", "sprintln", "sprintd", "sprintdln", "thread_indent", "tokenize", "str_replace"};

} // namespace

void Lowering::collect_locals(Scope& scope, const std::vector<const Statement*>& bodies) {
  const auto add = [&](const std::string& name) {
    if (!name.empty() && !is_global(name) && !scope.parameters.contains(name)) scope.locals.insert(name);
  };
  for (const Statement* body : bodies)
    walk(
        body,
        [&](const Node& n) {
          if ((n.kind == NodeKind::assign || n.kind == NodeKind::increment) && n.parts[0]->kind == NodeKind::name) add(n.parts[0]->text);
        },
        [&](const Each& each) {
          for (const Node* key : each.keys) add(key->text);
          add(each.value);
        });
}

std::optional<size_t> Lowering::variable_row(std::string_view name, const Context& context) const {
  if (context.kind != ContextKind::tapset) return {};
  for (size_t i = 0; i < variable_rows.size(); i++)
    if (const VariableRow row = variable_rows[i]; row.name == name && base::glob_match(row.probe, context.name)) return i;
  return {};
}

Kind Lowering::kind_of_call(const Node& n, const Scope& scope) const {
  if (base::is_one_of(text_functions, n.text)) return Kind::text;
  if (const auto own = function_kinds_.find(n.text); own != function_kinds_.end()) return own->second;
  for (const FunctionRow& f : functions)
    if (f.name == n.text) return f.kind;
  (void)scope;
  return Kind::number;
}

Kind Lowering::kind_of(const Node& n, const Scope& scope) const {
  switch (n.kind) {
  case NodeKind::integer: return n.value <= INT32_MAX ? Kind::narrow : Kind::number;
  case NodeKind::text: return Kind::text;
  case NodeKind::argument: return n.is_text ? Kind::text : Kind::number;
  case NodeKind::name: {
    if (const auto local = scope.kinds.find(n.text); local != scope.kinds.end()) return local->second;
    if (const auto global = global_kinds_.find(n.text); global != global_kinds_.end()) return global->second;
    if (const auto row = variable_row(n.text, scope.context)) return variable_rows[*row].kind;
    constexpr std::string_view texts[] = {"name", "filename", "pathname", "path", "oldname", "newname", "oldpath", "newpath"};
    const bool is_call = scope.context.kind == ContextKind::syscall || scope.context.kind == ContextKind::raw_syscall;
    if (!is_call || scope.locals.contains(n.text)) return Kind::unknown;
    return n.text == "argstr" ? Kind::symbol : base::is_one_of(texts, n.text) ? Kind::text : Kind::unknown;
  }
  case NodeKind::index: return array_of(n) ? kind_of(*n.parts[0], scope) : Kind::number;
  case NodeKind::call: return kind_of_call(n, scope);
  case NodeKind::binary: {
    constexpr std::string_view truths[] = {"&&", "||", "==", "!=", "<", ">", "<=", ">=", "=~", "!~"};
    return n.text == "." ? Kind::text : base::is_one_of(truths, n.text) ? Kind::truth : Kind::number;
  }
  case NodeKind::unary: return n.text == "!" ? Kind::truth : Kind::number;
  case NodeKind::contained: return Kind::truth;
  case NodeKind::ternary: return std::max(kind_of(*n.parts[1], scope), kind_of(*n.parts[2], scope));
  case NodeKind::assign: return kind_of(*n.parts[1], scope);
  case NodeKind::target: return n.text.starts_with('$') || n.text.ends_with('$') ? Kind::symbol : Kind::number;
  case NodeKind::operation: return n.text.starts_with("hist") ? Kind::symbol : n.text == "defined" ? Kind::truth : n.text == "choose_defined" && !n.parts.empty() ? kind_of(*n.parts[0], scope) : Kind::number;
  default: return Kind::number;
  }
}

// One round; whether something new is known.
bool Lowering::infer_scope(Scope& scope, const std::vector<const Statement*>& bodies) {
  bool is_new = false;
  const auto set = [&](Kind& to, Kind now) {
    const Kind after = merged(to, now);
    is_new |= after != to;
    to = after;
  };
  const auto set_name = [&](const std::string& name, Kind now) {
    if (scope.locals.contains(name) || scope.parameters.contains(name))
      set(scope.kinds[name], now);
    else if (is_global(name))
      set(global_kinds_[name], now);
  };
  const auto set_keys = [&](const std::string& array, const std::vector<Node*>& parts, size_t from, size_t to) {
    std::vector<Kind>& kinds = key_kinds_[array];
    for (size_t i = from; i < to; i++) {
      if (kinds.size() <= i - from) kinds.resize(i - from + 1);
      set(kinds[i - from], kind_of(*parts[i], scope));
    }
  };
  const auto each = [&](const Each& e) {
    const Node* array = array_of(*e.array);
    if (!array) return;
    const std::vector<Kind>& kinds = key_kinds_[array->text];
    for (size_t i = 0; i < e.keys.size() && i < kinds.size(); i++) set_name(e.keys[i]->text, kinds[i]);
    if (!e.value.empty()) set_name(e.value, global_kinds_[array->text]);
  };
  const auto visit = [&](const Node& n) {
    if (n.kind == NodeKind::index && n.parts[0] && array_of(n)) set_keys(n.parts[0]->text, n.parts, 1, n.parts.size());
    if (n.kind == NodeKind::contained && n.parts.back()->kind == NodeKind::name) set_keys(n.parts.back()->text, n.parts, 0, n.parts.size() - 1);
    if (n.kind == NodeKind::assign && array_of(*n.parts[0])) set_name(array_of(*n.parts[0])->text, n.text == ".=" ? Kind::text : kind_of(*n.parts[1], scope));
    if (n.kind == NodeKind::increment && array_of(*n.parts[0])) set_name(array_of(*n.parts[0])->text, Kind::number);
    // Operands of `.` and of comparisons with a text are texts, also keys of foreach.
    if (n.kind == NodeKind::binary && (n.text == "." || n.text == "=~"))
      for (const Node* part : n.parts)
        if (part->kind == NodeKind::name && kind_of(*part, scope) == Kind::unknown) set_name(part->text, Kind::text);
    if (n.kind != NodeKind::call) return;
    // Arguments tell the types of parameters.
    for (auto& [f, inner] : function_scopes_)
      if (f->name == n.text)
        for (size_t i = 0; i < f->parameters.size() && i < n.parts.size(); i++) {
          const Kind now = kind_of(*n.parts[i], scope);
          if (f->parameters[i].type.empty()) set(inner.kinds[f->parameters[i].name], is_text(now) ? Kind::text : now);
        }
  };
  std::function<void(const Statement*)> results = [&](const Statement* s) {
    if (!s) return;
    if (s->kind == StatementKind::give_back && s->value && scope.function) {
      Kind& to = function_kinds_[scope.function->name];
      const Kind now = kind_of(*s->value, scope);
      if (to == Kind::nothing) to = Kind::unknown;
      set(to, is_text(now) ? Kind::text : now);
    }
    for (const Statement* inner : s->list) results(inner);
    results(s->body), results(s->otherwise);
  };
  for (const Statement* body : bodies) {
    walk(body, visit, each);
    results(body);
  }
  return is_new;
}

void Lowering::infer() {
  const auto kind_named = [](std::string_view type) { return type == "string" ? Kind::text : type == "long" ? Kind::number : Kind::unknown; };
  for (const Function& f : script_.functions) {
    Scope& scope = function_scopes_[&f];
    scope.function = &f;
    for (const Parameter& p : f.parameters) {
      scope.parameters.insert(p.name);
      if (!p.type.empty()) scope.kinds[p.name] = kind_named(p.type);
    }
    collect_locals(scope, {f.body});
    // Without `return e` it has no result.
    bool has_result = false;
    std::function<void(const Statement*)> look = [&](const Statement* s) {
      if (!s) return;
      has_result |= s->kind == StatementKind::give_back && s->value;
      for (const Statement* inner : s->list) look(inner);
      look(s->body), look(s->otherwise);
    };
    look(f.body);
    function_kinds_[f.name] = !has_result ? Kind::nothing : kind_named(f.type);
  }
  for (int round = 0; round < 20; round++) {
    bool is_new = false;
    for (auto& [f, scope] : function_scopes_) is_new |= infer_scope(scope, {f->body});
    for (Unit& u : units_) is_new |= infer_scope(u.scope, u.bodies);
    if (!is_new) break;
  }
}

} // namespace stap
