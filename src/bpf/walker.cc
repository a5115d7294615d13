#include "bpf/walker.h"

#include "bpf/map_io.h"
#include "bpf/syscall.h"
#include "host/cpus.h"

#include <cstddef>
#include <cstring>
#include <numeric>
#include <utility>

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
  w->known_fd_ = fd("acu_walk_known");
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
  if (knows(stack.id)) return;
  std::vector<uint64_t> frames(stack.words, stack.words + stack.count);
  if ((stack.native < stack.count || stack.mixed) && hooks_.splice) {
    const std::span<const uint64_t> words = frames;
    Spliced spliced = hooks_.splice(stack.pid, stack.language, {words.first(stack.native), words.subspan(stack.native), stack.is_cut != 0});
    const auto [first, is_first] = meanings_.try_emplace(spliced.meaning, stack.id);
    if (!is_first && knows(first->second)) return add_alias(stack.id, first->second);
    first->second = stack.id;
    frames = std::move(spliced.words);
  } else {
    frames.resize(stack.native);
  }
  const auto& kept = stacks_.words[stack.id] = std::move(frames);
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
  if (!knows(id)) {
    const auto& kept = stacks_.words[id] = std::move(walked.addresses);
    if (hooks_.seen) hooks_.seen(copy.pid, id, kept, copy.time);
  }
  add_alias(copy.id, id);
}

// Whether it was seen; from now on it belongs to this generation.
bool Walker::knows(uint64_t id) {
  if (stacks_.words.contains(id)) return true;
  if (auto at = older_.words.find(id); at != older_.words.end()) {
    stacks_.words.insert(older_.words.extract(at));
    return true;
  }
  const auto alias = stacks_.aliases.find(id);
  return alias != stacks_.aliases.end() && knows(alias->second);
}

void Walker::add_alias(uint64_t id, uint64_t first) {
  if (stacks_.aliases.size() >= most_aliases) {
    stacks_.aliases.erase(stacks_.alias_order.front());
    stacks_.alias_order.pop_front();
  }
  stacks_.aliases[id] = first;
  stacks_.alias_order.push_back(id);
}

// Where that fails, what is lost for want of room is counted.
void Walker::forget_sent() {
  [[maybe_unused]] auto cleared = clear_hash({.fd = ids_fd_, .key_size = 8, .value_size = 8});
}

// First the kernel forgets which ones it has sent, then those of them that it would not even look for.
base::Status Walker::begin_generation() {
  drain();
  if (hooks_.gone)
    for (const auto& [id, words] : older_.words) hooks_.gone(id);
  older_ = std::exchange(stacks_, {});
  std::erase_if(meanings_, [&](const auto& meaning) { return !older_.words.contains(meaning.second); });
  ACU_CHECK(clear_hash({.fd = ids_fd_, .key_size = 8, .value_size = 8}));
  return clear_scalar({.fd = known_fd_, .value_size = 8 * WALK_KNOWN});
}

uint64_t Walker::same(uint64_t id) const {
  for (const Stacks* stacks : {&stacks_, &older_})
    if (auto at = stacks->aliases.find(id); at != stacks->aliases.end()) return at->second;
  return id;
}

// A record may have been sent before what it is about was taken from here.
std::span<const uint64_t> Walker::find(uint64_t id) {
  const auto words_of = [&]() -> const std::vector<uint64_t>* {
    const uint64_t first = same(id);
    for (const Stacks* stacks : {&stacks_, &older_})
      if (auto at = stacks->words.find(first); at != stacks->words.end()) return &at->second;
    return nullptr;
  };
  const std::vector<uint64_t>* words = words_of();
  if (!words) {
    drain();
    words = words_of();
  }
  return words ? std::span<const uint64_t>(*words) : std::span<const uint64_t>();
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
