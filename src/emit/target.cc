#include "emit/targets.h"

#include "base/text.h"
#include "emit/simplify.h"
#include "emit/statements.h"
#include "lang/walk.h"
#include "spec/builtins.h"
#include "spec/diagnostics.h"
#include "spec/probes.h"

#include <algorithm>
#include <iterator>
#include <set>

namespace emit {

using namespace lang;

Support support_of(const Target& target, Construct construct) {
  for (const Support& s : target.constructs)
    if (s.construct == construct) return s;
  return {.construct = construct, .level = Level::no, .note = "it has nothing like it"};
}

static Support find_named(const SupportTable& rows, std::string_view name) {
  for (const Support& s : rows)
    if (s.name == name) return s;
  return {.name = name, .level = Level::no, .note = "it has nothing like it"};
}

Support support_of_builtin(const Target& target, std::string_view name) { return find_named(target.builtins, name); }
Support support_of_probe(const Target& target, std::string_view name) { return find_named(target.probes, name); }

// "bpftrace 0.17"
static std::string title_of(const Target& target, int version) {
  return std::string(target.title) + (version ? " 0." + std::to_string(version) : "");
}

void refuse(const Job& job, const Target& target, base::Range where, std::string_view what, std::string_view reason, std::string_view nearest) {
  job.diagnostics.error(spec::tag::misplaced, where,
                        std::string(what) + " can't be carried over to " + title_of(target, job.version) + ": " + std::string(reason),
                        std::string(nearest));
}

namespace {

class Judging {
public:
  Judging(const Job& job, const Target& target) : job_(job), target_(target) {}

  void run() {
    for (const auto& p : job_.program.probes) {
      judge_probe(*p);
      judge(p->predicate, p->body);
    }
    for (const Function* f : job_.program.functions) {
      judge(support_of(target_, Construct::function), f->name_where, std::string(name_of(Construct::function)));
      judge(nullptr, f->body);
    }
    for (const Map* m : job_.program.maps)
      if (m->declared && !m->is_own && m->storage != Storage::automatic)
        judge(support_of(target_, Construct::map_declared), m->where, std::string(name_of(Construct::map_declared)));
  }

private:
  void judge(const Support& s, base::Range where, std::string what) {
    if (s.level_at(job_.version) != Level::no || !told_.emplace(where.begin, what).second) return;
    std::string reason(s.note);
    if (s.since && s.level != Level::no) reason = "version 0." + std::to_string(s.since) + " is the first that has it" + (reason.empty() ? "" : "; " + reason);
    refuse(job_, target_, where, what, reason, s.nearest);
  }

  void judge_probe(const Probe& p) {
    if (p.predicate) judge(support_of(target_, Construct::predicate), p.predicate->where, std::string(name_of(Construct::predicate)));
    for (const ProbeSpec& spec : p.specs)
      if (!p.is_own && spec.parts.size() > 1 && base::has_glob(spec.text.substr(spec.parts[0].size())))
        judge(support_of(target_, Construct::wildcard), spec.where, std::string(name_of(Construct::wildcard)));
    for (const probe::Event* e : p.events) {
      const spec::ProbeKind& kind = probe::kind_of(*e);
      judge(support_of_probe(target_, kind.name), p.specs.empty() ? p.where : p.specs[0].where, "a probe of the kind `" + std::string(kind.name) + "`");
    }
  }

  // Tuples that are written as keys are no values of their own.
  void look_for_keys(const Expr& e) {
    if (const MapRef* m = if_a<MapRef>(&e)) keys_.insert(m->key);
    const Call* c = if_a<Call>(&e);
    if (c && c->arguments.size() > 1 && c->builtin && c->builtin->params[1].takes == spec::Takes::key) keys_.insert(c->arguments[1]);
  }

