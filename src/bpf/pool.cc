// The maps of an Object: those of the script, and those that serve its programs.
//
// Hash maps can have room for all their entries from the start, or get it entry by entry. The first costs
// time: a per-CPU map of 4,096 counters 1.4 ms on two CPUs, of histograms 3 ms; a plain map of a million counters
// 20 ms instead of 10, but then a new key takes 0.4 us instead of 0.8. The second may fail: the kernel fills its
// stock of free entries by an interrupt, so that where interrupts are off (the scheduler's tracepoints, timers) a
// program that makes several entries in one run finds only the first. System calls have interrupts on; samples are
// far apart.
#include "bpf/emit.h"

#include "bpf/failure.h"
#include "bpf/flight_ring.h"
#include "bpf/hot_keys.h"
#include "bpf/walk_maps.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace bpf {

using ir::MapKind;
using ir::Op;

static constexpr uint32_t largest_made_early = 64 << 20; // bytes
static constexpr uint64_t largest_made_at_once = 1 << 20; // bytes; more takes milliseconds
static constexpr uint64_t bytes_of_kernel = 48;           // that it adds to each entry
static constexpr uint32_t many_keys = 1 << 18; // who makes room for so many expects them
static constexpr uint64_t largest_many = 128 << 20; // bytes
static constexpr uint64_t largest_shared = 2048; // bytes of a value: the kernel's stock has entries up to 4096

static uint32_t map_type(MapKind kind) {
  switch (kind) {
  case MapKind::array: return BPF_MAP_TYPE_ARRAY;
  case MapKind::percpu_array: return BPF_MAP_TYPE_PERCPU_ARRAY;
  case MapKind::hash: return BPF_MAP_TYPE_HASH;
  case MapKind::percpu_hash: return BPF_MAP_TYPE_PERCPU_HASH;
  case MapKind::lru_hash: return BPF_MAP_TYPE_LRU_HASH;
  case MapKind::percpu_lru_hash: return BPF_MAP_TYPE_LRU_PERCPU_HASH;
  case MapKind::task: return BPF_MAP_TYPE_TASK_STORAGE;
  }
  return BPF_MAP_TYPE_HASH;
}

// Do the events of this probe happen with interrupts on?
static bool has_interrupts(const ir::Program& program, const ir::Probe& probe) {
  return std::all_of(probe.events.begin(), probe.events.end(), [&](uint32_t e) {
    const probe::Event& event = program.events[e];
    return probe.context == probe::Context::none || event.syscall >= 0 || event.event == "sys_enter" ||
           event.event == "sys_exit";
  });
}

// Do runs of this probe stand far enough apart for the stock to be filled between them?
static bool is_paced(const ir::Program& program, const ir::Probe& probe) {
  return std::all_of(probe.events.begin(), probe.events.end(),
                     [&](uint32_t e) { return program.events[e].kind == probe::Kind::profile; });
}

// Which maps get entries where interrupts are off, so that the second one would not be made; behind the last map:
// whether stacks are kept there.
static std::vector<bool> find_made_at_once(const ir::Program& program) {
  const size_t stacks = program.maps.size();
  std::vector<bool> found(stacks + 1, false);
  for (const ir::Probe& probe : program.probes) {
    if (has_interrupts(program, probe)) continue;
    std::vector<uint32_t> made(found.size(), 0); // entries in one run
    bool repeats = false;
    for (const uint32_t f : find_reached(program, probe.function))
      for (const ir::Block& b : program.functions[f].blocks)
        for (const ir::Inst& i : b.insts) {
          if (i.op == Op::map_slot || i.op == Op::map_store) made[i.index]++;
          if (i.op == Op::stack && i.index != ir::walked_stack) made[stacks]++;
          repeats |= i.op == Op::loop || i.op == Op::for_each || i.op == Op::call;
        }
    const uint32_t most = is_paced(program, probe) && !repeats ? 1 : 0;
    for (size_t m = 0; m < made.size(); m++) found[m] = found[m] || made[m] > most;
  }
  return found;
}

