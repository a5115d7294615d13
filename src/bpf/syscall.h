// bpf(2), one thin function for each command that acu uses. Each returns what the kernel returns: a
// descriptor or 0, or the negative errno. Callers turn that into sentences, since only they know what was
// wanted.
//
// Attributes are handed over no longer than the command needs, so that kernels older than the headers this
// was compiled with take them, and no time goes into clearing the rest. Specification: bpf(2),
// include/uapi/linux/bpf.h.
#pragma once

#include "base/fd.h"

#include <cstddef>
#include <cstdint>
#include <linux/bpf.h>
#include <span>
#include <string>
#include <string_view>

namespace bpf {

struct MapCreate {
  bpf_map_type type = BPF_MAP_TYPE_ARRAY;
  uint32_t key_size = 4;
  uint32_t value_size = 8;
  uint32_t max_entries = 1;
  uint32_t flags = 0;
  std::string_view name; // any text: see object_name
  int btf_fd = -1;       // with the types of key and value, where the kind of map wants them
  uint32_t key_type = 0;
  uint32_t value_type = 0;
};
int map_create(const MapCreate& map);

int map_lookup(int map, const void* key, void* value);
int map_update(int map, const void* key, const void* value, uint64_t flags = BPF_ANY);
int map_delete(int map, const void* key);
// `key` nullptr: the first key. -ENOENT: there is no next one.
int map_next_key(int map, const void* key, void* next);
int map_freeze(int map);

// One step of a batch over a hash map. `in` is nullptr for the first step, then what `out` (4 bytes) was set
// to. `count`: room for entries, then entries done. -ENOENT ends the walk (entries were still given);
// -ENOSPC: there is no room for one bucket.
struct Batch {
  const void* in = nullptr;
  void* out = nullptr;
  void* keys = nullptr;
  void* values = nullptr;
  uint32_t count = 0;
};
int map_lookup_batch(int map, Batch& batch);
int map_lookup_and_delete_batch(int map, Batch& batch);

struct ProgramLoad {
  bpf_prog_type type = BPF_PROG_TYPE_RAW_TRACEPOINT;
  uint32_t attach_type = 0;
  uint32_t flags = 0;
  std::span<const bpf_insn> insns;
  const char* license = "GPL";
  std::string_view name;
  uint32_t attach_btf_id = 0; // of the kernel's own types, or of attach_btf_fd
  int attach_btf_fd = -1;     // types of a module
  int btf_fd = -1;
  std::span<const bpf_func_info> functions; // with btf_fd
  std::span<const bpf_line_info> lines;     // with btf_fd
  std::span<char> log;                      // empty: no log
  uint32_t log_level = 1;                   // 2: each instruction also of a program that is in order
};
int program_load(const ProgramLoad& program);

// Runs a raw tracepoint or system call program without a context once, on this CPU. 0, or the negative errno;
// `result` is what it returns.
int program_run(int program, int32_t& result);
int program_info(int program, bpf_prog_info& info);
// The loaded program with the next larger ID, of any process. -ENOENT: there is none.
int next_program(uint32_t after, uint32_t& id);
// A descriptor of the program with this ID.
int open_program(uint32_t id);
// While the descriptor is open the kernel measures how long programs run, which costs some 40 ns each time (Linux 5.8;
// needs CAP_SYS_ADMIN). Invalid: it does not.
base::Fd measure_run_times();

// The types of a loaded module; invalid: it has none.
base::Fd module_types(std::string_view module);
int btf_load(std::span<const std::byte> types, std::span<char> log = {});
// name: of the tracepoint; nullptr for typed programs, which know theirs.
int raw_tracepoint_open(const char* name, int program);
int link_create(int program, int target, bpf_attach_type type);
int iterator_create(int link);

// A name the kernel takes: letters, digits, `_` and `.`, at most 15 of them; others become `_`.
std::string object_name(std::string_view text);

} // namespace bpf
