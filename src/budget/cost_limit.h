// A limit of what a script takes of the host: when its probes take more, it ends, and says so.
//
// The cost of a probe is the run time of its program, which the kernel measures for a few milliseconds at a time, as that costs time itself, and for user probes the
// trap. It is above the limit if two measurements in a row say so. Probes are not taken off and attached again instead: a script may measure from one probe to
// another, and would take the time between two different calls for that of one.
#pragma once

#include "base/fd.h"
#include "session/backend.h"
#include "session/life.h"
#include "session/output.h"

#include <cstdint>

namespace session {

class CostLimit {
public:
  // `percent`: of all CPUs of the host.
  CostLimit(Backend& backend, const ir::Program& program, double percent, Output& output);
  CostLimit(const CostLimit&) = delete;

  Regular* regular() { return &regular_; }
  bool is_exceeded() const { return above_ == enough; }

private:
  base::Status measure();
  bool is_kept(); // by the measurement that was begun
  void report();

  static constexpr int enough = 2; // measurements

  Backend& backend_;
  const double percent_, cpus_, trap_ns_;
  Output& output_;
  Regular regular_;
  base::Fd measuring_;
  RunCosts before_;
  uint64_t begun_ns_ = 0, measured_from_ = 0;
  int above_ = 0;
  double cost_ = 0; // percent
};

} // namespace session
