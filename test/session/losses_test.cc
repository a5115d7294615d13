// Every kind of loss has its sentence, at its place, and only where it is wanted.
#include "session/losses.h"

#include <gtest/gtest.h>

namespace {

using ir::Fault;

struct Case {
  base::Source source{"stdin", "begin { @m[1/0] = 1; }"};
  ir::Program program;
  ir::Counters counters;
  Case() {
    program.maps.push_back({.name = "m", .max_entries = 3, .where = {8, 15}});
    program.sites = {{Fault::delete_missing, {8, 15}, "@m"},
                     {Fault::division_by_zero, {11, 14}, ""},
                     {Fault::read_user, {11, 12}, ""},
                     {Fault::read_kernel, {13, 14}, ""}};
    counters.sites = {0, 0, 0, 0};
    counters.map_full = {0};
  }
  std::string text(session::LossOptions options = {}) {
    return session::describe_losses(program, counters, &source, options);
  }
};

TEST(Losses, NothingLostSaysNothing) { EXPECT_EQ(Case().text(), ""); }

TEST(Losses, FullMap) {
  Case c;
  c.counters.map_full = {5};
  EXPECT_EQ(c.text(), "stdin:1:9-16: WARNING: Map full; can't update element. @m can't hold more than 3 keys; "
                      "5 updates were lost. Increase max_map_keys, or the size in the map's declaration.\nbegin { @m[1/0] = 1; }\n        ~~~~~~~\n");
}

TEST(Losses, Division) {
  Case c;
  c.counters.sites[1] = 2;
  EXPECT_TRUE(
      c.text().starts_with("stdin:1:12-15: WARNING: Divide or modulo by 0 detected. This can lead to unexpected "
                           "results. 1 is being used as the result. (2 times)\n"));
  EXPECT_EQ(c.text({.warnings = false}), "");
}

TEST(Losses, ReadsAreSummedUnlessAskedFor) {
  Case c;
  c.counters.sites[2] = 2;
  c.counters.sites[3] = 1;
  EXPECT_EQ(c.text(), "WARNING: 3 reads of memory failed (-k shows where).\n");
  std::string told = c.text({.report_faults = true});
  EXPECT_NE(told.find("stdin:1:12-13: WARNING: Failed to probe_read_user: Bad address (-14) (2 times)"), std::string::npos);
  EXPECT_NE(told.find("stdin:1:14-15: WARNING: Failed to probe_read_kernel: Bad address (-14)"), std::string::npos);
}

TEST(Losses, LostEventsAndRunsAreAlwaysTold) {
  Case c;
  c.counters.lost_events = 7;
  c.counters.missed_runs = 1;
  c.counters.scratch_busy = 2;
  std::string told = c.text({.warnings = false});
  EXPECT_TRUE(told.starts_with("Lost 7 events\nWARNING: 1 run of probes missed"));
  EXPECT_NE(told.find("2 runs of probes skipped"), std::string::npos);
}

TEST(Losses, StacksAreToldByWhatWasMissing) {
  Case c;
  c.program.max_stacks = 50;
  c.counters.stacks_full = 3;
  c.counters.stacks_busy = 1;
  std::string told = c.text({.warnings = false});
  EXPECT_TRUE(told.starts_with("WARNING: 3 stacks lost: 50 distinct stacks are stored."));
  EXPECT_NE(told.find("max_stacks"), std::string::npos);
  EXPECT_NE(told.find("WARNING: 1 stack lost: the kernel had no free memory for them"), std::string::npos);
}

} // namespace
