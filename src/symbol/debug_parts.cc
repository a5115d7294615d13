// Parts of debug information that are in further files: those that dwz shares, and split units.
#include "symbol/debug_places.h"
#include "symbol/debuginfod.h"

#include <algorithm>
#include <unistd.h>

namespace symbol {

using format::ElfFile;

// ---- the shared file of dwz

// Where the symbolic link at `path` leads, one step; the path itself where it is none.
static std::string behind_link(const std::string& path, const std::string& root) {
  char to[4096];
  ssize_t size = ::readlink((root + path).c_str(), to, sizeof to);
  if (size <= 0 || static_cast<size_t>(size) >= sizeof to) return path;
  std::string target(to, static_cast<size_t>(size));
  return target[0] == '/' ? target : folder_of(path) + target;
}

void find_alt(const ElfFile& file, const std::string& path, const std::string& root,
              const DebugSearch& search, DebugFile& out) {
  auto link = file.debug_alt_link();
  if (!link) return;
  out.has_alt_link = true;
  Places places(out.alt);
  auto look_at = [&](const std::string& at, const std::string& in) {
    auto found = places.open(at, in);
    if (!found) return false;
    bool fits = !link->build_id.empty() && std::ranges::equal(found->shared_id(), link->build_id);
    if (fits)
      places.take(at, in, std::move(*found));
    else
      places.refuse(at, in, wrong_id(found->shared_id(), link->build_id));
    return fits;
  };
  std::string name(link->path), by_id = build_id_name(link->build_id);
  for (const std::string& folder : search.folders)
    for (const std::string& at :
         {folder + "/" + by_id, folder + "/" + name_of(name), folder + "/.dwz/" + name_of(name),
          folder + (name[0] == '/' ? name : "/" + name)})
      if (look_at(at, "")) return;
  if (name[0] != '/') {
    if (look_at(folder_of(path) + name, root)) return;
    if (look_at(folder_of(behind_link(path, root)) + name, root)) return;
  }
  for (const std::string& in : {search.root, std::string()}) {
    if (name[0] == '/' && look_at(name, in)) return;
    if (look_at(std::string(usual_folder) + "/" + by_id, in)) return;
    if (look_at(std::string(usual_folder) + "/.dwz/" + name_of(name), in)) return;
  }
  if (!search.download || link->build_id.empty()) return;
  auto got = download_debug_file(link->build_id);
  if (!got) return places.refuse("debuginfod", "", got.error().message);
  look_at(got->path, "");
}

// ---- split units

static bool has_split_units(Places& places, const std::string& path, const std::string& root) {
  auto file = places.open(path, root);
  if (!file) return false;
  bool fits = file->has_section(".debug_info.dwo");
  if (fits)
    places.take(path, root, std::move(*file));
  else
    places.refuse(path, root, "it has no split units");
  return fits;
}

// The module's own name and that of its debug file may both have a package beside them.
FoundFile find_dwp(const std::string& module_path, const DebugFile& debug, const DebugSearch& search) {
  FoundFile out;
  Places places(out);
  auto look_at = [&](const std::string& path, const std::string& root) {
    return has_split_units(places, path, root);
  };
  std::string name = name_of(module_path) + ".dwp";
  for (const std::string& folder : search.folders)
    if (look_at(folder + "/" + name, "") || look_at(folder + module_path + ".dwp", "")) return out;
  if (look_at(module_path + ".dwp", search.root)) return out;
  if (!debug.debug.path.empty()) {
    std::string behind = behind_link(debug.debug.path, debug.debug.root);
    if (look_at(debug.debug.path + ".dwp", debug.debug.root) || look_at(behind + ".dwp", debug.debug.root))
      return out;
  }
  for (const std::string& root : {search.root, std::string()})
    if (look_at(usual_folder + module_path + ".dwp", root)) return out;
  return out;
}

FoundFile find_dwo(const std::string& dwo_name, const std::string& comp_dir, const std::string& module_path,
                   const DebugSearch& search) {
  FoundFile out;
  if (dwo_name.empty()) return out;
  Places places(out);
  auto look_at = [&](const std::string& path, const std::string& root) {
    return has_split_units(places, path, root);
  };
  bool is_absolute = dwo_name[0] == '/';
  std::string built = is_absolute ? dwo_name : comp_dir + "/" + dwo_name;
  if (built[0] != '/') built = folder_of(module_path) + built; // built with a folder that was made relative
  for (const std::string& folder : search.folders)
    for (const std::string& path :
         {folder + built, folder + "/" + dwo_name, folder + "/" + name_of(dwo_name)})
      if (look_at(path, "")) return out;
  for (const std::string& root : {search.root, std::string()})
    if (look_at(built, root)) return out;
  if (!is_absolute && look_at(folder_of(module_path) + dwo_name, search.root)) return out;
  look_at(folder_of(module_path) + name_of(dwo_name), search.root);
  return out;
}

} // namespace symbol
