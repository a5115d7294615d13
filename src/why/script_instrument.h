// An instrument that runs a script of src/scripts during the interval, and makes facts of its maps.
#pragma once

#include "waits/stacks.h"
#include "why/interval.h"
#include "why/measurement.h"
#include "why/script_rows.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace why {

enum class Scope : uint8_t { host, subject }; // whose events count: all, or those of the process that is asked about, if there is one

class ScriptInstrument : public Instrument {
public:
  ScriptInstrument(std::string_view script, const Subject& subject, Scope scope)
      : subject_(subject), slice_ns_(std::max<uint64_t>(subject.interval_ns / Sliced::slices, 1)), script_(script), scope_(scope) {}

  base::Status prepare(const session::Options& run) override;
  session::Runner* runner() override { return &*runner_; }

protected:
  // Values of the script's own parameters.
  virtual void configure(session::BuiltinScript&) const {}
  // How it runs.
  virtual void arrange(session::Measurement& measurement) { measurement.filters_itself = measurement.records_may_wait = true; }
  base::Result<std::vector<ScriptRow>> rows(std::string_view map) { return read_rows(*runner_, map); }
  // The names of its stacks.
  waits::Stacks& stacks();
  // For how long its probes were attached; at least 1 ms.
  double attached_ns() const;
  double rate(uint64_t count) const { return static_cast<double>(count) * 1e9 / attached_ns(); }
  double share(uint64_t ns) const { return static_cast<double>(ns) / attached_ns(); }

  Subject subject_;
  uint64_t slice_ns_; // of the interval, for Sliced
  std::optional<session::Runner> runner_;

private:
  std::string_view script_;
  Scope scope_;
  std::optional<waits::Stacks> stacks_;
};

} // namespace why
