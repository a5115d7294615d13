// Two recordings of the same thing side by side: what takes more in the second, and what less.
//
// Stacks are the same when their frames have the same names, processes and threads when theirs are: ids
// differ from run to run. Where both tell how long they took, the first is scaled to the time of the second.
#pragma once

#include "base/result.h"
#include "profile/profile.h"

#include <string>
#include <vector>

namespace profile {

struct Difference {
  Profile profile;                // the second; stacks that only the first has weigh 0
  std::vector<int64_t> changes;   // by Profile::samples: the second less the first
  uint64_t before = 0, after = 0; // in all
  double scale = 1;               // of the first
};

struct Change {
  std::string name, where;
  int64_t self = 0, total = 0;    // the second less the first
  uint64_t before = 0, after = 0; // self
};

// Failure: their weights are not the same thing.
base::Result<Difference> compare(const Profile& first, const Profile& second);
// Of functions, the largest change of what they took themselves first.
std::vector<Change> changes_of(const Difference& difference);

std::string difference_text(const Difference& difference, size_t top);
std::string difference_json(const Difference& difference, size_t top);
std::string difference_page(const Difference& difference);

} // namespace profile
