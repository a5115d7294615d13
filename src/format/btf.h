// The kernel's types (BTF), read in place from /sys/kernel/btf/vmlinux. Nothing is decoded before it is asked
// for by name: finding one type touches the string section once and the headers of the types once.
// Layout: Documentation/bpf/btf.rst of the kernel.
#pragma once

#include "base/result.h"
#include "type/type.h"

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace format {

enum class BtfKind : uint8_t {
  none,
  integer,
  pointer,
  array,
  structure,
  union_,
  enumeration,
  forward,
  typedef_,
  volatile_,
  const_,
  restrict_,
  function,
  prototype,
  variable,
  section,
  floating,
  decl_tag,
  type_tag,
  enumeration64,
};

class Btf : public type::Provider {
public:
  ~Btf() override;
  static base::Result<std::unique_ptr<Btf>> open(const std::string& path);
  // Types of a module, whose numbers and names go on where those of the kernel end: with those in front.
  static base::Result<std::unique_ptr<Btf>> open_split(const std::string& path, const Btf& kernel);
  static base::Result<std::unique_ptr<Btf>> parse_split(std::span<const std::byte> bytes, const Btf& kernel);
  // From bytes (tests, fuzzing). Every offset in them is checked.
  static base::Result<std::unique_ptr<Btf>> parse(std::vector<std::byte> bytes);

  // Id of the type with this name and kind; 0 if there is none.
  uint32_t find(std::string_view name, BtfKind kind);
  // The same for the first type of any of these kinds.
  uint32_t find(std::string_view name, std::initializer_list<BtfKind> kinds);
  // Whether the name occurs at all, of whatever it is: the cheapest question.
  bool has_name(std::string_view name);
  // Whether a declaration carries this tag.
  bool is_tagged(uint32_t id, std::string_view tag);
  // All names that begin with a prefix, sorted.
  std::vector<std::string_view> names(std::string_view prefix);
  // A type as script type; structures and enumerations stay undecoded. Pointers get `space`. nullptr: void.
  const type::Type* type(type::Table& table, uint32_t id, type::Space space = type::Space::kernel);
  // Parameters of a function prototype (through function, typedef, pointer, const): name and type id.
  struct Parameter {
    std::string_view name;
    uint32_t type;
  };
  std::vector<Parameter> parameters(uint32_t id);
  // What a pointer (through typedef, const, …) points to, likewise; 0 if it is none.
  uint32_t pointee(uint32_t id);
  // The member of a structure, also inside anonymous members, without decoding the others; and its type.
  struct Member {
    type::Field field;
    uint32_t type;
  };
  std::optional<Member> member(type::Table& table, uint32_t id, std::string_view name, int depth = 0);
  // The enumerator with this name: (id of its enumeration, value).
  std::optional<std::pair<uint32_t, int64_t>> find_enumerator(std::string_view name);

  // A record as it stands, for showing declarations: nothing is skipped.
  struct Raw {
    BtfKind kind = BtfKind::none;
    bool flag = false; // forward: a union; enumerations: signed
    std::string_view name;
    uint32_t type = 0;  // what it stands on: of arrays the element, of prototypes the result
    uint32_t count = 0; // of arrays
  };
  std::optional<Raw> raw(uint32_t id);
  struct RawMember {
    std::string_view name;
    uint32_t type;
    uint32_t bits; // 0: not a bit-field
  };
  std::vector<RawMember> raw_members(uint32_t id);
  // Ids of all types of a kind that have a name, in their order.
  std::vector<uint32_t> all(BtfKind kind);

  std::vector<type::Field> fields(type::Table& table, uint32_t id) override;
  std::optional<type::Field> field(type::Table& table, uint32_t id, std::string_view name) override;
  std::vector<type::Enumerator> enumerators(uint32_t id) override;

private:
  Btf();
  struct Data;
  const type::Type* convert(type::Table& table, uint32_t id, type::Space space, int depth);
  std::optional<type::Field> decode_member(type::Table& table, uint32_t id, uint32_t index);
  const type::Type* integer_type(type::Table& table, uint32_t id);
  const type::Type* array_type(type::Table& table, uint32_t id, type::Space space, int depth);

  std::unique_ptr<Data> data_;
};

} // namespace format
