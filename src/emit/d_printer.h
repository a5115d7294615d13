// Expressions and statements of D. A block becomes clauses: D has no `if`, so what a condition guards is a further clause of the same
// probe, whose predicate is the condition or a clause-local variable that holds it. Clauses of a probe run in their order.
#pragma once

#include "emit/c_like.h"
#include "emit/known_keys.h"
#include "emit/structures.h"

#include <map>
#include <optional>

namespace emit {

struct DClause {
  std::string predicate; // empty: none
  std::string text;      // lines of its body
  base::Range where;     // of its first statement
  bool operator==(const DClause& o) const { return predicate == o.predicate && text == o.text; }
};

// Names of what one map has become: `us_count`, `us_average`, `us_total`, `since_known`.
using DParts = std::map<std::pair<const lang::Map*, std::string_view>, std::string>;

class DPrinter : public CLike {
public:
  DPrinter(const Job& job, const Target& target, Writer& out, Names& names, Names& globals, DParts& parts, Structures& structures, const KnownKeys& keys,
           const lang::Probe* probe)
      : CLike(job, target, out, names), globals_(globals), parts_(parts), structures_(structures), keys_(keys), probe_(probe) {}

  std::vector<DClause> clauses(const lang::Probe& p);
  std::string map_line(const lang::Map& m); // prints a map as acu does at the end; empty: D does that, or can't
  bool uses_elapsed() const { return uses_elapsed_; }
  bool is_destructive() const { return is_destructive_; }
  bool reads_text() const { return reads_text_; }

protected:
  Text expression(const lang::Expr& e) override;
  Text variable(const lang::VariableRef& e) override { return {"this->" + variable_name(*e.variable)}; }
  Text map(const lang::MapRef& e) override;
  Text name(const lang::Name& e) override;
  Text call(const lang::Call& e) override;
  Text unary(const lang::Unary& e) override;
  Text cast(const lang::Cast& e) override;
  Text field(const lang::FieldRef& e) override;
  Text index(const lang::Index& e) override;
  Text tuple(const lang::Tuple& e) override;
  void statement(const lang::Stmt& s) override;
  void let(const lang::Let& s) override;
  void assign(const lang::Assign& s) override;
  void call_statement(const lang::Expr& e) override;
  void conditional(const lang::If& s) override;
  void range(const lang::ForRange& s) override;
  std::string type_class(const type::Type* t) const override;

private:
  enum class Keeping { aggregation, thread, global };
  Keeping keeping_of(const lang::Map& m) const;
  std::string entry(const lang::Map& m, const lang::Expr* key, std::string_view suffix = {});
  std::string type_text(const type::Type& t);
  Text argument(const lang::FieldRef& e);
  Text recipe_value(const probe::Recipe& recipe, const type::Type& t, base::Range where, std::string_view what);
  Text has_key(const lang::Call& e);
  Text str(const lang::Call& e);
  std::string printf_arguments(const lang::Call& e);
  void print(const lang::Call& e);
  void remove(const lang::Call& e, const lang::Map& m, const lang::Expr* key);
  void under(const std::string& guard, const lang::Block& b); // its statements, in clauses with one more condition
  void begin_clause(base::Range where);
  void finish_clause();
  bool is_user(const lang::Expr& pointer) const;
  const probe::Event* event() const { return probe_ && !probe_->events.empty() ? probe_->events.front() : nullptr; }

  const std::string& part_name(const lang::Map& m, std::string_view part);

  Names& globals_;
  DParts& parts_;
  Structures& structures_;
  const KnownKeys& keys_;
  const lang::Probe* probe_;
  std::vector<DClause> clauses_;
  std::vector<std::string> guards_; // conditions of the current clause
  bool is_open_ = false;            // lines are being added to it
  bool uses_elapsed_ = false, is_destructive_ = false, reads_text_ = false;
};

} // namespace emit
