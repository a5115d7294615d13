#include "spec/flag_sets.h"

#include <charconv>
#include <unordered_map>

namespace spec {

namespace {

// clang-format off
constexpr NamedValue open_flags[] = {
    {0, "O_RDONLY"}, {1, "O_WRONLY"}, {2, "O_RDWR"}, {3, "O_ACCMODE"},
    {0100, "O_CREAT"}, {0200, "O_EXCL"}, {0400, "O_NOCTTY"}, {01000, "O_TRUNC"}, {02000, "O_APPEND"}, {04000, "O_NONBLOCK"},
    {04010000, "O_SYNC"}, {020000, "O_ASYNC"}, {010000, "O_DSYNC"}, {040000, "O_DIRECT"}, {0100000, "O_LARGEFILE"},
    {0400000, "O_NOFOLLOW"}, {01000000, "O_NOATIME"}, {02000000, "O_CLOEXEC"}, {010000000, "O_PATH"}, {020200000, "O_TMPFILE"},
    {0200000, "O_DIRECTORY"}};
constexpr NamedValue descriptor_flags[] = {{04000, "O_NONBLOCK"}, {040000, "O_DIRECT"}, {02000000, "O_CLOEXEC"}};
constexpr NamedValue at_flags[] = {
    {0x100, "AT_SYMLINK_NOFOLLOW"}, {0x400, "AT_SYMLINK_FOLLOW"}, {0x800, "AT_NO_AUTOMOUNT"}, {0x1000, "AT_EMPTY_PATH"},
    {0x2000, "AT_STATX_FORCE_SYNC"}, {0x4000, "AT_STATX_DONT_SYNC"}, {0x8000, "AT_RECURSIVE"}};
constexpr NamedValue statx_flags[] = {
    {0, "AT_STATX_SYNC_AS_STAT"}, {0x2000, "AT_STATX_FORCE_SYNC"}, {0x4000, "AT_STATX_DONT_SYNC"}, {0x100, "AT_SYMLINK_NOFOLLOW"},
    {0x400, "AT_SYMLINK_FOLLOW"}, {0x800, "AT_NO_AUTOMOUNT"}, {0x1000, "AT_EMPTY_PATH"}};
constexpr NamedValue unlink_flags[] = {{0x200, "AT_REMOVEDIR"}};
constexpr NamedValue access_flags[] = {{0x100, "AT_SYMLINK_NOFOLLOW"}, {0x200, "AT_EACCESS"}, {0x1000, "AT_EMPTY_PATH"}};
constexpr NamedValue access_mode[] = {{0, "F_OK"}, {1, "X_OK"}, {2, "W_OK"}, {4, "R_OK"}};
constexpr NamedValue rename_flags[] = {{1, "RENAME_NOREPLACE"}, {2, "RENAME_EXCHANGE"}, {4, "RENAME_WHITEOUT"}};
constexpr NamedValue close_range_flags[] = {{2, "CLOSE_RANGE_UNSHARE"}, {4, "CLOSE_RANGE_CLOEXEC"}};
constexpr NamedValue prot[] = {
    {0, "PROT_NONE"}, {1, "PROT_READ"}, {2, "PROT_WRITE"}, {4, "PROT_EXEC"}, {0x1000000, "PROT_GROWSDOWN"}, {0x2000000, "PROT_GROWSUP"}};
constexpr NamedValue map_flags[] = {
    {1, "MAP_SHARED"}, {2, "MAP_PRIVATE"}, {3, "MAP_SHARED_VALIDATE"},
    {0x10, "MAP_FIXED"}, {0x20, "MAP_ANONYMOUS"}, {0x40, "MAP_32BIT"}, {0x4000, "MAP_NORESERVE"}, {0x8000, "MAP_POPULATE"},
    {0x10000, "MAP_NONBLOCK"}, {0x100, "MAP_GROWSDOWN"}, {0x800, "MAP_DENYWRITE"}, {0x1000, "MAP_EXECUTABLE"},
    {0x2000, "MAP_LOCKED"}, {0x20000, "MAP_STACK"}, {0x40000, "MAP_HUGETLB"}, {0x80000, "MAP_SYNC"},
    {0x100000, "MAP_FIXED_NOREPLACE"}};
constexpr NamedValue mremap_flags[] = {{1, "MREMAP_MAYMOVE"}, {2, "MREMAP_FIXED"}, {4, "MREMAP_DONTUNMAP"}};
constexpr NamedValue msync_flags[] = {{1, "MS_ASYNC"}, {2, "MS_INVALIDATE"}, {4, "MS_SYNC"}};
constexpr NamedValue madvise[] = {
    {0, "MADV_NORMAL"}, {1, "MADV_RANDOM"}, {2, "MADV_SEQUENTIAL"}, {3, "MADV_WILLNEED"}, {4, "MADV_DONTNEED"}, {8, "MADV_FREE"},
    {9, "MADV_REMOVE"}, {10, "MADV_DONTFORK"}, {11, "MADV_DOFORK"}, {12, "MADV_MERGEABLE"}, {13, "MADV_UNMERGEABLE"},
    {14, "MADV_HUGEPAGE"}, {15, "MADV_NOHUGEPAGE"}, {16, "MADV_DONTDUMP"}, {17, "MADV_DODUMP"}, {18, "MADV_WIPEONFORK"},
    {19, "MADV_KEEPONFORK"}, {20, "MADV_COLD"}, {21, "MADV_PAGEOUT"}, {22, "MADV_POPULATE_READ"}, {23, "MADV_POPULATE_WRITE"},
    {25, "MADV_COLLAPSE"}};
constexpr NamedValue fadvise[] = {
    {0, "POSIX_FADV_NORMAL"}, {1, "POSIX_FADV_RANDOM"}, {2, "POSIX_FADV_SEQUENTIAL"}, {3, "POSIX_FADV_WILLNEED"},
    {4, "POSIX_FADV_DONTNEED"}, {5, "POSIX_FADV_NOREUSE"}};
constexpr NamedValue whence[] = {{0, "SEEK_SET"}, {1, "SEEK_CUR"}, {2, "SEEK_END"}, {3, "SEEK_DATA"}, {4, "SEEK_HOLE"}};
constexpr NamedValue fcntl_command[] = {
    {0, "F_DUPFD"}, {1, "F_GETFD"}, {2, "F_SETFD"}, {3, "F_GETFL"}, {4, "F_SETFL"}, {5, "F_GETLK"}, {6, "F_SETLK"}, {7, "F_SETLKW"},
    {8, "F_SETOWN"}, {9, "F_GETOWN"}, {10, "F_SETSIG"}, {11, "F_GETSIG"}, {15, "F_SETOWN_EX"}, {16, "F_GETOWN_EX"},
    {36, "F_OFD_GETLK"}, {37, "F_OFD_SETLK"}, {38, "F_OFD_SETLKW"}, {1024, "F_SETLEASE"}, {1025, "F_GETLEASE"}, {1026, "F_NOTIFY"},
    {1030, "F_DUPFD_CLOEXEC"}, {1031, "F_SETPIPE_SZ"}, {1032, "F_GETPIPE_SZ"}, {1033, "F_ADD_SEALS"}, {1034, "F_GET_SEALS"}};
constexpr NamedValue entry_types[] = {{0, "DT_UNKNOWN"}, {1, "DT_FIFO"}, {2, "DT_CHR"}, {4, "DT_DIR"}, {6, "DT_BLK"}, {8, "DT_REG"}, {10, "DT_LNK"}, {12, "DT_SOCK"}, {14, "DT_WHT"}};
constexpr NamedValue lock_types[] = {{0, "F_RDLCK"}, {1, "F_WRLCK"}, {2, "F_UNLCK"}};
constexpr NamedValue event_notices[] = {{0, "SIGEV_SIGNAL"}, {1, "SIGEV_NONE"}, {2, "SIGEV_THREAD"}, {4, "SIGEV_THREAD_ID"}};
constexpr NamedValue rw_flags[] = {{1, "RWF_HIPRI"}, {2, "RWF_DSYNC"}, {4, "RWF_SYNC"}, {8, "RWF_NOWAIT"}, {0x10, "RWF_APPEND"}};
constexpr NamedValue message_types[] = {{1, "SCM_RIGHTS"}, {2, "SCM_CREDENTIALS"}, {3, "SCM_SECURITY"}, {4, "SCM_PIDFD"}};
constexpr NamedValue notify_events[] = {
    {1, "DN_ACCESS"}, {2, "DN_MODIFY"}, {4, "DN_CREATE"}, {8, "DN_DELETE"}, {0x10, "DN_RENAME"}, {0x20, "DN_ATTRIB"}, {0x80000000, "DN_MULTISHOT"}};
constexpr NamedValue seals[] = {
    {1, "F_SEAL_SEAL"}, {2, "F_SEAL_SHRINK"}, {4, "F_SEAL_GROW"}, {8, "F_SEAL_WRITE"}, {0x10, "F_SEAL_FUTURE_WRITE"}, {0x20, "F_SEAL_EXEC"}};
constexpr NamedValue ipc_flags[] = {{01000, "IPC_CREAT"}, {02000, "IPC_EXCL"}, {04000, "IPC_NOWAIT"}};
constexpr NamedValue shm_flags[] = {{01000, "IPC_CREAT"}, {02000, "IPC_EXCL"}, {04000, "SHM_HUGETLB"}, {010000, "SHM_NORESERVE"}};
constexpr NamedValue shmat_flags[] = {{010000, "SHM_RDONLY"}, {020000, "SHM_RND"}, {040000, "SHM_REMAP"}, {0100000, "SHM_EXEC"}};
constexpr NamedValue message_queue_flags[] = {{04000, "IPC_NOWAIT"}, {010000, "MSG_NOERROR"}, {020000, "MSG_EXCEPT"}, {040000, "MSG_COPY"}};
constexpr NamedValue shm_command[] = {
    {0, "IPC_RMID"}, {1, "IPC_SET"}, {2, "IPC_STAT"}, {3, "IPC_INFO"}, {11, "SHM_LOCK"}, {12, "SHM_UNLOCK"}, {13, "SHM_STAT"}, {14, "SHM_INFO"}, {15, "SHM_STAT_ANY"}};
constexpr NamedValue sem_command[] = {
    {0, "IPC_RMID"}, {1, "IPC_SET"}, {2, "IPC_STAT"}, {3, "IPC_INFO"}, {11, "GETPID"}, {12, "GETVAL"}, {13, "GETALL"}, {14, "GETNCNT"},
    {15, "GETZCNT"}, {16, "SETVAL"}, {17, "SETALL"}, {18, "SEM_STAT"}, {19, "SEM_INFO"}, {20, "SEM_STAT_ANY"}};
constexpr NamedValue msg_command[] = {
    {0, "IPC_RMID"}, {1, "IPC_SET"}, {2, "IPC_STAT"}, {3, "IPC_INFO"}, {11, "MSG_STAT"}, {12, "MSG_INFO"}, {13, "MSG_STAT_ANY"}};
constexpr NamedValue netlink_protocol[] = {
    {0, "NETLINK_ROUTE"}, {2, "NETLINK_USERSOCK"}, {4, "NETLINK_SOCK_DIAG"}, {5, "NETLINK_NFLOG"}, {6, "NETLINK_XFRM"}, {7, "NETLINK_SELINUX"},
    {8, "NETLINK_ISCSI"}, {9, "NETLINK_AUDIT"}, {10, "NETLINK_FIB_LOOKUP"}, {11, "NETLINK_CONNECTOR"}, {12, "NETLINK_NETFILTER"}, {14, "NETLINK_DNRTMSG"},
    {15, "NETLINK_KOBJECT_UEVENT"}, {16, "NETLINK_GENERIC"}, {18, "NETLINK_SCSITRANSPORT"}, {19, "NETLINK_ECRYPTFS"}, {20, "NETLINK_RDMA"},
    {21, "NETLINK_CRYPTO"}, {22, "NETLINK_SMC"}};
constexpr NamedValue memory_policy[] = {
    {0, "MPOL_DEFAULT"}, {1, "MPOL_PREFERRED"}, {2, "MPOL_BIND"}, {3, "MPOL_INTERLEAVE"}, {4, "MPOL_LOCAL"}, {5, "MPOL_PREFERRED_MANY"}, {6, "MPOL_WEIGHTED_INTERLEAVE"}, {0x2000, "MPOL_F_NUMA_BALANCING"}, {0x4000, "MPOL_F_RELATIVE_NODES"}, {0x8000, "MPOL_F_STATIC_NODES"}};
constexpr NamedValue mbind_flags[] = {{1, "MPOL_MF_STRICT"}, {2, "MPOL_MF_MOVE"}, {4, "MPOL_MF_MOVE_ALL"}};
constexpr NamedValue policy_flags[] = {{1, "MPOL_F_NODE"}, {2, "MPOL_F_ADDR"}, {4, "MPOL_F_MEMS_ALLOWED"}};
constexpr NamedValue kcmp_type[] = {
    {0, "KCMP_FILE"}, {1, "KCMP_VM"}, {2, "KCMP_FILES"}, {3, "KCMP_FS"}, {4, "KCMP_SIGHAND"}, {5, "KCMP_IO"}, {6, "KCMP_SYSVSEM"}, {7, "KCMP_EPOLL_TFD"}};
constexpr NamedValue timerfd_set_flags[] = {{1, "TFD_TIMER_ABSTIME"}, {2, "TFD_TIMER_CANCEL_ON_SET"}};
constexpr NamedValue mlockall_flags[] = {{1, "MCL_CURRENT"}, {2, "MCL_FUTURE"}, {4, "MCL_ONFAULT"}};
constexpr NamedValue ioprio_who[] = {{1, "IOPRIO_WHO_PROCESS"}, {2, "IOPRIO_WHO_PGRP"}, {3, "IOPRIO_WHO_USER"}};
constexpr NamedValue xattr_flags[] = {
    {1, "XATTR_CREATE"}, {2, "XATTR_REPLACE"}};
constexpr NamedValue inotify_events[] = {
    {1, "IN_ACCESS"}, {2, "IN_MODIFY"}, {4, "IN_ATTRIB"}, {8, "IN_CLOSE_WRITE"}, {0x10, "IN_CLOSE_NOWRITE"}, {0x20, "IN_OPEN"},
    {0x40, "IN_MOVED_FROM"}, {0x80, "IN_MOVED_TO"}, {0x100, "IN_CREATE"}, {0x200, "IN_DELETE"}, {0x400, "IN_DELETE_SELF"},
    {0x800, "IN_MOVE_SELF"}, {0x2000, "IN_UNMOUNT"}, {0x4000, "IN_Q_OVERFLOW"}, {0x8000, "IN_IGNORED"}, {0x1000000, "IN_ONLYDIR"},
    {0x2000000, "IN_DONT_FOLLOW"}, {0x4000000, "IN_EXCL_UNLINK"}, {0x10000000, "IN_MASK_CREATE"}, {0x20000000, "IN_MASK_ADD"},
    {0x40000000, "IN_ISDIR"}, {0x80000000, "IN_ONESHOT"}};
constexpr NamedValue fanotify_flags[] = {
    {1, "FAN_CLOEXEC"}, {2, "FAN_NONBLOCK"}, {4, "FAN_CLASS_CONTENT"}, {8, "FAN_CLASS_PRE_CONTENT"}, {0x10, "FAN_UNLIMITED_QUEUE"},
    {0x20, "FAN_UNLIMITED_MARKS"}, {0x40, "FAN_ENABLE_AUDIT"}, {0x80, "FAN_REPORT_PIDFD"}, {0x100, "FAN_REPORT_TID"},
    {0x200, "FAN_REPORT_FID"}, {0x400, "FAN_REPORT_DIR_FID"}, {0x800, "FAN_REPORT_NAME"}, {0x1000, "FAN_REPORT_TARGET_FID"}};
constexpr NamedValue fanotify_mark_flags[] = {
    {1, "FAN_MARK_ADD"}, {2, "FAN_MARK_REMOVE"}, {4, "FAN_MARK_DONT_FOLLOW"}, {8, "FAN_MARK_ONLYDIR"}, {0x10, "FAN_MARK_MOUNT"},
    {0x20, "FAN_MARK_IGNORED_MASK"}, {0x40, "FAN_MARK_IGNORED_SURV_MODIFY"}, {0x80, "FAN_MARK_FLUSH"}, {0x100, "FAN_MARK_FILESYSTEM"},
    {0x200, "FAN_MARK_EVICTABLE"}, {0x400, "FAN_MARK_IGNORE"}};
constexpr NamedValue fanotify_events[] = {
    {1, "FAN_ACCESS"}, {2, "FAN_MODIFY"}, {4, "FAN_ATTRIB"}, {8, "FAN_CLOSE_WRITE"}, {0x10, "FAN_CLOSE_NOWRITE"}, {0x20, "FAN_OPEN"},
    {0x40, "FAN_MOVED_FROM"}, {0x80, "FAN_MOVED_TO"}, {0x100, "FAN_CREATE"}, {0x200, "FAN_DELETE"}, {0x400, "FAN_DELETE_SELF"},
    {0x800, "FAN_MOVE_SELF"}, {0x1000, "FAN_OPEN_EXEC"}, {0x4000, "FAN_Q_OVERFLOW"}, {0x8000, "FAN_FS_ERROR"},
    {0x10000, "FAN_OPEN_PERM"}, {0x20000, "FAN_ACCESS_PERM"}, {0x40000, "FAN_OPEN_EXEC_PERM"}, {0x8000000, "FAN_EVENT_ON_CHILD"},
    {0x10000000, "FAN_RENAME"}, {0x40000000, "FAN_ONDIR"}};
constexpr NamedValue sched_policy[] = {
    {0, "SCHED_OTHER"}, {1, "SCHED_FIFO"}, {2, "SCHED_RR"}, {3, "SCHED_BATCH"}, {5, "SCHED_IDLE"}, {6, "SCHED_DEADLINE"},
    {7, "SCHED_EXT"}, {0x40000000, "SCHED_RESET_ON_FORK"}};
constexpr NamedValue pidfd_flags[] = {
    {0200, "PIDFD_THREAD"}, {04000, "PIDFD_NONBLOCK"}};
constexpr NamedValue perf_flags[] = {
    {1, "PERF_FLAG_FD_NO_GROUP"}, {2, "PERF_FLAG_FD_OUTPUT"}, {4, "PERF_FLAG_PID_CGROUP"}, {8, "PERF_FLAG_FD_CLOEXEC"}};
constexpr NamedValue io_uring_enter_flags[] = {
    {1, "IORING_ENTER_GETEVENTS"}, {2, "IORING_ENTER_SQ_WAKEUP"}, {4, "IORING_ENTER_SQ_WAIT"}, {8, "IORING_ENTER_EXT_ARG"},
    {16, "IORING_ENTER_REGISTERED_RING"}};
constexpr NamedValue mlock2_flags[] = {
    {1, "MLOCK_ONFAULT"}};
constexpr NamedValue bpf_command[] = {
    {0, "BPF_MAP_CREATE"}, {1, "BPF_MAP_LOOKUP_ELEM"}, {2, "BPF_MAP_UPDATE_ELEM"}, {3, "BPF_MAP_DELETE_ELEM"},
    {4, "BPF_MAP_GET_NEXT_KEY"}, {5, "BPF_PROG_LOAD"}, {6, "BPF_OBJ_PIN"}, {7, "BPF_OBJ_GET"}, {8, "BPF_PROG_ATTACH"},
    {9, "BPF_PROG_DETACH"}, {10, "BPF_PROG_TEST_RUN"}, {11, "BPF_PROG_GET_NEXT_ID"}, {12, "BPF_MAP_GET_NEXT_ID"},
    {13, "BPF_PROG_GET_FD_BY_ID"}, {14, "BPF_MAP_GET_FD_BY_ID"}, {15, "BPF_OBJ_GET_INFO_BY_FD"}, {16, "BPF_PROG_QUERY"},
    {17, "BPF_RAW_TRACEPOINT_OPEN"}, {18, "BPF_BTF_LOAD"}, {19, "BPF_BTF_GET_FD_BY_ID"}, {20, "BPF_TASK_FD_QUERY"},
    {21, "BPF_MAP_LOOKUP_AND_DELETE_ELEM"}, {22, "BPF_MAP_FREEZE"}, {23, "BPF_BTF_GET_NEXT_ID"}, {24, "BPF_MAP_LOOKUP_BATCH"},
    {25, "BPF_MAP_LOOKUP_AND_DELETE_BATCH"}, {26, "BPF_MAP_UPDATE_BATCH"}, {27, "BPF_MAP_DELETE_BATCH"}, {28, "BPF_LINK_CREATE"},
    {29, "BPF_LINK_UPDATE"}, {30, "BPF_LINK_GET_FD_BY_ID"}, {31, "BPF_LINK_GET_NEXT_ID"}, {32, "BPF_ENABLE_STATS"},
    {33, "BPF_ITER_CREATE"}, {34, "BPF_LINK_DETACH"}, {35, "BPF_PROG_BIND_MAP"}, {36, "BPF_TOKEN_CREATE"}};
constexpr NamedValue keyctl_operation[] = {
    {0, "KEYCTL_GET_KEYRING_ID"}, {1, "KEYCTL_JOIN_SESSION_KEYRING"}, {2, "KEYCTL_UPDATE"}, {3, "KEYCTL_REVOKE"}, {4, "KEYCTL_CHOWN"},
    {5, "KEYCTL_SETPERM"}, {6, "KEYCTL_DESCRIBE"}, {7, "KEYCTL_CLEAR"}, {8, "KEYCTL_LINK"}, {9, "KEYCTL_UNLINK"},
    {10, "KEYCTL_SEARCH"}, {11, "KEYCTL_READ"}, {12, "KEYCTL_INSTANTIATE"}, {13, "KEYCTL_NEGATE"}, {14, "KEYCTL_SET_REQKEY_KEYRING"},
    {15, "KEYCTL_SET_TIMEOUT"}, {16, "KEYCTL_ASSUME_AUTHORITY"}, {17, "KEYCTL_GET_SECURITY"}, {18, "KEYCTL_SESSION_TO_PARENT"},
    {19, "KEYCTL_REJECT"}, {20, "KEYCTL_INSTANTIATE_IOV"}, {21, "KEYCTL_INVALIDATE"}, {22, "KEYCTL_GET_PERSISTENT"},
    {23, "KEYCTL_DH_COMPUTE"}, {24, "KEYCTL_PKEY_QUERY"}, {25, "KEYCTL_PKEY_ENCRYPT"}, {26, "KEYCTL_PKEY_DECRYPT"},
    {27, "KEYCTL_PKEY_SIGN"}, {28, "KEYCTL_PKEY_VERIFY"}, {29, "KEYCTL_RESTRICT_KEYRING"}, {30, "KEYCTL_MOVE"},
    {31, "KEYCTL_CAPABILITIES"}, {32, "KEYCTL_WATCH_KEY"}};
constexpr NamedValue io_uring_operation[] = {
    {0, "IORING_REGISTER_BUFFERS"}, {1, "IORING_UNREGISTER_BUFFERS"}, {2, "IORING_REGISTER_FILES"}, {3, "IORING_UNREGISTER_FILES"},
    {4, "IORING_REGISTER_EVENTFD"}, {5, "IORING_UNREGISTER_EVENTFD"}, {6, "IORING_REGISTER_FILES_UPDATE"},
    {7, "IORING_REGISTER_EVENTFD_ASYNC"}, {8, "IORING_REGISTER_PROBE"}, {9, "IORING_REGISTER_PERSONALITY"},
    {10, "IORING_UNREGISTER_PERSONALITY"}, {11, "IORING_REGISTER_RESTRICTIONS"}, {12, "IORING_REGISTER_ENABLE_RINGS"},
    {13, "IORING_REGISTER_FILES2"}, {14, "IORING_REGISTER_FILES_UPDATE2"}, {15, "IORING_REGISTER_BUFFERS2"},
    {16, "IORING_REGISTER_BUFFERS_UPDATE"}, {17, "IORING_REGISTER_IOWQ_AFF"}, {18, "IORING_UNREGISTER_IOWQ_AFF"},
    {19, "IORING_REGISTER_IOWQ_MAX_WORKERS"}, {20, "IORING_REGISTER_RING_FDS"}, {21, "IORING_UNREGISTER_RING_FDS"},
    {22, "IORING_REGISTER_PBUF_RING"}, {23, "IORING_UNREGISTER_PBUF_RING"}, {24, "IORING_REGISTER_SYNC_CANCEL"},
    {25, "IORING_REGISTER_FILE_ALLOC_RANGE"}, {26, "IORING_REGISTER_PBUF_STATUS"}, {27, "IORING_REGISTER_NAPI"},
    {28, "IORING_UNREGISTER_NAPI"}, {29, "IORING_REGISTER_CLOCK"}, {30, "IORING_REGISTER_CLONE_BUFFERS"},
    {31, "IORING_REGISTER_SEND_MSG_RING"}, {32, "IORING_REGISTER_ZCRX_IFQ"}, {33, "IORING_REGISTER_RESIZE_RINGS"},
    {34, "IORING_REGISTER_MEM_REGION"}};
constexpr NamedValue fd_flags[] = {{1, "FD_CLOEXEC"}};
constexpr NamedValue flock_operation[] = {{1, "LOCK_SH"}, {2, "LOCK_EX"}, {8, "LOCK_UN"}, {4, "LOCK_NB"}};
constexpr NamedValue ioctl_command[] = {
    {0x5401, "TCGETS"}, {0x5402, "TCSETS"}, {0x5403, "TCSETSW"}, {0x5404, "TCSETSF"}, {0x5409, "TCSBRK"}, {0x540b, "TCFLSH"},
    {0x540e, "TIOCSCTTY"}, {0x540f, "TIOCGPGRP"}, {0x5410, "TIOCSPGRP"}, {0x5413, "TIOCGWINSZ"}, {0x5414, "TIOCSWINSZ"},
    {0x541b, "FIONREAD"}, {0x5421, "FIONBIO"}, {0x5422, "TIOCNOTTY"}, {0x5429, "TIOCGSID"}, {0x5450, "FIONCLEX"}, {0x5451, "FIOCLEX"},
    {0x5452, "FIOASYNC"}, {0x80045430, "TIOCGPTN"}, {0x40045431, "TIOCSPTLCK"}, {0x5441, "TIOCGPTPEER"}, {0x40049409, "FICLONE"},
    {0x8912, "SIOCGIFCONF"}, {0x8913, "SIOCGIFFLAGS"}, {0x8915, "SIOCGIFADDR"}, {0x8933, "SIOCGIFINDEX"}, {0x8946, "SIOCETHTOOL"},
    {0x80081272, "BLKGETSIZE64"}, {0x2400, "PERF_EVENT_IOC_ENABLE"}, {0x2401, "PERF_EVENT_IOC_DISABLE"}, {0x80086601, "FS_IOC_GETFLAGS"}};
constexpr NamedValue family[] = {
    {0, "AF_UNSPEC"}, {1, "AF_UNIX"}, {2, "AF_INET"}, {10, "AF_INET6"}, {16, "AF_NETLINK"}, {17, "AF_PACKET"}, {31, "AF_BLUETOOTH"},
    {38, "AF_ALG"}, {40, "AF_VSOCK"}, {44, "AF_XDP"}};
constexpr NamedValue socket_type[] = {
    {1, "SOCK_STREAM"}, {2, "SOCK_DGRAM"}, {3, "SOCK_RAW"}, {4, "SOCK_RDM"}, {5, "SOCK_SEQPACKET"}, {10, "SOCK_PACKET"},
    {02000000, "SOCK_CLOEXEC"}, {04000, "SOCK_NONBLOCK"}};
constexpr NamedValue socket_flags[] = {{02000000, "SOCK_CLOEXEC"}, {04000, "SOCK_NONBLOCK"}};
constexpr NamedValue message_flags[] = {
    {1, "MSG_OOB"}, {2, "MSG_PEEK"}, {4, "MSG_DONTROUTE"}, {8, "MSG_CTRUNC"}, {0x20, "MSG_TRUNC"}, {0x40, "MSG_DONTWAIT"},
    {0x80, "MSG_EOR"}, {0x100, "MSG_WAITALL"}, {0x800, "MSG_CONFIRM"}, {0x2000, "MSG_ERRQUEUE"}, {0x4000, "MSG_NOSIGNAL"},
    {0x8000, "MSG_MORE"}, {0x10000, "MSG_WAITFORONE"}, {0x4000000, "MSG_ZEROCOPY"}, {0x20000000, "MSG_FASTOPEN"},
    {0x40000000, "MSG_CMSG_CLOEXEC"}};
constexpr NamedValue protocol[] = {
    {0, "IPPROTO_IP"}, {1, "IPPROTO_ICMP"}, {6, "IPPROTO_TCP"}, {17, "IPPROTO_UDP"}, {41, "IPPROTO_IPV6"}, {58, "IPPROTO_ICMPV6"},
    {132, "IPPROTO_SCTP"}, {255, "IPPROTO_RAW"}, {262, "IPPROTO_MPTCP"}};
constexpr NamedValue shutdown_how[] = {{0, "SHUT_RD"}, {1, "SHUT_WR"}, {2, "SHUT_RDWR"}};
constexpr NamedValue socket_level[] = {
    {0, "SOL_IP"}, {1, "SOL_SOCKET"}, {6, "SOL_TCP"}, {17, "SOL_UDP"}, {41, "SOL_IPV6"}, {255, "SOL_RAW"}, {263, "SOL_PACKET"},
    {270, "SOL_NETLINK"}};
constexpr NamedValue epoll_operation[] = {{1, "EPOLL_CTL_ADD"}, {2, "EPOLL_CTL_DEL"}, {3, "EPOLL_CTL_MOD"}};
constexpr NamedValue epoll_flags[] = {{02000000, "EPOLL_CLOEXEC"}};
constexpr NamedValue epoll_events[] = {
    {1, "EPOLLIN"}, {2, "EPOLLPRI"}, {4, "EPOLLOUT"}, {0x40, "EPOLLRDNORM"}, {0x80, "EPOLLRDBAND"}, {0x100, "EPOLLWRNORM"},
    {0x200, "EPOLLWRBAND"}, {0x400, "EPOLLMSG"}, {8, "EPOLLERR"}, {0x10, "EPOLLHUP"}, {0x2000, "EPOLLRDHUP"},
    {1u << 28, "EPOLLEXCLUSIVE"}, {1u << 29, "EPOLLWAKEUP"}, {1u << 30, "EPOLLONESHOT"}, {1u << 31, "EPOLLET"}};
constexpr NamedValue poll_events[] = {
    {1, "POLLIN"}, {2, "POLLPRI"}, {4, "POLLOUT"}, {8, "POLLERR"}, {0x10, "POLLHUP"}, {0x20, "POLLNVAL"}, {0x40, "POLLRDNORM"},
    {0x80, "POLLRDBAND"}, {0x100, "POLLWRNORM"}, {0x200, "POLLWRBAND"}, {0x2000, "POLLRDHUP"}};
constexpr NamedValue eventfd_flags[] = {{02000000, "EFD_CLOEXEC"}, {04000, "EFD_NONBLOCK"}, {1, "EFD_SEMAPHORE"}};
constexpr NamedValue timerfd_flags[] = {{02000000, "TFD_CLOEXEC"}, {04000, "TFD_NONBLOCK"}};
constexpr NamedValue signalfd_flags[] = {{02000000, "SFD_CLOEXEC"}, {04000, "SFD_NONBLOCK"}};
constexpr NamedValue inotify_flags[] = {{02000000, "IN_CLOEXEC"}, {04000, "IN_NONBLOCK"}};
constexpr NamedValue memfd_flags[] = {{1, "MFD_CLOEXEC"}, {2, "MFD_ALLOW_SEALING"}, {4, "MFD_HUGETLB"}, {8, "MFD_NOEXEC_SEAL"}, {16, "MFD_EXEC"}};
constexpr NamedValue random_flags[] = {{1, "GRND_NONBLOCK"}, {2, "GRND_RANDOM"}, {4, "GRND_INSECURE"}};
constexpr NamedValue clock[] = {
    {0, "CLOCK_REALTIME"}, {1, "CLOCK_MONOTONIC"}, {2, "CLOCK_PROCESS_CPUTIME_ID"}, {3, "CLOCK_THREAD_CPUTIME_ID"},
    {4, "CLOCK_MONOTONIC_RAW"}, {5, "CLOCK_REALTIME_COARSE"}, {6, "CLOCK_MONOTONIC_COARSE"}, {7, "CLOCK_BOOTTIME"},
    {8, "CLOCK_REALTIME_ALARM"}, {9, "CLOCK_BOOTTIME_ALARM"}, {11, "CLOCK_TAI"}};
constexpr NamedValue timer_flags[] = {{1, "TIMER_ABSTIME"}};
constexpr NamedValue itimer[] = {{0, "ITIMER_REAL"}, {1, "ITIMER_VIRTUAL"}, {2, "ITIMER_PROF"}};
constexpr NamedValue futex_operation[] = {
    {0, "FUTEX_WAIT"}, {1, "FUTEX_WAKE"}, {2, "FUTEX_FD"}, {3, "FUTEX_REQUEUE"}, {4, "FUTEX_CMP_REQUEUE"}, {5, "FUTEX_WAKE_OP"},
    {6, "FUTEX_LOCK_PI"}, {7, "FUTEX_UNLOCK_PI"}, {8, "FUTEX_TRYLOCK_PI"}, {9, "FUTEX_WAIT_BITSET"}, {10, "FUTEX_WAKE_BITSET"},
    {11, "FUTEX_WAIT_REQUEUE_PI"}, {12, "FUTEX_CMP_REQUEUE_PI"}, {13, "FUTEX_LOCK_PI2"},
    {128, "FUTEX_PRIVATE_FLAG"}, {256, "FUTEX_CLOCK_REALTIME"}};
constexpr NamedValue signal_how[] = {{0, "SIG_BLOCK"}, {1, "SIG_UNBLOCK"}, {2, "SIG_SETMASK"}};
constexpr NamedValue sigaction_flags[] = {
    {0x4000000, "SA_RESTORER"}, {0x8000000, "SA_ONSTACK"}, {0x10000000, "SA_RESTART"}, {0x20000000, "SA_INTERRUPT"},
    {0x40000000, "SA_NODEFER"}, {0x80000000, "SA_RESETHAND"}, {4, "SA_SIGINFO"}, {1, "SA_NOCLDSTOP"}, {2, "SA_NOCLDWAIT"}};
constexpr NamedValue wait_options[] = {
    {1, "WNOHANG"}, {2, "WSTOPPED"}, {4, "WEXITED"}, {8, "WCONTINUED"}, {0x1000000, "WNOWAIT"}, {0x20000000, "__WNOTHREAD"},
    {0x40000000, "__WALL"}, {0x80000000, "__WCLONE"}};
constexpr NamedValue wait4_options[] = {
    {1, "WNOHANG"}, {2, "WUNTRACED"}, {8, "WCONTINUED"}, {0x20000000, "__WNOTHREAD"}, {0x40000000, "__WALL"}, {0x80000000, "__WCLONE"}};
constexpr NamedValue id_type[] = {{0, "P_ALL"}, {1, "P_PID"}, {2, "P_PGID"}, {3, "P_PIDFD"}};
constexpr NamedValue clone_flags[] = {
    {0x100, "CLONE_VM"}, {0x200, "CLONE_FS"}, {0x400, "CLONE_FILES"}, {0x800, "CLONE_SIGHAND"}, {0x1000, "CLONE_PIDFD"},
    {0x2000, "CLONE_PTRACE"}, {0x4000, "CLONE_VFORK"}, {0x8000, "CLONE_PARENT"}, {0x10000, "CLONE_THREAD"}, {0x20000, "CLONE_NEWNS"},
    {0x40000, "CLONE_SYSVSEM"}, {0x80000, "CLONE_SETTLS"}, {0x100000, "CLONE_PARENT_SETTID"}, {0x200000, "CLONE_CHILD_CLEARTID"},
    {0x400000, "CLONE_DETACHED"}, {0x800000, "CLONE_UNTRACED"}, {0x1000000, "CLONE_CHILD_SETTID"}, {0x2000000, "CLONE_NEWCGROUP"},
    {0x4000000, "CLONE_NEWUTS"}, {0x8000000, "CLONE_NEWIPC"}, {0x10000000, "CLONE_NEWUSER"}, {0x20000000, "CLONE_NEWPID"},
    {0x40000000, "CLONE_NEWNET"}, {0x80000000, "CLONE_IO"}};
constexpr NamedValue arch_code[] = {
    {0x1001, "ARCH_SET_GS"}, {0x1002, "ARCH_SET_FS"}, {0x1003, "ARCH_GET_FS"}, {0x1004, "ARCH_GET_GS"}, {0x1011, "ARCH_GET_CPUID"},
    {0x1012, "ARCH_SET_CPUID"}, {0x5001, "ARCH_SHSTK_ENABLE"}, {0x5002, "ARCH_SHSTK_DISABLE"}, {0x5005, "ARCH_SHSTK_STATUS"}};
constexpr NamedValue prctl_option[] = {
    {1, "PR_SET_PDEATHSIG"}, {2, "PR_GET_PDEATHSIG"}, {3, "PR_GET_DUMPABLE"}, {4, "PR_SET_DUMPABLE"}, {7, "PR_GET_KEEPCAPS"},
    {8, "PR_SET_KEEPCAPS"}, {15, "PR_SET_NAME"}, {16, "PR_GET_NAME"}, {21, "PR_GET_SECCOMP"}, {22, "PR_SET_SECCOMP"},
    {23, "PR_CAPBSET_READ"}, {24, "PR_CAPBSET_DROP"}, {27, "PR_SET_SECUREBITS"}, {28, "PR_GET_SECUREBITS"}, {29, "PR_SET_TIMERSLACK"},
    {30, "PR_GET_TIMERSLACK"}, {35, "PR_SET_MM"}, {36, "PR_SET_CHILD_SUBREAPER"}, {37, "PR_GET_CHILD_SUBREAPER"},
    {38, "PR_SET_NO_NEW_PRIVS"}, {39, "PR_GET_NO_NEW_PRIVS"}, {47, "PR_CAP_AMBIENT"}, {0x53564d41, "PR_SET_VMA"}};
constexpr NamedValue capability[] = {
    {0, "CAP_CHOWN"}, {1, "CAP_DAC_OVERRIDE"}, {2, "CAP_DAC_READ_SEARCH"}, {3, "CAP_FOWNER"}, {4, "CAP_FSETID"}, {5, "CAP_KILL"},
    {6, "CAP_SETGID"}, {7, "CAP_SETUID"}, {8, "CAP_SETPCAP"}, {9, "CAP_LINUX_IMMUTABLE"}, {10, "CAP_NET_BIND_SERVICE"},
    {11, "CAP_NET_BROADCAST"}, {12, "CAP_NET_ADMIN"}, {13, "CAP_NET_RAW"}, {14, "CAP_IPC_LOCK"}, {15, "CAP_IPC_OWNER"},
    {16, "CAP_SYS_MODULE"}, {17, "CAP_SYS_RAWIO"}, {18, "CAP_SYS_CHROOT"}, {19, "CAP_SYS_PTRACE"}, {20, "CAP_SYS_PACCT"},
    {21, "CAP_SYS_ADMIN"}, {22, "CAP_SYS_BOOT"}, {23, "CAP_SYS_NICE"}, {24, "CAP_SYS_RESOURCE"}, {25, "CAP_SYS_TIME"},
    {26, "CAP_SYS_TTY_CONFIG"}, {27, "CAP_MKNOD"}, {28, "CAP_LEASE"}, {29, "CAP_AUDIT_WRITE"}, {30, "CAP_AUDIT_CONTROL"},
    {31, "CAP_SETFCAP"}, {32, "CAP_MAC_OVERRIDE"}, {33, "CAP_MAC_ADMIN"}, {34, "CAP_SYSLOG"}, {35, "CAP_WAKE_ALARM"},
    {36, "CAP_BLOCK_SUSPEND"}, {37, "CAP_AUDIT_READ"}, {38, "CAP_PERFMON"}, {39, "CAP_BPF"}, {40, "CAP_CHECKPOINT_RESTORE"}};
constexpr NamedValue file_system[] = {
    {0xef53, "EXT2_SUPER_MAGIC"}, {0x01021994, "TMPFS_MAGIC"}, {0x9fa0, "PROC_SUPER_MAGIC"}, {0x62656572, "SYSFS_MAGIC"},
    {0x58465342, "XFS_SUPER_MAGIC"}, {0x9123683e, "BTRFS_SUPER_MAGIC"}, {0x794c7630, "OVERLAYFS_SUPER_MAGIC"},
    {0x27e0eb, "CGROUP_SUPER_MAGIC"}, {0x63677270, "CGROUP2_SUPER_MAGIC"}, {0x74726163, "TRACEFS_MAGIC"},
    {0x64626720, "DEBUGFS_MAGIC"}, {0xcafe4a11, "BPF_FS_MAGIC"}, {0x6969, "NFS_SUPER_MAGIC"}, {0x1cd1, "DEVPTS_SUPER_MAGIC"},
    {0xf97cff8c, "SELINUX_MAGIC"}, {0x958458f6, "HUGETLBFS_MAGIC"}, {0x50495045, "PIPEFS_MAGIC"}, {0x534f434b, "SOCKFS_MAGIC"}};
constexpr NamedValue mount_state[] = {
    {1, "ST_RDONLY"}, {2, "ST_NOSUID"}, {4, "ST_NODEV"}, {8, "ST_NOEXEC"}, {16, "ST_SYNCHRONOUS"}, {0x20, "ST_VALID"},
    {64, "ST_MANDLOCK"}, {1024, "ST_NOATIME"}, {2048, "ST_NODIRATIME"}, {4096, "ST_RELATIME"}};
constexpr NamedValue rlimit_resource[] = {
    {0, "RLIMIT_CPU"}, {1, "RLIMIT_FSIZE"}, {2, "RLIMIT_DATA"}, {3, "RLIMIT_STACK"}, {4, "RLIMIT_CORE"}, {5, "RLIMIT_RSS"},
    {6, "RLIMIT_NPROC"}, {7, "RLIMIT_NOFILE"}, {8, "RLIMIT_MEMLOCK"}, {9, "RLIMIT_AS"}, {10, "RLIMIT_LOCKS"}, {11, "RLIMIT_SIGPENDING"},
    {12, "RLIMIT_MSGQUEUE"}, {13, "RLIMIT_NICE"}, {14, "RLIMIT_RTPRIO"}, {15, "RLIMIT_RTTIME"}};
constexpr NamedValue rusage_who[] = {{0, "RUSAGE_SELF"}, {0xffffffff, "RUSAGE_CHILDREN"}, {1, "RUSAGE_THREAD"}};
constexpr NamedValue priority_which[] = {{0, "PRIO_PROCESS"}, {1, "PRIO_PGRP"}, {2, "PRIO_USER"}};
constexpr NamedValue statx_mask[] = {{0xfff, "STATX_ALL"}, {0x7ff, "STATX_BASIC_STATS"}, {0x800, "STATX_BTIME"}, {0x1000, "STATX_MNT_ID"},
    {1, "STATX_TYPE"}, {2, "STATX_MODE"}, {4, "STATX_NLINK"}, {8, "STATX_UID"}, {16, "STATX_GID"}, {32, "STATX_ATIME"}, {64, "STATX_MTIME"},
    {128, "STATX_CTIME"}, {256, "STATX_INO"}, {512, "STATX_SIZE"}, {1024, "STATX_BLOCKS"}};
constexpr NamedValue mount_flags[] = {
    {1, "MS_RDONLY"}, {2, "MS_NOSUID"}, {4, "MS_NODEV"}, {8, "MS_NOEXEC"}, {16, "MS_SYNCHRONOUS"}, {32, "MS_REMOUNT"},
    {1024, "MS_NOATIME"}, {2048, "MS_NODIRATIME"}, {4096, "MS_BIND"}, {8192, "MS_MOVE"}, {16384, "MS_REC"}, {32768, "MS_SILENT"},
    {1 << 17, "MS_UNBINDABLE"}, {1 << 18, "MS_PRIVATE"}, {1 << 19, "MS_SLAVE"}, {1 << 20, "MS_SHARED"}, {1 << 21, "MS_RELATIME"},
    {1 << 24, "MS_STRICTATIME"}, {1 << 25, "MS_LAZYTIME"}};
constexpr NamedValue umount_flags[] = {{1, "MNT_FORCE"}, {2, "MNT_DETACH"}, {4, "MNT_EXPIRE"}, {8, "UMOUNT_NOFOLLOW"}};
constexpr NamedValue fallocate_mode[] = {
    {1, "FALLOC_FL_KEEP_SIZE"}, {2, "FALLOC_FL_PUNCH_HOLE"}, {8, "FALLOC_FL_COLLAPSE_RANGE"}, {16, "FALLOC_FL_ZERO_RANGE"},
    {32, "FALLOC_FL_INSERT_RANGE"}, {64, "FALLOC_FL_UNSHARE_RANGE"}};
constexpr NamedValue splice_flags[] = {{1, "SPLICE_F_MOVE"}, {2, "SPLICE_F_NONBLOCK"}, {4, "SPLICE_F_MORE"}, {8, "SPLICE_F_GIFT"}};
constexpr NamedValue membarrier_command[] = {
    {0, "MEMBARRIER_CMD_QUERY"}, {1, "MEMBARRIER_CMD_GLOBAL"}, {8, "MEMBARRIER_CMD_PRIVATE_EXPEDITED"},
    {16, "MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED"}};
constexpr NamedValue seccomp_operation[] = {
    {0, "SECCOMP_SET_MODE_STRICT"}, {1, "SECCOMP_SET_MODE_FILTER"}, {2, "SECCOMP_GET_ACTION_AVAIL"}, {3, "SECCOMP_GET_NOTIF_SIZES"}};
constexpr NamedValue rseq_flags[] = {{1, "RSEQ_FLAG_UNREGISTER"}};

constexpr NamedValue sched_flags[] = {
    {1, "SCHED_FLAG_RESET_ON_FORK"}, {2, "SCHED_FLAG_RECLAIM"}, {4, "SCHED_FLAG_DL_OVERRUN"}, {8, "SCHED_FLAG_KEEP_POLICY"},
    {16, "SCHED_FLAG_KEEP_PARAMS"}, {32, "SCHED_FLAG_UTIL_CLAMP_MIN"}, {64, "SCHED_FLAG_UTIL_CLAMP_MAX"}};
constexpr NamedValue cap_version[] = {
    {0x19980330, "_LINUX_CAPABILITY_VERSION_1"}, {0x20071026, "_LINUX_CAPABILITY_VERSION_2"},
    {0x20080522, "_LINUX_CAPABILITY_VERSION_3"}};
constexpr NamedValue semaphore_flags[] = {
    {04000, "IPC_NOWAIT"}, {010000, "SEM_UNDO"}};
constexpr NamedValue perf_type[] = {
    {0, "PERF_TYPE_HARDWARE"}, {1, "PERF_TYPE_SOFTWARE"}, {2, "PERF_TYPE_TRACEPOINT"}, {3, "PERF_TYPE_HW_CACHE"}, {4, "PERF_TYPE_RAW"},
    {5, "PERF_TYPE_BREAKPOINT"}};
constexpr NamedValue perf_hardware[] = {
    {0, "PERF_COUNT_HW_CPU_CYCLES"}, {1, "PERF_COUNT_HW_INSTRUCTIONS"}, {2, "PERF_COUNT_HW_CACHE_REFERENCES"},
    {3, "PERF_COUNT_HW_CACHE_MISSES"}, {4, "PERF_COUNT_HW_BRANCH_INSTRUCTIONS"}, {5, "PERF_COUNT_HW_BRANCH_MISSES"},
    {6, "PERF_COUNT_HW_BUS_CYCLES"}, {7, "PERF_COUNT_HW_STALLED_CYCLES_FRONTEND"}, {8, "PERF_COUNT_HW_STALLED_CYCLES_BACKEND"},
    {9, "PERF_COUNT_HW_REF_CPU_CYCLES"}};
constexpr NamedValue perf_software[] = {
    {0, "PERF_COUNT_SW_CPU_CLOCK"}, {1, "PERF_COUNT_SW_TASK_CLOCK"}, {2, "PERF_COUNT_SW_PAGE_FAULTS"},
    {3, "PERF_COUNT_SW_CONTEXT_SWITCHES"}, {4, "PERF_COUNT_SW_CPU_MIGRATIONS"}, {5, "PERF_COUNT_SW_PAGE_FAULTS_MIN"},
    {6, "PERF_COUNT_SW_PAGE_FAULTS_MAJ"}, {7, "PERF_COUNT_SW_ALIGNMENT_FAULTS"}, {8, "PERF_COUNT_SW_EMULATION_FAULTS"},
    {9, "PERF_COUNT_SW_DUMMY"}, {10, "PERF_COUNT_SW_BPF_OUTPUT"}, {11, "PERF_COUNT_SW_CGROUP_SWITCHES"}};
constexpr NamedValue perf_sample[] = {
    {1, "PERF_SAMPLE_IP"}, {2, "PERF_SAMPLE_TID"}, {4, "PERF_SAMPLE_TIME"}, {8, "PERF_SAMPLE_ADDR"}, {16, "PERF_SAMPLE_READ"},
    {32, "PERF_SAMPLE_CALLCHAIN"}, {64, "PERF_SAMPLE_ID"}, {128, "PERF_SAMPLE_CPU"}, {256, "PERF_SAMPLE_PERIOD"},
    {512, "PERF_SAMPLE_STREAM_ID"}, {1024, "PERF_SAMPLE_RAW"}, {2048, "PERF_SAMPLE_BRANCH_STACK"}, {4096, "PERF_SAMPLE_REGS_USER"},
    {8192, "PERF_SAMPLE_STACK_USER"}, {16384, "PERF_SAMPLE_WEIGHT"}, {32768, "PERF_SAMPLE_DATA_SRC"}, {65536, "PERF_SAMPLE_IDENTIFIER"},
    {131072, "PERF_SAMPLE_TRANSACTION"}, {262144, "PERF_SAMPLE_REGS_INTR"}, {524288, "PERF_SAMPLE_PHYS_ADDR"},
    {1048576, "PERF_SAMPLE_AUX"}, {2097152, "PERF_SAMPLE_CGROUP"}, {4194304, "PERF_SAMPLE_DATA_PAGE_SIZE"},
    {8388608, "PERF_SAMPLE_CODE_PAGE_SIZE"}, {16777216, "PERF_SAMPLE_WEIGHT_STRUCT"}};
constexpr NamedValue perf_read_format[] = {
    {1, "PERF_FORMAT_TOTAL_TIME_ENABLED"}, {2, "PERF_FORMAT_TOTAL_TIME_RUNNING"}, {4, "PERF_FORMAT_ID"}, {8, "PERF_FORMAT_GROUP"},
    {16, "PERF_FORMAT_LOST"}};
constexpr NamedValue bpf_map_type[] = {
    {0, "BPF_MAP_TYPE_UNSPEC"}, {1, "BPF_MAP_TYPE_HASH"}, {2, "BPF_MAP_TYPE_ARRAY"}, {3, "BPF_MAP_TYPE_PROG_ARRAY"},
    {4, "BPF_MAP_TYPE_PERF_EVENT_ARRAY"}, {5, "BPF_MAP_TYPE_PERCPU_HASH"}, {6, "BPF_MAP_TYPE_PERCPU_ARRAY"},
    {7, "BPF_MAP_TYPE_STACK_TRACE"}, {8, "BPF_MAP_TYPE_CGROUP_ARRAY"}, {9, "BPF_MAP_TYPE_LRU_HASH"},
    {10, "BPF_MAP_TYPE_LRU_PERCPU_HASH"}, {11, "BPF_MAP_TYPE_LPM_TRIE"}, {12, "BPF_MAP_TYPE_ARRAY_OF_MAPS"},
    {13, "BPF_MAP_TYPE_HASH_OF_MAPS"}, {14, "BPF_MAP_TYPE_DEVMAP"}, {15, "BPF_MAP_TYPE_SOCKMAP"}, {16, "BPF_MAP_TYPE_CPUMAP"},
    {17, "BPF_MAP_TYPE_XSKMAP"}, {18, "BPF_MAP_TYPE_SOCKHASH"}, {19, "BPF_MAP_TYPE_CGROUP_STORAGE"},
    {20, "BPF_MAP_TYPE_REUSEPORT_SOCKARRAY"}, {21, "BPF_MAP_TYPE_PERCPU_CGROUP_STORAGE"}, {22, "BPF_MAP_TYPE_QUEUE"},
    {23, "BPF_MAP_TYPE_STACK"}, {24, "BPF_MAP_TYPE_SK_STORAGE"}, {25, "BPF_MAP_TYPE_DEVMAP_HASH"}, {26, "BPF_MAP_TYPE_STRUCT_OPS"},
    {27, "BPF_MAP_TYPE_RINGBUF"}, {28, "BPF_MAP_TYPE_INODE_STORAGE"}, {29, "BPF_MAP_TYPE_TASK_STORAGE"},
    {30, "BPF_MAP_TYPE_BLOOM_FILTER"}, {31, "BPF_MAP_TYPE_USER_RINGBUF"}};
constexpr NamedValue bpf_prog_type[] = {
    {0, "BPF_PROG_TYPE_UNSPEC"}, {1, "BPF_PROG_TYPE_SOCKET_FILTER"}, {2, "BPF_PROG_TYPE_KPROBE"}, {3, "BPF_PROG_TYPE_SCHED_CLS"},
    {4, "BPF_PROG_TYPE_SCHED_ACT"}, {5, "BPF_PROG_TYPE_TRACEPOINT"}, {6, "BPF_PROG_TYPE_XDP"}, {7, "BPF_PROG_TYPE_PERF_EVENT"},
    {8, "BPF_PROG_TYPE_CGROUP_SKB"}, {9, "BPF_PROG_TYPE_CGROUP_SOCK"}, {10, "BPF_PROG_TYPE_LWT_IN"}, {11, "BPF_PROG_TYPE_LWT_OUT"},
    {12, "BPF_PROG_TYPE_LWT_XMIT"}, {13, "BPF_PROG_TYPE_SOCK_OPS"}, {14, "BPF_PROG_TYPE_SK_SKB"}, {15, "BPF_PROG_TYPE_CGROUP_DEVICE"},
    {16, "BPF_PROG_TYPE_SK_MSG"}, {17, "BPF_PROG_TYPE_RAW_TRACEPOINT"}, {18, "BPF_PROG_TYPE_CGROUP_SOCK_ADDR"},
    {19, "BPF_PROG_TYPE_LWT_SEG6LOCAL"}, {20, "BPF_PROG_TYPE_LIRC_MODE2"}, {21, "BPF_PROG_TYPE_SK_REUSEPORT"},
    {22, "BPF_PROG_TYPE_FLOW_DISSECTOR"}, {23, "BPF_PROG_TYPE_CGROUP_SYSCTL"}, {24, "BPF_PROG_TYPE_RAW_TRACEPOINT_WRITABLE"},
    {25, "BPF_PROG_TYPE_CGROUP_SOCKOPT"}, {26, "BPF_PROG_TYPE_TRACING"}, {27, "BPF_PROG_TYPE_STRUCT_OPS"}, {28, "BPF_PROG_TYPE_EXT"},
    {29, "BPF_PROG_TYPE_LSM"}, {30, "BPF_PROG_TYPE_SK_LOOKUP"}, {31, "BPF_PROG_TYPE_SYSCALL"}};
constexpr NamedValue bpf_map_flags[] = {
    {1, "BPF_F_NO_PREALLOC"}, {2, "BPF_F_NO_COMMON_LRU"}, {4, "BPF_F_NUMA_NODE"}, {8, "BPF_F_RDONLY"}, {16, "BPF_F_WRONLY"},
    {32, "BPF_F_STACK_BUILD_ID"}, {64, "BPF_F_ZERO_SEED"}, {128, "BPF_F_RDONLY_PROG"}, {256, "BPF_F_WRONLY_PROG"}, {512, "BPF_F_CLONE"},
    {1024, "BPF_F_MMAPABLE"}, {2048, "BPF_F_PRESERVE_ELEMS"}, {4096, "BPF_F_INNER_MAP"}, {8192, "BPF_F_LINK"}};
constexpr NamedValue bpf_update_flags[] = {
    {0, "BPF_ANY"}, {1, "BPF_NOEXIST"}, {2, "BPF_EXIST"}, {4, "BPF_F_LOCK"}};
constexpr NamedValue bpf_prog_flags[] = {
    {1, "BPF_F_STRICT_ALIGNMENT"}, {2, "BPF_F_ANY_ALIGNMENT"}, {4, "BPF_F_TEST_RND_HI32"}, {8, "BPF_F_TEST_STATE_FREQ"},
    {16, "BPF_F_SLEEPABLE"}, {32, "BPF_F_XDP_HAS_FRAGS"}, {64, "BPF_F_XDP_DEV_BOUND_ONLY"}, {128, "BPF_F_TEST_REG_INVARIANTS"}};
constexpr NamedValue io_uring_setup_flags[] = {
    {1, "IORING_SETUP_IOPOLL"}, {2, "IORING_SETUP_SQPOLL"}, {4, "IORING_SETUP_SQ_AFF"}, {8, "IORING_SETUP_CQSIZE"},
    {16, "IORING_SETUP_CLAMP"}, {32, "IORING_SETUP_ATTACH_WQ"}, {64, "IORING_SETUP_R_DISABLED"}, {128, "IORING_SETUP_SUBMIT_ALL"},
    {256, "IORING_SETUP_COOP_TASKRUN"}, {512, "IORING_SETUP_TASKRUN_FLAG"}, {1024, "IORING_SETUP_SQE128"}, {2048, "IORING_SETUP_CQE32"},
    {4096, "IORING_SETUP_SINGLE_ISSUER"}, {8192, "IORING_SETUP_DEFER_TASKRUN"}, {16384, "IORING_SETUP_NO_MMAP"},
    {32768, "IORING_SETUP_REGISTERED_FD_ONLY"}, {65536, "IORING_SETUP_NO_SQARRAY"}, {131072, "IORING_SETUP_HYBRID_IOPOLL"}};
constexpr NamedValue io_uring_features[] = {
    {1, "IORING_FEAT_SINGLE_MMAP"}, {2, "IORING_FEAT_NODROP"}, {4, "IORING_FEAT_SUBMIT_STABLE"}, {8, "IORING_FEAT_RW_CUR_POS"},
    {16, "IORING_FEAT_CUR_PERSONALITY"}, {32, "IORING_FEAT_FAST_POLL"}, {64, "IORING_FEAT_POLL_32BITS"},
    {128, "IORING_FEAT_SQPOLL_NONFIXED"}, {256, "IORING_FEAT_EXT_ARG"}, {512, "IORING_FEAT_NATIVE_WORKERS"},
    {1024, "IORING_FEAT_RSRC_TAGS"}, {2048, "IORING_FEAT_CQE_SKIP"}, {4096, "IORING_FEAT_LINKED_FILE"},
    {8192, "IORING_FEAT_REG_REG_RING"}, {16384, "IORING_FEAT_RECVSEND_BUNDLE"}, {32768, "IORING_FEAT_MIN_TIMEOUT"},
    {65536, "IORING_FEAT_RW_ATTR"}, {131072, "IORING_FEAT_NO_IOWAIT"}};
constexpr NamedValue resolve_flags[] = {
    {1, "RESOLVE_NO_XDEV"}, {2, "RESOLVE_NO_MAGICLINKS"}, {4, "RESOLVE_NO_SYMLINKS"}, {8, "RESOLVE_BENEATH"}, {16, "RESOLVE_IN_ROOT"},
    {32, "RESOLVE_CACHED"}};
constexpr NamedValue netlink_type[] = {
    {1, "NLMSG_NOOP"}, {2, "NLMSG_ERROR"}, {3, "NLMSG_DONE"}, {4, "NLMSG_OVERRUN"}};
constexpr NamedValue netlink_flags[] = {
    {1, "NLM_F_REQUEST"}, {2, "NLM_F_MULTI"}, {4, "NLM_F_ACK"}, {8, "NLM_F_ECHO"}, {0x10, "NLM_F_DUMP_INTR"},
    {0x20, "NLM_F_DUMP_FILTERED"}};
constexpr NamedValue netlink_get_flags[] = {
    {1, "NLM_F_REQUEST"}, {2, "NLM_F_MULTI"}, {4, "NLM_F_ACK"}, {8, "NLM_F_ECHO"}, {0x10, "NLM_F_DUMP_INTR"},
    {0x20, "NLM_F_DUMP_FILTERED"}, {0x300, "NLM_F_DUMP"}, {0x100, "NLM_F_ROOT"}, {0x200, "NLM_F_MATCH"}, {0x400, "NLM_F_ATOMIC"}};
constexpr NamedValue netlink_new_flags[] = {
    {1, "NLM_F_REQUEST"}, {2, "NLM_F_MULTI"}, {4, "NLM_F_ACK"}, {8, "NLM_F_ECHO"}, {0x10, "NLM_F_DUMP_INTR"},
    {0x20, "NLM_F_DUMP_FILTERED"}, {0x100, "NLM_F_REPLACE"}, {0x200, "NLM_F_EXCL"}, {0x400, "NLM_F_CREATE"}, {0x800, "NLM_F_APPEND"}};
constexpr NamedValue route_type[] = {
    {16, "RTM_NEWLINK"}, {17, "RTM_DELLINK"}, {18, "RTM_GETLINK"}, {19, "RTM_SETLINK"}, {20, "RTM_NEWADDR"}, {21, "RTM_DELADDR"},
    {22, "RTM_GETADDR"}, {24, "RTM_NEWROUTE"}, {25, "RTM_DELROUTE"}, {26, "RTM_GETROUTE"}, {28, "RTM_NEWNEIGH"}, {29, "RTM_DELNEIGH"},
    {30, "RTM_GETNEIGH"}, {32, "RTM_NEWRULE"}, {33, "RTM_DELRULE"}, {34, "RTM_GETRULE"}, {36, "RTM_NEWQDISC"}, {37, "RTM_DELQDISC"},
    {38, "RTM_GETQDISC"}, {40, "RTM_NEWTCLASS"}, {41, "RTM_DELTCLASS"}, {42, "RTM_GETTCLASS"}, {44, "RTM_NEWTFILTER"},
    {45, "RTM_DELTFILTER"}, {46, "RTM_GETTFILTER"}, {48, "RTM_NEWACTION"}, {49, "RTM_DELACTION"}, {50, "RTM_GETACTION"},
    {52, "RTM_NEWPREFIX"}, {58, "RTM_GETMULTICAST"}, {62, "RTM_GETANYCAST"}, {64, "RTM_NEWNEIGHTBL"}, {66, "RTM_GETNEIGHTBL"},
    {67, "RTM_SETNEIGHTBL"}, {68, "RTM_NEWNDUSEROPT"}, {72, "RTM_NEWADDRLABEL"}, {73, "RTM_DELADDRLABEL"}, {74, "RTM_GETADDRLABEL"},
    {78, "RTM_GETDCB"}, {79, "RTM_SETDCB"}, {80, "RTM_NEWNETCONF"}, {81, "RTM_DELNETCONF"}, {82, "RTM_GETNETCONF"}, {84, "RTM_NEWMDB"},
    {85, "RTM_DELMDB"}, {86, "RTM_GETMDB"}, {88, "RTM_NEWNSID"}, {89, "RTM_DELNSID"}, {90, "RTM_GETNSID"}, {92, "RTM_NEWSTATS"},
    {94, "RTM_GETSTATS"}, {95, "RTM_SETSTATS"}, {96, "RTM_NEWCACHEREPORT"}, {100, "RTM_NEWCHAIN"}, {101, "RTM_DELCHAIN"},
    {102, "RTM_GETCHAIN"}, {104, "RTM_NEWNEXTHOP"}, {105, "RTM_DELNEXTHOP"}, {106, "RTM_GETNEXTHOP"}, {108, "RTM_NEWLINKPROP"},
    {109, "RTM_DELLINKPROP"}, {110, "RTM_GETLINKPROP"}, {112, "RTM_NEWVLAN"}, {113, "RTM_DELVLAN"}, {114, "RTM_GETVLAN"},
    {116, "RTM_NEWNEXTHOPBUCKET"}, {117, "RTM_DELNEXTHOPBUCKET"}, {118, "RTM_GETNEXTHOPBUCKET"}, {120, "RTM_NEWTUNNEL"},
    {121, "RTM_DELTUNNEL"}, {122, "RTM_GETTUNNEL"}};

constexpr NamedValue key_serial_number[] = {
    {0xffffffff, "KEY_SPEC_THREAD_KEYRING"}, {0xfffffffe, "KEY_SPEC_PROCESS_KEYRING"}, {0xfffffffd, "KEY_SPEC_SESSION_KEYRING"},
    {0xfffffffc, "KEY_SPEC_USER_KEYRING"}, {0xfffffffb, "KEY_SPEC_USER_SESSION_KEYRING"}, {0xfffffffa, "KEY_SPEC_GROUP_KEYRING"},
    {0xfffffff9, "KEY_SPEC_REQKEY_AUTH_KEY"}, {0xfffffff8, "KEY_SPEC_REQUESTOR_KEYRING"}};

constexpr FlagSet sets[] = {
    {"key_serial_number", key_serial_number},
    {"sched_flags", sched_flags, 0},
    {"cap_version", cap_version},
    {"semaphore_flags", semaphore_flags, 0},
    {"perf_type", perf_type},
    {"perf_hardware", perf_hardware},
    {"perf_software", perf_software},
    {"perf_sample", perf_sample, 0},
    {"perf_read_format", perf_read_format, 0},
    {"bpf_map_type", bpf_map_type},
    {"bpf_prog_type", bpf_prog_type},
    {"bpf_map_flags", bpf_map_flags, 0},
    {"bpf_update_flags", bpf_update_flags, 0},
    {"bpf_prog_flags", bpf_prog_flags, 0},
    {"io_uring_setup_flags", io_uring_setup_flags, 0},
    {"io_uring_features", io_uring_features, 0},
    {"resolve_flags", resolve_flags, 0},
    {"netlink_type", netlink_type},
    {"netlink_flags", netlink_flags, 0},
    {"netlink_get_flags", netlink_get_flags, 0},
    {"netlink_new_flags", netlink_new_flags, 0},
    {"route_type", route_type},
    {"open_flags", open_flags, 3}, {"descriptor_flags", descriptor_flags, 0}, {"at_flags", at_flags, 0}, {"statx_flags", statx_flags, 0x6000}, {"unlink_flags", unlink_flags, 0}, {"access_flags", access_flags, 0},
    {"access_mode", access_mode, 0}, {"rename_flags", rename_flags, 0}, {"close_range_flags", close_range_flags, 0}, {"prot", prot, 0},
    {"map_flags", map_flags, 3}, {"mremap_flags", mremap_flags, 0}, {"msync_flags", msync_flags, 0}, {"madvise", madvise},
    {"fadvise", fadvise}, {"whence", whence}, {"fcntl_command", fcntl_command}, {"fd_flags", fd_flags, 0},
    {"memory_policy", memory_policy, 0x1fff}, {"mbind_flags", mbind_flags, 0}, {"policy_flags", policy_flags, 0}, {"kcmp_type", kcmp_type},
    {"timerfd_set_flags", timerfd_set_flags, 0}, {"mlockall_flags", mlockall_flags, 0}, {"ioprio_who", ioprio_who},
    {"xattr_flags", xattr_flags}, {"inotify_events", inotify_events, 0}, {"fanotify_flags", fanotify_flags, 0}, {"fanotify_mark_flags", fanotify_mark_flags, 0},
    {"fanotify_events", fanotify_events, 0}, {"sched_policy", sched_policy, 0xff}, {"pidfd_flags", pidfd_flags, 0}, {"perf_flags", perf_flags, 0},
    {"io_uring_enter_flags", io_uring_enter_flags, 0}, {"mlock2_flags", mlock2_flags, 0}, {"bpf_command", bpf_command},
    {"keyctl_operation", keyctl_operation}, {"io_uring_operation", io_uring_operation},
    {"notify_events", notify_events, 0}, {"seals", seals, 0}, {"ipc_flag_bits", ipc_flags, 0}, {"shm_flag_bits", shm_flags, 0},
    {"shmat_flags", shmat_flags, 0}, {"message_queue_flags", message_queue_flags, 0}, {"shm_command", shm_command}, {"sem_command", sem_command},
    {"msg_command", msg_command}, {"netlink_protocol", netlink_protocol},
    {"flock_operation", flock_operation, 0}, {"ioctl_command", ioctl_command}, {"family", family}, {"socket_type", socket_type, 15},
    {"socket_flags", socket_flags, 0}, {"message_flags", message_flags, 0}, {"rw_flags", rw_flags, 0}, {"message_type", message_types}, {"lock_type", lock_types}, {"event_notice", event_notices}, {"entry_type", entry_types}, {"protocol", protocol}, {"shutdown_how", shutdown_how}, {"socket_level", socket_level},
    {"epoll_operation", epoll_operation}, {"epoll_flags", epoll_flags, 0}, {"epoll_events", epoll_events, 0},
    {"poll_events", poll_events, 0}, {"eventfd_flags", eventfd_flags, 0}, {"timerfd_flags", timerfd_flags, 0},
    {"signalfd_flags", signalfd_flags, 0}, {"inotify_flags", inotify_flags, 0}, {"memfd_flags", memfd_flags, 0},
    {"random_flags", random_flags, 0}, {"clock", clock}, {"timer_flags", timer_flags, 0}, {"itimer", itimer},
    {"futex_operation", futex_operation, 127}, {"signal_how", signal_how}, {"sigaction_flags", sigaction_flags, 0},
    {"wait_options", wait_options, 0}, {"wait4_options", wait4_options, 0}, {"id_type", id_type}, {"clone_flags", clone_flags, 0},
    {"arch_code", arch_code}, {"prctl_option", prctl_option}, {"capability", capability}, {"file_system", file_system}, {"mount_state", mount_state, 0},
    {"rlimit_resource", rlimit_resource}, {"rusage_who", rusage_who},
    {"priority_which", priority_which}, {"statx_mask", statx_mask, 0}, {"mount_flags", mount_flags, 0}, {"umount_flags", umount_flags, 0},
    {"fallocate_mode", fallocate_mode, 0}, {"splice_flags", splice_flags, 0}, {"membarrier_command", membarrier_command},
    {"seccomp_operation", seccomp_operation}, {"rseq_flags", rseq_flags, 0}};
// clang-format on

std::string hexadecimal(uint64_t value) {
  char digits[16];
  return "0x" + std::string(digits, std::to_chars(digits, digits + sizeof digits, value, 16).ptr);
}

} // namespace

const FlagSet* find_flag_set(std::string_view name) {
  static const auto by_name = [] {
    std::unordered_map<std::string_view, const FlagSet*> out;
    for (const FlagSet& set : sets) out.emplace(set.name, &set);
    return out;
  }();
  const auto at = by_name.find(name);
  return at == by_name.end() ? nullptr : at->second;
}

std::string flags_text(const FlagSet& set, uint64_t value) {
  std::string out;
  auto add = [&](std::string_view name) { out.append(out.empty() ? "" : "|").append(name); };
  uint64_t rest = value;
  if (const uint64_t one = value & set.one_of; set.one_of)
    for (const NamedValue& v : set.values)
      if ((v.value & ~set.one_of) == 0 && v.value == one) {
        add(v.name), rest &= ~set.one_of;
        break;
      }
  // Of a name that stands for several bits all must be there; it comes before those that it is made of.
  for (const NamedValue& v : set.values) {
    const bool is_bit = v.value & ~set.one_of;
    if (is_bit && (rest & v.value) == v.value) add(v.name), rest &= ~v.value;
    if (!is_bit && !set.one_of && !value) add(v.name);
  }
  if (rest) add(hexadecimal(rest));
  return out.empty() ? "0" : out;
}

} // namespace spec
