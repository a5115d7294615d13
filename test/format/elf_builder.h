// Small ELF files, made section by section: header, section headers, then the bytes of the sections. No
// segments.
#pragma once

#include <cstdint>
#include <cstring>
#include <elf.h>
#include <string>
#include <vector>

class ElfBuilder {
public:
  void add(const std::string& name, std::string bytes, uint32_t type = SHT_PROGBITS, uint64_t flags = 0,
           uint32_t link = 0, uint32_t info = 0) {
    sections_.push_back({name, std::move(bytes), type, flags, link, info});
  }
  // A note with the build-id.
  void add_build_id(const std::string& id) {
    add(".note.gnu.build-id",
        number<uint32_t>(4) + number(static_cast<uint32_t>(id.size())) + number<uint32_t>(NT_GNU_BUILD_ID) +
            std::string("GNU\0", 4) + id,
        SHT_NOTE);
  }
  std::string build() const {
    std::string names(1, '\0');
    std::vector<Section> all = sections_;
    all.insert(all.begin(), Section{.name = "", .bytes = "", .type = SHT_NULL});
    all.push_back({.name = ".shstrtab", .bytes = "", .type = SHT_STRTAB});
    std::vector<uint32_t> name_offsets;
    for (const Section& s : all) {
      name_offsets.push_back(s.name.empty() ? 0 : static_cast<uint32_t>(names.size()));
      if (!s.name.empty()) names += s.name + '\0';
    }
    all.back().bytes = names;
    Elf64_Ehdr header = {};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_type = ET_DYN;
    header.e_machine = EM_X86_64;
    header.e_shoff = sizeof header;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = static_cast<uint16_t>(all.size());
    header.e_shstrndx = static_cast<uint16_t>(all.size() - 1);
    std::string out = number(header), contents;
    uint64_t at = sizeof header + all.size() * sizeof(Elf64_Shdr);
    for (size_t i = 0; i < all.size(); i++) {
      Elf64_Shdr s = {};
      s.sh_name = name_offsets[i];
      s.sh_type = all[i].type;
      s.sh_flags = all[i].flags;
      s.sh_offset = at + contents.size();
      s.sh_size = all[i].bytes.size();
      s.sh_link = all[i].link;
      s.sh_info = all[i].info;
      s.sh_addralign = 4;
      out += number(s);
      contents += all[i].bytes + std::string(-all[i].bytes.size() % 8, '\0');
    }
    return out + contents;
  }

  template<class T> static std::string number(const T& value) {
    std::string out(sizeof value, '\0');
    std::memcpy(out.data(), &value, sizeof value);
    return out;
  }
  // What stands before the bytes of a section with SHF_COMPRESSED.
  static std::string compression_header(uint32_t kind, uint64_t size) {
    return number(Elf64_Chdr{.ch_type = kind, .ch_reserved = 0, .ch_size = size, .ch_addralign = 1});
  }

private:
  struct Section {
    std::string name, bytes;
    uint32_t type = 0;
    uint64_t flags = 0;
    uint32_t link = 0, info = 0;
  };
  std::vector<Section> sections_;
};
