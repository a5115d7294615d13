// A program for core tests: arguments that are nowhere any more when it crashes, but that callers can tell of. For -O2.
#include <stdio.h>
#include <unistd.h>
#define CALLED __attribute__((noinline, noclone, noipa))
struct item { long key; struct item *next; };
volatile long sink;
long *volatile nowhere = (long *)8;
CALLED static void touch(long n) { sink += n; }

// The crash, too, asks for what it was given: nothing of it is left.
static int waits;
CALLED static void crash(long why) {
  touch(why);
  if (waits) { puts("ready"); fflush(stdout); for (;;) pause(); }
  *nowhere = 1;
  touch(2);
}
// A constant, a kept register, an address in the frame.
CALLED static void told(long a, long b, long *place) { touch(a + b + *place); crash(7); touch(1); }
// Through two frames: what it gives on is what it was given itself.
CALLED static void passes_on(long x, struct item *p) { told(x, p->key, &p->key); touch(3); }
// Jumps in a circle: even was called by its caller, but not with what it was given last.
CALLED static void odd(long n, long why);
CALLED static void even(long n, long why) { touch(n + why); if (n) { odd(n - 1, n * 7); return; } passes_on(11, &(struct item){5, 0}); touch(6); }
CALLED static void odd(long n, long why) { touch(n + why); if (n) { even(n - 1, n * 7); return; } touch(7); }
// Through a pointer that the caller still has, and below through one that it has no more.
static int times;
CALLED static void second(long n) { touch(n); if (times++ == 0) return; even(4, 100); touch(8); }
CALLED static void twice(long n, void (*f)(long)) { f(n + 1); f(n); touch((long)f); }
void (*volatile through_too)(long) = second;
// A jump: told_by_jump has the return address of its caller, which called jumps.
CALLED static void told_by_jump(long hidden) { touch(hidden); twice(30, through_too); touch(4); }
CALLED static void jumps(long n) { touch(n); told_by_jump(n * 3); }
void (*volatile through)(long) = jumps;
CALLED static void by_pointer(long n, void (*f)(long)) { f(n + 1); f(n); touch(5); }
// Each call has other arguments.
CALLED static long again(long depth, long hidden) {
  touch(hidden);
  if (depth == 0) { by_pointer(20, through); return 1; }
  long r = again(depth - 1, depth * 100);
  touch(r);
  return r + 1;
}
volatile long given = 42; // which no caller can tell any more
int main(int argc, char **argv) {
  (void)argv;
  waits = argc > 1;
  long first = again(3, given);
  return (int)first;
}
