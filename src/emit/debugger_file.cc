// The whole file: parts of the run time, declarations, functions and probes of the script.
#include "emit/debugger.h"

#include "lang/walk.h"
#include "probe/probe.h"
#include "symbol/binary.h"

#include <algorithm>

namespace emit {

using namespace lang;
using type::Kind;

// ----------------------------------------------------------------------------------------------- texts of Python

static std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto b = static_cast<unsigned char>(c);
    char hex[8];
    if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (c == '"' || c == '\\')
      (out += '\\') += c;
    else if (b < 32 || b > 126)
      std::snprintf(hex, sizeof hex, "\\x%02x", b), out += hex;
    else
      out += c;
  }
  return out + "\"";
}

std::string python_bytes(std::string_view text) { return "b" + quoted(text); }
std::string python_string(std::string_view text) { return quoted(text); }

std::string without_parentheses(std::string text) {
  if (text.size() < 2 || text.front() != '(' || text.back() != ')') return text;
  int depth = 0;
  char quote = 0;
  for (size_t i = 0; i < text.size(); i++) {
    const char c = text[i];
    if (quote) {
      if (c == '\\')
        i++;
      else if (c == quote)
        quote = 0;
    } else if (c == '"') {
      quote = c;
    } else if (c == '(' || c == '[' || c == '{') {
      depth++;
    } else if (c == ')' || c == ']' || c == '}') {
      if (--depth == 0 && i + 1 < text.size()) return text;
    } else if (c == ',' && depth == 1) {
      return text; // a tuple
    }
  }
  return text.substr(1, text.size() - 2);
}

// Python's keywords and functions that are used, and what the run time declares.
static std::string reserved_names() {
  std::string out =
      "False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal "
      "not or pass raise return try while with yield _ match case print int len min max bool bytes range tuple sum open type list dict set map zip sorted "
      "str struct os sys re gdb lldb bisect mmap subprocess self any all iter next object hasattr getattr setattr reversed enumerate super id Exception "
      "OSError";
  for (const RuntimePart& p : python_parts())
    for (size_t at = 0; at < p.text.size();) {
      const size_t end = std::min(p.text.find('\n', at), p.text.size());
      std::string_view line = p.text.substr(at, end - at);
      at = end + 1;
      for (std::string_view word : {"def ", "class "})
        if (line.starts_with(word)) line.remove_prefix(word.size());
      while (!line.empty() && !line.starts_with(' ')) {
        const size_t size = std::min(line.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"), line.size());
        if (size == 0) break;
        out.append(" ").append(line.substr(0, size));
        line.remove_prefix(size);
        if (!line.starts_with(", ")) break;
        line.remove_prefix(2);
      }
    }
  return out;
}

// ---------------------------------------------------------------------------------------------------- the script

DebuggerScript::DebuggerScript(const Job& job, const Target& target, std::string_view debugger)
    : job_(job), target_(target), debugger_(debugger), names_(reserved_names()), out_(job.source, "#", 4) {}

std::string DebuggerScript::refuse(base::Range where, std::string_view what, std::string_view reason, std::string_view nearest) {
  emit::refuse(job_, target_, where, what, reason, nearest);
  return "None";
}

std::string DebuggerScript::spill(std::string_view wish, const std::string& value) {
  const std::string name = names_.fresh(wish);
  out_.line(name + " = " + without_parentheses(value));
  return name;
}

bool DebuggerScript::needs_statement(const Expr* e) const {
  bool found = false;
  if (e)
    walk(e, [&](const Expr& x) {
      const Unary* u = if_a<Unary>(&x);
      const Index* i = if_a<Index>(&x);
      found |= u && u->op >= UnaryOp::pre_increment;
      found |= x.kind == ExprKind::attempt;
      found |= i && i->operand->type->is(Kind::array) && i->index->constant.kind != Constant::integer;
      found |= x.kind == ExprKind::call && static_cast<const Call&>(x).builtin && static_cast<const Call&>(x).builtin->name == "find";
    });
  return found;
}

void DebuggerScript::lower_function(const Function& f) {
  std::string head = "def " + names_.of(f) + "(";
  const size_t mark = names_.mark();
  for (const Parameter& p : f.parameters) head += (head.ends_with('(') ? "" : ", ") + names_.of(*p.variable);
  out_.blank();
  out_.blank();
  out_.place(f.where);
  out_.open(head + "):");
  function_ = &f;
  body(*f.body);
  function_ = nullptr;
  out_.close_level();
  names_.release(mark);
}

// What was written before stays where it is.
std::string DebuggerScript::lower_probe(const Probe& p, std::string_view name) {
  const size_t mark = names_.mark();
  out_.place(p.where);
  out_.open("def " + std::string(name) + "():");
  out_.line("\"\"\"" + p.events.front()->name + "\"\"\"");
  if (p.predicate) {
    const std::string holds = condition(*p.predicate);
    out_.open("if not " + holds + ":");
    out_.line("return");
    out_.close_level();
  }
  lower(*p.body);
  out_.close_level();
  names_.release(mark);
  return out_.take();
}

std::string DebuggerScript::declare_maps() {
  std::string out;
  for (const Map* m : job_.program.maps) {
    if (!m->value || !m->used) continue;
    where_ = m->where;
    out += names_.of(*m) + " = Map(" + python_string(m->name) + ", " + (m->key ? type_text(*m->key) : "None") + ", " + map_type_text(*m->value);
    if (m->is_own) out += ", own=True";
    if (m->max_entries) out += ", limit=" + std::to_string(m->max_entries);
    out += ")\n";
  }
  return out;
}

// The functions that a frame probe means, as the debugger names them.
static std::vector<std::string> functions_of(const std::vector<const Probe*>& copies) {
  std::vector<std::string> out;
  for (const Probe* p : copies)
    for (const probe::Event* e : p->events) {
      std::string name(e->is_inlined || !e->module ? std::string(e->function) : std::string(e->module->shown(e->function)));
      if (const size_t at = name.find('('); at != name.npos && at > 0) name.resize(at);
      if (std::ranges::find(out, name) == out.end()) out.push_back(std::move(name));
    }
  return out;
}

static std::string head_comment(const base::Source& source) {
  std::string out;
  std::string_view text = source.text();
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.starts_with("#!")) continue;
    if (!line.starts_with("//")) break;
    out += "#" + std::string(line.substr(2)) + "\n";
  }
  return out;
}

