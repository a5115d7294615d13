#include "watch/unwinding.h"

#include "base/clock.h"
#include "base/process_memory.h"
#include "spec/stack_entries.h"
#include "symbol/process_map.h"
#include "watch/task_members.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <unistd.h>

namespace watch {

namespace {

// ns of this thread's processor time: on a busy machine it waits for others most of the time.
constexpr uint64_t longest_work = 1'000'000, longest_start = 60'000'000;
constexpr size_t most_surveyed = 8192;
constexpr uint64_t heal_pause = 50'000'000; // ns

uint64_t cpu_clock_ns() {
  timespec t = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
}

// Ranges in the order of their ages, made such that none overlaps: the newer counts.
std::vector<symbol::CodeRange> flatten(std::vector<symbol::CodeRange> ranges) {
  std::stable_sort(ranges.begin(), ranges.end(), [](auto& a, auto& b) { return a.since < b.since; });
  std::map<uint64_t, symbol::CodeRange> flat; // by begin
  for (const symbol::CodeRange& r : ranges) {
    auto at = flat.lower_bound(r.begin);
    if (at != flat.begin() && std::prev(at)->second.end > r.begin) --at;
    while (at != flat.end() && at->second.begin < r.end) {
      symbol::CodeRange old = at->second;
      at = flat.erase(at);
      if (old.begin < r.begin) {
        symbol::CodeRange left = old;
        left.end = r.begin;
        flat[left.begin] = left;
      }
      if (old.end > r.end) {
        symbol::CodeRange right = old;
        right.offset += r.end - right.begin;
        right.begin = r.end;
        at = flat.emplace(right.begin, right).first;
      }
    }
    flat[r.begin] = r;
  }
  std::vector<symbol::CodeRange> out;
  for (auto& [begin, range] : flat) out.push_back(range);
  return out;
}

// What was read is a return address that the kernel keeps elsewhere: it shall be as it was.
void put_back_return(const walk_copy& copy, uint64_t address, std::span<std::byte> word) {
  if (!copy.kept_count || word.size() != 8 || std::memcmp(word.data(), &copy.trampoline, 8) != 0) return;
  for (const walk_return& r : std::span(copy.kept).first(std::min<uint64_t>(copy.kept_count, WALK_MOST_RETURNS)))
    if (r.slot == address) {
      std::memcpy(word.data(), &r.address, 8);
      return;
    }
}

} // namespace

Unwinding::Unwinding(bpf::Walker& walker, symbol::UserSymbols& users, runtime::CodeNames& codes, ProcessWatch& watch, probe::Machine& machine)
    : walker_(walker), users_(users), codes_(codes), watch_(watch), cache_(symbol::Cache::of_user()) {
  tell_task_members(walker.tables(), machine);
  users_.keep_contents();
  walker_.set_hooks({.seen =
                         [this](uint32_t pid, uint64_t id, std::span<const uint64_t> frames, uint64_t time) {
                           retry_names();
                           if (!processes_.contains(pid)) watch_.drain(); // it may be younger than what is known
                           users_.seen(static_cast<pid_t>(pid), spec::split_user_stack(frames).frames, id, time);
                         },
                     .gone = [this](uint64_t id) { users_.forget_stack(id); },
                     .walk = [this](const walk_copy& copy) { return walk(copy); },
                     .splice = [this](uint32_t pid, uint32_t language, const runtime::Lists& lists) { return splice(pid, language, lists); },
                     .object = [this](uint32_t pid, const language_object& object) { take_object(pid, object); }});
  watch_.add_follower(this);
  // Whoever is known before the probes are attached needs no copies; the others may wait.
  const auto self = static_cast<uint32_t>(::getpid());
  if (watch_.only())
    survey_ = {*watch_.only()};
  else if (users_.know(::getpid()))
    publish(self);
  survey(longest_start);
}

Unwinding::~Unwinding() {
  watch_.remove_follower(this);
  walker_.set_hooks({});
}

// ------------------------------------------------------------------------------------------------ files

Unwinding::File* Unwinding::file_of(uint32_t index) {
  if (by_index_.size() <= index) by_index_.resize(index + 1);
  if (by_index_[index]) return by_index_[index];
  std::shared_ptr<const format::ElfFile> elf = users_.files().elf(index);
  if (!elf) return nullptr;
  base::ByteSpan id = elf->build_id();
  std::string key(reinterpret_cast<const char*>(id.data()), id.size());
  if (key.empty()) {
    const void* at = elf.get();
    key.assign(reinterpret_cast<const char*>(&at), sizeof at);
  }
  auto [at, is_new] = files_.try_emplace(std::move(key));
  File& file = at->second;
  if (is_new) {
    file.elf = std::move(elf);
    unwind::Tables tables = unwind::tables_of_file(*file.elf, cache_);
    file.elf->release_pages(); // nothing or all of its tables was read
    if (!tables.rows().empty()) file.frames.emplace(*file.elf, std::move(tables));
    file.runtime = runtime::recognise(*file.elf);
    if (file.runtime && !file.runtime->problem.empty()) unknown_runtimes_.insert(file.runtime->version + ": " + file.runtime->problem);
  }
  return by_index_[index] = &file;
}

// False: there is no room for its rows.
bool Unwinding::put_into_kernel(File& file) {
  file.last_use = ++uses_;
  if (!file.frames || file.number != bpf::WalkTables::no_file) return true;
  for (;;) {
    if (auto number = walker_.tables().add_file(file.frames->tables())) {
      file.number = *number;
      return true;
    }
    if (!make_room()) return false;
  }
}

// Gives the rows of the file back that was not used for the longest time; false: all are in use.
bool Unwinding::make_room() {
  File* oldest = nullptr;
  for (auto& [key, file] : files_)
    if (file.number != bpf::WalkTables::no_file && !file.lists && (!oldest || file.last_use < oldest->last_use))
      oldest = &file;
  if (!oldest) return false;
  walker_.tables().remove_file(oldest->number);
  oldest->number = bpf::WalkTables::no_file;
  return true;
}

// -------------------------------------------------------------------------------------------- processes

Unwinding::Lists Unwinding::make_list(uint32_t pid) {
  std::vector<bpf::WalkTables::Range> ranges;
  auto list = std::shared_ptr<List>(new List, [this](List* l) {
    for (File* f : l->files) f->lists--;
    if (l->number != ~0u) walker_.tables().remove_list(l->number);
    if (l->language != bpf::WalkTables::no_language) walker_.tables().remove_language(l->language);
    delete l;
  });
  list->number = ~0u;
  for (const symbol::CodeRange& r : flatten(users_.history().ranges(pid))) {
    bpf::WalkTables::Range range = {.begin = r.begin, .end = r.end};
    File* file = r.file == symbol::CodeFiles::none ? nullptr : file_of(r.file);
    auto bias = file && file->frames ? users_.bias_of(static_cast<pid_t>(pid), r) : std::nullopt;
    if (bias) {
      // What there is no room for is left out: it is not known, and walked outside.
      if (!put_into_kernel(*file)) {
        left_out_++;
        continue;
      }
      file->lists++;
      list->files.push_back(file);
      range.file = file->number;
      range.bias = -*bias;
      if (file->runtime && file->runtime->problem.empty() && codes_.show() != runtime::Show::native) add_runtime(pid, *list, *file->runtime, *bias, range);
    }
    ranges.push_back(range);
  }
  if (ranges.empty()) return nullptr;
  auto number = walker_.tables().add_list(ranges, list->language);
  if (!number) return nullptr;
  list->number = *number;
  return list;
}

// `code`: what the process has mapped of the runtime's file, maybe in parts. Of several runtimes the first is walked.
void Unwinding::add_runtime(uint32_t pid, List& list, const runtime::FileRuntime& file, uint64_t bias, const bpf::WalkTables::Range& code) {
  language_table table = runtime::moved(file.table, bias);
  if (list.language != bpf::WalkTables::no_language) {
    runtime::ProcessRuntime& known = languages_[list.language];
    if (known.table.kind == table.kind && known.table.root == table.root && known.table.evaluation[0].begin == table.evaluation[0].begin)
      known.code = {std::min<uint64_t>(known.code.begin, code.begin), std::max<uint64_t>(known.code.end, code.end)};
    return;
  }
  const auto known = processes_.find(pid);
  const auto before = known == processes_.end() ? languages_.end() : languages_.find(known->second->language);
  const auto complete = runtime::runtime_of(table.kind).complete;
  if (complete && before != languages_.end() && before->second.table.kind == table.kind && before->second.table.root == table.root) {
    table = before->second.table;
  } else if (complete) {
    const auto problem = complete(table, [pid](uint64_t address, std::span<std::byte> to) { return base::read_process(static_cast<pid_t>(pid), address, to); });
    if (problem && !problem->empty()) unknown_runtimes_.insert(file.version + ": " + *problem);
    if (!problem || !problem->empty()) return;
  }
  if (auto loaded = walker_.need_language(table.kind); !loaded.ok()) {
    unknown_runtimes_.insert(file.version + ": " + loaded.error().message);
    return;
  }
  const auto number = walker_.tables().add_language(table);
  if (!number) {
    left_out_++;
    return;
  }
  list.language = *number;
  languages_[*number] = {.table = table, .code = {code.begin, code.end}};
}

// The process may have ended; its table's number is not given out again for a while.
bpf::Walker::Spliced Unwinding::splice(uint32_t pid, uint32_t language, const runtime::Lists& lists) const {
  bpf::Walker::Spliced out = {.words = {lists.native.begin(), lists.native.end()}};
  const auto process = languages_.find(language);
  if (process != languages_.end()) {
    const auto find = [&](uint64_t address, uint32_t check) { return codes_.find(pid, address, check); };
    const auto expand = runtime::runtime_of(process->second.table.kind).expand;
    out.words = expand ? expand(lists.native, process->second, codes_.show(), find).words : runtime::splice(lists, process->second, codes_.show());
  }
  out.meaning = codes_.meaning(pid, out.words);
  return out;
}

void Unwinding::take_object(uint32_t pid, const language_object& object) {
  const auto process = languages_.find(object.table);
  if (process == languages_.end()) return;
  codes_.add(pid, object, process->second.table, [&](uint64_t address, std::span<std::byte> to) {
    return base::read_process(static_cast<pid_t>(pid), address, to);
  });
}

// Tells the walker what is known of the process.
bool Unwinding::publish(uint32_t pid) {
  Lists list = make_list(pid);
  if (!list || !walker_.tables().set_process(pid, list->number)) {
    if (list) left_out_++;
    return false;
  }
  tell_runtime(pid, *list);
  processes_[pid] = std::move(list);
  return true;
}

void Unwinding::tell_runtimes(const void* owner, TakeRuntime take) {
  take_runtime_.erase(owner);
  if (!take) return;
  for (const auto& [pid, list] : processes_)
    if (list->language != bpf::WalkTables::no_language) take(pid, languages_.at(list->language).table);
  take_runtime_.emplace(owner, std::move(take));
}

void Unwinding::tell_runtime(uint32_t pid, const List& list) const {
  if (list.language == bpf::WalkTables::no_language) return;
  for (const auto& [owner, take] : take_runtime_) take(pid, languages_.at(list.language).table);
}

void Unwinding::forget(uint32_t pid) {
  changed_.erase(pid);
  walker_.tables().remove_process(pid);
  processes_.erase(pid);
}

void Unwinding::take(const symbol::ProcessEvent& e) {
  using Kind = symbol::ProcessEvent::Kind;
  switch (e.kind) {
  case Kind::fork: {
    if (e.parent == e.pid) break;
    if (!processes_.contains(e.parent) || changed_.erase(e.parent)) publish(e.parent);
    auto parent = processes_.find(e.parent);
    if (parent == processes_.end() || !walker_.tables().set_process(e.pid, parent->second->number)) break;
    Lists list = parent->second;
    tell_runtime(e.pid, *list);
    processes_[e.pid] = std::move(list);
    break;
  }
  case Kind::exec:
  case Kind::exit: forget(e.pid); break;
  case Kind::mapping: changed_.insert(e.pid); break;
  case Kind::lost:
  case Kind::none: break;
  }
}

void Unwinding::settle() {
  for (uint32_t pid : changed_) publish(pid);
  changed_.clear();
}

bool Unwinding::work() {
  retry_names();
  return survey(longest_work);
}

void Unwinding::retry_names() {
  codes_.retry(base::clock_ns(), [this](uint32_t pid, const language_object& object) { take_object(pid, object); });
}

// Looks at the processes that run, for so many ns; false: all have been looked at.
bool Unwinding::survey(uint64_t longest) {
  const uint64_t start = cpu_clock_ns();
  if (!survey_) {
    survey_ = symbol::all_processes();
    survey_->resize(std::min(survey_->size(), most_surveyed));
  }
  while (!survey_->empty() && cpu_clock_ns() - start < longest) {
    uint32_t pid = survey_->back();
    survey_->pop_back();
    if (!processes_.contains(pid) && users_.know(static_cast<pid_t>(pid))) publish(pid);
  }
  return !survey_->empty();
}

// ------------------------------------------------------------------------------------- walks from copies

unwind::CodePlace Unwinding::find_code(uint32_t pid, uint64_t address, uint64_t time) {
  const symbol::CodeRange* range = users_.history().find(pid, address, time);
  if (!range) range = users_.history().find(pid, address);
  if (!range) return {};
  unwind::CodePlace place = {.is_code = true};
  File* file = range->file == symbol::CodeFiles::none ? nullptr : file_of(range->file);
  if (!file || !file->frames) return place;
  if (auto bias = users_.bias_of(static_cast<pid_t>(pid), *range)) {
    place.file = &*file->frames;
    place.bias = *bias;
  }
  return place;
}

bpf::Walker::Frames Unwinding::walk(const walk_copy& copy) {
  const uint32_t pid = copy.pid;
  const uint64_t pc = copy.registers[unwind::Registers::rip], sp = copy.registers[unwind::Registers::rsp];
  // The process may have begun, and mapped this, since events were taken for the last time.
  if (!processes_.contains(pid) || !find_code(pid, pc, copy.time).is_code) watch_.drain();
  users_.seen(static_cast<pid_t>(pid), std::span(&pc, 1), 0, copy.time);
  unwind::Registers registers;
  for (unsigned n = 0; n < unwind::Registers::count; n++) registers.set(n, copy.registers[n]);
  const uint64_t bytes = std::min<uint64_t>(copy.bytes, WALK_STACK_BYTES);
  bool is_cut = false;
  auto read = [&](uint64_t address, std::span<std::byte> to) {
    if (address < sp || address - sp < copy.missing || address - sp > bytes || bytes - (address - sp) < to.size()) {
      is_cut |= address >= sp && bytes == WALK_STACK_BYTES;
      return false;
    }
    std::memcpy(to.data(), copy.stack + (address - sp), to.size());
    put_back_return(copy, address, to);
    return true;
  };
  auto find = [&](uint64_t address) { return find_code(pid, address, copy.time); };
  const bool is_known = find_code(pid, pc, copy.time).is_code;
  unwind::Walk walked = unwind::walk(registers, read, find, {.most_frames = copy.limit});
  // So it is with what callers are in.
  if (walked.end == UNWIND_NO_CODE) {
    watch_.drain();
    walked = unwind::walk(registers, read, find, {.most_frames = copy.limit});
  }
  bpf::Walker::Frames out;
  for (const unwind::Frame& f : walked.frames)
    if (auto rip = f.registers.get(unwind::Registers::rip)) out.addresses.push_back(*rip);
  out.end = walked.end;
  if (out.end == UNWIND_UNREADABLE && is_cut) out.end = UNWIND_STACK_CUT;
  if (!is_known && out.end != UNWIND_COMPLETE) out.end = WALK_PROCESS_NOT_KNOWN;
  // What was unknown shall be known from now on; it may have gone from the kernel's map by an exec that is told later.
  // A damaged stack leads to unknown code again and again.
  const bool is_due = copy.why == WALK_CODE_NOT_KNOWN ? base::clock_ns() - healed_[pid] > heal_pause : !walker_.tables().has_process(pid);
  if (is_known && is_due && copy.why != WALK_NOT_HELD && !users_.history().has_ended(pid)) {
    if (healed_.size() > most_surveyed) healed_.clear();
    publish(pid);
    healed_[pid] = base::clock_ns();
  }
  return out;
}

// -------------------------------------------------------------------------------------------- reporting

std::string Unwinding::describe() const {
  bpf::Walker::Counts c = walker_.counts();
  const uint64_t all = c.all();
  char share[32];
  std::snprintf(share, sizeof share, "%.2f", all ? 100.0 * static_cast<double>(c.complete()) / static_cast<double>(all) : 100.0);
  std::string out = "user stacks: " + std::to_string(all) + ", complete " + share + "%, unwound outside the kernel " +
                    std::to_string(c.copied);
  if (c.not_copied) out += ", unknown and not copied " + std::to_string(c.not_copied);
  for (uint32_t end = 1; end < WALK_ENDS; end++)
    if (c.ends[end]) out += "; " + std::string(spec::name_of_stack_end(end)) + " " + std::to_string(c.ends[end]);
  out += "\nunwind tables: " + std::to_string(walker_.tables().rows()) + " rows, " + std::to_string(walker_.tables().rules()) +
         " rules, " + std::to_string(files_.size()) + " files, " + std::to_string(processes_.size()) + " processes";
  for (const std::string& unknown : unknown_runtimes_) out += "\nlanguage frames are missing: " + unknown;
  const uint64_t language = std::accumulate(c.languages.begin(), c.languages.end(), uint64_t{0});
  if (language)
    out += "\nlanguage frames: " + std::to_string(language) + " stacks, complete " + std::to_string(c.languages[LANGUAGE_COMPLETE]) +
           ", thread not known " + std::to_string(c.languages[LANGUAGE_NO_THREAD]) + ", not readable " +
           std::to_string(c.languages[LANGUAGE_UNREADABLE]) + ", more than " + std::to_string(LANGUAGE_MAX_FRAMES) + " frames " +
           std::to_string(c.languages[LANGUAGE_TOO_DEEP]) + "; " + std::to_string(codes_.size()) + " functions";
  if (c.objects_lost) out += ", names lost " + std::to_string(c.objects_lost);
  if (left_out_) out += ", no room " + std::to_string(left_out_) + " times";
  return out;
}

} // namespace watch
