// The programs and libraries that a script names, each opened once; and how a name leads to a file: as the
// shell finds programs, as the dynamic loader finds libraries, or among what a process has mapped.
#pragma once

#include "symbol/binary.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace symbol {

struct Mapping;

// Before the name of a container and a `:`, where a file is named.
inline constexpr std::string_view container_sign = "container=";

// "./a.out" and "a.out" from the present folder on.
std::string absolute_path(std::string_view path);

class Binaries {
public:
  // pid: of the process that is traced (-p), whose root and mappings count; -1: none.
  explicit Binaries(pid_t pid = -1) : pid_(pid) {}
  pid_t pid() const { return pid_; }
  // From now on names without a container mean files in this one, by name or ID.
  void look_in_container(std::string word) { container_ = std::move(word); }
  // Folders with debug files that are looked at first, or such files; before anything is opened.
  void search_in(std::vector<std::string> folders) { debug_folders_ = std::move(folders); }

  // All files that a name in a script means; failure says what was looked for where.
  //   "/bin/bash", "./a.out"      a path
  //   "bash"                      of PATH; with -p what the process runs
  //   "libc", "libssl.so.3"       of what the process has mapped, else as the loader finds it
  //   ""                          with -p what the process runs
  //   "app.zip!/lib/libx.so"      in an archive, stored as it is
  //   "container=web:/usr/bin/app", "container=web:libc"   the same in the container of this name, of several such containers in each:
  //   each file once, also where containers share an image
  //   "/usr/lib/*/libc.so*", "*"  each that matches: of paths, or, without "/", of what the process has
  //   mapped
  base::Result<std::vector<Binary*>> find(std::string_view name);
  // A regular file by its path, or by its name from the present folder; as the traced process sees it.
  base::Result<std::string> path_of_file(std::string_view name);
  // What all processes have mapped as code, each file once; those that may not be looked at are left out.
  std::vector<Binary*> find_running();
  // One that was opened before, by Binary::name(); nullptr: none.
  Binary* opened(std::string_view name) const;
  // What the process of -p has mapped as code, in the order of its addresses.
  struct Mapped {
    std::string path;  // as the kernel gives it
    std::string place; // where to open it instead, where the path does not lead to it from the process's root; else empty
  };
  const std::vector<Mapped>& mapped();
  // Where the traced process has its files: "/proc/17/root"; empty: where we have ours.
  const std::string& root();

private:
  base::Result<Binary*> open(BinaryPlace place);
  base::Result<Binary*> open_path(const std::string& path);
  base::Result<Binary*> open_mapped(const Mapped& file);
  Binary* open_running(pid_t pid, const Mapping& mapping);
  std::vector<Binary*> open_all(const std::vector<std::string>& paths);
  base::Result<std::vector<Binary*>> find_pattern(std::string_view name);
  base::Result<std::vector<Binary*>> find_by_name(std::string_view name);
  base::Result<std::vector<Binary*>> find_in_container(const std::string& word, std::string_view name);
  base::Error no_process() const;
  DebugSearch search_below(std::string root) const { return {.root = std::move(root), .folders = debug_folders_}; }

  pid_t pid_;
  std::vector<std::string> debug_folders_;
  std::map<std::string, std::unique_ptr<Binary>, std::less<>> binaries_; // by name
  std::string container_;
  std::map<pid_t, std::unique_ptr<Binaries>> containers_; // by a process of each
  std::optional<std::string> root_;
  std::optional<std::vector<Mapped>> mapped_;
};

} // namespace symbol
