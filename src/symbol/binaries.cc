#include "symbol/binaries.h"

#include "base/privilege.h"
#include "base/text.h"
#include "symbol/containers.h"
#include "symbol/library_search.h"
#include "symbol/process_map.h"
#include "symbol/real_file.h"

#include <algorithm>
#include <fcntl.h>
#include <glob.h>
#include <set>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace symbol {

namespace {

constexpr std::string_view archive_sign = "!/";

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('/') + 1); }

base::Error missing(std::string message) { return {base::Failure::nothing_matched, std::move(message)}; }

std::vector<std::string> expand_glob(const std::string& pattern, const std::string& root) {
  std::vector<std::string> out;
  glob_t found = {};
  if (::glob((root + pattern).c_str(), GLOB_NOESCAPE, nullptr, &found) == 0)
    for (size_t i = 0; i < found.gl_pathc; i++) out.emplace_back(found.gl_pathv[i] + root.size());
  ::globfree(&found);
  return out;
}

// Of a file that is not where its path leads to from the process's root. After chroot(2) the kernel gives the path from our root; a file without a name is
// still to be had where it is mapped.
std::string place_of(pid_t pid, const Mapping& m) {
  if (!m.deleted && base::is_accessible(m.path.c_str(), F_OK)) return m.path;
  char range[64];
  std::snprintf(range, sizeof range, "/proc/%d/map_files/%lx-%lx", pid, m.begin, m.end);
  return range;
}

} // namespace

std::string absolute_path(std::string_view path) {
  while (path.starts_with("./")) path.remove_prefix(2);
  if (path.starts_with('/')) return std::string(path);
  char here[4096];
  return ::getcwd(here, sizeof here) ? std::string(here) + "/" + std::string(path) : std::string(path);
}

const std::string& Binaries::root() {
  if (!root_) {
    root_ = pid_ > 0 ? "/proc/" + std::to_string(pid_) + "/root" : std::string();
    if (pid_ > 0 && same_root(*root_)) root_->clear();
  }
  return *root_;
}

const std::vector<Binaries::Mapped>& Binaries::mapped() {
  if (mapped_) return *mapped_;
  mapped_.emplace();
  if (pid_ <= 0) return *mapped_;
  std::set<std::string> seen;
  for (const Mapping& m : read_process_map(pid_)) {
    if (!m.is_file() || !seen.insert(m.path).second) continue;
    const bool is_there = !m.deleted && base::is_accessible((root() + m.path).c_str(), F_OK);
    mapped_->push_back({m.path, is_there ? std::string() : place_of(pid_, m)});
  }
  return *mapped_;
}

Binary* Binaries::opened(std::string_view name) const {
  auto found = binaries_.find(name);
  return found == binaries_.end() ? nullptr : found->second.get();
}

base::Result<Binary*> Binaries::open(BinaryPlace place) {
  if (Binary* known = opened(place.name)) return known;
  ACU_TRY(auto binary, Binary::open(std::move(place)));
  Binary* out = binary.get();
  binaries_.emplace(out->name(), std::move(binary));
  return out;
}

base::Result<Binary*> Binaries::open_path(const std::string& path) {
  size_t sign = path.find(archive_sign);
  if (sign != path.npos && !base::open_regular(path, root()).ok())
    return open({.name = path,
                 .path = path.substr(0, sign),
                 .search = search_below(root()),
                 .inner = path.substr(sign + archive_sign.size())});
  return open({.name = path, .path = path, .search = search_below(root())});
}

base::Result<Binary*> Binaries::open_mapped(const Mapped& file) {
  if (file.place.empty()) return open_path(file.path);
  return open({.name = file.path, .path = file.place, .search = search_below({})});
}

// Of several, those that are ELF files, each once.
std::vector<Binary*> Binaries::open_all(const std::vector<std::string>& paths) {
  std::vector<Binary*> out;
  std::set<base::FileId> seen;
  for (const std::string& path : paths)
    if (auto binary = open_path(path); binary.ok() && seen.insert((*binary)->file().id()).second)
      out.push_back(*binary);
  return out;
}

base::Result<std::vector<Binary*>> Binaries::find_in_container(const std::string& word, std::string_view name) {
  auto found = Containers().require(word);
  if (!found.ok()) return missing(std::move(found.error().message));
  std::vector<Binary*> out;
  std::set<base::FileId> seen;
  base::Error first = missing("container " + base::quoted(word) + " has no process");
  bool is_denied = false;
  for (const Container& c : *found) {
    const std::optional<pid_t> pid = main_process(processes_of_group(c.folder));
    if (!pid) continue;
    std::unique_ptr<Binaries>& files = containers_[*pid];
    if (!files) {
      files = std::make_unique<Binaries>(*pid);
      files->search_in(debug_folders_);
    }
    auto binaries = files->find(name);
    if (!binaries.ok()) {
      if (!std::exchange(is_denied, true)) first = {binaries.error().kind, "container " + c.title() + ": " + binaries.error().message};
      continue;
    }
    for (Binary* b : *binaries)
      if (const auto file = real_file(b->host_path()); !file || seen.insert(*file).second) out.push_back(b);
  }
  if (out.empty()) return first;
  return out;
}

