// workers N [PAUSE]: N requests, PAUSE us apart, of a function that exceptions may leave: one of a hundred does. Four of them need
// 60 ms of a CPU; prints how long these took, in ms.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <unistd.h>

static volatile unsigned long g_sum;

static double now() { return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

__attribute__((noipa)) void hash_blocks(double ms) {
  for (const double end = now() + ms; now() < end;)
    for (int block = 0; block < 1000; block++) g_sum = g_sum + 1;
}

__attribute__((noipa)) void check_sum(double ms) {
  hash_blocks(ms);
  g_sum = g_sum + 1;
}

__attribute__((noipa)) int handle_request(int n, int requests) {
  const int part = requests / 5;
  if (n && n % part == 0) check_sum(60);
  if (n % 100 == 50) throw std::runtime_error("refused");
  g_sum = g_sum + 1;
  return n;
}

int main(int argc, char** argv) {
  const int requests = argc > 1 ? std::atoi(argv[1]) : 1000;
  const int pause_us = argc > 2 ? std::atoi(argv[2]) : 0;
  for (int n = 0; n < requests; n++) {
    const double start = now();
    try {
      handle_request(n, requests);
    } catch (const std::runtime_error&) {
      g_sum = g_sum + 1;
    }
    if (const double took = now() - start; took >= 50) std::printf("%.3f\n", took);
    if (pause_us) usleep(static_cast<unsigned>(pause_us));
  }
}
