#include "symbol/user_symbols.h"

#include "symbol/perf_map.h"

#include <cstdlib>
#include <cxxabi.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>

namespace symbol {

// An address that is not mapped may be garbage of a broken stack: a process is not looked at again and again
// for such.
static constexpr auto shortest_pause = std::chrono::milliseconds(100);
static constexpr size_t most_processes = 4096;
static constexpr size_t most_snapshots = 8;
// A file whose descriptor is above this is read at once, to be closed: a process may have no more than 1024.
static constexpr int most_descriptors = 256;

bool UserSymbols::File::operator<(const File& o) const {
  auto key = [](const File& f) {
    return std::tuple(f.device, f.inode, f.size, f.changed.tv_sec, f.changed.tv_nsec);
  };
  return key(*this) < key(o);
}

// The image is the same in all processes; its size is that of this process's mapping.
static std::shared_ptr<ElfSymbols> read_vdso() {
  uint64_t at = ::getauxval(AT_SYSINFO_EHDR);
  std::vector<Mapping> own = at ? read_process_map(::getpid()) : std::vector<Mapping>();
  const Mapping* m = find_mapping(own, at);
  if (!m || m->begin != at) return nullptr;
  return std::make_shared<ElfSymbols>(
      base::ByteSpan(reinterpret_cast<const std::byte*>(at), static_cast<size_t>(m->end - m->begin)));
}

// The file of a mapping as the process sees it; of one that was deleted or replaced only the mapping knows
// it.
std::shared_ptr<ElfSymbols> UserSymbols::open(pid_t pid, const Mapping& m) {
  if (m.path == "[vdso]") return vdso_ ? vdso_ : vdso_ = read_vdso();
  if (!m.is_file()) return nullptr;
  std::string process = "/proc/" + std::to_string(pid);
  char range[64];
  std::snprintf(range, sizeof range, "/map_files/%lx-%lx", m.begin, m.end);
  const std::string paths[] = {process + "/root" + m.path, process + range};
  for (size_t i = m.deleted ? 1 : 0; i < std::size(paths); i++) {
    struct stat about = {};
    if (::stat(paths[i].c_str(), &about) != 0) continue;
    if (!S_ISREG(about.st_mode)) return nullptr; // to open a device may have an effect
    std::weak_ptr<ElfSymbols>& known = files_[{about.st_dev, about.st_ino, about.st_size, about.st_mtim}];
    if (auto file = known.lock()) return file;
    base::Fd fd(::open(paths[i].c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!fd.valid()) continue;
    bool is_one_too_many = fd.get() > most_descriptors;
    auto file = std::make_shared<ElfSymbols>(std::move(fd));
    known = file;
    if (is_one_too_many) file->load();
    return file;
  }
  return nullptr;
}

// Reads what the process has mapped now, if it still lives and that is something new.
void UserSymbols::look(pid_t pid, Process& p) {
  p.read = Clock::now();
  p.begins = false;
  Snapshot now = {.map = read_process_map(pid), .files = {}};
  if (now.map.empty()) return;
  for (const Mapping& m : now.map) now.files.push_back(open(pid, m));
  if (p.snapshots.size() == most_snapshots) p.snapshots.erase(p.snapshots.begin());
  p.snapshots.push_back(std::move(now));
}

UserSymbols::Process& UserSymbols::process(pid_t pid) {
  auto at = processes_.find(pid);
  if (at != processes_.end()) return at->second;
  if (processes_.size() >= most_processes) {
    processes_.clear();
    std::erase_if(files_, [](const auto& file) { return file.second.expired(); });
  }
  Process& p = processes_[pid];
  look(pid, p);
  return p;
}

static bool holds(const std::vector<UserSymbols::Snapshot>& snapshots, uint64_t address) {
  return !snapshots.empty() && find_mapping(snapshots.back().map, address);
}

void UserSymbols::seen(pid_t pid, uint64_t address) {
  bool is_known = processes_.contains(pid);
  Process& p = process(pid);
  if (is_known && address && (p.begins || !holds(p.snapshots, address))) look(pid, p);
  p.begins = address == 0;
}

UserSymbols::Found UserSymbols::find(pid_t pid, uint64_t address) {
  Process& p = process(pid);
  if (!holds(p.snapshots, address) && Clock::now() - p.read > shortest_pause) look(pid, p);
  for (size_t i = p.snapshots.size(); i-- > 0;) {
    const Snapshot& s = p.snapshots[i];
    const Mapping* m = find_mapping(s.map, address);
    if (!m) continue;
    const auto& file = s.files[static_cast<size_t>(m - s.map.data())];
    if (!file) return find_in_perf_map(pid, p, address);
    Found found = {.module = m->path};
    if (auto function = file->find(address - m->begin + m->offset)) {
      found.name = shown(function->name);
      found.offset = function->offset;
    }
    return found;
  }
  return {};
}

// The file grows while the program runs: it is read again when it has.
UserSymbols::Found UserSymbols::find_in_perf_map(pid_t pid, Process& p, uint64_t address) {
  auto found = p.perf.find(address);
  if (!found && Clock::now() - p.perf_read > shortest_pause) {
    p.perf_read = Clock::now();
    std::string path = perf_map_path(pid);
    if (auto table = path.empty() ? std::nullopt : read_perf_map(path, p.perf_size)) {
      p.perf_path = path.substr(path.rfind("/tmp/")); // as the process sees it
      p.perf = std::move(*table);
      found = p.perf.find(address);
    }
  }
  if (!found) return {};
  return {.name = shown(found->name), .offset = found->offset, .module = p.perf_path};
}

std::string_view UserSymbols::shown(std::string_view name) {
  if (!demangle_ || !name.starts_with("_Z")) return name;
  auto [at, is_new] = demangled_.try_emplace(std::string(name));
  if (is_new) {
    int status = 0;
    char* text = abi::__cxa_demangle(at->first.c_str(), nullptr, nullptr, &status);
    at->second = text ? text : at->first;
    std::free(text);
  }
  return at->second;
}

} // namespace symbol
