// Names of numbers against the headers of this system: what a header defines under a name must be what the tables say. Names that no
// header has here are passed over; the headers of the kernel's newest user API have nearly all.
#include "scratch.h"
#include "spec/c_headers.h"
#include "spec/command_rows.h"
#include "spec/flag_sets.h"
#include "spec/numbers.h"
#include "spec/socket_options.h"
#include "spec/syscall_rows.h"
#include "spec/syscalls.h"

#include "base/text.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <set>

namespace spec {
namespace {

// Each set that a row or the code of a value names.
std::vector<const FlagSet*> sets() {
  std::set<std::string_view> names = {"whence", "fd_flags", "open_flags", "seals", "notify_events", "lock_type", "event_notice", "entry_type", "protocol",
                                      "netlink_protocol", "packet_protocol", "can_protocol", "bluetooth_protocol", "clone_flags", "capability", "bpf_map_type", "bpf_prog_type",
                                      "bpf_map_flags", "bpf_update_flags", "bpf_prog_flags", "perf_type", "perf_hardware", "perf_software", "perf_sample", "perf_read_format",
                                      "io_uring_setup_flags", "io_uring_features", "resolve_flags", "netlink_type", "netlink_flags", "netlink_get_flags", "netlink_new_flags",
                                      "route_type", "sched_flags", "cap_version", "semaphore_flags", "key_serial_number", "ipc_flag_bits", "shm_flag_bits", "shm_command",
                                      "sem_command", "msg_command", "ioctl_command", "family", "socket_level", "message_type", "message_flags", "epoll_events", "poll_events",
                                      "futex_operation", "sigaction_flags", "signal_stack_flags", "file_system", "mount_state", "mount_attribute_bits", "propagation",
                                      "landlock_access", "futex_waiter_flags", "memory_policy", "personality_type", "personality_flags", "quota_command", "quota_type",
                                      "io_priority_class", "audit_machine", "namespace_types", "fcntl_command", "prctl_option", "ptrace_request", "statx_mask"};
  auto add = [&](std::string_view words) {
    for (std::string_view word : base::split(words, ' '))
      if (const std::string_view name = word.substr(0, word.find(':')); find_flag_set(name)) names.insert(name);
  };
  for (int n = 0; n <= last_syscall; n++)
    if (const SyscallRow* row = find_syscall_row(syscall_name(n))) add(row->arguments), add(row->result);
  for (const CommandRow& row : command_rows()) add(row.arguments);
  std::vector<const FlagSet*> out;
  for (std::string_view name : names)
    if (const FlagSet* set = find_flag_set(name)) out.push_back(set);
  return out;
}

bool is_identifier(std::string_view name) {
  return !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0])) &&
         std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

