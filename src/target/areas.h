// Memory as a list of areas that do not overlap, by address.
#pragma once

#include "target/target.h"

#include <vector>

namespace target {

class AreaMemory : public Memory {
public:
  // Areas may be added in any order and may overlap until sort() was called; then the earlier added wins.
  void add(const Window& area) {
    if (area.size) areas_.push_back(area);
  }
  void sort();
  Window window(uint64_t address) override;
  const std::vector<Window>& areas() const { return areas_; }
  // What is said of addresses in no area.
  void set_outside(Missing why) { outside_ = why; }

private:
  std::vector<Window> areas_;
  Missing outside_ = Missing::unmapped;
};

} // namespace target
