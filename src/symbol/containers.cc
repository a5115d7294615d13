#include "symbol/containers.h"

#include "base/text.h"

#include <algorithm>
#include <cstdio>
#include <dirent.h>
#include <memory>
#include <mntent.h>

namespace symbol {

namespace {

constexpr size_t id_size = 64;

bool is_id(std::string_view text) {
  return text.size() == id_size && text.find_first_not_of("0123456789abcdef") == text.npos;
}

// systemd writes what may not stand in names of units as \x2d.
std::string unescaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    uint64_t c = 0;
    std::string_view digits = text.size() >= 4 && text.starts_with("\\x") ? text.substr(2, 2) : std::string_view();
    std::string number = std::string(digits) + ";";
    std::string_view rest = number;
    const bool is_escaped = !digits.empty() && base::take_hex(rest, ';', c);
    out += is_escaped ? static_cast<char>(c) : text.front();
    text.remove_prefix(is_escaped ? 4 : 1);
  }
  return out;
}

// What the name of a group tells. `above`: the name of the group above.
Container read_group(std::string_view name, std::string_view above) {
  Container out;
  std::string_view bare = name;
  for (std::string_view end : {".scope", ".service"})
    if (bare.ends_with(end)) bare.remove_suffix(end.size());
  // docker-ID, libpod-ID, cri-containerd-ID, crio-ID, or nothing but the id; what watches it (libpod-conmon-ID) is no part of it.
  if (bare.size() >= id_size && is_id(bare.substr(bare.size() - id_size))) {
    std::string_view before = bare.substr(0, bare.size() - id_size);
    if ((before.empty() || before.ends_with("-")) && before.find("conmon") == before.npos)
      out.id = bare.substr(bare.size() - id_size);
    return out;
  }
  for (std::string_view begin : {"lxc.payload.", "machine-", "systemd-nspawn@"})
    if (bare.starts_with(begin) && bare.size() > begin.size()) out.name = unescaped(bare.substr(begin.size()));
  if (above == "lxc" || above == "lxc.payload") out.name = name;
  return out;
}

// The text in quotes behind "KEY": or "KEY":[ of a JSON text, from `at` on; enough for names, which have no escapes.
std::string json_text(std::string_view json, std::string_view key, size_t at = 0) {
  at = json.find("\"" + std::string(key) + "\"", at);
  if (at == json.npos) return {};
  const size_t begin = json.find_first_not_of(" \t\n:[", at + key.size() + 2);
  if (begin == json.npos || json[begin] != '"') return {};
  return std::string(json.substr(begin + 1, json.find('"', begin + 1) - begin - 1));
}

std::vector<std::string> folders_in(const std::string& folder) {
  std::vector<std::string> out;
  std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(folder.c_str()), ::closedir);
  while (const dirent* entry = open ? ::readdir(open.get()) : nullptr)
    if (entry->d_type == DT_DIR && entry->d_name[0] != '.') out.emplace_back(entry->d_name);
  std::ranges::sort(out);
  return out;
}

std::string shown(const Container& c) {
  constexpr size_t short_id = 12; // as docker tells them
  if (c.id.empty()) return c.name;
  return c.name.empty() ? c.id.substr(0, short_id) : c.name + " (" + c.id.substr(0, short_id) + ")";
}

std::string shown(const std::vector<Container>& all) {
  constexpr size_t most = 8;
  std::string out;
  for (size_t i = 0; i < all.size() && i < most; i++) out += (i ? ", " : "") + shown(all[i]);
  return out + (all.size() > most ? ", …" : "");
}

} // namespace

void Containers::walk(const std::string& folder, int depth, std::vector<Container>& to) {
  const std::string_view above = std::string_view(folder).substr(folder.rfind('/') + 1);
  for (const std::string& name : folders_in(folder)) {
    Container found = read_group(name, above);
    found.folder = folder + "/" + name;
    // What stands below belongs to it.
    if (!found.id.empty() || !found.name.empty())
      to.push_back(std::move(found));
    else if (depth)
      walk(found.folder, depth - 1, to);
  }
}

void Containers::name_them(std::vector<Container>& containers) const {
  const std::string tasks = root_ + "/run/containerd/io.containerd.runtime.v2.task";
  const std::vector<std::string> spaces = folders_in(tasks);
  const auto podman = base::read_file(root_ + "/var/lib/containers/storage/overlay-containers/containers.json");
  for (Container& c : containers) {
    if (c.id.empty()) continue;
    if (auto file = base::read_file(root_ + "/var/lib/docker/containers/" + c.id + "/config.v2.json"); file.ok()) {
      const std::string_view text = *file;
      // That of the container begins with a slash; others in the file do not.
      for (size_t at = text.find("\"Name\""); at != text.npos && c.name.empty(); at = text.find("\"Name\"", at + 1))
        if (std::string name = json_text(text, "Name", at); name.starts_with("/")) c.name = name.substr(1);
    }
    if (podman.ok() && c.name.empty())
      if (size_t at = podman->find(c.id); at != podman->npos) c.name = json_text(*podman, "names", at);
    for (const std::string& space : spaces) {
      if (!c.name.empty()) break;
      auto file = base::read_file(tasks + "/" + space + "/" + c.id + "/config.json");
      if (!file.ok()) continue;
      for (std::string_view key : {"io.kubernetes.cri.container-name", "nerdctl/name"})
        if (c.name.empty()) c.name = json_text(*file, key);
    }
  }
}

std::vector<Container> Containers::all() {
  std::vector<Container> out;
  constexpr int deepest = 12;
  std::unique_ptr<FILE, int (*)(FILE*)> file(::setmntent(mounts_.c_str(), "re"), ::endmntent);
  mntent entry = {};
  char buffer[4096];
  while (file && ::getmntent_r(file.get(), &entry, buffer, sizeof buffer)) {
    if (std::string_view(entry.mnt_type) != "cgroup2") continue;
    walk(entry.mnt_dir, deepest, out);
    break; // another one is the same
  }
  name_them(out);
  return out;
}

base::Result<Container> Containers::find(const std::string& word) {
  auto usage = [](std::string text) { return base::Error{base::Failure::usage, std::move(text)}; };
  const std::vector<Container> there = all();
  std::vector<Container> found;
  for (const Container& c : there)
    if (c.name == word || c.id == word) found.push_back(c);
  constexpr size_t least_of_id = 3;
  if (found.empty() && word.size() >= least_of_id)
    std::ranges::copy_if(there, std::back_inserter(found), [&](const Container& c) { return c.id.starts_with(word); });
  if (found.size() == 1) return found.front();
  if (!found.empty()) return usage("there are several containers `" + word + "`: " + shown(found) + "; give more of the id");
  if (there.empty())
    return usage("there is no container `" + word + "`: no control group of version 2 is that of one (`--cgroup` takes any)");
  return usage("there is no container `" + word + "`; there are " + shown(there));
}

} // namespace symbol
