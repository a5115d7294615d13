// Objects of a V8 heap, read from memory. For the sources of this runtime alone.
#pragma once

#include "runtime/hotspot_structs.h"
#include "runtime/language.h"
#include "runtime/node_layouts.h"

#include <optional>
#include <string>
#include <vector>

namespace runtime {

inline bool node_is_object_word(uint64_t word) { return (word & 3) == 1; }

class NodeObjects {
public:
  NodeObjects(const language_table& table, const ReadMemory& read) : table(table), layout(node_layouts[table.node.row % node_layouts.size()]), read(read), memory_(read) {}
  const language_table& table;
  const NodeLayout& layout;
  const ReadMemory& read;

  // Fields of a tagged object; what cannot be read is 0. An object that the collector is moving is read where it is moved to.
  uint64_t word(uint64_t object, uint64_t offset) { return memory_.number(moved(object) - 1 + offset, 8); }
  uint32_t half(uint64_t object, uint64_t offset) { return static_cast<uint32_t>(memory_.number(moved(object) - 1 + offset, 4)); }
  int32_t small(uint64_t object, uint64_t offset) { return static_cast<int32_t>(word(object, offset) >> 32); }
  uint64_t at(uint64_t address, unsigned bytes) { return memory_.number(address, bytes); }
  // Map::instance_type; 0xffff: it is no object.
  uint16_t type(uint64_t object);
  bool is_string(uint64_t object) { return type(object) < NODE_STRING_TYPES; }

  // The characters of a string; those that cannot be read, or are too many, are missing.
  std::u16string characters(uint64_t string);
  bool is_whole(uint64_t string, std::u16string_view characters);
  std::string text(uint64_t string); // in UTF-8; a name: its begin
  // The bytes of a ByteArray.
  std::vector<uint8_t> bytes(uint64_t array);
  // The bytecode of a function, from what its SharedFunctionInfo has; 0: it has none now.
  uint64_t bytecode_of(uint64_t shared);
  uint64_t bytecode_in(uint64_t data); // of code, or itself
  // Until all references are updated, a moved object has its new address, without the tag, in the place of its map (MapWord of V8).
  uint64_t moved(uint64_t object);

private:
  void add_characters(uint64_t string, uint64_t from, uint64_t count, unsigned depth, std::u16string& out);
  PagedMemory memory_;
  uint64_t moved_from_ = 0, moved_to_ = 0; // what was asked for last
  uint32_t parts_ = 0; // of strings, until now
};

// A small number of so many groups of 7 bits, the lowest first.
class NodeNumbers {
public:
  NodeNumbers(std::span<const uint8_t> bytes, size_t at = 0) : bytes_(bytes), at_(at) {}
  bool ended() const { return at_ >= bytes_.size(); }
  size_t at() const { return at_; }
  uint8_t byte() { return ended() ? 0 : bytes_[at_++]; }
  uint64_t number() {
    uint64_t out = 0;
    for (unsigned shift = 0; !ended() && shift < 64; shift += 7) {
      const uint8_t b = byte();
      out |= uint64_t{b & 0x7fu} << shift;
      if (b < 0x80) break;
    }
    return out;
  }
  // The lowest bit is the sign.
  int64_t signed_number() {
    const uint64_t n = number();
    return n & 1 ? -static_cast<int64_t>(n >> 1) : static_cast<int64_t>(n >> 1);
  }
  // The lowest bit tells whether all others are turned.
  int64_t zigzag() {
    const uint64_t n = number();
    return static_cast<int64_t>(n >> 1 ^ (0 - (n & 1)));
  }

private:
  std::span<const uint8_t> bytes_;
  size_t at_;
};

// Which functions a place in compiled code runs, and where in their bytecode they are; the innermost first.
struct NodeCall {
  uint64_t shared;
  uint32_t position;
};
// `shared`: the function whose frame it is. An empty list: pc is in no compiled function. No list: the description of the code cannot be read, as the
// collector is moving it.
std::optional<std::vector<NodeCall>> node_calls_at(NodeObjects& objects, uint64_t shared, uint64_t pc, bool is_exact);

} // namespace runtime
