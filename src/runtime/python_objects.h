// Objects of CPython in the memory of a stopped program: their types, and what containers hold. Nothing is believed that can be checked: an
// object's type must be a type itself, tables have bounds, and lists that lead in circles end.
#pragma once

#include "runtime/objects.h"
#include "runtime/python_layout.h"
#include "runtime/python_object_layout.h"

#include <map>
#include <optional>

namespace runtime {

class PythonObjects {
public:
  // All outlive this. `most_reads`: then nothing can be read any more, so that damaged memory takes no longer than that.
  PythonObjects(const PythonKnown& known, const python_layout& layout, const ObjectMemory& memory, uint64_t most_reads = 1 << 22)
      : known_(known), layout_(layout), memory_(memory), reads_left_(most_reads) {}

  const PythonObjectLayout& layout() const { return known_.layout; }
  const python_layout& walk_layout() const { return layout_; }
  const ObjectMemory& memory() const { return memory_; }
  bool is_since(uint16_t version) const { return known_.layout.version >= version; }
  uint64_t global(PythonGlobal which) const { return known_.globals[static_cast<size_t>(which)]; }

  // Bytes, numbers; nothing: they cannot be read, and `failed` is where.
  bool read(uint64_t at, std::span<std::byte> to) const;
  std::optional<uint64_t> number(uint64_t at, unsigned bytes) const;
  std::optional<uint64_t> word(uint64_t at) const { return number(at, 8); }
  // A text of C without control characters; empty: it has some, or cannot be read.
  std::string c_text(uint64_t at) const;
  uint64_t failed() const { return failed_; } // 0: nothing did since
  void forget_failure() const { failed_ = 0; }
  bool has_read_too_much() const { return !reads_left_; }

  struct Type {
    uint64_t address = 0;
    std::string name; // without its module
    std::string full_name; // tp_name: of types in C with the module
    uint64_t flags = 0, repr = 0, base = 0, size = 0;
    int64_t dict_offset = 0;
    bool has(uint64_t flag) const { return flags & flag; }
  };
  // Of an object; nullptr: it cannot be read, or is no object.
  const Type* type_of(uint64_t object) const;
  const Type* type_at(uint64_t address) const;
  bool is_exactly(uint64_t object, PythonGlobal type) const { return global(type) && word(object + python::object_type) == global(type); }
  bool is_one_of(uint64_t object, std::initializer_list<PythonGlobal> types) const;
  bool is_none(uint64_t object) const { return object && object == global(PythonGlobal::none); }

  // A string in UTF-8, at most so many characters of it; nothing: it is none, or cannot be read.
  struct Text {
    std::u32string characters;
    bool is_cut = false;
  };
  std::optional<Text> text(uint64_t object, size_t most) const;
  std::optional<std::string> utf8(uint64_t object, size_t most = 200) const;

  // Each goes on as long as it gets true; false: the table cannot be read, or is damaged.
  using EachItem = std::function<bool(uint64_t item)>;
  using EachPair = std::function<bool(uint64_t key, uint64_t value)>;
  bool each_of_tuple(uint64_t object, const EachItem& use) const;
  bool each_of_list(uint64_t object, const EachItem& use) const;
  bool each_of_set(uint64_t object, const EachItem& use) const;
  bool each_of_dict(uint64_t object, const EachPair& use) const;
  // The value of a key that is a string; 0: there is none.
  uint64_t item(uint64_t dict, std::string_view key) const;
  // An instance's own attribute; 0: it has none of this name.
  uint64_t attribute(uint64_t object, std::string_view name) const;

private:
  struct Keys {
    uint64_t first = 0, count = 0, stride = 0, key = 0, size = 0; // of entries; key: where it is in one; size: of the table
  };
  std::optional<Keys> keys_at(uint64_t address) const;
  bool each_entry(const Keys& keys, const EachPair& use) const;
  bool each_value(const Keys& keys, uint64_t values, const EachPair& use) const;
  bool each_in_order(const Keys& keys, uint64_t first_value, uint64_t used, uint64_t order, int step, const EachPair& use) const;
  bool each_inline(uint64_t object, const Type& type, const EachPair& use) const;
  bool each_attribute(uint64_t object, const EachPair& use) const;
  bool each_word(uint64_t first, uint64_t count, const EachItem& use) const;

  const PythonKnown& known_;
  const python_layout& layout_;
  const ObjectMemory& memory_;
  mutable uint64_t reads_left_, failed_ = 0;
  mutable std::map<uint64_t, std::optional<Type>> types_;
};

void append_utf8(std::string& out, uint32_t character);

} // namespace runtime
