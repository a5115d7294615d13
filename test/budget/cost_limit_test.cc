// A script whose probes take more than is allowed ends; another one goes on. The run times are made up.
#include "session/cost_limit.h"

#include "bpf/syscall.h"
#include "recording_backend.h"

#include <fcntl.h>
#include <gtest/gtest.h>

namespace {

class CostlyBackend : public RecordingBackend {
public:
  uint64_t ns_between_looks = 0;
  session::RunCosts run_costs() override { return costs_.ns += ns_between_looks, costs_.runs++, costs_; }

private:
  session::RunCosts costs_;
};

// How many ticks say that it goes on, of at most `most`.
int ticks(uint64_t ns_between_looks, int most, bool* is_exceeded) {
  CostlyBackend backend;
  backend.ns_between_looks = ns_between_looks;
  ir::Program program;
  const base::Fd nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  session::Output output(nowhere.get(), session::Buffering::full, false);
  session::CostLimit limit(backend, program, 5, output);
  session::Regular& regular = *limit.regular();
  regular.begin();
  int n = 0;
  for (; n < most; n++) {
    const base::Result<bool> goes_on = regular.tick();
    if (!goes_on.ok() || !*goes_on) break;
  }
  *is_exceeded = limit.is_exceeded();
  return n;
}

} // namespace

TEST(CostLimit, EndsAfterTwoMeasurementsAboveIt) {
  if (!bpf::measure_run_times().valid()) GTEST_SKIP() << "the kernel does not measure run times for this user";
  bool is_exceeded = false;
  EXPECT_EQ(ticks(1'000'000'000'000, 20, &is_exceeded), 3); // begin, above, begin, above
  EXPECT_TRUE(is_exceeded);
}

TEST(CostLimit, LeavesOthersAlone) {
  if (!bpf::measure_run_times().valid()) GTEST_SKIP() << "the kernel does not measure run times for this user";
  bool is_exceeded = true;
  EXPECT_EQ(ticks(0, 20, &is_exceeded), 20);
  EXPECT_FALSE(is_exceeded);
}
