// How long tables of frames take to make and to open again: unwind [FILE…]; without files those of all code
// that is mapped on this machine. Cold: acu's store is empty; the files are in the page cache. Times are wall
// clock, medians of seven runs in milliseconds, on one thread.
#include "timing.h"

#include "symbol/process_map.h"
#include "unwind/tables.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

static std::vector<std::string> mapped_files() {
  std::set<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator("/proc"))
    if (int pid = std::atoi(entry.path().filename().c_str()); pid > 0)
      for (const symbol::Mapping& mapping : symbol::read_process_map(pid))
        if (mapping.is_file() && !mapping.deleted) out.insert(mapping.path);
  return {out.begin(), out.end()};
}

int main(int count, char** arguments) {
  std::vector<std::string> files(arguments + 1, arguments + count);
  if (files.empty()) files = mapped_files();
  char folder[] = "/tmp/acu-bench-unwind-XXXXXX";
  if (!mkdtemp(folder)) return 1;
  constexpr int runs = 7;
  std::vector<double> make, store, open;
  uint64_t rows = 0, bytes = 0, not_held = 0, damaged = 0;
  std::unordered_set<uint64_t> rules;
  size_t read = 0;
  for (int n = 0; n < runs; n++) {
    const symbol::Cache none(""), cache(std::string(folder) + "/" + std::to_string(n)); // empty each time
    double times[3] = {};
    rows = bytes = not_held = damaged = read = 0;
    for (const std::string& path : files)
      for (int pass = 0; pass < 3; pass++) {
        auto start = Clock::now();
        auto file = format::ElfFile::open(path);
        if (!file.ok()) break;
        unwind::Tables tables = unwind::tables_of_file(*file, pass == 0 ? none : cache);
        times[pass] += ms_since(start);
        if (pass < 2) continue;
        read++;
        rows += tables.header().rows, not_held += tables.header().not_held,
            damaged += tables.header().damaged;
        bytes += tables.bytes().size();
        for (const unwind_rule& rule : tables.rules()) {
          uint64_t bits;
          static_assert(sizeof bits == sizeof rule);
          __builtin_memcpy(&bits, &rule, sizeof bits);
          rules.insert(bits);
        }
      }
    make.push_back(times[0]), store.push_back(times[1]), open.push_back(times[2]);
  }
  std::filesystem::remove_all(folder);
  std::printf(
      "%zu files: %llu rows, %.1f MB, %zu different rules, %llu rows not held, %llu entries damaged\n", read,
      static_cast<unsigned long long>(rows), static_cast<double>(bytes) / 1e6, rules.size(),
      static_cast<unsigned long long>(not_held), static_cast<unsigned long long>(damaged));
  std::printf("made %.1f ms, made and stored %.1f ms, opened again %.2f ms\n", median(make), median(store),
              median(open));
}
