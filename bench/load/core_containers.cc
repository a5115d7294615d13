// For bench/cores.py: a std::map and a std::unordered_map of 200,000 each. Dies of SIGABRT; with an argument it tells
// that it is ready, and lives on.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <unistd.h>
#include <unordered_map>

std::map<long, long> ordered;
std::unordered_map<long, long> hashed;
long expected;

int main(int argc, char**) {
  unsigned random = 1;
  while (ordered.size() < 200000) {
    random = random * 1664525 + 1013904223;
    ordered[random] = random % 1000;
    hashed[random] = random % 77;
  }
  for (auto& [k, v] : ordered) expected += v;
  for (auto& [k, v] : hashed) expected += v;
  if (argc > 1) {
    std::puts("ready");
    std::fflush(stdout);
    ::pause();
  }
  std::abort();
}
