// What is worked out once for each system call, by its number.
#pragma once

#include "trace/call.h"

#include <array>
#include <unordered_map>

namespace trace {

template<class T> class ByCall {
public:
  // `make(number)` is asked once. References stay valid.
  template<class Make> const T& of(int number, Make make) {
    const auto index = static_cast<size_t>(number);
    if (index < usual_.size() && usual_[index]) return *usual_[index];
    auto at = all_.find(number);
    if (at == all_.end()) at = all_.emplace(number, make(number)).first;
    if (index < usual_.size()) usual_[index] = &at->second;
    return at->second;
  }

private:
  std::unordered_map<int, T> all_;
  std::array<const T*, 512> usual_ = {}; // the same, for the numbers of this architecture
};

} // namespace trace
