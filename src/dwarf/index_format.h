// The bytes of an index of names. All numbers are little-endian and lie at multiples of their size (but those
// in `postings`), so that the index is searched where it is mapped. A reader checks every number it follows;
// the bytes as a whole are guarded by the checksum of who keeps them.
//
// Header, 152 bytes:
//    0  "acunames"     8  u32 version (Index::version)
//   12  u32 bits of the hash that choose a bucket (1 to 24)
//   16  u32 damaged units     20  u32 zero
//   24  8 × (u64 offset, u64 size in bytes) of the tables, in this order, each at a multiple of 8:
//
//   units       by number, 24 bytes: u64 offset of the unit's header in its section; u64 signature or dwo_id;
//               u32 file; u8 kind (DW_UT_…); u8 1 if in .debug_types; u16 zero
//   signatures  of type units, 16 bytes, ascending: u64 signature; u32 unit; u32 zero
//   scopes      by number, 12 bytes: u32 name; u32 parent (smaller than its own number); u32 flags (scope_…).
//               Number 0 is the outermost one, and nothing is looked up of it
//   buckets     u32 × (2^bits + 1): number of the first name whose hash has these upper bits
//   names       by number, 12 bytes, ascending by hash, then text: u32 hash (hash_of_name, without arguments
//   of
//               templates); u32 offset in texts; u32 offset in postings. One more ends the last name
//   linkage     12 bytes, ascending by hash: u32 lower half, u32 upper half of the hash of the text
//   (hash_of_text);
//               u32 offset in postings. One more ends the last
//   texts       names one after the other, without separators
//   postings    entries of each name, in order of unit and place, then those of each linkage name; an entry
//   is
//               head       kind (NameKind) in the lower 4 bits, then head_…
//               unit       number, as ULEB128 like the following
//               die        offset of the entry from the unit's header
//               scope      if head_has_scope
//               name       in linkage only: number of the plain name
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace dwarf::index_format {

constexpr std::string_view magic = "acunames";
constexpr size_t header_size = 152, table_count = 8;
constexpr size_t unit_size = 24, signature_size = 16, scope_size = 12, name_size = 12, linkage_size = 12;

enum Table : uint8_t { units, signatures, scopes, buckets, names, linkage, texts, postings };

enum : uint8_t { // bits of a head
  head_kind = 0x0f,
  head_has_place = 0x10,
  head_is_inlined = 0x20,
  head_has_scope = 0x40,
};

enum : uint8_t { // flags of a scope
  scope_is_namespace = 1,
  scope_is_inline = 2, // its names belong to the scope around it, too
  scope_is_function = 4,
};

} // namespace dwarf::index_format
