// A file that is written piece by piece, in bounded memory. It is PATH.part until it is complete, and is removed if it does not become so; devices and pipes are written as they are.
#pragma once

#include "base/fd.h"
#include "base/result.h"

#include <string>
#include <string_view>

namespace recording {

class ExportFile {
public:
  // Failure: it cannot be created.
  static base::Result<ExportFile> create(const std::string& path);
  ExportFile(ExportFile&&) noexcept = default;
  ~ExportFile();

  // Failure: the disk is full, …
  base::Status add(std::string_view bytes);
  // Nothing is added afterwards.
  base::Status finish();

private:
  explicit ExportFile(const std::string& path) : path_(path) {}
  base::Status flush();
  base::Error failure(int error) const;

  std::string path_, part_path_; // part_path_ is empty for devices and pipes
  base::Fd file_;
  std::string buffer_;
};

} // namespace recording
