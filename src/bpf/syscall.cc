// The commands of bpf(2). See syscall.h.
#include "bpf/syscall.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/syscall.h>
#include <unistd.h>

namespace bpf {
namespace {

uint64_t address(const void* p) { return reinterpret_cast<uintptr_t>(p); }

// The kernel takes attributes of any length; what it knows beyond them is zero.
#define ACU_ATTR_END(member) (offsetof(bpf_attr, member) + sizeof(bpf_attr::member))

// The attributes of one command, cleared up to the length used.
struct Attr {
  explicit Attr(size_t length) : size(length) { std::memset(&attr, 0, length); }
  int call(bpf_cmd command) {
    long result = ::syscall(SYS_bpf, command, &attr, size);
    return result < 0 ? -errno : static_cast<int>(result);
  }
  bpf_attr attr;
  size_t size;
};

void set_name(char (&to)[BPF_OBJ_NAME_LEN], std::string_view text) {
  std::string name = object_name(text);
  std::memcpy(to, name.data(), name.size());
}

int element(bpf_cmd command, int map, const void* key, const void* value, uint64_t flags) {
  Attr a(ACU_ATTR_END(flags));
  a.attr.map_fd = static_cast<uint32_t>(map);
  a.attr.key = address(key);
  a.attr.value = address(value);
  a.attr.flags = flags;
  return a.call(command);
}

int batch_step(bpf_cmd command, int map, Batch& batch) {
  Attr a(ACU_ATTR_END(batch));
  a.attr.batch.in_batch = address(batch.in);
  a.attr.batch.out_batch = address(batch.out);
  a.attr.batch.keys = address(batch.keys);
  a.attr.batch.values = address(batch.values);
  a.attr.batch.count = batch.count;
  a.attr.batch.map_fd = static_cast<uint32_t>(map);
  int result = a.call(command);
  batch.count = a.attr.batch.count;
  return result;
}

} // namespace

std::string object_name(std::string_view text) {
  std::string name(text.substr(0, BPF_OBJ_NAME_LEN - 1));
  auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
  };
  std::replace_if(
      name.begin(), name.end(), [&](char c) { return !allowed(c); }, '_');
  return name;
}

int map_create(const MapCreate& map) {
  Attr a(ACU_ATTR_END(btf_value_type_id));
  a.attr.map_type = map.type;
  a.attr.key_size = map.key_size;
  a.attr.value_size = map.value_size;
  a.attr.max_entries = map.max_entries;
  a.attr.map_flags = map.flags;
  set_name(a.attr.map_name, map.name);
  if (map.btf_fd >= 0) {
    a.attr.btf_fd = static_cast<uint32_t>(map.btf_fd);
    a.attr.btf_key_type_id = map.key_type;
    a.attr.btf_value_type_id = map.value_type;
  }
  return a.call(BPF_MAP_CREATE);
}

int map_lookup(int map, const void* key, void* value) {
  return element(BPF_MAP_LOOKUP_ELEM, map, key, value, 0);
}
int map_update(int map, const void* key, const void* value, uint64_t flags) {
  return element(BPF_MAP_UPDATE_ELEM, map, key, value, flags);
}
int map_delete(int map, const void* key) { return element(BPF_MAP_DELETE_ELEM, map, key, nullptr, 0); }
int map_next_key(int map, const void* key, void* next) {
  return element(BPF_MAP_GET_NEXT_KEY, map, key, next, 0);
}

int map_freeze(int map) {
  Attr a(ACU_ATTR_END(map_fd));
  a.attr.map_fd = static_cast<uint32_t>(map);
  return a.call(BPF_MAP_FREEZE);
}

int map_lookup_batch(int map, Batch& batch) { return batch_step(BPF_MAP_LOOKUP_BATCH, map, batch); }
int map_lookup_and_delete_batch(int map, Batch& batch) {
  return batch_step(BPF_MAP_LOOKUP_AND_DELETE_BATCH, map, batch);
}

int program_load(const ProgramLoad& program) {
  Attr a(ACU_ATTR_END(attach_btf_obj_fd));
  a.attr.prog_type = program.type;
  a.attr.expected_attach_type = program.attach_type;
  a.attr.insns = address(program.insns.data());
  a.attr.insn_cnt = static_cast<uint32_t>(program.insns.size());
  a.attr.license = address(program.license);
  a.attr.attach_btf_id = program.attach_btf_id;
  if (program.attach_btf_fd >= 0) a.attr.attach_btf_obj_fd = static_cast<uint32_t>(program.attach_btf_fd);
  a.attr.prog_flags = program.flags;
  set_name(a.attr.prog_name, program.name);
  if (program.btf_fd >= 0) {
    a.attr.prog_btf_fd = static_cast<uint32_t>(program.btf_fd);
    a.attr.func_info = address(program.functions.data());
    a.attr.func_info_cnt = static_cast<uint32_t>(program.functions.size());
    a.attr.func_info_rec_size = sizeof(bpf_func_info);
    a.attr.line_info = address(program.lines.data());
    a.attr.line_info_cnt = static_cast<uint32_t>(program.lines.size());
    a.attr.line_info_rec_size = sizeof(bpf_line_info);
  }
  if (!program.log.empty()) {
    program.log[0] = 0;
    a.attr.log_buf = address(program.log.data());
    a.attr.log_size = static_cast<uint32_t>(program.log.size());
    a.attr.log_level = program.log_level;
  }
  // The verifier gives up with EAGAIN when a signal arrives.
  int result;
  for (int i = 0; (result = a.call(BPF_PROG_LOAD)) == -EAGAIN && i < 5; i++) {
  }
  return result;
}

