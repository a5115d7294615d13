// An index of the names in debug information: which entries (DIEs) define a name, found without reading the
// debug information itself. It lists functions (also those that are only inlined, and by linkage name),
// variables, types, enumerators and namespaces, in all files that belong together: the debug file, the file
// it shares with others (dwz), and its split units. `build_index` makes the bytes, which may be kept and
// mapped; `Index` searches in them.
//
// Types and constants that are written down again by many units (as a header's are) are listed once: the
// first one stands for all that have the same kind, name, line and size. Functions and variables are all
// listed, and a function that was inlined has an entry in every unit with its abstract instance. Of variables
// in functions, members and parameters nothing is listed; nor, for C, of types and functions inside
// functions.
//
// index_format.h tells how the bytes look.
#pragma once

#include "dwarf/debug_info.h"

#include <functional>
#include <string>

namespace dwarf {

enum class NameKind : uint8_t {
  function,
  variable,
  structure, // struct
  class_,    // also interfaces
  union_,
  enumeration,
  alias, // typedef, template alias
  base_type,
  enumerator,
  name_space,
};

// Sets of kinds, for searches.
using NameKinds = uint16_t;
constexpr NameKinds kinds_of(std::initializer_list<NameKind> kinds) {
  unsigned out = 0;
  for (NameKind kind : kinds) out |= 1u << static_cast<unsigned>(kind);
  return static_cast<NameKinds>(out);
}
constexpr NameKinds all_kinds = 0x3ff;
constexpr NameKinds type_kinds = kinds_of({NameKind::structure, NameKind::class_, NameKind::union_,
                                           NameKind::enumeration, NameKind::alias, NameKind::base_type});

// One of the files with debug information that an index covers.
struct IndexFile {
  Sections sections;
  const format::ElfFile* file = nullptr; // if known, its pages are given back while it is read
  static IndexFile of(const format::ElfFile& file) { return {sections_of(file), &file}; }
};
constexpr size_t index_main = 0, index_alternate = 1, index_first_split = 2; // places in the list of files

// Reads all units of the files: the debug file, the shared file (`Sections()` if there is none), then split
// files (.dwo or .dwp). The same files give the same bytes, with any number of threads (at most two are
// used). Failure: there is no debug information, or it is too large. Damaged units are left out, and counted.
// `units`: of the debug file only these (ascending); see name_tables.h.
base::Result<std::vector<std::byte>> build_index(std::span<const IndexFile> files, unsigned threads = 2,
                                                 const std::vector<size_t>* units = nullptr);

// An entry that an index knows.
struct IndexEntry {
  NameKind kind = NameKind::function;
  bool has_place = false;  // code, or a location: not so functions of which only inlined copies are left
  bool is_inlined = false; // an abstract instance: its calls may have been inlined
  uint32_t file = 0;       // which of the files: index_main, …
  bool in_types = false;   // of .debug_types
  uint64_t unit_offset = 0, die_offset = 0; // of the section
  uint32_t name = 0, scope = 0;             // for Index::name and Index::full_name
  uint32_t unit = 0;                        // for Index::unit
};

class Index {
public:
  static constexpr uint32_t version = 1; // of the bytes

  // The bytes must outlive this, and be aligned to 8. Failure: they are no index of this version.
  static base::Result<Index> open(ByteSpan bytes);

  // The entries a person may mean: "func", "ns::Class::method", "Class::method",
  // "std::vector<int>::push_back", or the same without arguments of templates; with a leading "::" only those
  // whose name is no longer than that. Namespaces without a name and inline ones may be left out. In order of
  // file and unit. `take` returns false to stop.
  using Take = std::function<bool(const IndexEntry&)>;
  void find(std::string_view name, NameKinds kinds, const Take& take) const;
  std::vector<IndexEntry> find(std::string_view name, NameKinds kinds = all_kinds, size_t most = 1000) const;
  // Functions and variables by the name that the linker sees ("_ZN2ns1fEv"), where it is not the plain one.
  void find_linkage(std::string_view name, const Take& take) const;
  std::vector<IndexEntry> find_linkage(std::string_view name, size_t most = 1000) const;
  // All whose last part, or full name if the pattern has "::", matches (`*`, `?`), in no useful order.
  void list(std::string_view pattern, NameKinds kinds, const Take& take) const;

  std::string_view name(const IndexEntry& entry) const { return name_text(entry.name); } // its last part
  std::string full_name(const IndexEntry& entry) const; // "ns::(anonymous namespace)::f"

  struct Unit {
    uint32_t file = 0;
    bool in_types = false;
    uint8_t kind = 0;    // DW_UT_…
    uint64_t offset = 0; // of the section
    uint64_t id = 0;     // signature of type units, dwo_id of others that have one
  };
  std::optional<Unit> unit(uint32_t index) const;
  // The type unit which declares the type with a signature (DW_FORM_ref_sig8).
  std::optional<Unit> unit_of_signature(uint64_t signature) const;

  size_t unit_count() const { return units_.size() / 24; }
  size_t name_count() const { return names_.size() / 12 - 1; }
  uint32_t damaged_units() const { return damaged_; }

private:
  struct Query;
  uint32_t number(ByteSpan table, uint64_t at) const;
  std::string_view name_text(uint32_t name) const;
  bool scope_at(uint32_t scope, uint32_t& name, uint32_t& parent, uint32_t& flags) const;
  bool each_posting(uint64_t from, uint64_t to, uint32_t name,
                    const std::function<bool(const IndexEntry&)>& take) const;
  bool each_of_name(uint32_t name, const Take& take) const;
  bool matches(const Query& query, const IndexEntry& entry) const;

  ByteSpan units_, signatures_, scopes_, buckets_, names_, linkage_, texts_, postings_;
  uint32_t bucket_bits_ = 0, damaged_ = 0;
};

} // namespace dwarf
