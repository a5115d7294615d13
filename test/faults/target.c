// What is traced: makes 1,000 calls of step(), each with a system call.
#include <stdio.h>
#include <unistd.h>

__attribute__((noinline)) int step(int n) {
  getppid();
  return n + 1;
}

int main(void) {
  int sum = 0;
  for (int i = 0; i < 1000; i++) sum = step(sum);
  return sum != 1000;
}
