#include "bpf/walk_tables.h"

#include "bpf/syscall.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <sys/mman.h>

namespace bpf {

namespace {

constexpr uint64_t rest_ns = 1'000'000'000; // longer than any walk

uint64_t now_ns() {
  timespec t = {};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
}

} // namespace

// ------------------------------------------------------------------------------------------------- room

std::optional<uint32_t> Room::take(uint32_t count) {
  count = std::max(count, 1u);
  release_old(now_ns());
  for (auto at = free_.begin(); at != free_.end(); ++at) {
    auto [first, size] = *at;
    if (size < count) continue;
    free_.erase(at);
    if (size > count) free_[first + count] = size - count;
    used_ += count;
    return first;
  }
  return std::nullopt;
}

void Room::give_back(uint32_t first, uint32_t count) { waiting_.push_back({first, std::max(count, 1u), now_ns()}); }

void Room::release_old(uint64_t now) {
  while (!waiting_.empty() && now - waiting_.front().since >= rest_ns) {
    release(waiting_.front().first, waiting_.front().count);
    waiting_.pop_front();
  }
}

void Room::settle() { release_old(~uint64_t{0}); }

void Room::release(uint32_t first, uint32_t count) {
  used_ -= count;
  auto next = free_.lower_bound(first);
  if (next != free_.end() && first + count == next->first) {
    count += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    auto before = std::prev(next);
    if (before->first + before->second == first) {
      before->second += count;
      return;
    }
  }
  free_[first] = count;
}

// ----------------------------------------------------------------------------------------------- tables

WalkTables::WalkTables()
    : rows_room_(WALK_ROOM_ROWS), starts_room_(WALK_ROOM_STARTS), mappings_room_(WALK_ROOM_MAPPINGS),
      languages_room_(LANGUAGE_MAX_TABLES) {
  languages_room_.take(1); // entry 0 is none
}

template<class T> WalkTables::Memory<T>::~Memory() {
  if (mapped) ::munmap(mapped, bytes);
}

WalkTables::~WalkTables() = default;

// The entries from `first` on.
template<class T>
base::Status WalkTables::map(Memory<T>& memory, int fd, std::string_view name, size_t first, size_t count) {
  constexpr size_t page = 4096;
  const size_t from = first * sizeof(T) / page * page;
  const size_t bytes = ((first + count) * sizeof(T) - from + page - 1) / page * page;
  void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, static_cast<off_t>(from));
  if (at == MAP_FAILED) return base::errno_error("cannot map the tables for user stacks (" + std::string(name) + ")", errno);
  memory.mapped = at;
  memory.at = reinterpret_cast<T*>(static_cast<std::byte*>(at) + (first * sizeof(T) - from));
  memory.bytes = bytes;
  return {};
}

base::Result<std::unique_ptr<WalkTables>> WalkTables::open(const MapFd& fd) {
  std::unique_ptr<WalkTables> t(new WalkTables);
  t->rows_ = fd("acu_rows");
  ACU_CHECK(t->map(t->starts_, fd("acu_starts"), "acu_starts", 0, WALK_ROOM_STARTS));
  ACU_CHECK(t->map(t->rules_, fd("acu_rules"), "acu_rules", 0, UNWIND_MOST_RULES));
  ACU_CHECK(t->map(t->mappings_, fd("acu_mappings"), "acu_mappings", 0, WALK_ROOM_MAPPINGS));
  ACU_CHECK(t->map(t->settings_, fd("acu_walk_set"), "acu_walk_set", 0, WALK_SETTINGS));
  ACU_CHECK(t->map(t->languages_, fd("acu_languages"), "acu_languages", 0, LANGUAGE_MAX_TABLES));
  t->processes_ = fd("acu_processes");
  t->note_change();
  for (uint8_t n = 0; n < UNWIND_FIXED_RULES; n++) {
    unwind_rule rule = {};
    rule.cfa = n;
    t->rule_number(rule);
  }
  return t;
}

uint16_t WalkTables::rule_number(const unwind_rule& rule) {
  uint64_t key = 0;
  static_assert(sizeof key == sizeof rule);
  std::memcpy(&key, &rule, sizeof key);
  if (rule.cfa < UNWIND_FIXED_RULES) key = rule.cfa;
  auto at = rule_numbers_.find(key);
  if (at != rule_numbers_.end()) return at->second;
  if (rule_numbers_.size() >= UNWIND_MOST_RULES) return UNWIND_RULE_NOT_HELD; // walked outside
  auto number = static_cast<uint16_t>(rule_numbers_.size());
  rule_numbers_.emplace(key, number);
  rules_.at[number] = rule;
  return number;
}

