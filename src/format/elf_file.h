// An ELF file as a whole: its bytes (mapped, or held), its headers, and what stands in its sections, made
// plain: compressed ones are decompressed when they are first asked for, and once. It also tells where the
// rest of what is known of the program is: build-id, links to separate debug files, a small symbol table that
// is packed inside. Specification: System V ABI, "Section Compression"; gdb manual, "Separate Debug Files",
// "MiniDebugInfo"; DWARF 5, section 7.3.6 (supplementary files).
//
// All const functions may be called from several threads.
#pragma once

#include "base/file_map.h"
#include "format/elf.h"

#include <functional>
#include <memory>
#include <string>

namespace format {

struct DebugLink {
  std::string_view name; // of a file, without folder
  uint32_t crc = 0;      // of all its bytes
};

// The file which several debug files share, as dwz makes it.
struct DebugAltLink {
  std::string_view path;   // may be relative to the folder of the file that has the link
  base::ByteSpan build_id; // which that file must have
};

class ElfFile;

// Fills all of the bytes; false: it cannot.
using PlainFill = std::function<bool(std::span<std::byte>)>;

// Where plain bytes of sections are kept beyond this process, so that they are decompressed once. Any thread
// may ask.
class PlainStore {
public:
  virtual ~PlainStore() = default;
  // What was kept of the section with this index, valid as long as this; empty: nothing.
  virtual base::ByteSpan find(const ElfFile& file, size_t section, uint64_t size) = 0;
  // Has the bytes made where they are to lie, by at most one call of `fill`; valid as long as this. Empty: it
  // failed, or was not called, because they are not kept.
  virtual base::ByteSpan make(const ElfFile& file, size_t section, uint64_t size, const PlainFill& fill) = 0;
};

class ElfFile {
public:
  // Failure: it cannot be opened, or is no ELF file that we read; the path stands in the message.
  // `root`: see base::open_regular.
  static base::Result<ElfFile> open(const std::string& path, const std::string& root = {});
  static base::Result<ElfFile> of(base::FileMap map);
  static base::Result<ElfFile> of(std::vector<std::byte> image);
  // Bytes that outlive this, such as the vdso.
  static base::Result<ElfFile> view(base::ByteSpan image);

  // What was got from the file stays valid when it is moved.
  ElfFile(ElfFile&&) noexcept;
  ElfFile& operator=(ElfFile&&) noexcept;
  ~ElfFile();

  const Elf& elf() const;
  base::ByteSpan bytes() const;   // of the file as it is
  const base::FileId& id() const; // all zero if it was not opened as a file
  // Bytes of the file could not be read since it was opened: what was got from it may be wrong.
  bool damaged() const;
  // See base::FileMap::release_pages; what was decompressed stays.
  void release_pages() const;

  // The plain bytes of a section, also of one that is stored compressed, be it under this name or as
  // ".zdebug_…" for ".debug_…"; in relocatable files with relocations applied (elf_relocate.h). Empty: there
  // is none, it has no bytes in the file, or it cannot be decompressed.
  base::ByteSpan section(std::string_view name) const;
  // The same, decided without decompressing.
  bool has_section(std::string_view name) const;
  // From here on the store is asked before a section is decompressed. The first one stays.
  void set_store(std::unique_ptr<PlainStore> store) const;
  // Of any section of elf().
  base::ByteSpan section(const ElfSection& section) const;

  // Empty: it has none.
  base::ByteSpan build_id() const;
  std::optional<DebugLink> debug_link() const;
  std::optional<DebugAltLink> debug_alt_link() const;
  // By what links to this file name it, where it is such a shared file; else its build-id.
  base::ByteSpan shared_id() const;
  // The file in .gnu_debugdata, which has a symbol table; nullptr: there is none. Its symbols' values are
  // addresses of this file; its own segments say nothing of places in this file.
  const ElfFile* packed_symbols() const;

  // What could not be used, and why: "section .debug_info: its compressed bytes are damaged".
  std::vector<std::string> problems() const;

private:
  struct State;
  explicit ElfFile(std::unique_ptr<State> state);
  static base::Result<ElfFile> make(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

// Of notes as they stand in a section, or in /sys/kernel/notes; `alignment` is the section's. Empty: none.
base::ByteSpan build_id_in_notes(base::ByteSpan notes, uint64_t alignment);

// "1f00ab…": how build-ids are written.
std::string to_hex(base::ByteSpan bytes);

} // namespace format
