// The target bpftrace, from version 0.16 to 0.26: the program around the blocks. What an old version lacks is written with what it
// has; bpftrace_rows.h says what.
#include "emit/bpftrace_printer.h"
#include "emit/bpftrace_rows.h"
#include "emit/program_text.h"
#include "emit/simplify.h"
#include "emit/targets.h"

#include "base/print.h"
#include "base/text.h"
#include "spec/config.h"
#include "spec/probes.h"

#include <algorithm>

namespace emit {

using namespace lang;

namespace {

// Of maps: names that are keywords after `@` do not exist, but those of builtins read badly.
constexpr std::string_view reserved =
    "if else while for unroll return break continue let config struct union enum";

class Bpftrace {
public:
  explicit Bpftrace(const Job& job)
      : job_(job), maps_(reserved), types_(reserved), structures_(job.machine, types_), keys_(job.program, job.version >= 22), out_(job.source, "//") {}
  std::vector<File> run();

private:
  struct Body {
    std::string predicate, text;
    bool operator==(const Body&) const = default;
  };
  Body body(const Probe& p);
  void probe(const ProbeGroup& group);
  bool merge(const Probe& p);
  void write(const Probe& first, const std::vector<std::string>& places, const Body& body, std::string_view more);
  std::string place(const ProbeSpec& spec, const probe::Event& e);
  std::string place(const probe::Event& e, const ProbeSpec* spec);
  std::vector<std::string> places(const ProbeGroup& group);
  std::vector<std::string> places(const Probe& p);
  std::string interval(const probe::Event& e);
  void head(Writer& out);
  void config(Writer& out);
  void map_declarations(Writer& out);
  void write_end();
  bool at_least(int version) const { return job_.version >= version; }

