#include "symbol/user_symbols.h"

#include "format/load_bias.h"
#include "spec/stack_entries.h"
#include "symbol/demangle.h"
#include "symbol/process_map.h"

#include <algorithm>
#include <ctime>
#include <elf.h>

namespace symbol {

namespace {

constexpr uint64_t ms = 1'000'000;
// An address that is not mapped may be garbage of a broken stack: a process is not looked at again and again
// for such.
constexpr uint64_t shortest_pause = 100 * ms;
constexpr size_t most_stack_times = 1 << 20;
constexpr size_t most_surveyed = 4096;
constexpr size_t most_parents = 1 << 16;
constexpr size_t most_vain_looks = 4096;
constexpr size_t most_jits = 128; // each holds a few descriptors
constexpr uint64_t longest_work = 1 * ms;

uint64_t now_ns() {
  timespec t = {};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
}

uint32_t number(pid_t pid) { return static_cast<uint32_t>(pid); }

} // namespace

// ---- following

// Reads what the process has mapped now, if it still lives.
bool UserSymbols::look(pid_t pid, uint64_t now) {
  if (pid <= 0) return false;
  std::vector<CodeRange> ranges;
  for (const Mapping& m : read_process_map(pid)) {
    std::string path = m.deleted ? m.path + " (deleted)" : m.path;
    MappedFileId id = {.device = m.device, .inode = m.inode};
    const CodeFiles::Way way = {.pid = pid, .begin = m.begin, .end = m.end};
    ranges.push_back(
        {.begin = m.begin, .end = m.end, .offset = m.offset, .file = files_.index_of(path, id, way)});
    if (ranges.back().file == CodeFiles::none) ranges.back().offset = 0;
  }
  if (ranges.empty()) return false;
  history_.look(number(pid), ranges, now);
  opened_.erase(number(pid));
  return true;
}

// A look for what stands at an address, unless there was one in vain not long ago.
void UserSymbols::look_for(pid_t pid, uint64_t address, uint64_t now) {
  if (history_.has_ended(number(pid))) return;
  auto vain = vain_looks_.find(number(pid));
  if (vain != vain_looks_.end() && now - vain->second < shortest_pause) return;
  if (look(pid, now) && (!address || history_.find(number(pid), address))) return;
  if (vain_looks_.size() >= most_vain_looks) vain_looks_.clear();
  vain_looks_[number(pid)] = now;
}

void UserSymbols::open(pid_t pid, const CodeRange& range) {
  if (range.file == CodeFiles::none || files_.is_open(range.file)) return;
  auto parent = parents_.find(number(pid));
  files_.open(range.file, {.pid = pid,
                           .begin = range.begin,
                           .end = range.end,
                           .parent = parent == parents_.end() ? 0 : static_cast<pid_t>(parent->second)});
}

void UserSymbols::open_all(pid_t pid) {
  for (const CodeRange& r : history_.ranges(number(pid))) {
    open(pid, r);
    if (is_made(r)) jit_of(pid);
  }
}

void UserSymbols::open_new(pid_t pid) {
  if (follows_ && opened_.contains(number(pid))) return;
  open_all(pid);
  opened_.insert(number(pid));
}

// Code that the process made itself, or that tells where the names of such are.
bool UserSymbols::is_made(const CodeRange& r) const {
  return r.file == CodeFiles::none || files_.is_memory(r.file) || is_jitdump(files_.path(r.file));
}

void UserSymbols::take(const ProcessEvent& e) {
  switch (e.kind) {
  case ProcessEvent::Kind::fork:
    // The child may be gone before it is looked at; its parent has the same code.
    if (!history_.is_whole(e.parent)) look(static_cast<pid_t>(e.parent), now_ns());
    history_.fork(e.parent, e.pid, e.time);
    parents_[e.pid] = e.parent;
    jits_.erase(static_cast<pid_t>(e.pid)); // of another process that had this id
    opened_.erase(e.pid);
    break;
  case ProcessEvent::Kind::exec: history_.exec(e.pid, e.time); break;
  case ProcessEvent::Kind::exit:
    history_.exit(e.pid, e.time);
    opened_.erase(e.pid);
    if (parents_.size() > most_parents)
      std::erase_if(parents_, [&](auto& p) { return history_.has_ended(p.first); });
    break;
  case ProcessEvent::Kind::lost:
    history_.events_lost();
    opened_.clear();
    break;
  case ProcessEvent::Kind::mapping: {
    CodeRange range = {
        .begin = e.begin,
        .end = e.end,
        .offset = e.offset,
        .file = files_.index_of(e.path, e.file,
                                {.pid = static_cast<pid_t>(e.pid), .begin = e.begin, .end = e.end}),
        .since = e.time};
    if (range.file == CodeFiles::none) range.offset = 0;
    history_.map(e.pid, range);
    open(static_cast<pid_t>(e.pid), range);
    if (is_made(range)) jit_of(static_cast<pid_t>(e.pid));
    break;
  }
  case ProcessEvent::Kind::none: break;
  }
}

bool UserSymbols::know(pid_t pid) {
  if (!history_.is_whole(number(pid))) look_for(pid, 0, now_ns());
  open_new(pid);
  return history_.is_known(number(pid));
}

// 0: there is none.
static uint64_t first_address(std::span<const uint64_t> words) {
  while (!words.empty())
    if (const spec::StackEntry entry = spec::take_entry(words); spec::has_code_address(entry)) return entry.address;
  return 0;
}

void UserSymbols::seen(pid_t pid, std::span<const uint64_t> words, uint64_t stack, uint64_t time) {
  uint64_t now = now_ns();
  if (stack && stack_times_.size() < most_stack_times) stack_times_.try_emplace(stack, time ? time : now);
  if (pid <= 0) return;
  bool begins = words.empty();
  bool is_known = history_.is_whole(number(pid)) && !beginning_.contains(number(pid));
  if (!begins && !follows_ && is_known) is_known = history_.find(number(pid), first_address(words));
  if (!is_known) look_for(pid, first_address(words), now);
  beginning_.erase(number(pid));
  if (begins && !follows_) beginning_.insert(number(pid));
  history_.want(number(pid));
  open_new(pid);
  while (!words.empty()) {
    const spec::StackEntry entry = spec::take_entry(words);
    if (!spec::has_code_address(entry)) continue;
    const CodeRange* range = history_.find(number(pid), entry.address, time ? time : ProcessHistory::any_time);
    if (!range || range->file == CodeFiles::none) continue;
    if (is_queued_.size() <= range->file) is_queued_.resize(files_.size());
    if (is_queued_[range->file]) continue;
    is_queued_[range->file] = true;
    unread_.push_back(range->file);
  }
}

void UserSymbols::start_survey() {
  const std::vector<uint32_t> all = all_processes();
  survey_.emplace(all.begin(), all.begin() + static_cast<ptrdiff_t>(std::min(all.size(), most_surveyed)));
}

// Processes that run since before the session may end right after their first stack, so all are looked at.
// Names in files that appear in stacks are read before somebody writes into the files.
bool UserSymbols::work() {
  uint64_t start = now_ns();
  if (follows_ && !survey_) start_survey();
  while (now_ns() - start < longest_work) {
    if (!unread_.empty()) {
      files_.read_soon(unread_.front());
      unread_.pop_front();
    } else if (survey_ && !survey_->empty()) {
      pid_t pid = survey_->back();
      survey_->pop_back();
      if (history_.is_whole(number(pid)) || !look(pid, now_ns())) continue;
      for (const CodeRange& r : history_.ranges(number(pid))) { // of others the name will still lead to them
        if (r.file != CodeFiles::none && files_.is_deleted(r.file)) open(pid, r);
        if (is_made(r)) jit_of(pid);
      }
    } else {
      return false;
    }
  }
  return true;
}

// ---- asking

const CodeRange* UserSymbols::range_of(pid_t pid, uint64_t address, uint64_t stack) {
  auto time = stack ? stack_times_.find(stack) : stack_times_.end();
  uint64_t when = time == stack_times_.end() ? ProcessHistory::any_time : time->second;
  const CodeRange* range = history_.find(number(pid), address, when);
  if (range) return range;
  bool is_whole = follows_ && history_.is_whole(number(pid));
  uint64_t now = now_ns();
  if (!is_whole) look_for(pid, address, now);
  // Without events nothing is known of times.
  return history_.find(number(pid), address, follows_ ? when : ProcessHistory::any_time);
}

UserSymbols::CodePlace UserSymbols::place_of(pid_t pid, uint64_t address, uint64_t stack) {
  const CodeRange* known = range_of(pid, address, stack);
  if (!known) return {};
  const CodeRange range = *known;
  if (range.file == CodeFiles::none) return {.is_mapped = true, .is_made = true};
  open(pid, range);
  return {range.file, address - range.begin + range.offset, true, files_.is_memory(range.file)};
}

Frame UserSymbols::name_of(const CodePlace& place, pid_t pid, uint64_t address) {
  if (!place.is_mapped) return {.is_mapped = false};
  if (place.file == CodeFiles::none) return find_made(pid, address);
  Frame found = {.module = files_.path(place.file),
                 .module_address = files_.address_of(place.file, place.offset)};
  if (auto function = files_.find(place.file, place.offset, demangle_)) {
    found.name = function->name;
    found.offset = function->offset;
    found.is_derived = function->is_derived;
  } else if (place.is_made) {
    Frame made = find_made(pid, address);
    if (!made.name.empty()) return made;
  }
  return found;
}

std::optional<uint64_t> UserSymbols::bias_of(pid_t pid, const CodeRange& range) const {
  const auto pages = [](const CodeRange& r) { return format::MappedPages{r.begin, r.end, r.offset, true}; };
  const std::shared_ptr<const format::ElfFile> file =
      range.file == CodeFiles::none ? nullptr : files_.elf(range.file);
  if (!file) return std::nullopt;
  const std::vector<format::ElfSegment>& segments = file->elf().segments();
  const std::vector<uint64_t> biases = format::possible_biases(segments, pages(range));
  if (biases.empty()) return std::nullopt;
  if (biases.size() == 1) return biases[0];
  std::vector<format::MappedPages> others;
  for (const CodeRange& r : history_.ranges(number(pid)))
    if (r.file == range.file) others.push_back(pages(r));
  return format::agreed_bias(segments, biases, others);
}

// Only code is kept in the history. The data of a file lies where its code says that it was loaded.
Frame UserSymbols::find_variable(pid_t pid, uint64_t address) {
  uint32_t last = CodeFiles::none;
  for (const CodeRange& range : history_.ranges(number(pid))) {
    if (range.file == CodeFiles::none || range.file == last) continue;
    last = range.file;
    open(pid, range);
    const std::shared_ptr<const format::ElfFile> file = files_.elf(range.file);
    const std::optional<uint64_t> bias = bias_of(pid, range);
    if (!bias) continue;
    const uint64_t in_file = address - *bias;
    const auto holds = [&](const format::ElfSegment& s) { return s.type == PT_LOAD && in_file - s.address < s.memory_size; };
    if (std::ranges::none_of(file->elf().segments(), holds)) continue;
    auto known = variables_.find(range.file);
    if (known == variables_.end())
      known = variables_.emplace(range.file, FileVariables{file, Variables(file->elf())}).first;
    auto found = known->second.all.find(in_file);
    if (!found) return {.module = files_.path(range.file), .module_address = in_file};
    return {.name = shown(found->name), .offset = found->offset, .module = files_.path(range.file), .module_address = in_file};
  }
  return {};
}

Frame UserSymbols::find(pid_t pid, uint64_t address, uint64_t stack) {
  return name_of(place_of(pid, address, stack), pid, address);
}

void UserSymbols::find_inlined(std::span<const CodePlace> places, const Module::TakeFrames& take) {
  struct Wanted {
    uint32_t file;
    uint64_t address;
    size_t index;
  };
  std::vector<Wanted> wanted;
  for (size_t i = 0; i < places.size(); i++) {
    if (places[i].file == CodeFiles::none) continue;
    uint64_t address = files_.address_of(places[i].file, places[i].offset);
    if (address) wanted.push_back({places[i].file, address, i});
  }
  std::ranges::sort(wanted, {}, [](const Wanted& w) { return std::pair(w.file, w.address); });
  std::vector<uint64_t> addresses;
  std::vector<size_t> firsts; // of the addresses, in `wanted`
  for (size_t begin = 0, end = 0; begin < wanted.size(); begin = end) {
    addresses.clear();
    firsts.clear();
    for (; end < wanted.size() && wanted[end].file == wanted[begin].file; end++)
      if (addresses.empty() || addresses.back() != wanted[end].address)
        addresses.push_back(wanted[end].address), firsts.push_back(end);
    firsts.push_back(end);
    files_.find_lines(wanted[begin].file, addresses, [&](size_t at, std::span<const Frame> frames) {
      for (size_t w = firsts[at]; w < firsts[at + 1]; w++) take(wanted[w].index, frames);
    });
  }
}

// Noted while the process lives. One that execs keeps its id, and thereby the names of its files.
JitCode* UserSymbols::jit_of(pid_t pid) {
  auto at = jits_.find(pid);
  if (at == jits_.end()) {
    if (jit_order_.size() >= most_jits) {
      jits_.erase(jit_order_.front());
      jit_order_.pop_front();
    }
    at = jits_.emplace(pid, JitCode::of(pid)).first;
    jit_order_.push_back(pid);
  }
  if (!at->second) return nullptr;
  for (const CodeRange& r : history_.ranges(number(pid)))
    if (r.file != CodeFiles::none && is_jitdump(files_.path(r.file)))
      at->second->add_dump(files_.path(r.file));
  return at->second.get();
}

Frame UserSymbols::find_made(pid_t pid, uint64_t address) {
  JitCode* jit = jit_of(pid);
  auto found = jit ? jit->find(address) : std::nullopt;
  if (!found) return {};
  return {.name = shown(found->name), .offset = found->offset, .module = found->file};
}

std::string_view UserSymbols::shown(std::string_view name) {
  if (!demangle_ || !is_mangled(name)) return name;
  auto [at, is_new] = demangled_.try_emplace(std::string(name));
  if (is_new) at->second = demangle(name);
  return at->second.empty() ? name : std::string_view(at->second);
}

} // namespace symbol
