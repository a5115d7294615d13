// Attaching tiny programs to real events: each way there is, and what is said when it fails.
#include "helpers.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using probe::Context;

namespace {

constexpr uint32_t trace_raw_tp = 23; // BPF_TRACE_RAW_TP

int bpf(int command, bpf_attr& attr) {
  return static_cast<int>(syscall(SYS_bpf, command, &attr, sizeof attr));
}

// A program that adds 1 to the only element of an array and returns 0.
struct Attach : Fixture {
  base::Fd counter, program;

  void SetUp() override {
    bpf_attr attr;
    std::memset(&attr, 0, sizeof attr);
    attr.map_type = BPF_MAP_TYPE_ARRAY;
    attr.key_size = 4;
    attr.value_size = 8;
    attr.max_entries = 1;
    counter = base::Fd(bpf(BPF_MAP_CREATE, attr));
    if (!counter.valid()) GTEST_SKIP() << "bpf is not allowed here: " << strerror(errno);
  }
  bool load(Context context, uint32_t btf_id) {
    bpf_insn code[] = {
        {BPF_ST | BPF_MEM | BPF_W, 10, 0, -4, 0},
        {BPF_ALU64 | BPF_MOV | BPF_X, 2, 10, 0, 0},
        {BPF_ALU64 | BPF_ADD | BPF_K, 2, 0, 0, -4},
        {BPF_LD | BPF_IMM | BPF_DW, 1, BPF_PSEUDO_MAP_FD, 0, counter.get()},
        {0, 0, 0, 0, 0},
        {BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_map_lookup_elem},
        {BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 2, 0},
        {BPF_ALU64 | BPF_MOV | BPF_K, 1, 0, 0, 1},
        {BPF_STX | BPF_ATOMIC | BPF_DW, 0, 1, 0, BPF_ADD},
        {BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0},
        {BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
    };
    bpf_attr attr;
    std::memset(&attr, 0, sizeof attr);
    attr.prog_type = context == Context::raw_tracepoint   ? BPF_PROG_TYPE_RAW_TRACEPOINT
                     : context == Context::btf_tracepoint ? BPF_PROG_TYPE_TRACING
                     : context == Context::tracepoint     ? BPF_PROG_TYPE_TRACEPOINT
                                                          : BPF_PROG_TYPE_PERF_EVENT;
    attr.insns = reinterpret_cast<uintptr_t>(code);
    attr.insn_cnt = std::size(code);
    attr.license = reinterpret_cast<uintptr_t>("GPL");
    if (context == Context::btf_tracepoint) {
      attr.expected_attach_type = trace_raw_tp;
      attr.attach_btf_id = btf_id;
    }
    program = base::Fd(bpf(BPF_PROG_LOAD, attr));
    return program.valid();
  }
  uint64_t hits() {
    uint32_t key = 0;
    uint64_t value = 0;
    bpf_attr attr;
    std::memset(&attr, 0, sizeof attr);
    attr.map_fd = static_cast<uint32_t>(counter.get());
    attr.key = reinterpret_cast<uintptr_t>(&key);
    attr.value = reinterpret_cast<uintptr_t>(&value);
    EXPECT_EQ(bpf(BPF_MAP_LOOKUP_ELEM, attr), 0);
    return value;
  }
  // Attaches with this context, makes events, sees them, detaches, and sees no more.
  void try_out(std::string_view text, Context context, void (*make_events)(),
               probe::AttachOptions options = {}) {
    probe::Event e = one(text);
    if (!load(context, probe::attach_btf_id(machine, e)))
      GTEST_SKIP() << "cannot load a program here: " << strerror(errno);
    {
      auto attached = probe::attach(e, context, program.get(), options);
      ASSERT_TRUE(attached.ok()) << attached.error().message;
      make_events();
      EXPECT_GT(hits(), 0u) << text;
      attached->disable();
    }
    uint64_t before = hits();
    make_events();
    EXPECT_EQ(hits(), before) << text;
  }
};

void open_files() {
  for (int i = 0; i < 20; i++) close(open("/dev/null", O_RDONLY));
}
void sleep_often() {
  for (int i = 0; i < 20; i++) usleep(100);
}
void burn() {
  timespec start, now;
  clock_gettime(CLOCK_MONOTONIC, &start);
  do clock_gettime(CLOCK_MONOTONIC, &now);
  while ((now.tv_sec - start.tv_sec) * 1000000000 + now.tv_nsec - start.tv_nsec < 50000000);
}

TEST_F(Attach, raw_tracepoint) {
  NEEDS_TRACEFS;
  try_out("tracepoint:sched:sched_process_fork", Context::raw_tracepoint, [] {
    if (pid_t child = fork())
      waitpid(child, nullptr, 0);
    else
      _exit(0);
  });
}
TEST_F(Attach, typed_tracepoint) {
  NEEDS_TRACEFS;
  NEEDS_BTF;
  probe::Event e = one("tracepoint:sched:sched_switch");
  ASSERT_TRUE(load(Context::btf_tracepoint, probe::attach_btf_id(machine, e)));
  auto attached = probe::attach(e, Context::btf_tracepoint, program.get(), {});
  ASSERT_TRUE(attached.ok()) << attached.error().message;
  sleep_often();
  EXPECT_GT(hits(), 0u);
}
TEST_F(Attach, system_call) {
  NEEDS_TRACEFS;
  probe::Event e = one("tracepoint:syscalls:sys_enter_openat");
  ASSERT_TRUE(load(Context::raw_tracepoint, 0));
  auto attached = probe::attach(e, Context::raw_tracepoint, program.get(), {});
  ASSERT_TRUE(attached.ok()) << attached.error().message;
  open_files();
  EXPECT_GE(hits(), 40u); // every system call comes
}
TEST_F(Attach, record) {
  NEEDS_TRACEFS;
  try_out("tracepoint:sched:sched_process_fork", Context::tracepoint, [] {
    if (pid_t child = fork())
      waitpid(child, nullptr, 0);
    else
      _exit(0);
  });
}
TEST_F(Attach, profile) {
  ASSERT_TRUE(load(Context::perf_event, 0));
  for (const char* text : {"profile:hz:999", "profile:ms:1"}) {
    probe::Event e = one(text);
    auto attached = probe::attach(e, Context::perf_event, program.get(), {});
    ASSERT_TRUE(attached.ok()) << attached.error().message;
    EXPECT_EQ(attached->perf_events.size(), probe::online_cpus().size());
    uint64_t before = hits();
    burn();
    EXPECT_GT(hits(), before) << text;
    attached->disable();
    before = hits();
    burn();
    EXPECT_EQ(hits(), before) << text;
  }
}
TEST_F(Attach, profile_of_one_process) {
  try_out("profile:hz:999", Context::perf_event, burn, {.pid = getpid()});
}
TEST_F(Attach, software) {
  try_out("software:faults:1", Context::perf_event,
          [] {
            std::vector<char> memory(8 << 20, 1);
            EXPECT_EQ(memory.back(), 1);
          },
          {.pid = getpid()});
}

TEST_F(Attach, failures_name_the_probe_and_the_cause) {
  NEEDS_TRACEFS;
  ASSERT_TRUE(load(Context::perf_event, 0));
  probe::Event e = one("profile:hz:999999999");
  auto attached = probe::attach(e, Context::perf_event, program.get(), {});
  ASSERT_FALSE(attached.ok());
  EXPECT_NE(attached.error().message.find("profile:hz:999999999"), std::string::npos);
  EXPECT_NE(attached.error().message.find("perf_event_max_sample_rate"), std::string::npos);
  e = one("profile:hz:99");
  auto gone = probe::attach(e, Context::perf_event, program.get(), {.pid = 999999999});
  ASSERT_FALSE(gone.ok());
  EXPECT_NE(gone.error().message.find("the process is gone"), std::string::npos);
  ASSERT_TRUE(load(Context::raw_tracepoint, 0));
  e = one("tracepoint:sched:sched_switch");
  e.event = "no_such_event";
  auto missing = probe::attach(e, Context::raw_tracepoint, program.get(), {});
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().kind, base::Failure::nothing_matched);
}

} // namespace
