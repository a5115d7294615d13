// What several blocks of a script probe: two functions, each called twice, and one at a known address.
#include <stdio.h>

__attribute__((noinline)) int add(int a, int b) {
  asm volatile("" ::: "memory");
  return a + b;
}
__attribute__((noinline)) int twice(int n) {
  asm volatile("" ::: "memory");
  return 2 * n;
}
__attribute__((noinline, section(".at_known_address"))) int placed(int n) {
  asm volatile("" ::: "memory");
  return n + 1;
}

int main(void) {
  int sum = 0;
  for (int i = 1; i <= 2; i++) sum += add(i, 10) + twice(i) + placed(i);
  printf("%d\n", sum);
  return 0;
}
