// From raw stacks to a call tree: which entry gets which name, why a stack ends, and what the header says of it.
#include "profile/naming.h"
#include "profiles.h"

#include "scratch.h"

#include <gtest/gtest.h>

#include <map>

namespace profile {
namespace {

// Entries of a runtime by their addresses, and how often each was asked for.
class TestFrames : public symbol::FrameSource {
public:
  struct Answer {
    std::string name, module = "/bin/app";
    std::vector<std::string> inlined = {}; // innermost first
    uint64_t module_address = 0;
    bool is_mapped = true, is_derived = false;
  };
  std::map<uint64_t, Answer> answers;
  std::map<uint64_t, int> asked;

  Key key_of(const symbol::RawFrame& raw) override { return {raw.entry.address, 0}; }
  symbol::Frame function_of(const symbol::RawFrame& raw) override {
    asked[raw.entry.address]++;
    const Answer& a = answers[raw.entry.address];
    return {.name = a.name, .module = a.module, .module_address = a.module_address, .kind = FrameKind::user, .is_derived = a.is_derived, .is_mapped = a.is_mapped};
  }
  void find_inlined(std::span<const symbol::RawFrame> raw, const symbol::TakeFrames& take) override {
    for (size_t i = 0; i < raw.size(); i++) {
      const Answer& a = answers[raw[i].entry.address];
      if (a.inlined.empty()) continue;
      std::vector<symbol::Frame> frames;
      for (const std::string& name : a.inlined) frames.push_back({.name = name, .kind = FrameKind::inlined});
      frames.push_back({.name = a.name});
      take(i, frames);
    }
  }
};

constexpr uint64_t kernel_text = 0xffffffff81000000;

class Naming : public testing::Test {
protected:
  Naming() : kernel_(write_symbols(scratch_)), sources(kernel_, users_) {
    auto made = std::make_unique<TestFrames>();
    code = made.get();
    sources.add(FrameKind::test, std::move(made));
  }
  static std::string write_symbols(const Scratch& scratch) {
    scratch.write("kallsyms", "ffffffff81000000 T _text\nffffffff81001000 T vfs_read\nffffffff81002000 T ksys_read\nffffffff81003000 T do_exit\n"
                              "ffffffff81004000 T bpf_trace_run4\nffffffff81005000 T syscall_trace_enter\nffffffff81006000 T asm_sysvec_apic_timer_interrupt\n"
                              "ffffffff81007000 T schedule\nffffffff81008000 T _etext\nffffffffc0001000 t nft_do_chain\t[nf_tables]\nffffffffc0002000 t nft_end\t[nf_tables]\n");
    return scratch.path("kallsyms");
  }
  // A stack of the runtime's entries.
  uint32_t user(std::vector<uint64_t> entries, RawStack like = {.is_end_known = true}) {
    like.pid = 1;
    for (uint64_t e : entries) like.frames.insert(like.frames.end(), {spec::tagged_word(FrameKind::test, 0), e});
    raw.stacks.push_back(std::move(like));
    return static_cast<uint32_t>(raw.stacks.size() - 1);
  }
  uint32_t kernel(std::vector<uint64_t> offsets, bool is_cut = false) {
    RawStack s;
    for (uint64_t o : offsets) s.frames.push_back(kernel_text + o);
    s.is_cut = is_cut;
    raw.stacks.push_back(std::move(s));
    return static_cast<uint32_t>(raw.stacks.size() - 1);
  }
  void sample(RawSample s) {
    s.pid = s.tid = 1, s.process = s.thread = "app";
    if (!s.count) s.weight = s.count = 1;
    raw.samples.push_back(std::move(s));
  }
  // Names separated by `;`, the outermost first.
  std::string run() {
    name_samples(p, raw, sources);
    std::string out;
    for (const Sample& s : p.samples()) {
      if (!out.empty()) out += "\n";
      std::string line;
      for (uint32_t f : p.stack(s.node)) line += (line.empty() ? "" : ";") + std::string(p.name(p.frames()[f])) + std::string(spec::row_of(p.frames()[f].kind).mark);
      out += line;
    }
    return out;
  }

