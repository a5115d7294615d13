// A program that gets to the same loop in known shares of its time, in ways that stacks differ by: `three` takes three
// fifths of the time, `one` in the callback of a C library's function one, and `one` called by linked_library.c another.
// Runs until it has used as many milliseconds of CPU time as its argument says; 0: for ever.
#include "linked.h"

#include <cstdlib>
#include <ctime>

#ifdef FAR_CODE // in a segment of its own
#define FAR __attribute__((noinline, section(".far_code")))
#else
#define FAR __attribute__((noinline))
#endif

static volatile unsigned long sink;

__attribute__((noinline)) static void spin(unsigned long rounds) {
  unsigned long x = sink;
  for (unsigned long i = 0; i < rounds; i++) x = x * 6364136223846793005ul + 1442695040888963407ul;
  sink = x;
}

static unsigned long rounds = 20000; // another number in each turn, so that no clock keeps in step with them

__attribute__((noinline)) static void three() {
  spin(3 * rounds);
  sink = sink + 1;
}
FAR static void one() {
  spin(rounds);
  sink = sink + 1;
}
static int compare(const void*, const void*) {
  one();
  return 0;
}
FAR static void in_turn() {
  int pair[2] = {1, 2};
  static unsigned last = 1;
  rounds = 10000 + ((last = last * 1664525 + 1013904223) >> 16) % 20000;
  three();
  std::qsort(pair, 2, sizeof pair[0], compare);
  call_back(one);
}

static long used_ms() {
  timespec t = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int main(int count, char** words) {
  const long longest = count > 1 ? std::atol(words[1]) : 100;
  while (!longest || used_ms() < longest) in_turn();
}
