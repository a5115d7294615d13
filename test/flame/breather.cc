// A program whose memory comes and goes. At a line of its input it maps 48 MiB, touches that and gives half of it back, touches 20 MiB of
// the heap, and five times 10 MiB that it gives back at once; then it says `done`, and waits.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <malloc.h>
#include <sys/mman.h>

constexpr size_t mega = 1 << 20;
static char* volatile sink;

__attribute__((noipa)) static char* map_and_touch(size_t size) {
  void* got = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(got, size, MADV_NOHUGEPAGE);
  sink = static_cast<char*>(got);
  for (size_t at = 0; at < size; at += 4096) sink[at] = 1;
  return sink;
}

__attribute__((noipa)) static void keep_half() {
  char* got = map_and_touch(48 * mega);
  munmap(got + 24 * mega, 24 * mega);
}

__attribute__((noipa)) static void keep_heap() {
  for (size_t i = 0; i < 20 * mega / 1000; i++) memset(sink = static_cast<char*>(malloc(984)), 1, 984);
}

__attribute__((noipa)) static void keep_nothing() {
  for (int i = 0; i < 5; i++) munmap(map_and_touch(10 * mega), 10 * mega);
}

int main() {
  puts("ready");
  fflush(stdout);
  if (getchar() == EOF) return 1;
  keep_half();
  keep_heap();
  keep_nothing();
  puts("done");
  fflush(stdout);
  while (getchar() != EOF) {} // it stays until it is killed
}
