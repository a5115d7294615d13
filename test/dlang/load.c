// What the cases of run.py count: `acu_dload calls` makes a known number of system calls and of calls of its own functions, `acu_dload burn MS`
// uses CPU time, `acu_dload sleep` waits twice.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#if __has_include(<sys/sdt.h>)
#include <sys/sdt.h>
#else
#define DTRACE_PROBE2(provider, name, a, b)
#endif

__attribute__((noinline)) long work_twice(long n) {
  __asm__ volatile("" : "+r"(n));
  return 2 * n;
}
__attribute__((noinline)) long work_name(const char* name) {
  __asm__ volatile("" : "+r"(name));
  return name[0];
}
__attribute__((noinline)) void burn(long ms) {
  struct timespec t;
  const clock_t end = clock() + ms * (CLOCKS_PER_SEC / 1000);
  do {
    for (volatile int i = 0; i < 10000; i++) {}
    clock_gettime(CLOCK_MONOTONIC, &t);
  } while (clock() < end);
}

int main(int argc, char** argv) {
  if (argc > 2 && !strcmp(argv[1], "burn")) return burn(atol(argv[2])), 0;
  if (argc > 1 && !strcmp(argv[1], "sleep")) {
    struct timespec t = {0, 20000000};
    return nanosleep(&t, 0), nanosleep(&t, 0), 0;
  }
  char buffer[4096];
  for (int i = 0; i < 5; i++) syscall(SYS_getppid);
  for (int i = 0; i < 7; i++) close((int)syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY));
  for (int i = 0; i < 3; i++) syscall(SYS_openat, AT_FDCWD, "/nonexistent/file", O_RDONLY);
  const int zero = (int)syscall(SYS_openat, AT_FDCWD, "/dev/zero", O_RDONLY);
  const size_t sizes[] = {1, 1, 16, 16, 16, 4096};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) syscall(SYS_read, zero, buffer, sizes[i]);
  long sum = 0;
  for (long i = 0; i < 10; i++) sum += work_twice(i);
  sum += work_name("first") + work_name("second") + work_name("second");
  for (long i = 0; i < 4; i++) DTRACE_PROBE2(shop, order__done, i, "item");
  return sum == 90 + 'f' + 's' + 's' ? 0 : 1;
}
