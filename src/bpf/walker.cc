#include "bpf/walker.h"

#include "bpf/map_io.h"
#include "bpf/syscall.h"
#include "host/cpus.h"

#include <cstddef>
#include <cstring>
#include <numeric>

namespace bpf {

namespace {

// The other ids of stacks: the oldest are forgotten first, as they are no longer in the script's maps, as a rule.
constexpr size_t most_aliases = 1 << 20;

// As `mix` of lib/unwind.bpf.c.
uint64_t mix(uint64_t hash, uint64_t frame) {
  hash = (hash ^ frame) * 0x9e3779b97f4a7c15;
  return hash ^ hash >> 32;
}

} // namespace

base::Result<std::unique_ptr<Walker>> Walker::open(const WalkTables::MapFd& fd, uint32_t ring_bytes, Languages languages) {
  std::unique_ptr<Walker> w(new Walker);
  w->languages_ = languages;
  ACU_TRY(w->tables_, WalkTables::open(fd));
  ACU_TRY(w->ring_, Ring::open(fd("acu_walked"), ring_bytes));
  w->counts_fd_ = fd("acu_walk_counts");
  w->ids_fd_ = fd("acu_walk_ids");
  return w;
}

base::Status Walker::need_language(uint32_t kind) {
  if (languages_ & only(kind)) return {};
  if (const auto known = refused_.find(kind); known != refused_.end()) return known->second;
  for (auto& [owner, add] : users_)
    if (auto added = add(only(kind)); !added.ok()) return refused_.try_emplace(kind, std::move(added)).first->second;
  languages_ |= only(kind);
  return {};
}

size_t Walker::drain() {
  return ring_->drain([this](std::span<const std::byte> record) { take(record); });
}

void Walker::take(std::span<const std::byte> record) {
  uint32_t kind = 0;
  if (record.size() < sizeof kind) return;
  std::memcpy(&kind, record.data(), sizeof kind);
  if (kind == WALK_RECORD_COPY) return take_copy(record);
  if (kind == WALK_RECORD_OBJECT) return take_object(record);
  walk_stack stack;
  constexpr size_t header = offsetof(walk_stack, words);
  if (kind != WALK_RECORD_STACK || record.size() < header || record.size() > sizeof stack) return;
  std::memcpy(&stack, record.data(), record.size());
  if (header + 8 * stack.count > record.size() || stack.native > stack.count) return;
  if (stacks_.contains(stack.id) || aliases_.contains(stack.id)) return;
  std::vector<uint64_t> frames(stack.words, stack.words + stack.count);
  if ((stack.native < stack.count || stack.mixed) && hooks_.splice) {
    const std::span<const uint64_t> words = frames;
    Spliced spliced = hooks_.splice(stack.pid, stack.language, {words.first(stack.native), words.subspan(stack.native), stack.is_cut != 0});
    const auto [first, is_first] = meanings_.try_emplace(spliced.meaning, stack.id);
    if (!is_first) return add_alias(stack.id, first->second);
    frames = std::move(spliced.words);
  } else {
    frames.resize(stack.native);
  }
  const auto& kept = stacks_[stack.id] = std::move(frames);
  if (hooks_.seen) hooks_.seen(stack.pid, stack.id, kept, stack.time);
}

void Walker::take_object(std::span<const std::byte> record) {
  if (record.size() < sizeof(walk_object) || !hooks_.object) return;
  const auto& object = *reinterpret_cast<const walk_object*>(record.data()); // records of a ring are aligned to 8
  hooks_.object(object.pid, object.object);
}

void Walker::take_copy(std::span<const std::byte> record) {
  if (record.size() < sizeof(walk_copy) || !hooks_.walk) return;
  const auto& copy = *reinterpret_cast<const walk_copy*>(record.data()); // records of a ring are aligned to 8
  Frames walked = hooks_.walk(copy);
  if (walked.end == UNWIND_TOO_DEEP && copy.limit < WALK_MOST_FRAMES) walked.end = UNWIND_COMPLETE;
  if (walked.end < WALK_ENDS) ends_outside_[walked.end]++;
  if (walked.end != UNWIND_COMPLETE) walked.addresses.push_back(STACK_END | walked.end);
  uint64_t hash = copy.seed;
  for (uint64_t frame : walked.addresses) hash = mix(hash, frame);
  const uint64_t id = hash | 1;
  auto [at, is_new] = stacks_.try_emplace(id, std::move(walked.addresses));
  if (is_new && hooks_.seen) hooks_.seen(copy.pid, id, at->second, copy.time);
  add_alias(copy.id, id);
}

void Walker::add_alias(uint64_t id, uint64_t first) {
  if (aliases_.size() >= most_aliases) {
    aliases_.erase(alias_order_.front());
    alias_order_.pop_front();
  }
  aliases_[id] = first;
  alias_order_.push_back(id);
}

// Where that fails, what is lost for want of room is counted.
void Walker::forget_sent() {
  [[maybe_unused]] auto cleared = clear_hash({.fd = ids_fd_, .key_size = 8, .value_size = 8});
}

uint64_t Walker::same(uint64_t id) const {
  auto at = aliases_.find(id);
  return at == aliases_.end() ? id : at->second;
}

// A record may have been sent before what it is about was taken from here.
std::span<const uint64_t> Walker::find(uint64_t id) {
  auto at = stacks_.find(same(id));
  if (at == stacks_.end()) {
    drain();
    at = stacks_.find(same(id));
  }
  return at == stacks_.end() ? std::span<const uint64_t>() : std::span<const uint64_t>(at->second);
}

uint64_t Walker::Counts::all() const { return std::accumulate(ends.begin(), ends.end(), uint64_t{0}); }

Walker::Counts Walker::counts() const {
  std::vector<uint64_t> values(host::possible_cpus());
  auto sum = [&](uint32_t which) {
    if (map_lookup(counts_fd_, &which, values.data()) != 0) return uint64_t{0};
    return std::accumulate(values.begin(), values.end(), uint64_t{0});
  };
  Counts c;
  for (uint32_t end = 0; end < WALK_ENDS; end++) c.ends[end] = sum(end) + ends_outside_[end];
  c.copied = sum(WALK_COUNT_COPIED);
  c.not_copied = sum(WALK_COUNT_NOT_COPIED);
  c.ring_full = sum(WALK_COUNT_RING_FULL);
  c.no_room = sum(WALK_COUNT_NO_ROOM);
  c.objects_lost = sum(WALK_COUNT_OBJECT_LOST);
  for (uint32_t end = 0; end < LANGUAGE_ENDS; end++) c.languages[end] = sum(WALK_COUNT_LANGUAGE + end);
  return c;
}

} // namespace bpf
