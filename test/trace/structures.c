// Calls whose arguments point to structures, one of each kind; all succeed, or fail in the same way everywhere.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <linux/netlink.h>
#include <linux/openat2.h>
#include <linux/perf_event.h>
#include <linux/rtnetlink.h>
#include <mqueue.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct scheduling {
  unsigned size, policy;
  unsigned long flags;
  int nice;
  unsigned priority;
  unsigned long runtime, deadline, period;
  unsigned least, most;
};

static void handle(int number) { (void)number; }

static void signals(void) {
  siginfo_t info;
  struct rusage usage;
  sigset_t set;
  struct timespec soon = {0, 1000000}, later = {1, 5};
  signal(SIGUSR1, handle);
  raise(SIGUSR1); // and rt_sigreturn
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  sigprocmask(SIG_BLOCK, &set, 0);
  memset(&info, 0, sizeof info);
  info.si_signo = SIGUSR2;
  info.si_code = SI_QUEUE;
  info.si_pid = getpid();
  info.si_int = 42;
  syscall(SYS_rt_sigqueueinfo, getpid(), SIGUSR2, &info);
  syscall(SYS_rt_sigtimedwait, &set, &info, &later, 8);
  syscall(SYS_rt_sigtimedwait, &set, 0, &soon, 8);
  pid_t child = vfork();
  if (!child) _exit(3);
  syscall(SYS_waitid, P_PID, child, &info, WEXITED | WNOWAIT, &usage);
  syscall(SYS_wait4, child, 0, 0, &usage);
  syscall(SYS_wait4, -1, 0, WNOHANG, &usage);
}

static void scheduler(void) {
  struct scheduling s = {.size = 56};
  struct sched_param p = {0};
  syscall(SYS_sched_getattr, 0, &s, sizeof s, 0);
  s.nice = 1;
  syscall(SYS_sched_setattr, 0, &s, 0);
  sched_getparam(0, &p);
  sched_setparam(0, &p);
  sched_setscheduler(0, SCHED_OTHER, &p);
}

static void users(void) {
  unsigned id[3], list[4];
  unsigned head[2] = {0x20080522, 0}, data[6];
  syscall(SYS_getresuid, id, id + 1, id + 2);
  syscall(SYS_getgroups, 4, list);
  syscall(SYS_capget, head, data);
  syscall(SYS_capset, head, data);
}

static void between_processes(void) {
  struct sembuf operations[2] = {{0, 1, SEM_UNDO}, {0, -1, IPC_NOWAIT}};
  struct timespec soon = {0, 5};
  struct {
    long type;
    char text[8];
  } message = {7, "message"};
  int semaphores = semget(IPC_PRIVATE, 1, 0600), queue = msgget(IPC_PRIVATE, 0600);
  semop(semaphores, operations, 2);
  semtimedop(semaphores, operations + 1, 1, &soon);
  semctl(semaphores, 0, SETVAL, 5);
  semctl(semaphores, 0, IPC_RMID);
  msgsnd(queue, &message, 8, IPC_NOWAIT);
  msgrcv(queue, &message, 8, 7, 0);
  msgctl(queue, IPC_RMID, 0);
  struct mq_attr attributes = {.mq_maxmsg = 2, .mq_msgsize = 16};
  char text[16];
  syscall(SYS_mq_unlink, "acu-trace-test");
  int posix = syscall(SYS_mq_open, "acu-trace-test", O_CREAT | O_RDWR | O_NONBLOCK, 0600, &attributes);
  syscall(SYS_mq_getsetattr, posix, 0, &attributes);
  syscall(SYS_mq_timedsend, posix, "words", 5, 1, &soon);
  unsigned priority;
  syscall(SYS_mq_timedreceive, posix, text, 16, &priority, &soon);
  syscall(SYS_mq_unlink, "acu-trace-test");
}

static void times_of_files(void) {
  struct timeval two[2] = {{1, 2}, {3, 4}};
  struct itimerspec one = {{0, 0}, {5, 0}}, old;
  struct open_how how = {.flags = O_RDONLY | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS};
  struct tms used;
  syscall(SYS_utimes, "file", two);
  syscall(SYS_futimesat, AT_FDCWD, "file", two);
  syscall(SYS_openat2, AT_FDCWD, "file", &how, sizeof how);
  int timer = timerfd_create(CLOCK_MONOTONIC, 0);
  timerfd_settime(timer, 0, &one, &old);
  times(&used);
}

