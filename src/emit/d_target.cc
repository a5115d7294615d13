// The target D: pragmas, clauses, and what DTrace does not print by itself at the end.
#include "emit/d_printer.h"
#include "emit/d_rows.h"
#include "emit/program_text.h"
#include "emit/raw_argument.h"
#include "emit/simplify.h"
#include "emit/statements.h"
#include "emit/targets.h"

#include "base/print.h"
#include "base/text.h"
#include "spec/diagnostics.h"
#include "spec/probes.h"

#include <algorithm>

namespace emit {

using namespace lang;

namespace {

// Keywords, and variables and subroutines that a global may not be called like.
constexpr std::string_view reserved =
    "auto break case char const continue counter default do double else enum extern float for goto if import inline int long offsetof probe provider "
    "register restrict return self short signed sizeof static string stringof struct switch this translator typedef union unsigned void volatile while xlate "
    "args caller cpu cwd epid errno execname gid id ipl pid ppid probefunc probemod probename probeprov root stackdepth tid timestamp ucaller uid uregs "
    "vtimestamp walltimestamp zonename started errno bytes count sum min max avg stddev quantize lquantize stack ustack exit printf printa trace trunc clear "
    "normalize index rand";

class D {
public:
  explicit D(const Job& job) : job_(job), globals_(reserved), types_(reserved), structures_(job.machine, types_), keys_(job.program, false), out_(job.source, "//") {}
  std::vector<File> run();

private:
  std::vector<DClause> clauses(const Probe& p);
  void probe(const ProbeGroup& group);
  void write(const Probe& first, const std::vector<std::string>& places, const std::vector<DClause>& clauses);
  std::vector<std::string> places(const std::vector<const Probe*>& copies, bool keeps_patterns);
  std::string place(const probe::Event& e);
  void print_maps();
  bool is_cleared_at_end(const Map& m) const;

