// sample_recording FILE ROUNDS: writes a recording with all kinds of events, and prints how many there are of each as a JSON object. In a round, which takes 10 us, a thread gets a CPU,
// calls a function that reads and waits for a lock, and asks for a disk request that is complete twelve rounds later, when it has asked for the next one.
#include "recording/event_kinds.h"
#include "recording/writer.h"

#include <array>
#include <cstdio>
#include <cstdlib>

namespace {

using namespace recording;

constexpr uint64_t us = 1000, round_ns = 10 * us, begin = 5'000'000'000;
constexpr uint32_t cpus = 4, threads = 8, rounds_at_once = 5000;

class Sample {
public:
  explicit Sample(Writer writer) : writer_(std::move(writer)) {
    for (const KindRow& row : kind_rows) {
      const EventKind kind = kind_of(row.kind);
      const uint32_t number = writer_.add_kind(kind);
      batches_.push_back({.kind = number, .times = {}, .cpus = {}, .threads = {}, .columns = std::vector<std::vector<uint64_t>>(kind.fields.size())});
    }
    const uint32_t process = text("server"), module = text("/usr/bin/server");
    for (uint32_t i = 1; i <= threads; i++) names_.threads.push_back({.pid = 100, .tid = 100 + i, .process = process, .name = text("worker " + std::to_string(i))});
    for (const char* name : {"main", "serve", "read_page"}) {
      names_.frames.push_back({.name = text(name), .module = module, .kind = spec::FrameKind::user});
      names_.stacks.push_back({.caller = static_cast<uint32_t>(names_.stacks.size() - 1), .frame = static_cast<uint32_t>(names_.frames.size() - 1)});
    }
    // A name alone, without a file.
    names_.frames.push_back({.name = text("do_read"), .module = 0, .kind = spec::FrameKind::kernel});
    names_.stacks.push_back({.caller = 3, .frame = 3});
  }

  base::Status write(uint32_t rounds) {
    const uint32_t read = text("read"), serve = text("serve"), disk = text("sda"), operation = text("write"), sent = text("send"), tcp = text("tcp"), peer = text("10.1.2.3"), queue = text("queue \"in\""), odd = text("50% of \"C:\\tmp\"\nü");
    add(Kind::mark, begin, 0, 0, {text("SIGUSR2")});
    for (uint32_t r = 0; r < rounds; r++) {
      const uint64_t t = begin + r * round_ns;
      const uint32_t cpu = r % cpus, thread = 1 + r % threads;
      add(Kind::sched_wakeup, t, cpu, 0, {thread, 0});
      add(Kind::sched_switch, t + us, cpu, 0, {thread, 0, 0});
      add(Kind::cpu_sample, t + 5 * us, cpu, thread, {r % 5, 10 * us});
      add(Kind::lock, t + 3 * us + 500, cpu, thread, {us, 0x7fff'0000'1000, 1 + (r + 1) % threads, 3});
      add(Kind::syscall, t + 4 * us, cpu, thread, {2 * us, read, static_cast<uint64_t>(-int64_t{11}), r % 2 ? 4u : 0u});
      add(Kind::call, t + 6 * us, cpu, thread, {5 * us, serve, r});
      add(Kind::page_fault, t + 4 * us + 1, cpu, thread, {0x5555'0000'0000u + r * uint64_t{4096}, 2});
      add(Kind::counter, t + 6 * us + 1, cpu, thread, {queue, r % 3 ? r : static_cast<uint64_t>(-int64_t{r})});
      add(Kind::block_io, t + 12 * round_ns + 6 * us, cpu, thread, {12 * round_ns + us, disk, operation, 4096, 0, 2048 + r});
      add(Kind::network, t + 7 * us + 2, cpu, thread, {sent, 1460, tcp, peer, 443});
      if (r % 100 == 0) {
        add(Kind::log, t + 7 * us, cpu, thread, {odd});
        add(Kind::process_start, t + 7 * us, cpu, thread, {1 + (r / 100) % threads});
        add(Kind::process_exit, t + 7 * us + 1, cpu, thread, {});
      }
      // A sleep, a killable one, an idle kernel thread's, a thread's end.
      constexpr uint64_t states[] = {1, 0x102, 0x402, 0x80};
      add(Kind::sched_switch, t + 8 * us, cpu, thread, {0, states[r % 4], 4});
      if ((r + 1) % rounds_at_once == 0) ACU_CHECK(flush());
    }
    ACU_CHECK(flush());
    About about = {.what = "a sample", .host = "host", .version = "0", .begin_ns = begin, .end_ns = begin + (rounds + 13) * round_ns, .begin_wall_ns = 1'700'000'000'123'456'789, .cpus = cpus, .notes = {}};
    counts_[static_cast<size_t>(Kind::syscall)].lost = 7;
    return writer_.finish(about, counts_);
  }

  void print_counts() const {
    std::string out = "{";
    for (const KindRow& row : kind_rows)
      out.append(out.size() > 1 ? ", \"" : "\"").append(row.name).append("\": ").append(std::to_string(counts_[static_cast<size_t>(row.kind)].kept));
    std::puts((out + "}").c_str());
  }

private:
  uint32_t text(const std::string& t) {
    names_.texts.push_back(t);
    return static_cast<uint32_t>(names_.texts.size() - 1);
  }

  void add(Kind kind, uint64_t time, uint32_t cpu, uint32_t thread, std::initializer_list<uint64_t> values) {
    Batch& b = batches_[static_cast<size_t>(kind)];
    b.times.push_back(time), b.cpus.push_back(cpu), b.threads.push_back(thread);
    for (size_t i = 0; i < values.size(); i++) b.columns[i].push_back(values.begin()[i]);
    Count& count = counts_[static_cast<size_t>(kind)];
    count.kept++, count.sent++;
  }

  base::Status flush() {
    for (Batch& b : batches_) {
      if (b.size()) ACU_CHECK(writer_.add(b, names_));
      b.times.clear(), b.cpus.clear(), b.threads.clear();
      for (auto& column : b.columns) column.clear();
    }
    return {};
  }

  Writer writer_;
  Names names_;
  std::vector<Batch> batches_;
  std::array<Count, kind_rows.size()> counts_ = {};
};

base::Status run(const char* path, const char* rounds) {
  ACU_TRY(Writer writer, Writer::create(path, {.begin_ns = begin}));
  Sample sample(std::move(writer));
  ACU_CHECK(sample.write(static_cast<uint32_t>(std::strtoul(rounds, nullptr, 10))));
  sample.print_counts();
  return {};
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  auto done = run(argv[1], argv[2]);
  if (!done.ok()) std::fprintf(stderr, "%s\n", done.error().message.c_str());
  return done.ok() ? 0 : 1;
}
