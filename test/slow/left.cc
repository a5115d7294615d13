// A slow function that is left by exceptions and longjmp; a call of it from further down follows at once.
#include <csetjmp>
#include <stdexcept>
#include <unistd.h>

static jmp_buf back;

enum Way { returns, throws, jumps };

[[gnu::noipa]] int deep(Way way) {
  usleep(20000);
  if (way == throws) throw std::runtime_error("left");
  if (way == jumps) longjmp(back, 1);
  return 1;
}

// Its calls are below those that main makes.
[[gnu::noipa]] int further_down(Way way) {
  volatile char room[4096] = {};
  return deep(way) + room[100];
}

int main() {
  try {
    deep(throws);
  } catch (const std::exception&) {
  }
  try {
    further_down(throws);
  } catch (const std::exception&) {
    usleep(20000);
  }
  if (!setjmp(back)) further_down(jumps);
  usleep(20000);
  further_down(returns);
}
