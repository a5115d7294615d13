// Scripts for bpftrace before 0.22, where a variable was seen in the whole block of a probe from its first assignment on,
// in whatever inner block that was.
#include "lang/checker.h"

namespace lang {

using namespace spec;

// A variable that is not known here, but was assigned in a block that has ended: from the next round on it is declared.
bool Checker::widen(const VariableRef& e) {
  if (!options_.accepts_old_scripts || !probe_ || e.expansion || !assigned_[probe_].contains(e.name)) return false;
  if (widened_[probe_].insert(e.name).second)
    diagnostics_.warning(tag::deprecated, e.where,
                         "variable `$" + std::string(e.name) + "` is used outside the block that assigns it",
                         "declare it before the block: `let $" + std::string(e.name) + ";`");
  changed_ = true;
  return true;
}

// As if the script said `let $x;` at the start of the block.
void Checker::declare_widened() {
  for (auto& [probe, names] : widened_) {
    std::vector<Stmt*> statements;
    for (std::string_view name : names) {
      Let* let = program_.arena.make<Let>(probe->body->where);
      let->name = name;
      let->name_where = probe->body->where;
      statements.push_back(let);
    }
    statements.insert(statements.end(), probe->body->statements.begin(), probe->body->statements.end());
    probe->body->statements = program_.arena.copy(statements);
  }
  widened_.clear();
}

} // namespace lang
