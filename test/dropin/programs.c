// What the commands probe.
#include <stdio.h>
#include <unistd.h>

__attribute__((noinline)) int add(int a, int b) {
  asm volatile("" ::: "memory");
  return a + b;
}
__attribute__((noinline)) long half(long n) {
  asm volatile("" ::: "memory");
  return n / 2;
}
__attribute__((noinline)) const char* name(const char* text) {
  asm volatile("" ::: "memory");
  return text;
}

int main(void) {
  int sum = 0;
  char text[] = "hello";
  for (int i = 0; i < 3; i++) sum = add(sum, i);
  return sum + half(10) + name(text)[0] == 0;
}
