// Formats of other tools that a recording is written in, one row each.
#pragma once

#include "base/result.h"
#include "recording/reader.h"

#include <span>
#include <string>
#include <string_view>

namespace recording {

struct Export {
  std::string_view name;
  std::string_view endings; // of names of files, separated by '|'
  std::string_view doc;
  // Writes the events of `part`. Failure: a chunk of the recording is damaged, or the file cannot be written.
  base::Status (*write)(const Reader& reader, const Part& part, const std::string& path);
};

std::span<const Export> exports();
// By a file's name. nullptr: none.
const Export* export_of_file(std::string_view path);

base::Status write_perfetto(const Reader& reader, const Part& part, const std::string& path); // perfetto.cc: protobuf, for ui.perfetto.dev
base::Status write_chrome(const Reader& reader, const Part& part, const std::string& path);   // chrome.cc: JSON of chrome://tracing
base::Status write_ctf(const Reader& reader, const Part& part, const std::string& path);      // ctf.cc: Common Trace Format 1.8, a folder

} // namespace recording
