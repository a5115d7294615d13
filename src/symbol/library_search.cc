#include "symbol/library_search.h"

#include "base/file_map.h"
#include "base/privilege.h"
#include "base/text.h"
#include "format/loader_cache.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <unistd.h>

namespace symbol {

namespace {

constexpr std::string_view default_folders[] = {
#if defined(__aarch64__)
    "/lib/aarch64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
#else
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
#endif
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
    "/usr/local/lib64",
    "/usr/local/lib"};
constexpr std::string_view default_path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
constexpr size_t most_similar = 3;

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> out;
  DIR* dir = ::opendir(folder.c_str());
  if (!dir) return out;
  while (const dirent* entry = ::readdir(dir)) out.emplace_back(entry->d_name);
  ::closedir(dir);
  std::sort(out.begin(), out.end());
  return out;
}

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool fits(std::string_view name, std::string_view file) {
  return base::has_glob(name) ? base::glob_match(name, file) && file.find(".so") != file.npos
                              : is_library(name, file);
}

void add(std::vector<std::string>& to, std::string path) {
  if (std::find(to.begin(), to.end(), path) == to.end()) to.push_back(std::move(path));
}

// Whether a version is newer: "libx.so.10" than "libx.so.9".
bool is_newer(std::string_view a, std::string_view b) {
  return strverscmp(std::string(a).c_str(), std::string(b).c_str()) > 0;
}

// Those of one place, the newest first.
void add_newest_first(std::vector<std::string>& to, std::vector<std::string> found) {
  std::stable_sort(found.begin(), found.end(),
                   [](auto& a, auto& b) { return is_newer(last_part(a), last_part(b)); });
  for (std::string& path : found) add(to, std::move(path));
}

void add_from_folder(std::vector<std::string>& to, std::string_view name, const std::string& folder,
                     const std::string& root) {
  std::vector<std::string> found;
  for (const std::string& file : names_in(root + folder))
    if (fits(name, file) && base::open_regular(folder + "/" + file, root).ok())
      found.push_back(folder + "/" + file);
  add_newest_first(to, std::move(found));
}

template<class Take> void for_each_cached(const std::string& root, Take take) {
  auto map = base::FileMap::open("/etc/ld.so.cache", root);
  if (!map.ok()) return;
  for (const format::CachedLibrary& library : format::read_loader_cache(map->bytes())) take(library);
}

std::vector<std::string_view> folders_of_path(const std::string& root) {
  // The PATH of a process with its own root is not ours.
  const char* path = root.empty() ? std::getenv("PATH") : nullptr;
  return base::split(path ? std::string_view(path) : default_path, ':');
}

} // namespace

bool is_library(std::string_view name, std::string_view file) {
  if (name == file) return true;
  if (!file.starts_with(name)) return false;
  std::string_view rest = file.substr(name.size());
  size_t so = rest.find(".so");
  if (so == rest.npos) // "libssl.so" is libssl.so.3
    return name.ends_with(".so") && rest.size() > 1 && rest[0] == '.' && is_digit(rest[1]);
  bool ends = so + 3 == rest.size() || rest[so + 3] == '.';
  std::string_view version = rest.substr(0, so);
  bool is_version = version.size() > 1 && version[0] == '-' && is_digit(version[1]);
  return ends && (version.empty() || is_version);
}

std::vector<std::string> find_libraries(std::string_view name, const std::string& root) {
  std::vector<std::string> out;
  const char* folders = root.empty() ? std::getenv("LD_LIBRARY_PATH") : nullptr;
  for (std::string_view folder : base::split(folders ? folders : "", ':'))
    if (folder.starts_with('/')) add_from_folder(out, name, std::string(folder), root);
  std::vector<std::string> cached;
  for_each_cached(root, [&](const format::CachedLibrary& library) {
    std::string path(library.path);
    if (fits(name, library.name) && base::open_regular(path, root).ok()) cached.push_back(std::move(path));
  });
  add_newest_first(out, std::move(cached));
  if (out.empty())
    for (std::string_view folder : default_folders) add_from_folder(out, name, std::string(folder), root);
  return out;
}

std::vector<std::string> find_programs(std::string_view name, const std::string& root) {
  std::vector<std::string> out;
  for (std::string_view folder : folders_of_path(root)) {
    if (!folder.starts_with('/')) continue;
    auto try_one = [&](std::string_view file) {
      std::string path = std::string(folder) + "/" + std::string(file);
      if (base::open_regular(path, root).ok() && base::is_accessible((root + path).c_str(), X_OK)) add(out, path);
    };
    if (!base::has_glob(name)) {
      try_one(name);
      continue;
    }
    for (const std::string& file : names_in(root + std::string(folder)))
      if (base::glob_match(name, file)) try_one(file);
  }
  return out;
}

std::vector<std::string> similar_binaries(std::string_view name, const std::string& root) {
  std::vector<std::string> known;
  for_each_cached(root, [&](const format::CachedLibrary& library) { known.emplace_back(library.name); });
  for (std::string_view folder : folders_of_path(root))
    for (std::string& file : names_in(root + std::string(folder))) known.push_back(std::move(file));
  std::vector<std::string_view> names(known.begin(), known.end());
  // "libcrypt" may also be a part of what was meant.
  std::vector<std::string> out;
  if (std::string_view near = base::nearest(name, names); !near.empty()) out.emplace_back(near);
  for (std::string_view candidate : names)
    if (out.size() < most_similar && name.size() > 3 && candidate.starts_with(name))
      add(out, std::string(candidate));
  return out;
}

} // namespace symbol
