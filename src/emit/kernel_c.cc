// Probes and statements; expressions are in kernel_c_expression.cc, maps in kernel_c_map.cc.
#include "emit/kernel_c.h"

#include "base/print.h"
#include "emit/simplify.h"
#include "emit/statements.h"
#include "lang/walk.h"

#include <algorithm>

namespace emit {

using namespace lang;
using type::Kind;

KernelC::KernelC(const Job& job, const Target& target, Writer& out, Names& names, KernelStyle style)
    : CLike(job, target, out, names), style_(style), structures_(job.machine, names) {}

void KernelC::run() {
  for (const Map* m : job_.program.maps)
    if (m->value) names_.of(m, std::string(m->name) + "_map"); // the kernel's headers have most plain words
  for (const ProbeGroup& g : group_probes(job_.program))
    for (const Probe* p : g.copies)
      if (!p->events.empty()) probe(*p);
}

static bool is_action(const Expr& e) {
  const Call* c = if_a<Call>(&e);
  return c && c->builtin && c->builtin->async;
}

// begin and end: only what user space does by itself.
void KernelC::action_block(const Probe& p, std::vector<uint32_t>& to) {
  if (p.predicate) refuse(p.predicate->where, "a predicate of begin or end", "these run outside of the kernel", "leave it out");
  for (const Stmt* s : p.body->statements) {
    const Expr* e = s->kind == StmtKind::expression ? as<ExprStmt>(*s).value : nullptr;
    const Call* c = if_a<Call>(e);
    const size_t before = actions_.size();
    bool is_plain = e && is_action(*e);
    if (is_plain && (c->name == "printf" || c->name == "errorf" || c->name == "warnf")) is_plain = c->arguments.size() == 1;
    if (is_plain && c->name == "print") is_plain = c->arguments[0]->kind == ExprKind::map && !as<MapRef>(*c->arguments[0]).key;
    if (!is_plain) {
      refuse(s->where, "this statement in begin or end", "these run outside of the kernel: they can print text and maps, and clear maps",
             "do it in a probe");
      continue;
    }
    std::string written = out_.take();
    statement(*s);
    (void)out_.take();
    if (written.ends_with('\n')) written.pop_back();
    if (!written.empty()) out_.line(written);
    for (size_t i = before; i < actions_.size(); i++) to.push_back(static_cast<uint32_t>(i));
  }
}

static std::string section_of(const probe::Event& e) {
  switch (e.kind) {
  case probe::Kind::tracepoint: return "tracepoint/" + e.category + "/" + e.event;
  case probe::Kind::kprobe: return "kprobe/" + e.function;
  case probe::Kind::kretprobe: return "kretprobe/" + e.function;
  case probe::Kind::fentry: return "fentry/" + e.function;
  case probe::Kind::fexit: return "fexit/" + e.function;
  case probe::Kind::uprobe: return "uprobe";
  case probe::Kind::uretprobe: return "uretprobe";
  default: return "perf_event";
  }
}

static std::string context_of(const probe::Event& e, KernelStyle style) {
  switch (e.kind) {
  case probe::Kind::tracepoint: return "void *ctx";
  case probe::Kind::fentry:
  case probe::Kind::fexit: return "u64 *ctx";
  case probe::Kind::interval:
  case probe::Kind::profile: return style == KernelStyle::bcc ? "void *ctx" : "void *ctx";
  default: return "struct pt_regs *ctx";
  }
}

static std::string_view wish_of(const probe::Event& e) {
  if (!e.function.empty()) return e.function;
  return e.event.empty() ? std::string_view(e.provider) : std::string_view(e.event);
}

void KernelC::probe(const Probe& p) {
  const probe::Event& first = *p.events.front();
  probe_ = &p;
  if (first.kind == probe::Kind::begin) return action_block(p, begin_actions);
  if (first.kind == probe::Kind::end) return action_block(p, end_actions);
  const bool is_shared = p.events.size() > 1;
  const std::string name = names_.fresh(std::string(first.provider) + "_" + std::string(is_shared ? "block" : wish_of(first)));
  const size_t mark = names_.mark();
  out_.blank();
  out_.place(p.where);
  const std::string context = context_of(first, style_);
  if (is_shared) {
    out_.open("static __always_inline int " + name + "(" + context + ")\n{");
  } else {
    if (style_ == KernelStyle::libbpf) out_.line("SEC(\"" + section_of(first) + "\")");
    out_.open("int " + name + "(" + context + ")\n{");
    programs_.push_back({name, &first, p.where});
  }
  declare(*p.body);
  if (p.predicate) {
    const std::string condition = text(*p.predicate);
    out_.open("if (!(" + condition + "))");
    out_.line("return 0;");
    out_.close_level();
  }
  block(*p.body);
  out_.line("return 0;");
  out_.close("}");
  names_.release(mark);
  for (const probe::Event* e : p.events) {
    if (!is_shared) break;
    const std::string one = names_.fresh(std::string(e->provider) + "_" + std::string(wish_of(*e)));
    if (style_ == KernelStyle::libbpf) out_.line("SEC(\"" + section_of(*e) + "\")");
    out_.line("int " + one + "(" + context + ") { return " + name + "(ctx); }");
    programs_.push_back({one, e, p.where});
  }
}

// --------------------------------------------------------------------------------------------- statements

// In front: C's scopes are not the script's.
void KernelC::declare(const Block& b) {
  std::vector<const Variable*> all;
  auto add = [&](const Variable* v) {
    if (v && v->type && std::ranges::find(all, v) == all.end()) all.push_back(v);
  };
  walk_statements(&b, [&](const Stmt& s) {
    if (s.kind == StmtKind::let) add(as<Let>(s).variable);
    if (s.kind == StmtKind::assign)
      if (const VariableRef* v = if_a<VariableRef>(as<Assign>(s).target)) add(v->variable);
    if (s.kind == StmtKind::loop_range) add(as<ForRange>(s).variable);
  });
  for (const Variable* v : all) {
    const type::Type& t = *v->type;
    if (t.is(Kind::string)) {
      if (t.size > 200)
        refuse(v->where, "text of up to " + std::to_string(t.size - 1) + " bytes in a variable", "a BPF program has a stack of 512 bytes", "limit it: str(p, 64)");
      out_.line("char " + names_.of(*v) + "[" + std::to_string((t.size + 7) / 8 * 8) + "] = {};");
    } else if (t.is(Kind::pointer)) {
      out_.line("u64 " + names_.of(*v) + " = 0;");
    } else if (t.is_integer()) {
      out_.line(c_word(t) + " " + names_.of(*v) + " = 0;");
    } else {
      refuse(v->where, "a variable of type " + type::to_string(t), "variables are numbers and text there");
    }
  }
}

void KernelC::let(const Let& s) {
  if (!s.value || !s.variable->type) return;
  if (s.variable->type->is(Kind::string)) return text_into(names_.of(*s.variable), s.variable->type->size, *s.value);
  out_.line(names_.of(*s.variable) + " = " + text(*s.value) + ";");
}

void KernelC::assign(const Assign& s) {
  if (const MapRef* m = if_a<MapRef>(s.target)) {
    const Call* c = if_a<Call>(s.value);
    if (m->map->value->is_aggregation() && c) return aggregate(*m, *c);
    if (s.compound) return update(*m, *s.compound, word(*s.value, m->map->value->is_signed, lowest));
    if (m->map->value->is(Kind::string)) {
      const std::string room = "value" + std::to_string(serial_++);
      out_.line("struct { char text[" + std::to_string((m->map->value->size + 7) / 8 * 8) + "]; } " + room + " = {};");
      if (m->map->value->size > 200)
        refuse(s.where, "text of up to " + std::to_string(m->map->value->size - 1) + " bytes in a map", "a BPF program has a stack of 512 bytes", "limit it: str(p, 64)");
      text_into(room + ".text", m->map->value->size, *s.value);
      const std::string k = key(*m->map, m->key);
      out_.line(map_function(*m->map, "put") + "(" + k + ", &" + room + ");");
      return;
    }
    if (!m->map->value->is_integer() && !m->map->value->is(Kind::pointer))
      return refuse(s.where, "a map of " + type::to_string(*m->map->value), "values are numbers and text there");
    const std::string k = key(*m->map, m->key);
    out_.line(map_function(*m->map, "set") + "(" + k + ", " + text(*s.value) + ");");
    return;
  }
  const Variable& v = *as<VariableRef>(*s.target).variable;
  if (v.type->is(Kind::string)) return text_into(names_.of(v), v.type->size, *s.value);
  if (!s.compound) return out_.line(names_.of(v) + " = " + text(*s.value) + ";");
  Binary sum(s.where);
  sum.op = *s.compound;
  sum.left = s.target;
  sum.right = s.value;
  sum.type = v.type;
  out_.line(names_.of(v) + " = " + binary(sum).text + ";");
}

void KernelC::conditional(const If& s) {
  out_.line("if (" + text(*s.condition) + ") {");
  body(*s.then);
  if (s.otherwise) {
    out_.line("} else {");
    body(*s.otherwise);
  }
  out_.line("}");
}

// The verifier wants to see an end: bpf_loop() is not needed for loops with a bound.
void KernelC::loop(const While& s) { refuse(s.where, "a loop without a bound", "the kernel's verifier wants to see where it ends", "for ($i : 0..100)"); }

void KernelC::range(const ForRange& s) {
  if (s.first->constant.kind != Constant::integer || s.last->constant.kind != Constant::integer)
    return refuse(s.where, "a loop whose bounds are not constants", "the kernel's verifier wants to see where it ends", "for ($i : 0..100) { if ($i >= $n) { break; } … }");
  const std::string i = names_.of(*s.variable);
  out_.open("for (" + i + " = " + text(*s.first) + "; " + i + " < " + text(*s.last) + "; " + i + "++) {");
  steps_.push_back(nullptr);
  step_lines_.emplace_back();
  block(*s.body);
  steps_.pop_back();
  step_lines_.pop_back();
  out_.close("}");
}

void KernelC::statement(const Stmt& s) {
  if (s.kind != StmtKind::unroll) return CLike::statement(s);
  const Unroll& u = as<Unroll>(s);
  const std::string i = "turn" + std::to_string(serial_++);
  out_.open("for (int " + i + " = 0; " + i + " < " + std::to_string(u.count->constant.integer_value) + "; " + i + "++) {");
  steps_.push_back(nullptr);
  step_lines_.emplace_back();
  block(*u.body);
  steps_.pop_back();
  step_lines_.pop_back();
  out_.close("}");
}

void KernelC::give_back(const Return& s) {
  if (s.value && !s.value->type->is(Kind::none)) (void)text(*s.value);
  out_.line("return 0;");
}

void KernelC::call_statement(const Expr& e) {
  if (const Unary* u = if_a<Unary>(&e); u && u->op >= UnaryOp::pre_increment) {
    const bool up = u->op == UnaryOp::pre_increment || u->op == UnaryOp::post_increment;
    if (const MapRef* m = if_a<MapRef>(static_cast<const Expr*>(u->operand))) return update(*m, BinaryOp::add, up ? "1" : "-1");
    out_.line(text(*u->operand) + (up ? "++;" : "--;"));
    return;
  }
  const Call* c = if_a<Call>(&e);
  if (!c || !c->builtin) return out_.line(text(e) + ";");
  const std::string_view name = c->name;
  const MapRef* m = c->arguments.empty() ? nullptr : if_a<MapRef>(static_cast<const Expr*>(c->arguments[0]));
  if (name == "printf") {
    send({.kind = RecordAction::printf, .text = std::string(c->arguments[0]->constant.text_value)}, c->arguments.subspan(1));
  } else if (name == "print" && m && !m->key) {
    RecordAction a{.kind = RecordAction::print_map, .map = m->map};
    if (c->arguments.size() > 1) a.top = static_cast<uint64_t>(c->arguments[1]->constant.integer_value);
    if (c->arguments.size() > 2) a.div = static_cast<uint64_t>(c->arguments[2]->constant.integer_value);
    send(std::move(a), {});
  } else if (name == "print" && !(m && m->type->is_aggregation())) {
    send({.kind = RecordAction::print_value}, c->arguments.first(1));
  } else if (name == "clear" || name == "zero") {
    send({.kind = name == "clear" ? RecordAction::clear : RecordAction::zero, .map = m->map}, {});
  } else if (name == "exit") {
    send({.kind = RecordAction::exit, .status = c->arguments.empty() ? 0 : c->arguments[0]->constant.integer_value}, {});
    out_.line("return 0;");
  } else if (name == "delete") {
    const Expr* which = c->arguments.size() > 1 ? c->arguments[1] : m->key;
    const std::string k = key(*m->map, which);
    out_.line(map_function(*m->map, "delete") + "(" + k + ");");
  } else {
    refuse(e.where, "`" + std::string(name) + "` as a statement", "it has no counterpart there");
  }
}

// ------------------------------------------------------------------------------------------------ records

static RecordPart part_of(const type::Type& t) {
  RecordPart p{.type = &t};
  p.is_signed = t.is_signed;
  if (t.is(Kind::string) || t.is(Kind::probe_name)) {
    p.kind = RecordPart::text;
    p.size = t.is(Kind::probe_name) ? 128 : std::max(8u, (t.size + 7) / 8 * 8);
  } else if (t.is(Kind::boolean)) {
    p.kind = RecordPart::boolean;
  } else if (t.is(Kind::pointer)) {
    p.kind = RecordPart::address;
  } else if (t.is(Kind::enumeration)) {
    p.kind = RecordPart::enumeration;
  }
  return p;
}

static bool fits_record(const type::Type& t) {
  return t.is_integer() || t.is(Kind::pointer) || t.is(Kind::string) || t.is(Kind::probe_name) || (t.is_castable_aggregation() && !t.is(Kind::stats));
}

void KernelC::send(RecordAction action, List<Expr*> values) {
  for (const Expr* e : values) {
    if (!fits_record(*e->type)) return refuse(e->where, "a value of type " + type::to_string(*e->type), "records carry numbers and text", "print its parts");
    RecordPart p = part_of(*e->type);
    p.offset = action.size;
    action.size += p.size;
    action.parts.push_back(p);
  }
  const size_t id = actions_.size();
  actions_.push_back(action);
  // Numbers first: what they need stands before.
  std::vector<std::string> numbers(values.size());
  for (size_t i = 0; i < values.size(); i++)
    if (action.parts[i].kind != RecordPart::text) numbers[i] = text(*values[i]);
  const std::string e = "event" + std::to_string(serial_++);
  out_.line("struct event_" + std::to_string(id) + " *" + e + " = " +
            (style_ == KernelStyle::libbpf ? "bpf_ringbuf_reserve(&events, sizeof(*" + e + "), 0);" : "events.ringbuf_reserve(sizeof(struct event_" + std::to_string(id) + "));"));
  out_.open("if (" + e + ") {");
  out_.line(e + "->id = " + std::to_string(id) + ";");
  for (size_t i = 0; i < values.size(); i++) {
    const std::string to = e + "->value" + std::to_string(i);
    if (action.parts[i].kind == RecordPart::text)
      text_into(to, action.parts[i].size, *values[i]);
    else
      out_.line(to + " = " + numbers[i] + ";");
  }
  out_.line(style_ == KernelStyle::libbpf ? "bpf_ringbuf_submit(" + e + ", 0);" : "events.ringbuf_submit(" + e + ", 0);");
  out_.close("}");
}

} // namespace emit