// Does the kernel take every program if each per-CPU hash map is two maps? It allows a program 64, of which acu itself needs some.
static bool has_room_for_hot_maps(const ir::Program& program) {
  constexpr size_t most = most_maps_of_program - 16;
  if (2 * program.maps.size() <= most) return true;
  return std::ranges::all_of(program.probes, [&](const ir::Probe& probe) {
    std::vector<bool> is_named(program.maps.size(), false);
    for (const uint32_t f : find_reached(program, probe.function))
      for (const ir::Block& b : program.functions[f].blocks)
        for (const ir::Inst& i : b.insts)
          if ((i.op >= Op::map_find && i.op <= Op::map_size) || i.op == Op::for_each) is_named[i.index] = true;
    size_t maps = 0;
    for (size_t m = 0; m < is_named.size(); m++)
      if (is_named[m]) maps += program.maps[m].kind == MapKind::percpu_hash ? 2 : 1;
    return maps <= most;
  });
}

// Is it kept as a plain map and one of hot keys? Not where all entries must be made early: then new keys cost little anyway.
bool Pool::has_hot_keys(const ir::Map& map) const {
  // Of a program in pieces the verifier would walk both ways to a key for each of its statements.
  // Cells, which histograms have there, are not read by programs.
  return !is_cut_ && has_room_for_hot_maps_ && map.kind == MapKind::percpu_hash && !options.preallocate && !map.reads_buckets &&
         shared_value_size(map, options.possible_cpus) <= largest_shared;
}

// The longest chain of functions that call each other, of those that have objects; bodies of loops use their function's memory.
// What calls itself is refused later.
static uint32_t deepest_chain(const ir::Program& program, uint32_t function, std::vector<uint32_t>& known) {
  if (known[function]) return known[function];
  known[function] = 1;
  uint32_t below = 0;
  for (const uint32_t c : find_callees(program.functions[function])) below = std::max(below, deepest_chain(program, c, known));
  const ir::Function& f = program.functions[function];
  return known[function] = below + (f.role != ir::Role::body && !program.frames[f.frame].objects.empty());
}

static uint32_t count_slots(const ir::Program& program) {
  if (program.functions.size() == 1) return scratch_slots;
  std::vector<uint32_t> known(program.functions.size());
  uint32_t deepest = 1;
  for (const ir::Probe& p : program.probes) deepest = std::max(deepest, deepest_chain(program, p.function, known));
  return scratch_slots - 1 + deepest;
}

Pool::Pool(const ir::Program& p, const EmitOptions& o)
    : program(p), options(o), is_cut_(std::ranges::any_of(p.functions, is_piece)), slots_(count_slots(p)), has_room_for_hot_maps_(has_room_for_hot_maps(p)) {
  // Room for some of the largest records; each has a header of 8 bytes.
  for (const ir::Action& a : program.actions) largest_record_ = std::max(largest_record_, a.record_size());
  if (program.speculations != ~0u)
    largest_record_ = std::max(largest_record_, program.maps[program.speculations].value_size);
  const uint32_t room = program.actions.empty() ? 0 : largest_record_ + 8;
  object.ring_bytes = std::bit_ceil(std::max({4096u, options.ring_bytes, 4 * room}));
  add_script_maps();
  for (const ir::Function& f : program.functions)
    for (const ir::Block& b : f.blocks)
      for (const ir::Inst& i : b.insts)
        if (i.op == Op::stack && i.index != ir::walked_stack)
          stack_frames_ = std::max(stack_frames_, static_cast<uint32_t>(bpf::stack_frames(i)));
  uint32_t largest = 8;
  for (const MapSpec& map : object.maps)
    if (map.type != BPF_MAP_TYPE_ARRAY && map.type != BPF_MAP_TYPE_PERCPU_ARRAY) largest = std::max(largest, map.value_size);
  zeroes_ = 8 * site_counter(static_cast<uint32_t>(program.sites.size()));
  object.state =
      static_cast<int>(add({.name = "acu_state", .value_size = zeroes_ + largest, .flags = BPF_F_MMAPABLE}));
}

uint32_t Pool::site_counter(uint32_t site) const {
  return state_first_counter + static_cast<uint32_t>(program.maps.size()) + site;
}

uint32_t Pool::add(MapSpec spec) {
  object.maps.push_back(std::move(spec));
  return static_cast<uint32_t>(object.maps.size() - 1);
}

