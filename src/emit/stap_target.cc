// The target SystemTap: globals, functions, probes, and an end probe that prints the maps as acu does.
#include "emit/program_text.h"
#include "emit/raw_argument.h"
#include "emit/simplify.h"
#include "emit/stap_printer.h"
#include "emit/stap_rows.h"
#include "emit/statements.h"
#include "emit/targets.h"

#include "base/print.h"
#include "base/text.h"
#include "spec/counters.h"
#include "spec/probes.h"

#include <algorithm>

namespace emit {

using namespace lang;

namespace {

constexpr std::string_view reserved =
    "probe global private function if else for foreach while break continue return delete next in string long try catch limit pid tid ppid uid gid cpu "
    "target started exit print printf sprintf strlen substr isinstr system error warn log key key1 key2 key3 key4 key5 text text1 text2 text3 text4 text5";

class Stap {
public:
  explicit Stap(const Job& job) : job_(job), globals_(reserved), out_(job.source, "//") {}
  std::vector<File> run();

private:
  struct Body {
    std::string text;
    bool operator==(const Body&) const = default;
  };
  Body body(const Probe& p);
  void probe(const ProbeGroup& group);
  void write(const Probe& first, const std::vector<std::string>& places, const Body& body);
  std::vector<std::string> places(const std::vector<const Probe*>& copies);
  std::string place(const probe::Event& e);
  std::string counted_place(std::string_view family, uint32_t type, const probe::Event& e);
  std::string kernel_function(std::string_view family, const probe::Event& e);
  std::string user_place(const probe::Event& e);
  void function(const Function& f);
  void print_maps();
  std::string global_of(const Map& m);
  bool is_cleared_at_end(const Map& m) const;

