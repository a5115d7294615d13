// A script whose probes take more than is allowed lets fewer events count, or ends; another one goes on. The run times are made up.
#include "budget/cost_limit.h"

#include "base/clock.h"
#include "bpf/syscall.h"
#include "recording_backend.h"
#include "report/names.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace {

// Its programs take so many percent of the host's CPUs: those that look at all events, and those that look at none.
class CostlyBackend : public RecordingBackend {
public:
  double percent_of_all = 0, percent_of_none = 0;
  session::RunCosts run_costs() override {
    const uint64_t now = base::clock_ns();
    const double cpus = static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN));
    const double percent = percent_of_none + (percent_of_all - percent_of_none) / static_cast<double>(one_of());
    if (last_ns_) costs_.ns += static_cast<uint64_t>(static_cast<double>(now - last_ns_) * cpus * percent / 100);
    last_ns_ = now;
    return costs_;
  }
  // As the program sees it.
  uint64_t one_of() {
    uint64_t out = 1;
    if (!recording.maps[0].empty()) std::memcpy(&out, recording.maps[0].back().values.data(), sizeof out);
    return out;
  }

private:
  session::RunCosts costs_;
  uint64_t last_ns_ = 0;
};

struct Limited {
  CostlyBackend backend;
  ir::Program program;
  base::Fd nowhere{::open("/dev/null", O_WRONLY | O_CLOEXEC)};
  session::Output output{nowhere.get(), session::Buffering::full, false};
  report::SystemNames names;
  report::Printer printer{program, backend.engine(), names, output, {}};
  budget::CostLimit limit;
  session::Regular* regular = nullptr;

  explicit Limited(bool counts) : limit(5) {
    if (counts) program.one_of = 0;
    program.probes.push_back({.name = "tracepoint:a:b", .context = probe::Context::tracepoint, .events = {}});
    regular = *limit.begin({program, backend, printer, output});
    regular->begin();
  }
  // How many ticks say that it goes on, of at most `most`, each at its time.
  int ticks(int most) {
    for (int n = 0; n < most; n++) {
      const uint64_t now = base::clock_ns();
      if (regular->next_ns > now && regular->next_ns - now < 200'000'000) ::usleep(static_cast<useconds_t>((regular->next_ns - now) / 1000 + 1));
      const base::Result<bool> goes_on = regular->tick();
      if (!goes_on.ok() || !*goes_on) return n;
    }
    return most;
  }
};

bool is_measured() { return bpf::measure_run_times().valid(); }
#define NEED_RUN_TIMES if (!is_measured()) GTEST_SKIP() << "the kernel does not measure run times for this user"

TEST(CostLimit, EndsAfterTwoMeasurementsAboveIt) {
  NEED_RUN_TIMES;
  Limited run(false);
  run.backend.percent_of_all = run.backend.percent_of_none = 40;
  EXPECT_EQ(run.ticks(20), 2); // begin, above, above
  EXPECT_TRUE(run.limit.has_failed());
}

TEST(CostLimit, LeavesOthersAlone) {
  NEED_RUN_TIMES;
  Limited run(true);
  run.backend.percent_of_all = 4;
  EXPECT_EQ(run.ticks(10), 10);
  EXPECT_FALSE(run.limit.has_failed());
  EXPECT_EQ(run.backend.one_of(), 1u);
}

TEST(CostLimit, FewerEventsCountWhileThatHelps) {
  NEED_RUN_TIMES;
  Limited run(true);
  run.backend.percent_of_all = 40, run.backend.percent_of_none = 0.5;
  EXPECT_EQ(run.ticks(8), 8);
  EXPECT_GE(run.limit.one_of(), 8u);
  EXPECT_LE(run.limit.one_of(), 32u);
  run.backend.percent_of_all = 1, run.backend.percent_of_none = 0.01;
  EXPECT_EQ(run.ticks(16), 16);
  EXPECT_EQ(run.limit.one_of(), 1u);
  EXPECT_EQ(run.backend.one_of(), 1u);
  EXPECT_FALSE(run.limit.has_failed());
}

TEST(CostLimit, EndsWhereFewerEventsDoNotHelp) {
  NEED_RUN_TIMES;
  Limited run(true);
  run.backend.percent_of_all = 50, run.backend.percent_of_none = 20;
  EXPECT_LT(run.ticks(30), 30);
  EXPECT_TRUE(run.limit.has_failed());
}

} // namespace
