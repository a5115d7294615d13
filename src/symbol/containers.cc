#include "symbol/containers.h"

#include "base/privilege.h"
#include "base/process_status.h"
#include "base/text.h"

#include <algorithm>
#include <cstdio>
#include <dirent.h>
#include <functional>
#include <glob.h>
#include <memory>
#include <mntent.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace symbol {

namespace {

constexpr size_t id_size = 64, short_id = 12, least_of_id = 3;
constexpr int deepest = 12; // groups above each other

// ---------------------------------------------------------------------------------------------- the runtimes

// How a runtime names the group of a container. The first row that fits decides; ends of units (.scope) are gone.
struct Runtime {
  std::string_view name;
  std::string_view begin; // of the group's name; the ID or name follows
  std::string_view above; // name of the group above; empty: any
  bool has_id;            // else a name follows, escaped as systemd does
};
constexpr Runtime runtimes[] = {
    {"docker", "docker-", "", true},
    {"docker", "", "docker", true},
    {"podman", "libpod-", "", true},
    {"containerd", "cri-containerd-", "", true},
    {"containerd", "nerdctl-", "", true},
    {"cri-o", "crio-", "", true},
    {"oci", "", "", true}, // an ID alone: cgroupfs as the cgroup driver of Kubernetes, and others
    {"lxc", "lxc.payload.", "", false},
    {"lxc", "", "lxc", false},
    {"lxc", "", "lxc.payload", false},
    {"nspawn", "machine-", "", false},
    {"nspawn", "systemd-nspawn@", "", false},
};

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

std::string_view without_unit(std::string_view name) {
  for (std::string_view end : {".scope", ".service"})
    if (name.ends_with(end)) name.remove_suffix(end.size());
  return name;
}

// What the name of a group tells. `above`: the name of the group above.
Container read_group(std::string_view name, std::string_view above) {
  Container out;
  const std::string_view bare = without_unit(name);
  for (const Runtime& r : runtimes) {
    if (!bare.starts_with(r.begin) || (!r.above.empty() && above != r.above)) continue;
    const std::string_view rest = bare.substr(r.begin.size());
    if (r.has_id) {
      // With another word before it, such as another runtime's; what watches a container (libpod-conmon-ID) is no part of it.
      if (rest.size() < id_size || !is_id(rest.substr(rest.size() - id_size))) continue;
      const std::string_view before = rest.substr(0, rest.size() - id_size);
      if (before.find("conmon") != before.npos) return out;
      if (!before.empty() && (r.name != "oci" || !before.ends_with("-"))) continue;
      out.id = rest.substr(rest.size() - id_size);
    } else {
      if (rest.empty()) continue;
      out.name = r.above.empty() ? unescaped(rest) : std::string(name);
    }
    out.runtime = r.name;
    return out;
  }
  return out;
}

// "kubepods-burstable-pod0f1c….slice" or "pod0f1c…": the UID; empty: it is no pod's.
std::string pod_uid(std::string_view name) {
  if (name.ends_with(".slice")) name.remove_suffix(6);
  const size_t at = name.rfind("pod");
  if (at == name.npos || (at && name[at - 1] != '-')) return {};
  std::string uid(name.substr(at + 3));
  std::ranges::replace(uid, '_', '-');
  return uid.find_first_not_of("0123456789abcdef-") == uid.npos ? uid : std::string();
}

// ------------------------------------------------------------------------------------------ files with names

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

std::vector<std::string> files_like(const std::string& pattern) {
  std::vector<std::string> out;
  glob_t found = {};
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) out.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  return out;
}

void set_pod(Container& c, const std::string& space, const std::string& pod) {
  if (!pod.empty()) c.pod = (space.empty() ? "" : space + "/") + pod;
}

// Docker: the name of the container begins with a slash; others in the file do not.
void name_by_docker(const std::string& root, Container& c) {
  const auto file = base::read_file(root + "/var/lib/docker/containers/" + c.id + "/config.v2.json");
  if (!file.ok()) return;
  const std::string_view text = *file;
  for (size_t at = text.find("\"Name\""); at != text.npos && c.name.empty(); at = text.find("\"Name\"", at + 1))
    if (std::string name = json_text(text, "Name", at); name.starts_with("/")) c.name = name.substr(1);
}

// Podman and CRI-O share a store. CRI-O's names are k8s_CONTAINER_POD_NAMESPACE_UID_ATTEMPT.
void name_by_storage(const std::string& root, Container& c) {
  for (std::string_view place : {"/var/lib/containers/storage/*-containers/containers.json",
                                 "/home/*/.local/share/containers/storage/*-containers/containers.json"})
    for (const std::string& path : files_like(root + std::string(place))) {
      const auto file = base::read_file(path);
      const size_t at = file.ok() ? file->find(c.id) : std::string::npos;
      if (at == std::string::npos) continue;
      c.name = json_text(*file, "names", at);
      const std::vector<std::string_view> parts = base::split(c.name, '_');
      if (parts.size() < 5 || parts[0] != "k8s") return;
      set_pod(c, std::string(parts[3]), std::string(parts[2]));
      c.name = std::string(parts[1]);
      return;
    }
}

