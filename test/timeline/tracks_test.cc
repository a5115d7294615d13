// Events to tracks: states of threads and CPUs, also where events are lost, out of order, or the first of their thread.
#include "recording/event_kinds.h"
#include "timeline/maker.h"
#include "timeline/output.h"

#include <gtest/gtest.h>

#include <random>

using namespace timeline;
using recording::Kind;

namespace {

// A recording of 1000 ns, of two threads (1, 2) of a process, on two CPUs.
class Events {
public:
  Events() {
    about.begin_ns = 5000, about.end_ns = 6000, about.what = "a test";
    for (const recording::KindRow& row : recording::kind_rows) kinds.push_back(recording::kind_of(row.kind));
    names.texts = {"", "server", "worker", "read", "futex", "main", "handle", "io_schedule", "pthread_cond_wait", "take_gil", "futex_wait", "connections", "tcp_recvmsg"};
    names.threads = {{}, {10, 10, 1, 1}, {10, 11, 1, 2}, {20, 20, 1, 2}};
  }
  // A stack of these texts, the outermost first; texts of the kernel's functions from `kernel` on.
  uint32_t stack(std::initializer_list<uint32_t> texts, size_t kernel) {
    uint32_t caller = 0;
    size_t i = 0;
    for (uint32_t text : texts) {
      names.frames.push_back({text, 0, i++ >= kernel ? spec::FrameKind::kernel : spec::FrameKind::user});
      names.stacks.push_back({caller, static_cast<uint32_t>(names.frames.size() - 1)});
      caller = static_cast<uint32_t>(names.stacks.size() - 1);
    }
    return caller;
  }
  void add(Kind kind, uint64_t time, uint32_t cpu, uint32_t thread, std::initializer_list<uint64_t> values) {
    recording::Batch b;
    b.kind = static_cast<uint32_t>(kind);
    b.times = {5000 + time}, b.cpus = {cpu}, b.threads = {thread};
    for (uint64_t v : values) b.columns.push_back({v});
    batches.push_back(b);
  }
  void swap(uint64_t time, uint32_t cpu, uint32_t from, uint32_t to, uint64_t state = 1, uint32_t stack = 0) { add(Kind::sched_switch, time, cpu, from, {to, state, stack}); }
  void wake(uint64_t time, uint32_t by, uint32_t woken) { add(Kind::sched_wakeup, time, 0, by, {woken, 0}); }
  Timeline make() {
    Maker maker(about, kinds);
    for (const recording::Batch& b : batches) maker.add(b);
    return maker.finish(names);
  }

  recording::About about;
  recording::Names names;
  std::vector<recording::EventKind> kinds;
  std::vector<recording::Batch> batches;
};

const Track* find(const Timeline& t, Track::Kind kind, uint32_t owner, uint32_t depth = 0) {
  for (const Track& track : t.tracks)
    if (track.kind == kind && track.owner == owner && track.depth == depth) return &track;
  return nullptr;
}
// "0 running, 100 disk": times and names.
std::string states(const Timeline& t, uint32_t thread) {
  std::string out;
  if (const Track* track = find(t, Track::thread, thread))
    for (size_t i = 0; i < track->segments.size(); i++)
      out += (i ? ", " : "") + std::to_string(track->segments.begins[i]) + " " + std::string(row_of(static_cast<State>(track->segments.classes[i])).name);
  return out;
}
std::string segments(const Track* track) {
  std::string out;
  if (track)
    for (size_t i = 0; i < track->segments.size(); i++)
      out += (i ? ", " : "") + std::to_string(track->segments.begins[i]) + ":" + std::to_string(track->segments.classes[i]) + "/" + std::to_string(track->segments.refs[i]);
  return out;
}

} // namespace

TEST(Tracks, a_thread_that_leaves_ran_since_the_begin) {
  Events e;
  e.swap(100, 0, 1, 2);
  const Timeline t = e.make();
  EXPECT_EQ(states(t, 1), "0 running, 100 waiting");
  EXPECT_EQ(states(t, 2), "0 unknown, 100 running") << "how it came to run was before the begin";
  EXPECT_EQ(segments(find(t, Track::cpu, 0)), "0:1/1, 100:1/2");
  EXPECT_EQ(t.length, 1000u);
}

