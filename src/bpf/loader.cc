// Loading. See loader.h.
#include "bpf/loader.h"

#include "bpf/btf_writer.h"
#include "bpf/failure.h"
#include "bpf/features.h"
#include "bpf/syscall.h"
#include "bpf/walker.h"
#include "probe/kernel_refusal.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/resource.h>

namespace bpf {
namespace {

class Loader {
public:
  Loader(const ir::Program& program, const Object& object, const LoadOptions& options)
      : program_(program), object_(object), options_(options), programs_(object.programs) {}

  base::Result<Loaded> run() {
    ACU_CHECK(add_stop_flag());
    ACU_CHECK(load_types());
    for (uint32_t i = 0; i < object_.maps.size(); i++) ACU_CHECK(create_map(i));
    for (uint32_t i = 0; i < programs_.size(); i++) ACU_CHECK(load_program(i));
    if (!options_.walker && !options_.before)
      for (const Code& code : object_.watchers) load_watcher(code);
    return std::move(loaded_);
  }

private:
  base::Status load_types();
  base::Status create_map(uint32_t index);
  base::Status add_stop_flag();
  base::Result<int> create(const MapSpec& map, std::string_view name, MapCreate request);
  base::Status fill(const MapSpec& map, int fd, std::string_view name);
  int known_map(uint32_t index) const;
  base::Status load_program(uint32_t index);
  base::Status add_jump(ProgramLoad request, std::string_view name);
  void load_watcher(Code code);
  base::Error explain(uint32_t index, ProgramLoad request, int error);
  int load_for_log(uint32_t index, ProgramLoad request);
  int load_logged(ProgramLoad& request, std::vector<char>& log) const;
  ProgramLoad request_for(uint32_t index);
  std::string map_name(uint32_t index) const;

