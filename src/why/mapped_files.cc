#include "why/mapped_files.h"

#include "lang/lexer.h"
#include "symbol/binaries.h"

#include <algorithm>

namespace why {

MappedFiles::MappedFiles(int pid) {
  symbol::Binaries binaries(pid);
  for (const symbol::Binaries::Mapped& file : binaries.mapped()) paths_.push_back(file.path);
}

static bool is_called(std::string_view path, std::string_view part) { return path.substr(path.rfind('/') + 1).find(part) != path.npos; }

bool MappedFiles::has(std::string_view part) const {
  return std::ranges::any_of(paths_, [&](const std::string& path) { return is_called(path, part); });
}

std::string MappedFiles::places(std::string_view provider, std::string_view part, std::string_view what) const {
  std::string out;
  for (const std::string& path : paths_)
    if (!what.empty() && is_called(path, part)) out.append(out.empty() ? "" : ",").append(provider).append(":").append(lang::in_quotes(path)).append(":").append(what);
  return out;
}

} // namespace why
