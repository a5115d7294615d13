// The load of the cost-per-event rows: syscalls CALLS [ROUNDS]. Makes CALLS cheap system calls (getppid) in each
// round and prints nanoseconds per call, the least and the median of all rounds: the least is what the machine can
// do when nothing else disturbs it, the median what it did. Built with frame pointers: the user stack of a call has
// five frames, of make_calls(), middle() (a function that calls none has no frame to find its caller by), outer(), main()
// and the function of libc that called it. The system call is made in place: where the kernel guards its own returns, the
// next return of a program costs 50 ns.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_value(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

// noipa: nothing is known to callers, so each call stays one. Code behind a call keeps it from being a jump.
__attribute__((noipa)) static void make_calls(long calls) {
  for (long i = 0; i < calls; i++) {
#if defined(__x86_64__)
    long result = SYS_getppid;
    __asm__ volatile("syscall" : "+a"(result) : : "rcx", "r11", "memory");
#else
    syscall(SYS_getppid);
#endif
  }
}

__attribute__((noipa)) static void inner(long calls) {
  make_calls(calls);
  __asm__ volatile("" ::: "memory");
}

__attribute__((noipa)) static void middle(long calls) {
  inner(calls);
  __asm__ volatile("" ::: "memory");
}

__attribute__((noipa)) static void outer(long calls) {
  middle(calls);
  __asm__ volatile("" ::: "memory");
}

int main(int argc, char** argv) {
  long calls = argc > 1 ? atol(argv[1]) : 250000;
  int rounds = argc > 2 ? atoi(argv[2]) : 20;
  if (calls < 1 || rounds < 1 || rounds > 1000) return 2;
  static double each[1000]; // on the stack it would be between the frames
  outer(calls / 10); // warm
  for (int r = 0; r < rounds; r++) {
    double start = now();
    outer(calls);
    each[r] = (now() - start) / (double)calls;
  }
  qsort(each, (size_t)rounds, sizeof each[0], by_value);
  printf("%.2f %.2f\n", each[0], each[rounds / 2]);
  return 0;
}
