// Constants of the kernel and the C library that scripts expect of a header, beside the errors and signals of
// numbers.cc. They stand in for headers that are not on the machine, and for those that only the kernel's source
// has. Values: Linux's user API and include/linux for x86-64.
#include "spec/c_headers.h"

#include "base/inline_text.h"

#include <unordered_map>

namespace spec {

namespace {

struct Constant {
  base::InlineText<39> name;
  int64_t value;
};

// clang-format off
constexpr Constant constants[] = {
    // Address families and sockets: linux/socket.h, sys/socket.h
    {"AF_UNSPEC", 0}, {"AF_UNIX", 1}, {"AF_LOCAL", 1}, {"AF_INET", 2}, {"AF_AX25", 3}, {"AF_IPX", 4},
    {"AF_APPLETALK", 5}, {"AF_X25", 9}, {"AF_INET6", 10}, {"AF_NETLINK", 16}, {"AF_PACKET", 17},
    {"AF_BLUETOOTH", 31}, {"AF_CAN", 29}, {"AF_TIPC", 30}, {"AF_ALG", 38}, {"AF_VSOCK", 40}, {"AF_QIPCRTR", 42},
    {"AF_SMC", 43}, {"AF_XDP", 44}, {"PF_UNSPEC", 0}, {"PF_UNIX", 1}, {"PF_LOCAL", 1}, {"PF_INET", 2},
    {"PF_INET6", 10}, {"PF_NETLINK", 16}, {"PF_PACKET", 17}, {"PF_VSOCK", 40}, {"SOCK_STREAM", 1},
    {"SOCK_DGRAM", 2}, {"SOCK_RAW", 3}, {"SOCK_RDM", 4}, {"SOCK_SEQPACKET", 5}, {"SOCK_DCCP", 6},
    {"SOCK_PACKET", 10}, {"SOCK_CLOEXEC", 0x80000}, {"SOCK_NONBLOCK", 0x800}, {"SOL_SOCKET", 1}, {"SOL_IP", 0},
    {"SOL_TCP", 6}, {"SOL_UDP", 17}, {"SOL_IPV6", 41}, {"SO_REUSEADDR", 2}, {"SO_KEEPALIVE", 9},
    {"SO_BROADCAST", 6}, {"SO_LINGER", 13}, {"SO_REUSEPORT", 15}, {"SO_SNDBUF", 7}, {"SO_RCVBUF", 8},
    {"SOMAXCONN", 0x1000}, {"MSG_OOB", 1}, {"MSG_PEEK", 2}, {"MSG_DONTROUTE", 4}, {"MSG_TRUNC", 32},
    {"MSG_DONTWAIT", 64}, {"MSG_WAITALL", 0x100}, {"MSG_NOSIGNAL", 0x4000}, {"MSG_MORE", 0x8000},
    {"SHUT_RD", 0}, {"SHUT_WR", 1}, {"SHUT_RDWR", 2},
    // Protocols: linux/in.h, linux/in6.h, linux/if_ether.h, linux/tcp.h
    {"IPPROTO_IP", 0}, {"IPPROTO_ICMP", 1}, {"IPPROTO_IGMP", 2}, {"IPPROTO_IPIP", 4}, {"IPPROTO_TCP", 6},
    {"IPPROTO_EGP", 8}, {"IPPROTO_PUP", 12}, {"IPPROTO_UDP", 17}, {"IPPROTO_IDP", 22}, {"IPPROTO_DCCP", 33},
    {"IPPROTO_IPV6", 41}, {"IPPROTO_RSVP", 46}, {"IPPROTO_GRE", 47}, {"IPPROTO_ESP", 50}, {"IPPROTO_AH", 51},
    {"IPPROTO_ICMPV6", 58}, {"IPPROTO_SCTP", 132}, {"IPPROTO_UDPLITE", 136}, {"IPPROTO_MPLS", 137},
    {"IPPROTO_RAW", 255}, {"INADDR_ANY", 0}, {"INADDR_BROADCAST", 4294967295}, {"INADDR_LOOPBACK", 2130706433},
    {"INADDR_NONE", 4294967295}, {"INET_ADDRSTRLEN", 16}, {"INET6_ADDRSTRLEN", 46}, {"ETH_ALEN", 6},
    {"ETH_HLEN", 14}, {"ETH_ZLEN", 60}, {"ETH_DATA_LEN", 1500}, {"ETH_FRAME_LEN", 1514}, {"ETH_P_IP", 0x800},
    {"ETH_P_ARP", 2054}, {"ETH_P_IPV6", 34525}, {"ETH_P_8021Q", 33024}, {"ETH_P_8021AD", 34984},
    {"ETH_P_LOOP", 96}, {"ETH_P_ALL", 3}, {"ETH_P_MPLS_UC", 34887}, {"ETH_P_LLDP", 35020}, {"IFNAMSIZ", 16},
    {"TCP_NODELAY", 1}, {"TCP_MAXSEG", 2}, {"TCP_CORK", 3}, {"TCP_KEEPIDLE", 4}, {"TCP_SYNCNT", 7},
    {"TCP_DEFER_ACCEPT", 9}, {"TCP_INFO", 11}, {"TCP_QUICKACK", 12}, {"TCP_CONGESTION", 13},
    {"TCP_FASTOPEN", 23},
    // Messages about messages: linux/icmp.h, linux/icmpv6.h
    {"ICMP_ECHOREPLY", 0}, {"ICMP_DEST_UNREACH", 3}, {"ICMP_REDIRECT", 5}, {"ICMP_ECHO", 8},
    {"ICMP_TIME_EXCEEDED", 11}, {"ICMP_TIMESTAMP", 13}, {"ICMP_TIMESTAMPREPLY", 14}, {"ICMPV6_DEST_UNREACH", 1},
    {"ICMPV6_PKT_TOOBIG", 2}, {"ICMPV6_TIME_EXCEED", 3}, {"ICMPV6_ECHO_REQUEST", 128},
    {"ICMPV6_ECHO_REPLY", 129},
    // States of TCP: include/net/tcp_states.h
    {"TCP_ESTABLISHED", 1}, {"TCP_SYN_SENT", 2}, {"TCP_SYN_RECV", 3}, {"TCP_FIN_WAIT1", 4},
    {"TCP_FIN_WAIT2", 5}, {"TCP_TIME_WAIT", 6}, {"TCP_CLOSE", 7}, {"TCP_CLOSE_WAIT", 8}, {"TCP_LAST_ACK", 9},
    {"TCP_LISTEN", 10}, {"TCP_CLOSING", 11}, {"TCP_NEW_SYN_RECV", 12}, {"TCP_MAX_STATES", 14},
    {"TCPF_ESTABLISHED", 2}, {"TCPF_SYN_SENT", 4}, {"TCPF_SYN_RECV", 8}, {"TCPF_FIN_WAIT1", 16},
    {"TCPF_FIN_WAIT2", 32}, {"TCPF_TIME_WAIT", 64}, {"TCPF_CLOSE", 128}, {"TCPF_CLOSE_WAIT", 256},
    {"TCPF_LAST_ACK", 512}, {"TCPF_LISTEN", 1024}, {"TCPF_CLOSING", 2048}, {"TCPF_NEW_SYN_RECV", 4096},
    // Tasks: include/linux/sched.h, linux/sched.h
    {"TASK_COMM_LEN", 16}, {"TASK_RUNNING", 0}, {"TASK_INTERRUPTIBLE", 1}, {"TASK_UNINTERRUPTIBLE", 2},
    {"__TASK_STOPPED", 4}, {"__TASK_TRACED", 8}, {"EXIT_DEAD", 16}, {"EXIT_ZOMBIE", 32}, {"TASK_PARKED", 64},
    {"TASK_DEAD", 128}, {"TASK_WAKEKILL", 256}, {"TASK_WAKING", 512}, {"TASK_NOLOAD", 1024}, {"TASK_NEW", 2048},
    {"PF_IDLE", 2}, {"PF_EXITING", 4}, {"PF_WQ_WORKER", 32}, {"PF_KTHREAD", 2097152}, {"PF_FORKNOEXEC", 64},
    {"PF_SUPERPRIV", 256}, {"PF_MEMALLOC", 2048}, {"MAX_PRIO", 140}, {"MAX_RT_PRIO", 100}, {"SCHED_NORMAL", 0},
    {"SCHED_OTHER", 0}, {"SCHED_FIFO", 1}, {"SCHED_RR", 2}, {"SCHED_BATCH", 3}, {"SCHED_IDLE", 5},
    {"SCHED_DEADLINE", 6}, {"CLONE_VM", 0x100}, {"CLONE_FS", 0x200}, {"CLONE_FILES", 0x400},
    {"CLONE_SIGHAND", 0x800}, {"CLONE_PTRACE", 0x2000}, {"CLONE_VFORK", 0x4000}, {"CLONE_PARENT", 0x8000},
    {"CLONE_THREAD", 0x10000}, {"CLONE_NEWNS", 0x20000}, {"CLONE_SYSVSEM", 0x40000}, {"CLONE_SETTLS", 0x80000},
    {"CLONE_PARENT_SETTID", 0x100000}, {"CLONE_CHILD_CLEARTID", 0x200000}, {"CLONE_DETACHED", 0x400000},
    {"CLONE_UNTRACED", 0x800000}, {"CLONE_CHILD_SETTID", 0x1000000}, {"CLONE_NEWCGROUP", 0x2000000},
    {"CLONE_NEWUTS", 0x4000000}, {"CLONE_NEWIPC", 0x8000000}, {"CLONE_NEWUSER", 0x10000000},
    {"CLONE_NEWPID", 0x20000000}, {"CLONE_NEWNET", 0x40000000}, {"CLONE_IO", 0x80000000},
    // Files: linux/limits.h, linux/fs.h, linux/stat.h, linux/fcntl.h
    {"PATH_MAX", 0x1000}, {"NAME_MAX", 255}, {"ARG_MAX", 131072}, {"PIPE_BUF", 0x1000}, {"NR_OPEN", 1024},
    {"S_IFMT", 61440}, {"S_IFSOCK", 49152}, {"S_IFLNK", 40960}, {"S_IFREG", 0x8000}, {"S_IFBLK", 24576},
    {"S_IFDIR", 0x4000}, {"S_IFCHR", 0x2000}, {"S_IFIFO", 0x1000}, {"S_ISUID", 0x800}, {"S_ISGID", 0x400},
    {"S_ISVTX", 0x200}, {"S_IRWXU", 448}, {"S_IRUSR", 0x100}, {"S_IWUSR", 128}, {"S_IXUSR", 64},
    {"S_IRWXG", 56}, {"S_IRGRP", 32}, {"S_IWGRP", 16}, {"S_IXGRP", 8}, {"S_IRWXO", 7}, {"S_IROTH", 4},
    {"S_IWOTH", 2}, {"S_IXOTH", 1}, {"O_ACCMODE", 3}, {"O_RDONLY", 0}, {"O_WRONLY", 1}, {"O_RDWR", 2},
    {"O_CREAT", 64}, {"O_EXCL", 128}, {"O_NOCTTY", 0x100}, {"O_TRUNC", 0x200}, {"O_APPEND", 0x400},
    {"O_NONBLOCK", 0x800}, {"O_DSYNC", 0x1000}, {"O_SYNC", 1052672}, {"O_CLOEXEC", 0x80000},
    {"O_PATH", 0x200000}, {"AT_FDCWD", -100}, {"AT_SYMLINK_NOFOLLOW", 0x100}, {"AT_REMOVEDIR", 0x200},
    {"AT_EMPTY_PATH", 0x1000}, {"SEEK_SET", 0}, {"SEEK_CUR", 1}, {"SEEK_END", 2}, {"FMODE_READ", 1},
    {"FMODE_WRITE", 2}, {"FMODE_EXEC", 32}, {"MINORBITS", 20}, {"MINORMASK", 1048575}, {"F_DUPFD", 0},
    {"F_GETFD", 1}, {"F_SETFD", 2}, {"F_GETFL", 3}, {"F_SETFL", 4}, {"LOCK_SH", 1}, {"LOCK_EX", 2},
    {"LOCK_NB", 4}, {"LOCK_UN", 8}, {"F_OK", 0}, {"R_OK", 4}, {"W_OK", 2}, {"X_OK", 1}, {"MS_RDONLY", 1},
    {"MS_NOSUID", 2}, {"MS_NODEV", 4}, {"MS_NOEXEC", 8}, {"MS_REMOUNT", 32}, {"MS_BIND", 0x1000},
    {"MS_REC", 0x4000}, {"DT_UNKNOWN", 0}, {"DT_FIFO", 1}, {"DT_CHR", 2}, {"DT_DIR", 4}, {"DT_BLK", 6},
    {"DT_REG", 8}, {"DT_LNK", 10}, {"DT_SOCK", 12}, {"DT_WHT", 14},
    // Block devices: include/linux/blk_types.h
    {"REQ_OP_BITS", 8}, {"REQ_OP_MASK", 255}, {"REQ_OP_READ", 0}, {"REQ_OP_WRITE", 1}, {"REQ_OP_FLUSH", 2},
    {"REQ_OP_DISCARD", 3}, {"SECTOR_SHIFT", 9}, {"SECTOR_SIZE", 512},
    // Memory: linux/mman.h, include/linux/page-flags.h
    {"PROT_NONE", 0}, {"PROT_READ", 1}, {"PROT_WRITE", 2}, {"PROT_EXEC", 4}, {"MAP_SHARED", 1},
    {"MAP_PRIVATE", 2}, {"MAP_FIXED", 16}, {"MAP_ANONYMOUS", 32}, {"MAP_GROWSDOWN", 0x100},
    {"MAP_LOCKED", 0x2000}, {"MAP_NORESERVE", 0x4000}, {"MAP_POPULATE", 0x8000}, {"MAP_STACK", 0x20000},
    {"MAP_HUGETLB", 0x40000}, {"VM_READ", 1}, {"VM_WRITE", 2}, {"VM_EXEC", 4}, {"VM_SHARED", 8},
    {"PAGE_SHIFT", 12}, {"PAGE_SIZE", 4096}, {"MADV_NORMAL", 0}, {"MADV_DONTNEED", 4}, {"MADV_FREE", 8},
    {"MADV_HUGEPAGE", 14},
    // Signals beside their numbers: linux/signal.h
    {"SI_USER", 0}, {"SI_KERNEL", 128}, {"SI_QUEUE", -1}, {"SI_TIMER", -2}, {"SI_TKILL", -6},
    // Times: linux/time.h, include/linux/time64.h
    {"CLOCK_REALTIME", 0}, {"CLOCK_MONOTONIC", 1}, {"CLOCK_PROCESS_CPUTIME_ID", 2},
    {"CLOCK_THREAD_CPUTIME_ID", 3}, {"CLOCK_MONOTONIC_RAW", 4}, {"CLOCK_BOOTTIME", 7}, {"CLOCK_TAI", 11},
    {"NSEC_PER_SEC", 1000000000}, {"NSEC_PER_MSEC", 1000000}, {"NSEC_PER_USEC", 1000},
    {"USEC_PER_SEC", 1000000}, {"USEC_PER_MSEC", 1000}, {"MSEC_PER_SEC", 1000},
    // Ends of waiting: linux/futex.h, linux/eventpoll.h, linux/wait.h, linux/ptrace.h
    {"FUTEX_WAIT", 0}, {"FUTEX_WAKE", 1}, {"FUTEX_FD", 2}, {"FUTEX_REQUEUE", 3}, {"FUTEX_CMP_REQUEUE", 4},
    {"FUTEX_WAKE_OP", 5}, {"FUTEX_LOCK_PI", 6}, {"FUTEX_UNLOCK_PI", 7}, {"FUTEX_TRYLOCK_PI", 8},
    {"FUTEX_WAIT_BITSET", 9}, {"FUTEX_WAKE_BITSET", 10}, {"FUTEX_PRIVATE_FLAG", 128},
    {"FUTEX_CLOCK_REALTIME", 0x100}, {"EPOLLIN", 1}, {"EPOLLPRI", 2}, {"EPOLLOUT", 4}, {"EPOLLERR", 8},
    {"EPOLLHUP", 16}, {"EPOLLET", 0x80000000}, {"POLLIN", 1}, {"POLLPRI", 2}, {"POLLOUT", 4}, {"POLLERR", 8},
    {"POLLHUP", 16}, {"POLLNVAL", 32}, {"WNOHANG", 1}, {"WUNTRACED", 2}, {"PTRACE_TRACEME", 0},
    {"PTRACE_PEEKTEXT", 1}, {"PTRACE_PEEKDATA", 2}, {"PTRACE_CONT", 7}, {"PTRACE_KILL", 8},
    {"PTRACE_ATTACH", 16}, {"PTRACE_DETACH", 17},
    // Errors: second names, and those of include/linux/errno.h, which stay within the kernel
    {"EWOULDBLOCK", 11}, {"EDEADLOCK", 35}, {"ENOTSUP", 95}, {"SIGIOT", 6}, {"SIGPOLL", 29},
    {"MAX_ERRNO", 4095}, {"ERESTARTSYS", 512}, {"ERESTARTNOINTR", 513}, {"ERESTARTNOHAND", 514},
    {"ENOIOCTLCMD", 515}, {"EPROBE_DEFER", 517}, {"ENOTSUPP", 524},
    // Limits: limits.h, stdint.h
    {"CHAR_BIT", 8}, {"INT_MAX", 2147483647}, {"INT_MIN", -2147483647 - 1}, {"UINT_MAX", 4294967295},
    {"LONG_MAX", 9223372036854775807}, {"LONG_MIN", INT64_MIN}, {"SHRT_MAX", 32767}, {"SHRT_MIN", -32768},
    {"USHRT_MAX", 65535}, {"INT8_MAX", 127}, {"INT16_MAX", 32767}, {"INT32_MAX", 2147483647},
    {"INT64_MAX", 9223372036854775807}, {"UINT8_MAX", 255}, {"UINT16_MAX", 65535}, {"UINT32_MAX", 4294967295},
};
// clang-format on

} // namespace

std::optional<int64_t> find_c_constant(std::string_view name) {
  static const auto by_name = [] {
    std::unordered_map<std::string_view, int64_t> made;
    for (const Constant& c : constants) made[c.name] = c.value;
    return made;
  }();
  auto it = by_name.find(name);
  if (it == by_name.end()) return std::nullopt;
  return it->second;
}

} // namespace spec
