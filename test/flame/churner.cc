// A server that allocates much, and counts it: churner ROUNDS [WORK]. Each round takes 22 blocks of different sizes and frees them, but for the first one in
// each 16th round, and does WORK steps of work before each block. It says `ready`, begins at a line of its input, says `done` and how many bytes it has allocated and freed, and waits.
// Nothing but the rounds allocates meanwhile.
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

static unsigned long allocated, freed;
static unsigned last = 1;

static size_t size_from(size_t least) { return least + ((last = last * 1664525 + 1013904223) >> 16) % least; }

__attribute__((noipa)) static void* take(size_t size) {
  void* block = malloc(size);
  asm volatile("");
  return block;
}

__attribute__((noipa)) static void work(long steps) {
  for (long i = 0; i < steps; i++) asm volatile("");
}

__attribute__((noipa)) static void do_round(bool forgets, long steps) {
  void* blocks[22];
  size_t sizes[22];
  for (int i = 0; i < 22; i++) {
    work(steps);
    allocated += sizes[i] = size_from(i < 20 ? 40 : 400);
    blocks[i] = i < 20 ? malloc(sizes[i]) : take(sizes[i]);
  }
  for (int i = forgets; i < 22; i++) {
    freed += sizes[i];
    free(blocks[i]);
  }
}

int main(int count, char** words) {
  char line[100];
  const long rounds = atol(words[1]), steps = count > 2 ? atol(words[2]) : 0;
  if (write(1, "ready\n", 6) != 6 || read(0, line, sizeof line) <= 0) return 1;
  for (long i = 0; i < rounds; i++) do_round(i % 16 == 0, steps);
  const int length = snprintf(line, sizeof line, "done\n%lu %lu\n", allocated, freed);
  return write(1, line, length) != length || read(0, line, sizeof line) < 0;
}
