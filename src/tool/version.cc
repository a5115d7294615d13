// `acu --version`: the release, and which build of it this is.
#include "tool/tool.h"

#include "format/elf_file.h"

#include <elf.h>
#include <link.h>

#ifndef ACU_VERSION
#define ACU_VERSION "unknown"
#endif

namespace tool {

namespace {

// The build-id in a segment of notes (elf(5)).
std::string build_id_in(const char* notes, size_t size) {
  while (size >= sizeof(ElfW(Nhdr))) {
    const auto* note = reinterpret_cast<const ElfW(Nhdr)*>(notes);
    const size_t name = (note->n_namesz + 3) & ~3U, bytes = (note->n_descsz + 3) & ~3U, all = sizeof *note + name + bytes;
    if (all > size) break;
    if (note->n_type == NT_GNU_BUILD_ID) return format::to_hex({reinterpret_cast<const std::byte*>(note + 1) + name, note->n_descsz});
    notes += all, size -= all;
  }
  return {};
}

// The first object is the executable.
int take_build_id(dl_phdr_info* object, size_t, void* to) {
  auto& out = *static_cast<std::string*>(to);
  for (size_t i = 0; i < object->dlpi_phnum && out.empty(); i++)
    if (const ElfW(Phdr)& segment = object->dlpi_phdr[i]; segment.p_type == PT_NOTE)
      out = build_id_in(reinterpret_cast<const char*>(object->dlpi_addr + segment.p_vaddr), segment.p_memsz);
  return 1;
}

} // namespace

int version() {
  std::string build_id;
  ::dl_iterate_phdr(take_build_id, &build_id);
  say("acu " ACU_VERSION + (build_id.empty() ? "" : " (build " + build_id + ")") + "\n");
  return 0;
}

} // namespace tool
