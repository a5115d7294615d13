// Calls getpgid(0) from so many different stacks: "branchy STACKS", at most 65536, a tenth of a millisecond apart.
#include <cstdlib>
#include <unistd.h>

static volatile int sink;
static void left(unsigned path, int depth);

static __attribute__((noinline)) void right(unsigned path, int depth) {
  if (depth == 16)
    sink = getpgid(0);
  else if (path >> depth & 1)
    left(path, depth + 1);
  else
    right(path, depth + 1);
  sink = depth;
}

static __attribute__((noinline)) void left(unsigned path, int depth) {
  if (depth == 16)
    sink = getpgid(0);
  else if (path >> depth & 1)
    left(path, depth + 1);
  else
    right(path, depth + 1);
  sink = depth + 1;
}

int main(int, char** argv) {
  for (unsigned i = 0, all = std::strtoul(argv[1], nullptr, 10); i < all; i++) {
    right(i, 0);
    usleep(100);
  }
}
