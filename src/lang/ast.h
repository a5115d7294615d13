// The tree of a script. The parser makes it, the checker fills in what is marked "checker", lowering reads it.
// Nodes live in the arena of their Program; lists are spans in that arena.
#pragma once

#include "base/arena.h"
#include "base/source.h"
#include "spec/builtins.h"
#include "spec/group_sets.h"
#include "spec/config.h"
#include "spec/durations.h"
#include "type/type.h"

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace probe {
struct Event;  // one attachable event, probe/probe.h
struct Recipe; // how a value of the traced program is got, probe/recipe.h
}

namespace lang {

using base::Range;
struct Expr;
struct Stmt;
struct Block;
struct Function;

template<class T>
using List = std::span<T>;

// ---------------------------------------------------------------------------------------------- symbols

// How many bytes integers need, by kind: see infer.cc.
struct IntegerNeed {
  uint8_t signed_size = 0;     // those that may be negative, …
  uint8_t unsigned_size = 0;   // … those of unsigned types, …
  uint8_t difference_size = 0; // … and those of signed types that are not meant to be negative
  uint8_t literal_bits = 0;    // literals that are not negative: they fit either sign
  bool operator==(const IntegerNeed&) const = default;
};

// A type that is being inferred: what all values assigned so far have in common.
struct Inferred {
  const type::Type* type = nullptr; // nullptr: nothing was assigned yet
  std::span<Inferred> parts;        // tuples: the elements, in the order of the type's fields
  IntegerNeed need;                 // integers
  bool is_counted = false; // integers: by `++`, `+=`, …: the result of arithmetic, which has 64 bits
  bool is_asked = false;   // something was given its type by this one
};

// A scratch variable `$x` in one scope.
struct Variable {
  std::string_view name; // without `$`
  Range where;
  const type::Type* type = nullptr; // checker
  Inferred inferred;                // checker
  uint32_t expansion = 0;           // of a macro, whose variables are its own; 0: the script itself
  bool declared = false;            // by `let` with a type: the type is fixed
  bool is_given = false;            // checker: something is assigned to it
  bool is_calculated = false;       // checker: perhaps no pointer as the kernel gives it, see Checker::is_vouched
  bool captured = false;            // checker: used inside a loop body that does not declare it
  uint32_t loop_depth = 0;          // checker: loops around its declaration
  uint32_t id = 0;                  // checker: number in its probe or function
};

// How a map is kept.
enum class Storage : uint8_t { automatic, hash, lruhash, percpuhash, percpulruhash };
// As declarations name them; the first is what maps have that are not declared.
inline constexpr std::string_view storage_names[] = {"", "hash", "lruhash", "percpuhash", "percpulruhash"};
constexpr std::string_view name_of(Storage s) { return storage_names[static_cast<size_t>(s)]; }

// A map `@m`, one for the whole program.
struct Map {
  std::string_view name; // without `@`; empty for `@`
  Range where;           // of its first use
  Storage storage = Storage::automatic;
  uint64_t max_entries = 0;         // from a declaration; 0: max_map_keys
  bool declared = false;
  const type::Type* key = nullptr;   // checker; nullptr: scalar
  const type::Type* value = nullptr; // checker: as the script sees it; kept are integers in 8 bytes
  Inferred inferred_key, inferred_value; // checker
  Range key_where, value_where;          // checker: what first told their types
  List<std::string_view> key_names;      // checker: of the parts of the key, as that place has them; an empty one has none
  bool assigned = false;                      // checker: also with a value that has a mistake
  bool used = false;                          // checker: in code that is reached
  bool scalar_use = false, keyed_use = false; // checker
  uint32_t id = 0;                   // order of first use
  // What the script does with it (checker); lowering chooses the kind of map by these.
  bool only_adds = false; // integer value that is only ever ++, --, += or -= as a statement, and printed
  bool reads_buckets = false; // of histograms, for percentiles
  bool is_own = false;    // made by acu, not by the script: it is not printed
  bool tid_only = false;  // every access is @m[tid] with a scalar value, outside begin/end/interval/self
};

// What stands behind the name of a type: `*`, `[n]` or `[]`.
struct TypeSuffix {
  bool is_array = false;
  Expr* count = nullptr; // nullptr: `[]`
};

// A written type: "uint64", "struct task_struct *", "int8[8]", "int32*[4]*", "string[16]", "count_t".
struct TypeName {
  Range where;
  std::string_view name;   // without struct/union/enum
  std::string_view keyword; // "struct", "union", "enum" or ""
  List<TypeSuffix> suffixes; // from left to right
  Expr* of = nullptr;      // typeof(e)
  bool in_typeof = false;  // typeof(NAME): the name may be an enumerator's
  const type::Type* type = nullptr; // checker
  bool is_open_array() const { return !suffixes.empty() && suffixes.back().is_array && !suffixes.back().count; }
};

// ------------------------------------------------------------------------------------------ expressions

enum class ExprKind : uint8_t {
  integer,
  boolean,
  string,
  name,      // a bare identifier: builtin, enumerator, bare word
  variable,  // $x
  map,       // @m, or @m[key]
  positional, // $1
  positional_count, // $#
  call,
  unary,
  binary,
  ternary,
  cast,
  field,
  index,
  tuple,
  block, // { …; e }
  conditional, // if (c) { …; e } else { …; e }
  size_of,
  offset_of,
  type_text, // a part of typeinfo(…)
  type_name, // typeof(…) as an argument of a macro
  comptime,  // comptime e
  attempt,   // try(e, default)
};

enum class UnaryOp : uint8_t { negate, logical_not, bit_not, dereference, address_of, pre_increment, pre_decrement, post_increment, post_decrement };

enum class BinaryOp : uint8_t { mul, div, mod, add, sub, shl, shr, lt, le, gt, ge, eq, ne, bit_and, bit_xor, bit_or, logical_and, logical_or };

// Where a macro is used, and where the macro is used whose body that is in.
struct MacroUse {
  Range where;
  const MacroUse* outer = nullptr;
};

// The value of an expression that is known when the script is compiled.
struct Constant {
  enum Kind : uint8_t { none, integer, text } kind = none;
  int64_t integer_value = 0; // the bits; the type tells the sign
  std::string_view text_value;
};

struct Expr {
  ExprKind kind;
  Range where;
  const type::Type* type = nullptr; // checker
  Constant constant;                // checker
  bool adapts = false;              // checker: an integer literal (or made of such): takes the other side's sign
protected:
  Expr(ExprKind k, Range r) : kind(k), where(r) {}
};

// Of constant text: str() may have cut it; then one byte more than shows is kept, as the mark of that.
inline bool is_cut(const Expr& e) {
  return e.constant.kind == Constant::text && e.type && e.type->kind == type::Kind::string &&
         e.constant.text_value.size() >= e.type->size;
}
inline std::string_view text_of(const Expr& e) {
  return is_cut(e) ? e.constant.text_value.substr(0, e.type->size - 1) : e.constant.text_value;
}

// As functions of text see it: up to the first NUL.
inline std::string_view c_text_of(const Expr& e) {
  std::string_view text = text_of(e);
  return text.substr(0, text.find('\0'));
}

// e.as<Call>(): the node as what its kind says it is.
template<class T>
T& as(Expr& e) {
  return static_cast<T&>(e);
}
template<class T>
const T& as(const Expr& e) {
  return static_cast<const T&>(e);
}
template<class T>
T* if_a(Expr* e) {
  return e && e->kind == T::static_kind ? static_cast<T*>(e) : nullptr;
}
template<class T>
const T* if_a(const Expr* e) {
  return e && e->kind == T::static_kind ? static_cast<const T*>(e) : nullptr;
}

#define ACU_EXPR(Name, Kind)                                                                                 \
  static constexpr ExprKind static_kind = ExprKind::Kind;                                                    \
  explicit Name(Range r) : Expr(static_kind, r) {}

struct Integer : Expr {
  ACU_EXPR(Integer, integer)
  uint64_t value = 0;
};
struct Boolean : Expr {
  ACU_EXPR(Boolean, boolean)
  bool value = false;
};
struct String : Expr {
  ACU_EXPR(String, string)
  std::string_view value; // escapes resolved; may hold NULs
};
struct Name : Expr {
  ACU_EXPR(Name, name)
  std::string_view name;
  const spec::Builtin* builtin = nullptr; // checker; the parser's for `__builtin_…`, which no macro hides
  int arg_number = -1;                    // checker: argN
  const probe::Recipe* recipe = nullptr;  // checker: of a value of the traced program; the Program's
};
struct VariableRef : Expr {
  ACU_EXPR(VariableRef, variable)
  std::string_view name;
  uint32_t expansion = 0; // see Variable
  Variable* variable = nullptr; // checker
};
struct MapRef : Expr {
  ACU_EXPR(MapRef, map)
  std::string_view name;
  Expr* key = nullptr; // nullptr: @m; several keys are a Tuple
  Map* map = nullptr;  // parser
};
struct Positional : Expr {
  ACU_EXPR(Positional, positional)
  uint32_t number = 0; // from 1
};
struct PositionalCount : Expr {
  ACU_EXPR(PositionalCount, positional_count)
};
struct Call : Expr {
  ACU_EXPR(Call, call)
  std::string_view name;
  Range name_where;
  List<Expr*> arguments;
  const spec::Builtin* builtin = nullptr; // as of a Name
  const MacroUse* expanded = nullptr;     // in the body of a macro: where that is used
  Function* function = nullptr;           // checker
  const probe::Recipe* recipe = nullptr;  // checker: as of a Name
};
// Of a builtin, which may be written as a value or as a call.
inline const spec::Builtin* builtin_of(const Expr& e) {
  const Name* name = if_a<Name>(&e);
  const Call* call = if_a<Call>(&e);
  return name ? name->builtin : call ? call->builtin : nullptr;
}
inline List<Expr*> arguments_of(const Expr& e) {
  const Call* call = if_a<Call>(&e);
  return call ? call->arguments : List<Expr*>();
}
struct Unary : Expr {
  ACU_EXPR(Unary, unary)
  UnaryOp op;
  Expr* operand = nullptr;
};
struct Binary : Expr {
  ACU_EXPR(Binary, binary)
  BinaryOp op;
  Expr* left = nullptr;
  Expr* right = nullptr;
  const type::Type* common = nullptr; // checker: comparisons of values in memory: the type that holds both
};
struct Ternary : Expr {
  ACU_EXPR(Ternary, ternary)
  Expr* condition = nullptr;
  Expr* then = nullptr; // nullptr: c ?: e
  Expr* otherwise = nullptr;
};
// try(first, otherwise). Those that front ends make can say more: why and where `first` failed, and that dividing by 0 is a failure, too.
struct Attempt : Expr {
  ACU_EXPR(Attempt, attempt)
  Expr* first = nullptr;     // where it fails, `otherwise` follows
  Expr* otherwise = nullptr; // nullptr: nothing in `first` fails, also within another attempt: failed reads give 0 and are counted
  Expr *fault = nullptr, *address = nullptr; // variables that are set then: the number of an ir::Fault, and what could not be read
};
struct Cast : Expr {
  ACU_EXPR(Cast, cast)
  TypeName* target = nullptr;
  Expr* operand = nullptr;
};
struct FieldRef : Expr { // a.b, a->b, t.0
  ACU_EXPR(FieldRef, field)
  Expr* operand = nullptr;
  std::string_view name;
  Range name_where;
  type::Field field;             // checker: offset is from the start of the structure
  bool through_pointer = false;  // checker: operand is a pointer
  const probe::Recipe* recipe = nullptr; // checker: of a value of the traced program (args.x, target.x); the Program's
};
struct Index : Expr {
  ACU_EXPR(Index, index)
  Expr* operand = nullptr;
  Expr* index = nullptr;
};
struct Tuple : Expr {
  ACU_EXPR(Tuple, tuple)
  List<Expr*> elements;
  List<std::string_view> names; // empty unless a record
};
struct BlockExpr : Expr {
  ACU_EXPR(BlockExpr, block)
  Block* block = nullptr; // its `value` is the result
};
struct Conditional : Expr {
  ACU_EXPR(Conditional, conditional)
  Expr* condition = nullptr;
  Block* then = nullptr;
  Block* otherwise = nullptr;
};
struct SizeOf : Expr {
  ACU_EXPR(SizeOf, size_of)
  TypeName* target = nullptr; // or
  Expr* operand = nullptr;
};
struct OffsetOf : Expr {
  ACU_EXPR(OffsetOf, offset_of)
  TypeName* target = nullptr; // or
  Expr* operand = nullptr;
  List<std::string_view> path; // names of members; an empty one stands for the next of `indexes`
  List<Expr*> indexes;
  const type::Type* member = nullptr; // checker: the type at the end of the path
};
// typeinfo(T).base_ty and .full_ty: the name of a type's kind, or its full name.
struct TypeText : Expr {
  ACU_EXPR(TypeText, type_text)
  TypeName* target = nullptr; // or
  Expr* operand = nullptr;
  bool is_kind = false;
};
struct TypeExpr : Expr {
  ACU_EXPR(TypeExpr, type_name)
  TypeName* target = nullptr;
};
struct Comptime : Expr {
  ACU_EXPR(Comptime, comptime)
  Expr* operand = nullptr;
  Constant decided; // checker: of a condition, which branch is taken; none: not yet
};
#undef ACU_EXPR

std::optional<int> argument_number(std::string_view name); // of `arg12` or `sarg12`, parse_expression.cc
bool is_target(const Expr& e); // `target` or `target("lib")`, parse_expression.cc

// ------------------------------------------------------------------------------------------- statements

enum class StmtKind : uint8_t {
  expression,
  assign,
  discard, // _ = e
  let,
  conditional,
  loop_while,
  loop_range, // for ($i : a..b)
  loop_map,   // for ($kv : @m), for ($kv : sorted(@m, n))
  unroll,
  speculate,
  limit,
  leave, // break, continue
  give_back, // return
  block,
};

struct Stmt {
  StmtKind kind;
  Range where;
protected:
  Stmt(StmtKind k, Range r) : kind(k), where(r) {}
};
template<class T>
T& as(Stmt& s) {
  return static_cast<T&>(s);
}
template<class T>
const T& as(const Stmt& s) {
  return static_cast<const T&>(s);
}

struct Block {
  Range where;
  List<Stmt*> statements;
  Expr* value = nullptr; // the last expression, without a semicolon, where a value is wanted
};

#define ACU_STMT(Name, Kind)                                                                                 \
  static constexpr StmtKind static_kind = StmtKind::Kind;                                                    \
  explicit Name(Range r) : Stmt(static_kind, r) {}

struct ExprStmt : Stmt {
  ACU_STMT(ExprStmt, expression)
  Expr* value = nullptr;
};
struct Assign : Stmt { // target = value; compound assignments hold `target op value` in value
  ACU_STMT(Assign, assign)
  Expr* target = nullptr; // VariableRef or MapRef
  Expr* value = nullptr;
  std::optional<BinaryOp> compound; // of `+=` …: value is then only the right side
};
struct Discard : Stmt {
  ACU_STMT(Discard, discard)
  Expr* value = nullptr;
};
struct Let : Stmt {
  ACU_STMT(Let, let)
  std::string_view name;
  Range name_where;
  uint32_t expansion = 0; // see Variable
  TypeName* type = nullptr; // or nullptr
  Expr* value = nullptr;    // or nullptr
  Variable* variable = nullptr; // checker
};
struct If : Stmt {
  ACU_STMT(If, conditional)
  Expr* condition = nullptr;
  Block* then = nullptr;
  Block* otherwise = nullptr; // or nullptr; `else if` is a block of one If
};
struct While : Stmt {
  ACU_STMT(While, loop_while)
  Expr* condition = nullptr;
  Block* body = nullptr;
  Block* step = nullptr; // or nullptr; runs behind the body and after `continue`: for (…; …; step)
};
struct ForRange : Stmt {
  ACU_STMT(ForRange, loop_range)
  std::string_view name;
  Range name_where;
  uint32_t expansion = 0; // see Variable
  Expr* first = nullptr;
  Expr* last = nullptr; // exclusive
  Block* body = nullptr;
  Variable* variable = nullptr; // checker
};
inline constexpr int64_t most_sorted = 65536; // entries that a loop can sort
struct ForMap : Stmt {
  ACU_STMT(ForMap, loop_map)
  std::string_view name;
  Range name_where;
  uint32_t expansion = 0; // see Variable
  bool is_sorted = false; // from the largest value to the smallest
  MapRef* map = nullptr;
  Expr* most = nullptr; // of a sorted loop: the number of entries, or nullptr
  Block* body = nullptr;
  Variable* variable = nullptr; // checker: a tuple (key, value)
};
struct Unroll : Stmt {
  ACU_STMT(Unroll, unroll)
  Expr* count = nullptr;
  Block* body = nullptr;
};
struct Speculate : Stmt { // speculate { … }, speculate(key) { … }
  ACU_STMT(Speculate, speculate)
  Expr* key = nullptr; // or nullptr: the thread
  Block* body = nullptr;
};
struct Limit : Stmt { // limit(count/unit) { … }
  ACU_STMT(Limit, limit)
  Expr* count = nullptr;
  const spec::DurationUnit* unit = nullptr;
  uint32_t id = 0; // copies for different events share it, uses of a macro do not
  Block* body = nullptr;
};
struct Leave : Stmt {
  ACU_STMT(Leave, leave)
  bool is_continue = false;
};
struct Return : Stmt {
  ACU_STMT(Return, give_back)
  Expr* value = nullptr; // or nullptr
};
struct BlockStmt : Stmt {
  ACU_STMT(BlockStmt, block)
  Block* block = nullptr;
};
#undef ACU_STMT

// ---------------------------------------------------------------------------------------------- program

// A probe as written: "tracepoint:syscalls:sys_enter_*" is {"tracepoint", "syscalls", "sys_enter_*"}.
// Positional parameters in it are already replaced.
struct ProbeSpec {
  Range where;
  List<std::string_view> parts; // split at `:`; the first is the provider as written
  std::string_view text;        // the whole
};

// One action block. The checker makes a copy of it for each group of events that see different arguments.
struct Probe {
  Range where; // of the whole block
  List<ProbeSpec> specs;
  Expr* predicate = nullptr; // or nullptr
  Block* body = nullptr;
  // Filled by probe matching and the checker:
  std::vector<probe::Event*> events;      // those this copy handles; owned by the Program
  std::vector<std::string_view> fields;   // arguments that the block reads
  uint32_t variable_count = 0;
  bool has_plain_result = false;          // checker: `retval` is a number: the functions' results are of different types
  bool is_own = false;                    // made by acu to serve another one: it is not counted
};

// Where the pointers point that a function is given: as seen in this round of the checker, and in the one before.
struct LearnedSpace {
  type::Space settled = type::Space::none, seen = type::Space::none;
};

struct Parameter {
  std::string_view name; // without `$`
  Range where;
  TypeName* type = nullptr;
  Variable* variable = nullptr; // checker
  LearnedSpace space;           // checker: of pointers: where those point that calls pass
};

// fn name($a : T, …) : T { … }
struct Function {
  Range where;
  std::string_view name;
  Range name_where;
  List<Parameter> parameters;
  TypeName* result = nullptr; // or nullptr: void
  Block* body = nullptr;
  const type::Type* result_type = nullptr; // checker; none for void
  LearnedSpace result_space; // checker: of pointers
  uint32_t variable_count = 0;
  uint32_t id = 0;
};

// What an argument of a macro must be, and what stands for it in the body: `$v`, `@m`, or a bare name for any
// expression, which is inserted wherever the name is.
enum class MacroParameterKind : uint8_t { variable, map, expression };
struct MacroParameter {
  MacroParameterKind kind;
  std::string_view name; // without `$` or `@`
  Range where;
};

// macro name($v, @m, e) { … }: gone after lang::expand_macros. Several may bear one name.
struct Macro {
  Range where;
  std::string_view name;
  Range name_where;
  List<MacroParameter> parameters;
  Block* body = nullptr;
};

class CTypes; // lang/c_types.h

struct Program {
  base::Arena arena;
  type::Table types;
  spec::Config config;
  std::vector<std::unique_ptr<Probe>> probes;
  std::vector<Function*> functions;
  std::vector<Macro*> macros;
  std::vector<Map*> maps; // in the order of first use
  std::vector<std::unique_ptr<probe::Event>> events; // checker
  std::vector<std::unique_ptr<probe::Recipe>> recipes; // checker
  std::unique_ptr<CTypes> c_types; // never nullptr
  std::vector<Range> users_texts;                    // files of a user's script beside acu's own (Insert::is_users)
  std::vector<std::string_view> context_names; // of `ctx NAME = …`, each once
  std::vector<spec::GroupSet> group_sets;      // checker: those that are asked about, each once
  uint32_t limits = 0;     // ids of Limit in use
  bool speculates = false; // checker: there is a Speculate
  bool reads_thread_contexts = false; // checker: there is a trace_id or span_id
  Program();
  ~Program(); // where probe::Event is complete
};

// Of a call of percentile(), p50() and the like: how much of the numbers, in thousandths of a percent.
inline constexpr uint32_t whole_percentile = 100'000;
std::optional<uint32_t> percentile_of(const Call& e);

// `container == "web"`, `cgroup_path(id) != "/a"`: whether a group is in a set. Nothing: it is another comparison.
struct GroupComparison {
  const Expr* id; // of the group; nullptr: the current one
  spec::GroupSet set;
};
std::optional<GroupComparison> group_comparison(const Binary& e);

} // namespace lang