void Pool::add_script_maps() {
  const std::vector<bool> made_at_once = find_made_at_once(program);
  stacks_at_once_ = options.preallocate || made_at_once.back();
  for (const ir::Map& m : program.maps) {
    MapSpec spec{
        .name = m.name.empty() ? "at" : m.name, .type = map_type(m.kind), .value_size = m.value_size};
    if (!ir::is_scalar(m.kind)) {
      spec.key_size = m.key_size;
      spec.max_entries = static_cast<uint32_t>(std::min<uint64_t>(m.max_entries, 1u << 31));
    }
    if (has_hot_keys(m)) {
      spec.type = BPF_MAP_TYPE_HASH;
      spec.value_size = static_cast<uint32_t>(shared_value_size(m, options.possible_cpus));
    }
    const bool is_plain = m.kind == MapKind::hash || m.kind == MapKind::percpu_hash;
    const uint64_t room = spec.max_entries * (uint64_t{spec.value_size} + m.key_size);
    const bool has_many = spec.type == BPF_MAP_TYPE_HASH && spec.max_entries >= many_keys;
    const uint64_t most_room = has_many ? largest_many : largest_made_early;
    const bool at_once = options.preallocate || has_many || m.has_room_at_once || made_at_once[object.maps.size()];
    if (is_plain && (room > most_room ||
                     (!at_once && (ir::is_percpu(m.kind) || room + spec.max_entries * bytes_of_kernel > largest_made_at_once))))
      spec.flags = BPF_F_NO_PREALLOC;
    if (m.kind == MapKind::task) {
      spec.key_size = 4;
      spec.max_entries = 0;
      spec.flags = BPF_F_NO_PREALLOC;
      spec.needs_btf = true;
    }
    add(std::move(spec));
  }
  for (uint32_t m = 0; m < program.maps.size(); m++) add_hot_map(m, made_at_once[m]);
}

// A histogram whose cells are full must find room here. Others find it as far as that costs little.
void Pool::add_hot_map(uint32_t map, bool at_once) {
  const ir::Map& m = program.maps[map];
  object.hot.push_back(-1);
  if (!has_hot_keys(m)) return;
  MapSpec spec{.name = "acu_hot", .type = map_type(m.kind), .key_size = m.key_size, .value_size = m.value_size};
  const uint32_t most = object.maps[map].max_entries;
  spec.max_entries = has_cells(m) ? most : most_hot_keys(most);
  const bool is_early = at_once && has_cells(m) && most * (uint64_t{m.value_size} + m.key_size) <= largest_made_early;
  if (!is_early) spec.flags = BPF_F_NO_PREALLOC;
  object.hot.back() = static_cast<int>(add(std::move(spec)));
}

uint32_t Pool::ring() {
  if (object.ring < 0)
    object.ring = static_cast<int>(add({.name = "acu_ring",
                                        .type = BPF_MAP_TYPE_RINGBUF,
                                        .key_size = 0,
                                        .value_size = 0,
                                        .max_entries = object.ring_bytes}));
  return static_cast<uint32_t>(object.ring);
}

uint32_t Pool::flight_cursors() {
  if (object.flight_cursors < 0)
    object.flight_cursors = static_cast<int>(
        add({.name = "acu_cursors", .value_size = flight_cursor_bytes(program.actions.size()), .max_entries = options.flight_cpus, .flags = BPF_F_MMAPABLE}));
  return static_cast<uint32_t>(object.flight_cursors);
}

uint32_t Pool::flight_ring() {
  if (object.flight_ring < 0)
    object.flight_ring = static_cast<int>(add({.name = "acu_flight",
                                               .value_size = flight_segment,
                                               .max_entries = options.flight_cpus * (options.flight_bytes / flight_segment),
                                               .flags = BPF_F_MMAPABLE}));
  return static_cast<uint32_t>(object.flight_ring);
}

uint32_t Pool::scratch(uint32_t bytes) {
  if (object.scratch < 0)
    object.scratch = static_cast<int>(
        add({.name = "acu_scratch", .type = BPF_MAP_TYPE_PERCPU_ARRAY, .max_entries = slots_}));
  MapSpec& spec = object.maps[static_cast<uint32_t>(object.scratch)];
  spec.value_size = std::max(spec.value_size, bytes);
  return static_cast<uint32_t>(object.scratch);
}

uint32_t Pool::packets() {
  if (object.packets < 0)
    object.packets = static_cast<int>(add({.name = "acu_packets",
                                           .type = BPF_MAP_TYPE_PERF_EVENT_ARRAY,
                                           .value_size = 4,
                                           .max_entries = options.possible_cpus}));
  return static_cast<uint32_t>(object.packets);
}