  const Job& job_;
  Names maps_, types_;
  Structures structures_;
  KnownKeys keys_;
  Writer out_;
  std::string begin_, end_; // lines of BEGIN and END
};

// --------------------------------------------------------------------------------------------- places

std::string_view kind_name(const probe::Event& e, int version) {
  switch (e.kind) {
  case probe::Kind::begin: return version >= 24 ? "begin" : "BEGIN";
  case probe::Kind::end: return version >= 24 ? "end" : "END";
  case probe::Kind::fentry: return version >= 20 ? "fentry" : "kfunc";
  case probe::Kind::fexit: return version >= 20 ? "fexit" : "kretfunc";
  case probe::Kind::iterator: return "iter";
  default: return probe::kind_of(e).name;
  }
}

// Times as numbers of the largest unit that divides them.
std::string Bpftrace::interval(const probe::Event& e) {
  const std::string kind = e.kind == probe::Kind::profile ? "profile" : "interval";
  if (e.frequency) return kind + ":hz:" + std::to_string(e.frequency);
  constexpr std::pair<std::string_view, uint64_t> units[] = {{"s", 1'000'000'000}, {"ms", 1'000'000}, {"us", 1'000}};
  for (const auto& [unit, ns] : units)
    if (e.period_ns >= ns && e.period_ns % ns == 0) return kind + ":" + std::string(unit) + ":" + std::to_string(e.period_ns / ns);
  return kind + ":us:" + std::to_string(std::max<uint64_t>(1, e.period_ns / 1'000));
}

// A probe as the script has it, in the words of this version.
std::string Bpftrace::place(const ProbeSpec& spec, const probe::Event& e) {
  std::string out(kind_name(e, job_.version));
  const bool has_line = spec.text.find('@') != spec.text.npos && e.module;
  const bool is_demangled = std::ranges::find(spec.parts, "cpp") != spec.parts.end();
  if ((e.module && (has_line || (is_demangled && !at_least(19)) || spec.parts.size() == 2))) return place(e, &spec);
  size_t first = 1;
  if (e.kind == probe::Kind::kprobe && spec.parts.size() == 3 && !at_least(20)) first = 2; // modules of kprobes
  if (e.kind == probe::Kind::rawtracepoint && spec.parts.size() == 3) first = 2;
  for (size_t i = first; i < spec.parts.size(); i++) out += ":" + std::string(spec.parts[i]);
  return out;
}

// One event, without its probe in the script: what a block that is copied for each of them, or that acu added, is attached to.
std::string Bpftrace::place(const probe::Event& e, const ProbeSpec* spec) {
  std::string out(kind_name(e, job_.version));
  if (!e.module) {
    const size_t rest = e.name.find(':');
    return out + (rest == e.name.npos ? "" : e.name.substr(rest));
  }
  // The name of the file as the script has it, where that is one file.
  std::string binary = e.binary;
  if (spec && spec->parts.size() >= 3 && !base::has_glob(spec->parts[1])) binary = std::string(spec->parts[1]);
  if (e.kind == probe::Kind::usdt) return out + e.name.substr(std::min(e.name.find(':'), e.name.size()));
  const bool is_function = e.at_entry && !e.is_inlined && !e.at_return_instruction;
  if (is_function || e.kind == probe::Kind::uretprobe) return out + ":" + binary + ":" + e.function;
  return out + ":" + binary + ":" + base::print("0x%llx", static_cast<unsigned long long>(e.address));
}

const ProbeSpec* spec_of(const Probe& p, const probe::Event& e) {
  for (const ProbeSpec& s : p.specs)
    if (p.specs.size() == 1 || (s.parts.size() > 1 && is_event_of(s, e))) return &s;
  return nullptr;
}

std::vector<std::string> Bpftrace::places(const Probe& p) {
  std::vector<std::string> out;
  for (const probe::Event* e : p.events) {
    std::string text = e->kind == probe::Kind::interval || e->kind == probe::Kind::profile ? interval(*e) : place(*e, spec_of(p, *e));
    if (std::ranges::find(out, text) == out.end()) out.push_back(std::move(text));
  }
  return out;
}

// Of a block that is written once: the probes of the script, each if it has an event on this host.
std::vector<std::string> Bpftrace::places(const ProbeGroup& group) {
  std::vector<std::string> out;
  std::vector<const probe::Event*> events;
  for (const Probe* p : group.copies) events.insert(events.end(), p->events.begin(), p->events.end());
  const probe::Event& first = *events[0];
  if (first.kind == probe::Kind::interval || first.kind == probe::Kind::profile || first.kind == probe::Kind::begin || first.kind == probe::Kind::end)
    return places(*group.copies[0]);
  for (const ProbeSpec& spec : group.copies[0]->specs) {
    const auto event = std::ranges::find_if(events, [&](const probe::Event* e) { return is_event_of(spec, *e); });
    if (event == events.end()) continue;
    std::string text = place(spec, **event);
    if (std::ranges::find(out, text) == out.end()) out.push_back(std::move(text));
  }
  return out.empty() ? places(*group.copies[0]) : out;
}

// --------------------------------------------------------------------------------------------- probes

Bpftrace::Body Bpftrace::body(const Probe& p) {
  Names names(reserved);
  Writer inner(job_.source, "//");
  inner.indent();
  BpftracePrinter printer(job_, bpftrace_target, inner, names, maps_, structures_, keys_, &p);
  Body out;
  if (p.predicate) out.predicate = printer.condition(*p.predicate);
  printer.statements(*p.body);
  out.text = inner.take();
  return out;
}

void Bpftrace::write(const Probe& first, const std::vector<std::string>& places, const Body& body, std::string_view more) {
  out_.blank();
  out_.place(first.where, more);
  std::string list;
  for (const std::string& p : places) list += (list.empty() ? "" : ",\n") + p;
  const bool is_short = body.predicate.empty();
  if (!is_short) list += "\n/" + body.predicate + "/";
  out_.line(list + (is_short ? " {" : "\n{"));
  out_.line(body.text.ends_with('\n') ? std::string_view(body.text).substr(0, body.text.size() - 1) : std::string_view(body.text));
  out_.line("}");
}

// Older versions take one BEGIN and one END.
bool Bpftrace::merge(const Probe& p) {
  const probe::Kind kind = p.events[0]->kind;
  if (at_least(24) || (kind != probe::Kind::begin && kind != probe::Kind::end)) return false;
  const Body b = body(p);
  std::string& to = kind == probe::Kind::begin ? begin_ : end_;
  to += "  // " + out_.place_of(p.where) + "\n";
  if (b.predicate.empty()) {
    to += b.text;
  } else {
    to += "  if (" + b.predicate + ") {\n";
    for (std::string_view line : base::split(b.text, '\n'))
      if (!line.empty()) to += "  " + std::string(line) + "\n";
    to += "  }\n";
  }
  return true;
}

void Bpftrace::probe(const ProbeGroup& group) {
  const Probe& first = *group.copies[0];
  if (merge(first)) return;
  const std::string_view more = first.is_own ? "values at the entry, for the return" : "";
  const Body text = body(first);
  const bool are_alike = std::ranges::all_of(group.copies, [&](const Probe* p) { return p == &first || body(*p) == text; });
  if (are_alike) return write(first, first.is_own ? places(first) : places(group), text, more);
  for (const Probe* p : group.copies) write(first, places(*p), body(*p), more);
}

// ---------------------------------------------------------------------------------------- the whole file

// Keys that the script sets. Before 0.20 they are variables of the environment, which the first line sets.
void Bpftrace::config(Writer& out) {
  constexpr std::string_view known[] = {"max_strlen", "max_map_keys", "max_probes", "missing_probes", "stack_mode", "max_cat_bytes", "perf_rb_pages", "print_maps_on_exit", "symbol_source"};
  std::string block;
  for (const spec::ConfigKey& key : spec::config_keys) {
    const std::string& value = job_.program.config.text(key.name);
    if (value == key.value || !base::is_one_of(known, key.name)) continue;
    if (key.name == "missing_probes" && !at_least(21)) continue;
    if ((key.name == "symbol_source" || key.name == "print_maps_on_exit") && !at_least(22)) continue;
    block += (block.empty() ? "" : "; ") + std::string(key.name) + " = " + value;
  }
  if (!block.empty() && at_least(20)) out.line("config = { " + block + " }");
}

const spec::ConfigKey& key_of(std::string_view name) { return *std::ranges::find(spec::config_keys, name, &spec::ConfigKey::name); }

std::string environment(const Job& job) {
  constexpr std::string_view kept[] = {"max_cat_bytes", "max_map_keys", "max_probes"};
  std::string out;
  for (const std::string_view key : kept)
    if (const std::string& value = job.program.config.text(key); value != key_of(key).value) out += spec::old_variable_of(key) + "=" + value + " ";
  size_t programs = 0;
  for (const auto& p : job.program.probes) programs += p->events.size();
  if (programs > 512) out += "BPFTRACE_MAX_BPF_PROGS=" + std::to_string(programs + 64) + " BPFTRACE_MAX_PROBES=" + std::to_string(programs + 64) + " ";
  // Texts are on the program's stack there: 200 is the most that fits. Without a line they have 64 bytes.
  if (const uint64_t bytes = job.program.config.number("max_strlen"); std::to_string(bytes) != key_of("max_strlen").value)
    out += spec::old_variable_of("max_strlen") + "=" + std::to_string(std::min<uint64_t>(bytes, 200)) + " ";
  return out;
}

void Bpftrace::head(Writer& out) {
  const std::string variables = at_least(20) ? std::string() : environment(job_);
  out.line("#!/usr/bin/env " + (variables.empty() ? "" : "-S " + variables) + "bpftrace");
  write_head(job_, bpftrace_target, out);
  if (!variables.empty()) out.comment("Run it as a program, or set in the environment: " + std::string(base::trim(variables)) + ".");
}

void Bpftrace::map_declarations(Writer& out) {
  if (!at_least(24)) return;
  for (const Map* m : job_.program.maps)
    if (m->storage != Storage::automatic && (m->declared || m->is_own)) {
      out.blank();
      out.line("let @" + maps_.of(*m) + " = " + std::string(name_of(m->storage)) + "(" + std::to_string(m->max_entries) + ");");
    }
}

// Maps that the script does not have are not printed.
void Bpftrace::write_end() {
  std::vector<std::string> lines;
  for (const Map* m : job_.program.maps)
    if (m->is_own) lines.push_back("clear(@" + maps_.of(*m) + ");");
  for (const Map* m : keys_.maps()) lines.push_back("clear(@" + maps_.of(&m->key_where, std::string(m->name) + "_known") + ");");
  if (!lines.empty()) end_ += "  // Maps that the script does not have are not printed.\n";
  for (const std::string& l : lines) end_ += "  " + l + "\n";
  if (end_.empty()) return;
  out_.blank();
  out_.line((at_least(24) ? "end {\n" : "END {\n") + end_ + "}");
}

std::vector<File> Bpftrace::run() {
  // In the order of the script: own maps get other names than the script's.
  for (const Map* m : job_.program.maps)
    if (!m->is_own && !m->name.empty()) maps_.of(*m);
  Writer out(job_.source, "//");
  head(out);
  const std::vector<ProbeGroup> groups = group_probes(job_.program);
  for (const ProbeGroup& g : groups) probe(g);
  write_end();
  out.blank();
  config(out);
  if (const std::string definitions = structures_.definitions(); !definitions.empty()) {
    out.blank();
    out.comment("Members that are used of structures that are not the kernel's.");
    out.line(definitions.substr(0, definitions.size() - 2));
  }
  map_declarations(out);
  std::string text = out.take();
  if (!text.ends_with("\n\n")) text += '\n';
  std::string probes = (begin_.empty() ? std::string() : "BEGIN {\n" + begin_ + "}\n\n") + out_.take();
  if (begin_.empty()) probes.erase(0, std::min(probes.find_first_not_of('\n'), probes.size()));
  return {{.name = job_.name + ".bt", .text = text + probes, .is_executable = true}};
}

std::vector<File> emit_bpftrace(const Job& job) { return Bpftrace(job).run(); }

} // namespace

const Target bpftrace_target = {.name = "bpftrace",
                                .title = "bpftrace",
                                .ending = ".bt",
                                .run = "bpftrace FILE",
                                .line_comment = "//",
                                .first_version = 16,
                                .last_version = 26,
                                .constructs = SupportTable::of<bpftrace_rows::constructs>(),
                                .builtins = SupportTable::of<bpftrace_rows::builtins>(),
                                .probes = SupportTable::of<bpftrace_rows::probes>(),
                                .emit = emit_bpftrace};

} // namespace emit
