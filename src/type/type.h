// The types of values: one table for the script language, kernel types (BTF), tracepoint formats and later
// DWARF. A Type is immutable, interned by its Table and compared by address. Fields of C structures are
// decoded when first asked for.
//
// The size and layout given here is that of the bytes both engines produce (map keys and values, event
// records): little-endian, C alignment.
//
//   kind              bytes
//   boolean           1
//   integer, enum     1, 2, 4 or 8
//   floating          4, 8 or 16: IEEE 754, or the 10 bytes of the x87 in 16
//   pointer           8
//   string            `size` bytes: text, then NULs; a last byte that is not NUL marks text that was cut
//   buffer            u32 length, then `count` bytes (size = 4 + count)
//   array             `count` elements
//   structure         as in C
//   tuple             elements at their natural alignment (fields() gives the offsets)
//   ksym              u64 address
//   usym              u64 address, u32 pid, u32 0
//   stack             u64 id, a key of the stack table (0: no stack); 16 bytes for user stacks: u64 id, u32 pid, u32 0; 24 for both: the same, and u64 id of the kernel's
//   inet              u8 length (4 or 16), then 16 bytes of address, 3 bytes 0 (size 20)
//   mac               6 bytes
//   timestamp         u32 id of the format string (ir::Program::strings), u32 clock (TimeClock), u64 nanoseconds
//   username          u64 uid
//   cgroup_path       u64 cgroup id, u64 id of the filter string
//   probe_name        u64 index into ir::Program::probe_names
//   count             u64
//   sum               u64
//   min, max          u64 value, u64 is-set
//   avg, stats        u64 total, u64 count
//   hist              `count` u64 buckets: negative, then (see hist_bucket in ir/buckets.h)
//   lhist             `count` u64 buckets: below, steps, above
//   tseries           `count` slices of u64 interval, u64 value, u64 more: interval is 1 + the number of whole intervals
//                     from 1970 to it (0: nothing there); value is the total for avg; more is the count for avg, the
//                     time of the value for last. Interval i stands in slice i % count
#pragma once

#include "base/arena.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace type {

enum class Kind : uint8_t {
  none, // no value
  boolean,
  integer,
  floating, // numbers of floating point: they are carried and shown, but there is no arithmetic of them
  pointer,
  array,
  string,
  buffer,
  structure, // C struct or union
  tuple,     // also records: tuples whose fields have names
  enumeration,
  ksym,
  usym,
  kstack,
  ustack,
  stack, // of the kernel and the user
  inet,
  mac,
  timestamp,
  username,
  cgroup_path,
  probe_name,
  count,
  sum,
  min,
  max,
  avg,
  stats,
  hist,
  lhist,
  tseries,
};

// Where a pointer points. `script` is memory of the running script itself.
enum class Space : uint8_t { none, kernel, user, script };

// What a slice of a tseries keeps of the values that fall into it.
enum class Slice : uint8_t { last, avg, max, min, sum };
inline constexpr uint32_t slice_size = 24;

// The clocks whose times strftime() takes.
enum class TimeClock : uint8_t { boot, monotonic, tai };

// How stacks print.
enum class StackMode : uint8_t { bpftrace, perf, raw, build_id };

// Frames that are taken of a stack, where the script asks for no fewer: as many as the kernel's own walker gives, or
// ours by tables.
constexpr uint32_t most_frames(Kind kind, bool by_frame_pointers) {
  return kind != Kind::kstack && !by_frame_pointers ? 512 : 127;
}

struct Type;
class Table;

// A member of a structure or an element of a tuple.
struct Field {
  std::string_view name; // "0", "1", … in tuples; empty for anonymous structures and unions
  const Type* type = nullptr;
  uint32_t offset = 0;    // bytes from the start
  uint16_t bit_offset = 0; // bit-fields: bits from `offset`, of a storage unit of type->size bytes
  uint16_t bit_size = 0;   // 0: not a bit-field
  bool data_loc = false;   // tracepoints: a u32, the low half of which is the offset of the data in the record
};

// An enumerator.
struct Enumerator {
  std::string_view name;
  int64_t value = 0;
};

// Where the parts of a structure or enumeration come from (BTF, …). `id` is the source's own number.
class Provider {
public:
  virtual ~Provider() = default;
  virtual std::vector<Field> fields(Table& table, uint32_t id) = 0;
  // One member by its name, as Type::find() gives it, where that is cheaper than to decode them all.
  virtual std::optional<Field> field(Table&, uint32_t, std::string_view) { return std::nullopt; }
  virtual std::vector<Enumerator> enumerators(uint32_t id) = 0;
  // The n-th of the types that a template or generic was made with; nullptr: there is none.
  virtual const Type* argument(uint32_t, uint32_t) { return nullptr; }
  // The alignment that the source asks for, of the structure or of its members (alignas); 0: none.
  virtual uint32_t alignment(uint32_t) { return 0; }
  // Of an enum of Rust the variant that these bytes hold; nothing: it is no such.
  virtual std::optional<Field> variant(Table&, uint32_t, std::span<const std::byte>) { return std::nullopt; }
};