// An entry for each CPU's program, and some for all that interrupt those.
uint32_t Pool::large_scratch(uint32_t bytes) {
  if (large_scratch_ < 0)
    large_scratch_ = static_cast<int>(
        add({.name = "acu_large", .max_entries = options.possible_cpus + slots_ - 1}));
  MapSpec& spec = object.maps[static_cast<uint32_t>(large_scratch_)];
  spec.value_size = std::max(spec.value_size, bytes);
  return static_cast<uint32_t>(large_scratch_);
}

// Those of the user are kept elsewhere where they are walked; the kernel has fewer different ones, of a kilobyte each.
static uint32_t kernel_stacks(const ir::Program& program) {
  constexpr uint32_t few = 16384;
  return program.walks_stacks ? std::min(program.max_stacks, std::max(few, program.max_stacks / 4)) : program.max_stacks;
}

uint32_t Pool::stacks() {
  if (object.stacks < 0)
    object.stacks = static_cast<int>(add({.name = "acu_stacks",
                                          .type = BPF_MAP_TYPE_HASH,
                                          .key_size = 8,
                                          .value_size = 8 + 8 * stack_frames_,
                                          .max_entries = kernel_stacks(program),
                                          .flags = stacks_at_once_ ? 0u : uint32_t{BPF_F_NO_PREALLOC}}));
  return static_cast<uint32_t>(object.stacks);
}

uint32_t Pool::frames() {
  const uint32_t words = 2 + std::max(stack_frames_, 3u); // room for the record ir::process_seen
  if (object.frames < 0)
    object.frames = static_cast<int>(add({.name = "acu_frames",
                                          .type = BPF_MAP_TYPE_PERCPU_ARRAY,
                                          .value_size = 8 * words,
                                          .max_entries = scratch_slots}));
  return static_cast<uint32_t>(object.frames);
}

uint32_t Pool::random() {
  if (random_ < 0) random_ = static_cast<int>(add({.name = "acu_random", .type = BPF_MAP_TYPE_PERCPU_ARRAY, .value_size = 8, .max_entries = 1}));
  return static_cast<uint32_t>(random_);
}

uint32_t Pool::known() {
  if (object.known < 0) object.known = static_cast<int>(add({.name = "acu_known", .value_size = 8 * known_stacks}));
  return static_cast<uint32_t>(object.known);
}

uint32_t Pool::walk_map(std::string_view name) {
  object.walks = true;
  for (size_t i = program.maps.size(); i < object.maps.size(); i++)
    if (object.maps[i].name == name) return static_cast<uint32_t>(i);
  return add(walk_map_spec(name, program, options));
}

Relocation Pool::walk_reference(std::string_view name) {
  const uint32_t map = walk_map(name);
  const MapSpec& spec = object.maps[map];
  return {.map = map, .value_address = spec.type == BPF_MAP_TYPE_ARRAY && spec.max_entries == 1};
}

// With 0 to 4 addresses for a place: names may be there several times.
uint32_t Pool::places() {
  uint32_t events = 1;
  for (const ir::Probe& p : program.probes) events += static_cast<uint32_t>(p.events.size());
  if (object.places < 0)
    object.places = static_cast<int>(
        add({.name = "acu_places", .type = BPF_MAP_TYPE_HASH, .key_size = 8, .value_size = 8, .max_entries = events * 4}));
  return static_cast<uint32_t>(object.places);
}

uint32_t Pool::tables() {
  if (tables_ >= 0) return static_cast<uint32_t>(tables_);
  std::vector<std::byte> content(table_offset(static_cast<uint32_t>(program.tables.size())));
  size_t at = 0;
  for (const auto& table : program.tables) {
    std::memcpy(content.data() + at, table.data(), 4 * table.size());
    at += 4 * table.size();
  }
  content.resize(std::max<size_t>(8, content.size()));
  MapSpec spec{
      .name = "acu_tables", .value_size = static_cast<uint32_t>(content.size()), .flags = BPF_F_RDONLY_PROG};
  spec.content = std::move(content);
  tables_ = static_cast<int>(add(std::move(spec)));
  return static_cast<uint32_t>(tables_);
}

uint32_t Pool::table_offset(uint32_t table) const {
  size_t words = 0;
  for (uint32_t t = 0; t < table; t++) words += program.tables[t].size();
  return static_cast<uint32_t>(4 * words);
}

} // namespace bpf
