// A flame graph of the stacks that an instrument has seen, for the page of an answer.
#pragma once

#include "profile/profile.h"
#include "symbol/frame_source.h"

#include <string>
#include <string_view>
#include <vector>

namespace why {

class FlamePicture {
public:
  // Innermost first.
  void add(const std::vector<symbol::Frame>& frames, uint64_t samples);
  // An element of a page. `title`: what is sampled.
  std::string element(std::string_view title, int pid);

private:
  profile::Profile profile_;
};

} // namespace why
