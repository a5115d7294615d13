// What the emitter makes and the loader takes: kernel programs with their maps, before any descriptor exists.
#pragma once

#include "base/source.h"
#include "bpf/language_walkers.h"
#include "ir/passes.h"

#include <cstddef>
#include <cstdint>
#include <linux/bpf.h>
#include <string>
#include <vector>

namespace bpf {

// A map to create. The maps of the script come first, in the order of ir::Program::maps.
struct MapSpec {
  std::string name;
  uint32_t type = BPF_MAP_TYPE_ARRAY;
  uint32_t key_size = 4;
  uint32_t value_size = 8;
  uint32_t max_entries = 1;
  uint32_t flags = 0;
  std::vector<std::byte> content; // read-only data: written, then frozen
  bool needs_btf = false;         // task storage: needs types of key (int) and value (array of u64)
};

// ld_imm64 at `insn` gets the descriptor of map `map`, or the address of its value plus the immediate that stands in
// its first half.
struct Relocation {
  uint32_t insn = 0;
  uint32_t map = 0;
  bool value_address = false;
};

// A function inside a program (the entry, or one that is called or called back).
struct FunctionInfo {
  uint32_t insn = 0;
  std::string name;
  uint32_t parameters = 0;
  bool is_global = false; // verified once, for all numbers
};

// Instructions from `insn` on come from this place of the script.
struct LineInfo {
  uint32_t insn = 0;
  base::Range where;
};

// One program for the kernel; the i-th belongs to the i-th ir::Probe.
struct Code {
  std::string name;
  std::vector<bpf_insn> insns;
  std::vector<Relocation> relocations;
  std::vector<FunctionInfo> functions; // ascending; the first at 0
  std::vector<LineInfo> lines;         // ascending
  bool has_callbacks = false;          // the kernel then wants function types (BTF)
  bool leaves_out_walkers = false;     // of EmitOptions::languages: it may be exchanged for one that has them
};

// The shared state of all programs, one mmap-able array of u64 (MapSpec "acu_state"), by index. Behind the counters
// stand bytes that are always 0: programs initialise new map values from them.
enum State : uint32_t {
  state_lost_events, // ring full
  state_scratch_busy,
  state_stacks_full, // a stack was not kept: no room in the table
  state_stacks_busy, // a stack was not taken or not kept: no memory at hand
  state_lost_exit,   // not 0: an exit() found the ring full; 1 + the index of its action
  state_first_counter, // then map_full of each script map, then each site
};

struct Object {
  std::vector<MapSpec> maps;
  std::vector<Code> programs;
  std::vector<int> hot; // by map of the script: the map of its hot keys (hot_keys.h), or -1
  // Indices of maps that serve the programs, or -1 where none is needed.
  int state = -1;
  int ring = -1;
  int flight_cursors = -1, flight_ring = -1; // arrays: flight_ring.h
  int scratch = -1; // per-CPU array: entries are slots {u64 busy, bytes}
  int packets = -1; // perf event array, by CPU
  int stacks = -1;  // hash: u64 id -> {u64 count, u64 frames[]}
  int frames = -1;  // per-CPU array: where stacks are taken, entries are slots {u64 busy, u64 count, u64 frames[]}
  int known = -1;   // array: ids that are in `stacks`, by some of their bits
  bool walks = false; // user stacks are walked by tables: the maps of walk_maps.h are there
  std::vector<Code> watchers; // programs on raw tracepoints of their names that follow processes for these walks
  int places = -1;  // hash: address of a function of the kernel ^ index of the probe << 48 -> cookie
  uint32_t ring_bytes = 0;
};

// Of functions that are cut for the verifier (pieces.h), in its work (work_of()).
struct PieceSizes {
  size_t longest_function = 1000; // a longer one is cut
  size_t piece = 500;             // about
  bool operator==(const PieceSizes&) const = default;
};
inline constexpr PieceSizes rarely_cut = {ir::long_function, 500}; // where each event counts more than the start
inline constexpr PieceSizes often_cut = {48, 32}; // where conditions that are kept and tested again make too many ways through a short function

struct EmitOptions {
  uint32_t possible_cpus = 1;
  uint32_t ring_bytes = 1 << 20;
  uint32_t flight_bytes = 1 << 20; // of each CPU's ring of records that are overwritten (flight_ring.h), a power of two
  uint32_t flight_cpus = 1;        // that have such rings; what others send is lost
  bool has_loop = true;            // bpf_loop (5.17); else loops are bounded and walked by the verifier
  bool has_for_each = true;        // bpf_for_each_map_elem (5.13)
  bool has_lookup_percpu = true;   // bpf_map_lookup_percpu_elem (5.19)
  bool has_boot_clock = true;      // ktime_get_boot_ns (5.8)
  bool has_tai_clock = true;       // ktime_get_tai_ns (6.1)
  bool has_cookie = true;          // get_attach_cookie (5.15)
  bool has_current_task = true;    // get_current_task_btf (5.11); else its members are read as other memory is
  // By probe: the kernel tells no cookies by what it is attached by; the address of the function is looked up instead,
  // in Object::places.
  std::vector<bool> by_address;
  bool preallocate = false;        // kernels before 6.1: programs must not allocate entries of maps
  bool has_cmpxchg = true;         // atomic compare and exchange (5.12)
  bool has_task_registers = false; // the registers of the current task as it entered the kernel (5.15)
  int32_t registers_at = 0;        // where they are, from the lowest byte of its kernel stack; 0: the kernel is asked
  PieceSizes pieces;
  Languages languages = all_languages; // that are walked in user stacks
};

// Machine code for every probe of a verified program. Fails only where the kernel cannot do what the program needs.
base::Result<Object> emit(const ir::Program& program, const EmitOptions& options);

// --dump bpf: instructions with their registers, jumps, helper names, maps and script lines.
std::string to_string(const Object& object, const base::Source& source);

} // namespace bpf
