// C definitions of a script and of the headers it includes: structures, unions, enumerations, typedefs.
//
// The parser (parse_c*.cc) writes down what is declared and works nothing out: a header may declare thousands of
// things of which a script names three. A layout, a typedef or the value of an enumerator is worked out when the
// checker first asks for it, by the rules of the System V ABI for x86-64 as GCC applies them, bit-fields and
// attributes included. What is not defined here is looked for among the kernel's types.
#pragma once

#include "lang/ast.h"
#include "type/number_names.h"

#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace lang {

struct CTag;

// `packed` and the arguments of `aligned`; nullptr stands for `aligned` without a number.
struct CAttributes {
  bool packed = false;
  List<const Expr*> aligned;
};

// A type as a declaration writes it.
struct CType {
  enum Kind : uint8_t {
    nothing, // void, or a function
    known,   // a number
    tag,     // struct, union, enum
    name,    // a typedef
    pointer, // to `of`
    array,   // of `of`
    same_as, // typeof(operand)
  } kind = nothing;
  Range where;
  const type::Type* number = nullptr; // known
  uint32_t align = 0;                 // known: where it is not the type's own
  CTag* of_tag = nullptr;
  std::string_view text; // name
  const CType* of = nullptr;
  const Expr* count = nullptr;   // array; nullptr: flexible
  const Expr* operand = nullptr; // same_as
  type::Space space = type::Space::kernel; // pointer
};

struct CMember {
  std::string_view name; // empty: anonymous
  Range where;
  const CType* type = nullptr;
  const Expr* bits = nullptr; // width of a bit-field
  CAttributes attributes;
};

struct CEnumerator {
  std::string_view name;
  Range where;
  const Expr* value = nullptr; // nullptr: one more than the one before
};

// struct, union or enum NAME. Declared when first named, defined by its braces.
struct CTag {
  std::string_view keyword, name;
  Range where;
  uint32_t id = 0;
  bool is_defined = false;
  bool in_script = false; // defined by the script itself, not by a header: mistakes are told
  CAttributes attributes;
  List<CMember> members;
  List<CEnumerator> enumerators;
  const CType* underlying = nullptr; // enum x : T
  // Worked out when asked for.
  enum : uint8_t { fresh, running, done } state = fresh;
  const type::Type* type = nullptr;
  List<type::Field> places; // members without their types
  uint64_t made_size = 0;
  uint32_t made_align = 1;
  std::span<int64_t> values; // of the enumerators
  size_t known_values = 0;   // how many of them are worked out
};

struct CTypedef {
  std::string_view name;
  Range where;
  const CType* type = nullptr;
  CAttributes attributes;
  bool in_script = false;
  // Worked out when asked for, and once: one typedef may name another several times.
  bool is_running = false, has_made = false, has_shape = false;
  const type::Type* made = nullptr;
  uint64_t made_size = 0;
  uint32_t made_align = 1;
  bool is_complete = true;
};

class CTypes final : public type::Provider {
public:
  explicit CTypes(Program& program) : program_(program) {}

  // The parser's side.
  CTag* tag(std::string_view keyword, std::string_view name, Range where);
  // False if it is defined already.
  bool define(CTag& tag, List<CMember> members, List<CEnumerator> enumerators);
  bool add(CTypedef made);
  bool is_typedef(std::string_view name) const { return typedefs_.count(name) != 0; }
  bool is_enumerator(std::string_view name) const { return enumerators_.count(name) != 0; }

  // The checker's side. What is not known here: types and enumerators of the kernel.
  using Enumerated = std::optional<std::pair<const type::Type*, int64_t>>;
  std::function<const type::Type*(std::string_view keyword, std::string_view name)> kernel_type;
  std::function<Enumerated(std::string_view name)> kernel_enumerator;
  std::function<void(std::string_view tag, Range where, std::string message, std::string hint)> tell;

  // A type defined here, by `struct`, `union`, `enum` or, without a keyword, as a typedef (or, in default of
  // that, under any keyword); nullptr if there is none.
  const type::Type* find(std::string_view keyword, std::string_view name);
  // One that is only declared: a structure without size.
  const type::Type* find_declared(std::string_view keyword, std::string_view name);
  Enumerated enumerator(std::string_view name);
  // Tells all mistakes in what the script itself defines.
  void check_script();
  std::vector<std::string_view> names(std::string_view keyword) const;
  void add_enumerator_names(std::vector<std::string_view>& to) const;
  // The value of a constant expression; nothing if it is none.
  std::optional<int64_t> value_of(const Expr& e);
  // The name of a type of an expression in a declaration; nullptr if it is unknown.
  const type::Type* resolve(const TypeName& name);

  std::vector<type::Field> fields(type::Table& table, uint32_t id) override;
  std::vector<type::Enumerator> enumerators(uint32_t id) override;

private:
  // Definitions may hang on each other for as long as a file goes on: what lies deeper than this is not known.
  struct Level {
    explicit Level(int& depth) : depth_(depth) { depth_++; }
    ~Level() { depth_--; }
    bool is_too_deep() const { return depth_ > 500; }
    int& depth_;
  };
  struct Shape {
    uint64_t size = 0;
    uint32_t align = 1;
    bool is_complete = true;
  };
  struct Layout;

  std::optional<int64_t> value_of_binary(const Binary& e);
  std::optional<int64_t> value_of_name(std::string_view name);
  std::optional<int64_t> value_of_offset(const OffsetOf& e);
  const type::Type* tag_type(CTag& tag);
  const type::Type* type_of(const CType& t);
  const type::Type* array_type(const CType& t);
  const type::Type* type_of_typedef(CTypedef& t);
  Shape shape_of(const CType& t);
  Shape shape_of_tag(CTag& tag);
  Shape shape_of_typedef(CTypedef& t);
  uint64_t count_of(const CType& array);
  void lay_out(CTag& tag);
  void place_bits(Layout& to, const CMember& m, Shape shape, type::Field& field);
  void place_member(Layout& to, const CMember& m, type::Field& field);
  void lay_out_enum(CTag& tag);
  void value_enumerators(CTag& tag);
  uint32_t align_of(const CAttributes& attributes, uint32_t natural, bool lowers);
  void check_members(const CTag& tag);
  void tell_unknown(const CType& t);
  bool is_known(const CType& t);
  void mistake(std::string_view tag, Range where, std::string message, std::string hint = {});
  type::Table& types() { return program_.types; }

  Program& program_;
  std::unordered_map<std::string, CTag*> tags_; // "struct x"
  std::vector<CTag*> by_id_;
  std::unordered_map<std::string_view, CTypedef*> typedefs_;
  std::unordered_map<std::string_view, std::pair<CTag*, uint32_t>> enumerators_;
  const CTag* telling_ = nullptr; // whose definition is being checked
  std::unordered_set<const void*> told_;
  int depth_ = 0;
};

// Alignment of any type as a member of a C structure.
uint32_t alignment_of(const type::Type& t);

} // namespace lang
