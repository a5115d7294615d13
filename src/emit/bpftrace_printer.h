// Expressions and statements of bpftrace, for one version; see bpftrace_target.cc for the program around them.
#pragma once

#include "emit/c_like.h"
#include "emit/known_keys.h"
#include "emit/recipe_text.h"
#include "emit/structures.h"

#include <optional>

namespace emit {

class BpftracePrinter : public CLike {
public:
  BpftracePrinter(const Job& job, const Target& target, Writer& out, Names& names, Names& maps, Structures& structures, const KnownKeys& keys,
                  const lang::Probe* probe)
      : CLike(job, target, out, names), maps_(maps), structures_(structures), keys_(keys), probe_(probe) {}

  std::string condition(const lang::Expr& e) { return text(e); }
  void statements(const lang::Block& b) { block(b); }
  std::string map_name(const lang::Map& m) { return "@" + (m.name.empty() ? std::string() : maps_.of(m)); }
  std::string keys_name(const lang::Map& m) { return "@" + maps_.of(&m.key_where, std::string(m.name) + "_known"); }

protected:
  Text variable(const lang::VariableRef& e) override { return {"$" + variable_name(*e.variable)}; }
  Text map(const lang::MapRef& e) override;
  Text name(const lang::Name& e) override;
  Text call(const lang::Call& e) override;
  Text cast(const lang::Cast& e) override;
  Text field(const lang::FieldRef& e) override;
  Text index(const lang::Index& e) override;
  Text boolean(const lang::Boolean& e) override { return {job_.version >= 24 ? (e.value ? "true" : "false") : e.value ? "1" : "0"}; }
  Text tuple(const lang::Tuple& e) override;
  Text ternary(const lang::Ternary& e) override;
  std::string assigned(const lang::Expr& target) override;
  void statement(const lang::Stmt& s) override;
  void let(const lang::Let& s) override;
  void assign(const lang::Assign& s) override;
  void call_statement(const lang::Expr& e) override;
  void range(const lang::ForRange& s) override;
  std::string type_class(const type::Type* t) const override;

private:
  std::string type_text(const type::Type& t);
  std::string deref(const type::Type& t, const Text& address);
  Text recipe_value(const probe::Recipe& recipe, const type::Type& type, base::Range where, std::string_view what);
  std::optional<Text> recipe_address(const lang::Expr& e);
  Text argument(const lang::FieldRef& e);
  Text curtask(std::string_view path, const lang::Expr& e);
  Text has_key(const lang::Call& e);
  std::string map_with_key(const lang::Map& m, std::string_view name, const lang::Expr* key);
  std::string key_of(const lang::Expr& key);
  std::string plain_arguments(const lang::Call& e);
  std::string format_arguments(const lang::Call& e);
  const probe::Event* event() const { return probe_ && !probe_->events.empty() ? probe_->events.front() : nullptr; }

  Names& maps_;
  Structures& structures_;
  const KnownKeys& keys_;
  const lang::Probe* probe_;
};

} // namespace emit