  const Job& job_;
  Names globals_;
  Writer out_;
  bool uses_elapsed_ = false;
};

// A text in a probe point.
std::string point_text(std::string_view text) { return "(" + quoted_text(text) + ")"; }

std::string Stap::user_place(const probe::Event& e) {
  const std::string process = "process" + point_text(e.binary);
  if (e.kind == probe::Kind::usdt) {
    const std::vector<std::string_view> parts = base::split(e.name, ':');
    const std::string_view provider = parts.size() > 3 ? parts[parts.size() - 2] : std::string_view();
    return process + (provider.empty() ? "" : ".provider" + point_text(provider)) + ".mark" + point_text(parts.back());
  }
  if (!e.at_entry && e.kind != probe::Kind::uretprobe) return process + ".statement(" + base::print("0x%llx", static_cast<unsigned long long>(e.address)) + ")";
  return process + ".function" + point_text(e.function) + (e.kind == probe::Kind::uretprobe ? ".return" : "");
}

std::string Stap::counted_place(std::string_view family, uint32_t type, const probe::Event& e) {
  const spec::CounterRow* counter = spec::find_counter(type, e.perf_config);
  const std::string_view name = counter ? counter->systemtap : std::string_view();
  if (name.empty()) refuse(job_, stap_target, job_.program.probes[0]->where, base::quoted(e.name), "its tapset has no such event", "count another event");
  return "perf." + std::string(family) + "." + std::string(name) + (e.sample_period ? ".sample(" + std::to_string(e.sample_period) + ")" : "");
}

std::string Stap::kernel_function(std::string_view family, const probe::Event& e) {
  if (e.offset) refuse(job_, stap_target, job_.program.probes[0]->where, "a probe at an instruction of a kernel function", "it probes statements by their lines", "probe the function");
  const bool of_module = !e.category.empty() && e.category != "vmlinux";
  const std::string module = (family == "kprobe" ? "kprobe.module" : "module") + point_text(e.category);
  return (of_module ? module : std::string(family)) + ".function" + point_text(e.function);
}

std::string Stap::place(const probe::Event& e) {
  switch (e.kind) {
  case probe::Kind::begin: return "begin";
  case probe::Kind::end: return "end";
  case probe::Kind::interval:
    if (e.frequency) return "timer.hz(" + std::to_string(e.frequency) + ")";
    if (e.period_ns % 1'000'000'000 == 0) return "timer.s(" + std::to_string(e.period_ns / 1'000'000'000) + ")";
    if (e.period_ns % 1'000'000 == 0) return "timer.ms(" + std::to_string(e.period_ns / 1'000'000) + ")";
    return "timer.us(" + std::to_string(std::max<uint64_t>(1, e.period_ns / 1'000)) + ")";
  case probe::Kind::profile: return "perf.sw.cpu_clock.sample(" + std::to_string(e.frequency ? 1'000'000'000 / e.frequency : e.period_ns) + ")";
  case probe::Kind::software: return counted_place("sw", PERF_TYPE_SOFTWARE, e);
  case probe::Kind::hardware: return counted_place("hw", PERF_TYPE_HARDWARE, e);
  case probe::Kind::tracepoint:
    if (const auto call = syscall_of(e)) return std::string("kernel.trace(\"") + (call->is_exit ? "sys_exit" : "sys_enter") + "\")";
    return "kernel.trace" + point_text(e.event);
  case probe::Kind::rawtracepoint: return "kernel.trace" + point_text(e.event);
  // By its symbol, for which SystemTap needs no debug information of the kernel; arguments by their names need it.
  case probe::Kind::kprobe: return kernel_function("kprobe", e);
  case probe::Kind::kretprobe: return kernel_function("kprobe", e) + ".return";
  case probe::Kind::fentry: return kernel_function("kernel", e) + ".call";
  case probe::Kind::fexit: return kernel_function("kernel", e) + ".return";
  default: return user_place(e);
  }
}

std::vector<std::string> Stap::places(const std::vector<const Probe*>& copies) {
  std::vector<std::string> out;
  const auto add = [&](std::string text) {
    if (std::ranges::find(out, text) == out.end()) out.push_back(std::move(text));
  };
  for (const ProbeSpec& spec : copies[0]->specs) {
    const bool has_glob = spec.parts.size() > 1 && base::has_glob(spec.parts.back());
    if (!has_glob || copies.size() > 1 || copies[0]->is_own) continue;
    // A pattern stays one where the framework has it.
    for (const probe::Event* e : copies[0]->events) {
      if (!is_event_of(spec, *e) || syscall_of(*e)) continue;
      probe::Event pattern = *e;
      (e->module || probe::is_kernel_function(e->kind) ? pattern.function : pattern.event) = spec.parts.back();
      if (pattern.kind == probe::Kind::usdt) pattern.name = e->name.substr(0, e->name.rfind(':') + 1) + std::string(spec.parts.back());
      add(place(pattern));
      break;
    }
  }
  for (const Probe* p : copies)
    for (const probe::Event* e : p->events) {
      const bool is_of_pattern = !out.empty() && copies.size() == 1 && !copies[0]->is_own && std::ranges::any_of(copies[0]->specs, [&](const ProbeSpec& s) {
        return s.parts.size() > 1 && base::has_glob(s.parts.back()) && is_event_of(s, *e) && !syscall_of(*e);
      });
      if (!is_of_pattern) add(place(*e));
    }
  return out;
}

// Only these system calls: they share one tracepoint.
std::string syscall_condition(const Probe& p) {
  std::string out;
  const size_t most = 40;
  for (const probe::Event* e : p.events) {
    const auto call = syscall_of(*e);
    if (!call || call->number < 0 || p.events.size() > most) return {};
    const std::string number = call->is_exit ? "$regs->orig_ax" : "$id";
    out += (out.empty() ? "" : " && ") + number + " != " + std::to_string(call->number) + " /* " + call->name + " */";
  }
  return out;
}

Stap::Body Stap::body(const Probe& p) {
  Names names(reserved);
  // Locals must not hide globals.
  for (const Map* m : job_.program.maps) names.of(m, globals_.of(*m));
  Writer inner(job_.source, "//");
  inner.indent();
  StapPrinter printer(job_, stap_target, inner, names, globals_, &p);
  if (const std::string other = syscall_condition(p); !other.empty()) inner.line("if (" + other + ") next;");
  if (p.predicate) inner.line("if (" + printer.condition_not(*p.predicate) + ") next;");
  printer.statements(*p.body);
  uses_elapsed_ |= printer.uses_elapsed();
  return {inner.take()};
}

void Stap::write(const Probe& first, const std::vector<std::string>& places, const Body& body) {
  out_.blank();
  out_.place(first.where, first.is_own ? "values at the entry, for the return" : "");
  std::string list;
  for (const std::string& p : places) list += (list.empty() ? "" : ",\n      ") + p;
  out_.line("probe " + list + " {");
  out_.line(body.text.ends_with('\n') ? std::string_view(body.text).substr(0, body.text.size() - 1) : std::string_view(body.text));
  out_.line("}");
}

void Stap::probe(const ProbeGroup& group) {
  const Probe& first = *group.copies[0];
  const Body text = body(first);
  const bool are_alike = std::ranges::all_of(group.copies, [&](const Probe* p) { return p == &first || body(*p) == text; });
  if (are_alike) return write(first, places(group.copies), text);
  for (const Probe* p : group.copies) write(*p, places({p}), body(*p));
}

void Stap::function(const Function& f) {
  Names names(reserved);
  Writer inner(job_.source, "//");
  inner.indent();
  StapPrinter printer(job_, stap_target, inner, names, globals_, nullptr);
  std::string parameters;
  for (const Parameter& p : f.parameters) parameters += (parameters.empty() ? "" : ", ") + printer.parameter(*p.variable);
  printer.statements(*f.body);
  out_.blank();
  out_.place(f.where);
  const bool is_text = f.result_type && f.result_type->is(type::Kind::string);
  out_.line("function " + globals_.of(f) + (f.result_type && !f.result_type->is(type::Kind::none) ? (is_text ? ":string" : ":long") : "") + "(" + parameters + ") {");
  const std::string text = inner.take();
  out_.line(std::string_view(text).substr(0, text.empty() ? 0 : text.size() - 1));
  out_.line("}");
}

bool Stap::is_cleared_at_end(const Map& m) const {
  bool found = false;
  for (const auto& p : job_.program.probes) {
    if (std::ranges::none_of(p->events, [](const probe::Event* e) { return e->kind == probe::Kind::end; })) continue;
    walk_statements(p->body, [&](const Stmt& s) {
      const Call* c = s.kind == StmtKind::expression ? if_a<Call>(static_cast<const Expr*>(as<ExprStmt>(s).value)) : nullptr;
      const MapRef* of = c && c->name == "clear" && !c->arguments.empty() ? if_a<MapRef>(static_cast<const Expr*>(c->arguments[0])) : nullptr;
      found |= of && of->map == &m;
    });
  }
  return found;
}

// What acu prints by itself at the end.
void Stap::print_maps() {
  Writer inner(job_.source, "//");
  inner.indent();
  Names names(reserved);
  StapPrinter printer(job_, stap_target, inner, names, globals_, nullptr);
  std::vector<const Map*> maps(job_.program.maps.begin(), job_.program.maps.end());
  std::ranges::sort(maps, {}, &Map::name);
  if (job_.program.config.flag("print_maps_on_exit"))
    for (const Map* m : maps)
      if (!m->is_own && !is_cleared_at_end(*m)) printer.print_map(*m);
  const std::string text = inner.take();
  if (text.empty()) return;
  out_.blank();
  out_.comment("Maps that are left at the end.");
  out_.line("probe end {");
  out_.line(std::string_view(text).substr(0, text.size() - 1));
  out_.line("}");
}

// "latency[16384]"; the size where the script asks for another one than SystemTap's.
std::string Stap::global_of(const Map& m) {
  const std::string& name = globals_.of(m);
  const uint64_t size = m.max_entries ? m.max_entries : job_.program.config.number("max_map_keys");
  const bool wraps = m.storage == Storage::lruhash || m.storage == Storage::percpulruhash;
  const uint64_t usual = 2048; // MAXMAPENTRIES
  return name + (m.key && (size > usual || wraps) ? (wraps ? "%[" : "[") + std::to_string(size) + "]" : "");
}

std::vector<File> Stap::run() {
  for (const Map* m : job_.program.maps)
    if (!m->is_own) globals_.of(*m);
  for (const Function* f : job_.program.functions) function(*f);
  for (const ProbeGroup& g : group_probes(job_.program)) probe(g);
  print_maps();
  Writer out(job_.source, "//");
  out.line("#!/usr/bin/env stap");
  write_head(job_, stap_target, out);
  out.blank();
  std::string list;
  for (const Map* m : job_.program.maps) list += (list.empty() ? "" : ", ") + global_of(*m);
  if (!list.empty()) out.line("global " + list + ";");
  if (uses_elapsed_) {
    out.line("global started;");
    out.blank();
    out.line("probe begin(-1) { started = ktime_get_ns(); }");
  }
  out.blank();
  return {{.name = job_.name + ".stp", .text = out.take() + out_.take(), .is_executable = true}};
}

std::vector<File> emit_stap(const Job& job) { return Stap(job).run(); }

} // namespace

const Target stap_target = {.name = "stap",
                            .title = "SystemTap",
                            .ending = ".stp",
                            .run = "stap FILE",
                            .line_comment = "//",
                            .constructs = SupportTable::of<stap_rows::constructs>(),
                            .builtins = SupportTable::of<stap_rows::builtins>(),
                            .probes = SupportTable::of<stap_rows::probes>(),
                            .emit = emit_stap};

} // namespace emit