// What the headers define: macros and enumerators. Those of the C library and of the kernel do not go together, so there are two programs.
class Headers : public testing::Test {
protected:
  static void SetUpTestSuite() {
    if (known) return;
    known = new std::map<std::string, uint64_t, std::less<>>;
    std::set<std::string> names;
    for (const FlagSet* set : sets())
      for (const NamedValue& v : set->values)
        if (is_identifier(v.name)) names.emplace(v.name);
    for (uint32_t level : {0, 1, 6, 17, 41, 263, 270})
      for (uint32_t n = 0; n < 256; n++)
        if (!socket_option(level, n).empty()) names.emplace(socket_option(level, n));
    for (int n = 0; n <= last_error; n++)
      if (!error_name(n).empty()) names.emplace(error_name(n));
    for (int n = 0; n <= last_syscall; n++)
      if (!syscall_name(n).empty()) names.insert("__NR_" + std::string(syscall_name(n)));
    constexpr const char* programs[] = {
        // the C library's
        "aio.h dirent.h errno.h fcntl.h mqueue.h netinet/in.h netinet/tcp.h netinet/udp.h poll.h sched.h signal.h sys/epoll.h sys/eventfd.h sys/fanotify.h "
        "sys/file.h sys/fsuid.h sys/inotify.h sys/ioctl.h sys/ipc.h sys/mman.h sys/mount.h sys/msg.h sys/personality.h sys/prctl.h sys/ptrace.h sys/quota.h "
        "sys/random.h sys/reboot.h sys/resource.h sys/sem.h sys/shm.h sys/signalfd.h sys/socket.h sys/stat.h sys/statvfs.h sys/swap.h sys/syscall.h "
        "sys/timerfd.h sys/wait.h sys/xattr.h termios.h time.h unistd.h sys/time.h sys/timex.h netpacket/packet.h",
        // the kernel's
        "linux/aio_abi.h linux/audit.h linux/bpf.h linux/capability.h linux/close_range.h linux/elf.h linux/falloc.h linux/fanotify.h linux/fcntl.h linux/fs.h "
        "linux/futex.h linux/if_ether.h linux/if_packet.h linux/in.h linux/in6.h linux/io_uring.h linux/ioprio.h linux/ipc.h linux/kcmp.h linux/kexec.h linux/keyctl.h "
        "linux/landlock.h linux/magic.h linux/membarrier.h linux/memfd.h linux/mempolicy.h linux/mman.h linux/module.h linux/mount.h linux/msg.h linux/netlink.h "
        "linux/nsfs.h linux/openat2.h linux/perf_event.h linux/personality.h linux/pidfd.h linux/prctl.h linux/ptrace.h linux/quota.h linux/random.h linux/reboot.h "
        "linux/rseq.h linux/rtnetlink.h linux/sched.h linux/seccomp.h linux/securebits.h linux/sem.h linux/shm.h linux/signalfd.h linux/sockios.h linux/stat.h "
        "linux/tcp.h linux/timerfd.h linux/udp.h linux/userfaultfd.h linux/wait.h linux/xattr.h asm/ioctls.h asm/prctl.h asm/socket.h asm/unistd.h linux/sched/types.h "
        "linux/ipv6_route.h linux/mqueue.h linux/can.h linux/kd.h linux/vt.h linux/loop.h linux/fsmap.h linux/tty.h linux/if_tun.h linux/hw_breakpoint.h linux/eventpoll.h"};
    Scratch scratch;
    for (const char* headers : programs) {
      std::string begin = "#define _GNU_SOURCE\n#include <stdio.h>\n";
      for (std::string_view h : base::split(headers, ' ')) begin.append("#if __has_include(<").append(h).append(">)\n#include <").append(h).append(">\n#endif\n");
      // A name that is a macro, or a word of what the headers declare.
      scratch.write("headers.c", begin);
      ASSERT_TRUE(scratch.run("gcc -E -dD headers.c > words")) << scratch.log();
      std::string text = begin + "static const struct { const char* name; unsigned long long value; } names[] = {\n";
      for (const std::string& n : in_both(names, scratch.read("words"))) text += "{\"" + n + "\", (unsigned long long)(" + n + ")},\n";
      scratch.write("names.c", text + "};\nint main(void) { for (int i = 0; i < sizeof names / sizeof *names; i++) printf(\"%s %llu\\n\", names[i].name, names[i].value); }\n");
      ASSERT_TRUE(scratch.run("gcc -w -o names names.c")) << scratch.log();
      ASSERT_TRUE(scratch.run("./names > values"));
      const std::string values = scratch.read("values");
      for (std::string_view line : base::split(values, '\n'))
        if (const size_t blank = line.find(' '); blank != line.npos)
          known->emplace(line.substr(0, blank), std::strtoull(line.data() + blank, nullptr, 10));
    }
  }
  static std::set<std::string> in_both(const std::set<std::string>& names, const std::string& text) {
    std::set<std::string> out;
    std::string word;
    for (char c : text + "\n")
      if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
        word += c;
      } else if (!word.empty()) {
        if (names.contains(word)) out.insert(word);
        word.clear();
      }
    return out;
  }
  static std::optional<uint64_t> value_of(std::string_view name) {
    const auto at = known->find(name);
    return at == known->end() ? std::nullopt : std::optional(at->second);
  }
  static inline std::map<std::string, uint64_t, std::less<>>* known = nullptr;
};

