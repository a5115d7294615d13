// Control groups, disks, modules of the kernel and BPF programs.
#include "sql/sources.h"

#include "base/clock.h"
#include "base/text.h"
#include "bpf/syscall.h"
#include "proc/cgroup_counters.h"
#include "proc/text.h"
#include "symbol/containers.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <filesystem>
#include <sys/stat.h>

namespace sql {

namespace {

struct Cgroup {
  std::string path, container;
  std::optional<int64_t> id, processes;
  proc::CgroupCounters counters;

  double cpu_seconds() const { return static_cast<double>(counters.cpu_ns) / 1e9; }
  std::optional<double> cpu_limit() const { return counters.quota > 0 ? std::optional(counters.quota) : std::nullopt; }
  uint64_t periods() const { return counters.periods; }
  uint64_t throttled_periods() const { return counters.throttled_periods; }
  double throttled_seconds() const { return static_cast<double>(counters.throttled_ns) / 1e9; }
  uint64_t memory() const { return counters.memory; }
  std::optional<int64_t> memory_limit() const { return counters.memory_limit ? std::optional(static_cast<int64_t>(counters.memory_limit)) : std::nullopt; }
  uint64_t limit_events() const { return counters.max_events; }
  uint64_t oom_kills() const { return counters.oom_kills; }
  std::optional<double> cpu_pressure() const { return pressure("cpu"); }
  std::optional<double> memory_pressure() const { return pressure("memory"); }
  std::optional<double> io_pressure() const { return pressure("io"); }

private:
  std::optional<double> pressure(std::string_view resource) const {
    const auto found = counters.pressure.find(resource);
    return found == counters.pressure.end() ? std::nullopt : std::optional(static_cast<double>(found->second.some_us) / 1e6);
  }
};

constexpr Column cgroup_columns[] = {
    column<&Cgroup::path>("path", "", "Path below the root of the hierarchy, which is /."),
    column<&Cgroup::container>("container", "", "Name of its container; else the systemd unit, the path, or host."),
    column<&Cgroup::id>("id", "", "Its ID (inode), as in sockets.cgroup_id and in scripts' cgroup."),
    column<&Cgroup::processes>("processes", "", "Processes in the group itself, without its descendants."),
    column<&Cgroup::cpu_seconds>("cpu_time", "s", "CPU time, so far."),
    column<&Cgroup::cpu_limit>("cpu_limit", "CPUs", "Limit of CPU time; NULL: none."),
    column<&Cgroup::periods>("periods", "", "Periods in which the limit was applied."),
    column<&Cgroup::throttled_periods>("throttled_periods", "", "Periods in which it was reached."),
    column<&Cgroup::throttled_seconds>("throttled_time", "s", "Time for which the group had to wait, added up over CPUs."),
    column<&Cgroup::memory>("memory", "bytes", "Memory in use, with page cache."),
    column<&Cgroup::memory_limit>("memory_limit", "bytes", "Limit of memory; NULL: none."),
    column<&Cgroup::limit_events>("memory_limit_events", "", "Times that the limit of memory was reached."),
    column<&Cgroup::oom_kills>("oom_kills", "", "Processes killed because memory ran out."),
    column<&Cgroup::cpu_pressure>("cpu_pressure", "s", "Time for which some task waited for a CPU (PSI); NULL: not measured by this kernel."),
    column<&Cgroup::memory_pressure>("memory_pressure", "s", "The same for memory."),
    column<&Cgroup::io_pressure>("io_pressure", "s", "The same for I/O."),
};

base::Result<std::vector<Cgroup>> read_cgroups(const Request& request) {
  constexpr size_t most = 100'000;
  const std::vector<proc::CgroupMount> mounts = proc::find_cgroup_mounts(proc::text_of("/proc/mounts"));
  proc::CgroupReader reader(mounts);
  symbol::Containers containers;
  reader.find(most);
  std::vector<Cgroup> out;
  for (auto& [path, counters] : reader.read()) {
    Cgroup group = {.path = path, .counters = std::move(counters)};
    if (request.uses("container")) group.container = containers.of_group(path).title();
    for (const proc::CgroupMount& mount : mounts) {
      struct stat about = {};
      const std::string folder = mount.folder + path;
      if ((group.id && !mount.is_v2) || ::stat(folder.c_str(), &about) != 0) continue;
      group.id = static_cast<int64_t>(about.st_ino);
      if (!request.uses("processes")) continue;
      const std::string list = proc::text_of(folder + "/cgroup.procs");
      group.processes = std::count(list.begin(), list.end(), '\n');
    }
    out.push_back(std::move(group));
  }
  if (mounts.empty()) request.note("no control groups are mounted");
  return out;
}

struct Disk {
  std::string name;
  int64_t major = 0, minor = 0, sectors = 0;
  std::array<uint64_t, 11> counters = {}; // Documentation/admin-guide/iostats.rst
  std::optional<std::string> scheduler, model;
  std::optional<int64_t> is_rotational, queue_requests;

