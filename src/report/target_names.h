// The names of a stopped program's addresses: functions from its files' symbols, lines and inlined
// calls from their debug information. Texts of frames live as long as this.
#pragma once

#include "report/report.h"
#include "symbol/module.h"
#include "symbol/variables.h"
#include "target/stacks.h"
#include "target/target.h"

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace report {

class TargetNames : public Names {
public:
  // Both outlive this. demangle: C++ names as they are written.
  TargetNames(target::Target& target, target::Stacks& stacks, bool demangle = true)
      : target_(target), stacks_(stacks), demangle_(demangle), cache_(symbol::Cache::of_user()) {}
  std::string kernel(uint64_t address, bool with_offset) override;
  std::string user(uint32_t pid, uint64_t address, bool with_offset) override;
  symbol::Frame frame(const symbol::RawFrame& raw) override;
  // Of the entry of a language, given by its words.
  symbol::Frame language_frame(std::span<const uint64_t> entry);

  // The function that holds the code at an address, and which of the target's files that is in.
  struct Function : symbol::Frame {
    const target::Module* in = nullptr;
  };
  Function function_at(uint64_t address);
  // A variable that holds an address, and how far in it: "counter+8"; empty: none is known.
  std::string data_at(uint64_t address);
  // All frames at an address: the calls inlined there, innermost first, and at last the function, with their lines where debug
  // information tells. `is_return`: a call returns there, and is looked up where it is.
  std::vector<symbol::Frame> frames_at(uint64_t address, bool is_return);
  // nullptr: its file is not here.
  symbol::Module* symbols_of(const target::Module& module);

private:
  Function function_of(uint64_t address, bool is_return);
  std::string_view shown(std::string_view name);

  target::Target& target_;
  target::Stacks& stacks_;
  bool demangle_;
  symbol::Cache cache_;
  std::map<const target::Module*, std::unique_ptr<symbol::Module>> modules_;
  std::map<const target::Module*, symbol::Variables> variables_;
  std::unordered_map<std::string, std::string> demangled_;
};

} // namespace report
