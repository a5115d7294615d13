// Types of programs, as their debug information tells them, in the table of types that scripts use. An entry
// (DIE) becomes a type::Type when it is asked for; structures and enumerations decode their parts when those
// are asked for. What scripts see is the same as of the kernel's types (format/btf.h), and of C++ besides:
//
//   class, struct           structure; a base class is a member without a name, so that its members are found
//   as
//                           if they were the class's own. Where a virtual base is only the object knows: it
//                           is left out. Static members and functions are no members. Names have their
//                           namespaces
//   reference               pointer
//   enum class              enumeration
//   pointer to member       int64; to a member function: uint64[2]
//   _Float16, __int128, …   a number of their size, or bytes (uint8[16])
//   variants (Rust)         their members side by side, as in a union
//
// The same type, written down by many units, is one Type. Specification: DWARF 5, chapter 5; 5.7.6 for
// bit-fields, and DWARF 3, 5.5.6 for the older way to write them.
#pragma once

#include "dwarf/debug_info.h"
#include "type/type.h"

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

namespace dwarf {

// Where an entry is, also after its unit was dropped.
struct Place {
  DebugInfo* info = nullptr;
  uint64_t offset = 0;
  bool in_types = false; // of .debug_types
  bool operator==(const Place&) const = default;
};
Place place_of(const Die& die);
std::optional<Die> die_at(const Place& place);

// The value of an attribute that tells where something is. What it means depends on the unit, and on where
// the program runs.
struct Location {
  enum Kind : uint8_t {
    none,       // optimised away
    expression, // `bytes` are operations (DWARF 5, section 2.5)
    list,       // by address: `number` is an offset of .debug_loc, from version 5 of .debug_loclists
    list_index, // or an index, see Unit::loclists_base
    constant,   // no place, but always this value: `number`, or `bytes` of memory
  };
  Kind kind = none;
  ByteSpan bytes;
  uint64_t number = 0;
};
// Of an entry's DW_AT_location, DW_AT_frame_base or DW_AT_const_value.
Location location_of(const Die& die, const Attribute& a);

// A function's parameters in order, those of a pack one by one; of an instance of an inlined or cloned
// function those of the function itself, with the instance's own entries where it has some.
struct Parameters {
  std::vector<Die> all;
  bool is_variadic = false;
};
Parameters parameters_of(const Die& subprogram);

// A parameter or a variable.
struct Variable {
  std::string_view name;            // empty: it has none
  const type::Type* type = nullptr; // nullptr: one that has no values
  Place type_place; // of its type as declared, for type_text(); info is nullptr where it has none
  Location location;
  bool is_artificial = false; // `this`, …
};

struct Function {
  std::string_view name, linkage_name;
  const type::Type* result = nullptr; // nullptr: void
  Place result_place;
  std::vector<Variable> parameters; // in order, also those of which nothing is left
  bool is_variadic = false;
  Location frame_base;
};

class Types : public type::Provider {
public:
  // Finds a type by its whole name ("ns::Foo"), where a unit only declares it or a script names it. The tag
  // is DW_TAG_structure_type (classes too), union_type, enumeration_type, typedef or base_type.
  using Find = std::function<std::optional<Die>(uint16_t tag, std::string_view name)>;

  // Pointers get `space`. The table must not outlive this, nor this the debug information.
  explicit Types(type::Table& table, type::Space space = type::Space::user, Find find = {});

  // A type's entry as type. nullptr: void, a function, or something malformed.
  const type::Type* type(const Die& die) { return convert(die, 0); }
  // "struct", "union" or "enum" and a name, or "" for any, typedefs first; nullptr: there is none.
  const type::Type* find(std::string_view keyword, std::string_view name);
  // The value of an enumerator's entry, and its enumeration.
  std::optional<std::pair<const type::Type*, int64_t>> enumerator(const Die& die);
  // The entry of a structure or enumeration made here, for type_text(); nothing of others.
  std::optional<Die> entry_of(const type::Type& type);

  // A function's entry, be it declared, inlined or whole; its parameters' types are made.
  Function function(const Die& subprogram);
  Variable variable(const Die& die);

  struct Base {
    const type::Type* type;
    uint32_t offset; // of no meaning if it is virtual
    bool is_virtual;
  };
  std::vector<Base> bases(const type::Type& type);

  std::vector<type::Field> fields(type::Table& table, uint32_t id) override;
  std::vector<type::Enumerator> enumerators(uint32_t id) override;
  const type::Type* argument(uint32_t id, uint32_t n) override;
  uint32_t alignment(uint32_t id) override;
  std::optional<type::Field> variant(type::Table& table, uint32_t id, base::ByteSpan bytes) override;

  // "ns::Outer::Inner"; empty if it has no name.
  std::string full_name(const Die& die);
  std::string in_scope_of(const Die& die, std::string name); // "ns::name"
  // The whole of a type that is only declared; others as they are.
  Die definition_of(const Die& die);

private:
  struct PlaceHash {
    size_t operator()(const Place& p) const {
      return static_cast<size_t>(p.offset * 2 + p.in_types) * 0x9e3779b97f4a7c15u ^
             reinterpret_cast<size_t>(p.info);
    }
  };
  // A structure or enumeration.
  struct Entry {
    Place place;
    const type::Type* type = nullptr;
    bool has_shape = false; // it is among by_shape_
  };
  using Shape = std::optional<uint64_t>;
  // A namespace or class with the entries inside.
  struct Scope {
    uint64_t begin, end;
    uint32_t parent; // of the unit's scopes; itself: none
    std::string_view name;
  };

  const type::Type* convert(const Die& die, int depth);
  const type::Type* make(const Die& die, int depth);
  const type::Type* make_array(const Die& die, int depth);
  const type::Type* make_structure(const Die& die);
  const type::Type* make_enumeration(const Die& die, int depth);
  const type::Type* incomplete(const Die& die);
  const type::Type* same_as(const Die& die, const std::string& name, uint64_t size, Shape& shape);
  uint64_t shape_of(const Die& die);
  uint32_t remember(const Die& die);
  void keep_type(uint32_t id, const type::Type* type, Shape shape);

  void add_member(std::vector<type::Field>& to, const type::Type& of, const Die& member);
  void add_base(std::vector<type::Field>& to, const type::Type& of, const Die& inheritance);
  void add_variants(std::vector<type::Field>& to, const type::Type& of, const Die& part, int depth);
  int nesting_of(const Die& structure, int depth);
  std::optional<Die> structure_held_by(const Die& member);

  const std::vector<Scope>& scopes_of(const Unit& unit);

  type::Table& table_;
  type::Space space_;
  Find find_;
  std::vector<Entry> entries_; // by Type::provider_id
  std::unordered_map<Place, const type::Type*, PlaceHash> made_;
  std::unordered_map<std::string, Place> definitions_;            // of declared ones, by tag and name
  std::unordered_map<std::string, const type::Type*> incomplete_; // likewise, of those without
  // The first entry of a name and size, and from the second one on all by their shape.
  std::unordered_map<std::string, uint32_t> first_of_name_;
  std::unordered_map<uint64_t, const type::Type*> by_shape_;
  uint64_t shape_steps_ = 0; // taken to tell shapes
  std::unordered_map<Place, int, PlaceHash> nesting_;
  std::unordered_map<Place, std::vector<Scope>, PlaceHash> scopes_; // of units
};

} // namespace dwarf
