// Values of calls that take a command, or that manage memory, priorities or the whole system: futex(2), move_pages(2), ioprio_set(2),
// personality(2), quotactl(2), syslog(2), swapon(2) and their like. Notation of strace; layouts of Linux's user API for x86-64.
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

// The name is in a comment, as in strace's text.
void show_number_and_name(std::string& out, std::string_view set, uint64_t value) {
  const auto number = static_cast<uint32_t>(value);
  out += std::to_string(static_cast<int32_t>(number));
  const std::span<const spec::NamedValue> names = spec::find_flag_set(set)->values;
  const auto named = std::find_if(names.begin(), names.end(), [&](const spec::NamedValue& n) { return n.value == number; });
  if (named != names.end()) out += " /* " + std::string(named->name) + " */";
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

void show_syslog_type(std::string& out, const Shown& v) { show_number_and_name(out, "syslog_action", v.value); }
void show_cpu_feature(std::string& out, const Shown& v) { show_number_and_name(out, "cpu_feature", v.value); }
// Numbers that are no signals are large.
void show_death_signal(std::string& out, const Shown& v) {
  constexpr uint64_t most = 128;
  out += v.value > most ? std::to_string(v.value) : signal(v.value);
}
void show_speculation_argument(std::string& out, const Shown& v) {
  constexpr uint64_t last = 2; // PR_SPEC_L1D_FLUSH
  out += v.call.arguments[1] <= last ? flags("speculation_control", v.value) : plain(v.value);
}
void show_console_level(std::string& out, const Shown& v) { show_number_and_name(out, "log_level", v.value); }

void show_machine_check_argument(std::string& out, const Shown& v) {
  constexpr uint64_t set = 1;
  out += v.call.arguments[1] == set ? flags("machine_check_policy", v.value) : plain(v.value);
}

void show_ambient_argument(std::string& out, const Shown& v) {
  constexpr uint64_t is_set = 1, lower = 3;
  const bool is_capability = v.call.arguments[1] >= is_set && v.call.arguments[1] <= lower;
  out += is_capability ? flags("capability", v.value) : plain(v.value);
}

// Of struct user_regs_struct, which is at the beginning of struct user of sys/user.h.
void show_user_offset(std::string& out, const Shown& v) {
  static constexpr std::string_view registers[] = {"R15", "R14", "R13", "R12", "RBP", "RBX", "R11", "R10", "R9", "R8", "RAX", "RCX", "RDX", "RSI", "RDI", "ORIG_RAX",
                                                   "RIP", "CS", "EFLAGS", "RSP", "SS", "FS_BASE", "GS_BASE", "DS", "ES", "FS", "GS"};
  const uint64_t number = v.value / 8, rest = v.value % 8;
  if (number >= std::size(registers)) return void(out += pointer(v.value));
  out.append("8*").append(registers[number]) += rest ? "+" + std::to_string(rest) : "";
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
  const bool is_unwritten = words && v.call.failed() && known_name(v.call.number) == "get_mempolicy";
  if (!v.value || is_unwritten || v.count == 1 || v.count > most || (words && v.bytes.size() < 8)) return void(out += pointer(v.value));
  out += "[";
  uint64_t n = 0;
  for (; n < words && n < shown && 8 * n + 8 <= v.bytes.size(); n++) {
    char text[24];
    std::snprintf(text, sizeof text, "%s%#016lx", n ? ", " : "", number_at<uint64_t>(v.bytes, 8 * n));
    out += text;
  }
  out += n < words ? ", ...]" : "]";
}

// Addresses and numbers of move_pages(2).
void show_addresses(std::string& out, const Shown& v) {
  out += "[";
  for (size_t at = 0; at + 8 <= v.bytes.size(); at += 8) out += (at ? ", " : "") + pointer(number_at<uint64_t>(v.bytes, at));
  out += v.count * 8 > v.bytes.size() ? ", ...]" : "]";
}
void show_nodes(std::string& out, const Shown& v) {
  constexpr size_t shown = 32; // as strace has it
  out += "[";
  size_t n = 0;
  for (; n < shown && 4 * n + 4 <= v.bytes.size(); n++) out += (n ? ", " : "") + std::to_string(number_at<int32_t>(v.bytes, 4 * n));
  out += v.count > n ? ", ...]" : "]";
}

// struct timezone of sys/time.h
void show_time_zone(std::string& out, const Shown& v) {
  out += "{tz_minuteswest=" + std::to_string(number_at<int32_t>(v.bytes, 0)) + ", tz_dsttime=" + std::to_string(number_at<int32_t>(v.bytes, 4)) + "}";
}

void show_futex_bits(std::string& out, const Shown& v) {
  const auto bits = static_cast<uint32_t>(v.value);
  out += bits == UINT32_MAX ? "FUTEX_BITSET_MATCH_ANY" : plain(bits);
}

// FUTEX_OP(3): what is done to the second word, and what it is compared with.
void show_futex_wake(std::string& out, const Shown& v) {
  static constexpr std::string_view operations[] = {"FUTEX_OP_SET", "FUTEX_OP_ADD", "FUTEX_OP_OR", "FUTEX_OP_ANDN", "FUTEX_OP_XOR"};
  static constexpr std::string_view comparisons[] = {"FUTEX_OP_CMP_EQ", "FUTEX_OP_CMP_NE", "FUTEX_OP_CMP_LT", "FUTEX_OP_CMP_LE", "FUTEX_OP_CMP_GT", "FUTEX_OP_CMP_GE"};
  const auto value = static_cast<uint32_t>(v.value);
  const uint32_t operation = value >> 28 & 7, comparison = value >> 24 & 15;
  if (value >> 31) out += "FUTEX_OP_OPARG_SHIFT<<28|";
  out += (operation < std::size(operations) ? std::string(operations[operation]) : plain(operation)) + "<<28|" + plain(value >> 12 & 0xfff) + "<<12|" +
         (comparison < std::size(comparisons) ? std::string(comparisons[comparison]) : plain(comparison)) + "<<24|" + plain(value & 0xfff);
}

// struct user_desc of asm/ldt.h, which x86-64 has for 32-bit programs. get_thread_area(2) fills in what is behind the number.
void show_user_segment(std::string& out, const Shown& v) {
  auto word = [&](size_t at) { return number_at<uint32_t>(v.bytes, at); };
  out += "{entry_number=" + std::to_string(static_cast<int32_t>(word(0)));
  if (v.call.failed() && known_name(v.call.number) == "get_thread_area") return void(out += ", ...}");
  char text[48];
  std::snprintf(text, sizeof text, ", base_addr=%#08x, limit=%#08x", word(4), word(8));
  const uint32_t bits = word(12);
  out += text;
  out += ", seg_32bit=" + std::to_string(bits & 1) + ", contents=" + std::to_string(bits >> 1 & 3) + ", read_exec_only=" + std::to_string(bits >> 3 & 1) +
         ", limit_in_pages=" + std::to_string(bits >> 4 & 1) + ", seg_not_present=" + std::to_string(bits >> 5 & 1) + ", useable=" + std::to_string(bits >> 6 & 1) +
         ", lm=" + std::to_string(bits >> 7 & 1) + "}";
}

// struct __sysctl_args of linux/sysctl.h, of older kernels
void show_sysctl_arguments(std::string& out, const Shown& v) {
  auto at = [&](size_t n) { return number_at<uint64_t>(v.bytes, n); };
  out += "{name=" + pointer(at(0)) + ", nlen=" + std::to_string(number_at<int32_t>(v.bytes, 8)) + ", oldval=" + pointer(at(16)) + ", oldlenp=" + pointer(at(24)) +
         ", newval=" + pointer(at(32)) + ", newlen=" + std::to_string(at(40)) + "}";
}

// struct futex_waitv of linux/futex.h
void show_futex_waiters(std::string& out, const Shown& v) {
  out += "[";
  for (size_t at = 0; at + 24 <= v.bytes.size(); at += 24)
    out += (at ? ", {val=" : "{val=") + plain(number_at<uint64_t>(v.bytes, at)) + ", uaddr=" + pointer(number_at<uint64_t>(v.bytes, at + 8)) +
           ", flags=" + flags("futex_waiter_flags", number_at<uint32_t>(v.bytes, at + 16)) + "}";
  out += v.count * 24 > v.bytes.size() ? ", ...]" : "]";
}

// struct iocb of linux/aio_abi.h, its head
void show_io_control_block(std::string& out, const Shown& v) {
  enum : size_t { data = 0, key = 8, bits = 12, command = 16, priority = 18, descriptor = 20 };
  out += "{aio_data=" + plain(number_at<uint64_t>(v.bytes, data));
  if (const auto number = number_at<uint32_t>(v.bytes, key)) out += ", aio_key=" + std::to_string(number);
  if (const auto set = number_at<uint32_t>(v.bytes, bits)) out += ", aio_rw_flags=" + flags("rw_flags", set);
  const std::string name = flags("io_command", number_at<uint16_t>(v.bytes, command));
  out += ", aio_lio_opcode=" + (name.starts_with("IOCB") ? name : std::to_string(number_at<uint16_t>(v.bytes, command)));
  if (const auto number = number_at<int16_t>(v.bytes, priority)) out += ", aio_reqprio=" + std::to_string(number);
  out += ", aio_fildes=" + descriptor_text(v, number_at<int32_t>(v.bytes, descriptor)) + "}";
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
