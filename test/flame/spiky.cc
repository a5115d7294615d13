// Calls calm() for SECONDS of time, but from FROM until UNTIL spike(): "spiky SECONDS FROM UNTIL".
#include <cstdint>
#include <cstdlib>
#include <ctime>

static double now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
}

static volatile uint32_t sink;

extern "C" __attribute__((noinline)) void calm() {
  for (int i = 0; i < 100000; i++) sink = sink * 7 + 1;
}
extern "C" __attribute__((noinline)) void spike() {
  for (int i = 0; i < 100000; i++) sink = sink * 9 + 1;
}

int main(int, char** argv) {
  const double start = now(), end = std::atof(argv[1]), from = std::atof(argv[2]), until = std::atof(argv[3]);
  for (double t = 0; t < end; t = now() - start) t >= from && t < until ? spike() : calm();
}