void name_by_containerd(const std::string& root, Container& c) {
  const std::string tasks = root + "/run/containerd/io.containerd.runtime.v2.task";
  for (const std::string& space : folders_in(tasks)) {
    const auto file = base::read_file(tasks + "/" + space + "/" + c.id + "/config.json");
    if (!file.ok()) continue;
    for (std::string_view key : {"io.kubernetes.cri.container-name", "nerdctl/name"})
      if (c.name.empty()) c.name = json_text(*file, key);
    if (c.name.empty() && json_text(*file, "io.kubernetes.cri.container-type") == "sandbox") c.name = "pause";
    set_pod(c, json_text(*file, "io.kubernetes.cri.sandbox-namespace"), json_text(*file, "io.kubernetes.cri.sandbox-name"));
    return;
  }
}

// Of each runtime with IDs, also where another one started the container.
constexpr void (*name_files[])(const std::string& root, Container& c) = {name_by_docker, name_by_storage, name_by_containerd};

// ------------------------------------------------------------------------------------------------- messages

std::string shown(const Container& c) {
  return c.id.empty() || c.name.empty() ? c.title() : c.title() + " (" + c.id.substr(0, short_id) + ")";
}

std::string shown(const std::vector<Container>& all) {
  constexpr size_t most = 8;
  std::string out;
  for (size_t i = 0; i < all.size() && i < most; i++) out += (i ? ", " : "") + shown(all[i]);
  return out + (all.size() > most ? ", …" : "");
}

// The name counts before the beginning of an ID. False: no name fits.
bool keep_exact(std::vector<Container>& found, std::string_view word) {
  auto is_exact = [&](const Container& c) { return c.name == word || c.id == word || c.title() == word; };
  if (std::ranges::none_of(found, is_exact)) return false;
  std::erase_if(found, std::not_fn(is_exact));
  return true;
}

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('/') + 1); }

void add_processes(const std::string& folder, int depth, std::vector<pid_t>& to) {
  if (const auto text = base::read_file(folder + "/cgroup.procs"); text.ok())
    for (std::string_view line : base::split(*text, '\n'))
      if (const auto pid = base::parse_integer(line); pid && *pid) to.push_back(static_cast<pid_t>(*pid));
  if (!depth) return;
  for (const std::string& name : folders_in(folder)) add_processes(folder + "/" + name, depth - 1, to);
}

} // namespace

std::string Container::title() const {
  const std::string own = name.empty() ? id.substr(0, short_id) : name;
  return pod.empty() ? own : pod + "/" + own;
}

bool Container::is_called(std::string_view word) const {
  if (word.empty()) return false;
  if (word == name || word == id || word == pod || word == title()) return true;
  if (base::has_glob(word)) return base::glob_match(word, name) || base::glob_match(word, title());
  return word.size() >= least_of_id && id.starts_with(word);
}

const std::string& Containers::mounted_at() {
  if (std::exchange(is_read_, true)) return mounted_at_;
  std::unique_ptr<FILE, int (*)(FILE*)> file(::setmntent(mounts_.c_str(), "re"), ::endmntent);
  mntent entry = {};
  char buffer[4096];
  while (file && mounted_at_.empty() && ::getmntent_r(file.get(), &entry, buffer, sizeof buffer)) // another one is the same
    if (std::string_view(entry.mnt_type) == "cgroup2") mounted_at_ = entry.mnt_dir;
  return mounted_at_;
}

void Containers::walk(const std::string& folder, int depth, bool with_others, std::vector<Container>& to) {
  for (const std::string& name : folders_in(folder)) {
    Container found = read_group(name, last_part(folder));
    found.folder = folder + "/" + name;
    if (found.runtime.empty() && with_others) to.push_back(read_path(found.folder.substr(mounted_at().size())));
    // What stands below a container belongs to it.
    if (!found.runtime.empty()) {
      if (std::string uid = pod_uid(last_part(folder)); !uid.empty()) found.pod = std::move(uid);
      to.push_back(std::move(found));
      name_it(to.back());
    } else if (depth) {
      walk(found.folder, depth - 1, with_others, to);
    }
  }
}

void Containers::name_it(Container& c) const {
  for (auto name_by : name_files)
    if (!c.id.empty() && c.name.empty()) name_by(root_, c);
}

std::vector<Container> Containers::all() {
  std::vector<Container> out;
  if (!mounted_at().empty()) walk(mounted_at(), deepest, false, out);
  return out;
}

std::vector<Container> Containers::find_all(const std::string& word) {
  std::vector<Container> there;
  if (!mounted_at().empty()) walk(mounted_at(), deepest, true, there);
  // A part of a unit or group may be called as the whole is: that is in it.
  std::vector<Container> found;
  for (const bool of_containers : {true, false}) {
    for (const Container& c : there)
      if (c.is_container() == of_containers && c.is_called(word) &&
          std::ranges::none_of(found, [&](const Container& f) { return c.folder == f.folder || c.folder.starts_with(f.folder + "/"); }))
        found.push_back(c);
    if (!found.empty()) break;
  }
  return found;
}