  Scratch scratch_;
  symbol::Kallsyms kernel_;
  symbol::UserSymbols users_;
  symbol::FrameSources sources;
  TestFrames* code = nullptr;
  RawRecording raw;
  Profile p;
};

// A return address is the instruction behind the call: of a function that never returns that is the next function.
TEST_F(Naming, CallersAreLookedUpInTheirCalls) {
  sample({.kernel = kernel({0x1000, 0x2000, 0x3000})});
  EXPECT_EQ(run(), "ksys_read_[k];vfs_read_[k];vfs_read_[k]");
}

TEST_F(Naming, ModulesOfTheKernelAreFiles) {
  sample({.kernel = kernel({0x3f001005})}); // ffffffffc0001005 less _text
  raw.stacks[0].frames[0] = 0xffffffffc0001005;
  EXPECT_EQ(run(), "nft_do_chain_[k]");
  EXPECT_EQ(p.module(p.frame_of(1)), "[nf_tables]");
}

// What the kernel runs to reach a probe is no part of what was measured, unless there is nothing else.
TEST_F(Naming, TheWayToTheProbeIsLeftOut) {
  sample({.kernel = kernel({0x4001, 0x5001, 0x1001, 0x4001})});
  EXPECT_EQ(run(), "bpf_trace_run4_[k];vfs_read_[k]");
  raw = {}, p = Profile();
  sample({.kernel = kernel({0x4001})});
  EXPECT_EQ(run(), "bpf_trace_run4_[k]");
}

TEST_F(Naming, KernelStacksThatWereCut) {
  sample({.kernel = kernel({0x1001}, true)});
  EXPECT_EQ(run(), "[stack deeper than the stack limit];vfs_read_[k]");
  EXPECT_EQ(p.about.complete, 0u);
}

TEST_F(Naming, WithoutAnyStack) {
  sample({});
  sample({.leaf = "[waiting]", .weight = 5, .count = 2});
  EXPECT_EQ(run(), "[no user stack]\n[no user stack];[waiting]");
  EXPECT_EQ(p.about.samples, 3u);
  EXPECT_EQ(p.about.complete, 0u);
  EXPECT_TRUE(p.about.incomplete.starts_with("only 0.0% of stacks are complete: no user stack")) << p.about.incomplete;
}

TEST_F(Naming, KernelThreadsHaveNoUserStack) {
  sample({.kernel = kernel({0x7001})});
  EXPECT_EQ(run(), "schedule_[k]");
  EXPECT_EQ(p.about.complete, 1u);
  EXPECT_EQ(p.about.incomplete, "");
}

TEST_F(Naming, UserKernelAndNoteFromTheOutsideIn) {
  code->answers = {{1, {.name = "main"}}, {2, {.name = "read"}}};
  sample({.kernel = kernel({0x1001, 0x2001}), .user = user({2, 1}), .leaf = "[waiting]"});
  EXPECT_EQ(run(), "main;read;ksys_read_[k];vfs_read_[k];[waiting]");
  EXPECT_EQ(p.about.frames, 4u); // the note is none
  EXPECT_EQ(p.about.frames_named, 4u);
}

TEST_F(Naming, TheReasonOfAnEndStandsOutermost) {
  code->answers = {{1, {.name = "main"}}};
  sample({.user = user({1}, {.end = "[stack damaged]", .is_end_known = true})});
  EXPECT_EQ(run(), "[stack damaged];main");
  EXPECT_EQ(p.about.complete, 0u);
}

TEST_F(Naming, StacksOfGoBeginWhereItsRuntimeSaysSo) {
  code->answers = {{1, {.name = "runtime.goexit.abi0"}}, {2, {.name = "main.main"}}, {3, {.name = "runtime.mcall"}}};
  for (uint64_t first : {1, 3, 2}) sample({.user = user({2, first}, {.end = "[return address is not code]", .is_end_known = true})});
  EXPECT_EQ(run(), "runtime.goexit.abi0;main.main\nruntime.mcall;main.main\n[return address is not code];main.main;main.main");
  EXPECT_EQ(p.about.complete, 2u);
}

// A thread that exits has no stack any more: nothing is missing.
TEST_F(Naming, NoStackByRight) {
  sample({.user = user({}, {.end = "[exiting]", .is_none = true, .is_end_known = true}), .weight = 3, .count = 3});
  EXPECT_EQ(run(), "[exiting]");
  EXPECT_EQ(p.about.complete, 3u);
  ASSERT_EQ(p.about.notes.size(), 1u);
  EXPECT_TRUE(p.about.notes[0].starts_with("3 samples taken in threads that were exiting")) << p.about.notes[0];
}

// By frame pointers nobody says whether a stack is all there: its outermost function does.
TEST_F(Naming, StacksByFramePointers) {
  code->answers = {{1, {.name = "_start"}}, {2, {.name = "main"}}, {3, {.name = "", .module = "", .is_mapped = false}}, {4, {.name = "start_thread"}}};
  sample({.user = user({2, 1}, {})});
  sample({.user = user({2, 4}, {})});
  sample({.user = user({2}, {})});
  sample({.user = user({2}, {.is_cut = true})});
  sample({.user = user({2, 3, 1}, {})}); // led astray: what is above is not right
  sample({.user = user({3, 2}, {})});    // but the innermost is where the thread was
  EXPECT_EQ(run(), "_start;main\nstart_thread;main\n[stack ends early: no frame pointer];main\n[stack deeper than the stack limit];main\n"
                   "[stack ends early: no frame pointer];main;[not mapped]");
  EXPECT_EQ(p.about.complete, 2u);
  EXPECT_EQ(p.about.samples, 6u);
}

TEST_F(Naming, InlinedCallsAreFramesOfTheirOwn) {
  code->answers = {{1, {.name = "main"}}, {2, {.name = "work", .inlined = {"inner", "", "outer"}}}};
  sample({.user = user({2, 1})});
  EXPECT_EQ(run(), "main;work;outer_[i];inner_[i]"); // of one the name is not known
  EXPECT_EQ(p.module(p.frame_of(3)), "/bin/app");
}

TEST_F(Naming, PlacesWithoutNames) {
  code->answers = {{1, {.name = "", .module = "/lib/libx.so.1", .module_address = 0x1f}},
                   {2, {.name = "", .module = "/tmp/perf-7.map"}},
                   {3, {.name = "", .module = ""}},
                   {4, {.name = "", .module = "", .is_mapped = false}},
                   {5, {.name = "func_0x12", .is_derived = true}}};
  sample({.user = user({1, 2, 3, 4, 5})});
  EXPECT_EQ(run(), "func_0x12;[not mapped];[code made at run time];0x2;libx.so.1+0x1f");
  EXPECT_EQ(p.about.frames, 5u);
  EXPECT_EQ(p.about.frames_named, 0u);
  ASSERT_FALSE(p.about.notes.empty());
  EXPECT_TRUE(p.about.notes[0].starts_with("1 of 5 frames")) << p.about.notes[0];
}

// The waker's stack stands on its head above the note: who woke is next to what waited.
TEST_F(Naming, Wakers) {
  code->answers = {{1, {.name = "main"}}, {2, {.name = "notify"}}, {3, {.name = "server"}}};
  sample({.user = user({1}), .leaf = "[woken by server]", .has_waker = true, .waker_kernel = kernel({0x4001, 0x1001, 0x2001}), .waker_user = user({2, 3})});
  EXPECT_EQ(run(), "main;[woken by server];vfs_read_[k];ksys_read_[k];notify;server");
}

// An interrupt woke it; whom that interrupted has no part in it.
TEST_F(Naming, WakersThatWereInterrupted) {
  code->answers = {{1, {.name = "main"}}, {2, {.name = "bystander"}}};
  sample({.user = user({1}), .leaf = "[woken by bystander]", .has_waker = true, .waker_kernel = kernel({0x1001, 0x6001, 0x2001}), .waker_user = user({2})});
  EXPECT_EQ(run(), "main;[woken by an interrupt];vfs_read_[k];asm_sysvec_apic_timer_interrupt_[k]");
}

TEST_F(Naming, EachPlaceIsNamedOnce) {
  code->answers = {{1, {.name = "main"}}, {2, {.name = "work"}}, {3, {.name = "late"}}};
  GrowingNames names(p, raw, sources);
  sample({.user = user({2, 1})});
  sample({.user = user({2, 2, 1})});
  EXPECT_EQ(names.add_samples().size(), 2u);
  raw.samples.clear();
  sample({.user = user({3, 2, 1})});
  sample({.user = 0}); // a stack from before
  const std::vector<uint32_t> numbers = names.add_samples();
  ASSERT_EQ(numbers.size(), 2u);
  EXPECT_EQ(numbers[1], 0u); // the first sample again
  EXPECT_EQ(p.samples()[0].weight, 2u);
  for (auto [address, times] : code->asked) EXPECT_EQ(times, 1) << address;
}

TEST_F(Naming, BuildIdsAreHexadecimal) {
  class WithIds : public TestFrames {
    std::span<const std::byte> build_id_of(const symbol::RawFrame&) override { return id_; }
    std::vector<std::byte> id_ = {std::byte{0x00}, std::byte{0xff}, std::byte{0x1a}};
  };
  auto made = std::make_unique<WithIds>();
  made->answers = {{1, {.name = "main"}}};
  sources.add(FrameKind::test, std::move(made));
  sample({.user = user({1})});
  run();
  EXPECT_EQ(p.build_ids[p.text("/bin/app")], "00ff1a");
}

} // namespace
} // namespace profile
