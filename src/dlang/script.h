// The tree of a D script (the language of DTrace), as the parser makes it. Nodes live as long as their Script. A script has only
// straight-line clauses: what follows the parser is lower.h, which makes a lang::Program of it.
#pragma once

#include "base/source.h"
#include "lang/ast.h"

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dlang {

using base::Range;

enum class NodeKind : uint8_t {
  integer,
  text,        // a string literal
  name,        // a builtin, a global variable or an inline constant
  kernel_name, // `name: a variable of the kernel
  self,        // self->name
  clause,      // this->name
  aggregation, // @name
  call,
  unary,
  binary,
  logical_xor,
  ternary,
  assign,    // parts: target, value; compound: `op` is set
  increment, // ++ and --
  cast,      // (type)e
  size_of,   // sizeof (type), or of parts[0]
  member,    // e.text, e->text
  index,     // e[key, …]: parts[0] is what is indexed
};

// A type as written: "struct task_struct *", "uint32_t", "string".
struct TypeName {
  Range where;
  std::string keyword; // struct, union, enum or empty
  std::string name;    // words of integer types separated by a space
  int pointers = 0;
};

struct Node {
  NodeKind kind = NodeKind::integer;
  Range where;
  std::string text;
  uint64_t value = 0;
  bool is_unsigned = false, is_long = false; // integers: by their suffix
  bool is_post = false, is_down = false;     // increments
  bool is_compound = false;                  // assignments
  lang::UnaryOp unary = lang::UnaryOp::negate;
  lang::BinaryOp op = lang::BinaryOp::add;
  TypeName type;
  std::vector<Node*> parts;
};

// provider:module:function:name, of which all but the last may be missing or empty.
struct Description {
  Range where;
  std::string provider, module, function, name;
  std::string text() const { return provider + ":" + module + ":" + function + ":" + name; }
};

struct Clause {
  Range where;
  std::vector<Description> probes;
  Node* predicate = nullptr;
  std::vector<Node*> actions;
  bool has_body = false; // without one, and with an empty one, the default action is taken
};

enum class Scope : uint8_t { global, self, clause };

// int x; self string s; this int i; uint64_t sizes[string, int];
struct Declaration {
  Range where;
  Scope scope = Scope::global;
  TypeName type;
  std::string name;
};

// #pragma D option name=value, and -x name=value, whose place is empty.
struct Setting {
  Range where;
  std::string name, value;
};

struct Script {
  std::deque<Node> nodes;
  std::vector<Clause> clauses;
  std::vector<Declaration> declarations;
  std::vector<std::pair<std::string, Node*>> inlines; // inline int X = 5;
  std::vector<Setting> settings;
};

} // namespace dlang
