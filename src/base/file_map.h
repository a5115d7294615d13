// A regular file in memory, read-only and unread until it is touched. Other programs own these files: one may
// be cut, or its disk may fail, while it is mapped, and the kernel tells that by SIGBUS at some later read.
// So every range is registered; the handler of the process puts zeroes under it from there on, and the map
// says so
// (`damaged`). Whoever reads foreign bytes copes with zeroes anyway.
//
// Pipes, devices and folders are refused before they are opened: to open them may block or have an effect.
#pragma once

#include "base/fd.h"
#include "base/reader.h"
#include "base/result.h"

#include <cstdint>
#include <string>

namespace base {

// Which file this is, and in which state: the same bytes as long as all of it is the same.
struct FileId {
  uint64_t device = 0, inode = 0;
  int64_t size = 0;       // bytes
  int64_t changed_ns = 0; // since 1970
  bool operator==(const FileId&) const = default;
  auto operator<=>(const FileId&) const = default;
};

// Opens a regular file for reading. With a `root` ("/proc/17/root") the path is that of a program which has
// this root: also its symbolic links do not lead out of it. Failure: what the system says, or that it is no
// regular file.
Result<Fd> open_regular(const std::string& path, const std::string& root = {});
// Of an open file; failure also when it is no regular file.
Result<FileId> file_id(int fd);

class FileMap {
public:
  static Result<FileMap> open(const std::string& path, const std::string& root = {});
  // The file may be closed afterwards.
  static Result<FileMap> of(int fd);

  FileMap() = default;
  FileMap(FileMap&& o) noexcept;
  FileMap& operator=(FileMap&& o) noexcept;
  ~FileMap();

  // All of the file, as large as it was when it was opened. They stay where they are when the map is moved.
  ByteSpan bytes() const { return bytes_; }
  const FileId& id() const { return id_; }
  // Some of the bytes could not be read, and are zeroes.
  bool damaged() const;
  // The pages read so far no longer count as memory of this process; they are there again when touched.
  void release_pages() const;

private:
  struct Range;
  struct Ranges;
  static void on_bus_error(int signal, void* about, void* context);

  ByteSpan bytes_;
  FileId id_;
  Range* range_ = nullptr;
};

} // namespace base