TEST(Tracks, from_a_wait_to_its_waker) {
  Events e;
  e.swap(100, 0, 1, 2);
  e.wake(300, 2, 1);
  e.swap(400, 0, 2, 1, 0);
  const Timeline t = e.make();
  EXPECT_EQ(states(t, 1), "0 running, 100 waiting, 300 runnable, 400 running");
  EXPECT_EQ(states(t, 2), "0 unknown, 100 running, 400 runnable") << "it was preempted";
  EXPECT_EQ(segments(find(t, Track::thread, 1)), "0:1/0, 100:8/0, 300:2/3, 400:1/0") << "the waker is 2, and 1 is added";
}

TEST(Tracks, an_interrupt_wakes_in_a_thread_that_has_no_part_in_it) {
  Events e;
  e.names.texts.push_back("asm_sysvec_apic_timer_interrupt");
  const uint32_t timer = e.stack({5, 13, 7}, 1);
  e.swap(100, 0, 1, 2);
  e.add(Kind::sched_wakeup, 300, 0, 2, {1, timer});
  EXPECT_EQ(segments(find(e.make(), Track::thread, 1)), "0:1/0, 100:8/0, 300:2/1") << "thread 0, and 1 is added";
}

TEST(Tracks, events_are_sorted) {
  Events e;
  e.swap(400, 0, 2, 1, 0);
  e.wake(300, 2, 1);
  e.swap(100, 0, 1, 2);
  EXPECT_EQ(states(e.make(), 1), "0 running, 100 waiting, 300 runnable, 400 running");
}

TEST(Tracks, a_wakeup_of_a_thread_that_has_not_left_changes_nothing) {
  Events e;
  e.swap(100, 0, 2, 1);
  e.wake(150, 0, 1);
  e.swap(200, 0, 1, 0, 0);
  EXPECT_EQ(states(e.make(), 1), "0 unknown, 100 running, 200 runnable");
}

TEST(Tracks, threads_start_and_end) {
  Events e;
  e.swap(10, 0, 0, 1);
  e.add(Kind::process_start, 50, 0, 1, {2});
  e.swap(60, 1, 0, 2);
  e.swap(90, 1, 2, 0, 0x80);
  const Timeline t = e.make();
  EXPECT_EQ(states(t, 2), "0 none, 50 runnable, 60 running, 90 none");
  EXPECT_EQ(segments(find(t, Track::cpu, 1)), "0:0/0, 60:1/2, 90:0/0");
}

TEST(Tracks, a_thread_that_ends_may_wait_on_its_way) {
  Events e;
  e.swap(100, 0, 0, 1);
  e.add(Kind::process_exit, 150, 0, 1, {});
  e.swap(200, 0, 1, 0, 2);
  e.wake(300, 0, 1);
  e.swap(400, 0, 0, 1);
  e.swap(500, 0, 1, 0, 2);
  EXPECT_EQ(states(e.make(), 1), "0 unknown, 100 running, 200 none, 300 runnable, 400 running, 500 none");
}

TEST(Tracks, lost_switches_are_unknown_and_not_wrong) {
  Events e;
  e.swap(100, 0, 0, 1);
  // Thread 1 left, and 2 came, unseen.
  e.swap(500, 0, 2, 0);
  const Timeline t = e.make();
  EXPECT_EQ(states(t, 1), "0 unknown") << "until when it ran is not known";
  EXPECT_EQ(states(t, 2), "0 unknown, 500 waiting");
  EXPECT_EQ(segments(find(t, Track::cpu, 0)), "0:0/0, 100:2/0, 500:0/0");
  EXPECT_EQ(t.out_of_step, 1u);
}

TEST(Tracks, waits_by_stack) {
  Events e;
  const uint32_t disk = e.stack({5, 6, 7}, 2), gil = e.stack({5, 9, 8, 10}, 3), condition = e.stack({5, 8, 10}, 2), futex = e.stack({5, 6, 10}, 2), network = e.stack({5, 12}, 1);
  uint64_t time = 100;
  for (uint32_t stack : {disk, gil, condition, futex, network}) {
    e.swap(time, 0, 1, 0, 1, stack);
    e.swap(time + 50, 0, 0, 1);
    time += 100;
  }
  EXPECT_EQ(states(e.make(), 1), "0 running, 100 disk, 150 running, 200 gil, 250 running, 300 waiting, 350 running, 400 lock, 450 running, 500 network, 550 running");
}

