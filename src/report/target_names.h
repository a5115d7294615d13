// The names of a program's addresses that stands still: functions from its files' symbols, lines and inlined
// calls from their debug information.
#pragma once

#include "report/report.h"
#include "symbol/module.h"
#include "symbol/variables.h"
#include "target/stacks.h"
#include "target/target.h"

#include <map>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

namespace report {

class TargetNames : public Names {
public:
  // Both outlive this. demangle: C++ names as they are written.
  TargetNames(target::Target& target, target::Stacks& stacks, bool demangle = true)
      : target_(target), stacks_(stacks), demangle_(demangle), cache_(symbol::Cache::of_user()) {}
  std::string kernel(uint64_t address, bool with_offset) override;
  std::string user(uint32_t pid, uint64_t address, bool with_offset, uint64_t stack) override;
  std::string module(uint32_t pid, uint64_t address, uint64_t stack) override;

  // The function that holds an address.
  struct Function {
    std::string name;   // empty: not known
    uint64_t begin = 0; // its address in the target
    const target::Module* module = nullptr;
  };
  Function function_at(uint64_t address);
  // A variable that holds an address, and how far in it: "counter+8"; empty: none is known.
  std::string data_at(uint64_t address);
  // The source at an address: the calls inlined there, innermost first, and at last the function. Empty: no
  // debug information tells. Texts live as long as this.
  std::vector<symbol::Frame> lines_at(uint64_t address);
  // nullptr: its file is not here.
  symbol::Module* symbols_of(const target::Module& module);

private:
  std::string shown(std::string_view name);

  target::Target& target_;
  target::Stacks& stacks_;
  bool demangle_;
  symbol::Cache cache_;
  std::map<const target::Module*, std::unique_ptr<symbol::Module>> modules_;
  std::map<const target::Module*, symbol::Variables> variables_;
};

} // namespace report
