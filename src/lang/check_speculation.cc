// Output that depends on what comes later: `speculate` blocks, and commit() and discard(), which decide; `limit` blocks.
#include "lang/checker.h"

#include "lang/tree_maker.h"
#include "lang/walk.h"

#include "base/text.h"

#include <algorithm>

namespace lang {

using namespace spec;

// Whether a block has a `speculate` for its thread.
static bool speculates_by_thread(Block* block) {
  bool found = false;
  Rewriting look;
  look.expression = [](Expr& e) { return &e; };
  look.statement = [&](Stmt& s) { found |= s.kind == StmtKind::speculate && !as<Speculate>(s).key; };
  rewrite(block, look);
  return found;
}

// begin and end run in acu's thread.
static bool runs_in_acu(const std::unique_ptr<Probe>& p) {
  const std::string provider = base::lower(p->specs.front().parts.front());
  return provider == "begin" || provider == "end";
}

// A probe of acu's own that frees what is kept for a thread which exits.
void Checker::at_exit_of_threads(const Probe& serves, Stmt* what) {
  if (std::ranges::all_of(program_.probes, runs_in_acu)) return;
  constexpr std::string_view exits[] = {"tracepoint", "sched", "sched_process_exit"};
  probe::Mismatch mismatch;
  if (probe::match(machine_, exits, mismatch).empty()) return; // no access to tracepoints: it stays
  TreeMaker make{program_, serves.where};
  auto probe = std::make_unique<Probe>();
  probe->where = make.where;
  const ProbeSpec spec{make.where, program_.arena.copy(std::vector<std::string_view>(std::begin(exits), std::end(exits))),
                       "tracepoint:sched:sched_process_exit"};
  probe->specs = program_.arena.copy(std::vector<ProbeSpec>{spec});
  probe->body = make.block({what});
  probe->is_own = true;
  program_.probes.push_back(std::move(probe));
}

// A thread may exit before anything decides.
void Checker::forget_exited_threads() {
  auto stays_open = [](auto& p) { return !runs_in_acu(p) && speculates_by_thread(p->body); };
  const auto first = std::ranges::find_if(program_.probes, stays_open);
  if (first == program_.probes.end()) return;
  TreeMaker make{program_, (*first)->where};
  at_exit_of_threads(**first, make.statement(make.call("discard", {})));
}

void Checker::check_speculate(Speculate& s) {
  program_.speculates = true;
  (s.key ? speculates_by_key_ : speculates_by_thread_) = true;
  if (s.key) {
    const type::Type* t = check_value(*s.key);
    if (!t->is_integer() && !t->is(type::Kind::pointer) && !t->is(type::Kind::none))
      error(tag::type_mismatch, s.key->where, "the key of `speculate` is a number or a pointer, not " + text(t),
            "such as a request id, or the address of the request");
  }
  if (speculation_)
    error(tag::misplaced, s.where, "`speculate` inside `speculate`", "output is held back for one thread or key");
  const Speculate* outer = std::exchange(speculation_, &s);
  check(*s.body);
  speculation_ = outer;
}

// The output of functions is printed at once.
void Checker::refuse_in_speculation(const Call& e, const Function& f) {
  std::vector<const Function*> reached = {&f};
  bool prints = false;
  for (size_t n = 0; n < reached.size(); n++)
    walk(reached[n]->body, [&](const Expr& inner) {
      const Call* c = if_a<Call>(&inner);
      prints |= c && c->builtin && c->builtin->async && c->builtin->gives == Gives::nothing;
      if (c && c->function && std::ranges::find(reached, c->function) == reached.end()) reached.push_back(c->function);
    });
  if (prints)
    error(tag::misplaced, e.where, "`speculate` can't hold back what the function `" + std::string(f.name) + "` prints",
          "make it a macro, or call it outside of the block");
}

// commit() and discard()
const type::Type* Checker::check_decision(Call& e) {
  decisions_[e.where.begin] = &e;
  return nullptr;
}

void Checker::warn_of_idle_decisions() {
  for (const auto& [begin, c] : decisions_) {
    const bool by_key = !c->arguments.empty();
    if (by_key ? speculates_by_key_ : speculates_by_thread_) continue;
    const bool has_others = speculates_by_key_ || speculates_by_thread_;
    diagnostics_.warning(tag::unused, c->where, "`" + std::string(c->name) + "` has no effect: no block is held back " + (by_key ? "by key" : "by thread"),
                         !has_others ? "output in `speculate { … }` is held back"
                         : by_key    ? "the script has `speculate { … }`, which `" + std::string(c->name) + "()` decides"
                                     : "the script has `speculate(key) { … }`, which `" + std::string(c->name) + "(key)` decides");
  }
}

void Checker::check_limit(Limit& l) {
  check_value(*l.count);
  const Constant& count = l.count->constant;
  if (count.kind != Constant::integer)
    error(tag::bad_argument, l.count->where, "limit takes a number that is known when the script is compiled");
  else if (count.integer_value < 1 || count.integer_value > INT32_MAX)
    error(tag::bad_argument, l.count->where, "limit takes a number from 1 to " + std::to_string(INT32_MAX));
  check(*l.body);
}

} // namespace lang
