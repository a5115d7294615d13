// Calls F 50 times, which sleeps a little each time; the 51st call takes 30 ms.
#include <unistd.h>

volatile int calls;

__attribute__((noinline)) void F(int us) {
  calls++;
  usleep(us);
}

int main(void) {
  for (int i = 0; i < 50; i++) F(100);
  F(30000);
}
