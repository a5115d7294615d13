// A program with marked probes whose arguments are known: usdt_load MODE [COUNT].
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SEMAPHORE(name) __extension__ unsigned short app_##name##_semaphore __attribute__((section(".probes"), used))
SEMAPHORE(plain);
SEMAPHORE(numbers);
SEMAPHORE(text);
SEMAPHORE(global);
SEMAPHORE(sites);
SEMAPHORE(counted);
SEMAPHORE(real);
unsigned short other_plain_semaphore __attribute__((section(".probes"), used));

__attribute__((used)) static volatile int64_t values[] = {10, 20, 30, 40};
__attribute__((used)) static volatile int global_number = 77;
__attribute__((used)) static __thread volatile int own = 5;
__attribute__((used)) static __thread volatile int64_t other = -6;

__attribute__((noinline)) static void plain(void) { STAP_PROBE(app, plain); }

__attribute__((noinline)) static void numbers(signed char a, unsigned short b, int c, uint64_t d, unsigned e) {
  STAP_PROBE6(app, numbers, a, b, c, d, e, -9);
}

__attribute__((noinline)) static void text(const char* t, int length) { STAP_PROBE2(app, text, t, length); }

__attribute__((noinline)) static void sites(int n) {
  STAP_PROBE2(app, sites, n, 1);
  volatile int doubled = n * 2;
  STAP_PROBE2(app, sites, doubled, 2);
  STAP_PROBE2(app, sites, 1000L, 3);
}

// Operands that compilers write now and then, by hand.
__attribute__((noinline)) static void operands(int64_t* from, int64_t index) {
  register int64_t* base __asm__("rdi") = from;
  register int64_t at __asm__("rsi") = index;
  __asm__ volatile("mov $0x1234, %%eax\n"
                   "990: nop\n" _SDT_ASM_BASE
                   ".pushsection .note.stapsdt,\"\",\"note\"\n"
                   ".balign 4\n"
                   ".4byte 992f-991f, 994f-993f, 3\n"
                   "991: .asciz \"stapsdt\"\n"
                   "992: .balign 4\n"
                   "993: .8byte 990b, _.stapsdt.base, 0\n"
                   ".asciz \"app\"\n"
                   ".asciz \"operands\"\n"
                   ".asciz \"8@(%%rdi,%%rsi,8) 8@8(%%rdi) 8@values+24(%%rip) -4@global_number(%%rip) 1@%%ah 1@%%al "
                   "-4@%%fs:own@tpoff -8@%%fs:other@tpoff 8@$values+8 2@$-1\"\n"
                   "994: .balign 4\n"
                   ".popsection\n"
                   :
                   : "r"(base), "r"(at)
                   : "rax");
}

int main(int count, char** words) {
  const char* mode = count > 1 ? words[1] : "";
  int times = count > 2 ? atoi(words[2]) : 1;
  if (!strcmp(mode, "load")) { // a library that is there only later
    void* library = dlopen(words[2], RTLD_NOW);
    if (!library) return 3;
    ((void (*)(int))dlsym(library, "in_library"))(42);
    return 0;
  }
  for (int i = 0; i < times; i++) {
    if (!strcmp(mode, "plain")) {
      plain();
      STAP_PROBE(other, plain);
    }
    if (!strcmp(mode, "numbers")) numbers(-1, 65535, -5, UINT64_MAX, 4000000000u);
    if (!strcmp(mode, "text")) text("a needle", 8);
    if (!strcmp(mode, "global")) STAP_PROBE1(app, global, global_number);
    if (!strcmp(mode, "sites")) sites(21);
    if (!strcmp(mode, "operands")) operands((int64_t*)values, 2);
    if (!strcmp(mode, "real")) STAP_PROBE2(app, real, 1.5, 3);
    if (!strcmp(mode, "counted") && app_counted_semaphore) STAP_PROBE1(app, counted, app_counted_semaphore);
    if (!strcmp(mode, "wait")) usleep(20000);
  }
  return own + (int)other + 1 + (int)values[0] - 10;
}
