// A program that grows: it maps 64 MiB, touches half of that, and moves the end of the heap by 8 MiB.
#include <sys/mman.h>
#include <unistd.h>

constexpr long mega = 1 << 20;

__attribute__((noipa)) static char* map_much() {
  void* got = mmap(nullptr, 64 * mega, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(got, 64 * mega, MADV_NOHUGEPAGE);
  return static_cast<char*>(got);
}

__attribute__((noipa)) static void touch_half(volatile char* from) {
  for (long at = 0; at < 32 * mega; at += 4096) from[at] = 1;
}

__attribute__((noipa)) static bool grow_heap() { return sbrk(8 * mega) != nullptr; }

int main() {
  char* mapped = map_much();
  touch_half(mapped);
  return mapped && grow_heap() ? 0 : 1;
}
