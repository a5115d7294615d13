// The order of a session's life, with an engine that writes down what is asked of it and sends records on
// demand.
#include "recording_backend.h"
#include "session/life.h"

#include <csignal>
#include <gtest/gtest.h>

namespace {

using probe::Context;
using probe::Kind;

class NoNames : public report::Names {
public:
  std::string kernel(uint64_t, bool) override { return {}; }
  std::string user(uint32_t, uint64_t, bool) override { return {}; }
  symbol::Frame frame(const symbol::RawFrame&) override { return {}; }
};

constexpr uint32_t exits = 0, clears = 1;

struct World {
  type::Table types;
  ir::Program program;
  session::Options options;
  RecordingBackend backend;
  NoNames names;
  int sink_fd = 1;
  bool missing_may_be = false;
  int status = -1;

  World() {
    const type::Type* number[] = {types.int64()};
    program.actions = {{.kind = ir::ActionKind::exit, .payload = types.tuple(number)},
                       {.kind = ir::ActionKind::clear, .map = 4}};
    program.maps.assign(5, {.is_own = true}); // which nobody prints at the end
    options.quiet = true;
  }
  void add(Kind kind, Context context = Context::none, uint64_t period_ns = 0, int signal = 0) {
    uint32_t event = static_cast<uint32_t>(program.events.size());
    program.events.push_back({.kind = kind, .period_ns = period_ns, .signal = signal});
    program.probes.push_back({.name = "p", .context = context, .events = {event}});
  }
  base::Status live() {
    session::Output output(sink_fd, session::Buffering::full, false);
    report::Printer printer(program, backend.recording, names, output, {});
    session::Effects effects(program, backend.recording, printer, output, nullptr);
    session::Life life = {program, options, nullptr, backend, effects, printer, output};
    life.missing_may_be = missing_may_be;
    auto done = session::live(life);
    status = effects.status();
    return done;
  }
  std::string log() { return backend.recording.log; }
};

TEST(Life, BeginAndEndFinishByThemselves) {
  World w;
  w.add(Kind::end);
  w.add(Kind::begin);
  w.add(Kind::begin);
  ASSERT_TRUE(w.live().ok());
  EXPECT_EQ(w.log(), "run1 run2 detach run0 ");
  EXPECT_EQ(w.status, 0);
}

TEST(Life, ExitInBeginSkipsAttaching) {
  World w;
  w.add(Kind::begin);
  w.add(Kind::tracepoint, Context::raw_tracepoint);
  w.add(Kind::end);
  w.backend.recording.on_run = [&](uint32_t p) {
    if (p == 0) w.backend.recording.send(exits, 3);
  };
  ASSERT_TRUE(w.live().ok());
  EXPECT_EQ(w.log(), "run0 detach run2 ");
  EXPECT_EQ(w.status, 3);
}

TEST(Life, IntervalRunsUntilExit) {
  World w;
  w.add(Kind::interval, Context::none, 1'000'000);
  w.add(Kind::tracepoint, Context::raw_tracepoint);
  int ticks = 0;
  w.backend.recording.on_run = [&](uint32_t) {
    if (++ticks == 3) w.backend.recording.send(exits);
  };
  ASSERT_TRUE(w.live().ok());
  EXPECT_EQ(w.log(), "attach1 run0 run0 run0 detach ");
}

TEST(Life, RecordsAfterExitCountAgainInEnd) {
  World w;
  w.add(Kind::begin);
  w.add(Kind::end);
  w.backend.recording.on_run = [&](uint32_t p) {
    w.backend.recording.send(clears);
    w.backend.recording.send(exits, p == 0 ? 2 : 0);
    w.backend.recording.send(clears);
  };
  ASSERT_TRUE(w.live().ok());
  EXPECT_EQ(w.log(), "run0 clear4 detach run1 clear4 ");
  EXPECT_EQ(w.status, 2);
}

TEST(Life, SignalsRunTheirProbesAndEndTheSession) {
  World w;
  w.add(Kind::signal, Context::none, 0, SIGUSR1);
  w.add(Kind::end);
  w.add(Kind::interval, Context::none, 1'000'000);
  int ticks = 0;
  w.backend.recording.on_run = [&](uint32_t p) {
    if (p == 2 && ++ticks == 1) ::raise(SIGUSR1);
    if (p == 2 && ticks == 2) ::raise(SIGTERM);
  };
  ASSERT_TRUE(w.live().ok());
  EXPECT_EQ(w.log(), "run2 run0 run2 detach run1 ");
  EXPECT_EQ(w.status, 0);
}

TEST(Life, ARefusedProbeIsAFailureUnlessItMayBeMissing) {
  World w;
  w.add(Kind::tracepoint, Context::raw_tracepoint);
  w.backend.refuses = true;
  auto done = w.live();
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().kind, base::Failure::unsupported);
}

TEST(Life, AProbeThatIsMissingIsNotCounted) {
  World w;
  w.add(Kind::tracepoint, Context::raw_tracepoint);
  w.add(Kind::tracepoint, Context::raw_tracepoint);
  w.program.probes[1].events.push_back(0); // of two, one is refused
  w.program.probes[1].stands_for = 2;
  w.add(Kind::begin);
  w.backend.refuses = true;
  w.missing_may_be = true;
  w.options.quiet = false;
  w.options.dry_run = true;
  testing::internal::CaptureStderr();
  EXPECT_TRUE(w.live().ok());
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "WARNING: no\nWARNING: no\nAttached 2 probes\n");
}

TEST(Life, DryRunOnlyAttaches) {
  World w;
  w.add(Kind::begin);
  w.add(Kind::tracepoint, Context::raw_tracepoint);
  w.options.dry_run = true;
  ASSERT_TRUE(w.live().ok());
  EXPECT_EQ(w.log(), "attach1 ");
}

TEST(Life, ABrokenPipeEndsQuietly) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  World w;
  w.sink_fd = ends[1];
  w.add(Kind::interval, Context::none, 1'000'000);
  w.options.quiet = false;
  w.options.json = true;
  w.backend.recording.on_run = [&](uint32_t) { w.backend.recording.send(exits); };
  EXPECT_TRUE(w.live().ok());
  ::close(ends[1]);
}

} // namespace
