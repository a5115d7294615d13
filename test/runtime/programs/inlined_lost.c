// scale() is inlined into main(), where nothing is left of its second parameter, and called by address.
#include <stdio.h>

__attribute__((noinline, pure)) static int guess(int x) { return x * x; }

static inline int scale(int a, int b) {
  (void)b;
  __asm__ volatile("" ::"r"(a));
  return a * 2;
}

int (*volatile by_address)(int, int) = scale;

int main(void) {
  volatile int x = 3;
  int sum = scale(x, guess(x));
  sum += by_address(4, 5);
  printf("%d\n", sum);
  return 0;
}
