// The functions of one ELF file by address: the names that need no debug information.
//
// The table is a piece of bytes that is searched where it lies, so that it can be kept as a file between runs
// and mapped into memory. Ranges that overlap are taken apart when it is made: of functions inside each other
// the innermost counts.
//
//   header      see FunctionNames::Header
//   segments    {place in the file, address, size} of what is loaded and executed, 64 bits each
//   starts      of ranges, in their order: bytes after the header's base, 32 bits each
//   functions   of the same ranges: index of a function, or no_function, 32 bits each
//   records     {start, size, name, shown}: bytes after the base, and places of names among the texts; 32
//   bits each texts       names, each ended by a NUL
//
// All numbers are little-endian. Whatever the bytes hold, a search stays inside of them.
#pragma once

#include "base/reader.h"
#include "base/result.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace symbol {

struct FoundFunction {
  std::string_view name; // as the file has it ("_ZN1A1fEv"), without a version; ends with a NUL
  uint64_t address = 0;  // where it starts: an address of the file, before the loader moves it
  uint64_t size = 0;     // 0: unknown
  uint64_t offset = 0;   // bytes from its start
  uint32_t index = 0;    // of its record
  bool is_derived = false; // there is no name for it: it is called by its address (frame_functions.h)
};

// What is loaded of a file and executed.
struct CodeSegment {
  uint64_t offset = 0, address = 0, size = 0;
};

class FunctionNames {
public:
  static constexpr uint32_t no_function = ~uint32_t{0};
  struct Header {
    uint32_t magic = 0x46756341; // "AcuF"
    uint32_t segments = 0;       // how many there are of each
    uint32_t ranges = 0;
    uint32_t records = 0;
    uint64_t base = 0;     // address that starts are counted from
    uint64_t texts = 0;    // bytes
    uint32_t source = 0;   // place of a text: separate debug file whose symbols were taken, source_go, or ""
    uint32_t is_whole = 0; // 1: from the file's own .symtab or a debug file, so there is no more to be known
  };
  struct Record {
    uint32_t start = 0, size = 0, name = 0;
    uint32_t shown = 0; // place of the demangled name; `name` if it is not mangled, or not_shown,
                        // or `derived`
  };
  static constexpr std::string_view source_go = ".gopclntab"; // the table of Go's runtime
  static constexpr uint32_t not_shown = ~uint32_t{0}, derived = not_shown - 1;

  // Nothing is known.
  FunctionNames() = default;
  // `bytes` live as long as `owner`. Failure: they are no such table.
  static base::Result<FunctionNames> of(base::ByteSpan bytes, std::shared_ptr<const void> owner);

  // The function that holds an address of the file (before the loader moves it). Views live as long as this
  // does.
  std::optional<FoundFunction> find(uint64_t address) const;
  // The address of a place of the file, as mappings give it, if it is code.
  std::optional<uint64_t> address_of_offset(uint64_t offset) const;
  // The name as it is written in the source ("A::f()"), or as the file has it. Demangled when it is first
  // asked for, unless the table has it; ends with a NUL and lives as long as this.
  std::string_view shown(const FoundFunction& function);
  std::vector<CodeSegment> segments() const;
  size_t size() const { return header_.records; } // functions known
  size_t count_derived() const;                   // those of them without a name of their own
  std::string_view source() const;                // see Header
  bool is_whole() const { return header_.is_whole != 0; }

private:
  Record record(uint32_t index) const;
  CodeSegment segment(uint32_t index) const;

  std::shared_ptr<const void> owner_;
  Header header_;
  base::ByteSpan segments_, starts_, functions_, records_, texts_;
  std::unordered_map<uint32_t, std::string> demangled_; // by place of the name
};

} // namespace symbol