  static constexpr int64_t sector_bytes = 512;
  int64_t size() const { return sectors * sector_bytes; }
  uint64_t reads() const { return counters[0]; }
  int64_t read_bytes() const { return static_cast<int64_t>(counters[2]) * sector_bytes; }
  double read_seconds() const { return static_cast<double>(counters[3]) / 1e3; }
  uint64_t writes() const { return counters[4]; }
  int64_t written_bytes() const { return static_cast<int64_t>(counters[6]) * sector_bytes; }
  double write_seconds() const { return static_cast<double>(counters[7]) / 1e3; }
  uint64_t in_flight() const { return counters[8]; }
  double busy_seconds() const { return static_cast<double>(counters[9]) / 1e3; }
};

constexpr Column disk_columns[] = {
    column<&Disk::name>("name", "", "Name of the block device, or partition."),
    column<&Disk::major>("major", "", "Major number."),
    column<&Disk::minor>("minor", "", "Minor number."),
    column<&Disk::size>("size", "bytes", "Its size."),
    column<&Disk::reads>("reads", "", "Completed reads, since the start of the host."),
    column<&Disk::read_bytes>("read_bytes", "bytes", "Bytes read."),
    column<&Disk::read_seconds>("read_time", "s", "Time that reads took, added up."),
    column<&Disk::writes>("writes", "", "Completed writes."),
    column<&Disk::written_bytes>("written_bytes", "bytes", "Bytes written."),
    column<&Disk::write_seconds>("write_time", "s", "Time that writes took, added up."),
    column<&Disk::in_flight>("in_flight", "", "Requests that are being processed now."),
    column<&Disk::busy_seconds>("busy_time", "s", "Time for which it had requests."),
    column<&Disk::scheduler>("scheduler", "", "I/O scheduler in use."),
    column<&Disk::queue_requests>("queue_requests", "", "Requests that its queue may hold."),
    column<&Disk::is_rotational>("rotational", "", "1: it has rotating platters."),
    column<&Disk::model>("model", "", "Model, as the device reports it."),
};

// The chosen one of "mq-deadline [none]".
std::optional<std::string> chosen_in(std::string_view text) {
  const size_t open = text.find('['), close = text.find(']');
  return open != text.npos && close > open ? std::optional<std::string>(text.substr(open + 1, close - open - 1)) : std::nullopt;
}

base::Result<std::vector<Disk>> read_disks(const Request&) {
  std::vector<Disk> out;
  const std::string all = proc::text_of("/proc/diskstats");
  for (std::string_view line : base::split(all, '\n')) {
    const std::vector<std::string_view> words = proc::words_of(line);
    if (words.size() < 14) continue;
    Disk disk = {.name = std::string(words[2]), .major = static_cast<int64_t>(proc::decimal(words[0]).value_or(0)), .minor = static_cast<int64_t>(proc::decimal(words[1]).value_or(0))};
    for (size_t i = 0; i < disk.counters.size(); i++) disk.counters[i] = proc::decimal(words[3 + i]).value_or(0);
    std::string folder = "/sys/class/block/" + disk.name;
    std::replace(folder.begin() + 17, folder.end(), '/', '!'); // as sysfs writes cciss/c0d0
    disk.sectors = static_cast<int64_t>(proc::number_in(folder + "/size"));
    disk.scheduler = chosen_in(proc::text_of(folder + "/queue/scheduler"));
    if (const std::string text = proc::text_of(folder + "/queue/rotational"); !text.empty()) disk.is_rotational = text[0] == '1';
    if (const uint64_t requests = proc::number_in(folder + "/queue/nr_requests")) disk.queue_requests = static_cast<int64_t>(requests);
    if (const std::string model = proc::text_of(folder + "/device/model"); !model.empty()) disk.model = std::string(base::trim(model));
    out.push_back(std::move(disk));
  }
  return out;
}

struct Module {
  std::string name, used_by, state;
  int64_t size = 0, users = 0;
};

constexpr Column module_columns[] = {
    column<&Module::name>("name", "", "Name of the module."),
    column<&Module::size>("size", "bytes", "Memory that it takes."),
    column<&Module::users>("users", "", "How many use it."),
    column<&Module::used_by>("used_by", "", "Modules that use it, separated by commas."),
    column<&Module::state>("state", "", "Live, Loading or Unloading."),
};

base::Result<std::vector<Module>> read_modules(const Request&) {
  std::vector<Module> out;
  const std::string all = proc::text_of("/proc/modules");
  for (std::string_view line : base::split(all, '\n')) {
    const std::vector<std::string_view> words = proc::words_of(line);
    if (words.size() < 5) continue;
    std::string_view by = words[3] == "-" ? std::string_view() : words[3];
    if (by.ends_with(',')) by.remove_suffix(1);
    out.push_back({.name = std::string(words[0]), .used_by = std::string(by), .state = std::string(words[4]), .size = static_cast<int64_t>(proc::decimal(words[1]).value_or(0)),
                   .users = static_cast<int64_t>(proc::decimal(words[2]).value_or(0))});
  }
  return out;
}

struct BpfProgram {
  bpf_prog_info info = {};
  std::optional<int64_t> memory;

