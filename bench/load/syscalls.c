// The load of the cost-per-event rows: syscalls CALLS [ROUNDS]. Makes CALLS cheap system calls (getppid) in each
// round and prints nanoseconds per call, the least and the median of all rounds: the least is what the machine can
// do when nothing else disturbs it, the median what it did.
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

int main(int argc, char** argv) {
  long calls = argc > 1 ? atol(argv[1]) : 250000;
  int rounds = argc > 2 ? atoi(argv[2]) : 20;
  if (calls < 1 || rounds < 1 || rounds > 1000) return 2;
  double each[1000];
  for (long i = 0; i < calls / 10; i++) syscall(SYS_getppid); // warm
  for (int r = 0; r < rounds; r++) {
    double start = now();
    for (long i = 0; i < calls; i++) syscall(SYS_getppid);
    each[r] = (now() - start) / (double)calls;
  }
  qsort(each, (size_t)rounds, sizeof each[0], by_value);
  printf("%.2f %.2f\n", each[0], each[rounds / 2]);
  return 0;
}