// Comments of the script are written once.
static std::string without_comments(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const size_t first = line.find_first_not_of(' ');
    if (first == line.npos || line[first] != '#') (out += line) += '\n';
  }
  return out;
}

std::string DebuggerScript::make(const DebuggerScript* before) {
  using enum probe::Kind;
  std::map<probe::Kind, std::string> lists;
  std::string probes;
  std::map<uint32_t, std::vector<const Probe*>> blocks; // by where they begin in the script
  std::vector<uint32_t> order;
  for (const auto& p : job_.program.probes) {
    if (p->events.empty()) continue;
    if (blocks[p->where.begin].empty()) order.push_back(p->where.begin);
    blocks[p->where.begin].push_back(p.get());
  }
  for (const Map* m : job_.program.maps) names_.of(*m);
  for (const Function* f : job_.program.functions) names_.of(*f);
  // Names of members and types are the same everywhere: those of locals differ from them.
  if (before) {
    for (const auto& [made, name] : before->declared_) names_.fresh(name);
    declared_ = before->declared_;
    declarations_ = before->declarations_;
    expected_ = before->expected_;
  }
  for (const Function* f : job_.program.functions) lower_function(*f);
  const std::string functions = out_.take();
  for (uint32_t at : order) {
    const std::vector<const Probe*>& copies = blocks[at];
    const probe::Kind kind = copies.front()->events.front()->kind;
    for (const Probe* p : copies)
      if (p->events.front()->language) refuse(p->where, "a call of an interpreted function", "debuggers see the interpreter's own calls");
    const std::string name = names_.fresh(std::string(copies.front()->events.front()->provider.empty() ? "probe" : copies.front()->events.front()->provider) + "_probe");
    const std::string body = lower_probe(*copies.front(), name);
    for (size_t i = 1; i < copies.size(); i++)
      if (without_comments(lower_probe(*copies[i], name)) != without_comments(body))
        refuse(copies[i]->where, "a probe on functions whose values differ", "they have one function in the result", "write one probe for each");
    probes += "\n\n" + body;
    std::string& list = lists[kind];
    if (kind != frame) {
      list += (list.empty() ? "" : ", ") + name;
      continue;
    }
    for (const std::string& f : functions_of(copies)) list += (list.empty() ? "" : ", ") + std::string("(") + python_string(f) + ", " + name + ")";
  }
  const std::string maps = declare_maps();

  std::string out = "#!/usr/bin/env python3\n" + head_comment(job_.source) + "#\n# Made by acu from " + job_.name + " for " + std::string(target_.title) +
                    ". As a program of its own: " + job_.name + ".py CORE|PID [PROGRAM].\n# In " + std::string(target_.title) + ": " +
                    (debugger_ == "gdb" ? "source " : "command script import ") + job_.name + ".py\n";
  if (!job_.parameters.empty()) out += "#\n# Parameters are constants here:\n";
  for (const NamedParameter& p : job_.parameters) {
    std::string value = p.default_value;
    for (const auto& [name, given] : job_.named)
      if (name == p.name) value = given;
    out += "#   --" + p.name + "=" + value + (p.help.empty() ? "" : "  " + p.help) + "\n";
  }
  auto part = [&](std::string_view name) { (out += "\n") += python_part(name); };
  for (std::string_view name : {"values.py", "output.py", "types.py", "aggregations.py", "maps.py"}) part(name);
  part("memory.py");
  part("program.py");
  if (uses_symbols_) part("symbols.py");
  if (uses_heap_) part("heap.py");
  part(std::string(debugger_) + ".py");
  part("start.py");
  out += "\n\n# ---- The script.\n\n" + maps;
  for (const std::string& d : declarations_) out += d + "\n";
  out += functions + probes + "\n\n";
  const bool prints_maps = job_.program.config.flag("print_maps_on_exit");
  out += "run_all(begin=[" + lists[begin] + "], oneshot=[" + lists[oneshot] + "], fault=[" + lists[fault] + "], thread=[" + lists[thread] + "], frame=[" +
         lists[frame] + "], end=[" + lists[end] + "])\nfinish(" + (prints_maps ? "" : "False") + ")\n";
  return out;
}

std::vector<File> emit_debugger(const Job& job, const Target& target, std::string_view debugger) {
  DebuggerScript first(job, target, debugger), script(job, target, debugger);
  first.make(nullptr); // tells which members and types there are
  if (job.diagnostics.has_errors()) return {};
  return {{job.name + ".py", script.make(&first), true}};
}

} // namespace emit
