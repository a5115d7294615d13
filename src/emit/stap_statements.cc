// Statements of SystemTap: see stap_printer.h.
#include "emit/stap_printer.h"

#include "type/format_string.h"

#include <algorithm>

namespace emit {

using namespace lang;
using type::Kind;

// -------------------------------------------------------------------------------------------- statements

std::string StapPrinter::condition_not(const Expr& e) {
  const Binary* b = if_a<Binary>(&e);
  constexpr std::pair<BinaryOp, std::string_view> inverse[] = {{BinaryOp::eq, "!="}, {BinaryOp::ne, "=="}, {BinaryOp::lt, ">="}, {BinaryOp::le, ">"}, {BinaryOp::gt, "<="}, {BinaryOp::ge, "<"}};
  for (const auto& [op, text_of] : inverse)
    if (b && b->op == op) return text(*b->left, precedence_of(op)) + " " + std::string(text_of) + " " + text(*b->right, precedence_of(op) + 1);
  return "!" + text(e, prefix);
}

// The conversions of printf without lengths: numbers have 64 bits. A conversion of 32 bits prints the low ones.
std::string StapPrinter::printf_arguments(const Call& e) {
  std::string problem, format, out;
  size_t next = 1;
  for (const type::Conversion& c : type::parse_format(as<String>(*e.arguments[0]).value, problem)) {
    for (const char letter : c.text) format += letter == '%' ? std::string("%%") : std::string(1, letter);
    if (!c.conversion) continue;
    // `#` can't be combined with others there.
    std::string flags = c.flags;
    int width = c.width;
    if (const size_t at = flags.find('#'); at != flags.npos && (c.conversion == 'x' || c.conversion == 'X')) {
      flags.erase(at, 1);
      format += "0x";
      width = width > 2 ? width - 2 : width;
    }
    format += "%" + flags + (width >= 0 ? std::to_string(width) : "") + (c.precision >= 0 ? "." + std::to_string(c.precision) : "");
    const Expr& value = *e.arguments[next++];
    const bool is_number = c.conversion != 's';
    format += c.conversion == 'i' || c.conversion == 'u' ? 'd' : c.conversion;
    std::string word = text(value);
    if (!is_number && value.type && (value.type->is_integer() || value.type->is(Kind::pointer))) word = "sprintf(\"%d\", " + word + ")";
    out += ", " + word;
  }
  return quoted_text(format) + out;
}

void StapPrinter::append_value(std::string& format, std::string& arguments, const type::Type& t, const std::string& value) {
  const bool is_truth = t.is(Kind::boolean);
  format += is_truth || type_class(&t) == "text" ? "%s" : t.is(Kind::pointer) ? "0x%x" : "%d";
  arguments += ", " + (is_truth ? "(" + value + " ? \"true\" : \"false\")" : value);
}

void StapPrinter::print_map(const Map& m, int64_t most) {
  const std::string name = globals_.of(m), label = "@" + std::string(m.name);
  const bool is_statistic = m.value && m.value->is_aggregation();
  const bool is_histogram = m.value && m.value->is_histogram();
  std::string format = label, arguments, keys, entry = name;
  if (m.key) {
    format += "[";
    std::vector<const type::Type*> parts;
    if (m.key->is(Kind::tuple))
      for (const type::Field& f : m.key->fields()) parts.push_back(f.type);
    else
      parts.push_back(m.key);
    for (size_t i = 0; i < parts.size(); i++) {
      // A name has one type in all of a probe.
      const std::string key = (type_class(parts[i]) == "text" ? "text" : "key") + (parts.size() == 1 ? std::string() : std::to_string(i + 1));
      if (i) format += ", ";
      append_value(format, arguments, *parts[i], key);
      keys += (i ? ", " : "") + key;
    }
    format += "]";
    entry += "[" + keys + "]";
    out_.line("foreach ([" + keys + "] in " + name + (most ? "- limit " + std::to_string(most) : "+") + ") {");
    out_.indent();
  } else if (is_statistic) {
    out_.line("if (@count(" + name + ") > 0) {");
    out_.indent();
  }
  if (is_histogram) {
    out_.line("printf(" + quoted_text(format + ":\n") + arguments + ");");
    const bool is_linear = m.value->is(Kind::lhist);
    out_.line("print(" + (is_linear ? "@hist_linear(" + entry + ", " + std::to_string(m.value->low) + ", " + std::to_string(m.value->high) + ", " + std::to_string(m.value->step) + ")"
                                    : "@hist_log(" + entry + ")") + ");");
  } else if (m.value && m.value->is(Kind::stats)) {
    out_.line("printf(" + quoted_text(format + ": { .count = %d, .average = %d, .total = %d }\n") + arguments + ", @count(" + entry + "), @avg(" + entry + "), @sum(" + entry + "));");
  } else {
    format += ": ";
    if (is_statistic)
      append_value(format, arguments, *job_.program.types.none(), statistic(m, entry));
    else
      append_value(format, arguments, *m.value, entry);
    out_.line("printf(" + quoted_text(format + "\n") + arguments + ");");
  }
  if (m.key || is_statistic) {
    out_.close_level();
    out_.line("}");
  }
}

void StapPrinter::print(const Call& e) {
  const MapRef* m = if_a<MapRef>(static_cast<const Expr*>(e.arguments[0]));
  if (m && !m->key) {
    const Integer* most = e.arguments.size() > 1 ? if_a<Integer>(static_cast<const Expr*>(e.arguments[1])) : nullptr;
    return print_map(*m->map, most ? static_cast<int64_t>(most->value) : 0);
  }
  std::string format, arguments;
  append_value(format, arguments, *e.arguments[0]->type, text(*e.arguments[0]));
  out_.line("printf(" + quoted_text(format + "\n") + arguments + ");");
}

void StapPrinter::call_statement(const Expr& e) {
  const Call* c = if_a<Call>(&e);
  if (!c) return CLike::call_statement(e);
  const MapRef* m = !c->arguments.empty() ? if_a<MapRef>(static_cast<const Expr*>(c->arguments[0])) : nullptr;
  if (c->name == "printf") return out_.line("printf(" + printf_arguments(*c) + ");");
  if (c->name == "errorf" || c->name == "warnf") return out_.line("warn(sprintf(" + printf_arguments(*c) + "));");
  if (c->name == "time") {
    if (!c->arguments.empty()) return out_.line("print(" + clock_text(*c, 0).text + ");");
    return out_.line("print(substr(tz_ctime(gettimeofday_s()), 11, 8) . \"\\n\");");
  }
  if (c->name == "print") return print(*c);
  if (c->name == "clear" && m) {
    if (m->map->key || (m->map->value && m->map->value->is_aggregation())) return out_.line("delete " + globals_.of(*m->map) + ";");
    return out_.line(globals_.of(*m->map) + " = " + (type_class(m->map->value) == "text" ? "\"\";" : "0;"));
  }
  if (c->name == "delete" && m) {
    if (m->key) return out_.line("delete " + globals_.of(*m->map) + "[" + key_list(*m) + "];");
    if (c->arguments.size() < 2) return out_.line("delete " + globals_.of(*m->map) + ";");
    const Tuple* t = if_a<Tuple>(static_cast<const Expr*>(c->arguments[1]));
    return out_.line("delete " + globals_.of(*m->map) + "[" + (t && t->names.empty() ? list(t->elements) : text(*c->arguments[1])) + "];");
  }
  CLike::call_statement(e);
}

void StapPrinter::let(const Let& s) {
  if (!s.variable) return;
  out_.line(variable_name(*s.variable) + " = " + (s.value ? text(*s.value) : type_class(s.variable->type) == "text" ? "\"\"" : "0") + ";");
}

void StapPrinter::assign(const Assign& s) {
  const MapRef* m = if_a<MapRef>(static_cast<const Expr*>(s.target));
  const Call* c = if_a<Call>(static_cast<const Expr*>(s.value));
  if (!m || !c || !c->builtin || c->builtin->group != spec::Group::aggregation) return CLike::assign(s);
  const std::string entry = globals_.of(*m->map) + (m->key ? "[" + key_list(*m) + "]" : "");
  out_.line(entry + " <<< " + (c->arguments.empty() ? "1" : text(*c->arguments[0])) + ";");
}

void StapPrinter::range(const ForRange& s) {
  const std::string i = variable_name(*s.variable);
  out_.line("for (" + i + " = " + text(*s.first) + "; " + i + " < " + text(*s.last, relation + 1) + "; " + i + "++) {");
  steps_.push_back(nullptr);
  step_lines_.emplace_back();
  body(*s.body);
  steps_.pop_back();
  step_lines_.pop_back();
  out_.line("}");
}

void StapPrinter::give_back(const Return& s) {
  if (probe_) return out_.line("next;");
  CLike::give_back(s);
}

void StapPrinter::statement(const Stmt& s) {
  if (s.kind != StmtKind::unroll) return CLike::statement(s);
  out_.comments_above(s.where);
  const std::string i = names_.fresh("round");
  out_.line("for (" + i + " = 0; " + i + " < " + text(*as<Unroll>(s).count, relation + 1) + "; " + i + "++) {");
  body(*as<Unroll>(s).body);
  out_.line("}");
}

} // namespace emit
