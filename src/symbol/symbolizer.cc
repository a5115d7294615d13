#include "symbol/symbolizer.h"

#include "base/privilege.h"
#include "base/text.h"
#include "symbol/demangle.h"
#include "symbol/file_names.h"
#include "symbol/vdso.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <signal.h>

namespace symbol {

namespace {

// The upper half of the addresses is the kernel's, on all machines with 64 bits.
bool is_kernel(uint64_t address) { return address >> 63; }

// A process that is asked for addresses it has not is not looked at more often.
constexpr std::chrono::milliseconds shortest_pause(100);

} // namespace

Symbolizer::Symbolizer(SymbolizeOptions options) : options_(std::move(options)), cache_(Cache::of_user()) {}

base::Status Symbolizer::set_process(pid_t pid) {
  std::string number = std::to_string(pid);
  if (::kill(pid, 0) != 0 && errno == ESRCH)
    return base::Error{base::Failure::nothing_matched, "there is no process " + number};
  auto text = base::read_file("/proc/" + number + "/maps");
  if (!text.ok() && text.error().kind == base::Failure::permission) text.error().message += base::not_permitted({base::Capability::sys_ptrace});
  if (!text.ok()) return std::move(text.error()).with("process " + number);
  pid_ = pid;
  root_ = "/proc/" + number + "/root";
  map_ = parse_process_map(*text);
  opened_.assign(map_.size(), {});
  jit_.reset();
  read_ = Clock::now();
  return {};
}

uint32_t Symbolizer::keep(std::unique_ptr<Module> module) {
  modules_.push_back(std::move(module));
  return static_cast<uint32_t>(modules_.size() - 1);
}

base::Result<uint32_t> Symbolizer::add_file(const std::string& path) {
  if (auto known = files_.find(path); known != files_.end()) return known->second;
  ACU_TRY(format::ElfFile file, format::ElfFile::open(path));
  DebugSearch search = options_.search;
  search.root.clear();
  uint32_t module = keep(std::make_unique<Module>(std::move(file), path, std::move(search)));
  files_[path] = module;
  return module;
}

base::Result<uint32_t> Symbolizer::find_file(const std::string& path) {
  for (const Mapping& m : map_) {
    bool is_meant =
        m.path == path || (m.path.ends_with(path) && m.path[m.path.size() - path.size() - 1] == '/');
    uint32_t module = is_meant ? open_mapping(m) : no_module;
    if (module != no_module) return module;
  }
  return add_file(path);
}

// Through the mapping where that is allowed: then it is the right file whatever became of its name.
base::Result<format::ElfFile> Symbolizer::read_mapping(const Mapping& m) const {
  if (m.path == "[vdso]") return format::ElfFile::view(vdso_image());
  char range[96];
  std::snprintf(range, sizeof range, "/proc/%d/map_files/%lx-%lx", pid_, m.begin, m.end);
  auto map = base::FileMap::open(range);
  if (!map.ok() && m.deleted)
    return base::Error{map.error().kind,
                       m.path + ": it was deleted or replaced since it was mapped, and only root may "
                                "read it through the mapping"};
  if (!map.ok()) {
    map = base::FileMap::open(m.path, root_);
    if (!map.ok()) return std::move(map.error());
    if (m.inode && map->id().inode != m.inode)
      return base::Error{base::Failure::runtime,
                         m.path + ": it is another file than the one that was mapped"};
  }
  return format::ElfFile::of(std::move(*map));
}

uint32_t Symbolizer::open_mapping(const Mapping& m) {
  Opened& opened = opened_[static_cast<size_t>(&m - map_.data())];
  if (opened.is_tried) return opened.module;
  opened.is_tried = true;
  if (!m.is_file() && m.path != "[vdso]") return no_module;
  auto file = read_mapping(m);
  if (!file.ok()) {
    opened.problem = file.error().message;
    return no_module;
  }
  // One file has several mappings.
  base::FileId id = file->id();
  auto known = mapped_files_.find(id);
  if (id != base::FileId() && known != mapped_files_.end()) return opened.module = known->second;
  DebugSearch search = options_.search;
  search.root = root_;
  opened.module = keep(std::make_unique<Module>(std::move(*file), m.path, std::move(search)));
  if (id != base::FileId()) mapped_files_[id] = opened.module;
  return opened.module;
}

Module* Symbolizer::module_of(const Mapping& mapping) {
  uint32_t module = open_mapping(mapping);
  return module == no_module ? nullptr : modules_[module].get();
}

const std::string& Symbolizer::problem_of(const Mapping& mapping) const {
  return opened_[static_cast<size_t>(&mapping - map_.data())].problem;
}

std::string_view Symbolizer::shown(std::string_view name) {
  if (options_.mangled || !is_mangled(name)) return name;
  auto [at, is_new] = demangled_.try_emplace(std::string(name));
  if (is_new) at->second = demangle(name);
  return at->second.empty() ? name : std::string_view(at->second);
}

// Debug information of the kernel, and by how much the kernel was moved from where it was linked to.
void Symbolizer::prepare_kernel_lines() {
  if (std::exchange(looked_for_kernel_lines_, true) || !options_.lines) return;
  DebugFile debug = find_kernel_debug_file(options_.search);
  if (!debug.debug.file || !debug.has_dwarf) return;
  auto here = kallsyms_.address("_text");
  auto linked = symbol_address(*debug.debug.file, "_text");
  if (!here || !linked) return;
  kernel_moved_ = *here - *linked;
  kernel_module_ = keep(std::make_unique<Module>(std::move(debug), "[kernel]"));
}

// Texts whose owners may let them go.
std::string_view Symbolizer::kept(std::string_view text) { return *texts_.emplace(text).first; }

void Symbolizer::find_in_kernel(Place& place, uint32_t index) {
  auto symbol = kallsyms_.find(place.address);
  place.kind = spec::FrameKind::kernel;
  place.module = spec::row_of(place.kind).module;
  if (!symbol) return;
  place.name = shown(symbol->name);
  place.offset = symbol->offset;
  if (!symbol->module.empty()) {
    place.module = kept("[" + std::string(symbol->module) + "]");
    return;
  }
  prepare_kernel_lines();
  if (kernel_module_ != no_module) tasks_.push_back({kernel_module_, index, place.address - kernel_moved_});
}

void Symbolizer::find_in_jit(Place& place, uint32_t index) {
  if (!jit_) {
    jit_ = JitCode::of(pid_);
    for (const Mapping& m : map_)
      if (jit_ && is_jitdump(m.path)) jit_->add_dump(m.path);
  }
  auto found = jit_ ? jit_->find(place.address) : std::nullopt;
  if (!found) return;
  place.module = kept(found->file);
  place.name = kept(shown(found->name));
  place.offset = found->offset;
  JitDump::Line line = options_.lines ? jit_->line(place.address) : JitDump::Line();
  if (!line.file.empty()) add_frames(index, std::array{Frame{.name = place.name, .file = kept(line.file), .line = line.line}});
}

// Which file the address is in, and where; what is no file is answered at once.
void Symbolizer::locate(const Question& question, uint32_t index) {
  Place& place = places_[index];
  place.address = place.module_address = question.address;
  uint32_t module = question.module;
  if (module == no_module) {
    if (is_kernel(question.address)) return find_in_kernel(place, index);
    const Mapping* m = find_mapping(map_, question.address);
    if (!m) {
      is_any_unmapped_ = true;
      return;
    }
    module = open_mapping(*m);
    place.module = m->path;
    place.module_address = question.address - m->begin + m->offset;
    if (module == no_module) return find_in_jit(place, index);
    auto address = modules_[module]->names(cache_).address_of_offset(place.module_address);
    if (!address) return;
    place.module_address = *address;
  }
  place.module = modules_[module]->path();
  tasks_.push_back({module, index, place.module_address});
}

void Symbolizer::add_frames(uint32_t place, std::span<const Frame> frames) {
  frame_ranges_[place] = {static_cast<uint32_t>(frames_.size()), static_cast<uint32_t>(frames.size())};
  frames_.insert(frames_.end(), frames.begin(), frames.end());
}

void Symbolizer::find_names(Module& module, std::span<const Task> tasks) {
  FunctionNames& names = module.names(cache_);
  for (size_t i = 0; i < tasks.size(); i++) {
    Place& place = places_[tasks[i].place];
    if (i > 0 && tasks[i].address == tasks[i - 1].address) {
      const Place& same = places_[tasks[i - 1].place];
      place.name = same.name;
      place.offset = same.offset;
      place.is_derived = same.is_derived;
      continue;
    }
    auto found = names.find(tasks[i].address);
    if (!found) continue;
    place.name = options_.mangled ? found->name : names.shown(*found);
    place.offset = found->offset;
    place.is_derived = found->is_derived;
  }
}

void Symbolizer::find_lines(Module& module, std::span<const Task> tasks) {
  std::vector<uint64_t> addresses;
  std::vector<uint32_t> first; // task of each address
  for (uint32_t i = 0; i < tasks.size(); i++) {
    if (!addresses.empty() && addresses.back() == tasks[i].address) continue;
    addresses.push_back(tasks[i].address);
    first.push_back(i);
  }
  module.find_lines(addresses, {options_.inlines, options_.mangled},
                    [&](size_t at, std::span<const Frame> frames) {
                      uint32_t task = first[at];
                      add_frames(tasks[task].place, frames);
                      auto range = frame_ranges_[tasks[task].place];
                      // The symbol's name, which tells clones and parts of functions apart, and goes with the
                      // offset.
                      Frame& outermost = frames_[range.first + range.second - 1];
                      const Place& place = places_[tasks[task].place];
                      if (!place.name.empty() && !(place.is_derived && !outermost.name.empty()))
                        outermost.name = place.name;
                      outermost.kind = place.kind;
                      for (uint32_t i = task + 1; i < tasks.size() && tasks[i].address == addresses[at]; i++)
                        frame_ranges_[tasks[i].place] = range;
                    });
}

void Symbolizer::locate(std::span<const Question> questions) {
  tasks_.clear();
  frames_.clear();
  places_.assign(questions.size(), {});
  frame_ranges_.assign(questions.size(), {});
  is_any_unmapped_ = false;
  for (uint32_t i = 0; i < questions.size(); i++) locate(questions[i], i);
}

std::span<const Place> Symbolizer::find(std::span<const Question> questions) {
  locate(questions);
  // The process may have loaded more since it was looked at.
  bool is_stale = pid_ && is_any_unmapped_ && Clock::now() - read_ > shortest_pause;
  if (is_stale && set_process(pid_).ok()) locate(questions);
  std::sort(tasks_.begin(), tasks_.end(), [](const Task& a, const Task& b) {
    return a.module != b.module ? a.module < b.module : a.address < b.address;
  });
  for (size_t begin = 0, end = 0; begin < tasks_.size(); begin = end) {
    while (end < tasks_.size() && tasks_[end].module == tasks_[begin].module) end++;
    std::span<const Task> tasks(&tasks_[begin], end - begin);
    Module& module = *modules_[tasks_[begin].module];
    if (module.file()) find_names(module, tasks);
    if (options_.lines) find_lines(module, tasks);
  }
  for (size_t i = 0; i < places_.size(); i++) {
    auto [begin, count] = frame_ranges_[i];
    places_[i].frames = std::span<const Frame>(frames_).subspan(begin, count);
  }
  return places_;
}

} // namespace symbol
