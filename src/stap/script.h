// The tree of a SystemTap script, as the parser makes it. Nodes live as long as their Script. What follows is lower.h, which makes a
// lang::Program of it.
#pragma once

#include "base/source.h"

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace stap {

using base::Range;

enum class NodeKind : uint8_t {
  integer,
  text,      // a string literal
  name,      // a local or global variable, or what the probe calls so
  argument,  // $1, @1, $#, @#: `text` is the number or "#"; is_text: @
  target,    // $name, $$name: `text` without the first $
  operation, // @count(s), @cast(p, "t"), …: `text` without @
  call,
  unary,
  binary, // also `.`, `=~`, `!~`
  ternary,
  assign,    // `text`: "=", "+=", ".=", "<<<", …
  increment, // `text`: "++" or "--"
  member,    // parts[0]->text
  index,     // parts[0][parts[1], …]
  contained, // [parts[0], …] in parts.back()
  any,       // `*` as a key
};

struct Node {
  NodeKind kind = NodeKind::integer;
  Range where;
  std::string text;
  uint64_t value = 0;
  bool is_text = false; // arguments
  bool is_post = false; // increments
  std::vector<Node*> parts;
};

enum class StatementKind : uint8_t { empty, expression, block, conditional, loop_while, loop_for, loop_each, leave_loop, continue_loop, next, give_back, remove, attempt };

// foreach (value = [a, b+] in array[*, 1] limit n)
struct Each {
  std::vector<Node*> keys; // names
  std::string value;       // or empty
  Node* array = nullptr;   // a name, or an index whose keys select
  int sort = 0;            // 1: ascending, -1: descending, 0: none
  int sort_key = -1;       // the key that is sorted by; -1: the value
  std::string sort_by;     // of statistics: "count", "sum", …
  Node* limit = nullptr;
};

struct Statement {
  StatementKind kind = StatementKind::empty;
  Range where;
  Node* value = nullptr;                            // expression, condition, result, what is deleted
  Node *first = nullptr, *step = nullptr;           // of for
  Statement *body = nullptr, *otherwise = nullptr;  // also the branch of catch
  std::vector<Statement*> list;                     // of a block
  std::string name;                                 // of catch (name)
  Each each;
};

// One word of a probe point: `function("f")`.
struct Component {
  std::string name; // may have `*`
  Node* argument = nullptr;
};

struct Point {
  Range where;
  std::vector<Component> components;
  Node* condition = nullptr; // if (…)
  bool is_optional = false;  // `?` or `!`: it may not exist
  std::string text() const;  // `kernel.function("f").return`
};

struct Probe {
  Range where;
  std::vector<Point> points;
  Statement* body = nullptr;
};

// probe NAME = POINT, … { … }; `+=`: the block runs behind that of the probe.
struct Alias {
  Range where;
  std::string name;
  std::vector<Point> points;
  Statement* body = nullptr;
  bool is_behind = false;
};

struct Global {
  Range where;
  std::string name;
  Node* size = nullptr;
  bool wraps = false; // `%`: the oldest element makes room
  Node* initial = nullptr;
};

struct Parameter {
  Range where;
  std::string name, type; // "long", "string" or empty
};

struct Function {
  Range where;
  std::string name, type;
  std::vector<Parameter> parameters;
  Statement* body = nullptr;
};

struct Comment {
  Range where;
  std::string text;
};

// What a person must decide or should know, at a place of the script.
struct Remark {
  Range where;
  std::string text;
};

struct Script {
  std::deque<Node> nodes;
  std::deque<Statement> statements;
  std::vector<Probe> probes;
  std::vector<Alias> aliases;
  std::vector<Global> globals;
  std::vector<Function> functions;
  std::vector<Comment> comments;
  std::vector<Remark> remarks;
};

} // namespace stap
