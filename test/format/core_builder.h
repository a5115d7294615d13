// Core dumps for tests, piece by piece: notes as <sys/procfs.h> lays them out, and stretches of memory.
#pragma once

#include <cstdint>
#include <cstring>
#include <elf.h>
#include <signal.h>
#include <string>
#include <string_view>
#include <sys/procfs.h>
#include <vector>

class CoreBuilder {
public:
  Elf64_Ehdr header = {}; // may be changed before build()

  CoreBuilder() {
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64, header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_type = ET_CORE, header.e_machine = EM_X86_64;
    header.e_phoff = sizeof header, header.e_phentsize = sizeof(Elf64_Phdr);
  }
  template<class T> static std::string raw(const T& value) { return {reinterpret_cast<const char*>(&value), sizeof value}; }

  void note(std::string_view name, uint32_t type, const std::string& content) {
    const Elf64_Nhdr head = {.n_namesz = static_cast<uint32_t>(name.size() + 1), .n_descsz = static_cast<uint32_t>(content.size()), .n_type = type};
    notes_ += raw(head) + padded(std::string(name) + '\0') + padded(content);
  }
  void thread(uint32_t id, int signal, uint64_t first_register) {
    prstatus_t status = {};
    status.pr_pid = static_cast<pid_t>(id);
    status.pr_cursig = static_cast<short>(signal);
    for (size_t i = 0; i < std::size(status.pr_reg); i++) status.pr_reg[i] = first_register + i;
    note("CORE", NT_PRSTATUS, raw(status));
  }
  void process(uint32_t id, std::string_view name, std::string_view arguments) {
    prpsinfo_t info = {};
    info.pr_pid = static_cast<pid_t>(id), info.pr_ppid = 7, info.pr_uid = 1000, info.pr_gid = 100;
    std::memcpy(info.pr_fname, name.data(), std::min(name.size(), sizeof info.pr_fname));
    std::memcpy(info.pr_psargs, arguments.data(), std::min(arguments.size(), sizeof info.pr_psargs));
    note("CORE", NT_PRPSINFO, raw(info));
  }
  void signal(int number, int code, uint64_t address) {
    siginfo_t info = {};
    info.si_signo = number, info.si_code = code, info.si_addr = reinterpret_cast<void*>(address);
    note("CORE", NT_SIGINFO, raw(info));
  }
  struct Mapped {
    uint64_t begin, end, page;
    std::string path;
  };
  void files(const std::vector<Mapped>& all, uint64_t page_size = 4096) {
    std::string rows = raw(uint64_t{all.size()}) + raw(page_size), paths;
    for (const Mapped& m : all) rows += raw(m.begin) + raw(m.end) + raw(m.page), paths += m.path + '\0';
    note("CORE", NT_FILE, rows + paths);
  }
  // `size`: of the stretch; of it the file has the bytes.
  void memory(uint64_t address, std::string bytes, uint64_t size, uint32_t flags = PF_R | PF_W) { stretches_.push_back({address, size, flags, std::move(bytes)}); }

  std::string build() const {
    Elf64_Ehdr h = header;
    if (!h.e_phnum) h.e_phnum = static_cast<uint16_t>(stretches_.size() + 1);
    uint64_t at = sizeof h + (stretches_.size() + 1) * sizeof(Elf64_Phdr);
    std::string table, contents;
    auto add = [&](uint32_t type, uint64_t address, uint64_t size, uint32_t flags, const std::string& bytes) {
      Elf64_Phdr p = {};
      p.p_type = type, p.p_flags = flags, p.p_offset = at + contents.size(), p.p_vaddr = address, p.p_filesz = bytes.size(), p.p_memsz = size;
      table += raw(p), contents += bytes;
    };
    add(PT_NOTE, 0, 0, 0, notes_);
    for (const Stretch& s : stretches_) add(PT_LOAD, s.address, s.size, s.flags, s.bytes);
    return raw(h) + table + contents;
  }

private:
  struct Stretch {
    uint64_t address, size;
    uint32_t flags;
    std::string bytes;
  };
  static std::string padded(std::string text) {
    text.resize((text.size() + 3) / 4 * 4);
    return text;
  }
  std::string notes_;
  std::vector<Stretch> stretches_;
};
