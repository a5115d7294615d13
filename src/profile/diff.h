// Two recordings of the same thing side by side, A and B: what takes more in B, and what less.
//
// Stacks are the same when their frames are the same functions of the same files (matching.h), processes and threads when
// their names are: ids differ from run to run. A is scaled to the time and the sampling of B, where both tell theirs.
#pragma once

#include "base/result.h"
#include "profile/profile.h"

#include <string>
#include <utility>
#include <vector>

namespace profile {

// One of the two, and where it is from.
struct Side {
  std::string file;
  About about;
  uint64_t total = 0; // of weights, as recorded
};

struct Difference {
  Side a, b;
  Profile profile;                // B, with what only A has weighing 0
  std::vector<int64_t> changes;   // by Profile::samples: B less A
  uint64_t before = 0, after = 0; // in all; of A scaled
  double scale = 1;               // of A
  std::vector<std::pair<std::string, std::string>> renamed; // files that were taken for the same
};

struct Change {
  std::string name, where;
  int64_t self = 0, total = 0;                // B less A
  uint64_t before = 0, after = 0;             // self
  uint64_t total_before = 0, total_after = 0; // with what it calls
  bool is_only_in_a() const { return total_before && !total_after; }
  bool is_only_in_b() const { return total_after && !total_before; }
};

// CPU time in samples and in ns is compared in ns. Failure: their weights are not the same thing. `a` and `b` name the files.
base::Result<Difference> compare(const Profile& first, const Profile& second, std::string a = {}, std::string b = {});
// Of functions, the largest change of what they took themselves first.
std::vector<Change> changes_of(const Difference& difference);

std::string difference_text(const Difference& difference, size_t top);
std::string difference_json(const Difference& difference, size_t top);
// What only A has is drawn above a note, as wide as it was there.
std::string difference_page(const Difference& difference);

} // namespace profile
