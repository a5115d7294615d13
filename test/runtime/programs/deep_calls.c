// A function that calls itself 99 times within itself.
#include <stdio.h>
__attribute__((noinline, noclone)) int down(int n) {
  volatile int x = n;
  return n <= 0 ? 0 : down(n - 1) + x;
}
int main(void) { return down(99) == 4950 ? 0 : 1; }
