// A program that checks its own results, all the time, while functions of its libraries are probed: checked SECONDS
// [THREADS]. What it computes is compared with what it was the first time; prints how many rounds were right, exits with 1
// when one was not.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static unsigned long mix(unsigned long h, unsigned long n) {
  return (h ^ n) * 0x9e3779b97f4a7c15ul + (h >> 29);
}

static int compare_strings(const void* a, const void* b) {
  return std::strcmp(*static_cast<char* const*>(a), *static_cast<char* const*>(b));
}

static unsigned long c_library(unsigned seed) {
  unsigned long h = seed;
  std::vector<char*> all;
  for (unsigned i = 0; i < 60; i++) {
    char text[64];
    std::snprintf(text, sizeof text, "%u-%08x-%s-%.6f", i, i * 2654435761u + seed, i % 2 ? "odd" : "even",
                  std::sqrt(i + seed));
    all.push_back(strdup(text));
  }
  qsort(all.data(), all.size(), sizeof(char*), compare_strings);
  for (char* text : all) {
    h = mix(h, std::strlen(text));
    h = mix(h, std::strtoul(text, nullptr, 10));
    if (const char* at = std::strchr(text, '-')) h = mix(h, std::strtoul(at + 1, nullptr, 16));
    if (std::strstr(text, "odd")) h = mix(h, 7);
    char copy[64] = {};
    std::memcpy(copy, text, std::strlen(text) + 1);
    std::memmove(copy + 1, copy, 20);
    h = mix(h, static_cast<unsigned long>(std::memcmp(copy, text, 8) != 0));
    char* rest = nullptr;
    for (char* word = strtok_r(copy, "-", &rest); word; word = strtok_r(nullptr, "-", &rest))
      h = mix(h, std::strlen(word));
    free(text);
  }
  void* block = std::calloc(64, 16);
  block = std::realloc(block, 4096);
  std::memset(block, static_cast<int>(seed & 0xff), 4096);
  h = mix(h, static_cast<unsigned char*>(block)[4095]);
  std::free(block);
  return h;
}

static unsigned long cxx_library(unsigned seed) {
  unsigned long h = seed;
  std::map<std::string, std::vector<int>> words;
  std::ostringstream out;
  for (unsigned i = 0; i < 40; i++) {
    out.str("");
    out << "word " << i % 7 << ' ' << seed << ' ' << 1.5 * i;
    words[out.str().substr(0, 6)].push_back(static_cast<int>(i * seed));
    words["all"].push_back(static_cast<int>(i));
  }
  for (auto& [word, numbers] : words) {
    std::sort(numbers.begin(), numbers.end(), std::greater<int>());
    for (char c : word) h = mix(h, static_cast<unsigned char>(c));
    for (int n : numbers) h = mix(h, static_cast<unsigned>(n));
  }
  std::istringstream in("17 4.25 text " + std::to_string(seed));
  int n = 0;
  double d = 0;
  std::string text;
  unsigned last = 0;
  in >> n >> d >> text >> last;
  h = mix(h, static_cast<unsigned long>(n) + static_cast<unsigned long>(d * 100) + text.size() + last);
  for (int i = 0; i < 3; i++)
    try {
      if (std::stoi(i == 1 ? "no number" : "12") != 12) return 0;
      std::vector<int> few(3);
      h = mix(h, static_cast<unsigned long>(few.at(static_cast<size_t>(i) + 1)));
    } catch (const std::exception& problem) {
      h = mix(h, std::strlen(problem.what()));
    }
  auto shared = std::make_shared<std::string>("shared");
  std::weak_ptr<std::string> weak = shared;
  shared.reset();
  return mix(h, weak.expired());
}

int main(int count, char** arguments) {
  double seconds = count > 1 ? std::atof(arguments[1]) : 1;
  int threads = count > 2 ? std::atoi(arguments[2]) : 2;
  constexpr unsigned seeds = 8;
  unsigned long right[seeds];
  for (unsigned s = 0; s < seeds; s++) right[s] = mix(c_library(s), cxx_library(s));
  std::puts("ready"); // whoever probes us may do so now
  std::fflush(stdout);
  std::atomic<unsigned long> rounds = 0, wrong = 0;
  auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  auto work = [&](unsigned first) {
    for (unsigned n = first; std::chrono::steady_clock::now() < end; n++) {
      unsigned s = n % seeds;
      (mix(c_library(s), cxx_library(s)) == right[s] ? rounds : wrong)++;
    }
  };
  std::vector<std::thread> all;
  for (int t = 0; t < threads; t++) all.emplace_back(work, static_cast<unsigned>(t));
  for (std::thread& t : all) t.join();
  std::printf("%lu right, %lu wrong\n", rounds.load(), wrong.load());
  return wrong != 0;
}
