// An instrument whose script imports src/scripts/why_calls.bt: it knows how much time of the process is not idle, of which shares are.
#pragma once

#include "why/call_time.h"
#include "why/script_instrument.h"

namespace why {

class CallsInstrument : public ScriptInstrument {
public:
  CallsInstrument(std::string_view script, const Subject& subject) : ScriptInstrument(script, subject, Scope::subject) {}

  void begin() override { time_.begin(subject_.pid); }

protected:
  void configure(session::BuiltinScript& script) const override { script.set("SLICE_NS", slice_ns_); }
  void arrange(session::Measurement& measurement) override { measurement.follows_processes = measurement.keeps_files = true; }
  // At the end.
  base::Result<Sliced> busy() { return time_.busy(*runner_, subject_.interval_ns, slice_ns_); }

private:
  CallTime time_;
};

} // namespace why
