#include "trace/structures.h"

#include "spec/numbers.h"
#include "spec/syscalls.h"
#include "trace/netlink.h"
#include "trace/plan.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <csignal>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysinfo.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>

namespace trace {

using base::ByteSpan;

namespace {

std::string flags(std::string_view set, uint64_t value) {
  return spec::flags_text(*spec::find_flag_set(set), value);
}

// Bytes up to the first zero.
ByteSpan text_part(ByteSpan bytes) {
  return bytes.first(
      static_cast<size_t>(std::find(bytes.begin(), bytes.end(), std::byte{0}) - bytes.begin()));
}

std::string file_mode(uint32_t mode) {
  static constexpr std::pair<uint32_t, std::string_view> types[] = {
      {S_IFREG, "S_IFREG"}, {S_IFDIR, "S_IFDIR"}, {S_IFCHR, "S_IFCHR"},  {S_IFBLK, "S_IFBLK"},
      {S_IFIFO, "S_IFIFO"}, {S_IFLNK, "S_IFLNK"}, {S_IFSOCK, "S_IFSOCK"}};
  static constexpr std::pair<uint32_t, std::string_view> bits[] = {
      {S_ISUID, "S_ISUID"}, {S_ISGID, "S_ISGID"}, {S_ISVTX, "S_ISVTX"}};
  std::string out;
  for (auto& [type, name] : types)
    if ((mode & S_IFMT) == type) out += name;
  if (out.empty() && mode & S_IFMT) return octal(mode);
  for (auto& [bit, name] : bits)
    if (mode & bit) out.append("|").append(name);
  return (out.empty() ? "" : out + "|") + octal(mode & 0777);
}

std::string device(uint64_t number) {
  return "makedev(" + hexadecimal(gnu_dev_major(number)) + ", " +
         (gnu_dev_minor(number) ? hexadecimal(gnu_dev_minor(number)) : "0") + ")";
}

std::string limit(uint64_t value) {
  if (value == RLIM64_INFINITY) return "RLIM64_INFINITY";
  return value > 1024 && value % 1024 == 0 ? std::to_string(value / 1024) + "*1024" : std::to_string(value);
}

std::string family_of(uint16_t number) { return flags("family", number); }

} // namespace

std::string time_text(ByteSpan bytes, size_t at, std::string_view fraction) {
  return "{tv_sec=" + std::to_string(number_at<int64_t>(bytes, at)) + ", " + std::string(fraction) + "=" +
         std::to_string(number_at<uint64_t>(bytes, at + 8)) + "}";
}

// "S_IFIFO|0644"
void show_node_mode(std::string& out, const Shown& v) { out += file_mode(static_cast<uint16_t>(v.value)); }

void show_text(std::string& out, const Shown& v) { out += quoted(text_part(v.bytes), v.is_cut); }

std::string descriptor_text(const Shown& v, int fd) {
  const std::string path = fd >= 0 && v.options.descriptors ? v.options.descriptors->shown(v.call.pid, fd) : "";
  return std::to_string(fd) + (path.empty() ? "" : "<" + path + ">");
}

// Two new descriptors.
void show_pair(std::string& out, const Shown& v) {
  for (size_t at = 0; at + 4 <= v.bytes.size(); at += 4) {
    out += (at ? ", " : "[") + descriptor_text(v, number_at<int32_t>(v.bytes, at));
  }
  out += "]";
}

void show_stat(std::string& out, const Shown& v) {
  struct stat s = number_at<struct stat>(v.bytes, 0);
  out += "{st_mode=" + file_mode(s.st_mode) + ", ";
  if (S_ISCHR(s.st_mode) || S_ISBLK(s.st_mode))
    out += "st_rdev=" + device(s.st_rdev);
  else
    out += "st_size=" + std::to_string(s.st_size);
  out += ", ...}";
}

void show_statx(std::string& out, const Shown& v) {
  struct statx s = number_at<struct statx>(v.bytes, 0);
  out += "{stx_mask=" + flags("statx_mask", s.stx_mask) +
         ", stx_attributes=" + (s.stx_attributes ? hexadecimal(s.stx_attributes) : "0") +
         ", stx_mode=" + file_mode(s.stx_mode) + ", stx_size=" + std::to_string(s.stx_size) + ", ...}";
}

void show_statfs(std::string& out, const Shown& v) {
  struct statfs s = number_at<struct statfs>(v.bytes, 0);
  auto field = [&](const char* name, uint64_t value) {
    out += std::string(", ") + name + "=" + std::to_string(value);
  };
  out += "{f_type=" + flags("file_system", static_cast<uint64_t>(s.f_type));
  field("f_bsize", static_cast<uint64_t>(s.f_bsize));
  field("f_blocks", s.f_blocks);
  field("f_bfree", s.f_bfree);
  field("f_bavail", s.f_bavail);
  field("f_files", s.f_files);
  field("f_ffree", s.f_ffree);
  auto part = [&](int n) {
    return s.f_fsid.__val[n] ? hexadecimal(static_cast<uint32_t>(s.f_fsid.__val[n])) : std::string("0");
  };
  out += ", f_fsid={val=[" + part(0) + ", " + part(1) + "]}";
  field("f_namelen", static_cast<uint64_t>(s.f_namelen));
  field("f_frsize", static_cast<uint64_t>(s.f_frsize));
  out += ", f_flags=" + flags("mount_state", static_cast<uint64_t>(s.f_flags)) + "}";
}

void show_timespec(std::string& out, const Shown& v) { out += time_text(v.bytes, 0, "tv_nsec"); }
void show_timeval(std::string& out, const Shown& v) { out += time_text(v.bytes, 0, "tv_usec"); }

void show_file_times(std::string& out, const Shown& v) {
  out += "[";
  for (size_t at : {size_t{0}, size_t{16}}) {
    const auto fraction = number_at<int64_t>(v.bytes, at + 8);
    out += at ? ", " : "";
    out += fraction == UTIME_NOW    ? "UTIME_NOW"
           : fraction == UTIME_OMIT ? "UTIME_OMIT"
                                    : time_text(v.bytes, at, "tv_nsec");
  }
  out += "]";
}

void show_two_times(std::string& out, const Shown& v) {
  out += "[" + time_text(v.bytes, 0, "tv_usec") + ", " + time_text(v.bytes, 16, "tv_usec") + "]";
}

void show_access_times(std::string& out, const Shown& v) {
  out += "{actime=" + std::to_string(number_at<int64_t>(v.bytes, 0)) + ", modtime=" + std::to_string(number_at<int64_t>(v.bytes, 8)) + "}";
}

// Only of a sleep that a signal has ended.
void show_rest_of_time(std::string& out, const Shown& v) {
  constexpr int64_t interrupted = -4, restarted = -516;
  const bool is_there = (v.call.result == interrupted || v.call.result == restarted) && !v.bytes.empty();
  is_there ? show_timespec(out, v) : void(out += pointer(v.value));
}

void show_itimerspec(std::string& out, const Shown& v) {
  out += "{it_interval=" + time_text(v.bytes, 0, "tv_nsec") +
         ", it_value=" + time_text(v.bytes, 16, "tv_nsec") + "}";
}

void show_itimerval(std::string& out, const Shown& v) {
  out += "{it_interval=" + time_text(v.bytes, 0, "tv_usec") +
         ", it_value=" + time_text(v.bytes, 16, "tv_usec") + "}";
}

// For the others the argument is a number.
void show_futex_timeout(std::string& out, const Shown& v) {
  const uint64_t operation = v.call.arguments[1] & 127;
  const bool waits = operation == 0 || operation == 6 || operation == 9 || operation == 11 || operation == 13;
  constexpr uint64_t last = 13;
  if ((waits && v.bytes.empty()) || operation > last) return void(out += pointer(v.value));
  waits ? show_timespec(out, v) : void(out += std::to_string(static_cast<uint32_t>(v.value)));
}

// A set of another size is no set to the kernel. Where the size is: behind the set, and what comes back.
void show_signal_set(std::string& out, const Shown& v) {
  const std::string_view call = known_name(v.call.number);
  const size_t size = call == "rt_sigprocmask" || call == "rt_sigtimedwait" ? 3 : v.index + 1;
  const bool is_set = v.call.is_32() || (size < v.call.arguments.size() && v.call.arguments[size] == sizeof(uint64_t));
  const bool is_unread = call.starts_with("epoll_pwait") && v.call.failed();
  out += is_set && !is_unread ? signal_set(number_at<uint64_t>(v.bytes, 0)) : pointer(v.value);
}

void show_sigaction(std::string& out, const Shown& v) {
  const auto handler = number_at<uint64_t>(v.bytes, 0), bits = number_at<uint64_t>(v.bytes, 8);
  constexpr uint64_t has_restorer = 0x4000000;
  out += "{sa_handler=" + (handler == 0 ? "SIG_DFL" : handler == 1 ? "SIG_IGN" : hexadecimal(handler));
  out += ", sa_mask=" + signal_set(number_at<uint64_t>(v.bytes, 24)) +
         ", sa_flags=" + flags("sigaction_flags", bits);
  if (bits & has_restorer) out += ", sa_restorer=" + hexadecimal(number_at<uint64_t>(v.bytes, 16));
  out += "}";
}

void show_signal_stack(std::string& out, const Shown& v) {
  out += "{ss_sp=" + pointer(number_at<uint64_t>(v.bytes, 0)) + ", ss_flags=" + flags("signal_stack_flags", number_at<uint32_t>(v.bytes, 8)) +
         ", ss_size=" + std::to_string(number_at<uint64_t>(v.bytes, 16)) + "}";
}

void show_limits(std::string& out, const Shown& v) {
  out += "{rlim_cur=" + limit(number_at<uint64_t>(v.bytes, 0)) +
         ", rlim_max=" + limit(number_at<uint64_t>(v.bytes, 8)) + "}";
}

void show_usage(std::string& out, const Shown& v) {
  if (!v.call.result && v.call.number == spec::syscall_named("wait4")) return void(out += pointer(v.value)); // nothing has ended
  out += "{ru_utime=" + time_text(v.bytes, 0, "tv_usec") + ", ru_stime=" + time_text(v.bytes, 16, "tv_usec") +
         ", ...}";
}

void show_sysinfo(std::string& out, const Shown& v) {
  struct sysinfo s = number_at<struct sysinfo>(v.bytes, 0);
  auto n = [](uint64_t value) { return std::to_string(value); };
  out += "{uptime=" + std::to_string(s.uptime) + ", loads=[" + n(s.loads[0]) + ", " + n(s.loads[1]) + ", " +
         n(s.loads[2]) + "], totalram=" + n(s.totalram) + ", freeram=" + n(s.freeram) +
         ", sharedram=" + n(s.sharedram) + ", bufferram=" + n(s.bufferram) + ", totalswap=" + n(s.totalswap) +
         ", freeswap=" + n(s.freeswap) + ", procs=" + n(s.procs) + ", totalhigh=" + n(s.totalhigh) +
         ", freehigh=" + n(s.freehigh) + ", mem_unit=" + n(s.mem_unit) + "}";
}

void show_uname(std::string& out, const Shown& v) {
  constexpr size_t field = 65; // bytes of each text
  auto part = [&](size_t n) {
    return v.bytes.size() > n * field ? quoted(text_part(v.bytes.subspan(n * field)), false) : "\"\"";
  };
  out += "{sysname=" + part(0) + ", nodename=" + part(1) + ", ...}";
}

void show_wait_status(std::string& out, const Shown& v) {
  const auto s = number_at<int32_t>(v.bytes, 0);
  if (v.call.result == 0) return void(out += pointer(v.value)); // nothing has ended
  if (WIFEXITED(s))
    out += "[{WIFEXITED(s) && WEXITSTATUS(s) == " + std::to_string(WEXITSTATUS(s)) + "}]";
  else if (WIFSIGNALED(s))
    out += "[{WIFSIGNALED(s) && WTERMSIG(s) == " + signal(static_cast<uint64_t>(WTERMSIG(s))) +
           (WCOREDUMP(s) ? " && WCOREDUMP(s)}]" : "}]");
  else if (WIFSTOPPED(s))
    out += "[{WIFSTOPPED(s) && WSTOPSIG(s) == " + signal(static_cast<uint64_t>(WSTOPSIG(s))) + "}]";
  else
    out += WIFCONTINUED(s) ? "[{WIFCONTINUED(s)}]" : "[" + hexadecimal(static_cast<uint32_t>(s)) + "]";
}

void show_address(std::string& out, const Shown& v) {
  const auto family = number_at<uint16_t>(v.bytes, 0);
  // Of one that the kernel has written the next argument points to its length.
  const bool is_argument = v.bytes.data() == v.call.copied[v.index].data() && v.index + 1 < v.call.copied.size();
  const ByteSpan length = is_argument ? v.call.copied[v.index + 1] : ByteSpan();
  const size_t known = length.size() >= 4 ? std::min<size_t>(number_at<uint32_t>(length, 0), v.bytes.size()) : v.bytes.size();
  const std::string port = "htons(" + std::to_string(ntohs(number_at<uint16_t>(v.bytes, 2))) + ")";
  out += "{sa_family=" + family_of(family);
  char text[INET6_ADDRSTRLEN] = {};
  if (family == AF_INET && v.bytes.size() >= 8) {
    ::inet_ntop(AF_INET, v.bytes.data() + 4, text, sizeof text);
    out += ", sin_port=" + port + ", sin_addr=inet_addr(\"" + text + "\")";
  } else if (family == AF_INET6 && v.bytes.size() >= 28) {
    ::inet_ntop(AF_INET6, v.bytes.data() + 8, text, sizeof text);
    out += ", sin6_port=" + port + ", sin6_flowinfo=htonl(" +
           std::to_string(ntohl(number_at<uint32_t>(v.bytes, 4))) + "), inet_pton(AF_INET6, \"" + text +
           "\", &sin6_addr), sin6_scope_id=" + std::to_string(number_at<uint32_t>(v.bytes, 24));
  } else if (family == AF_UNIX && known > 2) {
    ByteSpan path = v.bytes.first(known).subspan(2);
    const bool is_abstract = path[0] == std::byte{0};
    if (is_abstract) path = path.subspan(1);
    ByteSpan shown = text_part(path);
    out += is_abstract ? ", sun_path=@" : ", sun_path=";
    out += quoted(shown, false);
  } else if (family == AF_NETLINK && v.bytes.size() >= 12) {
    char groups[16];
    std::snprintf(groups, sizeof groups, "%08x", number_at<uint32_t>(v.bytes, 8));
    out += ", nl_pid=" + std::to_string(number_at<int32_t>(v.bytes, 4)) + ", nl_groups=" + groups;
  } else if (known > 2) {
    constexpr size_t most = 128;
    out += ", sa_data=" + quoted(v.bytes.first(std::min(known, most)).subspan(2), false);
  }
  out += "}";
}

void show_polls(std::string& out, const Shown& v) {
  out += "[";
  for (size_t at = 0; at + 8 <= v.bytes.size(); at += 8)
    out += (at ? ", {fd=" : "{fd=") + descriptor_text(v, number_at<int32_t>(v.bytes, at)) +
           ", events=" + flags("poll_events", number_at<uint16_t>(v.bytes, at + 4)) + "}";
  out += v.count * 8 > v.bytes.size() ? ", ...]" : "]";
}

std::string poll_results(ByteSpan bytes) {
  std::string out;
  for (size_t at = 0; at + 8 <= bytes.size(); at += 8)
    if (const auto got = number_at<uint16_t>(bytes, at + 6))
      out += (out.empty() ? "{fd=" : ", {fd=") + std::to_string(number_at<int32_t>(bytes, at)) +
             ", revents=" + flags("poll_events", got) + "}";
  return "[" + out + "]";
}

// Whether data is messages of netlink, and of which protocol, as far as it is known.
struct Netlink {
  bool is_it = false;
  std::optional<uint32_t> protocol = {};
};

static std::string data_text(ByteSpan data, uint64_t length, uint32_t shown, const Netlink& netlink) {
  const std::string messages = netlink.is_it ? netlink_text(data, length, netlink.protocol, shown) : std::string();
  const size_t part = std::min<size_t>(data.size(), shown);
  return messages.empty() ? quoted(data.first(part), length > part) : messages;
}

// An iovec and, as far as it was copied, the data: of what is received no more than has come.
static std::string vectors(ByteSpan bytes, uint64_t count, std::span<const ByteSpan> contents, uint64_t most, uint32_t shown, const Netlink& netlink = {}) {
  std::string out = "[";
  for (size_t at = 0; at + 16 <= bytes.size(); at += 16) {
    const auto base = number_at<uint64_t>(bytes, at), length = number_at<uint64_t>(bytes, at + 8);
    const uint64_t there = std::min(length, most);
    most -= there;
    const ByteSpan data = at / 16 < contents.size() ? contents[at / 16] : ByteSpan();
    const bool is_known = !data.empty() || (there == 0 && base && at / 16 < contents.size());
    out += (at ? ", {iov_base=" : "{iov_base=") + (is_known ? data_text(data.first(std::min<size_t>(data.size(), there)), there, shown, netlink) : pointer(base)) +
           ", iov_len=" + std::to_string(length) + "}";
  }
  return out + (count * 16 > bytes.size() ? ", ...]" : "]");
}

// What has come, or all there is to send.
static uint64_t length_of_data(const Shown& v, bool is_received, int64_t received) {
  if (!is_received) return ~uint64_t{0};
  return v.call.failed() ? 0 : static_cast<uint64_t>(received);
}

static bool is_received(const Call& call) {
  const std::string_view name = known_name(call.number);
  return name.starts_with("recv") || name.find("readv") != name.npos;
}

void show_vector_places(std::string& out, const Shown& v) { out += vectors(v.bytes, v.count, {}, ~uint64_t{0}, 0); }

std::string descriptor_set(ByteSpan bytes, const Shown& v) {
  std::string out = "[";
  const auto number = static_cast<uint32_t>(v.call.arguments[0]);
  for (uint32_t fd = 0; fd < number && fd / 8 < bytes.size(); fd++)
    if (std::to_integer<unsigned>(bytes[fd / 8]) >> fd % 8 & 1) out += (out.size() > 1 ? " " : "") + descriptor_text(v, static_cast<int>(fd));
  return out + (number > bytes.size() * 8 ? " ...]" : "]");
}

// As it was given: the kernel writes what came of it over it.
void show_descriptor_set(std::string& out, const Shown& v) {
  const size_t index = v.index;
  const bool is_known = v.value && index - 1 < v.call.sets.size() && !v.call.sets[index - 1].empty();
  out += is_known ? descriptor_set(v.call.sets[index - 1], v) : pointer(v.value);
}

// struct { const sigset_t* mask; size_t size; }, of which the mask is known.
void show_select_mask(std::string& out, const Shown& v) {
  constexpr size_t mask = 6; // Call::sets
  // Where the kernel could not read, there is no mask.
  const bool is_unknown = v.call.sets.size() <= mask || (v.call.result == -EFAULT && v.call.sets[mask].empty());
  if (!v.value || is_unknown) return void(out += pointer(v.value));
  out += "{sigmask=" + (v.call.sets[mask].empty() ? "NULL" : signal_set(number_at<uint64_t>(v.call.sets[mask], 0))) + ", sigsetsize=8}";
}

std::string select_results(const Call& call, const Options& options) {
  static constexpr std::string_view names[] = {"in ", "out ", "except "};
  std::string out;
  for (size_t i = 0; i < std::size(names) && i + 3 < call.sets.size(); i++) {
    const ByteSpan bytes = call.sets[i + 3];
    const bool has_some = std::any_of(bytes.begin(), bytes.end(), [](std::byte b) { return b != std::byte{0}; });
    const Shown shown = {call, options, call.arguments[i + 1], bytes, false, 1};
    if (has_some) out.append(out.empty() ? "" : ", ").append(names[i]).append(descriptor_set(bytes, shown));
  }
  return out;
}

void show_vectors(std::string& out, const Shown& v) {
  const bool received = is_received(v.call);
  const bool has_data = !(received && v.call.failed());
  const std::optional<uint32_t> protocol = v.options.sockets ? v.options.sockets->netlink_protocol(v.call.pid, static_cast<int>(v.call.arguments[0])) : std::nullopt;
  out += vectors(v.bytes, v.count, has_data ? std::span<const ByteSpan>(v.call.inner) : std::span<const ByteSpan>(),
                 length_of_data(v, received, v.call.result), v.options.data, {protocol.has_value(), protocol});
}

// cmsg(3): length, level, type, data; each begins at a multiple of eight.
static std::string control_messages(ByteSpan bytes) {
  constexpr size_t head = 16, level_socket = 1, rights = 1, credentials = 2;
  std::string out = "[";
  for (size_t at = 0; at + head <= bytes.size();) {
    const auto length = number_at<uint64_t>(bytes, at);
    const auto level = number_at<uint32_t>(bytes, at + 8), type = number_at<uint32_t>(bytes, at + 12);
    if (length < head) break;
    const ByteSpan data = bytes.subspan(at + head, std::min<size_t>(length, bytes.size() - at) - head);
    out += (at ? ", {cmsg_len=" : "{cmsg_len=") + std::to_string(length) + ", cmsg_level=" + flags("socket_level", level) + ", cmsg_type=" +
           (level == level_socket ? flags("message_type", type) : hexadecimal(type));
    if (level == level_socket && type == rights) {
      out += ", cmsg_data=[";
      for (size_t i = 0; i + 4 <= data.size(); i += 4) out += (i ? ", " : "") + std::to_string(number_at<int32_t>(data, i));
      out += "]";
    } else if (level == level_socket && type == credentials && data.size() >= 12) {
      auto number = [&](size_t i) { return std::to_string(number_at<int32_t>(data, i)); };
      out += ", cmsg_data={pid=" + number(0) + ", uid=" + number(4) + ", gid=" + number(8) + "}";
    }
    out += "}";
    at += (std::min<size_t>(length, bytes.size()) + 7) / 8 * 8;
  }
  return out + "]";
}

// Of the message at the beginning of the bytes, and what is known of its parts.
static std::string message(const Shown& v, int64_t received_bytes) {
  enum : size_t { name, vector, control, contents }; // Call::inner
  const auto part = [&](size_t n) { return n < v.call.inner.size() ? v.call.inner[n] : ByteSpan(); };
  const auto name_length = number_at<uint32_t>(v.bytes, 8);
  const uint64_t count = number_at<uint64_t>(v.bytes, 24), control_length = number_at<uint64_t>(v.bytes, 40);
  const bool received = is_received(v.call);
  if (received && v.call.failed()) return "{msg_namelen=" + std::to_string(name_length) + "}";
  std::string out = "{msg_name=";
  if (part(name).size() > 1 && number_at<uint64_t>(v.bytes, 0)) {
    const Shown address = {v.call, v.options, 0, part(name), false, 1};
    show_address(out, address);
  } else {
    out += pointer(number_at<uint64_t>(v.bytes, 0));
  }
  out += ", msg_namelen=" + std::to_string(name_length) + ", msg_iov=";
  constexpr uint16_t family_of_netlink = 16;
  Netlink netlink = {.protocol = v.options.sockets ? v.options.sockets->netlink_protocol(v.call.pid, static_cast<int>(v.call.arguments[0])) : std::nullopt};
  netlink.is_it = netlink.protocol || (number_at<uint64_t>(v.bytes, 0) && number_at<uint16_t>(part(name), 0) == family_of_netlink);
  const std::span<const ByteSpan> data = std::span(v.call.inner).subspan(std::min<size_t>(contents, v.call.inner.size()));
  out += part(vector).empty() ? pointer(number_at<uint64_t>(v.bytes, 16))
                              : vectors(part(vector), count, data, length_of_data(v, received, received_bytes), v.options.data, netlink);
  out += ", msg_iovlen=" + std::to_string(count);
  if (control_length) out += ", msg_control=" + (part(control).empty() ? pointer(number_at<uint64_t>(v.bytes, 32)) : control_messages(part(control)));
  const auto bits = number_at<uint32_t>(v.bytes, 48);
  return out + ", msg_controllen=" + std::to_string(control_length) + ", msg_flags=" + (bits ? flags("message_flags", bits) : "0") + "}";
}

void show_message(std::string& out, const Shown& v) { out += message(v, v.call.result); }

void show_messages(std::string& out, const Shown& v) {
  const auto length = number_at<uint32_t>(v.bytes, 56);
  if (v.call.failed() && is_received(v.call)) return void(out += pointer(v.value));
  if (v.call.failed()) return void(out += "[{msg_hdr=" + message(v, length) + (v.call.arguments[2] > 1 ? "}, ...]" : "}]"));
  out += "[{msg_hdr=" + message(v, length) + ", msg_len=" + std::to_string(length) + "}" + (v.call.arguments[2] > 1 ? ", ...]" : "]");
}

static std::string epoll_text(ByteSpan bytes, size_t at) {
  return "{events=" + flags("epoll_events", number_at<uint32_t>(bytes, at)) +
         ", data={u32=" + std::to_string(number_at<uint32_t>(bytes, at + 4)) +
         ", u64=" + std::to_string(number_at<uint64_t>(bytes, at + 4)) + "}}";
}

void show_epoll_event(std::string& out, const Shown& v) { out += epoll_text(v.bytes, 0); }

void show_epoll_events(std::string& out, const Shown& v) {
  out += "[";
  for (size_t at = 0; at + 12 <= v.bytes.size(); at += 12) out += (at ? ", " : "") + epoll_text(v.bytes, at);
  out += v.count * 12 > v.bytes.size() ? ", ...]" : "]";
}

// struct clone_args of linux/sched.h
void show_clone_args(std::string& out, const Shown& v) {
  enum : size_t {
    bits = 0,
    child_tid = 16,
    parent_tid = 24,
    exit_signal = 32,
    stack = 40,
    stack_size = 48,
    tls = 56
  };
  auto field = [&](size_t at) { return number_at<uint64_t>(v.bytes, at); };
  out += "{flags=" + flags("clone_flags", field(bits));
  if (field(child_tid)) out += ", child_tid=" + hexadecimal(field(child_tid));
  if (field(parent_tid)) out += ", parent_tid=" + hexadecimal(field(parent_tid));
  out += ", exit_signal=" + (field(exit_signal) ? signal(field(exit_signal)) : "0") +
         ", stack=" + pointer(field(stack)) +
         ", stack_size=" + (field(stack_size) ? hexadecimal(field(stack_size)) : "0");
  if (field(tls)) out += ", tls=" + hexadecimal(field(tls));
  out += "}";
  constexpr uint64_t tells_parent = 0x100000; // CLONE_PARENT_SETTID: the kernel writes there what it returns
  if (field(bits) & tells_parent && v.call.result > 0) out += " => {parent_tid=[" + std::to_string(v.call.result) + "]}";
}

void show_cpus(std::string& out, const Shown& v) {
  out += "[";
  const char* between = "";
  for (size_t i = 0; i < v.bytes.size() * 8; i++)
    if (std::to_integer<unsigned>(v.bytes[i / 8]) >> i % 8 & 1) {
      out.append(between).append(std::to_string(i));
      between = " ";
    }
  out += "]";
}

} // namespace trace