TEST_F(Headers, FlagsHaveTheValuesOfTheirNames) {
  // The C library has numbers of its own: where files are large anyway no bit for them, no locks of 64 bits, and __O_TMPFILE with O_DIRECTORY.
  constexpr std::string_view of_library[] = {"O_LARGEFILE", "F_GETLK64", "F_SETLK64", "F_SETLKW64", "__O_TMPFILE"};
  size_t compared = 0;
  for (const FlagSet* set : sets())
    for (const NamedValue& v : set->values)
      if (const auto value = value_of(v.name); value && !base::is_one_of(of_library, v.name)) {
        compared++;
        // Arguments of 32 bits: what is negative or above counts by its lower half.
        EXPECT_EQ(static_cast<uint32_t>(v.value), static_cast<uint32_t>(*value)) << set->name << ": " << std::string_view(v.name);
        const bool is_signed = *value >> 31 == 0x1ffffffff; // 1 << 31
        if (set->is_wide && !is_signed) {
          EXPECT_EQ(v.value, *value) << set->name << ": " << std::string_view(v.name);
        }
      }
  EXPECT_GT(compared, 800u);
}

TEST_F(Headers, SocketOptionsHaveTheNumbersOfTheirNames) {
  size_t compared = 0;
  for (uint32_t level : {0, 1, 6, 17, 41, 263, 270})
    for (uint32_t n = 0; n < 256; n++)
      if (const auto value = value_of(socket_option(level, n))) {
        compared++;
        EXPECT_EQ(n, *value) << socket_option(level, n);
      }
  EXPECT_GT(compared, 150u);
}

TEST_F(Headers, SystemCallsHaveTheNumbersOfTheirNames) {
  size_t compared = 0;
  for (int n = 0; n <= last_syscall; n++) {
    const std::string_view name = syscall_name(n);
    if (name.empty()) continue;
    EXPECT_EQ(syscall_named(name), n) << name;
    if (const auto value = value_of("__NR_" + std::string(name))) {
      compared++;
      EXPECT_EQ(static_cast<uint64_t>(n), *value) << name;
    }
  }
  EXPECT_GT(compared, 330u);
}

TEST_F(Headers, ErrorsHaveTheNumbersOfTheirNames) {
  for (int n = 0; n <= last_error; n++)
    if (const auto value = value_of(error_name(n))) {
      EXPECT_EQ(static_cast<uint64_t>(n), *value) << error_name(n);
    }
}

// ---- against the C library

TEST(Errors, AreThoseOfTheCLibrary) {
  for (int n = 0; n <= last_error; n++) {
    const char* name = ::strerrorname_np(n);
    EXPECT_EQ(error_name(n), !name || n == 0 ? std::string_view() : std::string_view(name)) << n;
    const char* text = ::strerrordesc_np(n);
    EXPECT_EQ(error_text(n), text ? std::string_view(text) : std::string_view()) << n;
  }
  for (int n : {-1, last_error + 1, INT32_MIN, INT32_MAX}) EXPECT_TRUE(error_name(n).empty() && error_text(n).empty()) << n;
}

TEST(Signals, AreThoseOfTheCLibrary) {
  for (int n = 1; n < 32; n++) {
    const char* name = ::sigabbrev_np(n);
    ASSERT_TRUE(name) << n;
    EXPECT_EQ(signal_name(n), n == SIGIO ? "SIGIO" : "SIG" + std::string(name)) << n; // signal(7): SIGPOLL is a synonym
  }
  EXPECT_EQ(signal_name(SIGRTMIN), "SIGRTMIN");
  EXPECT_EQ(signal_name(SIGRTMIN + 15), "SIGRTMIN+15") << "signal(7), kill -l";
  EXPECT_EQ(signal_name(SIGRTMAX - 14), "SIGRTMAX-14");
  EXPECT_EQ(signal_name(SIGRTMAX), "SIGRTMAX");
  for (int n : {0, -1, 32, 33, 65, INT32_MIN, INT32_MAX}) EXPECT_EQ(signal_name(n), "") << n;
}