TEST(Tracks, waits_by_what_is_known_of_the_time) {
  Events e;
  for (uint64_t time : {100, 300, 500, 700}) e.swap(time, 0, 1, 0), e.swap(time + 100, 0, 0, 1);
  e.add(Kind::syscall, 205, 0, 1, {110, 4, 0, 0});            // futex
  e.add(Kind::syscall, 405, 0, 1, {110, 3, 0, 0});            // read says nothing
  e.add(Kind::block_io, 599, 0, 1, {90, 1, 3, 4096, 0, 8});
  e.add(Kind::lock, 801, 0, 1, {110, 0x1000, 2, 0});
  EXPECT_EQ(states(e.make(), 1), "0 running, 100 lock, 200 running, 300 waiting, 400 running, 500 disk, 600 running, 700 lock, 800 running");
}

TEST(Tracks, a_reason_that_ended_hides_no_other_one) {
  Events e;
  e.names.texts.push_back("fsync");
  for (const auto& [begin, end] : {std::pair(120, 200), std::pair(250, 500), std::pair(600, 700), std::pair(800, 900)}) e.swap(static_cast<uint64_t>(begin), 0, 1, 0), e.swap(static_cast<uint64_t>(end), 0, 0, 1);
  e.add(Kind::syscall, 750, 0, 1, {650, 13, 0, 0}); // from 100 on: waits for the journal
  e.add(Kind::block_io, 200, 0, 1, {80, 1, 3, 4096, 0, 8});
  e.add(Kind::lock, 230, 0, 1, {20, 0x1000, 2, 0});
  e.add(Kind::lock, 700, 0, 1, {100, 0x1000, 2, 0});
  EXPECT_EQ(states(e.make(), 1), "0 running, 120 disk, 200 running, 250 disk, 500 running, 600 lock, 700 running, 800 waiting, 900 running");
}

TEST(Tracks, the_stack_of_a_call_says_more_than_its_name) {
  Events e;
  const uint32_t gil = e.stack({5, 9, 8}, 3);
  e.swap(100, 0, 1, 0);
  e.swap(200, 0, 0, 1);
  e.add(Kind::syscall, 205, 0, 1, {110, 4, 0, gil}); // futex
  EXPECT_EQ(segments(find(e.make(), Track::thread, 1)), "0:1/0, 100:4/" + std::to_string(gil) + ", 200:1/0");
}

TEST(Tracks, a_recording_of_some_processes_has_no_rows_of_others) {
  Events e;
  for (uint64_t time = 100; time < 900; time += 100) {
    e.swap(time, 0, 3, 1, 0);     // thread 3 came unseen
    e.swap(time + 50, 0, 1, 3, 0);
    e.swap(time + 60, 0, 2, 1, 0); // and so did 2, of the same process as 1
    e.swap(time + 70, 0, 1, 0, 0);
  }
  e.add(Kind::cpu_sample, 120, 0, 1, {0, 10});
  const Timeline t = e.make();
  EXPECT_TRUE(t.is_of_some);
  EXPECT_EQ(find(t, Track::thread, 3), nullptr);
  EXPECT_NE(find(t, Track::thread, 1), nullptr);
  EXPECT_EQ(summary(t).find("not recorded"), std::string::npos) << summary(t);
}

TEST(Tracks, calls_are_nested_by_depth) {
  Events e;
  e.add(Kind::call, 500, 0, 1, {400, 5, 0});      // main: 100 to 500
  e.add(Kind::call, 300, 0, 1, {200, 6, 0});      // handle: 100 to 300
  e.add(Kind::syscall, 400, 0, 1, {100, 3, 0, 0}); // read: 300 to 400
  const Timeline t = e.make();
  EXPECT_EQ(segments(find(t, Track::calls, 1, 0)), "100:1/5, 500:0/0");
  EXPECT_EQ(segments(find(t, Track::calls, 1, 1)), "100:1/6, 300:2/3, 400:0/0");
  EXPECT_EQ(find(t, Track::calls, 1, 2), nullptr);
  EXPECT_EQ(states(t, 1), "0 unknown") << "nothing is known of it but its calls";
}

