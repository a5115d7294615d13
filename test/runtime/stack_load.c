// A load with user stacks that are known: main calls middle, which calls leaf. Built by the tests with frame
// pointers: stack_load MODE [N].
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define KEPT __attribute__((noinline, noclone))

KEPT void leaf(const char* mode, long n);

// A system call in the function itself: that of libc would stand on top of the stack. Its first argument is the
// address of a function.
static inline __attribute__((always_inline)) void call(long number) {
#if defined(__x86_64__)
  long result = number;
  __asm__ volatile("syscall" : "+a"(result) : "D"(&leaf) : "rcx", "r11", "memory");
#else
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = (long)&leaf;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8) : "memory");
#endif
}

volatile long sum;
void (*volatile jitted)(void);

KEPT void leaf(const char* mode, long n) {
  if (!strcmp(mode, "spin")) { // n milliseconds of work
    struct timespec start, now;
    clock_gettime(CLOCK_MONOTONIC, &start);
    do {
      for (int i = 0; i < 1000000; i++) sum += i;
      clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 < n);
  } else { // n system calls
    for (long i = 0; i < n; i++) call(SYS_getpid);
  }
  sum++;
}

KEPT void middle(const char* mode, long n) {
  leaf(mode, n);
  sum++;
}

KEPT void deep(long n) { // a stack of n frames of this function
  if (n > 1)
    deep(n - 1);
  else
    call(SYS_getpid);
  sum++;
}

// 2^16 different stacks, one for each number of 16 bits.
KEPT void zero_bit(long bits, int left);
KEPT void one_bit(long bits, int left);
static inline __attribute__((always_inline)) void next_bit(long bits, int left) {
  if (left == 0)
    call(SYS_getpid);
  else if (bits & 1)
    one_bit(bits >> 1, left - 1);
  else
    zero_bit(bits >> 1, left - 1);
  sum++;
}
KEPT void zero_bit(long bits, int left) { next_bit(bits, left); }
KEPT void one_bit(long bits, int left) { next_bit(bits, left); }

#if defined(__x86_64__)
// Code made at run time, with a name in /tmp/perf-PID.map.
static void make_code(void) {
  static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0xb8, 39, 0, 0, 0, 0x0f, 0x05, 0x5d, 0xc3};
  char* at = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(at, code, sizeof code);
  char path[64];
  sprintf(path, "/tmp/perf-%ld.map", syscall(SYS_gettid));
  FILE* map = fopen(path, "w");
  fprintf(map, "%lx %zx made at run time\n", (unsigned long)at, sizeof code);
  fclose(map);
  jitted = (void (*)(void))at;
}
#endif

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "calls";
  long n = argc > 2 ? atol(argv[2]) : 1;
  if (!strcmp(mode, "deep")) {
    deep(n);
    usleep(100000);
  } else if (!strcmp(mode, "many")) {
    for (long i = 0; i < n; i++) next_bit(i, 16);
  } else if (!strcmp(mode, "fork")) { // the same addresses in n processes
    for (long i = 0; i < n; i++)
      if (fork() == 0) {
        middle("calls", 1);
        usleep(100000);
        _exit(0);
      }
    usleep(200000);
#if defined(__x86_64__)
  } else if (!strcmp(mode, "code")) {
    make_code();
    jitted();
    usleep(n * 1000);
    char path[64];
    sprintf(path, "/tmp/perf-%ld.map", syscall(SYS_gettid));
    unlink(path);
#endif
  } else if (!strcmp(mode, "stay") || !strcmp(mode, "gone")) { // a call, then some time
    if (mode[0] == 'g') unlink(argv[0]);
    middle("calls", 1);
    usleep(n * 1000);
  } else {
    middle(mode, n);
  }
  sum++;
  return 0;
}
