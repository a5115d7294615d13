// Values of calls that take a command, or that manage the whole system: personality(2), quotactl(2), syslog(2), swapon(2), priorities and
// policies. Notation of strace; layouts of Linux's user API for x86-64.
#include "trace/structures.h"

#include "spec/numbers.h"

#include <algorithm>

namespace trace {

namespace {

std::string flags(std::string_view set, uint64_t value) { return spec::flags_text(*spec::find_flag_set(set), value); }

std::string plain(uint64_t value) { return value ? hexadecimal(value) : "0"; }

// A part of the bits is a number: "FLAGS|21<<NAME".
std::string with_number(std::string text, uint64_t number, std::string_view shift) {
  if (!number) return text;
  return text + (text.empty() ? "" : "|") + std::to_string(number) + "<<" + std::string(shift);
}

// The version of the structure is a bit of the command.
void show_ipc_command(std::string& out, std::string_view set, uint64_t value) {
  constexpr uint64_t ipc_64 = 0x100;
  const auto command = static_cast<uint32_t>(value);
  out += (command & ipc_64 ? "IPC_64|" : "") + flags(set, command & ~ipc_64);
}

std::string personality_text(uint32_t value) {
  constexpr uint32_t type = 0xff;
  return flags("personality_type", value & type) + (value & ~type ? "|" + flags("personality_flags", value & ~type) : "");
}

std::string priority_text(uint32_t value) {
  constexpr uint32_t shift = 13;
  return "IOPRIO_PRIO_VALUE(" + flags("io_priority_class", value >> shift) + ", " + std::to_string(value & ((1U << shift) - 1)) + ")";
}

} // namespace

void show_hex32(std::string& out, const Shown& v) { out += plain(static_cast<uint32_t>(v.value)); }

// The macro that makes a command, where it has no name.
void show_ioctl_command(std::string& out, const Shown& v) {
  static constexpr std::string_view directions[] = {"_IOC_NONE", "_IOC_WRITE", "_IOC_READ", "_IOC_READ|_IOC_WRITE"};
  const auto code = static_cast<uint32_t>(v.value);
  const spec::FlagSet& names = *spec::find_flag_set("ioctl_command");
  const bool is_named = std::any_of(names.values.begin(), names.values.end(), [&](const spec::NamedValue& n) { return n.value == code; });
  if (is_named) return void(out += spec::flags_text(names, code));
  out.append("_IOC(").append(directions[code >> 30]).append(", ") += plain(code >> 8 & 0xff) + ", " + plain(code & 0xff) + ", " + plain(code >> 16 & 0x3fff) + ")";
}

void show_shm_command(std::string& out, const Shown& v) { show_ipc_command(out, "shm_command", v.value); }
void show_sem_command(std::string& out, const Shown& v) { show_ipc_command(out, "sem_command", v.value); }
void show_msg_command(std::string& out, const Shown& v) { show_ipc_command(out, "msg_command", v.value); }

void show_personality(std::string& out, const Shown& v) {
  const auto value = static_cast<uint32_t>(v.value);
  out += value == UINT32_MAX ? hexadecimal(value) : personality_text(value); // all ones ask only
}

void show_personality_result(std::string& out, const Shown& v) {
  const auto value = static_cast<uint32_t>(v.value);
  out += plain(value) + " (" + personality_text(value) + ")";
}

void show_swap_flags(std::string& out, const Shown& v) {
  constexpr uint32_t priority = 0x7fff;
  const auto value = static_cast<uint32_t>(v.value);
  out += (value & ~priority ? flags("swap_flags", value & ~priority) + "|" : "") + std::to_string(value & priority);
}

void show_quota_code(std::string& out, const Shown& v) {
  const auto code = static_cast<uint32_t>(v.value);
  out += "QCMD(" + flags("quota_command", code >> 8) + ", " + flags("quota_type", code & 0xff) + ")";
}

void show_io_priority(std::string& out, const Shown& v) { out += priority_text(static_cast<uint32_t>(v.value)); }
void show_io_priority_result(std::string& out, const Shown& v) {
  out += std::to_string(v.value) + " (" + priority_text(static_cast<uint32_t>(v.value)) + ")";
}

// The size of huge pages is in the upper bits, as a power of two.
void show_memory_file_flags(std::string& out, const Shown& v) {
  constexpr uint32_t shift = 26, size = 0x3fU << shift;
  const auto bits = static_cast<uint32_t>(v.value);
  const uint32_t rest = bits & ~size;
  out += with_number(rest || !bits ? flags("memfd_flags", rest) : "", bits >> shift, "MFD_HUGE_SHIFT");
}

void show_map_flags(std::string& out, const Shown& v) {
  constexpr uint32_t shift = 26, size = 0x3fU << shift;
  const auto bits = static_cast<uint32_t>(v.value); // there are no others
  out += with_number(flags("map_flags", bits & ~size), bits >> shift, "MAP_HUGE_SHIFT");
}

void show_shm_flags(std::string& out, const Shown& v) {
  constexpr uint32_t mode = 0777, shift = 26, size = 0x3fU << shift;
  const auto bits = static_cast<uint32_t>(v.value);
  const uint32_t rest = bits & ~(mode | size);
  const std::string names = with_number(rest ? flags("shm_flag_bits", rest) : "", bits >> shift, "SHM_HUGE_SHIFT");
  out += names + (names.empty() ? "" : "|") + octal(bits & mode);
}

void show_syslog_type(std::string& out, const Shown& v) {
  const auto type = static_cast<uint32_t>(v.value);
  out += std::to_string(static_cast<int32_t>(type));
  const std::string name = flags("syslog_action", type);
  if (name.starts_with("SYSLOG")) out += " /* " + name + " */";
}

void show_machine_check_argument(std::string& out, const Shown& v) {
  constexpr uint64_t set = 1;
  out += v.call.arguments[1] == set ? flags("machine_check_policy", v.value) : plain(v.value);
}

void show_ambient_argument(std::string& out, const Shown& v) {
  constexpr uint64_t is_set = 1, lower = 3;
  const bool is_capability = v.call.arguments[1] >= is_set && v.call.arguments[1] <= lower;
  out += is_capability ? flags("capability", v.value) : plain(v.value);
}

void show_ptracer(std::string& out, const Shown& v) {
  const auto pid = static_cast<int32_t>(v.value);
  out += pid == -1 ? "PR_SET_PTRACER_ANY" : std::to_string(pid);
}

void show_signal_out(std::string& out, const Shown& v) { out += "[" + signal(number_at<uint32_t>(v.bytes, 0)) + "]"; }
void show_pointer_out(std::string& out, const Shown& v) { out += "[" + pointer(number_at<uint64_t>(v.bytes, 0)) + "]"; }
void show_policy_out(std::string& out, const Shown& v) { out += "[" + flags("memory_policy", number_at<uint32_t>(v.bytes, 0)) + "]"; }

// Of as many nodes as the argument says, one bit each, in words of 64.
void show_node_mask(std::string& out, const Shown& v) {
  constexpr uint64_t shown = 32; // words, as strace has it
  const uint64_t words = v.count / 64 + (v.count % 64 > 1); // the last bit does not count
  constexpr uint64_t most = UINT64_MAX - 62;
  if (!v.value || v.count == 1 || v.count > most || (words && v.bytes.size() < 8)) return void(out += pointer(v.value));
  out += "[";
  uint64_t n = 0;
  for (; n < words && n < shown && 8 * n + 8 <= v.bytes.size(); n++) {
    char text[24];
    std::snprintf(text, sizeof text, "%s0x%016lx", n ? ", " : "", number_at<uint64_t>(v.bytes, 8 * n));
    out += text;
  }
  out += n < words ? ", ...]" : "]";
}

// struct futex_waitv of linux/futex.h
void show_futex_waiters(std::string& out, const Shown& v) {
  out += "[";
  for (size_t at = 0; at + 24 <= v.bytes.size(); at += 24)
    out += (at ? ", {val=" : "{val=") + plain(number_at<uint64_t>(v.bytes, at)) + ", uaddr=" + pointer(number_at<uint64_t>(v.bytes, at + 8)) +
           ", flags=" + flags("futex_waiter_flags", number_at<uint32_t>(v.bytes, at + 16)) + "}";
  out += v.count * 24 > v.bytes.size() ? ", ...]" : "]";
}

// struct io_event of linux/aio_abi.h
void show_io_events(std::string& out, const Shown& v) {
  out += "[";
  for (size_t at = 0; at + 32 <= v.bytes.size(); at += 32)
    out += (at ? ", {data=" : "{data=") + plain(number_at<uint64_t>(v.bytes, at)) + ", obj=" + plain(number_at<uint64_t>(v.bytes, at + 8)) +
           ", res=" + std::to_string(number_at<int64_t>(v.bytes, at + 16)) + ", res2=" + std::to_string(number_at<int64_t>(v.bytes, at + 24)) + "}";
  out += v.count * 32 > v.bytes.size() ? ", ...]" : "]";
}

void show_mark_folder(std::string& out, const Shown& v) {
  static_cast<int32_t>(v.value) == -1 ? void(out += "FAN_NOFD") : show_folder(out, v);
}

// The kernel returns 32 bits of it, so an error looks like a large number.
void show_table_result(std::string& out, const Shown& v) {
  constexpr uint64_t first_error = 0xfffff001;
  out += std::to_string(v.value);
  if (v.value < first_error || v.value > UINT32_MAX) return;
  const auto error = -static_cast<int32_t>(static_cast<uint32_t>(v.value));
  out += " " + std::string(spec::error_name(error)) + " (" + std::string(spec::error_text(error)) + ")";
}

void show_scheduler_result(std::string& out, const Shown& v) {
  const std::string name = flags("sched_policy", v.value);
  out += std::to_string(v.value) + (name.starts_with("SCHED") ? " (" + name + ")" : "");
}

void show_membarrier_result(std::string& out, const Shown& v) {
  constexpr uint64_t query = 0;
  const bool has_names = v.value && v.call.arguments[0] == query;
  out += has_names ? hexadecimal(v.value) + " (" + flags("membarrier_commands", v.value) + ")" : std::to_string(v.value);
}

} // namespace trace
