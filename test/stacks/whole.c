// A program whose stacks are walked: built without frame pointers, it gets to `leaf` in the way that its first word
// names, and there calls getpgid as often as its second word says (or for ever), a little while apart.
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sdt.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define apart __attribute__((noinline, noclone, used))

static long turns = 1;
static volatile int sink;
static char** words;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

apart int leaf(int n) {
  char room[64];
  memset(room, n, sizeof room);
  DTRACE_PROBE1(whole, leaf, n);
  getpgid(0);
  for (volatile int i = 0; i < 100000; i++) sink += room[i & 63];
  return sink + room[n & 63];
}

// Not the same calls over again: nothing of them may become a jump.
apart int work(int n) {
  int sum = 0;
  for (long i = 0; turns == 0 || i < turns; i++) sum += leaf(n + (int)i);
  return sum + n;
}
apart int inner(int n) { char room[200]; memset(room, n, sizeof room); int r = work(n + 1); return r + room[r & 127]; }
apart int outer(int n) { int a[n + 3]; a[0] = n; int r = inner(n + 2); return r + a[0]; }

apart int recurse(int n) { char room[48]; memset(room, n, sizeof room); int r = n ? recurse(n - 1) : work(1); return r + room[r & 31]; }

apart void handler(int signal) { sink += inner(signal); }

apart void raise_signal(int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(SIGUSR1, &action, NULL);
  raise(SIGUSR1);
  sink++;
}

static ucontext_t here, there;
apart void on_own_stack(void) { sink += inner(3); swapcontext(&there, &here); }
apart void switch_stack(void) {
  static char room[1 << 16];
  getcontext(&there);
  there.uc_stack.ss_sp = room;
  there.uc_stack.ss_size = sizeof room;
  there.uc_link = &here;
  makecontext(&there, on_own_stack, 0);
  swapcontext(&here, &there);
  sink++;
}

// The return address of `damage` is nonsense while it calls `work`.
apart int damage(int n) {
  uintptr_t* at = (uintptr_t*)__builtin_frame_address(0) + 1;
  uintptr_t kept = *at;
  *(volatile uintptr_t*)at = 0x1234567;
  int r = work(n);
  *(volatile uintptr_t*)at = kept;
  return r + 1;
}

// Code without tables that keeps no frame pointer: its frame can't be told.
int bare(int (*function)(int), int n);
__asm__(".text\n.type bare,@function\nbare:\n"
        "push %rbp\npush %rbx\nxor %ebp,%ebp\nmov $1,%ebp\nsub $40,%rsp\nmov %rdi,%rax\nmov %esi,%edi\ncall *%rax\n"
        "add $40,%rsp\npop %rbx\npop %rbp\nret\n.size bare,.-bare\n");

// Made code that keeps a frame pointer, as a JIT compiler makes it.
apart int made(int n) {
  static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x89, 0xf8, 0x89, 0xf7, 0xff, 0xd0, 0x5d, 0xc3};
  void* at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(at, code, sizeof code);
  int r = ((int (*)(int (*)(int), int))at)(inner, n);
  return r + 1;
}

apart void fork_many(long children) {
  for (long i = 0; i < children; i++) {
    pid_t child = fork();
    if (child == 0) {
      outer(1);
      _exit(0);
    }
    waitpid(child, NULL, 0);
  }
}

int main(int count, char** given) {
  words = given;
  const char* way = count > 1 ? given[1] : "plain";
  if (count > 2) turns = atol(given[2]);
  if (!strcmp(way, "plain")) outer(count);
  // Until the process is known: what is copied of one that is not is of one stack, and not as deep.
  if (!strcmp(way, "deep") || !strcmp(way, "altstack")) usleep(500000);
  if (!strcmp(way, "deep")) recurse(count > 3 ? atoi(given[3]) : 10000);
  if (!strcmp(way, "signal")) raise_signal(0);
  if (!strcmp(way, "altstack")) {
    stack_t stack = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
    sigaltstack(&stack, NULL);
    raise_signal(SA_ONSTACK);
  }
  if (!strcmp(way, "switch")) switch_stack();
  if (!strcmp(way, "damage")) sink += damage(1);
  if (!strcmp(way, "bare")) sink += bare(inner, 1);
  if (!strcmp(way, "made")) sink += made(1);
  if (!strcmp(way, "fork")) {
    long children = turns;
    turns = 1;
    fork_many(children);
  }
  if (!strcmp(way, "exec")) {
    outer(1);
    execl("/proc/self/exe", given[0], "signal", "1", NULL);
  }
  if (!strcmp(way, "spin"))
    for (double end = now() + turns, start = (turns = 1, 0); start < end; start = now()) outer(count);
  if (!strcmp(way, "wait")) {
    turns = 1;
    outer(1);
    pause();
  }
  return 0;
}
