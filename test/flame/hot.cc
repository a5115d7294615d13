// Calls hot() three times as often as cold(), in random order and for random times – so that no rate of samples can keep in
// step with it –, until it has used MS of processor time; then tells what both took: "hot NS cold NS". Most of the work is in
// a function that is inlined.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>

static uint64_t now() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return uint64_t(t.tv_sec) * 1000000000 + uint64_t(t.tv_nsec);
}

static inline __attribute__((always_inline)) uint32_t stir(uint32_t x, uint32_t turns) {
  for (uint32_t i = 0; i < turns; i++) x = x * 1664525 + 1013904223 + (x >> 7);
  return x;
}

extern "C" __attribute__((noinline)) uint32_t hot(uint32_t x, uint32_t turns) { return stir(x, turns) + 1; }
extern "C" __attribute__((noinline)) uint32_t cold(uint32_t x, uint32_t turns) { return stir(x, turns) + 2; }

int main(int, char** argv) {
  uint64_t limit = strtoull(argv[1], nullptr, 10) * 1000000, spent_hot = 0, spent_cold = 0;
  uint32_t x = 1;
  std::mt19937 random(1);
  for (uint64_t start = now(); now() - start < limit;) {
    bool is_hot = random() % 4 != 0;
    uint32_t turns = 100000 + random() % 800000;
    uint64_t before = now();
    x = is_hot ? hot(x, turns) : cold(x, turns);
    (is_hot ? spent_hot : spent_cold) += now() - before;
  }
  std::printf("hot %lu cold %lu\n", spent_hot, spent_cold);
  return x == 0 ? 1 : argv[2] ? atoi(argv[2]) : 0;
}
