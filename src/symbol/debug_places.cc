#include "symbol/debug_places.h"

#include "base/privilege.h"

#include <cerrno>
#include <unistd.h>

namespace symbol {

using base::ByteSpan;
using format::ElfFile;

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }
std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string build_id_name(ByteSpan id) {
  std::string hex = format::to_hex(id);
  return ".build-id/" + hex.substr(0, 2) + "/" + (hex.size() > 2 ? hex.substr(2) : "") + ".debug";
}

std::string wrong_id(ByteSpan id, ByteSpan wanted) {
  std::string has = id.empty() ? "it has no build-id" : "its build-id is " + format::to_hex(id);
  return has + ", not " + format::to_hex(wanted) + ": it is of another build";
}

std::optional<ElfFile> Places::open(const std::string& path, const std::string& root) {
  for (const TriedPlace& t : into_.tried)
    if (t.path == path && t.root == root) return std::nullopt;
  auto fd = base::open_regular(path, root);
  auto map = fd ? base::FileMap::of(fd->get()) : base::Result<base::FileMap>(fd.error());
  auto file = map ? ElfFile::of(std::move(*map)) : base::Result<ElfFile>(map.error());
  if (file) return std::move(*file);
  std::string problem = file.error().message;
  if (size_t at = problem.find(path + ": "); at != std::string::npos) problem.erase(0, at + path.size() + 2);
  bool is_missing =
      !fd && !base::is_accessible((root + path).c_str(), F_OK) && (errno == ENOENT || errno == ENOTDIR);
  into_.tried.push_back({path, root, std::move(problem), is_missing});
  return std::nullopt;
}

void Places::refuse(const std::string& path, const std::string& root, std::string problem) {
  into_.tried.push_back({path, root, std::move(problem), false});
}

void Places::take(const std::string& path, const std::string& root, ElfFile file) {
  into_.path = path;
  into_.root = root;
  into_.file = std::move(file);
}

} // namespace symbol
