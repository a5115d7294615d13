// Calls getppid() about once a microsecond for so many milliseconds, then prints how often: storm MILLISECONDS
// Or all the time a function whose first instruction the kernel steps over when it is probed: storm MILLISECONDS stepped
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void stepped(void);
__asm__(".type stepped, @function\nstepped: mov %rdi, %rax\nret\n.size stepped, . - stepped\n");

int main(int argc, char** argv) {
  const uint64_t end = now_ns() + (uint64_t)atoi(argc > 1 ? argv[1] : "1000") * 1000000;
  uint64_t calls = 0;
  for (; argc > 2 && now_ns() < end; calls++) stepped();
  for (uint64_t next = now_ns(); now_ns() < end; next += 1000) {
    syscall(SYS_getppid);
    calls++;
    for (uint64_t now = now_ns(); now < next; now = now_ns()) {}
  }
  printf("%llu\n", (unsigned long long)calls);
  return 0;
}
