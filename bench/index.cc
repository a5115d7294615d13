// How long the index of names of a debug file takes to make, to open again, and to answer: index FILE [runs].
// Cold: acu's store is empty; the file is in the page cache. Times are wall clock, medians in milliseconds.
#include "timing.h"

#include "symbol/debug_index.h"

#include "format/elf_file.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sys/resource.h>

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "index FILE [runs]\n"), 2;
  const int runs = argc > 2 ? std::atoi(argv[2]) : 7;
  char folder[] = "/tmp/acu-bench-index-XXXXXX";
  if (!mkdtemp(folder)) return 1;
  std::vector<double> cold, open, first;
  size_t bytes = 0;
  for (int n = 0; n < runs; n++) {
    auto start = Clock::now();
    auto file = format::ElfFile::open(argv[1]);
    if (!file.ok()) return std::fprintf(stderr, "%s\n", file.error().message.c_str()), 1;
    const format::ElfFile* files[] = {&*file};
    // Another folder each time, so that nothing is found.
    const symbol::Cache cache(std::string(folder) + "/" + std::to_string(n));
    auto made = symbol::DebugIndex::open(files, cache);
    cold.push_back(ms_since(start));
    if (!made.ok()) return std::fprintf(stderr, "%s\n", made.error().message.c_str()), 1;
    start = Clock::now();
    auto again = symbol::DebugIndex::open(files, cache);
    open.push_back(ms_since(start));
    if (!again.ok() || !again->was_stored()) return std::fprintf(stderr, "the index was not kept\n"), 1;
    start = Clock::now();
    bytes = again->index().find("task_struct").size();
    first.push_back(ms_since(start));
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  rusage use = {};
  getrusage(RUSAGE_SELF, &use);
  std::printf("cold %.0f ms, best %.0f; opened again %.2f ms; first look-up %.3f ms (%zu found); peak RSS "
              "%ld MB; %d runs\n",
              median(cold), *std::min_element(cold.begin(), cold.end()), median(open), median(first), bytes,
              use.ru_maxrss / 1024, runs);
}
