// Languages with C's expressions and statements: bpftrace, SystemTap and D. What differs is a member that targets override;
// operators, precedence, braces and comments are here.
//
// Usage: a class of the target derives from CLike, overrides, and prints probe bodies with block().
#pragma once

#include "emit/names.h"
#include "emit/target.h"
#include "emit/writer.h"
#include "lang/precedence.h"

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace emit {

using namespace lang::precedence;

struct Text {
  std::string text;
  int precedence = postfix;
};

class CLike {
public:
  CLike(const Job& job, const Target& target, Writer& out, Names& names) : job_(job), target_(target), out_(out), names_(names) {}
  virtual ~CLike() = default;

protected:
  // An expression as text; `at_least`: in parentheses if it binds less tightly.
  std::string text(const lang::Expr& e, int at_least = lowest);
  std::string list(lang::List<lang::Expr*> all, size_t from = 0); // "a, b"
  // The keys of a map: the elements of a tuple, or the one.
  std::vector<const lang::Expr*> keys(const lang::MapRef& m) const;
  std::string key_list(const lang::MapRef& m);
  void block(const lang::Block& b);         // its statements
  void body(const lang::Block& b);          // the same, one level deeper: behind an open brace
  void refuse(base::Range where, std::string_view what, std::string_view reason, std::string_view nearest = {}) {
    emit::refuse(job_, target_, where, what, reason, nearest);
  }
  bool at_least(int version) const { return !job_.version || job_.version >= version; }
  // The name of a variable, without a mark. Variables of different blocks with one name in the script share it if `type_class`
  // is the same for their types.
  std::string variable_name(const lang::Variable& v);
  virtual std::string type_class(const type::Type* t) const;

  // Expressions.
  virtual Text expression(const lang::Expr& e);
  virtual Text number(const lang::Integer& e);
  virtual Text string(const lang::String& e);
  virtual Text boolean(const lang::Boolean& e) { return {e.value ? "1" : "0"}; }
  virtual Text variable(const lang::VariableRef& e) = 0;
  virtual Text map(const lang::MapRef& e) = 0;
  virtual Text name(const lang::Name& e) = 0; // builtins
  virtual Text call(const lang::Call& e) = 0;
  virtual Text unary(const lang::Unary& e);
  virtual Text binary(const lang::Binary& e);
  virtual Text ternary(const lang::Ternary& e);
  virtual Text cast(const lang::Cast& e) = 0;
  virtual Text field(const lang::FieldRef& e);
  virtual Text index(const lang::Index& e);
  virtual Text tuple(const lang::Tuple& e);

  // Statements. A loop that has become another kind of loop needs its step before each `continue`.
  virtual void statement(const lang::Stmt& s);
  virtual void let(const lang::Let& s) = 0;
  virtual void assign(const lang::Assign& s);
  virtual void call_statement(const lang::Expr& e) { out_.line(text(e) + ";"); }
  virtual void conditional(const lang::If& s);
  virtual void loop(const lang::While& s);
  virtual void range(const lang::ForRange& s);
  virtual void leave(const lang::Leave& s);
  virtual void give_back(const lang::Return& s) { out_.line(s.value ? "return " + text(*s.value) + ";" : "return;"); }
  virtual std::string assigned(const lang::Expr& target) { return text(target); }

  const Job& job_;
  const Target& target_;
  Writer& out_;
  Names& names_;
  std::map<std::tuple<std::string_view, uint32_t, std::string>, std::string> variables_;
  std::vector<const lang::Block*> steps_; // of the loops around; nullptr: it has none
  std::vector<std::string> step_lines_;   // of the loops around, instead: a line
};

// A text in double quotes with C's escapes; bytes that are no printable ASCII but valid UTF-8 stay.
std::string quoted_text(std::string_view text);
// Decimal, or as the script has it (0x…, 0644) where it is written there.
std::string literal(const base::Source& source, const lang::Integer& e);

} // namespace emit
