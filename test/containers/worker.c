// Calls work() and getppid() every 2 ms until its input ends; prints the process and thread IDs that it sees itself.
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

volatile unsigned long sum;

__attribute__((noinline)) int work(int n) {
  for (int i = 0; i < 150000; i++) sum += (unsigned long)i * (unsigned long)n;
  return n + 1;
}

int main(void) {
  printf("%d\n", (int)getpid());
  fflush(stdout);
  struct pollfd input = {0, POLLIN, 0};
  for (int n = 0; poll(&input, 1, 2) == 0; n = work(n) & 1023) getppid();
  return 0;
}
