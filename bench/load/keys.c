// The load of new keys: keys CALLS FILE. Makes CALLS cheap system calls, each at another nanosecond, and writes to FILE when it
// began and ended (CLOCK_MONOTONIC, ns) and the CPU time a call took on average (ns).
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const long calls = atol(argv[1]);
  const double start = now(CLOCK_MONOTONIC), used = now(CLOCK_PROCESS_CPUTIME_ID);
  for (long i = 0; i < calls; i++) syscall(SYS_getppid);
  const double cpu = now(CLOCK_PROCESS_CPUTIME_ID) - used, end = now(CLOCK_MONOTONIC);
  FILE* out = fopen(argv[2], "w");
  if (!out) return 1;
  fprintf(out, "%.0f %.0f %.2f\n", start, end, cpu / (double)calls);
  return fclose(out) != 0;
}
