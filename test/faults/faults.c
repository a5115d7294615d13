// Preloaded into acu: one call of a class fails. $ACU_FAULT is CLASS:NUMBER:ERRNO, the NUMBER-th call of the class from 1 on, or a file to which the numbers of
// calls are added, as 64-bit numbers in the order of the classes (in memory that is mapped: acu ends without handlers). Other programs are left alone.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum class { class_malloc, class_open, class_read, class_write, class_mmap, class_bpf, class_perf, class_ioctl, class_wait, class_fork, class_stat, class_pipe, classes };
static const char* const names[classes] = {"malloc", "open", "read", "write", "mmap", "bpf", "perf", "ioctl", "wait", "fork", "stat", "pipe"};

static uint64_t own[classes], *counts;
static int failing = -1, failure;
static uint64_t number;

static void* next(const char* name) { return dlsym(RTLD_NEXT, name); }

__attribute__((constructor)) static void begin(void) {
  const char* fault = getenv("ACU_FAULT");
  if (!fault || strcmp(program_invocation_short_name, "acu") != 0) return;
  const char* colon = strchr(fault, ':');
  if (!colon) {
    const int fd = (int)syscall(SYS_openat, AT_FDCWD, fault, O_RDWR);
    void* at = (void*)syscall(SYS_mmap, 0, sizeof own, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at != MAP_FAILED) counts = at;
    syscall(SYS_close, fd);
    return;
  }
  for (int c = 0; c < classes; c++)
    if (strlen(names[c]) == (size_t)(colon - fault) && strncmp(names[c], fault, strlen(names[c])) == 0) failing = c;
  char* end;
  number = strtoull(colon + 1, &end, 10);
  failure = (int)strtol(end + 1, 0, 10);
  counts = own;
}

// Whether this call fails; errno is set then.
static int fails(int c) {
  if (!counts) return 0;
  const uint64_t n = __atomic_add_fetch(&counts[c], 1, __ATOMIC_RELAXED);
  if (c != failing || n != number) return 0;
  errno = failure;
  return 1;
}

#define CALL(type, name, ...) ((type(*)())next(name))(__VA_ARGS__)

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
void* malloc(size_t size) { return fails(class_malloc) ? 0 : __libc_malloc(size); }
void* calloc(size_t n, size_t size) { return fails(class_malloc) ? 0 : __libc_calloc(n, size); }
void* realloc(void* p, size_t size) { return fails(class_malloc) ? 0 : __libc_realloc(p, size); }

#define OPEN(name, ...) \
  if (fails(class_open)) return -1; \
  va_list list; \
  va_start(list, flags); \
  const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0; \
  va_end(list); \
  return CALL(int, name, __VA_ARGS__, flags, mode);
int open(const char* path, int flags, ...) { OPEN("open", path) }
int open64(const char* path, int flags, ...) { OPEN("open64", path) }
int openat(int at, const char* path, int flags, ...) { OPEN("openat", at, path) }
int openat64(int at, const char* path, int flags, ...) { OPEN("openat64", at, path) }

struct stat;
struct stat64;
int stat(const char* path, struct stat* to) { return fails(class_stat) ? -1 : CALL(int, "stat", path, to); }
int stat64(const char* path, struct stat64* to) { return fails(class_stat) ? -1 : CALL(int, "stat64", path, to); }
int lstat(const char* path, struct stat* to) { return fails(class_stat) ? -1 : CALL(int, "lstat", path, to); }
int lstat64(const char* path, struct stat64* to) { return fails(class_stat) ? -1 : CALL(int, "lstat64", path, to); }
int fstat(int fd, struct stat* to) { return fails(class_stat) ? -1 : CALL(int, "fstat", fd, to); }
int fstat64(int fd, struct stat64* to) { return fails(class_stat) ? -1 : CALL(int, "fstat64", fd, to); }
int pipe2(int* to, int flags) { return fails(class_pipe) ? -1 : CALL(int, "pipe2", to, flags); }

ssize_t read(int fd, void* to, size_t n) { return fails(class_read) ? -1 : CALL(ssize_t, "read", fd, to, n); }
ssize_t pread(int fd, void* to, size_t n, off_t at) { return fails(class_read) ? -1 : CALL(ssize_t, "pread", fd, to, n, at); }
ssize_t pread64(int fd, void* to, size_t n, off64_t at) { return fails(class_read) ? -1 : CALL(ssize_t, "pread64", fd, to, n, at); }
ssize_t write(int fd, const void* from, size_t n) { return fails(class_write) ? -1 : CALL(ssize_t, "write", fd, from, n); }
ssize_t pwrite(int fd, const void* from, size_t n, off_t at) { return fails(class_write) ? -1 : CALL(ssize_t, "pwrite", fd, from, n, at); }
ssize_t pwrite64(int fd, const void* from, size_t n, off64_t at) { return fails(class_write) ? -1 : CALL(ssize_t, "pwrite64", fd, from, n, at); }
void* mmap(void* at, size_t n, int prot, int flags, int fd, off_t offset) { return fails(class_mmap) ? MAP_FAILED : CALL(void*, "mmap", at, n, prot, flags, fd, offset); }
void* mmap64(void* at, size_t n, int prot, int flags, int fd, off64_t offset) { return fails(class_mmap) ? MAP_FAILED : CALL(void*, "mmap64", at, n, prot, flags, fd, offset); }

int ioctl(int fd, unsigned long request, ...) {
  va_list list;
  va_start(list, request);
  void* argument = va_arg(list, void*);
  va_end(list);
  return fails(class_ioctl) ? -1 : CALL(int, "ioctl", fd, request, argument);
}

int epoll_wait(int fd, struct epoll_event* events, int n, int ms) { return fails(class_wait) ? -1 : CALL(int, "epoll_wait", fd, events, n, ms); }
int epoll_pwait(int fd, struct epoll_event* events, int n, int ms, const sigset_t* set) { return fails(class_wait) ? -1 : CALL(int, "epoll_pwait", fd, events, n, ms, set); }
int poll(struct pollfd* fds, nfds_t n, int ms) { return fails(class_wait) ? -1 : CALL(int, "poll", fds, n, ms); }
int ppoll(struct pollfd* fds, nfds_t n, const struct timespec* time, const sigset_t* set) { return fails(class_wait) ? -1 : CALL(int, "ppoll", fds, n, time, set); }
pid_t fork(void) { return fails(class_fork) ? -1 : CALL(pid_t, "fork"); }
pid_t vfork(void) { return fails(class_fork) ? -1 : CALL(pid_t, "fork"); }

long syscall(long call, ...) {
  va_list list;
  va_start(list, call);
  long a[6];
  for (int i = 0; i < 6; i++) a[i] = va_arg(list, long);
  va_end(list);
  if ((call == SYS_bpf && fails(class_bpf)) || (call == SYS_perf_event_open && fails(class_perf))) return -1;
  return CALL(long, "syscall", call, a[0], a[1], a[2], a[3], a[4], a[5]);
}
