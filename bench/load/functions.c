// The load of the rows on user functions: functions CALLS [ROUNDS] [WHICH]. Calls one of three functions CALLS times
// in each round and prints nanoseconds per call, the least and the median of all rounds, like syscalls.c.
// plain_call begins with `push %rbp`, as most functions with frame pointers do; branch_call with `endbr64`, which the
// kernel has to step over singly. Built with frame pointers: the stack of a call has five frames, of the function,
// make_calls(), outer(), main() and the function of libc that called it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef long (*Function)(long);

// What comes first is the compiler's in a function of its own, but here it shall not change with its version.
long plain_call(long n);
long branch_call(long n);
__asm__(".text\n.globl plain_call\n.type plain_call, @function\nplain_call:\n"
        "push %rbp\nmov %rsp, %rbp\nlea 1(%rdi), %rax\npop %rbp\nret\n.size plain_call, . - plain_call\n"
        ".globl branch_call\n.type branch_call, @function\nbranch_call:\n"
        "endbr64\npush %rbp\nmov %rsp, %rbp\nlea 1(%rdi), %rax\npop %rbp\nret\n"
        ".size branch_call, . - branch_call\n");

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_value(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

__attribute__((noipa)) static void make_calls(Function function, long calls) {
  for (long i = 0; i < calls; i++)
    if (function(i) != i + 1) abort(); // nothing that is traced may change
}

__attribute__((noipa)) static void outer(Function function, long calls) {
  make_calls(function, calls);
  __asm__ volatile("" ::: "memory");
}

int main(int argc, char** argv) {
  long calls = argc > 1 ? atol(argv[1]) : 250000;
  int rounds = argc > 2 ? atoi(argv[2]) : 20;
  Function function = argc > 3 && !strcmp(argv[3], "branch_call") ? branch_call : plain_call;
  if (calls < 1 || rounds < 1 || rounds > 1000) return 2;
  static double each[1000];
  outer(function, calls / 10); // warm
  for (int r = 0; r < rounds; r++) {
    double start = now();
    outer(function, calls);
    each[r] = (now() - start) / (double)calls;
  }
  qsort(each, (size_t)rounds, sizeof each[0], by_value);
  printf("%.2f %.2f\n", each[0], each[rounds / 2]);
  return 0;
}
