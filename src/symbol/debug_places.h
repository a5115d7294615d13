// What the searches for debug files share: names of places, and the list of what was tried.
#pragma once

#include "symbol/debug_files.h"

namespace symbol {

inline constexpr const char* usual_folder = "/usr/lib/debug";

// Both parts of a path: the folder with its last '/', the name.
std::string folder_of(const std::string& path);
std::string name_of(const std::string& path);
// ".build-id/12/34cd….debug"
std::string build_id_name(base::ByteSpan id);
// Why a file with this build-id does not do; empty: it has none.
std::string wrong_id(base::ByteSpan id, base::ByteSpan wanted);

// Notes in `into` what is tried.
class Places {
public:
  explicit Places(FoundFile& into) : into_(into) {}
  // A file that was not tried yet and can be read as ELF.
  std::optional<format::ElfFile> open(const std::string& path, const std::string& root);
  void refuse(const std::string& path, const std::string& root, std::string problem);
  void take(const std::string& path, const std::string& root, format::ElfFile file);

private:
  FoundFile& into_;
};

// The file that `file` (found at path in root) shares with others as dwz made it, if it has such a link.
void find_alt(const format::ElfFile& file, const std::string& path, const std::string& root,
              const DebugSearch& search, DebugFile& out);

} // namespace symbol
