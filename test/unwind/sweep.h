// Every row that libdw (elfutils) makes of a file's .eh_frame against ours: the compact rule and the full one
// are carried out with registers and memory full of arbitrary numbers, and must leave what libdw's
// description leaves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace samples {

struct Sweep {
  std::string problem; // why the file was not compared; empty: it was
  size_t entries = 0, rows = 0;
  size_t not_held = 0;                    // rows that need the full rule
  size_t only_ours = 0;                   // our rows where libdw knows nothing: code known by its looks
  size_t differences = 0;                 // of the compact rules or the full ones
  std::vector<std::string> examples;      // of differences
  std::vector<std::string> not_held_rows; // addresses and what libdw says of the CFA
};

// Each entry of the search table if `every` is 1, else one of so many.
Sweep sweep_file(const std::string& path, size_t every);

} // namespace samples
