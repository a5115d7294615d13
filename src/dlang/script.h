// The tree of a D script (the language of DTrace), as the parser makes it. Nodes live as long as their Script. A script has only
// straight-line clauses: what follows the parser is lower.h, which makes a lang::Program of it.
#pragma once

#include "base/source.h"
#include "lang/ast.h"

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
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
  offset_of, // offsetof (type, text)
  translate, // xlate <type> (parts[0])
  member,    // e.text, e->text
  index,     // e[key, …]: parts[0] is what is indexed
};

// Calls that are statements: they have no value.
inline constexpr std::string_view actions[] = {"printf", "trace", "tracemem", "printa", "exit", "normalize", "denormalize", "trunc", "clear", "system", "speculate",
                                               "commit", "discard", "raise", "stop", "print", "freopen", "ftruncate", "setopt", "copyinto", "bcopy"};

struct Node;

// A type as written, typedefs of the script resolved: "struct task_struct *", "uint32_t", "string".
struct TypeName {
  Range where;
  std::string keyword; // struct, union, enum or empty
  std::string name;    // words of integer types separated by a space
  int pointers = 0;
  std::vector<const Node*> counts = {}; // of an array: elements in each dimension; nullptr: none is given
  bool is_array() const { return !counts.empty(); }
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

// int x; self string s; this int i; uint64_t sizes[string, int]; int a[5];
struct Declaration {
  Range where;
  Scope scope = Scope::global;
  TypeName type;
  std::string name;
  bool is_associative = false; // its brackets name the types of keys
  std::vector<TypeName> keys = {};
};

// struct NAME { … }, union NAME { … }
struct StructMember {
  Range where;
  TypeName type;
  std::string name;
  const Node* bits = nullptr; // the width of a bit-field
};
struct Definition {
  Range where;
  std::string keyword, name;
  std::vector<StructMember> members;
};

// inline int N = 5; inline int twice[int n] = 2 * n;
struct Inline {
  Range where;
  std::string name;
  std::vector<std::string> parameters;
  const Node* value = nullptr;
};

// translator struct out < struct in *p > { member = expression; … };
struct Translator {
  Range where;
  std::string output; // "struct out"
  std::string parameter;
  std::vector<std::pair<std::string, const Node*>> members;
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
  std::vector<Inline> inlines;
  std::deque<Definition> definitions;
  std::vector<std::pair<std::string, TypeName>> typedefs;
  std::vector<std::pair<std::string, int64_t>> enumerators;
  std::vector<Translator> translators;
  std::vector<Setting> settings;
  std::set<uint64_t> used_words; // N of $N and $$N

  const Definition* definition(const TypeName& t) const;
  const Inline* inline_named(std::string_view name) const;
};

// What an expression of constants is; nothing of others, and of divisions by 0.
std::optional<int64_t> constant_of(const Script& script, const Node& n);

} // namespace dlang
