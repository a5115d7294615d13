// Calls as text, from registers and copied bytes that stand here.
#include "base/text.h"
#include "trace/plan.h"
#include "trace/summary.h"
#include "trace/text.h"
#include "trace/values.h"

#include "spec/command_rows.h"
#include "spec/syscalls.h"

#include <cstring>
#include <gtest/gtest.h>

namespace trace {
namespace {

Call call_of(std::string_view name, std::array<uint64_t, 6> arguments, int64_t result) {
  Call c;
  c.number = spec::syscall_named(name);
  c.arguments = arguments;
  c.result = result;
  return c;
}

base::ByteSpan bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

std::string shown(Call c, std::initializer_list<std::pair<int, std::string_view>> copied = {},
                  Options options = {}) {
  for (auto& [at, text] : copied) c.copied[static_cast<size_t>(at)] = bytes(text);
  return call_text(c, options);
}

constexpr uint64_t here = 0x7f0000001000, cwd = static_cast<uint32_t>(-100);

TEST(Trace, TextsFlagsAndErrors) {
  EXPECT_EQ(
      shown(call_of("openat", {cwd, here, 02000000}, 3), {{1, std::string_view("/etc/passwd\0junk", 16)}}),
      "openat(AT_FDCWD, \"/etc/passwd\", O_RDONLY|O_CLOEXEC) = 3");
  EXPECT_EQ(shown(call_of("openat", {cwd, here, 01101, 0644}, -13), {{1, "/x"}}),
            "openat(AT_FDCWD, \"/x\", O_WRONLY|O_CREAT|O_TRUNC, 0644) = -1 EACCES (Permission denied)");
  EXPECT_EQ(shown(call_of("openat", {cwd, here, 0}, -14)),
            "openat(AT_FDCWD, 0x7f0000001000, O_RDONLY) = -1 EFAULT (Bad address)");
  EXPECT_EQ(shown(call_of("access", {here, 4}, 0), {{0, "/"}}),
            "access(\"/\", R_OK)                       = 0");
  EXPECT_EQ(shown(call_of("mmap", {0, 8192, 3, 0x22, 0xffffffff, 0}, here)),
            "mmap(NULL, 8192, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f0000001000");
  EXPECT_EQ(shown(call_of("umask", {022}, 0)), "umask(022)                              = 000");
  EXPECT_EQ(shown(call_of("exit_group", {3}, 0)), "exit_group(3)                           = ?");
  EXPECT_EQ(shown(call_of("futex", {here, 128, 2, 0}, -512)),
            "futex(0x7f0000001000, FUTEX_WAIT_PRIVATE, 2, NULL) = ? ERESTARTSYS (restarted if SA_RESTART is set)");
}

// Numbers as they are in memory.
template<class... T> std::string packed(T... numbers) {
  std::string out;
  (out.append(reinterpret_cast<const char*>(&numbers), sizeof numbers), ...);
  return out;
}

TEST(Trace, SignalsHaveWhatTheirCodeSays) {
  const std::string ended = packed(17, 0, 1, 0, 4711, 0, 3, 0, 5L, 6L);
  EXPECT_EQ(signal_text(17, 1, bytes(ended)),
            "--- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=4711, si_uid=0, si_status=3, si_utime=5, si_stime=6} ---");
  const std::string fault = packed(11, 0, 1, 0, 0x10L, 0L, 0L, 0L);
  EXPECT_EQ(signal_text(11, 1, bytes(fault)), "--- SIGSEGV {si_signo=SIGSEGV, si_code=SEGV_MAPERR, si_addr=0x10} ---");
  EXPECT_EQ(signal_text(15, unknown_code), "--- SIGTERM {si_signo=SIGTERM} ---");
}

TEST(Trace, SetsOfSelectAreThoseBeforeAndAfter) {
  const std::string in = packed(uint64_t{0b1001}), out = packed(uint64_t{0b1000});
  Call c = call_of("select", {4, here, 0, 0, 0}, 1);
  c.sets = {bytes(in), {}, {}, bytes(out), {}, {}, {}};
  EXPECT_EQ(call_text(c, {}), "select(4, [0 3], NULL, NULL, NULL)      = 1 (in [3])");
}

TEST(Trace, MessagesOfNetlinkAreKnownByTheirAddress) {
  const std::string message = packed(20u, uint16_t{18}, uint16_t{0x301}, 1u, 0, 0u), address = packed(uint16_t{16}, uint16_t{0}, 0, 0u);
  EXPECT_EQ(shown(call_of("sendto", {3, here, 20, 0, here, 12}, 20), {{1, message}, {4, address}}),
            "sendto(3, [{nlmsg_len=20, nlmsg_type=0x12, nlmsg_flags=NLM_F_REQUEST|0x300, nlmsg_seq=1, nlmsg_pid=0}, \"\\0\\0\\0\\0\"], 20, 0, "
            "{sa_family=AF_NETLINK, nl_pid=0, nl_groups=00000000}, 12) = 20");
  EXPECT_EQ(shown(call_of("sendto", {3, here, 20, 0, 0, 0}, 20), {{1, message}}).substr(0, 14), "sendto(3, \"\\24");
}

TEST(Trace, AttributesOfBpfAreThoseOfTheCommand) {
  const std::string map = packed(2u, 4u, 8u, 1u, 0u, 0u, 0u) + std::string("numbers\0\0\0\0\0\0\0\0\0", 16);
  EXPECT_EQ(shown(call_of("bpf", {0, here, map.size()}, 3), {{1, map}}),
            "bpf(BPF_MAP_CREATE, {map_type=BPF_MAP_TYPE_ARRAY, key_size=4, value_size=8, max_entries=1, map_flags=0, inner_map_fd=0, map_name=\"numbers\"}, 44) = 3");
  EXPECT_EQ(shown(call_of("bpf", {99, here, 8}, -22), {{1, map}}), "bpf(0x63, 0x7f0000001000, 8)            = -1 EINVAL (Invalid argument)");
}

TEST(Trace, TimesHaveTheShapesOfStrace) {
  EXPECT_EQ(clock_text(1'700'000'000'123'456'789, ClockTimes::since_epoch), "1700000000.123456");
  EXPECT_EQ(clock_text(1'700'000'000'123'456'789, ClockTimes::microseconds).size(), 15U);
  EXPECT_EQ(clock_text(1'700'000'000'123'456'789, ClockTimes::seconds).size(), 8U);
}

TEST(Trace, DataIsCutAndEscaped) {
  EXPECT_EQ(shown(call_of("write", {1, here, 3}, 3), {{1, "a\n\x01"}}),
            R"(write(1, "a\n\1", 3)                    = 3)");
  EXPECT_EQ(shown(call_of("write", {1, here, 6}, 6), {{1, "abcdef"}}, {.data = 4}),
            R"(write(1, "abcd"..., 6)                  = 6)");
  EXPECT_EQ(shown(call_of("read", {0, here, 10}, 0)), R"(read(0, "", 10)                         = 0)");
  EXPECT_EQ(shown(call_of("read", {0, here, 10}, -9)),
            "read(0, 0x7f0000001000, 10)             = -1 EBADF (Bad file descriptor)");
  EXPECT_EQ(quoted(bytes("\x01"
                         "2\\\""),
                   true),
            R"("\0012\\\""...)"); // a digit follows
  EXPECT_EQ(quoted(bytes("\x08" "78"), false), R"("\01078")");
  EXPECT_EQ(quoted(bytes("\x08" "87"), false), R"("\1087")"); // 8 is no octal digit
}

TEST(Trace, Structures) {
  std::string limits(16, '\0'), action(32, '\0'), address("\x02\0\0\x50\x7f\0\0\x01", 8), poll(8, '\0');
  const uint64_t soft = 8 << 20, hard = ~uint64_t{0}, restorer = here, bits = 0x14000000, mask = 1u << 16;
  std::memcpy(limits.data(), &soft, 8);
  std::memcpy(limits.data() + 8, &hard, 8);
  EXPECT_EQ(shown(call_of("prlimit64", {0, 3, 0, here}, 0), {{3, limits}}),
            "prlimit64(0, RLIMIT_STACK, NULL, {rlim_cur=8192*1024, rlim_max=RLIM64_INFINITY}) = 0");
  std::memcpy(action.data() + 8, &bits, 8);
  std::memcpy(action.data() + 16, &restorer, 8);
  std::memcpy(action.data() + 24, &mask, 8);
  EXPECT_EQ(shown(call_of("rt_sigaction", {2, here, 0, 8}, 0), {{1, action}}),
            "rt_sigaction(SIGINT, {sa_handler=SIG_DFL, sa_mask=[CHLD], sa_flags=SA_RESTORER|SA_RESTART, "
            "sa_restorer=0x7f0000001000}, "
            "NULL, 8) = 0");
  EXPECT_EQ(shown(call_of("connect", {3, here, 16}, 0), {{1, address}}),
            "connect(3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr(\"127.0.0.1\")}, 16) = 0");
  poll[0] = 3, poll[4] = 1, poll[6] = 1;
  EXPECT_EQ(shown(call_of("poll", {here, 1, 100}, 1), {{0, poll}}),
            "poll([{fd=3, events=POLLIN}], 1, 100)   = 1 ([{fd=3, revents=POLLIN}])");
  EXPECT_EQ(
      shown(call_of("execve", {here, here, here}, 0), {{0, "/bin/ls"}, {1, std::string_view("ls\0-l\0", 6)}}),
      "execve(\"/bin/ls\", [\"ls\", \"-l\"], 0x7f0000001000) = 0");
}

TEST(Trace, SignalsAreNumberedAsTheKernelDoes) {
  EXPECT_EQ(signal(17), "SIGCHLD");
  EXPECT_EQ(signal(32), "SIGRTMIN");
  EXPECT_EQ(signal(33), "SIGRT_1");
  EXPECT_EQ(signal(99), "99");
  EXPECT_EQ(signal_set(0), "[]");
  EXPECT_EQ(signal_set(~uint64_t{1}), "~[HUP]");
}

TEST(Trace, BytesMayEndAnywhere) {
  // Each call with each count of copied bytes up to what the largest structure has: never more is read.
  for (int n = 0; n <= spec::last_syscall; n++) {
    if (spec::syscall_name(n).empty()) continue;
    for (size_t size : {0, 1, 3, 7, 8, 15, 31, 64, 111, 255, 256}) {
      std::string some(size, '\x7f');
      Call c = call_of(spec::syscall_name(n), {here, here, here, here, here, here}, 1);
      for (auto& copied : c.copied) copied = bytes(some);
      EXPECT_TRUE(call_text(c, {}).starts_with(spec::syscall_name(n)));
    }
  }
}

// Those of a row that name neither a kind of value nor a set.
std::string unknown_words(std::string_view words) {
  std::string out;
  for (std::string_view word : base::split(words, ' ')) {
    const std::string_view name = word.substr(0, word.find(':'));
    if (name.empty()) continue;
    const Argument read = read_arguments(name).front();
    if (!read.set && read.kind->name != name) out.append(" ").append(name);
  }
  return out;
}

TEST(Trace, RowsNameWhatThereIs) {
  int rows = 0, with_memory = 0;
  for (int n = 0; n <= spec::last_syscall; n++) {
    const spec::SyscallRow* row = spec::find_syscall_row(spec::syscall_name(n));
    if (!row) continue;
    rows++;
    with_memory += plan_of(row->name).shape != Shape::nothing;
    for (const Argument& a : read_arguments(row->arguments)) EXPECT_TRUE(a.kind || a.set) << std::string_view(row->name);
    EXPECT_EQ(unknown_words(row->arguments) + unknown_words(row->result), "") << std::string_view(row->name);
  }
  EXPECT_GE(rows, 250);
  EXPECT_GE(with_memory, 100);
}

TEST(Trace, CommandRowsNameWhatThereIs) {
  for (const spec::CommandRow& row : spec::command_rows()) {
    ASSERT_TRUE(spec::find_command_call(row.call)) << row.call;
    ASSERT_TRUE(spec::find_syscall_row(row.call)) << row.call;
    EXPECT_EQ(unknown_words(row.arguments), "") << row.call;
  }
}

TEST(Trace, CommandsDecideWhatArgumentsThereAre) {
  EXPECT_EQ(shown(call_of("prctl", {38, 1, 0, 0, 0}, 0)), "prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)  = 0");
  EXPECT_EQ(shown(call_of("prctl", {7, 1, 2}, 0)), "prctl(PR_GET_KEEPCAPS)                  = 0");
  EXPECT_EQ(shown(call_of("ptrace", {16, 4711, 1, 2}, 0)), "ptrace(PTRACE_ATTACH, 4711)             = 0");
  EXPECT_EQ(shown(call_of("ptrace", {7, 4711, 1, 9}, 0)), "ptrace(PTRACE_CONT, 4711, 0x1, SIGKILL) = 0");
  EXPECT_EQ(shown(call_of("keyctl", {3, 0xfffffffd, 7}, 0)), "keyctl(KEYCTL_REVOKE, KEY_SPEC_SESSION_KEYRING) = 0");
  EXPECT_EQ(shown(call_of("ioctl", {3, 0x5451, 7}, 0)), "ioctl(3, FIOCLEX)                       = 0");
  EXPECT_EQ(shown(call_of("ioctl", {3, 0xc0187eff, 0}, -25)), "ioctl(3, _IOC(_IOC_READ|_IOC_WRITE, 0x7e, 0xff, 0x18), 0) = -1 ENOTTY (Inappropriate ioctl for device)");
  EXPECT_EQ(shown(call_of("quotactl", {0x80000700, 0, 1, 0}, -14)), "quotactl(QCMD(Q_GETQUOTA, USRQUOTA), NULL, 1, NULL) = -1 EFAULT (Bad address)");
}

TEST(Trace, BitsWithoutANameHaveThePlaceTheSetSays) {
  EXPECT_EQ(shown(call_of("mmap", {0, 1, 0, 0x1f, 3, 0}, -22)), "mmap(NULL, 1, PROT_NONE, 0xf|MAP_FIXED, 3, 0) = -1 EINVAL (Invalid argument)");
  EXPECT_EQ(shown(call_of("socket", {1, 02000017, 0}, -22)), "socket(AF_UNIX, SOCK_CLOEXEC|0xf, 0)    = -1 EINVAL (Invalid argument)");
  EXPECT_EQ(shown(call_of("sched_get_priority_max", {~uint64_t{0}}, -22)), "sched_get_priority_max(0xffffffff)      = -1 EINVAL (Invalid argument)");
  EXPECT_EQ(shown(call_of("umount2", {0, ~uint64_t{0}}, -14)),
            "umount2(NULL, MNT_FORCE|MNT_DETACH|MNT_EXPIRE|UMOUNT_NOFOLLOW|0xfffffff0) = -1 EFAULT (Bad address)");
  EXPECT_EQ(shown(call_of("pkey_alloc", {0, ~uint64_t{0}}, -22)),
            "pkey_alloc(0, PKEY_DISABLE_ACCESS|PKEY_DISABLE_WRITE|PKEY_DISABLE_EXECUTE|0xfffffffffffffff8) = -1 EINVAL (Invalid argument)");
}

TEST(Trace, ArraysWithoutElementsAreEmpty) {
  EXPECT_EQ(shown(call_of("writev", {3, here, 0}, 0)), "writev(3, [], 0)                        = 0");
  EXPECT_EQ(shown(call_of("semop", {1, here, 0}, -22)), "semop(1, [], 0)                         = -1 EINVAL (Invalid argument)");
  const std::string nodes = packed(uint64_t{5}, uint64_t{1});
  EXPECT_EQ(shown(call_of("set_mempolicy", {2, here, 129}, 0), {{1, nodes}}), "set_mempolicy(MPOL_BIND, [0x00000000000005, 0x00000000000001], 129) = 0");
}

TEST(Trace, AFutexHasWhatItsOperationTakes) {
  EXPECT_EQ(shown(call_of("futex", {here, 393, 7, 0, here, 0xffffffff}, 0)),
            "futex(0x7f0000001000, FUTEX_WAIT_BITSET_PRIVATE|FUTEX_CLOCK_REALTIME, 7, NULL, FUTEX_BITSET_MATCH_ANY) = 0");
  EXPECT_EQ(shown(call_of("futex", {here, 7, 1, 2, 3, 4}, 0)), "futex(0x7f0000001000, FUTEX_UNLOCK_PI)  = 0");
  EXPECT_EQ(shown(call_of("futex", {here, 5, 1, 1, here, 0x04000001}, 1)),
            "futex(0x7f0000001000, FUTEX_WAKE_OP, 1, 1, 0x7f0000001000, FUTEX_OP_SET<<28|0<<12|FUTEX_OP_CMP_GT<<24|0x1) = 1");
}

TEST(Trace, NamesAreThoseOfTheLevelAndTheFamily) {
  EXPECT_EQ(shown(call_of("getsockopt", {3, 41, 67, 0, 0}, 0)), "getsockopt(3, SOL_IPV6, IPV6_TCLASS, NULL, NULL) = 0");
  EXPECT_EQ(shown(call_of("getsockopt", {3, 1, 99, 0, 0}, 0)), "getsockopt(3, SOL_SOCKET, 0x63, NULL, NULL) = 0");
  EXPECT_EQ(shown(call_of("socket", {17, 3, 0x0300}, 3)), "socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL)) = 3");
  EXPECT_EQ(shown(call_of("open", {0, 020000000, 0600}, -14)), "open(NULL, O_RDONLY|__O_TMPFILE, 0600)  = -1 EFAULT (Bad address)");
  EXPECT_EQ(shown(call_of("ptrace", {3, 7, 120, here}, 0)), "ptrace(PTRACE_PEEKUSER, 7, 8*ORIG_RAX, 0x7f0000001000) = 0");
  EXPECT_EQ(shown(call_of("ioctl", {0, 0x540b, 2}, 0)), "ioctl(0, TCFLSH, TCIOFLUSH)             = 0");
}

TEST(Trace, OptionsAndHandlesHaveTheirStructures) {
  const std::string linger = packed(1, 5), timeout = packed(2L, 0L), handle = packed(4u, 1) + std::string("\1\2\3\4", 4);
  EXPECT_EQ(shown(call_of("setsockopt", {3, 1, 13, here, 8}, 0), {{3, linger}}), "setsockopt(3, SOL_SOCKET, SO_LINGER, {l_onoff=1, l_linger=5}, 8) = 0");
  EXPECT_EQ(shown(call_of("setsockopt", {3, 1, 20, here, 16}, 0), {{3, timeout}}), "setsockopt(3, SOL_SOCKET, SO_RCVTIMEO_OLD, {tv_sec=2, tv_usec=0}, 16) = 0");
  EXPECT_EQ(shown(call_of("open_by_handle_at", {3, here, 0}, 4), {{1, handle}}),
            R"(open_by_handle_at(3, {handle_bytes=4, handle_type=1, f_handle="\x01\x02\x03\x04"}, O_RDONLY) = 4)");
}

TEST(Trace, AnAddressIsNoTimeout) {
  EXPECT_FALSE(unpack_timeout(here));
  EXPECT_FALSE(unpack_timeout(~uint64_t{0}));
  EXPECT_EQ(unpack_timeout(uint64_t{1} << 63 | uint64_t{2} << 30 | 3)->seconds, 2U);
}

TEST(Trace, PlansTakeTextsFirst) {
  EXPECT_EQ(plan_of("newfstatat").shape, Shape::text_and_memory);
  EXPECT_EQ(plan_of("newfstatat").slots[0].argument, 1);
  EXPECT_EQ(plan_of("renameat").shape, Shape::two_texts);
  EXPECT_EQ(plan_of("read").slots[0].counted, Plan::by_result);
  EXPECT_EQ(plan_of("write").slots[0].counted, 3);
  EXPECT_FALSE(plan_of("exit_group").returns);
  EXPECT_NE(plan_of("getpid").pack(), 0u);
}

// Rows in which each argument is told as what it is, and rows at all.
TEST(Trace, MostCallsAreDecoded) {
  size_t rows = 0, whole = 0;
  for (int n = 0; n <= spec::last_syscall; n++) {
    const spec::SyscallRow* row = spec::find_syscall_row(spec::syscall_name(n));
    if (!row) continue;
    rows++;
    const std::string words = " " + std::string(row->arguments) + " ";
    whole += words.find(" ptr ") == words.npos && words.find(" hex ") == words.npos;
  }
  EXPECT_GE(rows, 360u);
  EXPECT_GE(whole, 290u);
}

TEST(Trace, CallsOf32BitProgramsHaveTheirOwnNumbers) {
  constexpr int of_32 = Call::first_of_32;
  EXPECT_EQ(call_name(of_32 + 3), "read");
  EXPECT_EQ(call_name(of_32 + 4), "write");
  EXPECT_EQ(call_name(of_32 + 999), "syscall_0x3e7");
  EXPECT_EQ(row_of(of_32 + 90), nullptr); // mmap(2) takes a structure there
  EXPECT_EQ(plan_of(of_32 + 33).shape, Shape::text);      // access
  EXPECT_EQ(plan_of(of_32 + 13).shape, Shape::nothing);   // time
  EXPECT_EQ(plan_of(of_32 + 370).shape, Shape::nothing);  // sendmsg: a structure
  EXPECT_EQ(plan_of("sendmsg").shape, Shape::message);
}

TEST(Trace, MessagesHaveTheirParts) {
  struct {
    uint64_t name = here, name_length = 16, vector = here, vectors = 2, control = here, control_length = 20, flags = 0;
  } header;
  const uint64_t parts[] = {here, 3, here + 9, 40};
  const uint32_t rights[] = {20, 0, 1, 1, 7}; // cmsg_len of 8 bytes, SOL_SOCKET, SCM_RIGHTS
  const std::string_view address("\2\0\0\x50\x7f\0\0\1\0\0\0\0\0\0\0\0", 16), longer = "0123456789012345678901234567890123456789";
  Call c = call_of("sendmsg", {3, here, 0}, 43);
  c.copied[1] = std::as_bytes(std::span(&header, 1));
  c.inner = {bytes(address), std::as_bytes(std::span(parts)), std::as_bytes(std::span(rights)), bytes("abc"), bytes(longer)};
  EXPECT_EQ(call_text(c, {.data = 8}),
            "sendmsg(3, {msg_name={sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr(\"127.0.0.1\")}, msg_namelen=16, "
            "msg_iov=[{iov_base=\"abc\", iov_len=3}, {iov_base=\"01234567\"..., iov_len=40}], msg_iovlen=2, "
            "msg_control=[{cmsg_len=20, cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, cmsg_data=[7]}], msg_controllen=20, msg_flags=0}, 0) = 43");
  c.number = spec::syscall_named("recvmsg"), c.result = -11;
  EXPECT_EQ(call_text(c, {}), "recvmsg(3, {msg_namelen=16}, 0)         = -1 EAGAIN (Resource temporarily unavailable)");
}

TEST(Trace, TheTableHasTheLayoutOfStrace) {
  const std::map<int, CallCount> counts = {{1, {.calls = 2, .errors = 0, .ns = 2'000'000, .timed = 2}}, {0, {.calls = 4, .errors = 1, .ns = 8'000'000, .timed = 1}}, {39, {.calls = 3}}};
  EXPECT_EQ(sorted_counts(counts, SortCounts::errors)[0].name, "read");
  EXPECT_EQ(summary_text(sorted_counts(counts, SortCounts::time)),
            "% time     seconds  usecs/call     calls    errors syscall\n"
            "------ ----------- ----------- --------- --------- ----------------\n"
            " 80.00    0.008000        2000         4         1 read\n"
            " 20.00    0.002000        1000         2           write\n"
            "     -           -           -         3           getpid\n"
            "------ ----------- ----------- --------- --------- ----------------\n"
            "100.00    0.010000        1111         9         1 total\n");
}

// Those that nobody timed took as long as the others of their part; before the first that was timed, as long as that one.
TEST(Trace, CallsWithoutATimeAreLikeThoseBesideThem) {
  CountedCalls calls;
  calls.add({{0, {.timed = 10, .ns = 1000}}, {1, {.untimed = 5}}});
  EXPECT_EQ(calls.counts().at(0).ns, 1000u);
  EXPECT_EQ(calls.counts().at(1).ns, 0u);
  calls.add({{0, {.timed = 12, .ns = 1020, .untimed = 30, .errors = 2}}, {1, {.timed = 1, .ns = 7, .untimed = 5}}});
  EXPECT_EQ(calls.counts().at(0).ns, 1020u + 30 * 10); // 2 calls of 10 ns each in this part
  EXPECT_EQ(calls.counts().at(1).ns, 7u + 5 * 7);
  calls.add({{0, {.timed = 12, .ns = 1020, .untimed = 42, .errors = 2}}});
  EXPECT_EQ(calls.counts().at(0).ns, 1020u + 30 * 10 + 12 * 85); // none was timed: as all before, 1020 / 12
  EXPECT_EQ(calls.counts().at(0).calls, 54u);
  EXPECT_EQ(calls.counts().at(0).errors, 2u);
  EXPECT_EQ(calls.counts().at(0).timed, 12u);
}

} // namespace
} // namespace trace
