// Functions without names once it is stripped: main calls work, work calls leaf, and leaf burns CPU time or
// calls getpgid. `plain SECONDS` burns, `plain 0 N` calls getpgid N times, `plain wait` waits.
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile long sink;

__attribute__((noinline)) static long leaf(double seconds, int calls) {
  const clock_t end = clock() + (clock_t)(seconds * CLOCKS_PER_SEC);
  while (clock() < end)
    for (long i = 0; i < 1000000; i++) sink += i * i;
  for (int i = 0; i < calls; i++) sink += getpgid(0);
  return sink;
}

__attribute__((noinline)) static long work(double seconds, int calls) {
  const long first = leaf(seconds / 2, calls);
  return first + leaf(seconds / 2, 0);
}

__attribute__((noinline)) static int waits(void) { return pause() + (int)sink; }

int main(int count, char** words) {
  if (count > 1 && !strcmp(words[1], "wait")) return waits();
  return work(count > 1 ? atof(words[1]) : 0, count > 2 ? atoi(words[2]) : 0) == 1;
}
