// What a running HotSpot JVM says of its own structures: the tables that libjvm.so exports for debuggers. They are arrays of entries, ended by an
// entry without a name, and hold offsets of fields, addresses of static fields, sizes of types and values of constants. The library fills them when
// it is loaded, so they are read from the process, not from the file. Source: src/hotspot/share/runtime/vmStructs.hpp of OpenJDK.
#pragma once

#include "runtime/code.h"

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace runtime {

// Memory of a process, read by pages that are kept: strings of the tables are close to each other.
class PagedMemory {
public:
  explicit PagedMemory(const ReadMemory& read) : read_(read) {}
  uint64_t number(uint64_t address, unsigned bytes); // what cannot be read is 0
  std::string text(uint64_t address, size_t most = 256);

private:
  const std::vector<std::byte>& page(uint64_t number);
  const ReadMemory& read_;
  std::unordered_map<uint64_t, std::vector<std::byte>> pages_;
};

class HotspotStructs {
public:
  // Addresses of the variables gHotSpotVMStructs, gHotSpotVMTypes, gHotSpotVMIntConstants.
  HotspotStructs(PagedMemory& memory, uint64_t structs, uint64_t types, uint64_t constants);

  bool is_empty() const { return fields_.empty() || sizes_.empty(); } // the library has not been initialized
  // Of "Type::field": its offset, or the address of a static one. Nothing: this version has none.
  std::optional<uint64_t> field(std::string_view name) const { return find(fields_, name); }
  std::optional<uint64_t> size_of(std::string_view type) const { return find(sizes_, type); }
  std::optional<uint64_t> constant(std::string_view name) const { return find(constants_, name); }

private:
  using Numbers = std::unordered_map<std::string, uint64_t>;
  static std::optional<uint64_t> find(const Numbers& in, std::string_view name);
  Numbers fields_, sizes_, constants_;
};

} // namespace runtime
