// What probes without events are matched against: the modules of a stopped program, as binaries
// with their debug information, and the calls that its threads are in. For oneshot, thread, frame and fault.
#pragma once

#include "base/result.h"
#include "probe/probe.h"
#include "symbol/binary.h"
#include "target/stacks.h"
#include "target/target.h"

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace probe {

class StoppedProgram {
public:
  // Both outlive this.
  StoppedProgram(target::Target& target, target::Stacks& stacks) : target_(target), stacks_(stacks) {}

  target::Target& target() { return target_; }
  target::Stacks& stacks() { return stacks_; }
  // nullptr: its file is not here, see target::Module::problem.
  symbol::Binary* binary_of(const target::Module& module);
  symbol::Binary* program();
  // Those that are here, in the order in which a name is looked for: the program, then its libraries.
  std::span<symbol::Binary* const> binaries();
  // What the loader added to the addresses of a binary; nothing: it is none of the target's.
  std::optional<uint64_t> bias_of(const symbol::Binary& binary) const;
  // As symbol::Binaries::find, among the target's modules: "libc", "libssl.so.3", a path, "" (the program), a
  // pattern. Failure says what there is.
  base::Result<std::vector<symbol::Binary*>> find(std::string_view name);

  // What values of a frame depend on above it, see Event::callers; empty: nothing, or it is not to be had.
  const std::vector<Caller>& find_callers(Machine& machine, size_t thread, size_t frame);
  // The same, as far as it was found before.
  const std::vector<Caller>& callers(size_t thread, size_t frame) const;
  // The variables of a frame of a language as texts, strings without quotes; read when they are first asked for.
  const std::vector<runtime::Variable>& variables(const Event::LanguageFrame& frame);
  // By name; nullptr: there is none. `is_argument`: of arguments alone.
  const runtime::Variable* variable(const Event::LanguageFrame& frame, std::string_view name, bool is_argument);
  // The registers of a frame, and behind them those of as many above it as are asked for.
  std::vector<uint64_t> registers_of(size_t thread, size_t frame, size_t above);

private:
  target::Target& target_;
  target::Stacks& stacks_;
  std::map<const target::Module*, std::unique_ptr<symbol::Binary>> binaries_;
  std::vector<symbol::Binary*> in_order_;
  std::map<std::pair<size_t, size_t>, std::vector<runtime::Variable>> variables_; // by thread and place
  std::map<std::pair<size_t, size_t>, std::vector<Caller>> callers_; // by thread and frame; but for empty ones
};

} // namespace probe
