#include "proc/process_files.h"

#include "base/text.h"
#include "format/elf_file.h"
#include "proc/text.h"
#include "runtime/runtimes.h"

#include <filesystem>
#include <set>
#include <sys/stat.h>

namespace proc {

namespace {

struct FileName {
  std::string_view pattern, language;
};
// Libraries first: an executable may have another one's name.
constexpr FileName file_names[] = {
    {"libjvm.so", "java"},        {"libcoreclr.so", "dotnet"}, {"libpython*.so*", "python"}, {"libruby*.so*", "ruby"}, {"libnode.so*", "node"},
    {"libphp*.so*", "php"},       {"libperl.so*", "perl"},     {"liblua*.so*", "lua"},       {"libmono*.so*", "dotnet"}, {"beam*.smp", "erlang"},
    {"python", "python"},         {"ruby", "ruby"},            {"node", "node"},             {"nodejs", "node"},       {"php", "php"},
    {"php-fpm", "php"},           {"perl", "perl"},            {"lua", "lua"},               {"luajit", "lua"},
};

std::string folder_of(int pid) { return "/proc/" + std::to_string(pid); }

} // namespace

std::string cgroup_of(std::string_view cgroup_file) {
  std::string unified, cpu;
  for (std::string_view line : base::split(cgroup_file, '\n')) {
    const size_t first = line.find(':'), second = first == line.npos ? line.npos : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1), path = line.substr(second + 1);
    if (controllers.empty()) unified = path;
    for (std::string_view controller : base::split(controllers, ','))
      if (controller == "cpu") cpu = path;
  }
  return cpu.empty() ? unified : cpu;
}

std::string cgroup_of_process(int pid) { return cgroup_of(text_of(folder_of(pid) + "/cgroup")); }

// From Linux 6.2 on the size of the folder is their number.
uint64_t open_descriptors(int pid) {
  const std::string folder = folder_of(pid) + "/fd";
  struct stat about = {};
  if (::stat(folder.c_str(), &about) != 0) return 0;
  if (about.st_size > 0) return static_cast<uint64_t>(about.st_size);
  uint64_t out = 0;
  std::error_code none;
  for (auto it = std::filesystem::directory_iterator(folder, none); !none && it != std::filesystem::directory_iterator(); it.increment(none)) out++;
  return out;
}

std::string_view language_of_file(std::string_view path) {
  std::string_view name = path.substr(path.rfind('/') + 1);
  // python3.11, php8.2, ruby3.1
  const size_t end = name.find_last_not_of("0123456789.");
  const std::string_view without_version = name.starts_with("lib") || end == name.npos ? name : name.substr(0, end + 1);
  for (const FileName& f : file_names)
    if (base::glob_match(f.pattern, name) || base::glob_match(f.pattern, without_version)) return f.language;
  return {};
}

// Of a Go program the file itself says so; other runtimes may be linked into a program with a name of its own.
static std::string language_of_executable(const std::string& path) {
  const base::Result<format::ElfFile> file = format::ElfFile::open(path);
  if (!file.ok()) return {};
  if (file->has_section(".gopclntab") || file->has_section(".go.buildinfo")) return "go";
  const std::optional<runtime::FileRuntime> found = runtime::recognise(*file);
  return found && found->table.kind ? std::string(spec::row_of(runtime::runtime_of(found->table.kind).frames).name) : std::string();
}

std::string Languages::of_process(int pid) {
  const std::string maps = text_of(folder_of(pid) + "/maps");
  std::set<std::string_view> seen;
  for (std::string_view line : base::split(maps, '\n')) {
    const size_t slash = line.find('/');
    if (slash == line.npos || line.find(" r-xp ") == line.npos || !seen.insert(line.substr(slash)).second) continue;
    if (const std::string_view language = language_of_file(line.substr(slash)); !language.empty()) return std::string(language);
  }
  const std::string executable = folder_of(pid) + "/exe";
  struct stat about = {};
  if (::stat(executable.c_str(), &about) != 0) return {};
  const auto [at, is_new] = of_executables_.try_emplace({about.st_dev, about.st_ino});
  if (is_new) at->second = language_of_executable(executable);
  return at->second;
}

std::string name_of_process(int pid) { return std::string(base::trim(text_of(folder_of(pid) + "/comm"))); }

} // namespace proc
