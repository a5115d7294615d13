// Expressions and statements of SystemTap; see stap_target.cc for the program around them.
//
// All numbers are 64-bit and signed, all else is text. Memory is read by functions that name its size and whose it is.
#pragma once

#include "emit/c_like.h"

namespace emit {

class StapPrinter : public CLike {
public:
  StapPrinter(const Job& job, const Target& target, Writer& out, Names& names, Names& globals, const lang::Probe* probe)
      : CLike(job, target, out, names), globals_(globals), probe_(probe) {}

  std::string condition(const lang::Expr& e) { return text(e); }
  std::string condition_not(const lang::Expr& e); // !(e), as a person would write it
  void statements(const lang::Block& b) { block(b); }
  std::string parameter(const lang::Variable& v) { return variable_name(v) + (type_class(v.type) == "text" ? ":string" : ":long"); }
  // A map as acu prints it: a foreach loop, or a line.
  void print_map(const lang::Map& m, int64_t most = 0);
  bool uses_elapsed() const { return uses_elapsed_; }

protected:
  Text expression(const lang::Expr& e) override;
  Text variable(const lang::VariableRef& e) override { return {variable_name(*e.variable)}; }
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
  void range(const lang::ForRange& s) override;
  void give_back(const lang::Return& s) override;
  std::string type_class(const type::Type* t) const override;

private:
  Text argument(const lang::FieldRef& e);
  Text program_value(const lang::FieldRef& e);
  Text loaded(const std::string& address, const type::Type& t);
  Text narrowed(Text value, const type::Type& t);
  std::string member_path(const lang::FieldRef& e);
  Text str(const lang::Call& e);
  Text clock_text(const lang::Call& e, size_t format);
  Text ntop(const lang::Call& e);
  std::string printf_arguments(const lang::Call& e);
  void print(const lang::Call& e);
  void append_value(std::string& format, std::string& arguments, const type::Type& t, const std::string& value);
  std::string statistic(const lang::Map& m, const std::string& entry);
  bool is_user(const lang::Expr& pointer) const;
  std::string module_of(const type::Type& structure) const;
  const probe::Event* event() const { return probe_ && !probe_->events.empty() ? probe_->events.front() : nullptr; }

  Names& globals_;
  const lang::Probe* probe_;
  bool uses_elapsed_ = false;
};

} // namespace emit