static void kernel_objects(void) {
  struct perf_event_attr event = {.type = PERF_TYPE_SOFTWARE, .size = PERF_ATTR_SIZE_VER5, .config = PERF_COUNT_SW_CPU_CLOCK, .sample_period = 1000,
                                  .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID, .disabled = 1, .exclude_kernel = 1};
  syscall(SYS_perf_event_open, &event, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  union bpf_attr a;
  memset(&a, 0, sizeof a);
  a.map_type = BPF_MAP_TYPE_ARRAY;
  a.key_size = 4, a.value_size = 8, a.max_entries = 2;
  strcpy(a.map_name, "numbers");
  int map = syscall(SYS_bpf, BPF_MAP_CREATE, &a, 72);
  unsigned key = 1;
  unsigned long value = 5;
  memset(&a, 0, sizeof a);
  a.map_fd = map, a.key = (unsigned long)&key, a.value = (unsigned long)&value;
  syscall(SYS_bpf, BPF_MAP_UPDATE_ELEM, &a, 32);
  syscall(SYS_bpf, BPF_MAP_LOOKUP_ELEM, &a, 32);
  syscall(SYS_bpf, BPF_MAP_DELETE_ELEM, &a, 32);
  memset(&a, 0, sizeof a);
  syscall(SYS_bpf, BPF_MAP_GET_NEXT_ID, &a, 12);
  struct io_uring_params ring;
  memset(&ring, 0, sizeof ring);
  int fd = syscall(SYS_io_uring_setup, 4, &ring);
  syscall(SYS_io_uring_enter, fd, 0, 0, 0, 0, 0);
}

static void netlink(void) {
  struct {
    struct nlmsghdr head;
    struct rtgenmsg body;
  } ask = {{sizeof ask, RTM_GETLINK, NLM_F_REQUEST | NLM_F_DUMP, 1, 0}, {AF_UNSPEC}};
  struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
  int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
  bind(fd, (struct sockaddr*)&kernel, sizeof kernel);
  sendto(fd, &ask, sizeof ask, 0, (struct sockaddr*)&kernel, sizeof kernel);
  char bytes[8192];
  recv(fd, bytes, 16, MSG_PEEK);
  struct iovec part = {&ask, sizeof ask};
  struct msghdr message = {&kernel, sizeof kernel, &part, 1, 0, 0, 0};
  sendmsg(fd, &message, 0);
}

static void sets(void) {
  int ends[2];
  fd_set in, out;
  struct timeval soon = {0, 2000};
  struct timespec little = {0, 1000};
  sigset_t none;
  sigemptyset(&none);
  if (pipe(ends)) return;
  FD_ZERO(&in);
  FD_ZERO(&out);
  FD_SET(ends[0], &in);
  FD_SET(ends[1], &out);
  FD_SET(2, &out);
  syscall(SYS_select, ends[1] + 1, &in, &out, 0, &soon);
  FD_ZERO(&in);
  FD_SET(ends[0], &in);
  soon.tv_usec = 1000;
  syscall(SYS_select, ends[1] + 1, &in, 0, 0, &soon);
  struct {
    sigset_t* set;
    size_t size;
  } mask = {&none, 8};
  FD_SET(ends[0], &in);
  syscall(SYS_pselect6, ends[1] + 1, &in, 0, 0, &little, &mask);
}

int main(void) {
  signals();
  scheduler();
  users();
  between_processes();
  times_of_files();
  kernel_objects();
  netlink();
  sets();
  char *words[] = {"one", "two words", 0}, *many[] = {"1", "2", "3", "4", "5", "6", "7", "8", "9", 0}, *variables[] = {"A=1", "B=2", 0};
  execve("/nonexistent", words, variables);
  execve("/nonexistent", many, 0);
  syscall(500L, 1L, 2L, 3L, 4L, 5L, 6L);
  return 0;
}