  const ir::Program& program_;
  const Object& object_;
  const LoadOptions& options_;
  std::vector<Code> programs_; // with the descriptors of maps, once those are there
  Loaded loaded_;
  ObjectTypes types_;
  base::Fd types_fd_;
  std::string module_; // whose types were asked for last
  base::Fd module_types_;
  bool raised_limit_ = false;
};

// Puts "leave if the flag is set" in front. Distances inside the program do not change.
void add_stop_check(Code& code, int flag) {
  auto value = static_cast<__u8>(BPF_PSEUDO_MAP_VALUE);
  const bpf_insn check[] = {
      {BPF_LD | BPF_IMM | BPF_DW, BPF_REG_2, value, 0, flag},
      {},
      {BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_2, BPF_REG_2, 0, 0},
      {BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_2, 0, 2, 0},
      {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0},
      {BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
  };
  constexpr uint32_t count = std::size(check);
  code.insns.insert(code.insns.begin(), std::begin(check), std::end(check));
  for (Relocation& r : code.relocations) r.insn += count;
  for (FunctionInfo& f : code.functions) f.insn += f.insn ? count : 0; // the entry begins with the check
  for (LineInfo& l : code.lines) l.insn += count;
}

base::Result<base::Fd> share(int map, const std::string& name) {
  base::Fd fd(::fcntl(map, F_DUPFD_CLOEXEC, 0));
  if (!fd.valid()) return base::errno_error("cannot share " + name, errno);
  return fd;
}

base::Status Loader::add_stop_flag() {
  for (size_t i = 0; i < programs_.size(); i++) {
    const ir::Probe& probe = program_.probes[i];
    bool is_slow = probe.context == probe::Context::tracepoint ||
                   (probe.context == probe::Context::registers && user_link(probe) == probe::UserLink::event) ||
                   (probe.context == probe::Context::kernel_registers &&
                    kernel_link(program_, probe) == probe::KernelLink::event);
    if (!is_slow) continue;
    if (options_.before && !loaded_.stop.valid()) {
      ACU_TRY(loaded_.stop, share(options_.before->stop.get(), "acu_stop"));
    }
    if (!loaded_.stop.valid()) {
      MapSpec map{.name = "acu_stop"};
      ACU_TRY(int fd, create(map, map.name, {.flags = BPF_F_RDONLY_PROG, .name = map.name}));
      loaded_.stop = base::Fd(fd);
    }
    add_stop_check(programs_[i], loaded_.stop.get());
  }
  return {};
}

base::Status Loader::load_types() {
  types_ = describe(object_.maps, programs_, nullptr);
  if (types_.blob.empty()) return {};
  int fd = btf_load(types_.blob);
  if (fd == -EPERM) return permission_error("cannot load types");
  if (fd == -EINVAL) return base::Error{base::Failure::unsupported, "the kernel does not take types (BTF)"};
  if (fd < 0) return base::errno_error("cannot load types", -fd);
  types_fd_ = base::Fd(fd);
  return {};
}

std::string Loader::map_name(uint32_t index) const {
  if (index < program_.maps.size()) return "@" + program_.maps[index].name;
  return object_.maps[index].name;
}

base::Result<int> Loader::create(const MapSpec& map, std::string_view name, MapCreate request) {
  int fd = map_create(request);
  if (fd == -EPERM && !raised_limit_) {
    // Before 5.11 maps count as locked memory, and the usual limit of 64 KB ends as EPERM.
    raised_limit_ = true;
    rlimit unlimited{RLIM_INFINITY, RLIM_INFINITY};
    if (::setrlimit(RLIMIT_MEMLOCK, &unlimited) == 0) fd = map_create(request);
  }
  if (fd < 0) return map_error(map, name, -fd);
  return fd;
}

// Of another program that has it, or of the same program before; -1: it is new.
int Loader::known_map(uint32_t index) const {
  const std::string& name = object_.maps[index].name;
  const auto own = static_cast<uint32_t>(program_.maps.size());
  const bool is_script_s = index < own;
  if (const Loaded* before = options_.before) {
    if (is_script_s) return before->maps[index].get();
    if (!object_.maps[index].content.empty()) return -1; // others of that name may have had other contents
    // Several maps of the script have one of this name each, in their order.
    size_t earlier = static_cast<size_t>(std::count_if(object_.maps.begin() + own, object_.maps.begin() + index, [&](const MapSpec& m) { return m.name == name; }));
    for (size_t i = own; i < before->names.size(); i++)
      if (before->names[i] == name && !earlier--) return before->maps[i].get();
    return -1;
  }
  if (!options_.walker || is_script_s) return -1;
  const auto found = options_.walker->maps.find(name);
  return found == options_.walker->maps.end() ? -1 : found->second.get();
}

base::Status Loader::create_map(uint32_t index) {
  const MapSpec& map = object_.maps[index];
  loaded_.names.push_back(map.name);
  if (const int known = known_map(index); known >= 0) {
    ACU_TRY(base::Fd map_fd, share(known, map_name(index)));
    loaded_.maps.push_back(std::move(map_fd));
    return {};
  }
  MapCreate request{static_cast<bpf_map_type>(map.type),
                    map.key_size,
                    map.value_size,
                    map.max_entries,
                    map.flags,
                    map.name};
  if (map.needs_btf) {
    request.btf_fd = types_fd_.get();
    request.key_type = types_.key;
    request.value_type = types_.values[index];
  }
  ACU_TRY(int fd, create(map, map_name(index), request));
  loaded_.maps.emplace_back(fd);
  if (!map.content.empty()) return fill(map, fd, map_name(index));
  return {};
}

// Constant data: written entry by entry, then closed to writers, so that the verifier may take it as known.
base::Status Loader::fill(const MapSpec& map, int fd, std::string_view name) {
  std::vector<std::byte> value(map.value_size);
  for (uint32_t key = 0; key < map.max_entries; key++) {
    size_t from = size_t{key} * map.value_size;
    if (from >= map.content.size()) break;
    size_t n = std::min<size_t>(map.value_size, map.content.size() - from);
    std::fill(value.begin(), value.end(), std::byte{});
    std::copy_n(map.content.begin() + static_cast<ptrdiff_t>(from), n, value.begin());
    if (int error = map_update(fd, &key, value.data()); error < 0) return map_error(map, name, -error);
  }
  if (int error = map_freeze(fd); error < 0) return map_error(map, name, -error);
  return {};
}

base::Status set_jump(int jump, int program) {
  const uint32_t first = 0;
  if (const int error = map_update(jump, &first, &program); error < 0) return base::errno_error("cannot set where a program jumps to", -error);
  return {};
}

void relocate(Code& code, const std::vector<base::Fd>& maps) {
  for (const Relocation& r : code.relocations) {
    bpf_insn& low = code.insns[r.insn];
    bpf_insn& high = code.insns[r.insn + 1];
    low.src_reg = r.value_address ? BPF_PSEUDO_MAP_VALUE : BPF_PSEUDO_MAP_FD;
    // For the address of a value the kernel wants the offset in the second half.
    high.imm = r.value_address ? low.imm : 0;
    low.imm = maps[r.map].get();
  }
}

ProgramLoad Loader::request_for(uint32_t index) {
  const Code& code = programs_[index];
  ProgramLoad request;
  request.insns = code.insns;
  request.license = options_.license.c_str();
  request.name = code.name;
  const ir::Probe& probe = program_.probes[index];
  switch (probe.context) {
  case probe::Context::none:
    request.type = BPF_PROG_TYPE_RAW_TRACEPOINT;
    // Of the kinds that can be run without an event, only this one may call functions of the kernel.
    if (probe.calls_kernel) request.type = BPF_PROG_TYPE_SYSCALL, request.flags = BPF_F_SLEEPABLE;
    break;
  case probe::Context::raw_tracepoint: request.type = BPF_PROG_TYPE_RAW_TRACEPOINT; break;
  case probe::Context::btf_tracepoint:
    request.type = BPF_PROG_TYPE_TRACING;
    request.attach_type = BPF_TRACE_RAW_TP;
    request.attach_btf_id = probe.attach_btf_id;
    break;
  case probe::Context::function: {
    const probe::Event& event = program_.events[probe.events.front()];
    bool at_return = event.kind == probe::Kind::fexit || event.kind == probe::Kind::kretprobe;
    request.type = BPF_PROG_TYPE_TRACING;
    request.attach_type = at_return ? BPF_TRACE_FEXIT : BPF_TRACE_FENTRY;
    request.attach_btf_id = probe.attach_btf_id;
    if (!event.category.empty()) {
      if (module_ != event.category) module_types_ = module_types(module_ = event.category);
      request.attach_btf_fd = module_types_.get();
    }
    break;
  }
  case probe::Context::kernel_registers:
    request.type = BPF_PROG_TYPE_KPROBE;
    request.attach_type = probe::attach_type_of(kernel_link(program_, probe));
    break;
  case probe::Context::iterator:
    request.type = BPF_PROG_TYPE_TRACING;
    request.attach_type = BPF_TRACE_ITER;
    request.attach_btf_id = probe.attach_btf_id;
    break;
  case probe::Context::tracepoint: request.type = BPF_PROG_TYPE_TRACEPOINT; break;
  case probe::Context::perf_event: request.type = BPF_PROG_TYPE_PERF_EVENT; break;
  case probe::Context::registers:
    request.type = BPF_PROG_TYPE_KPROBE;
    request.attach_type = probe::attach_type_of(user_link(probe));
    break;
  }
  return request;
}

// What is attached is a jump to the program that was loaded last, through an array whose entry can be set anew.
base::Status Loader::add_jump(ProgramLoad request, std::string_view name) {
  const MapSpec array = {.name = "acu_jump", .type = BPF_MAP_TYPE_PROG_ARRAY, .value_size = 4};
  ACU_TRY(const int jump, create(array, array.name, {.type = BPF_MAP_TYPE_PROG_ARRAY, .value_size = 4, .name = array.name}));
  loaded_.jumps.emplace_back(jump);
  ACU_CHECK(set_jump(jump, loaded_.programs.back().get()));
  const bpf_insn insns[] = {
      {BPF_LD | BPF_IMM | BPF_DW, BPF_REG_2, BPF_PSEUDO_MAP_FD, 0, jump},
      {},
      {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_3, 0, 0, 0},
      {BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_tail_call},
      {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0},
      {BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
  };
  request.insns = insns;
  request.functions = {};
  request.btf_fd = -1;
  const int fd = program_load(request);
  if (fd < 0) return base::errno_error("cannot load the jump to " + std::string(name), -fd);
  loaded_.programs.back() = base::Fd(fd);
  return {};
}

base::Status Loader::load_program(uint32_t index) {
  if (options_.before && !options_.before->jumps[index].valid()) {
    loaded_.programs.emplace_back();
    return {};
  }
  Code& code = programs_[index];
  relocate(code, loaded_.maps);
  ProgramLoad request = request_for(index);
  if (code.has_callbacks) {
    request.btf_fd = types_fd_.get();
    request.functions = types_.programs[index].functions;
  }
  int fd = options_.log ? load_for_log(index, request) : program_load(request);
  if (fd < 0) return explain(index, request, -fd);
  loaded_.programs.emplace_back(fd);
  if (code.leaves_out_walkers && !options_.before) return add_jump(request, code.name);
  loaded_.jumps.emplace_back();
  return {};
}

// Without them walks are as good, but more of them are done outside of the kernel.
void Loader::load_watcher(Code code) {
  relocate(code, loaded_.maps);
  ProgramLoad request;
  request.insns = code.insns;
  request.license = options_.license.c_str();
  request.name = code.name;
  request.type = BPF_PROG_TYPE_RAW_TRACEPOINT;
  loaded_.watchers.emplace_back(program_load(request));
}

// With a log that grows until all fits or the limit is reached.
int Loader::load_logged(ProgramLoad& request, std::vector<char>& log) const {
  uint32_t most = std::max(options_.log_size, 4096u);
  log.assign(std::min(most, 64u << 10), 0);
  for (;;) {
    request.log = log;
    int result = program_load(request);
    if (result != -ENOSPC || log.size() >= most) return result;
    log.assign(std::min<size_t>(most, log.size() * 4), 0);
  }
}

// The verifier's log of a program that is in order. One that does not fit is told in part.
int Loader::load_for_log(uint32_t index, ProgramLoad request) {
  std::vector<char> log;
  request.log_level = 2;
  int fd = load_logged(request, log);
  *options_.log += "verifier log of " + programs_[index].name + ":\n" + log.data();
  request.log = {};
  return fd == -ENOSPC ? program_load(request) : fd;
}

base::Error Loader::explain(uint32_t index, ProgramLoad request, int error) {
  const Code& code = programs_[index];
  if (is_too_long(error)) return too_long_error(program_.probes[index], code, options_.source); // its log would take long, too
  base::Fd lines_fd;
  ObjectTypes lines;
  if (options_.source) {
    lines = describe(object_.maps, programs_, options_.source);
    lines_fd = base::Fd(btf_load(lines.blob));
    if (lines_fd.valid()) {
      request.btf_fd = lines_fd.get();
      request.functions = lines.programs[index].functions;
      request.lines = lines.programs[index].lines;
    }
  }
  std::vector<char> log;
  int result = load_logged(request, log);
  if (result >= 0) ::close(result); // the kernel changed its mind; the first answer stands
  std::string_view text(log.data());
  const ir::Probe& probe = program_.probes[index];
  if (probe.context == probe::Context::function && text.empty() && (error == EPERM || error == EACCES))
    return probe::refused_by_kernel(program_.events[probe.events.front()], "cannot load the program of " + probe.name);
  base::Error failure = program_error(code, error, text, options_.source);
  if (!text.empty()) failure.message += options_.verbose ? "\n" + std::string(text) : ". -v shows its log";
  return failure;
}

} // namespace

base::Result<Loaded> load(const ir::Program& program, const Object& object, const LoadOptions& options) {
  return Loader(program, object, options).run();
}

base::Status exchange(const ir::Program& program, const Object& object, LoadOptions options, const Loaded& loaded) {
  options.before = &loaded;
  ACU_TRY(const Loaded next, load(program, object, options));
  for (size_t i = 0; i < loaded.jumps.size(); i++)
    if (loaded.jumps[i].valid()) ACU_CHECK(set_jump(loaded.jumps[i].get(), next.programs[i].get()));
  return {};
}

void stop_programs(const Loaded& loaded) {
  uint32_t key = 0;
  uint64_t stop = 1;
  if (loaded.stop.valid()) map_update(loaded.stop.get(), &key, &stop);
}

} // namespace bpf
