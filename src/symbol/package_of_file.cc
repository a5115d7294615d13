#include "symbol/package_of_file.h"

#include "base/file_map.h"

#include <dirent.h>

namespace symbol {

// Whether one of the lines is `path`.
static bool has_line(std::string_view text, std::string_view path) {
  for (size_t at = text.find(path); at != text.npos; at = text.find(path, at + 1)) {
    bool begins = at == 0 || text[at - 1] == '\n';
    size_t end = at + path.size();
    if (begins && (end == text.size() || text[end] == '\n')) return true;
  }
  return false;
}

std::string package_of_file(std::string_view path, const std::string& lists) {
  if (path.size() < 2) return {};
  // Lists may be older than the move of /bin and /lib below /usr.
  constexpr std::string_view usr = "/usr";
  std::string_view other = path.starts_with("/usr/") ? path.substr(usr.size()) : std::string_view();
  std::string with_usr = std::string(usr) + std::string(path);
  if (other.empty()) other = with_usr;
  DIR* folder = ::opendir(lists.c_str());
  if (!folder) return {};
  std::string found;
  while (const dirent* entry = found.empty() ? ::readdir(folder) : nullptr) {
    std::string_view name = entry->d_name;
    if (!name.ends_with(".list")) continue;
    auto list = base::FileMap::open(lists + "/" + entry->d_name);
    if (!list.ok()) continue;
    std::string_view text(reinterpret_cast<const char*>(list->bytes().data()), list->bytes().size());
    if (!has_line(text, path) && !has_line(text, other)) continue;
    name.remove_suffix(5);
    found = name.substr(0, name.find(':'));
  }
  ::closedir(folder);
  return found;
}

} // namespace symbol
