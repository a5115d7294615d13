// The order of the checker's work: resolve probes, copy blocks whose events see different arguments, go round
// until no map or variable learns a new type, then once more if there are mistakes to report.
#include "lang/checker.h"

#include "base/text.h"
#include "lang/c_types.h"
#include "lang/walk.h"

#include <algorithm>
#include <utility>

namespace lang {

using namespace spec;

// More rounds than any chain of inferences needs: each round settles at least one type or is the last.
static constexpr int max_rounds = 50;

void Checker::error(std::string_view tag, Range where, std::string message, std::string hint) {
  Range used_at = macro_use_ ? macro_use_->where : Range();
  // Once for all functions of a pattern.
  if (report_ && user_event() && !told_.emplace(tag, where.begin, where.end).second) return;
  if (tells())
    diagnostics_.error(tag, where, std::move(message), std::move(hint), used_at, "the macro is used here");
}

void Checker::warning(std::string_view tag, Range where, std::string message, std::string hint) {
  Range used_at = macro_use_ ? macro_use_->where : Range();
  if (tells())
    diagnostics_.warning(tag, where, std::move(message), std::move(hint), used_at, "the macro is used here");
}

const type::Type* Checker::mistake(std::string_view tag, Range where, std::string message, std::string hint) {
  error(tag, where, std::move(message), std::move(hint));
  return types_.none();
}

std::vector<probe::Event*> Checker::match(const ProbeSpec& spec, std::vector<Unmatched>& unmatched) {
  probe::Mismatch mismatch;
  std::vector<std::string_view> parts(spec.parts.begin(), spec.parts.end());
  std::vector<probe::Event> found = probe::match(machine_, parts, mismatch);
  std::vector<probe::Event*> events;
  for (probe::Event& e : found) {
    program_.events.push_back(std::make_unique<probe::Event>(std::move(e)));
    events.push_back(program_.events.back().get());
  }
  for (std::string& warning : mismatch.warnings)
    diagnostics_.warning(tag::doubtful_probe, spec.where, std::move(warning));
  if (!events.empty()) return events;
  if (mismatch.denied) {
    diagnostics_.error(tag::denied, spec.where, mismatch.message, mismatch.hint);
    return events;
  }
  if (mismatch.kind == probe::Mismatch::missing) {
    const std::string& policy = program_.config.text("missing_probes");
    if (policy == "warn")
      diagnostics_.warning(tag::no_such_probe, spec.where, mismatch.message, mismatch.hint);
    if (policy != "error") {
      if (!ignored_) ignored_ = {spec.where, std::move(mismatch)};
      return events;
    }
    const bool is_pattern = std::ranges::any_of(parts, base::has_glob);
    if (is_pattern || options_.accepts_old_scripts) {
      unmatched.push_back({spec.where, std::move(mismatch), is_pattern});
      return events;
    }
  }
  constexpr std::string_view tags[] = {tag::unknown_provider, tag::bad_probe, tag::no_such_probe};
  diagnostics_.error(tags[mismatch.kind], spec.where, mismatch.message, mismatch.hint);
  return events;
}

// A pattern that matches nothing is left out where other probes are there; a script of nothing else is a mistake.
void Checker::report_unmatched(const std::vector<Unmatched>& unmatched, bool others_match) {
  for (const Unmatched& u : unmatched)
    if (others_match)
      diagnostics_.warning(tag::no_such_probe, u.where, u.why.message + "; this probe is left out", u.why.hint);
    else
      diagnostics_.error(tag::no_such_probe, u.where, u.why.message, u.why.hint);
}

// The events of a block. Of old scripts places that are missing among others are left out.
std::vector<probe::Event*> Checker::match_all(const Probe& probe, std::vector<Unmatched>& unmatched) {
  std::vector<probe::Event*> out;
  std::vector<Unmatched> here, missing;
  for (const ProbeSpec& spec : probe.specs)
    for (probe::Event* e : match(spec, here)) out.push_back(e);
  for (Unmatched& u : here) (u.is_pattern ? unmatched : missing).push_back(std::move(u));
  report_unmatched(missing, !out.empty());
  return out;
}

// Takes blocks without events out of the program.
void Checker::keep_left_out() {
  for (auto& p : program_.probes) {
    if (!p->events.empty()) continue;
    if (std::optional<probe::Event> event = probe::stand_in(p->specs.front().parts)) {
      stand_ins_.push_back(std::make_unique<probe::Event>(std::move(*event)));
      p->events.push_back(stand_ins_.back().get());
      left_out_.push_back(std::move(p));
    }
    p.reset();
  }
  std::erase(program_.probes, nullptr);
}

void Checker::match_probes() {
  size_t total = 0;
  std::vector<Unmatched> unmatched;
  bool left_out = false;
  for (auto& p : program_.probes) {
    for (probe::Event* e : match_all(*p, unmatched)) {
      bool is_test = e->kind == probe::Kind::test, is_bench = e->kind == probe::Kind::bench;
      left_out |= (is_test && !options_.runs_tests) || (is_bench && !options_.runs_benches);
      const bool runs = (!is_test || options_.runs_tests) && (!is_bench || options_.runs_benches);
      if (runs && (!options_.wants_probe || options_.wants_probe(*e))) p->events.push_back(e);
    }
    total += p->events.size();
  }
  report_unmatched(unmatched, total > 0);
  uint64_t most = program_.config.number("max_probes");
  if (total > most)
    diagnostics_.error(tag::too_many_probes, program_.probes.front()->where,
                       "this script has " + std::to_string(total) + " probes, more than the limit of " +
                           std::to_string(most),
                       "set the environment variable ACU_MAX_PROBES or the configuration key max_probes");
  const auto is_event = [](const probe::Event* e) { return e->kind != probe::Kind::begin && e->kind != probe::Kind::end; };
  if (options_.needs_events && ignored_ && std::ranges::none_of(program_.probes, [&](auto& p) { return std::ranges::any_of(p->events, is_event); }))
    report_unmatched({*ignored_}, false);
  blocks_are_missing_ = diagnostics_.has_errors();
  keep_left_out();
  if (program_.probes.empty() && !diagnostics_.has_errors())
    diagnostics_.error(tag::no_such_probe, {0, 0}, "no probe is left to attach",
                       left_out ? "probes of the kinds test and bench run with --test and --bench" : "");
}

void Checker::check_probe(Probe& probe) {
  probe_ = &probe;
  probe.variable_count = 0;
  probe.fields.clear();
  assigned_[&probe].clear();
  scopes_.clear();
  scopes_.emplace_back();
  if (probe.predicate) check_condition(probe.predicate);
  check(*probe.body);
  probe_ = nullptr;
}

void Checker::check_function(Function& function) {
  function_ = &function;
  function.variable_count = 0;
  scopes_.clear();
  scopes_.emplace_back();
  function.result_type = function.result ? in_learned_space(resolve(*function.result), function.result_space.settled)
                                         : types_.none();
  for (Parameter& p : function.parameters) {
    const type::Type* t = p.type ? resolve(*p.type) : nullptr;
    if (!t) {
      error(tag::bad_parameter, p.where, "parameter `$" + std::string(p.name) + "` needs a type",
            "write `$" + std::string(p.name) + " : uint64`");
      t = types_.none();
    }
    Variable* v = declare(p.variable, p.name, p.where);
    v->declared = true;
    v->type = in_learned_space(t, p.space.settled);
  }
  check(*function.body);
  if (!function.result_type->is(type::Kind::none) && !leaves(*function.body))
    error(tag::missing_return, function.name_where,
          "function `" + std::string(function.name) + "` returns " + text(function.result_type) + ", but not on every path",
          "end it with `return …;`");
  function_ = nullptr;
}

void Checker::round() {
  changed_ = learned_ = guessed_ = kept_silent_ = waits_ = false;
  for (Map* m : program_.maps) {
    m->only_adds = m->tid_only = true;
    m->used = false;
  }
  settle_spaces(true);
  for (Function* f : program_.functions) check_function(*f);
  for (auto& p : program_.probes) check_probe(*p);
  if (!unassigned_.empty())
    for (auto& p : left_out_) check_probe(*p);
  settle_spaces(false);
}

// What is known only once every use was seen.
void Checker::finish_maps() {
  for (Map* m : program_.maps)
    if (m->used || m->declared) finish_map(*m);
  std::erase_if(program_.maps, [](Map* m) { return !m->used; });
}

// What C definitions need of the machine, and whom they tell their mistakes.
void Checker::prepare_c_types() {
  CTypes& own = *program_.c_types;
  own.kernel_type = [&machine = machine_](std::string_view keyword, std::string_view name) {
    return machine.kernel_type(keyword, name);
  };
  own.kernel_enumerator = [&machine = machine_](std::string_view name) { return machine.kernel_enumerator(name); };
  own.tell = [this](std::string_view tag, Range where, std::string message, std::string hint) {
    diagnostics_.error(tag, where, std::move(message), std::move(hint));
  };
  own.check_script();
  own.tell = {};
}

// The call of a function that comes back to it, of each that is its own caller.
void Checker::refuse_recursion() {
  std::vector<std::vector<std::pair<Function*, Range>>> calls(program_.functions.size());
  for (Function* f : program_.functions)
    walk(f->body, [&](const Expr& e) {
      const Call* c = if_a<Call>(&e);
      if (c && c->function) calls[f->id].push_back({c->function, c->where});
    });
  for (Function* f : program_.functions) {
    std::vector<bool> seen(calls.size());
    std::vector<uint32_t> open{f->id};
    while (!open.empty()) {
      uint32_t at = open.back();
      open.pop_back();
      for (auto& [callee, where] : calls[at]) {
        if (callee == f)
          return error(tag::recursion, where, "function `" + std::string(f->name) + "` calls itself" +
                           (at == f->id ? "" : " by way of `" + std::string(program_.functions[at]->name) + "`"),
                       "the kernel allows no recursion: use a loop, or the evaluator (--engine eval)");
        if (!seen[callee->id]) seen[callee->id] = true, open.push_back(callee->id);
      }
    }
  }
}

// Until no round learns anything. Conditions that ask for types are then decided, and their branches may teach more.
void Checker::infer_types() {
  const auto settle = [&] {
    // One round is enough where each type is known before it is asked for.
    int rounds = 0;
    do {
      round();
      declare_widened();
    } while ((changed_ || (guessed_ && (learned_ || rounds == 0))) && ++rounds < max_rounds);
  };
  settle();
  while (waits_) {
    decides_ = true;
    round();
    decides_ = false;
    if (!changed_) return; // none that is left can be decided, which is reported
    settle();
  }
  if (!find_unassigned()) return;
  round();
  for (Map* m : std::exchange(unassigned_, {}))
    if (!settled(m->inferred_value) && std::exchange(m->assigned, false)) only_left_out_.insert(m);
  settle();
}

// Maps and variables that are used and get no value, unless where nothing is reached (learn_from_skipped) or in blocks that are left out. Whether there
// are any.
bool Checker::find_unassigned() {
  for (Map* m : program_.maps)
    if (m->used && !m->value && !m->assigned) unassigned_.insert(m);
  std::erase_if(never_given_, [](const Variable* v) { return v->inferred.type || v->is_given; });
  return !unassigned_.empty() || !never_given_.empty();
}

Checked Checker::run() {
  prepare_c_types();
  keep_request_contexts();
  if (options_.in_kernel) forget_exited_threads();
  match_probes();
  offer_program_types();
  if (!diagnostics_.has_errors()) split_by_arguments();
  for (size_t i = 0; i < program_.functions.size(); i++) {
    Function& f = *program_.functions[i];
    f.id = static_cast<uint32_t>(i);
    for (size_t j = 0; j < i; j++)
      if (program_.functions[j]->name == f.name)
        diagnostics_.error(tag::redeclared, f.name_where,
                           "function `" + std::string(f.name) + "` is defined twice");
    if (find_builtin(f.name))
      diagnostics_.error(tag::redeclared, f.name_where, "`" + std::string(f.name) + "` is a builtin's name",
                         "choose another name for this function");
  }
  infer_types();
  report_ = true;
  if (kept_silent_) round();
  if (!options_.allows_recursion) refuse_recursion();
  warn_of_idle_decisions();
  finish_maps();
  return {!diagnostics_.has_errors(), std::move(parameters_)};
}

Checked check(Program& program, probe::Machine& machine, const CheckOptions& options,
              base::Diagnostics& diagnostics) {
  return Checker(program, machine, options, diagnostics).run();
}

} // namespace lang
