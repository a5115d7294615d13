// Builtins as Python: the functions of the run time.
#include "emit/debugger.h"

#include "lang/walk.h"
#include "spec/builtins.h"
#include "type/format_string.h"

namespace emit {

using namespace lang;
using type::Kind;

static const Expr& argument(const Expr& e, size_t i) { return *as<Call>(e).arguments[i]; }
static size_t count_of(const Expr& e) { return arguments_of(e).size(); }

std::string DebuggerScript::builtin_number(const Expr& e, std::string_view name) {
  auto first = [&] { return without_parentheses(raw(argument(e, 0))); };
  auto map = [&](size_t i) -> const MapRef& { return as<MapRef>(argument(e, i)); };
  if (name == "pid" || name == "tid") return "here." + std::string(name);
  if (name == "uid" || name == "gid") return "the_program()." + std::string(name);
  if (name == "reg") return "register(" + python_string(argument(e, 0).constant.text_value) + ")";
  if (name == "uaddr") return program_value(e, true);
  if (name == "uptr" || name == "kptr") return number(argument(e, 0));
  if (name == "valid") return "is_valid(" + first() + ")";
  if (name == "chunk" || name == "chunk_size" || name == "next_chunk" || name == "next_area" || name == "area_end") {
    uses_heap_ = true;
    return std::string(name) + "(" + first() + ")";
  }
  if (name == "bswap") return "swapped(" + number(argument(e, 0)) + ", " + std::to_string(e.type->size) + ")";
  if (name == "container_of") return "u64(" + raw(argument(e, 0)) + " - " + number(argument(e, 1)) + ")";
  if (name == "strlen") return "len(" + without_parentheses(text(argument(e, 0))) + ")";
  if (name == "strstr") return "found_in(" + text(argument(e, 0)) + ", " + text(argument(e, 1)) + ")";
  if (name == "strcontains") return "(" + text(argument(e, 1)) + " in " + text(argument(e, 0)) + ")";
  if (name == "strncmp") return "difference(" + text(argument(e, 0)) + ", " + text(argument(e, 1)) + ", " + number(argument(e, 2)) + ")";
  if (name == "has_key") {
    const MapRef& m = map(0);
    return "(" + key(*m.map, &argument(e, 1)) + " in " + names_.of(*m.map) + ")";
  }
  if (name == "len") return "len(" + (argument(e, 0).kind == ExprKind::map && !argument(e, 0).type->size ? names_.of(*map(0).map) : value(argument(e, 0))) + ")";
  if (name == "delete") {
    const MapRef& m = map(0);
    const Expr* which = count_of(e) > 1 ? &argument(e, 1) : m.key;
    return names_.of(*m.map) + ".delete(" + (which ? without_parentheses(key(*m.map, which)) : "") + ")";
  }
  if (name == "find") {
    const MapRef& m = map(0);
    const Variable& v = *as<VariableRef>(argument(e, 2)).variable;
    const std::string k = spill("key", key(*m.map, &argument(e, 1))), found = spill("found", "int(" + k + " in " + names_.of(*m.map) + ")");
    if (v.where.begin == argument(e, 2).where.begin) out_.line(names_.of(v) + " = " + zero_of(*v.type));
    out_.open("if " + found + ":");
    out_.line(names_.of(v) + " = " + names_.of(*m.map) + ".get(" + k + ")");
    out_.close_level();
    return found;
  }
  return refuse(e.where, "`" + std::string(name) + "`", "it has no counterpart");
}

std::string DebuggerScript::builtin_text(const Expr& e, std::string_view name) {
  if (name == "comm") return "here.comm";
  if (name == "func") return "here.function";
  if (name == "probe") return python_bytes(e.constant.text_value);
  if (name == "str_concat")
    return "joined(" + text(argument(e, 0)) + ", " + text(argument(e, 1)) + ", " + std::to_string(e.type->size - 1) + ")";
  if (name != "str") return refuse(e.where, "`" + std::string(name) + "`", "it has no counterpart");
  const Expr& from = argument(e, 0);
  const uint32_t room = std::max(1u, e.type->size);
  const Expr* length = count_of(e) > 1 && argument(e, 1).constant.kind != Constant::integer ? &argument(e, 1) : nullptr;
  const bool marks = !cuts_as_asked(as<Call>(e), job_.program.config);
  if (from.type->is(Kind::string) || from.constant.kind == Constant::text) {
    const std::string limit = length ? "min(" + number(*length) + ", " + std::to_string(room - 1) + ")" : std::to_string(room - 1);
    return from.type->size <= room && !length ? text(from) : text(from) + "[:" + limit + "]";
  }
  if (!from.type->is_scalar()) {
    if (from.type->is(Kind::buffer)) return value(from) + ".split(b\"\\0\", 1)[0]";
    if (!is_in_memory(from)) return bytes(from) + ".split(b\"\\0\", 1)[0]";
    return "text_in(" + without_parentheses(place(from)) + ", " + std::to_string(from.type->size) + ", " + std::to_string(room - 1) + ")";
  }
  std::string most = std::to_string(room - 1);
  if (length) most = "max(min(" + without_parentheses(number(*length)) + " - 1, " + most + "), 0)";
  return "text_at(" + without_parentheses(raw(from)) + ", " + most + (marks && !length ? ", True)" : ")");
}

std::string DebuggerScript::builtin_value(const Expr& e, std::string_view name) {
  if (name == "usym") {
    uses_symbols_ = true;
    return "u64(" + without_parentheses(raw(argument(e, 0))) + ")";
  }
  if (name == "ustack" || name == "dw_ustack") {
    uses_symbols_ = true;
    const bool is_whole = e.type->count >= type::most_frames(Kind::ustack, e.type->by_frame_pointers);
    return "stack_of(" + std::to_string(is_whole ? 0 : e.type->count) + ")";
  }
  if (name == "buf") {
    const Expr& from = argument(e, 0);
    std::string size = std::to_string(e.type->count);
    if (count_of(e) > 1) {
      const Expr& wanted = argument(e, 1);
      size = wanted.constant.kind == Constant::integer ? number(wanted) : "min(" + without_parentheses(number(wanted)) + ", " + size + ")";
    }
    if (from.type->is(Kind::string) || from.constant.kind == Constant::text) return text(from) + "[:" + size + "]";
    if (!from.type->is_scalar() && !is_in_memory(from)) return bytes(from) + "[:" + size + "]";
    const std::string at = without_parentheses(from.type->is_scalar() ? raw(from) : place(from));
    return (in_try_ ? "bytes_at(" : "buffer_at(") + at + ", " + size + ")";
  }
  return refuse(e.where, "`" + std::string(name) + "`", "it has no counterpart");
}

// ---------------------------------------------------------------------------------------------------- output

static bool prints_plainly(const type::Type& t) {
  return t.is(Kind::integer) || t.is(Kind::string) || t.is(Kind::probe_name) || (t.is_castable_aggregation() && !t.is(Kind::stats));
}

std::string DebuggerScript::shown(const Expr& e) {
  const Type& t = *e.type;
  where_ = e.where;
  if (prints_plainly(t)) return without_parentheses(value(e));
  return "Shown(" + type_text(t) + ", " + without_parentheses(value(e)) + ")";
}

void DebuggerScript::print_formatted(const Call& c) {
  std::string error;
  const std::vector<type::Conversion> pieces = type::parse_format(c.arguments[0]->constant.text_value, error);
  std::string line = std::string(c.name) + "(" + python_bytes(c.arguments[0]->constant.text_value);
  size_t next = 1;
  std::vector<std::string> values;
  for (const type::Conversion& p : pieces) {
    if (!p.conversion || next >= c.arguments.size()) continue;
    const Expr& e = *c.arguments[next++];
    const bool is_number = std::string_view("diuxXocpfFeEgG").find(p.conversion) != std::string_view::npos;
    if (p.variant == 'g' || p.conversion == 'a' || p.conversion == 'A') {
      refuse(e.where, std::string("%") + p.conversion, "the run time has no such conversion");
      return;
    }
    values.push_back(is_number && e.type->is_scalar() ? without_parentheses(number(e)) : p.conversion == 'r' ? without_parentheses(value(e)) : shown(e));
    // Values are evaluated in order.
    if (next < c.arguments.size() && needs_statement(c.arguments[next]) && e.constant.kind == Constant::none) values.back() = spill("value", values.back());
  }
  for (const std::string& v : values) line += ", " + v;
  out_.line(line + ")");
}

void DebuggerScript::aggregate(const MapRef& m, const Call& c) {
  const std::string name = names_.of(*m.map);
  std::string n = c.arguments.empty() ? "" : m.map->value->is(Kind::hist) || m.map->value->is(Kind::lhist) ? without_parentheses(raw(*c.arguments[0]))
                                                                                                        : without_parentheses(sided(*c.arguments[0], m.map->value->is_signed));
  if (!n.empty() && needs_statement(m.key)) n = spill("value", n);
  out_.line(name + ".add(" + without_parentheses(key(*m.map, m.key)) + (n.empty() ? "" : ", " + n) + ")");
}

bool DebuggerScript::run_builtin(const Call& c) {
  const std::string_view name = c.builtin->name;
  if (name == "printf" || name == "errorf" || name == "warnf") {
    print_formatted(c);
  } else if (name == "print") {
    const MapRef* m = if_a<MapRef>(c.arguments[0]);
    if (m && m->key && m->type->is_aggregation()) {
      out_.line(names_.of(*m->map) + ".print_entry(" + without_parentheses(key(*m->map, m->key)) + ")");
    } else if (!m || m->key) {
      out_.line("show(" + shown(*c.arguments[0]) + ")");
    } else {
      std::string more;
      for (size_t i = 1; i < c.arguments.size(); i++) more += (i > 1 ? ", " : "") + number(*c.arguments[i]);
      out_.line(names_.of(*m->map) + ".print(" + more + ")");
    }
  } else if (name == "clear" || name == "zero") {
    out_.line(names_.of(*as<MapRef>(*c.arguments[0]).map) + "." + std::string(name) + "()");
  } else if (name == "exit") {
    out_.line("raise Exit(" + (c.arguments.empty() ? "" : without_parentheses(number(*c.arguments[0]))) + ")");
  } else if (name == "delete") {
    out_.line(builtin_number(c, name));
  } else {
    return false;
  }
  return true;
}

} // namespace emit
