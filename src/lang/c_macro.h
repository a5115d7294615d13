// The macros of C that a script and its headers define. A body is kept as text and becomes tokens when the
// macro is first used: headers define thousands, scripts use few. What is defined from the start
// (spec/c_macros.h) enters the table when it is first looked for.
#pragma once

#include "base/arena.h"
#include "host/environment.h"
#include "lang/lexer.h"

#include <span>
#include <string_view>
#include <unordered_map>

namespace lang {

struct CMacro {
  std::string_view name;
  Range where;              // of the name in its definition; empty: defined from the start
  bool is_function = false; // f(x) …
  bool is_variadic = false; // the last parameter takes all that is left
  bool is_foreign = false;  // from a header of the system: the language's own words come first
  bool is_busy = false;     // is being expanded: its name stays as it is
  bool is_empty = false;    // no body
  bool is_operator = false; // __has_include: only #if knows what it means
  enum Special : uint8_t { none, line, file, counter } special = none;
  std::span<std::string_view> parameters;
  std::string_view text; // the body
  uint32_t text_begin = 0;
  // Filled at the first use.
  struct Piece {
    Token token;
    int parameter = -1; // or the number of the parameter that stands here
  };
  bool is_read = false;
  std::span<Piece> pieces;
};

class CMacroTable {
public:
  CMacroTable(base::Arena& arena, host::Environment& host) : arena_(arena), host_(host) {}
  CMacro* find(std::string_view name);
  CMacro* define(const CMacro& macro); // in place of an older one
  void undefine(std::string_view name);

private:
  CMacro* predefined(std::string_view name);

  base::Arena& arena_;
  host::Environment& host_;
  std::unordered_map<std::string_view, CMacro*> macros_; // nullptr: undefined
};

// Whether both say the same, apart from the amount of white space.
bool is_same(const CMacro& a, const CMacro& b);

} // namespace lang
