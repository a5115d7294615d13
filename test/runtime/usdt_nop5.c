// A marked probe on a nop of 5 bytes, in a function that keeps its variables below the stack pointer: ends with 0 if
// nobody has changed them.
#include <sys/sdt.h>

__attribute__((noinline)) static long leaf(long n) {
  volatile long kept[4];
  for (int i = 0; i < 4; i++) kept[i] = n + i;
  __asm__ volatile("990: .byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n" _SDT_ASM_BASE
                   ".pushsection .note.stapsdt,\"\",\"note\"\n"
                   ".balign 4\n"
                   ".4byte 992f-991f, 994f-993f, 3\n"
                   "991: .asciz \"stapsdt\"\n"
                   "992: .balign 4\n"
                   "993: .8byte 990b, _.stapsdt.base, 0\n"
                   ".asciz \"app\"\n"
                   ".asciz \"leaf\"\n"
                   ".asciz \"8@%%rdi\"\n"
                   "994: .balign 4\n"
                   ".popsection\n"
                   :
                   : "D"(n));
  return kept[0] + kept[1] + kept[2] + kept[3] - 6 - 4 * n;
}

int main(void) {
  long wrong = 0;
  for (long i = 0; i < 1000; i++) wrong |= leaf(i);
  STAP_PROBE1(app, done, wrong);
  return wrong != 0;
}
