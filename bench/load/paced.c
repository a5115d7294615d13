// System calls at a steady rate: paced CALLS_PER_SECOND SECONDS. Makes getppid() calls in batches of a tenth of a millisecond and spins until the
// next one is due; a batch that is late is made up for. Prints calls made and seconds taken.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char** argv) {
  const double rate = argc > 1 ? atof(argv[1]) : 0, seconds = argc > 2 ? atof(argv[2]) : 0;
  if (rate < 10000 || seconds <= 0) return 2;
  const long calls = (long)(rate * seconds), batch = (long)(rate / 10000);
  const double begin = now();
  long made = 0;
  while (made < calls) {
    while (now() < begin + (double)made / rate) {
    }
    for (long i = 0; i < batch && made < calls; i++, made++) syscall(SYS_getppid);
  }
  printf("%ld %.3f\n", made, now() - begin);
  return 0;
}