TEST(Tracks, calls_that_are_too_deep_are_counted) {
  Events e;
  for (uint64_t i = 0; i < max_call_depth + 3; i++) e.add(Kind::call, 900 - i, 0, 1, {900 - 2 * i, 6, 0});
  const Timeline t = e.make();
  EXPECT_EQ(t.calls_left_out, 3u);
  EXPECT_NE(summary(t).find("3 calls deeper than 24 not shown"), std::string::npos) << summary(t);
}

TEST(Tracks, samples_alone_say_when_a_thread_ran) {
  Events e;
  e.add(Kind::cpu_sample, 300, 0, 1, {0, 100});
  e.add(Kind::cpu_sample, 380, 0, 1, {0, 100});
  e.add(Kind::cpu_sample, 900, 0, 1, {0, 100});
  EXPECT_EQ(states(e.make(), 1), "0 unknown, 200 running, 380 unknown, 800 running, 900 unknown");
}

TEST(Tracks, counters_and_requests_of_a_device) {
  Events e;
  e.add(Kind::counter, 100, 0, 0, {11, 7});
  e.add(Kind::counter, 200, 0, 0, {11, static_cast<uint64_t>(-3)});
  e.add(Kind::block_io, 500, 0, 1, {300, 12, 3, 0, 0, 0});
  e.add(Kind::block_io, 600, 0, 1, {300, 12, 3, 0, 0, 0});
  const Timeline t = e.make();
  ASSERT_EQ(t.tracks.size(), 2u);
  EXPECT_EQ(t.tracks[0].segments.values, (std::vector<int64_t>{7, -3}));
  EXPECT_EQ(t.names.texts[t.tracks[1].owner], "requests of tcp_recvmsg");
  EXPECT_EQ(t.tracks[1].segments.begins, (std::vector<uint64_t>{200, 300, 500, 600}));
  EXPECT_EQ(t.tracks[1].segments.values, (std::vector<int64_t>{1, 2, 1, 0}));
}

