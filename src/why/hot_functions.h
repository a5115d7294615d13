// The functions that use CPU time, from sampled stacks: facts hot-function. A function that is on top of stacks counts by itself; one that belongs to a class
// (function_classes.h: matching of regular expressions, serialization, …) with all that it calls, named by the function of the program that calls it.
#pragma once

#include "symbol/frame_source.h"
#include "why/fact.h"

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace why {

class HotFunctions {
public:
  // Innermost first. `example`: the caller's number of the stack.
  void add(const std::vector<symbol::Frame>& frames, uint64_t example, uint64_t samples);
  // `place_of`: where a function of that stack is in its source, "log.cc:88"; empty: not known. Functions below 5% are left out.
  using PlaceOf = std::function<std::string(uint64_t example, const std::string& function)>;
  std::vector<Fact> facts(int pid, std::string_view measurement, const PlaceOf& place_of) const;

private:
  struct Function {
    std::string name, module, caller, kind, group; // group: its class
    uint64_t samples = 0, example = 0;
  };
  std::string_view class_of(const symbol::Frame& f);
  const symbol::Frame* caller_in(std::span<const symbol::Frame> frames);
  Fact fact_of(const Function& f, int pid, std::string_view measurement, const PlaceOf& place_of) const;

  std::map<std::pair<std::string, std::string>, Function> functions_;             // by name and file: what is on top of stacks
  std::map<std::string_view, std::map<std::string, Function>> classes_;           // what is of a class, by the innermost such function
  std::map<std::pair<std::string, std::string>, std::string_view> known_classes_; // by name and file
  uint64_t all_ = 0;
};

} // namespace why