int program_run(int program, int32_t& result) {
  Attr a(ACU_ATTR_END(test.cpu));
  a.attr.test.prog_fd = static_cast<uint32_t>(program);
  const int error = a.call(BPF_PROG_TEST_RUN);
  result = static_cast<int32_t>(a.attr.test.retval);
  return error;
}

int program_info(int program, bpf_prog_info& info) {
  std::memset(&info, 0, sizeof info);
  Attr a(ACU_ATTR_END(info));
  a.attr.info.bpf_fd = static_cast<uint32_t>(program);
  a.attr.info.info_len = sizeof info;
  a.attr.info.info = address(&info);
  return a.call(BPF_OBJ_GET_INFO_BY_FD);
}

int next_program(uint32_t after, uint32_t& id) {
  Attr a(ACU_ATTR_END(open_flags));
  a.attr.start_id = after;
  const int result = a.call(BPF_PROG_GET_NEXT_ID);
  id = a.attr.next_id;
  return result;
}

int open_program(uint32_t id) {
  Attr a(ACU_ATTR_END(open_flags));
  a.attr.prog_id = id;
  return a.call(BPF_PROG_GET_FD_BY_ID);
}

base::Fd measure_run_times() {
  bpf_attr a = {};
  a.enable_stats.type = BPF_STATS_RUN_TIME;
  return base::Fd(static_cast<int>(::syscall(SYS_bpf, BPF_ENABLE_STATS, &a, sizeof a)));
}

// The kernel's own is among them; programs have some without a name.
base::Fd module_types(std::string_view module) {
  uint32_t id = 0;
  for (;;) {
    Attr next(ACU_ATTR_END(next_id));
    next.attr.start_id = id;
    if (next.call(BPF_BTF_GET_NEXT_ID) != 0) return {};
    id = next.attr.next_id;
    Attr open(ACU_ATTR_END(open_flags));
    open.attr.btf_id = id;
    base::Fd fd(open.call(BPF_BTF_GET_FD_BY_ID));
    if (!fd.valid()) continue; // it is gone by now
    char name[64] = {};
    bpf_btf_info info = {};
    info.name = address(name);
    info.name_len = sizeof name;
    Attr ask(ACU_ATTR_END(info));
    ask.attr.info.bpf_fd = static_cast<uint32_t>(fd.get());
    ask.attr.info.info_len = sizeof info;
    ask.attr.info.info = address(&info);
    if (ask.call(BPF_OBJ_GET_INFO_BY_FD) == 0 && info.kernel_btf && module == name) return fd;
  }
}

int btf_load(std::span<const std::byte> types, std::span<char> log) {
  Attr a(ACU_ATTR_END(btf_log_level));
  a.attr.btf = address(types.data());
  a.attr.btf_size = static_cast<uint32_t>(types.size());
  if (!log.empty()) {
    log[0] = 0;
    a.attr.btf_log_buf = address(log.data());
    a.attr.btf_log_size = static_cast<uint32_t>(log.size());
    a.attr.btf_log_level = 1;
  }
  return a.call(BPF_BTF_LOAD);
}

int raw_tracepoint_open(const char* name, int program) {
  Attr a(ACU_ATTR_END(raw_tracepoint.prog_fd));
  a.attr.raw_tracepoint.name = address(name);
  a.attr.raw_tracepoint.prog_fd = static_cast<uint32_t>(program);
  return a.call(BPF_RAW_TRACEPOINT_OPEN);
}

int link_create(int program, int target, bpf_attach_type type) {
  Attr a(ACU_ATTR_END(link_create.iter_info_len));
  a.attr.link_create.prog_fd = static_cast<uint32_t>(program);
  a.attr.link_create.target_fd = static_cast<uint32_t>(target);
  a.attr.link_create.attach_type = type;
  return a.call(BPF_LINK_CREATE);
}

int iterator_create(int link) {
  Attr a(ACU_ATTR_END(iter_create));
  a.attr.iter_create.link_fd = static_cast<uint32_t>(link);
  return a.call(BPF_ITER_CREATE);
}

} // namespace bpf