TEST(Tracks, network_is_bytes_a_second) {
  Events e;
  e.add(Kind::network, 500, 0, 1, {3, 100, 0, 0, 0});
  e.add(Kind::network, 600, 0, 1, {3, 50, 0, 0, 0});
  e.add(Kind::network, 700, 0, 1, {11, 7, 0, 0, 0});
  const Timeline t = e.make();
  ASSERT_EQ(t.tracks.size(), 2u);
  EXPECT_EQ(t.names.texts[t.tracks[0].owner], "network, read: bytes/s");
  EXPECT_EQ(t.tracks[0].segments.values, std::vector<int64_t>{150'000}) << "of a millisecond, which is the shortest part";
  EXPECT_EQ(t.tracks[1].segments.values, std::vector<int64_t>{7'000});
}

TEST(Tracks, threads_that_ran_longest_are_first_and_processes_stay_together) {
  Events e;
  e.swap(100, 0, 3, 1); // process 20 ran 100, thread 1 of process 10 runs 900, and thread 2 of it does not run
  e.swap(200, 1, 2, 0); // but here: 200
  const Timeline t = e.make();
  std::vector<uint32_t> order;
  for (const Track& track : t.tracks)
    if (track.kind == Track::thread) order.push_back(track.owner);
  EXPECT_EQ(order, (std::vector<uint32_t>{1, 2, 3}));
  e.add(Kind::syscall, 90, 0, 3, {10, 3, 0, 0});
  order.clear();
  const Timeline about_3 = e.make();
  for (const Track& track : about_3.tracks)
    if (track.kind == Track::thread) order.push_back(track.owner);
  EXPECT_EQ(order, (std::vector<uint32_t>{3, 1, 2})) << "others have the scheduler's events only";
}

TEST(Tracks, a_part_keeps_what_goes_on_at_its_begin) {
  Events e;
  e.swap(100, 0, 1, 2);
  e.swap(600, 0, 2, 1);
  e.add(Kind::mark, 450, 0, 0, {6});
  e.add(Kind::mark, 50, 0, 0, {6});
  e.add(Kind::log, 460, 0, 1, {5});
  Timeline t = e.make();
  keep_part(t, 400, 700);
  EXPECT_EQ(t.length, 300u);
  EXPECT_EQ(t.from, 400u);
  EXPECT_EQ(states(t, 1), "0 waiting, 200 running");
  EXPECT_EQ(segments(find(t, Track::cpu, 0)), "0:1/2, 200:1/1");
  ASSERT_EQ(t.marks.size(), 2u);
  EXPECT_EQ(t.marks[0].time, 50u);
  EXPECT_EQ(t.marks[1].text, "main");
  EXPECT_TRUE(t.marks[1].is_line && !t.marks[0].is_line);
  const auto sums = sum_states(t);
  EXPECT_EQ(sums[static_cast<size_t>(State::running)], 300u);
  EXPECT_EQ(sums[static_cast<size_t>(State::waiting)], 300u);
}

// Whatever events come, in whatever order, tracks stay in order and within the recording.
TEST(Tracks, any_events_make_tracks_in_order) {
  std::mt19937 chance(1);
  const auto random = [&](uint64_t until) { return std::uniform_int_distribution<uint64_t>(0, until)(chance); };
  for (int round = 0; round < 60; round++) {
    Events e;
    const uint32_t stacks[] = {0, e.stack({5, 6, 7}, 2), e.stack({5, 9, 8, 10}, 3)};
    for (int i = 0; i < 60; i++) {
      const uint64_t time = random(1100), thread = random(3), cpu = random(1);
      switch (random(6)) {
      case 0: e.swap(time, static_cast<uint32_t>(cpu), static_cast<uint32_t>(thread), static_cast<uint32_t>(random(3)), random(1) ? random(255) : 0, stacks[random(2)]); break;
      case 1: e.wake(time, static_cast<uint32_t>(thread), static_cast<uint32_t>(random(3))); break;
      case 2: e.add(Kind::call, time, 0, static_cast<uint32_t>(thread), {random(2000), 5 + random(3), 0}); break;
      case 3: e.add(Kind::syscall, time, 0, static_cast<uint32_t>(thread), {random(300), 3 + random(1), 0, stacks[random(2)]}); break;
      case 4: e.add(Kind::cpu_sample, time, 0, static_cast<uint32_t>(thread), {stacks[random(2)], random(100)}); break;
      case 5: e.add(Kind::block_io, time, 0, static_cast<uint32_t>(thread), {random(300), 1, 3, 0, 0, 0}); break;
      default: e.add(Kind::process_start, time, 0, static_cast<uint32_t>(thread), {random(3)});
      }
    }
    Timeline t = e.make();
    keep_part(t, random(500), 500 + random(500));
    for (const Track& track : t.tracks) {
      const Segments& s = track.segments;
      const bool is_counter = track.kind == Track::counter;
      ASSERT_EQ(s.classes.size(), s.size());
      ASSERT_EQ(is_counter ? s.values.size() : s.refs.size(), s.size());
      for (size_t i = 0; i < s.size(); i++) {
        ASSERT_LE(s.begins[i], t.length);
        ASSERT_TRUE(!i || s.begins[i - 1] < s.begins[i] || (is_counter && s.begins[i - 1] == s.begins[i])) << round;
        ASSERT_LT(s.classes[i], state_rows.size());
      }
    }
    write_page(t), write_picture(t);
  }
}

TEST(Output, the_picture_has_each_row_and_names_are_text) {
  Events e;
  e.names.texts[2] = "<worker>&";
  e.swap(100, 0, 1, 2);
  const std::string svg = write_picture(e.make());
  EXPECT_NE(svg.find("&lt;worker&gt;&amp; 11"), std::string::npos) << svg;
  EXPECT_NE(svg.find("CPU 0"), std::string::npos);
  EXPECT_NE(svg.find(std::string(row_of(State::running).color)), std::string::npos);
}

TEST(Output, no_name_ends_the_script_of_the_page) {
  Events e;
  e.names.texts[2] = "</script><script>alert(1)</script>";
  e.swap(100, 0, 1, 2);
  EXPECT_EQ(write_page(e.make()).find("</script><script>alert"), std::string::npos);
}