std::optional<uint32_t> WalkTables::add_file(const unwind::Tables& tables) {
  auto rows = tables.rows();
  auto starts = tables.starts();
  const auto pages = static_cast<uint32_t>(starts.empty() ? 0 : starts.size() - 1);
  auto row = rows_room_.take(static_cast<uint32_t>(rows.size()));
  if (!row) return std::nullopt;
  auto page = starts_room_.take(pages);
  Memory<unwind_row> memory;
  if (!page || !map(memory, rows_, "acu_rows", *row, rows.size()).ok()) {
    if (page) starts_room_.give_back(*page, pages);
    rows_room_.give_back(*row, static_cast<uint32_t>(rows.size()));
    return std::nullopt;
  }
  std::vector<uint16_t> numbers;
  for (const unwind_rule& r : tables.rules()) numbers.push_back(rule_number(r));
  unwind_row* to = memory.at;
  for (const unwind_row& r : rows) *to++ = {r.address, r.rule < numbers.size() ? numbers[r.rule] : uint16_t{UNWIND_RULE_NOT_HELD}};
  for (uint32_t p = 0; p < pages; p++) starts_.at[*page + p] = {*row + starts[p], starts[p + 1] - starts[p]};
  File file = {*row, static_cast<uint32_t>(rows.size()), *page, pages, tables.first_page()};
  if (free_files_.empty()) {
    files_.push_back(file);
    return static_cast<uint32_t>(files_.size() - 1);
  }
  uint32_t number = free_files_.back();
  free_files_.pop_back();
  files_[number] = file;
  return number;
}

void WalkTables::remove_file(uint32_t number) {
  const File& f = files_[number];
  rows_room_.give_back(f.first_row, f.rows);
  starts_room_.give_back(f.first_page, f.pages);
  free_files_.push_back(number);
}

std::optional<uint32_t> WalkTables::add_list(std::span<const Range> ranges, uint32_t language) {
  const auto count = static_cast<uint32_t>(std::min<size_t>(ranges.size(), WALK_MOST_MAPPINGS));
  auto first = mappings_room_.take(count);
  if (!first) return std::nullopt;
  for (uint32_t i = 0; i < count; i++) {
    const Range& r = ranges[i];
    walk_mapping m = {.begin = r.begin, .end = r.end, .bias = r.bias};
    if (r.file != no_file) {
      const File& f = files_[r.file];
      m.first_page = f.page;
      m.pages = f.pages;
      m.starts = f.first_page;
    }
    mappings_.at[*first + i] = m;
  }
  if (free_lists_.empty()) {
    lists_.push_back({*first, count, ++lists_made_, language});
    return static_cast<uint32_t>(lists_.size() - 1);
  }
  uint32_t number = free_lists_.back();
  free_lists_.pop_back();
  lists_[number] = {*first, count, ++lists_made_, language};
  return number;
}

void WalkTables::remove_list(uint32_t number) {
  mappings_room_.give_back(lists_[number].first, lists_[number].count);
  free_lists_.push_back(number);
}

std::optional<uint32_t> WalkTables::add_language(const language_table& table) {
  auto number = languages_room_.take(1);
  if (number) languages_.at[*number] = table;
  return number;
}

void WalkTables::remove_language(uint32_t number) { languages_room_.give_back(number, 1); }

bool WalkTables::set_process(uint32_t pid, uint32_t list) {
  __atomic_thread_fence(__ATOMIC_RELEASE);
  walk_process entry = {.first = lists_[list].first, .count = lists_[list].count, .list = lists_[list].made, .language = lists_[list].language};
  const bool has_room = map_update(processes_, &pid, &entry) == 0;
  note_change();
  return has_room;
}

void WalkTables::remove_process(uint32_t pid) {
  map_delete(processes_, &pid);
  note_change();
}

void WalkTables::note_change() { __atomic_fetch_add(&settings_.at[WALK_SET_CHANGES], 1, __ATOMIC_RELEASE); }

bool WalkTables::has_process(uint32_t pid) const {
  walk_process entry;
  return map_lookup(processes_, &pid, &entry) == 0 && entry.count;
}

void WalkTables::set(uint32_t which, uint64_t value) { settings_.at[which] = value; }

} // namespace bpf
