// Functions for probes at offsets, lines, addresses and versions; `places N` calls each N times.
#include <stdio.h>
#include <stdlib.h>

static __attribute__((noinline)) long sum(long n) {
  long total = 0, i = 0;
  while (i < n) {
    total += i++; // line 8
  }
  return total;
}

__attribute__((noinline)) long guarded(long* p) {
  if (!p) return 0;
  return *p + 1; // line 15
}

static volatile long calls;
static inline __attribute__((always_inline)) long piece(long a) {
  calls++; // line 20
  return a * 3 + 1;
}

__attribute__((noinline)) long with_piece(long a) { return piece(a) + 2; }
__attribute__((noinline)) long with_other_piece(long a) { return piece(a) + 5; }

// Counts down by a branch right behind its first instruction.
long counted(long n);
__asm__(".globl counted\n.type counted,@function\ncounted:\n  endbr64\n1: push %rbp\n  pop %rbp\n"
        "  dec %rdi\n  jg 1b\n  mov %rdi,%rax\n  ret\n.size counted,.-counted\n");

// Another function goes on in the middle of `entered`, and one that stands far away in that of `far_entered`.
long entered(long n), enters(long n), far_entered(long n), far_enters(long n);
__asm__(
    ".type entered,@function\nentered:\n  endbr64\n2: push %rbp\n  pop %rbp\n  mov %rdi,%rax\n  ret\n"
    ".size entered,.-entered\n.type enters,@function\nenters: inc %rdi\n  jmp 2b\n.size enters,.-enters\n"
    ".type far_entered,@function\nfar_entered:\n  endbr64\n3: push %rbp\n  pop %rbp\n  mov %rdi,%rax\n  ret\n"
    ".size far_entered,.-far_entered\n.skip 400, 0xcc\n"
    ".type far_enters,@function\nfar_enters: inc %rdi\n  jmp 3b\n.size far_enters,.-far_enters\n");

// Keeps variables below the stack pointer, around a nop of 5 bytes that is 10 bytes behind the start.
long leaf(long a);
__asm__(
    ".globl leaf\n.type leaf,@function\nleaf:\n.cfi_startproc\n  mov %rdi,-8(%rsp)\n  mov %rdi,-16(%rsp)\n"
    "  .byte 0x0f,0x1f,0x44,0x00,0x00\n  mov -8(%rsp),%rax\n  add -16(%rsp),%rax\n  ret\n"
    ".cfi_endproc\n.size leaf,.-leaf\n");

int main(int argc, char** argv) {
  long n = argc > 1 ? atol(argv[1]) : 1, wrong = 0, value = 6;
  for (long i = 0; i < n; i++) {
    wrong += sum(4) != 6;
    wrong += guarded(&value) != 7;
    wrong += guarded(NULL) != 0;
    wrong += with_piece(i) != 3 * i + 3;
    wrong += with_other_piece(i) != 3 * i + 6;
    wrong += counted(5) != 0;
    wrong += leaf(i) != 2 * i;
    wrong += entered(i) != i || enters(i) != i + 1;
    wrong += far_entered(i) != i || far_enters(i) != i + 1;
  }
  if (wrong) printf("%ld results are wrong\n", wrong);
  return wrong != 0;
}
