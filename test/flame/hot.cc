// Calls hot() three times for each cold(), which take the same time, until it has used MS of processor time; then tells
// what both took: "hot NS cold NS". Most of the work is in a function that is inlined.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>

static uint64_t now() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return uint64_t(t.tv_sec) * 1000000000 + uint64_t(t.tv_nsec);
}

static inline __attribute__((always_inline)) uint32_t stir(uint32_t x) {
  for (int i = 0; i < 400000; i++) x = x * 1664525 + 1013904223 + (x >> 7);
  return x;
}

extern "C" __attribute__((noinline)) uint32_t hot(uint32_t x) { return stir(x) + 1; }
extern "C" __attribute__((noinline)) uint32_t cold(uint32_t x) { return stir(x) + 2; }

int main(int, char** argv) {
  uint64_t limit = strtoull(argv[1], nullptr, 10) * 1000000, spent_hot = 0, spent_cold = 0;
  uint32_t x = 1;
  for (uint64_t start = now(); now() - start < limit;) {
    uint64_t a = now();
    x = hot(x), x = hot(x), x = hot(x);
    uint64_t b = now();
    x = cold(x);
    spent_hot += b - a;
    spent_cold += now() - b;
  }
  std::printf("hot %lu cold %lu\n", spent_hot, spent_cold);
  return x == 0 ? 1 : argv[2] ? atoi(argv[2]) : 0;
}
