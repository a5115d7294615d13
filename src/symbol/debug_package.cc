#include "symbol/debug_package.h"

#include "base/file_map.h"
#include "base/text.h"

#include <algorithm>
#include <dirent.h>
#include <memory>
#include <unordered_map>

namespace symbol {

static constexpr uint64_t longest_list = 64 << 20; // bytes

static std::string read_in(const std::string& root, const std::string& path) {
  auto fd = base::open_regular(path, root);
  auto text = fd ? base::read_up_to(*fd, longest_list, path) : base::Result<std::string>(fd.error());
  return text ? std::move(*text) : std::string();
}

// ---- the distribution

struct Distribution {
  std::string id, like, codename;
  bool is(std::string_view name) const {
    if (id == name) return true;
    for (std::string_view word : base::split(like, ' '))
      if (word == name) return true;
    return false;
  }
};

static Distribution read_distribution(const std::string& root) {
  std::string text = read_in(root, "/etc/os-release");
  if (text.empty()) text = read_in(root, "/usr/lib/os-release");
  Distribution d;
  for (std::string_view line : base::split(text, '\n')) {
    size_t equals = line.find('=');
    if (equals == line.npos) continue;
    std::string_view key = line.substr(0, equals), value = base::trim(line.substr(equals + 1));
    if (value.size() >= 2 && (value[0] == '"' || value[0] == '\'')) value = value.substr(1, value.size() - 2);
    if (key == "ID") d.id = value;
    if (key == "ID_LIKE") d.like = value;
    if (key == "VERSION_CODENAME") d.codename = value;
  }
  return d;
}

// ---- Debian

static constexpr const char* dpkg_folder = "/var/lib/dpkg/info";

static std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> out;
  std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(folder.c_str()), ::closedir);
  while (const dirent* entry = dir ? ::readdir(dir.get()) : nullptr) out.emplace_back(entry->d_name);
  return out;
}

// "/usr/lib/libc.so.6" as "/lib/libc.so.6": a package may list either.
static std::string_view without_usr(std::string_view path) {
  return path.starts_with("/usr/") ? path.substr(4) : path;
}

// "libc6:amd64.list" or "python3.11.list".
static std::string package_of(const std::string& list) {
  return list.substr(0, std::min(list.find(':'), list.size() - std::string_view(".list").size()));
}

// The packages that own the files; dpkg keeps a list of paths of each.
static std::vector<std::string> owners(std::span<const CodeFile> files, const std::string& root) {
  std::vector<std::string> out(files.size());
  std::unordered_multimap<std::string_view, size_t> wanted;
  for (size_t i = 0; i < files.size(); i++) wanted.emplace(without_usr(files[i].path), i);
  for (const std::string& name : names_in(root + dpkg_folder)) {
    if (!name.ends_with(".list")) continue;
    std::string text = read_in(root, std::string(dpkg_folder) + "/" + name);
    for (std::string_view line : base::split(text, '\n')) {
      auto [from, to] = wanted.equal_range(without_usr(line));
      for (; from != to; ++from) out[from->second] = package_of(name);
    }
  }
  return out;
}

// Most packages of debug information are made by the archive itself (-dbgsym, an archive of their own); some
// are made by hand and lie beside the others.
static std::string debian_package(const std::string& owner, bool is_ubuntu) {
  if (owner.starts_with("libpython3.") || owner.starts_with("python3.")) {
    std::string version = owner.substr(owner.find("3."));
    size_t end = version.find_first_not_of("0123456789.");
    return "python" + version.substr(0, end) + "-dbg";
  }
  if (owner == "libc6" || owner.starts_with("ceph") || (owner.starts_with("linux-image-") && !is_ubuntu))
    return owner + "-dbg";
  return owner + "-dbgsym";
}

static std::string debian_advice(const std::string& owner, const Distribution& d,
                                 const std::vector<std::string>& known) {
  bool is_ubuntu = d.is("ubuntu");
  std::string package = debian_package(owner, is_ubuntu);
  for (const std::string& name : known)
    if (name.starts_with(package) && (name.substr(package.size()) == ".list" || name[package.size()] == ':'))
      return package + " is installed, but of another build: apt install --only-upgrade " + owner + " " +
             package;
  std::string out = "apt install " + package;
  if (!package.ends_with("-dbgsym")) return out;
  if (is_ubuntu) return out + " (of the archive `ddebs`, suite " + d.codename + ")";
  if (d.id == "debian") return out + " (of the archive `debian-debug`, suite " + d.codename + "-debug)";
  return out;
}

// ---- all

// Of distributions that find it by build-id.
static std::string advice_by_build_id(const CodeFile& file, const Distribution& d) {
  if (file.build_id.size() < 4) return "";
  if (d.is("fedora") || d.is("rhel"))
    return "dnf --enablerepo='*debug*' install /usr/lib/debug/.build-id/" + file.build_id.substr(0, 2) + "/" +
           file.build_id.substr(2) + ".debug";
  if (d.is("suse") || d.is("opensuse"))
    return "zypper install --plus-content debug 'debuginfo(build-id)=" + file.build_id + "'";
  if (d.is("arch")) return "export DEBUGINFOD_URLS=https://debuginfod.archlinux.org";
  return "";
}

std::vector<std::string> debug_packages(std::span<const CodeFile> files, const std::string& root) {
  Distribution d = read_distribution(root);
  std::vector<std::string> out(files.size());
  if (!d.is("debian") && !d.is("ubuntu")) {
    for (size_t i = 0; i < files.size(); i++) out[i] = advice_by_build_id(files[i], d);
    return out;
  }
  std::vector<std::string> known = names_in(root + dpkg_folder), packages = owners(files, root);
  for (size_t i = 0; i < files.size(); i++)
    if (!packages[i].empty()) out[i] = debian_advice(packages[i], d, known);
  return out;
}

} // namespace symbol