  uint32_t id() const { return info.id; }
  std::string type() const {
    // enum bpf_prog_type of include/uapi/linux/bpf.h, as bpftool(8) has them.
    constexpr std::string_view names[] = {"unspec", "socket_filter", "kprobe", "sched_cls", "sched_act", "tracepoint", "xdp", "perf_event", "cgroup_skb", "cgroup_sock", "lwt_in",
                                          "lwt_out", "lwt_xmit", "sock_ops", "sk_skb", "cgroup_device", "sk_msg", "raw_tracepoint", "cgroup_sock_addr", "lwt_seg6local", "lirc_mode2",
                                          "sk_reuseport", "flow_dissector", "cgroup_sysctl", "raw_tracepoint_writable", "cgroup_sockopt", "tracing", "struct_ops", "ext", "lsm",
                                          "sk_lookup", "syscall", "netfilter"};
    return info.type < std::size(names) ? std::string(names[info.type]) : std::to_string(info.type);
  }
  std::string name() const { return std::string(info.name, ::strnlen(info.name, sizeof info.name)); }
  std::string tag() const {
    std::string out;
    for (const uint8_t byte : info.tag) {
      char text[3];
      std::snprintf(text, sizeof text, "%02x", byte);
      out += text;
    }
    return out;
  }
  uint32_t user_id() const { return info.created_by_uid; }
  double loaded() const { return static_cast<double>(static_cast<int64_t>(info.load_time) + base::boot_to_wall_ns()) / 1e9; }
  uint32_t instructions() const { return info.xlated_prog_len / static_cast<uint32_t>(sizeof(bpf_insn)); }
  uint32_t verified() const { return info.verified_insns; }
  uint32_t machine_code() const { return info.jited_prog_len; }
  uint32_t maps() const { return info.nr_map_ids; }
  std::optional<int64_t> run_count() const { return info.run_cnt ? std::optional(static_cast<int64_t>(info.run_cnt)) : std::nullopt; }
  std::optional<double> run_seconds() const { return info.run_cnt ? std::optional(static_cast<double>(info.run_time_ns) / 1e9) : std::nullopt; }
  uint64_t misses() const { return info.recursion_misses; }
};

constexpr Column bpf_columns[] = {
    column<&BpfProgram::id>("id", "", "ID in the kernel, as in bpftool(8)."),
    column<&BpfProgram::type>("type", "", "Program type: tracing, raw_tracepoint, cgroup_skb, …"),
    column<&BpfProgram::name>("name", "", "Name, up to 15 characters."),
    column<&BpfProgram::tag>("tag", "", "Hash of its instructions."),
    column<&BpfProgram::user_id>("uid", "", "User ID of who loaded it."),
    column<&BpfProgram::loaded>("loaded", "s", "Load time, in seconds since 1970."),
    column<&BpfProgram::instructions>("instructions", "", "Instructions after the verifier's changes."),
    column<&BpfProgram::verified>("verified", "", "Instructions that the verifier looked at."),
    column<&BpfProgram::machine_code>("machine_code", "bytes", "Size of its machine code; 0: it is interpreted."),
    column<&BpfProgram::maps>("maps", "", "Number of its maps."),
    column<&BpfProgram::memory>("memory", "bytes", "Memory that it takes."),
    column<&BpfProgram::run_count>("runs", "", "How often it ran while run times were measured (sysctl kernel.bpf_stats_enabled); NULL: never."),
    column<&BpfProgram::run_seconds>("run_time", "s", "For how long."),
    column<&BpfProgram::misses>("misses", "", "Events that it missed because it ran already on this CPU."),
};

base::Result<std::vector<BpfProgram>> read_bpf_programs(const Request& request) {
  std::vector<BpfProgram> out;
  uint32_t id = 0;
  for (;;) {
    const int next = bpf::next_program(id, id);
    if (next == -ENOENT) return out;
    if (next < 0) return base::errno_error("cannot list BPF programs", -next);
    const base::Fd program(bpf::open_program(id));
    BpfProgram row;
    if (!program.valid() || bpf::program_info(program.get(), row.info) < 0) continue; // unloaded meanwhile
    if (request.uses("memory")) {
      const proc::NamedNumbers numbers = proc::read_named_numbers(proc::text_of("/proc/self/fdinfo/" + std::to_string(program.get())));
      if (const auto bytes = numbers.find("memlock")) row.memory = static_cast<int64_t>(*bytes);
    }
    out.push_back(row);
  }
}

} // namespace

const Table cgroups = {.name = "cgroups", .doc = "Control groups, with limits and pressure.", .example = "select path, memory, memory_limit from cgroups order by memory desc limit 5",
                       .columns = cgroup_columns, .read = rows_of<read_cgroups>, .expected_rows = 200};
const Table disks = {.name = "disks", .doc = "Block devices and partitions.", .example = "select name, size, reads, writes, in_flight from disks where reads > 0", .columns = disk_columns,
                     .read = rows_of<read_disks>, .expected_rows = 20};
const Table modules = {.name = "modules", .doc = "Modules of the kernel.", .example = "select name, size from modules order by size desc limit 5", .columns = module_columns,
                       .read = rows_of<read_modules>, .expected_rows = 100};
const Table bpf_programs = {.name = "bpf_programs", .doc = "BPF programs that the kernel holds.", .example = "select type, count(*) from bpf_programs group by type", .columns = bpf_columns,
                            .read = rows_of<read_bpf_programs>, .expected_rows = 50};

} // namespace sql
