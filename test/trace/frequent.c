// Many short calls, and beside them one that takes a while, whose time the program measures itself: frequent SECONDS. It prints the number of getppid(2), that
// of nanosleep(2), and the seconds that the latter took.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

int main(int argc, char** argv) {
  const double end = now() + (argc > 1 ? atof(argv[1]) : 1);
  long calls = 0, sleeps = 0;
  double slept = 0;
  while (now() < end) {
    for (int i = 0; i < 100; i++, calls++) syscall(SYS_getppid);
    const struct timespec pause = {0, 200000};
    const double begin = now();
    syscall(SYS_nanosleep, &pause, NULL);
    slept += now() - begin;
    sleeps++;
  }
  printf("%ld %ld %.6f\n", calls, sleeps, slept);
}
