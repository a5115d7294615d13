#include "recorder/recorder.h"

#include "base/clock.h"
#include "base/output_file.h"
#include "base/text.h"
#include "recorder/flight_events.h"
#include "recorder/flight_files.h"
#include "recording/writer.h"
#include "session/losses.h"
#include "session/runner.h"
#include "session/steps.h"

#include <algorithm>
#include <cstring>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace recorder {

namespace {

struct Trigger {
  uint64_t time = 0, thread = 0; // thread: pid << 32 | tid
  std::string what;
};

uint64_t own_cpu_ns() {
  rusage own = {};
  ::getrusage(RUSAGE_SELF, &own);
  const auto ns = [](const timeval& t) { return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_usec) * 1000; };
  return ns(own.ru_utime) + ns(own.ru_stime);
}

bool is_trigger(const type::Type& record) { return record.is(type::Kind::tuple) && !record.fields().empty() && record.fields().front().name == "trigger"; }

bool overwrites(const ir::Action& action) {
  return action.kind == ir::ActionKind::print_value && action.payload && !is_trigger(*action.payload->fields().front().type);
}

class Recorder {
public:
  explicit Recorder(const Options& options) : options_(options), files_(options.output, options.files) {}
  base::Result<int> run();

private:
  base::Result<session::BuiltinScript> make_script();
  void take(const type::Type& type, std::span<const std::byte> bytes);
  void end();
  void write_file();
  base::Status write(const std::string& path, FlightEvents& events, const recording::About& about);
  recording::About about(const FlightEvents& events);
  uint64_t count_triggers();
  void report(const std::string& path, const FlightEvents& events);

  const Options& options_;
  FlightFiles files_;
  session::Condition condition_;
  std::optional<session::Runner> runner_;
  std::unique_ptr<session::Output> output_;
  session::Regular regular_;
  std::optional<Trigger> pending_; // its file is not written yet
  uint64_t quiet_until_ns_ = 0;    // triggers are only counted
  uint64_t written_ = 0;
  bool failed_ = false; // a file could not be written where it should be
};

// Probes of the user become an import of the script.
base::Result<session::BuiltinScript> Recorder::make_script() {
  ACU_TRY(condition_, session::condition_of(options_.filter));
  session::BuiltinScript script("flight");
  for (const Stream& s : streams) script.set(s.parameter, std::ranges::find(options_.streams, s.name) != options_.streams.end());
  std::string triggers;
  for (size_t i = 0; i < options_.triggers.size(); i++) triggers += options_.triggers[i] + " { TRIGGER(" + std::to_string(i + 1) + ") }\n";
  script.set_import("flight_triggers.bt", triggers);
  script.set_whose(condition_, options_.filter, options_.duration_ns);
  script.set_scheduler();
  if (!options_.filter.pids.empty()) script.set_expression("is_ours", session::one_of("$task.tgid", options_.filter.pids));
  return script;
}

void Recorder::take(const type::Type& type, std::span<const std::byte> bytes) {
  if (!is_trigger(type)) return;
  Trigger trigger;
  uint32_t number = 0;
  for (const type::Field& f : type.fields()) {
    if (f.name == "trigger") std::memcpy(&trigger.time, bytes.data() + f.offset, 8);
    if (f.name == "thread") std::memcpy(&trigger.thread, bytes.data() + f.offset, 8);
    if (f.name == "number") std::memcpy(&number, bytes.data() + f.offset, 4);
  }
  if (pending_ || trigger.time < quiet_until_ns_) return;
  trigger.what = number && number <= options_.triggers.size() ? options_.triggers[number - 1] : "signal SIGUSR2";
  pending_ = std::move(trigger);
  regular_.next_ns = pending_->time + options_.after_ns;
}

// The session ends: what was triggered is written as far as it is known, and so is what a crash of the command left.
void Recorder::end() {
  runner_->drain();
  const std::optional<int> status = runner_->child() ? runner_->child()->status() : std::nullopt;
  if (!pending_ && status && *status > 128)
    pending_ = Trigger{.time = base::clock_ns(), .what = "the command was ended by signal " + std::to_string(*status - 128)};
  if (pending_) write_file();
}

recording::About Recorder::about(const FlightEvents& events) {
  utsname system = {};
  ::uname(&system);
  const uint64_t now = base::clock_ns(), begin = std::min(events.first_ns(), now);
  recording::About out = {.what = condition_.what, .host = system.nodename, .begin_ns = begin, .end_ns = now};
  out.begin_wall_ns = base::clock_ns(CLOCK_REALTIME) - (now - begin);
  out.cpus = static_cast<uint32_t>(::sysconf(_SC_NPROCESSORS_ONLN));
  out.own_cpu_ns = own_cpu_ns();
  const ir::Counters counters = runner_->backend().engine().counters();
  if (counters.missed_runs) out.notes.push_back("the kernel did not run probes for " + std::to_string(counters.missed_runs) + " events, because another probe was running");
  if (const uint64_t stacks = counters.stacks_full + counters.stacks_busy) out.notes.push_back(std::to_string(stacks) + " stacks were not kept: there was no memory for them");
  return out;
}