  const Job& job_;
  Names globals_, types_;
  DParts parts_;
  Structures structures_;
  KnownKeys keys_;
  Writer out_;
  bool uses_elapsed_ = false, is_destructive_ = false, reads_text_ = false;
};

std::string_view file_name(std::string_view path) { return path.substr(std::min(path.rfind('/') + 1, path.size())); }

std::string time_of(const probe::Event& e) {
  if (e.frequency) return std::to_string(e.frequency);
  constexpr std::pair<std::string_view, uint64_t> units[] = {{"s", 1'000'000'000}, {"ms", 1'000'000}, {"us", 1'000}};
  for (const auto& [unit, ns] : units)
    if (e.period_ns >= ns && e.period_ns % ns == 0) return std::to_string(e.period_ns / ns) + std::string(unit);
  return std::to_string(e.period_ns) + "ns";
}

// USDT probes: DTrace has a dash where names have two underscores.
std::string dashed(std::string_view name) {
  std::string out(name);
  base::replace_all(out, "__", "-");
  return out;
}

std::string D::place(const probe::Event& e) {
  switch (e.kind) {
  case probe::Kind::begin: return "BEGIN";
  case probe::Kind::end: return "END";
  case probe::Kind::interval: return "tick-" + time_of(e);
  case probe::Kind::profile: return "profile-" + time_of(e);
  case probe::Kind::tracepoint:
    if (const auto call = syscall_of(e)) return "syscall::" + call->name + (call->is_exit ? ":return" : ":entry");
    if (e.category == "raw_syscalls") return std::string("syscall:::") + (e.event == "sys_exit" ? "return" : "entry");
    return "rawtp:" + e.category + "::" + e.event;
  case probe::Kind::rawtracepoint: return "rawtp:::" + e.event;
  case probe::Kind::kprobe:
  case probe::Kind::fentry: return "fbt:" + (e.category == "vmlinux" ? std::string() : e.category) + ":" + e.function + ":entry";
  case probe::Kind::kretprobe:
  case probe::Kind::fexit: return "fbt:" + (e.category == "vmlinux" ? std::string() : e.category) + ":" + e.function + ":return";
  case probe::Kind::usdt: {
    const std::vector<std::string_view> parts = base::split(e.name, ':');
    const std::string_view provider = parts.size() > 3 ? parts[parts.size() - 2] : std::string_view("*");
    return std::string(provider) + "$target:::" + dashed(parts.back());
  }
  default: break;
  }
  const bool returns = e.kind == probe::Kind::uretprobe;
  std::string out = "pid$target:" + std::string(file_name(e.binary)) + ":" + e.function;
  if (returns) return out + ":return";
  return out + (e.at_entry ? ":entry" : ":" + base::print("%llx", static_cast<unsigned long long>(e.address - e.function_address)));
}

std::vector<std::string> D::places(const std::vector<const Probe*>& copies, bool keeps_patterns) {
  std::vector<std::string> out;
  const auto add = [&](std::string text) {
    if (std::ranges::find(out, text) == out.end()) out.push_back(std::move(text));
  };
  const auto pattern_of = [&](const probe::Event& e) -> const ProbeSpec* {
    if (!keeps_patterns) return nullptr;
    for (const ProbeSpec& s : copies[0]->specs)
      if (s.parts.size() > 1 && base::has_glob(s.parts.back()) && is_event_of(s, e)) return &s;
    return nullptr;
  };
  for (const Probe* p : copies)
    for (const probe::Event* e : p->events) {
      const ProbeSpec* spec = pattern_of(*e);
      probe::Event pattern = *e;
      if (spec) (e->module || probe::is_kernel_function(e->kind) ? pattern.function : pattern.event) = spec->parts.back();
      if (spec && e->kind == probe::Kind::usdt) pattern.name = e->name.substr(0, e->name.rfind(':') + 1) + std::string(spec->parts.back());
      add(place(pattern));
    }
  return out;
}

std::vector<DClause> D::clauses(const Probe& p) {
  Names names(reserved);
  Writer inner(job_.source, "//");
  inner.indent();
  DPrinter printer(job_, d_target, inner, names, globals_, parts_, structures_, keys_, &p);
  std::vector<DClause> out = printer.clauses(p);
  uses_elapsed_ |= printer.uses_elapsed();
  is_destructive_ |= printer.is_destructive();
  reads_text_ |= printer.reads_text();
  return out;
}

void D::write(const Probe& first, const std::vector<std::string>& places, const std::vector<DClause>& clauses) {
  std::string list;
  for (const std::string& p : places) list += (list.empty() ? "" : ",\n") + p;
  for (const DClause& c : clauses) {
    out_.blank();
    out_.place(&c == &clauses[0] ? first.where : c.where, first.is_own ? "values at the entry, for the return" : "");
    out_.line(list);
    if (!c.predicate.empty()) out_.line("/" + c.predicate + "/");
    out_.line("{");
    if (!c.text.empty()) out_.line(std::string_view(c.text).substr(0, c.text.size() - 1));
    out_.line("}");
  }
}

void D::probe(const ProbeGroup& group) {
  const Probe& first = *group.copies[0];
  const std::vector<DClause> text = clauses(first);
  const bool are_alike = std::ranges::all_of(group.copies, [&](const Probe* p) { return p == &first || clauses(*p) == text; });
  if (are_alike) return write(first, places(group.copies, group.copies.size() == 1 && !first.is_own), text);
  for (const Probe* p : group.copies) write(*p, places({p}, false), clauses(*p));
}

bool D::is_cleared_at_end(const Map& m) const {
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

// DTrace prints aggregations at the end; variables are printed here, and arrays can't be.
void D::print_maps() {
  if (!job_.program.config.flag("print_maps_on_exit")) return;
  Writer inner(job_.source, "//");
  Names names(reserved);
  DPrinter printer(job_, d_target, inner, names, globals_, parts_, structures_, keys_, nullptr);
  std::vector<const Map*> maps(job_.program.maps.begin(), job_.program.maps.end());
  std::ranges::sort(maps, {}, &Map::name);
  std::vector<std::string> lines;
  for (const Map* m : maps) {
    if (m->is_own || is_cleared_at_end(*m) || !m->value || m->value->is_aggregation()) continue;
    const std::string line = printer.map_line(*m);
    if (!line.empty())
      lines.push_back(line);
    else
      job_.diagnostics.warning(spec::tag::misplaced, m->where, "`@" + std::string(m->name) + "` is not printed at the end by DTrace: its arrays can't be walked",
                               "use an aggregation, such as sum()");
  }
  if (lines.empty()) return;
  out_.blank();
  out_.comment("Variables that are left at the end; DTrace prints aggregations by itself.");
  out_.line("END\n{");
  out_.indent();
  for (const std::string& l : lines) out_.line(l);
  out_.close_level();
  out_.line("}");
}

std::vector<File> D::run() {
  for (const Map* m : job_.program.maps)
    if (!m->is_own) globals_.of(*m);
  for (const ProbeGroup& g : group_probes(job_.program)) probe(g);
  print_maps();
  Writer out(job_.source, "//");
  out.line("#!/usr/sbin/dtrace -s");
  write_head(job_, d_target, out);
  out.blank();
  out.line("#pragma D option quiet");
  if (is_destructive_) out.line("#pragma D option destructive");
  if (reads_text_) out.line("#pragma D option strsize=" + std::to_string(job_.program.config.number("max_strlen")));
  if (const std::string definitions = structures_.definitions(); !definitions.empty()) {
    out.blank();
    out.comment("Members that are used of structures that are not the kernel's.");
    out.line(definitions.substr(0, definitions.size() - 2));
  }
  if (uses_elapsed_) {
    out.blank();
    out.line("BEGIN\n{");
    out.line("  started = timestamp;\n}");
  }
  out.blank();
  return {{.name = job_.name + ".d", .text = out.take() + out_.take(), .is_executable = true}};
}

std::vector<File> emit_d(const Job& job) { return D(job).run(); }

} // namespace

const Target d_target = {.name = "d",
                         .title = "D (DTrace)",
                         .ending = ".d",
                         .run = "dtrace -s FILE",
                         .line_comment = "//",
                         .constructs = SupportTable::of<d_rows::constructs>(),
                         .builtins = SupportTable::of<d_rows::builtins>(),
                         .probes = SupportTable::of<d_rows::probes>(),
                         .emit = emit_d};

} // namespace emit