struct Type {
  Kind kind = Kind::none;
  bool is_signed = false;
  bool is_char = false;  // integer of 1 byte that is text
  bool is_named = false; // tuple: a record, (a=1)
  bool is_union = false;
  bool has_size = true; // incomplete structures have none
  Space space = Space::none; // pointers; structures: `user` where the value was read from there
  StackMode stack_mode = StackMode::bpftrace;
  bool by_frame_pointers = false; // user stacks: found so, not by tables
  uint32_t size = 0;
  uint32_t align = 1;
  uint32_t count = 0;            // array elements, buffer bytes, histogram buckets, stack depth limit
  const Type* element = nullptr; // of arrays, pointers (nullptr: void *)
  std::string_view name;         // of structures and enumerations, "struct foo" prints as "struct " + name
  int64_t low = 0, high = 0, step = 0; // lhist: min, max, step; hist: bits in step; tseries: interval in low, Slice in step
  Provider* provider = nullptr;
  uint32_t provider_id = 0;
  Table* table = nullptr;
  // Decoded by fields()/enumerators(); use those.
  mutable std::span<const Field> fields_;
  mutable std::span<const Enumerator> enumerators_;
  mutable bool decoded_ = false;

  // Members in order; decodes them at first use.
  std::span<const Field> fields() const;
  std::span<const Enumerator> enumerators() const;
  // The member `name`, also inside anonymous members (its offset is then from this type's start).
  std::optional<Field> find(std::string_view name) const;

  // Which element of this tuple goes with that of another one of the same shape: records go by name.
  std::optional<size_t> index_of(const Field& element, size_t index) const;

  bool is(Kind k) const { return kind == k; }
  bool is_integer() const { return kind == Kind::integer || kind == Kind::boolean || kind == Kind::enumeration; }
  // Values that fit a register: numbers, pointers, and symbols of one word.
  bool is_scalar() const {
    return is_integer() || (kind == Kind::floating && size <= 8) || kind == Kind::pointer || kind == Kind::ksym || kind == Kind::username ||
           kind == Kind::probe_name || kind == Kind::kstack;
  }
  bool is_aggregation() const { return kind >= Kind::count; }
  bool is_histogram() const { return kind == Kind::hist || kind == Kind::lhist; }
  // A stack, or a tuple with one.
  bool has_stack() const;
  // Aggregations that turn into a number where one is needed.
  bool is_castable_aggregation() const { return kind >= Kind::count && kind <= Kind::stats; }
};

// "uint64", "string[16]", "struct task_struct *", "(uint64,string[16])": as shown to people.
std::string to_string(const Type& type);
// "float", "double", "long double"; of 4, 8, 16 bytes.
std::string_view name_of_floating(uint32_t size);
// The one name of all types of a kind ("ksym_t"), also in scripts; empty where a name tells more than the kind. And back.
std::string_view name_of_kind(Kind kind);
std::optional<Kind> kind_of_name(std::string_view name);

// Makes and owns types; the same arguments give the same Type.
class Table {
public:
  Table();
  Table(const Table&) = delete;

  const Type* none() const { return none_; }
  const Type* boolean() const { return boolean_; }
  // size: 1, 2, 4 or 8 bytes.
  const Type* integer(uint32_t size, bool is_signed);
  const Type* character(); // int8 that is text
  const Type* floating(uint32_t size); // 4: float, 8: double, 16: long double
  const Type* int64() { return integer(8, true); }
  const Type* uint64() { return integer(8, false); }
  // size: bytes with the NUL.
  const Type* string(uint32_t size);
  const Type* buffer(uint32_t bytes);
  const Type* pointer(const Type* to, Space space); // to: nullptr for void *
  const Type* array(const Type* element, uint32_t count);
  const Type* tuple(std::span<const Type* const> elements);
  const Type* record(std::span<const Type* const> elements, std::span<const std::string_view> names);
  // Kinds without parameters: ksym, usym, inet, mac, timestamp, username, cgroup_path, probe_name,
  // count, sum, min, max, avg, stats. Of count…stats, `is_signed` tells how the number prints.
  const Type* simple(Kind kind, bool is_signed = false);
  const Type* stack(Kind kind, StackMode mode, uint32_t depth, bool by_frame_pointers = false);
  const Type* hist(uint32_t bits);                         // 0 ≤ bits ≤ 5
  const Type* lhist(int64_t low, int64_t high, int64_t step); // high > low, step > 0
  const Type* tseries(int64_t interval_ns, uint32_t count, Slice slice, bool is_signed); // interval, count > 0
  // A C structure or union, once per (provider, id).
  const Type* structure(std::string_view name, bool is_union, uint32_t size, Provider* provider, uint32_t id);
  const Type* enumeration(std::string_view name, uint32_t size, bool is_signed, Provider* provider, uint32_t id);
  // A structure with known fields (tracepoint records, script definitions). Not interned.
  const Type* structure(std::string_view name, bool is_union, uint32_t size, uint32_t align,
                        std::span<const Field> fields);
  // The same type, of a value that was read there: what a structure in user memory points to is user memory too.
  const Type* in_space(const Type* type, Space space);
  std::string_view keep(std::string_view text) { return arena_.copy(text); }
  base::Arena& arena() { return arena_; }

private:
  const Type* intern(Type type, std::string key);

  base::Arena arena_;
  std::unordered_map<std::string, const Type*> interned_;
  const Type* none_;
  const Type* boolean_;
  const Type* integers_[2][4] = {}; // by sign and log2 of the size: asked for all the time
};

} // namespace type
