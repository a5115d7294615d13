// Looked for when a name is asked for; nothing is read at other starts.
#include "tool/own_tools.h"

#include "base/text.h"
#include "tool/tool_header.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace tool {

namespace {

constexpr std::string_view common_folder = "/usr/local/share/acu/tools";

struct Kept {
  std::string name, text;
  Script script;
};

std::vector<std::string> folders() {
  std::vector<std::string> out;
  if (::geteuid() != 0)
    if (auto own = own_folder(); own.ok()) out.push_back(*own);
  out.emplace_back(common_folder);
  return out;
}

bool is_safe(const std::string& path) {
  struct stat about = {};
  return ::stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode) && (about.st_uid == 0 || about.st_uid == ::geteuid()) && !(about.st_mode & (S_IWGRP | S_IWOTH));
}

const Script* keep(std::string name, std::string text) {
  static std::deque<Kept> all;
  for (const Kept& k : all)
    if (k.name == name) return &k.script;
  Kept& kept = all.emplace_back(Kept{std::move(name), std::move(text), {}});
  auto header = read_header(kept.text);
  kept.script = {.name = kept.name, .is_stopped = header.ok() && header->is_stopped, .text = kept.text};
  return &kept.script;
}

} // namespace

base::Result<std::string> own_folder() {
  if (::geteuid() == 0) return std::string(common_folder);
  const char* data = std::getenv("XDG_DATA_HOME");
  if (data && data[0] == '/') return std::string(data) + "/acu/tools";
  const char* home = std::getenv("HOME");
  if (home && home[0] == '/') return std::string(home) + "/.local/share/acu/tools";
  return base::Error{base::Failure::usage, "neither XDG_DATA_HOME nor HOME is set: there is no folder for tools"};
}

bool is_tool_name(std::string_view name) {
  constexpr size_t longest = 64;
  return !name.empty() && name.size() <= longest && std::isalnum(static_cast<unsigned char>(name[0])) &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_'; });
}

const Script* find_own(std::string_view name) {
  if (!is_tool_name(name)) return nullptr;
  for (const std::string& folder : folders()) {
    const std::string path = folder + "/" + std::string(name) + ".bt";
    if (!is_safe(path)) continue;
    if (auto text = base::read_file(path); text.ok()) return keep(std::string(name), std::move(*text));
  }
  return nullptr;
}

std::vector<const Script*> own_scripts() {
  std::vector<const Script*> out;
  for (const std::string& folder : folders()) {
    std::error_code failed;
    for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
      if (entry.path().extension() != ".bt") continue;
      const Script* script = find_own(entry.path().stem().string());
      if (script && std::find(out.begin(), out.end(), script) == out.end()) out.push_back(script);
    }
  }
  std::sort(out.begin(), out.end(), [](const Script* a, const Script* b) { return a->name < b->name; });
  return out;
}

} // namespace tool