base::Status Recorder::write(const std::string& path, FlightEvents& events, const recording::About& about) {
  ACU_TRY(recording::Writer writer, recording::Writer::create(path, about));
  for (const recording::EventKind& kind : events.kinds()) writer.add_kind(kind);
  for (const recording::Batch& batch : events.batches()) ACU_CHECK(writer.add(batch, events.names()));
  return writer.finish(about, events.counts());
}

void Recorder::write_file() {
  runner_->drain(); // stacks were sent
  FlightEvents events(*runner_, pending_->time - std::min(pending_->time, options_.before_ns));
  const std::vector<bpf::FlightCount> counts = runner_->backend().flight()->read([&](const bpf::FlightRecord& r) { events.take(r); });
  runner_->drain(); // … until now
  events.add_mark(pending_->time, pending_->thread, pending_->what);
  events.finish(counts);
  const recording::About what = about(events);
  std::string path = files_.next();
  auto status = write(path, events, what);
  if (status.ok()) {
    report(path, events);
    files_.add(path);
  } else {
    ::unlink((path + ".part").c_str());
    std::string message = "acu flight: " + status.error().message;
    size_t next = 0;
    while (!status.ok() && !(path = base::make_elsewhere(next, options_.output)).empty()) {
      status = write(path, events, what);
      if (!status.ok()) ::unlink((path + ".part").c_str()), ::unlink(path.c_str());
    }
    failed_ = true;
    output_->message(message + (status.ok() ? "\nhint: the recording is in " + path : "; there is no room in other places either: this recording is lost") + "\n");
  }
  written_ += status.ok();
  quiet_until_ns_ = base::clock_ns() + options_.cool_down_ns;
  pending_.reset();
  regular_.next_ns = session::Regular::never;
}

void Recorder::report(const std::string& path, const FlightEvents& events) {
  if (options_.quiet) return;
  recording::Count sum;
  for (const recording::Count& c : events.counts()) sum.sent += c.sent, sum.kept += c.kept, sum.overwritten += c.overwritten, sum.lost += c.lost;
  const uint64_t first = std::min(events.first_ns(), pending_->time);
  output_->message("wrote " + path + ": " + pending_->what + "; events " + std::to_string(sum.kept) + ", from " + base::short_time(pending_->time - first) +
                   " before; sent " + std::to_string(sum.sent) + ", overwritten " + std::to_string(sum.overwritten) + ", lost " + std::to_string(sum.lost) + "\n");
}

// Also those that came too soon to be sent.
uint64_t Recorder::count_triggers() {
  auto entries = runner_->read("triggers");
  uint64_t sum = 0;
  if (entries.ok() && !entries->empty() && entries->front().values.size() >= sizeof sum) std::memcpy(&sum, entries->front().values.data(), sizeof sum);
  return sum;
}

base::Result<int> Recorder::run() {
  ACU_CHECK(base::check_output(options_.output));
  session::Options run;
  run.quiet = true;
  run.pid = options_.filter.pid;
  ACU_TRY(output_, session::Output::open(run));
  ACU_TRY(session::BuiltinScript script, make_script());
  runner_.emplace(session::Measurement{.aim = "record",
                                       .script = std::move(script),
                                       .filter = options_.filter,
                                       .command = options_.command,
                                       .filters_itself = true,
                                       .follows_processes = true,
                                       .keeps_files = true,
                                       .records_may_wait = true, // a trigger has its time
                                       .flight_bytes = options_.memory,
                                       .overwrites = overwrites},
                  [this](const type::Type& type, std::span<const std::byte> bytes) { take(type, bytes); });
  ACU_CHECK(runner_->compile());
  ACU_CHECK(runner_->load(run));
  if (!runner_->backend().flight()) return base::Error{base::Failure::usage, "nothing to record: no stream"};
  regular_.next_ns = session::Regular::never;
  regular_.begin = [this] {
    if (!options_.quiet) output_->message("recording " + condition_.what + " in memory; SIGUSR2 writes it: kill -USR2 " + std::to_string(::getpid()) + "\n");
  };
  regular_.tick = [this]() -> base::Result<bool> {
    write_file();
    ::malloc_trim(0); // a file takes several times its size to make, and the next one may be weeks away
    return true;
  };
  regular_.end = [this] { end(); };

  // Detached; what was triggered is written.
  ACU_CHECK(runner_->live(*output_, {&regular_}));
  const uint64_t triggers = count_triggers();
  if (!options_.quiet) output_->message(std::to_string(triggers) + (triggers == 1 ? " trigger, " : " triggers, ") + std::to_string(written_) + (written_ == 1 ? " file\n" : " files\n"));
  ACU_CHECK(output_->finish());
  const int status = session::end_of(runner_->child());
  return status ? status : failed_ ? 1 : 0;
}

} // namespace

base::Result<std::vector<std::string>> read_streams(std::string_view list) {
  std::vector<std::string> out;
  std::vector<std::string_view> names;
  for (const Stream& s : streams) names.push_back(s.name);
  for (std::string_view word : base::split(list, ',')) {
    if (base::is_one_of(names, word)) {
      out.emplace_back(word);
      continue;
    }
    std::string all;
    for (std::string_view name : names) all.append(all.empty() ? "" : ", ").append(name);
    return base::Error{base::Failure::usage, "no such stream: " + base::quoted(word) + "; there are " + all};
  }
  return out;
}

base::Result<int> record_flight(const Options& options) {
  Recorder recorder(options);
  return recorder.run();
}

} // namespace recorder