  void judge(const Expr* predicate, const Block* body) {
    const auto keys = [this](const Expr& e) { look_for_keys(e); };
    walk(predicate, keys);
    walk(body, keys);
    const auto look = [this](const Expr& e) { expression(e); };
    walk(predicate, look);
    walk(body, look);
    walk_statements(body, [this](const Stmt& s) {
      if (const auto c = construct_of(s)) judge(support_of(target_, *c), s.where, std::string(name_of(*c)));
      if (s.kind == StmtKind::expression)
        if (const Unary* u = if_a<Unary>(static_cast<const Expr*>(as<ExprStmt>(s).value))) statements_.insert(u);
    });
    walk(body, [this](const Expr& e) { increment(e); });
    walk(predicate, [this](const Expr& e) { increment(e); });
  }

  void expression(const Expr& e) {
    if (const spec::Builtin* b = builtin_of(e))
      judge(support_of_builtin(target_, b->name), e.where, base::quoted(b->name) + (e.kind == ExprKind::call ? "()" : ""));
    if (const auto c = construct_of(e); c && !(c == Construct::tuple && keys_.contains(&e))) judge(support_of(target_, *c), e.where, std::string(name_of(*c)));
  }

  void increment(const Expr& e) {
    const Unary* u = if_a<Unary>(&e);
    if (u && u->op >= UnaryOp::pre_increment && !statements_.contains(u))
      judge(support_of(target_, Construct::increment), e.where, std::string(name_of(Construct::increment)));
  }

  const Job& job_;
  const Target& target_;
  std::set<std::pair<uint32_t, std::string>> told_;
  std::set<const Expr*> keys_;
  std::set<const Unary*> statements_; // ++ and -- whose value is not used
};

} // namespace

void find_unsupported(const Job& job, const Target& target) { Judging(job, target).run(); }

std::vector<File> emit_program(const Job& job, Program& program, const Target& target) {
  simplify(program, job.diagnostics);
  if (!job.diagnostics.has_errors()) find_unsupported(job, target);
  if (job.diagnostics.has_errors()) return {};
  std::vector<File> files = target.emit(job);
  if (job.diagnostics.has_errors()) return {};
  return files;
}

// ------------------------------------------------------------------------------- the table of all of them

static std::string cell(const Support& s) {
  if (s.level == Level::no) return "no: " + std::string(s.note);
  std::string text = s.level == Level::yes ? "yes" : "rewritten";
  if (s.since) {
    text = "0." + std::to_string(s.since);
    text += s.older == Level::no ? "" : ", before rewritten";
  }
  if (!s.note.empty()) text += ": " + std::string(s.note);
  return text;
}

// A row of the table; `|` of scripts would end a cell.
static void add_row(std::string& out, std::string_view what, const std::vector<std::string>& cells) {
  std::string name(what);
  base::replace_all(name, "|", "\\|");
  out += "| " + name + " |";
  for (std::string c : cells) {
    base::replace_all(c, "|", "\\|");
    out += " " + c + " |";
  }
  out += '\n';
}

static void add_head(std::string& out, std::string_view what) {
  std::vector<std::string> titles, rules;
  for (const Target* t : targets()) titles.emplace_back(t->title), rules.emplace_back("---");
  out += '\n';
  add_row(out, what, titles);
  add_row(out, "---", rules);
}

std::string support_table() {
  std::string out;
  add_head(out, "construct");
  for (const ConstructRow& row : constructs()) {
    std::vector<std::string> cells;
    for (const Target* t : targets()) cells.push_back(cell(support_of(*t, row.construct)));
    add_row(out, std::string(row.name) + ": `" + std::string(row.example) + "`", cells);
  }
  const auto add_named = [&](std::string_view head, const auto& rows, auto support) {
    add_head(out, head);
    for (const auto& row : rows) {
      std::vector<std::string> cells;
      bool any = false;
      for (const Target* t : targets()) {
        const Support s = support(*t, row.name);
        any |= s.level != Level::no;
        cells.push_back(s.note == "it has nothing like it" ? "no" : cell(s));
      }
      if (any) add_row(out, "`" + std::string(row.name) + "`", cells);
    }
  };
  add_named("probe kind", spec::probe_kinds, support_of_probe);
  add_named("builtin", spec::builtins, support_of_builtin);
  return out;
}

} // namespace emit