base::Result<Container> Containers::find(const std::string& word) {
  auto usage = [](std::string text) { return base::Error{base::Failure::usage, std::move(text)}; };
  std::vector<Container> found = find_all(word);
  keep_exact(found, word);
  if (found.size() == 1) return found.front();
  if (!found.empty()) return usage("there are several containers `" + word + "`: " + shown(found) + "; give more of the id");
  const std::vector<Container> there = all();
  if (there.empty())
    return usage("there is no container `" + word + "`: no control group of version 2 is that of one (`--cgroup` takes any)");
  return usage("there is no container `" + word + "`; there are " + shown(there));
}

base::Result<std::vector<Container>> Containers::require(const std::string& word) {
  std::vector<Container> found = find_all(word);
  if (keep_exact(found, word)) return found; // an old one that ends, and its successor
  const bool may_be_several = base::has_glob(word) || std::ranges::any_of(found, [&](const Container& c) { return c.pod == word; });
  if (may_be_several && !found.empty()) return found;
  ACU_TRY(Container one, find(word));
  return std::vector{std::move(one)};
}

// Each part of the path, from the root on: the first that is a container's decides, else the last that is a unit's.
Container Containers::read_path(const std::string& path) {
  Container unit;
  std::string_view above;
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find('/', begin + 1), path.size());
    const std::string_view part = std::string_view(path).substr(begin + 1, end - begin - 1);
    Container found = read_group(part, above);
    found.folder = mounted_at() + path.substr(0, end);
    if (!found.runtime.empty()) {
      if (std::string uid = pod_uid(above); !uid.empty()) found.pod = std::move(uid);
      name_it(found);
      return found;
    }
    if (part.ends_with(".service") || part.ends_with(".scope")) {
      unit = std::move(found);
      unit.runtime = unit_runtime;
      unit.name = unescaped(part);
    }
    above = part;
    begin = end;
  }
  if (!unit.runtime.empty()) return unit;
  if (above.empty()) {
    // The root of a hierarchy has no such file: it is the root of a control group namespace, which a container sees.
    const bool is_inside = !mounted_at().empty() && base::is_accessible((mounted_at() + "/cgroup.events").c_str(), F_OK);
    char name[256] = {};
    if (is_inside) ::gethostname(name, sizeof name - 1);
    return {.name = *name ? name : "host", .folder = mounted_at(), .runtime = std::string(host_runtime)};
  }
  return {.name = path.substr(1), .folder = mounted_at() + path, .runtime = std::string(group_runtime)};
}

// Files with names may be written when the group is there.
const Container& Containers::of_group(const std::string& path) {
  constexpr auto ask_again = std::chrono::seconds(1);
  const Clock::time_point now = Clock::now();
  auto [at, is_new] = known_.try_emplace(path);
  Known& known = at->second;
  const bool lacks_name = !known.container.id.empty() && known.container.name.empty();
  if (is_new || (lacks_name && now - known.asked > ask_again)) known = {read_path(path == "/" ? "" : path), now};
  return known.container;
}

// "0::/a" is of version 2; without it, any other hierarchy that tells more than the root.
const Container& Containers::of_process(pid_t pid) {
  std::string path = "/";
  if (const auto text = base::read_file("/proc/" + std::to_string(pid) + "/cgroup"); text.ok())
    for (std::string_view line : base::split(*text, '\n')) {
      const size_t first = line.find(':'), second = first == line.npos ? line.npos : line.find(':', first + 1);
      const bool counts = second != line.npos && (mounted_at().empty() ? path == "/" : line.starts_with("0::"));
      if (counts) path = line.substr(second + 1);
    }
  return of_group(path);
}

bool same_root(const std::string& root) {
  struct stat ours = {}, theirs = {};
  char our_space[64] = {}, their_space[64] = {};
  std::string space = root.substr(0, root.rfind('/')) + "/ns/mnt";
  bool read = ::readlink("/proc/self/ns/mnt", our_space, sizeof our_space - 1) > 0 &&
              ::readlink(space.c_str(), their_space, sizeof their_space - 1) > 0;
  return read && std::string_view(our_space) == their_space && ::stat("/", &ours) == 0 &&
         ::stat(root.c_str(), &theirs) == 0 && ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
}

std::optional<pid_t> main_process(const std::vector<pid_t>& pids) {
  std::optional<pid_t> with_root;
  for (pid_t pid : pids) {
    const std::string folder = "/proc/" + std::to_string(pid);
    const std::string own_pids = base::status_of(pid, "NSpid");
    if (own_pids.empty()) continue;
    if (own_pids.ends_with("\t1") && pid != 1) return pid;
    if (!with_root && !same_root(folder + "/root")) with_root = pid;
  }
  return with_root || pids.empty() ? with_root : pids.front();
}

std::vector<pid_t> processes_of_group(const std::string& folder) {
  std::vector<pid_t> out;
  add_processes(folder, deepest, out);
  return out;
}

} // namespace symbol
