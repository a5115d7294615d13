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

// ---- numbers and places

TEST(Losses, EachCountHasItsSingularAndPlural) {
  Case c;
  c.counters.map_full = {1};
  EXPECT_NE(c.text().find("@m can't hold more than 3 keys; 1 update was lost."), std::string::npos);
  c.program.maps[0].max_entries = 1;
  EXPECT_NE(c.text().find("@m can't hold more than 1 key; 1 update was lost."), std::string::npos);
  c = {};
  c.program.sites = {{Fault::entry_missing, {8, 15}, ""}, {Fault::loop_limit, {8, 15}, "100"}, {Fault::index_out_of_range, {8, 15}, ""}};
  c.counters.sites = {1, 1, 2};
  const std::string told = c.text();
  EXPECT_NE(told.find("The entry of 1 call was not recorded: the block did not run when it returned."), std::string::npos) << told;
  EXPECT_NE(told.find("The loop reached its limit of 100 turns once. Increase loop_limit."), std::string::npos);
  EXPECT_NE(told.find("Index out of range 2 times; the value was 0."), std::string::npos);
}

TEST(Losses, OutputThatWasNotHeldBack) {
  Case c;
  c.program.sites = {{Fault::speculation_full, {8, 15}, ""}, {Fault::limited, {8, 15}, "10/s"}};
  c.counters.sites = {1, 2};
  c.program.speculations = 0;
  c.counters.map_full = {1};
  const std::string told = c.text();
  EXPECT_NE(told.find("1 line of output found no room in its `speculate` buffer"), std::string::npos) << told;
  EXPECT_NE(told.find("limit(10/s) skipped its block 2 times."), std::string::npos) << told;
  EXPECT_NE(told.find("WARNING: 1 line of output was lost: `speculate` holds back the output of at most 3 threads or keys."), std::string::npos) << told;
}

TEST(Losses, LargestCountsAreWhole) {
  Case c;
  c.counters.lost_events = ~uint64_t{0};
  EXPECT_EQ(c.text(), "Lost 18446744073709551615 events\n");
}

TEST(Losses, SitesComeInTheOrderOfTheScript) {
  Case c;
  c.program.sites = {{Fault::division_by_zero, {13, 14}, ""}, {Fault::division_by_zero, {8, 15}, ""}, {Fault::division_by_zero, {11, 14}, ""}};
  c.counters.sites = {1, 1, 1};
  const std::string told = c.text();
  const size_t first = told.find("stdin:1:9-16"), second = told.find("stdin:1:12-15"), third = told.find("stdin:1:14-15");
  EXPECT_LT(first, second);
  EXPECT_LT(second, third);
  EXPECT_NE(third, std::string::npos);
}

TEST(Losses, WithoutTheScriptThereAreNoPlaces) {
  Case c;
  c.counters.sites[1] = 1, c.counters.map_full = {2};
  const std::string told = session::describe_losses(c.program, c.counters, nullptr, {});
  EXPECT_TRUE(told.starts_with("WARNING: Map full;")) << told;
  EXPECT_NE(told.find("\nWARNING: Divide or modulo by 0"), std::string::npos) << told;
}

// Counters of an engine may know fewer sites than the program has, or more.
TEST(Losses, CountersOfAnotherLength) {
  Case c;
  c.counters.sites = {0, 1}, c.counters.map_full = {};
  EXPECT_NE(c.text(), "");
  c.counters.sites = std::vector<uint64_t>(10, 1), c.counters.map_full = {0, 5, 5};
  EXPECT_NE(c.text(), "");
}

TEST(Losses, ReasonsReplaceTheSentence) {
  Case c;
  c.counters.sites[2] = 3;
  c.counters.reasons = {{{2, "is not in the core"}, 2}, {{2, "is not mapped"}, 1}};
  const std::string told = c.text();
  EXPECT_NE(told.find("the memory read here is not in the core: the block ended here 2 times."), std::string::npos) << told;
  EXPECT_NE(told.find("the memory read here is not mapped: the block ended here once."), std::string::npos);
  EXPECT_EQ(told.find("reads of memory failed"), std::string::npos) << "they were told one by one";
}

TEST(Losses, OfAToolItsAuthorAloneCouldUse) {
  Case c;
  c.counters.sites[0] = 1;
  EXPECT_NE(c.text().find("Can't delete map element because it does not exist (@m)."), std::string::npos);
  EXPECT_EQ(c.text({.is_of_tool = true}), "");
}

TEST(Losses, FailedReadsMayBeUncounted) {
  Case c;
  c.counters.sites[2] = 1;
  EXPECT_EQ(c.text(), "WARNING: 1 read of memory failed (-k shows where).\n");
  EXPECT_EQ(c.text({.counts_failed_reads = false}), "");
}

TEST(Losses, FirstFaultsAreThoseThatWereNoneBefore) {
  ir::Counters before, now;
  before.sites = {0, 2, 0}, now.sites = {1, 5, 0, 7}, before.map_full = {1}, now.map_full = {9};
  const ir::Counters fresh = session::first_faults(now, before);
  EXPECT_EQ(fresh.sites, (std::vector<uint64_t>{1, 0, 0, 7}));
  EXPECT_EQ(fresh.map_full, std::vector<uint64_t>{0});
  EXPECT_EQ(session::first_faults(now, {}).sites, now.sites);
}

// ---- the last line of commands

TEST(Losses, InShort) {
  ir::Counters c;
  EXPECT_EQ(session::losses_in_short(c), "0 lost");
  c.lost_events = 2, c.map_full = {1, 0, 3}, c.scratch_busy = 4;
  EXPECT_EQ(session::losses_in_short(c), "10 lost (ring full, table full, CPU busy)");
  c = {}, c.missed_runs = 1, c.stacks_full = 5;
  EXPECT_EQ(session::losses_in_short(c), "1 lost (probe in probe), 5 without stack (table full)");
  c.stacks_busy = 1;
  EXPECT_EQ(session::losses_in_short(c), "1 lost (probe in probe), 6 without stack (table full, no memory)");
}

TEST(Losses, OwnCostsHaveUnits) {
  const std::string with = session::own_costs(3'140'000), without = session::own_costs(0);
  EXPECT_TRUE(with.starts_with("acu took ")) << with;
  EXPECT_NE(with.find(" ms of CPU time, its probes 3.1 ms, "), std::string::npos) << with;
  EXPECT_TRUE(with.ends_with(" MiB"));
  EXPECT_EQ(without.find("probes"), std::string::npos) << "it was not measured";
}

} // namespace