base::Result<std::vector<Binary*>> Binaries::find(std::string_view name) {
  if (name.starts_with(container_sign)) {
    const size_t colon = std::min(name.find(':'), name.size());
    const std::string word(name.substr(container_sign.size(), colon - container_sign.size()));
    if (word.empty() || colon + 1 >= name.size())
      return base::Error{base::Failure::usage, "`" + std::string(name) + "` must name a container and a file, such as container=web:/usr/sbin/nginx"};
    return find_in_container(word, name.substr(colon + 1));
  }
  if (!container_.empty() && !name.empty()) return find_in_container(container_, name);
  if (name.empty() && pid_ > 0) { // the program itself
    if (mapped().empty()) return no_process();
    char path[4096];
    const std::string exe = "/proc/" + std::to_string(pid_) + "/exe";
    ssize_t size = ::readlink(exe.c_str(), path, sizeof path);
    if (size <= 0) return no_process();
    name = std::string_view(path, static_cast<size_t>(size));
    constexpr std::string_view deleted = " (deleted)";
    if (name.ends_with(deleted)) name.remove_suffix(deleted.size());
    auto found = find(std::string(name));
    if (found.ok()) return found;
    // Of a process with a root of its own the path may be one of ours.
    ACU_TRY(Binary * binary, open({.name = std::string(name), .path = exe, .search = search_below({})}));
    return std::vector{binary};
  }
  if (name.empty()) return base::Error{base::Failure::usage, "the name of the program or library is missing"};
  std::vector<Binary*> out;
  bool is_pattern = base::has_glob(name);
  if (name.find('/') != name.npos) {
    std::string path = absolute_path(name);
    if (is_pattern && !base::open_regular(path, root()).ok()) {
      out = open_all(expand_glob(path, root()));
      if (out.empty()) return missing("no program or library matches " + base::quoted(name));
      return out;
    }
    for (const Mapped& file : mapped()) // it may be that the name leads to another file now
      if (file.path == path && !file.place.empty()) {
        ACU_TRY(Binary * binary, open_mapped(file));
        return std::vector{binary};
      }
    ACU_TRY(Binary * binary, open_path(path));
    return std::vector{binary};
  }
  for (const Mapped& file : mapped()) {
    std::string_view last = last_part(file.path);
    if (is_pattern ? !base::glob_match(name, last) : !is_library(name, last)) continue;
    auto binary = open_mapped(file);
    if (binary.ok()) out.push_back(*binary);
    if (!binary.ok() && !is_pattern) return std::move(binary.error());
    if (!is_pattern) break;
  }
  if (!out.empty()) return out;
  return is_pattern ? find_pattern(name) : find_by_name(name);
}

base::Result<std::vector<Binary*>> Binaries::find_pattern(std::string_view name) {
  if (pid_ > 0 && mapped().empty()) return no_process();
  if (name.find_first_not_of("*?") == name.npos)
    return base::Error{base::Failure::usage,
                       pid_ > 0 ? "process " + std::to_string(pid_) + " has mapped no file"
                                : "all programs and libraries are too many: tell one, or a process by -p"};
  std::vector<std::string> paths = find_libraries(name, root());
  for (std::string& path : find_programs(name, root())) paths.push_back(std::move(path));
  std::vector<Binary*> out = open_all(paths);
  if (out.empty()) return missing("no program or library matches " + base::quoted(name));
  return out;
}

// "libc" is a library first, "bash" a program.
base::Result<std::vector<Binary*>> Binaries::find_by_name(std::string_view name) {
  bool is_library = name.starts_with("lib") || name.find(".so") != name.npos;
  std::vector<std::string> paths = is_library ? find_libraries(name, root()) : find_programs(name, root());
  if (paths.empty()) paths = is_library ? find_programs(name, root()) : find_libraries(name, root());
  if (!paths.empty()) {
    ACU_TRY(Binary * binary, open_path(paths[0]));
    return std::vector{binary};
  }
  if (pid_ > 0 && mapped().empty()) return no_process();
  if (auto here = path_of_file(name); here.ok()) {
    ACU_TRY(Binary * binary, open_path(*here));
    return std::vector{binary};
  }
  std::string message = "there is no program " + base::quoted(name) + " in PATH, and no such library";
  std::string hint;
  for (const std::string& near : similar_binaries(name, root()))
    hint += (hint.empty() ? "" : ", ") + base::quoted(near);
  return missing(message + (hint.empty() ? "" : "; did you mean " + hint + "?"));
}

base::Result<std::string> Binaries::path_of_file(std::string_view name) {
  std::string path = absolute_path(name);
  ACU_TRY(base::Fd file, base::open_regular(path, root()));
  return path;
}

base::Error Binaries::no_process() const {
  std::string process = "/proc/" + std::to_string(pid_);
  if (!base::is_accessible(process.c_str(), F_OK)) return missing("there is no process " + std::to_string(pid_));
  if (base::Fd(::open((process + "/maps").c_str(), O_RDONLY | O_CLOEXEC)).valid()) // as kernel threads
    return missing("process " + std::to_string(pid_) + " has mapped no program");
  return {base::Failure::permission,
          "process " + std::to_string(pid_) + " may not be looked at: it belongs to another user" + base::not_permitted({base::Capability::sys_ptrace})};
}

} // namespace symbol
