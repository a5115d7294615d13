// One function for each kind of value; the table at the end names them for the rows of spec/syscall_rows.cc.
#include "trace/values.h"

#include "base/text.h"
#include "spec/numbers.h"
#include "spec/socket_options.h"
#include "spec/syscalls.h"
#include "trace/by_call.h"
#include "trace/call.h"
#include "trace/netlink.h"
#include "trace/structures.h"
#include "trace/text.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unordered_map>
#include <utility>

namespace trace {

namespace {

using Out = std::string&;

// ------------------------------------------------------------------------------------------------ numbers

void show_int(Out out, const Shown& v) { out += std::to_string(static_cast<int32_t>(v.value)); }
void show_uint(Out out, const Shown& v) { out += std::to_string(static_cast<uint32_t>(v.value)); }
void show_long(Out out, const Shown& v) { out += std::to_string(static_cast<int64_t>(v.value)); }
void show_ulong(Out out, const Shown& v) { out += std::to_string(v.value); }
void show_hex(Out out, const Shown& v) { out += v.value ? hexadecimal(v.value) : "0"; }
void show_pointer(Out out, const Shown& v) { out += pointer(v.value); }
void show_mode(Out out, const Shown& v) { out += octal(v.value & 0xffff); }
void show_signal(Out out, const Shown& v) { out += signal(static_cast<uint32_t>(v.value)); }
// -1 leaves an id as it is.
void show_id(Out out, const Shown& v) { out += std::to_string(static_cast<int32_t>(v.value)); }
void show_device(Out out, const Shown& v) {
  const auto number = static_cast<uint32_t>(v.value); // the kernel takes no more
  out += "makedev(" + hexadecimal(gnu_dev_major(number)) + ", " + hexadecimal(gnu_dev_minor(number)) + ")";
}

void show_descriptor(Out out, const Shown& v) { out += descriptor_text(v, static_cast<int32_t>(v.value)); }

// The file of a mapping: of one without a file it does not count.
void show_map_descriptor(Out out, const Shown& v) {
  static_cast<int32_t>(v.value) < 0 ? show_int(out, v) : show_descriptor(out, v);
}

void show_set(Out out, std::string_view name, uint64_t value) {
  out += spec::flags_text(*spec::find_flag_set(name), value);
}

// Numbers of options, by the level that stands before them.
void show_socket_option(Out out, const Shown& v) {
  const auto level = static_cast<uint32_t>(v.call.arguments[1]), number = static_cast<uint32_t>(v.value);
  constexpr uint32_t level_socket = 1, filter = 26;
  if (level == level_socket && number == filter && known_name(v.call.number) == "getsockopt") return void(out += "SO_GET_FILTER");
  if (const std::string_view name = spec::socket_option(level, number); !name.empty()) return void(out += name);
  // Levels whose options have no names are strace's to show in decimal.
  constexpr uint32_t nameless[] = {58, 100, 136, 258, 259, 260, 261, 262, 264, 265, 267};
  const std::span<const spec::NamedValue> levels = spec::find_flag_set("socket_level")->values;
  const bool is_known = std::any_of(levels.begin(), levels.end(), [&](const spec::NamedValue& l) { return l.value == level; });
  const bool has_names = is_known && std::find(std::begin(nameless), std::end(nameless), level) == std::end(nameless);
  out += has_names ? hexadecimal(number) : std::to_string(number);
}

// The value of an option; SO_ERROR has that of an error.
void show_option_out(Out out, const Shown& v) {
  constexpr uint64_t level_socket = 1, error = 4;
  const std::string_view name = v.call.arguments[1] == level_socket && v.call.arguments[2] == error
                                    ? spec::error_name(number_at<int32_t>(v.bytes, 0))
                                    : std::string_view();
  // Of one that is longer the first bytes are known.
  const base::ByteSpan length = v.call.copied[4];
  if (length.size() >= 4 && number_at<int32_t>(length, 0) > 4) return void(out += quoted(v.bytes, true));
  if (name.empty()) return show_numbers<int32_t>(out, v);
  out.append("[").append(name).append("]");
}

// SO_LINGER and the two timeouts are structures; else a number, or bytes.
void show_option(Out out, const Shown& v) {
  constexpr uint64_t level_socket = 1;
  enum : uint64_t { linger = 13, receive_timeout = 20, send_timeout = 21 };
  const bool is_socket = v.call.arguments[1] == level_socket;
  const uint64_t option = v.call.arguments[2];
  if (is_socket && option == linger && v.bytes.size() >= 8)
    out += "{l_onoff=" + std::to_string(number_at<int32_t>(v.bytes, 0)) + ", l_linger=" + std::to_string(number_at<int32_t>(v.bytes, 4)) + "}";
  else if (is_socket && (option == receive_timeout || option == send_timeout) && v.bytes.size() >= 16)
    show_timeval(out, v);
  else if (v.count == sizeof(int32_t))
    show_numbers<int32_t>(out, v);
  else
    out += quoted(v.bytes.first(std::min<size_t>(v.bytes.size(), v.options.data)), v.count > v.options.data);
}

void show_signal_event(Out out, const Shown& v) {
  const auto value = number_at<uint64_t>(v.bytes, 0);
  const auto notice = number_at<uint32_t>(v.bytes, 12);
  constexpr uint32_t none = 1;
  out += "{";
  if (value) out += "sigev_value={sival_int=" + std::to_string(static_cast<int32_t>(value)) + ", sival_ptr=" + pointer(value) + "}, ";
  if (notice != none) out += "sigev_signo=" + signal(number_at<uint32_t>(v.bytes, 8)) + ", ";
  out += "sigev_notify=";
  show_set(out, "event_notice", notice);
  out += "}";
}

void show_protocol(Out out, const Shown& v) {
  const uint64_t family = v.call.arguments[0];
  if (family == 2 || family == 10)
    return show_set(out, "protocol", static_cast<uint32_t>(v.value)); // AF_INET, AF_INET6
  if (family == 16) return show_set(out, "netlink_protocol", static_cast<uint32_t>(v.value)); // AF_NETLINK
  const auto number = static_cast<uint32_t>(v.value);
  constexpr uint64_t packet = 17, can = 29, bluetooth = 31;
  if (family == bluetooth) return show_set(out, "bluetooth_protocol", number);
  if (family == can) return show_set(out, "can_protocol", number);
  if (family == packet) {
    const auto in_order = static_cast<uint16_t>(number >> 8 | number << 8); // as it is on the wire
    out += "htons(";
    show_set(out, "packet_protocol", in_order);
    return void(out += ")");
  }
  constexpr uint64_t with_names[] = {3, 23, 33, 34, 35, 37, 39, 41, 43}; // of protocols that acu does not know
  std::find(std::begin(with_names), std::end(with_names), family) == std::end(with_names) ? show_ulong(out, v) : show_hex32(out, v);
}

void show_ipc_key(Out out, const Shown& v) {
  const auto key = static_cast<uint32_t>(v.value);
  out += key ? hexadecimal(key) : "IPC_PRIVATE";
}

// Bits by their names, and the mode below them.
void show_ipc_bits(Out out, std::string_view set, uint64_t value) {
  constexpr uint64_t mode = 0777;
  if (value & ~mode) {
    show_set(out, set, static_cast<uint32_t>(value & ~mode));
    out += "|";
  }
  out += octal(value & mode);
}
void show_ipc_flags(Out out, const Shown& v) { show_ipc_bits(out, "ipc_flag_bits", v.value); }

void show_futex_operation(Out out, const Shown& v) {
  constexpr uint64_t is_private = 128, operation = 127, last = 13, realtime = 256;
  const auto bits = static_cast<uint32_t>(v.value);
  constexpr uint32_t with_clock[] = {0, 9, 11}; // FUTEX_WAIT, FUTEX_WAIT_BITSET, FUTEX_WAIT_REQUEUE_PI
  const bool has_clock = std::find(std::begin(with_clock), std::end(with_clock), bits & operation) != std::end(with_clock);
  if ((bits & operation) > last || bits & ~(operation | is_private | (has_clock ? realtime : 0))) return show_hex32(out, v);
  constexpr uint32_t descriptor = 2; // FUTEX_FD, which is gone, has no name of its own with the bit
  if ((bits & operation) == descriptor) return show_set(out, "futex_operation", bits);
  std::string text = spec::flags_text(*spec::find_flag_set("futex_operation"), v.value & ~is_private);
  size_t name = std::min(text.find('|'), text.size());
  out += text.insert(name, v.value & is_private ? "_PRIVATE" : "");
}

// All of clone(2): the lowest byte of its flags is the signal that tells of the end.
void show_clone(Out out, const Shown& v) {
  const auto& a = v.call.arguments;
  const uint64_t ends = v.value & 0xff, flags = v.value & ~uint64_t{0xff};
  constexpr uint64_t knows_child = 0x1200000; // CLONE_CHILD_CLEARTID, CLONE_CHILD_SETTID
  constexpr uint64_t has_descriptor = 0x1000, has_tls = 0x80000, tells_parent = 0x100000;
  out += "child_stack=" + pointer(a[1]) + ", flags=";
  if (flags || !ends) show_set(out, "clone_flags", flags);
  if (ends) out += (flags ? "|" : "") + signal(ends);
  if (flags & tells_parent && v.call.result > 0)
    out += ", parent_tid=[" + std::to_string(v.call.result) + "]";
  else if (flags & (tells_parent | has_descriptor))
    out += ", parent_tid=" + pointer(a[2]);
  if (flags & has_tls) out += ", tls=" + pointer(a[4]);
  if (flags & knows_child) out += ", child_tidptr=" + pointer(a[3]);
}

// What the command wants.
void show_fcntl(Out out, const Shown& v) {
  enum : uint64_t {
    dupfd = 0, setfd = 2, setfl = 4, getlk = 5, setlk = 6, setlkw = 7, ofd_getlk = 36, ofd_setlk = 37, ofd_setlkw = 38,
    set_owner = 8, set_signal = 10, set_lease = 1024, notify = 1026, dupfd_cloexec = 1030, set_pipe_size = 1031, add_seals = 1033,
    set_owner_ex = 15, get_owner = 16
  };
  switch (v.call.arguments[1]) {
  case dupfd:
  case dupfd_cloexec:
  case set_owner:
  case set_pipe_size: return show_int(out, v);
  case set_signal: return show_signal(out, v);
  case set_lease: return show_set(out, "lock_type", v.value);
  case notify: return show_set(out, "notify_events", static_cast<uint32_t>(v.value));
  case add_seals: return show_set(out, "seals", v.value);
  case getlk:
  case setlk:
  case setlkw:
  case ofd_getlk:
  case ofd_setlk:
  case ofd_setlkw:
    if (v.bytes.size() < 28) break;
    out += "{l_type=";
    show_set(out, "lock_type", number_at<uint16_t>(v.bytes, 0));
    out += ", l_whence=";
    show_set(out, "whence", number_at<uint16_t>(v.bytes, 2));
    out += ", l_start=" + std::to_string(number_at<int64_t>(v.bytes, 8)) + ", l_len=" + std::to_string(number_at<int64_t>(v.bytes, 16));
    if (v.call.arguments[1] == getlk || v.call.arguments[1] == ofd_getlk) out += ", l_pid=" + std::to_string(number_at<int32_t>(v.bytes, 24));
    return void(out += "}");
  case setfd: return show_set(out, "fd_flags", static_cast<uint32_t>(v.value));
  case setfl: return show_set(out, "open_flags", static_cast<uint32_t>(v.value));
  case get_owner:
  case set_owner_ex: return show_pointer(out, v);
  default: return show_hex(out, v);
  }
  show_pointer(out, v);
}

// strace knows what these take; of the others the argument is a number.
bool has_structure(uint64_t command) {
  constexpr uint64_t terminals = 0x54, sockets = 0x89;
  const std::span<const spec::NamedValue> names = spec::find_flag_set("ioctl_command")->values;
  const bool is_named = std::any_of(names.begin(), names.end(), [&](const spec::NamedValue& n) { return n.value == command; });
  return is_named && (command >> 8 == terminals || command >> 8 == sockets || command >> 30);
}

void show_ioctl(Out out, const Shown& v) {
  constexpr uint64_t window_size = 0x5413, clone_file = 0x40049409;
  // TIOCGPGRP, TIOCOUTQ, FIONREAD, TIOCGETD, TIOCGSID, TIOCGPTN; TIOCSPGRP, TIOCPKT, FIONBIO, TIOCSETD, FIOASYNC, TIOCSPTLCK
  constexpr uint64_t gets_number[] = {0x540f, 0x5411, 0x541b, 0x5424, 0x5429, 0x80045430}, sets_number[] = {0x5410, 0x5420, 0x5421, 0x5423, 0x5452, 0x40045431};
  const uint64_t command = static_cast<uint32_t>(v.call.arguments[1]);
  const bool failed = v.call.failed();
  const auto is_in = [&](std::span<const uint64_t> commands) { return std::find(commands.begin(), commands.end(), command) != commands.end(); };
  if (command == window_size && v.bytes.size() >= 8 && !failed) {
    auto word = [&](size_t at) { return std::to_string(number_at<uint16_t>(v.bytes, at)); };
    out += "{ws_row=" + word(0) + ", ws_col=" + word(2) + ", ws_xpixel=" + word(4) +
           ", ws_ypixel=" + word(6) + "}";
  } else if (((is_in(gets_number) && !failed) || is_in(sets_number)) && v.bytes.size() >= 4) {
    out += "[" + std::to_string(number_at<int32_t>(v.bytes, 0)) + "]";
  } else if (command == clone_file) {
    show_descriptor(out, v);
  } else {
    has_structure(command) ? show_pointer(out, v) : show_hex(out, v);
  }
}

void show_prctl(Out out, const Shown& v) {
  enum : uint64_t { set_name = 15, get_name = 16, capbset_read = 23, capbset_drop = 24 };
  const uint64_t option = v.call.arguments[0];
  if (option == set_name || option == get_name) return v.bytes.empty() ? show_pointer(out, v) : show_text(out, v);
  option == capbset_read || option == capbset_drop ? show_set(out, "capability", v.value) : show_hex(out, v);
}

// ------------------------------------------------------------------------------------------------- memory

// Of a socket that is netlink's, as its address or what is known of it says: messages. Else empty.
std::string netlink_data(const Shown& v) {
  constexpr uint16_t netlink = 16;
  const std::string_view call = known_name(v.call.number);
  const bool has_address = call == "sendto" || call == "recvfrom";
  if (!has_address && call != "read" && call != "write") return {};
  const std::optional<uint32_t> protocol = v.options.sockets ? v.options.sockets->netlink_protocol(v.call.pid, static_cast<int>(v.call.arguments[0])) : std::nullopt;
  const bool is_netlink = protocol || (has_address && v.call.copied[4].size() >= 2 && number_at<uint16_t>(v.call.copied[4], 0) == netlink);
  return is_netlink ? netlink_text(v.bytes, v.count, protocol, v.options.data) : std::string();
}

// Lists of attributes: without room for them only how long they are is returned.
bool is_too_large(const Shown& v) {
  constexpr uint64_t most = 65536; // XATTR_SIZE_MAX
  return v.count > most && known_name(v.call.number).ends_with("setxattr");
}
// A text as the value of an attribute may end with a zero, which is not shown.
bool has_final_zero(const Shown& v) {
  const bool is_whole = v.count && v.bytes.size() == v.count && v.bytes.back() == std::byte{0};
  const std::string_view call = known_name(v.call.number);
  return is_whole && (call.ends_with("setxattr") || call.ends_with("getxattr"));
}
bool asks_for_size(const Call& call) { return known_name(call.number).ends_with("listxattr") && !call.arguments[2]; }

void show_data(Out out, const Shown& v) {
  if (!v.value || v.bytes.empty())
    return void(out += v.value && !v.count && !v.call.failed() && !asks_for_size(v.call) ? "\"\"" : pointer(v.value));
  if (is_too_large(v)) return show_pointer(out, v);
  if (const std::string text = netlink_data(v); !text.empty()) return void(out += text);
  const uint64_t count = v.count - has_final_zero(v);
  const size_t shown = std::min<size_t>({v.bytes.size(), v.options.data, count});
  out += quoted(v.bytes.first(shown), count > shown);
}

// Of struct linux_dirent64, where they are wanted; else where they are and how many.
void show_entries(Out out, const Shown& v) {
  const uint64_t number = v.call.arguments[5];
  if (v.options.entries && !number && !v.call.failed()) return void(out += "[]");
  if (!v.options.entries || v.bytes.empty() || v.call.number != spec::syscall_named("getdents64"))
    return void(out += pointer(v.value) + (v.call.failed() || number == ~uint64_t{0} ? "" : " /* " + std::to_string(number) + " entries */"));
  size_t shown = 0;
  out += "[";
  for (size_t at = 0; at + 19 < v.bytes.size(); shown++) {
    const size_t length = number_at<uint16_t>(v.bytes, at + 16);
    if (length < 20 || at + length > v.bytes.size()) break;
    const base::ByteSpan name = v.bytes.subspan(at + 19, length - 19);
    const auto end = static_cast<size_t>(std::find(name.begin(), name.end(), std::byte{0}) - name.begin());
    out += (shown ? ", {d_ino=" : "{d_ino=") + std::to_string(number_at<uint64_t>(v.bytes, at)) +
           ", d_off=" + std::to_string(number_at<int64_t>(v.bytes, at + 8)) + ", d_reclen=" + std::to_string(length) + ", d_type=";
    show_set(out, "entry_type", number_at<uint8_t>(v.bytes, at + 18));
    out += ", d_name=" + quoted(name.first(end), false) + "}";
    at += length;
  }
  out += shown < number ? (shown ? ", ...]" : "...]") : "]";
}

// The words of a program, each ended by a zero.
void show_words(Out out, const Shown& v) {
  out += "[";
  const char* between = "";
  for (base::ByteSpan rest = v.bytes; !rest.empty();) {
    const auto length = static_cast<size_t>(std::find(rest.begin(), rest.end(), std::byte{0}) - rest.begin());
    const size_t shown = std::min<size_t>(length, v.options.data);
    out.append(between).append(quoted(rest.first(shown), shown < length || length == rest.size()));
    rest = rest.subspan(std::min(length + 1, rest.size()));
    between = ", ";
  }
  out += v.is_cut ? ", ...]" : "]";
}

// ------------------------------------------------------------------------------------------------ results

void show_status_flags(Out out, const Shown& v) {
  enum : uint64_t { dupfd = 0, get_fd = 1, get_flags = 3, dupfd_cloexec = 1030 };
  const uint64_t command = v.call.arguments[1];
  if (command == dupfd || command == dupfd_cloexec) return show_descriptor(out, v);
  if (command == get_fd || command == get_flags) {
    std::string flags;
    show_set(flags, command == get_fd ? "fd_flags" : "open_flags", v.value);
    out += (v.value ? hexadecimal(v.value) : "0") +
           (v.value || command == get_flags ? " (flags " + flags + ")" : "");
    return;
  }
  show_int(out, v);
}

void show_prctl_result(Out out, const Shown& v) {
  static constexpr std::string_view dumps[] = {"SUID_DUMP_DISABLE", "SUID_DUMP_USER", "SUID_DUMP_ROOT"};
  constexpr uint64_t get_dumpable = 3;
  show_int(out, v);
  if (v.call.arguments[0] == get_dumpable && v.value < std::size(dumps)) out += " (" + std::string(dumps[v.value]) + ")";
}

void show_caught_signal(Out out, const Shown& v) { out += std::to_string(v.value) + (v.value ? " (" + signal(v.value) + ")" : ""); }

void show_returned_mask(Out out, const Shown& v) { out += "{mask=" + signal_set(v.value) + "}"; }

// Of the operations some take numbers of keys, of which a few stand for rings of the thread.
void show_key_serial(Out out, const Shown& v) {
  const auto key = static_cast<int32_t>(v.value);
  key < 0 && key >= -8 ? show_set(out, "key_serial_number", static_cast<uint32_t>(key)) : void(out += std::to_string(key));
}

void show_environment(Out out, const Shown& v) {
  out += pointer(v.value);
  const auto number = static_cast<uint32_t>(v.call.arguments[5]);
  const bool is_unreadable = v.call.result == -EFAULT && !number;
  if (v.value && number != UINT32_MAX && !is_unreadable && v.call.duration_ns != Call::no_time) out += " /* " + std::to_string(number) + (number == 1 ? " var */" : " vars */");
}

void show_none(Out out, const Shown&) { out += "?"; }

using Copy = ValueKind::Copy;

constexpr ValueKind kinds[] = {
    {"int", show_int},
    {"uint", show_uint},
    {"long", show_long},
    {"ulong", show_ulong},
    {"size", show_ulong},
    {"hex", show_hex},
    {"hex32", show_hex32},
    {"offset", show_hex},
    {"ptr", show_pointer},
    {"mode", show_mode},
    {"node_mode", show_node_mode},
    {"id", show_id},
    {"dev", show_device},
    {"pid", show_int},
    {"fd", show_descriptor},
    {"map_fd", show_map_descriptor},
    {"dirfd", show_folder},
    {"signal", show_signal},
    {"socket_option", show_socket_option},
    {"protocol", show_protocol},
    {"ipc_key", show_ipc_key},
    {"ipc_flags", show_ipc_flags},
    {"shm_flags", show_shm_flags},
    {"futex_operation", show_futex_operation},
    {"clone_argument", show_clone},
    {"futex_bits", show_futex_bits},
    {"futex_wake_operation", show_futex_wake},
    {"futex_waiters", show_futex_waiters, Copy::memory, 24},
    {"fcntl_argument", show_fcntl, Copy::memory, 32, false, true},
    {"ioctl_argument", show_ioctl, Copy::memory, 8, false, true},
    {"prctl_argument", show_prctl, Copy::memory, 16, false, true},
    {"path", show_text, Copy::text},
    {"text", show_text, Copy::text},
    {"text_out", show_text, Copy::text, 0, true},
    {"in", show_data, Copy::memory, 1, false, true},
    {"out", show_data, Copy::memory, 1, true, true},
    {"entries", show_entries, Copy::memory, 1, true, true},
    {"argv", show_words, Copy::memory},
    {"environment", show_environment},
    {"option", show_option, Copy::memory, 1},
    {"time_out", show_numbers<int64_t>, Copy::memory, 8, true},
    {"user_desc", show_user_segment, Copy::memory, 16},
    {"sysctl_arguments", show_sysctl_arguments, Copy::memory, 48},
    {"time_zone", show_time_zone, Copy::memory, 8},
    {"time_zone_out", show_time_zone, Copy::memory, 8, true},
    {"addresses", show_addresses, Copy::memory, 8},
    {"nodes", show_nodes, Copy::memory, 4},
    {"file_handle", show_file_handle, Copy::memory, 136},
    {"mount_attr", show_mount_attributes, Copy::memory, 32},
    {"landlock_ruleset", show_landlock_ruleset, Copy::memory, 8},
    {"landlock_rule", show_landlock_rule, Copy::memory, 12},
    {"option_out", show_option_out, Copy::memory, 4, true},
    {"sigevent", show_signal_event, Copy::memory, 64},
    {"int_in", show_numbers<int32_t>, Copy::memory, 4},
    {"int_out", show_numbers<int32_t>, Copy::memory, 4, true},
    {"id_out", show_numbers<int32_t>, Copy::memory, 4, true},
    {"tid_out", show_numbers<int32_t>, Copy::memory, 4, true},
    {"length_out", show_numbers<int32_t>, Copy::memory, 4},
    {"long_in", show_numbers<int64_t>, Copy::memory, 8},
    {"fds_out", show_pair, Copy::memory, 8, true},
    {"stat_out", show_stat, Copy::memory, 144, true},
    {"statx_out", show_statx, Copy::memory, 256, true},
    {"statfs_out", show_statfs, Copy::memory, 120, true},
    {"timespec", show_timespec, Copy::memory, 16},
    {"timespec_out", show_timespec, Copy::memory, 16, true},
    {"timespec_left", show_timespec, Copy::memory, 16}, // what is left of it stands there afterwards
    {"timeval_left", show_timeval, Copy::memory, 16},
    {"timespecs", show_file_times, Copy::memory, 32},
    {"timeval", show_timeval, Copy::memory, 16},
    {"timeval_out", show_timeval, Copy::memory, 16, true},
    {"itimerspec", show_itimerspec, Copy::memory, 32},
    {"itimerspec_out", show_itimerspec, Copy::memory, 32, true},
    {"itimerval", show_itimerval, Copy::memory, 32},
    {"itimerval_out", show_itimerval, Copy::memory, 32, true},
    {"futex_timeout", show_futex_timeout, Copy::memory, 16, false, true},
    {"sigset", show_signal_set, Copy::memory, 8},
    {"sigset_out", show_signal_set, Copy::memory, 8, true},
    {"sigaction", show_sigaction, Copy::memory, 32},
    {"sigaction_out", show_sigaction, Copy::memory, 32, true},
    {"stack", show_signal_stack, Copy::memory, 24},
    {"stack_out", show_signal_stack, Copy::memory, 24, true},
    {"rlimit", show_limits, Copy::memory, 16},
    {"rlimit_out", show_limits, Copy::memory, 16, true},
    {"rusage_out", show_usage, Copy::memory, 32, true},
    {"sysinfo_out", show_sysinfo, Copy::memory, 112, true},
    {"uname_out", show_uname, Copy::memory, 256, true},
    {"status_out", show_wait_status, Copy::memory, 4, true},
    {"sockaddr", show_address, Copy::memory, 1},
    {"sockaddr_out", show_address, Copy::memory, 128, true},
    {"pollfds", show_polls, Copy::memory, 8},
    {"iovec", show_vectors, Copy::vectors, 16},
    {"iovec_out", show_vectors, Copy::vectors, 16, true},
    {"message", show_message, Copy::message, 56},
    {"message_out", show_message, Copy::message, 56, true},
    {"messages", show_messages, Copy::message, 64},
    {"messages_out", show_messages, Copy::message, 64, true},
    {"epoll_event", show_epoll_event, Copy::memory, 12},
    {"epoll_events_out", show_epoll_events, Copy::memory, 12, true},
    {"clone_args", show_clone_args, Copy::memory, 64},
    {"cpus", show_cpus, Copy::memory, 1},
    {"cpus_out", show_cpus, Copy::memory, 1, true},
    {"siginfo", show_siginfo, Copy::memory, 48},
    {"siginfo_out", show_siginfo, Copy::memory, 48, true},
    {"sched_attr", show_sched_attr, Copy::memory, 56},
    {"sched_attr_out", show_sched_attr, Copy::memory, 56, true},
    {"cap_header", show_cap_header, Copy::memory, 8},
    {"cap_data", show_cap_data, Copy::memory, 24},
    {"cap_data_out", show_cap_data, Copy::memory, 24, true},
    {"groups", show_groups, Copy::memory, 4},
    {"groups_out", show_groups, Copy::memory, 4, true},
    {"sembufs", show_semaphore_operations, Copy::memory, 6},
    {"queued_message", show_queued_message, Copy::memory, 256},
    {"queued_message_out", show_queued_message, Copy::memory, 256, true},
    {"shm_status", show_shm_status, Copy::memory, 112, false, true},
    {"msg_status", show_msg_status, Copy::memory, 120, false, true},
    {"sem_argument", show_semaphore_argument},
    {"mq_attr", show_queue_attributes, Copy::memory, 32},
    {"mq_attr_out", show_queue_attributes, Copy::memory, 32, true},
    {"tms_out", show_process_times, Copy::memory, 32, true},
    {"perf_attr", show_perf_attr, Copy::memory, 64},
    {"bpf_attr", show_bpf_attr, Copy::memory, 128, false, true},
    {"io_uring_params", show_io_uring_params, Copy::memory, 120},
    {"open_how", show_open_how, Copy::memory, 24},
    {"timevals", show_two_times, Copy::memory, 32},
    {"utimbuf", show_access_times, Copy::memory, 16},
    {"timespec_rest", show_rest_of_time, Copy::memory, 16, false, true},
    {"iovec_places", show_vector_places, Copy::memory, 16},
    {"fd_set", show_descriptor_set},
    {"select_mask", show_select_mask},
    {"key_serial", show_key_serial},
    {"returned_mask", show_returned_mask},
    {"prctl_result", show_prctl_result},
    {"caught", show_caught_signal},
    {"fcntl_result", show_status_flags},
    {"none", show_none},
    {"left_out", nullptr},
    {"ioctl_code", show_ioctl_command},
    {"shm_code", show_shm_command},
    {"sem_code", show_sem_command},
    {"msg_code", show_msg_command},
    {"personality", show_personality},
    {"personality_result", show_personality_result},
    {"swap_priority", show_swap_flags},
    {"quota_code", show_quota_code},
    {"io_priority", show_io_priority},
    {"io_priority_result", show_io_priority_result},
    {"memory_file_flags", show_memory_file_flags},
    {"map_bits", show_map_flags},
    {"syslog_type", show_syslog_type},
    {"console_level", show_console_level},
    {"cpu_feature_number", show_cpu_feature},
    {"death_signal", show_death_signal},
    {"speculation_argument", show_speculation_argument},
    {"machine_check_argument", show_machine_check_argument},
    {"ambient_argument", show_ambient_argument},
    {"ptracer", show_ptracer},
    {"user_offset", show_user_offset},
    {"signal_out", show_signal_out, Copy::memory, 4, true},
    {"pointer_out", show_pointer_out, Copy::memory, 8, true},
    {"policy_out", show_policy_out, Copy::memory, 4, true},
    {"node_mask", show_node_mask, Copy::memory, 1, false, true},
    {"iocb", show_io_control_block, Copy::memory, 64},
    {"io_events_out", show_io_events, Copy::memory, 32, true},
    {"mark_dirfd", show_mark_folder},
    {"table_result", show_table_result},
    {"scheduler_result", show_scheduler_result},
    {"membarrier_result", show_membarrier_result},
};

const ValueKind* find_kind(std::string_view name) {
  auto at =
      std::find_if(std::begin(kinds), std::end(kinds), [&](const ValueKind& k) { return k.name == name; });
  return at == std::end(kinds) ? nullptr : at;
}

uint64_t count_of(const Argument& a, const Call& call) {
  if (!a.count) return a.kind && a.kind->bytes == 1 ? 0 : 1;
  if (*a.count == 'r') return call.result > 0 ? static_cast<uint64_t>(call.result) : 0;
  return call.arguments[static_cast<size_t>(*a.count - '0')];
}

// An array of no elements, which the kernel does not read.
bool is_empty(const Argument& a, const Shown& v) {
  if (!v.value || a.kind->copy == ValueKind::Copy::nothing) return false;
  constexpr std::string_view arrays[] = {"addresses", "nodes", "iovec", "iovec_out", "iovec_places", "in", "sembufs", "futex_waiters"};
  const std::string_view kind = a.kind->name;
  if (kind == "messages") return !v.call.arguments[2];
  constexpr uint64_t first_page = 4096; // which is no program's
  if (kind == "argv") return v.bytes.empty() && v.value >= first_page && v.call.failed() && v.call.result != -EFAULT;
  if (kind == "groups_out") return !v.count && !v.call.failed();
  return a.count && *a.count != 'r' && !v.count && base::is_one_of(arrays, kind);
}

// Of execve(2) the path is copied in any case: where there was nothing to read it looks empty.
bool is_unreadable_path(const Call& call, size_t index) {
  if (call.result != -EFAULT) return false;
  const std::string_view name = known_name(call.number);
  const bool is_path = (name == "execve" && index == 0) || (name == "execveat" && index == 1);
  return is_path && (call.copied[index].empty() || call.copied[index][0] == std::byte{0});
}

void show(std::string& out, const Argument& a, const Call& call, size_t index, const Options& options) {
  const uint64_t value = call.arguments[index];
  const Shown shown = {call, options, value, call.copied[index], call.is_cut[index], count_of(a, call), index};
  if (!a.kind) {
    out += spec::flags_text(*a.set, a.set->is_wide ? value : static_cast<uint32_t>(value));
  } else if (is_empty(a, shown)) {
    out += a.kind->name == "in" ? "\"\"" : "[]";
  } else if (is_unreadable_path(call, index) || (a.kind->is_out && a.kind->copy == Copy::text && call.failed())) {
    out += pointer(value);
  } else if (a.kind->copy != Copy::nothing && !a.kind->is_number_too && (!value || shown.bytes.empty())) {
    out += pointer(value);
  } else {
    a.kind->show(out, shown);
  }
  if (call.is_late[index]) out += " /* read later */";
}

// Arguments that only count with others: the mode of a file that is made, the argument of a command.
constexpr std::string_view calls_that_leave_out[] = {"open",  "openat",     "mq_open",  "mknod",   "mknodat", "fcntl",
                                                     "prctl", "membarrier", "preadv2", "pwritev2", "mremap"};
bool is_left_out(std::string_view call, size_t index, const Call& c) {
  if ((call == "open" && index == 2) || (call == "openat" && index == 3)) {
    const uint64_t flags = c.arguments[index - 1];
    constexpr uint64_t temporary = 020000000; // O_TMPFILE without O_DIRECTORY
    return !(flags & (O_CREAT | temporary));
  }
  if (call == "mq_open" && index >= 2) return !(c.arguments[1] & O_CREAT);
  if ((call == "mknod" && index == 2) || (call == "mknodat" && index == 3)) return !S_ISCHR(c.arguments[index - 1]) && !S_ISBLK(c.arguments[index - 1]);
  if (call == "fcntl" && index == 2) {
    constexpr uint64_t without[] = {F_GETFD, F_GETFL, F_GETOWN, 11, 1025, 1032, 1034};
    return std::find(std::begin(without), std::end(without), static_cast<uint32_t>(c.arguments[1])) != std::end(without);
  }
  if (call == "prctl" && index > 1 && static_cast<uint32_t>(c.arguments[0]) == 22) { // PR_SET_SECCOMP
    constexpr uint64_t strict = 1, filter = 2;
    return c.arguments[1] == strict || (c.arguments[1] == filter && index > 2);
  }
  if (call == "membarrier" && index == 2) return !(c.arguments[1] & 1); // MEMBARRIER_CMD_FLAG_CPU
  if ((call == "preadv2" || call == "pwritev2") && index == 4) return true; // the upper half of the offset, on other machines
  constexpr uint64_t fixed = 3; // MREMAP_MAYMOVE, MREMAP_FIXED
  if (call == "mremap" && index == 4) return (c.arguments[3] & fixed) != fixed;
  return false;
}

} // namespace

void show_folder(std::string& out, const Shown& v) {
  if (static_cast<int32_t>(v.value) != AT_FDCWD) return show_descriptor(out, v);
  out += "AT_FDCWD";
  std::string path = v.options.descriptors ? v.options.descriptors->path(v.call.pid, AT_FDCWD) : "";
  if (!path.empty()) out += "<" + path + ">";
}

std::vector<Argument> read_arguments(std::string_view words) {
  std::vector<Argument> out;
  for (std::string_view word : base::split(words, ' ')) {
    if (word.empty()) continue;
    const size_t colon = word.find(':');
    std::string_view name = word.substr(0, colon);
    Argument a = {find_kind(name), spec::find_flag_set(name), std::nullopt};
    if (a.kind) a.set = nullptr;
    if (!a.kind && !a.set) a.kind = find_kind("hex");
    if (colon != word.npos) a.count = word[colon + 1];
    out.push_back(a);
  }
  return out;
}

static std::string_view find_name(int number) {
  return number < Call::first_of_32 ? spec::syscall_name(number) : spec::syscall_name_32(number - Call::first_of_32);
}

std::string call_name(int number) {
  const std::string_view name = known_name(number);
  return name.empty() ? "syscall_" + hexadecimal(static_cast<uint64_t>(number % Call::first_of_32)) : std::string(name);
}

static const spec::SyscallRow* find_row(int number) {
  const std::string_view name = find_name(number);
  // Calls of i386 that have the name, but other arguments: a structure, another order, numbers in two parts.
  constexpr std::string_view others[] = {"mmap", "select", "clone", "pread64", "pwrite64", "preadv", "pwritev", "preadv2", "pwritev2",
                                         "truncate64", "ftruncate64", "fadvise64", "sync_file_range", "fallocate", "readahead"};
  return number >= Call::first_of_32 && base::is_one_of(others, name) ? nullptr : spec::find_syscall_row(name);
}

static KnownCall look_up(int number) {
  constexpr std::string_view waits[] = {"poll", "ppoll", "select", "pselect6"};
  const std::string_view name = find_name(number);
  KnownCall call = {.name = name, .row = find_row(number), .arguments = {}, .result = {}};
  call.arguments = read_arguments(call.row ? std::string_view(call.row->arguments) : "hex hex hex hex hex hex");
  call.result = read_arguments(call.row ? std::string_view(call.row->result) : "int").front();
  call.commands = number < Call::first_of_32 ? spec::find_command_call(name) : nullptr;
  call.may_leave_out = base::is_one_of(calls_that_leave_out, name);
  call.is_wait = base::is_one_of(waits, name);
  return call;
}

const KnownCall& known_call(int number) {
  thread_local ByCall<KnownCall> calls;
  return calls.of(number, look_up);
}

std::string_view known_name(int number) { return known_call(number).name; }
const spec::SyscallRow* row_of(int number) { return known_call(number).row; }

std::string signal_text(uint64_t number, int code, base::ByteSpan information) {
  const std::string name = signal(number);
  if (code == unknown_code) return "--- " + name + " {si_signo=" + name + "} ---";
  return "--- " + name + " " + signal_information(information) + " ---";
}

std::string end_text(int status) {
  if (WIFEXITED(status)) return "+++ exited with " + std::to_string(WEXITSTATUS(status)) + " +++";
  return "+++ killed by " + signal(static_cast<uint64_t>(WTERMSIG(status))) +
         (WCOREDUMP(status) ? " (core dumped) +++" : " +++");
}

static void append_error(std::string& out, int error) {
  constexpr int first_restart = 512, last_restart = 516; // include/linux/errno.h: a signal came in between
  static constexpr std::string_view restarts[] = {"ERESTARTSYS (restarted if SA_RESTART is set)", "ERESTARTNOINTR (restarted)",
                                                  "ERESTARTNOHAND (restarted if no handler ran)", "ENOIOCTLCMD (no such command)",
                                                  "ERESTART_RESTARTBLOCK (interrupted by a signal)"};
  if (error >= first_restart && error <= last_restart) {
    out.append("? ").append(restarts[error - first_restart]);
    return;
  }
  const std::string_view name = spec::error_name(error);
  out += "-1 ";
  name.empty() ? out.append(std::to_string(error)) : out.append(name);
  out.append(" (").append(spec::error_text(error)).append(")");
}

// What became ready, and what is left of the timeout.
static std::string wait_text(const KnownCall& known, const Call& call, const Options& options) {
  const bool selects = known.name == "select" || known.name == "pselect6", polls = !selects;
  if (selects ? call.failed() : call.result < 0) return {};
  if (!call.result) return "Timeout";
  if (polls) return poll_results(call.copied[0]);
  return call.is_32() ? "" : select_results(call, options);
}

static void append_result(std::string& out, const KnownCall& known, const Call& call, const Options& options) {
  const Argument& kind = known.result;
  if (kind.kind && kind.kind->show == show_none) {
    out += "?";
  } else if (call.failed()) {
    append_error(out, static_cast<int>(-call.result));
  } else if (kind.kind && kind.kind->name == "int") {
    out += std::to_string(call.result);
  } else {
    const Shown shown = {call, options, static_cast<uint64_t>(call.result), {}, false, 1};
    kind.kind ? kind.kind->show(out, shown) : void(out += spec::flags_text(*kind.set, shown.value));
  }
  std::string more = known.is_wait ? wait_text(known, call, options) : std::string();
  if (call.result > 0 && call.left.size() >= 16)
    more += (more.empty() ? "left " : ", left ") + time_text(call.left, 0, known.name == "select" ? "tv_usec" : "tv_nsec");
  if (!more.empty()) out.append(" (").append(more).append(")");
}

// Those that its command takes, if it has one.
static const std::vector<Argument>& arguments_of(const KnownCall& known, const Call& call) {
  if (!known.commands) return known.arguments;
  const uint32_t command = static_cast<uint32_t>(call.arguments[known.commands->argument]) >> known.commands->shift & known.commands->mask;
  const auto row = spec::find_command_row(known.name, command);
  if (!row) return known.arguments;
  thread_local std::unordered_map<size_t, std::vector<Argument>> rows;
  const auto [at, is_new] = rows.try_emplace(*row);
  if (is_new) at->second = read_arguments(spec::command_rows()[*row].arguments);
  return at->second;
}

// `next` gives the text that each argument is added to.
template<class Next> static void show_arguments(const KnownCall& known, const Call& call, const Options& options, Next next) {
  const std::vector<Argument>& arguments = arguments_of(known, call);
  for (size_t i = 0; i < arguments.size() && i < call.arguments.size(); i++) {
    const bool is_shown = !(arguments[i].kind && !arguments[i].kind->show) && !(known.may_leave_out && is_left_out(known.name, i, call));
    if (is_shown) show(next(), arguments[i], call, i, options);
  }
}

CallParts call_parts(const Call& call, const Options& options) {
  const KnownCall& known = known_call(call.number);
  CallParts out;
  out.name = call_name(call.number);
  show_arguments(known, call, options, [&]() -> std::string& { return out.arguments.emplace_back(); });
  append_result(out.result, known, call, options);
  if (call.failed()) {
    std::string_view name = spec::error_name(static_cast<int>(-call.result));
    out.error = name.empty() ? std::to_string(-call.result) : std::string(name);
  }
  return out;
}

void append_call(std::string& out, const Call& call, const Options& options) {
  const KnownCall& known = known_call(call.number);
  known.name.empty() ? out.append(call_name(call.number)) : out.append(known.name);
  out += "(";
  bool is_first = true;
  show_arguments(known, call, options, [&]() -> std::string& {
    if (!std::exchange(is_first, false)) out += ", ";
    return out;
  });
  out += ")";
  constexpr size_t column = 39; // of the results of short calls
  if (out.size() < column) out.resize(column, ' ');
  out += " = ";
  append_result(out, known, call, options);
}

} // namespace trace
