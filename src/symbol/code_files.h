// The files of mapped code, by an index each. A file is opened when a mapping of it is first seen, since
// later it may be replaced, deleted, or out of reach together with its process; it is read when the first
// name in it is asked for. Which file was mapped is known by build-id or inode, so that any way to it will
// do, and another file that has its name now is not taken for it.
#pragma once

#include "base/file_map.h"
#include "format/elf_file.h"
#include "symbol/cache.h"
#include "symbol/function_names.h"
#include "symbol/module.h"
#include "symbol/process_events.h"

#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <unordered_map>
#include <vector>

namespace symbol {

class CodeFiles {
public:
  static constexpr uint32_t none = ~uint32_t{0};

  struct Function {
    std::string_view name; // ends with a NUL
    uint64_t offset = 0;   // bytes from its start
    bool is_derived = false; // it is called by its address
  };
  // Where a file may be reached: through a mapping of a process, and under its path in the roots of
  // processes.
  struct Way {
    pid_t pid = 0;
    uint64_t begin = 0, end = 0; // of the mapping
    pid_t parent = 0;            // 0: not known
  };

  // Index of a file that is mapped now; none for memory that is no file. `path` as the process sees it,
  // perhaps with " (deleted)". An inode does not tell that other bytes were written into the file since it
  // was opened (build-ids do, which records of mappings have since Linux 5.12): then it is another file, if
  // `way` still leads there.
  uint32_t index_of(std::string_view path, const MappedFileId& id, const Way& way);
  // Opens it if it is not open; the same way is not tried often. False: it is not to be had now.
  bool open(uint32_t file, const Way& way);
  bool is_open(uint32_t file) const { return files_[file].content != nullptr; }
  bool is_deleted(uint32_t file) const { return files_[file].is_deleted; }
  // The content stays what it is, also of a file that has been read, as long as somebody has it; nullptr: the
  // file is not open, or no ELF file. Only where `keep_content` was said before it was opened.
  std::shared_ptr<const format::ElfFile> elf(uint32_t file) const;
  void keep_content() { keeps_ = true; }
  // Folders with debug files that are looked at first, or such files; before anything is read.
  void search_in(std::vector<std::string> folders) { debug_folders_ = std::move(folders); }
  // As the process sees it, without " (deleted)".
  const std::string& path(uint32_t file) const { return files_[file].path; }
  const MappedFileId& id(uint32_t file) const { return files_[file].id; }
  // Empty: it has none, or was not opened.
  base::ByteSpan build_id(uint32_t file) const { return files_[file].content ? base::ByteSpan(files_[file].content->build_id) : base::ByteSpan(); }
  // Whether code without a name in it may have one in a perf map: memory that only looks like a file.
  bool is_memory(uint32_t file) const { return files_[file].is_memory; }

  // The function at a place of the file; views live as long as this. `demangle`: the name as it is written in
  // C++ or Rust. Reads the file at the first call.
  std::optional<Function> find(uint32_t file, uint64_t offset, bool demangle);
  // The address of a place of the file, as the file counts; 0: not known.
  uint64_t address_of(uint32_t file, uint64_t offset);
  // Reads it now, if that takes no long time; false: it was read before, or is too large.
  bool read_soon(uint32_t file);
  size_t size() const { return files_.size(); }
  // Files stay open when their names were read, for find_lines().
  void keep_open() { keeps_open_ = true; }
  // Calls that were inlined at addresses of the file (sorted, all different), see Module::find_lines; their texts are gone
  // with the call.
  void find_lines(uint32_t file, std::span<const uint64_t> addresses, const Module::TakeFrames& take);

private:
  // Of an open file; mappings of one file by several processes or under several names share it.
  struct Content {
    std::optional<format::ElfFile> elf; // until it is read, or is part of the module
    std::unique_ptr<Module> module;     // made by find_lines()
    std::vector<std::byte> build_id;
    base::FileId id;
    std::string root; // the file was found in it; of a process that may be gone by now
    FunctionNames names;
    bool is_read = false;
  };
  struct File {
    std::string path;
    MappedFileId id;
    bool is_deleted = false, is_memory = false, is_vdso = false;
    uint8_t tries = 0;
    std::shared_ptr<Content> content;
  };

  bool is_rewritten(const File& file, const Way& way) const;
  bool open_anywhere(uint32_t index, const Way& way);
  void close_oldest();
  bool take(File& file, const std::string& path, const std::string& root);
  void read(Content& content, const std::string& path);
  const Cache& cache();

  bool keeps_open_ = false;
  bool keeps_ = false;
  std::vector<std::string> debug_folders_;
  std::deque<File> files_; // views of names stay good
  std::optional<Cache> cache_;
  std::unordered_map<std::string, uint32_t> indices_;
  std::map<base::FileId, std::shared_ptr<Content>> contents_;
  std::deque<uint32_t> opened_; // that may not be read yet, the oldest first
};

} // namespace symbol
