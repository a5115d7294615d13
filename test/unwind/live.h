// The code of a live process, for tests that walk stacks in it.
#pragma once

#include "format/load_bias.h"
#include "symbol/process_map.h"
#include "symbol/vdso.h"
#include "unwind/walk.h"

#include <cstring>
#include <fcntl.h>
#include <map>
#include <string>
#include <sys/uio.h>
#include <unistd.h>

namespace samples {

class LiveCode {
public:
  explicit LiveCode(pid_t pid) : pid_(pid), maps_(symbol::read_process_map(pid)) {}

  unwind::CodePlace find(uint64_t address) {
    const symbol::Mapping* mapping = symbol::find_mapping(maps_, address);
    if (!mapping) return {};
    unwind::CodePlace out{.is_code = true};
    File& file = files_[mapping->path];
    if (!file.tried) open(file, *mapping);
    if (!file.frames) return out;
    std::optional<uint64_t> bias =
        format::bias_of(file.elf->elf().segments(), {mapping->begin, mapping->end, mapping->offset, true});
    if (!bias) return out;
    out.file = file.frames.get();
    out.bias = *bias;
    return out;
  }
  bool read(uint64_t address, std::span<std::byte> to) const {
    iovec here = {to.data(), to.size()}, there = {reinterpret_cast<void*>(address), to.size()};
    return ::process_vm_readv(pid_, &here, 1, &there, 1, 0) == static_cast<ssize_t>(to.size());
  }
  unwind::Walk walk(const unwind::Registers& start, const unwind::WalkOptions& options = {}) {
    return unwind::walk(
        start, [this](uint64_t address, std::span<std::byte> to) { return read(address, to); },
        [this](uint64_t address) { return find(address); }, options);
  }

private:
  struct File {
    bool tried = false;
    std::optional<format::ElfFile> elf;
    std::unique_ptr<unwind::FileFrames> frames;
  };
  void open(File& file, const symbol::Mapping& mapping) {
    file.tried = true;
    auto elf = mapping.path == "[vdso]" ? format::ElfFile::view(symbol::vdso_image())
                                        : format::ElfFile::open(mapping.path);
    if (!elf.ok()) return;
    file.elf.emplace(std::move(*elf));
    file.frames = std::make_unique<unwind::FileFrames>(*file.elf, unwind::make_tables(*file.elf));
  }

  pid_t pid_;
  std::vector<symbol::Mapping> maps_;
  std::map<std::string, File> files_;
};

} // namespace samples