TEST(Constants, AreFoundWithTheirPrefixes) {
  EXPECT_EQ(header_constant("ENOENT"), 2);
  EXPECT_EQ(header_constant("SIGKILL"), 9);
  EXPECT_EQ(header_constant("__NR_read"), 0);
  EXPECT_EQ(header_constant("SYS_openat"), 257);
  EXPECT_EQ(header_constant("AF_INET6"), 10);
  for (std::string_view none : {"", "read", "__NR_", "SYS_nothing", "ENOENTX", "SIGRTMIN+99"}) EXPECT_EQ(header_constant(none), std::nullopt) << none;
}

// ---- how flags are written

TEST(Flags, NoBitIsLost) {
  for (const FlagSet* set : sets())
    for (uint64_t value : {uint64_t{0}, uint64_t{1}, uint64_t{0xdeadbeef}, uint64_t{0xffffffff}, ~uint64_t{0}, uint64_t{1} << 63}) {
      uint64_t sum = 0;
      const std::string text = flags_text(*set, value);
      for (std::string_view word : base::split(text, '|')) {
        const auto named = std::ranges::find_if(set->values, [&](const NamedValue& v) { return v.name == word; });
        const auto number = base::parse_integer(word);
        ASSERT_TRUE(named != set->values.end() || number || word.starts_with("AT_STATX")) << set->name << ": " << word;
        sum |= named != set->values.end() ? named->value : number.value_or(0);
      }
      EXPECT_EQ(sum, value) << set->name << ": " << text;
    }
}

TEST(Flags, NoNameAndNoNumberIsTwice) {
  for (const FlagSet* set : sets()) {
    std::set<std::string_view> names;
    std::set<uint64_t> values;
    for (const NamedValue& v : set->values) {
      EXPECT_TRUE(names.insert(v.name).second) << set->name << ": " << std::string_view(v.name);
      EXPECT_TRUE(values.insert(v.value).second) << set->name << ": " << std::string_view(v.name) << " would never be shown";
    }
  }
}

// ---- groups of system calls

std::string members(std::string_view group) {
  std::set<std::string> names;
  for (int n = 0; n <= last_syscall; n++)
    if (is_in_group(syscall_name(n), group)) names.emplace(syscall_name(n));
  std::string out;
  for (const std::string& name : names) out.append(out.empty() ? "" : " ").append(name);
  return out;
}

// strace(1): "calls associated with process lifecycle", "calls that read or modify system clocks", "all signal related calls".
TEST(Groups, AreThoseOfStrace) {
  EXPECT_EQ(members("process"), "clone clone3 execve execveat exit exit_group fork kill pidfd_send_signal rt_sigqueueinfo rt_tgsigqueueinfo tgkill tkill vfork wait4 waitid");
  EXPECT_EQ(members("clock"), "adjtimex clock_adjtime clock_getres clock_gettime clock_settime gettimeofday settimeofday time");
  EXPECT_EQ(members("signal"), "io_uring_enter kill pause pidfd_send_signal rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend "
                               "rt_sigtimedwait rt_tgsigqueueinfo sigaltstack signalfd signalfd4 tgkill tkill");
  EXPECT_EQ(members("network"), members("net"));
  EXPECT_EQ(members("fstat"), "fstat newfstatat statx") << "strace(1): fstat, fstat64, fstatat64, newfstatat, statx and the like";
  EXPECT_EQ(members("nothing"), "");
  EXPECT_EQ(members(""), "");
}

TEST(Groups, AreKnownByName) {
  for (std::string_view name : {"file", "desc", "process", "net", "network", "memory", "signal", "ipc", "creds", "clock", "pure", "stat", "lstat", "fstat", "%stat", "statfs", "fstatfs", "%statfs"}) {
    EXPECT_TRUE(is_syscall_group(name)) << name;
    EXPECT_NE(members(name), "") << name;
  }
  for (std::string_view name : {"", "files", "%", "%net"}) EXPECT_FALSE(is_syscall_group(name)) << name;
}

TEST(Flags, SetsAreFoundByName) {
  EXPECT_EQ(find_flag_set("no_such_set"), nullptr);
  EXPECT_EQ(find_flag_set(""), nullptr);
  for (const FlagSet* set : sets()) EXPECT_EQ(find_flag_set(set->name), set);
}

} // namespace
} // namespace spec
