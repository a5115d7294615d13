#include "recorder/recorder.h"

#include "base/clock.h"
#include "base/output_file.h"
#include "base/text.h"
#include "format/tracefs.h"
#include "recorder/dump_requests.h"
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
  if (action.is_users) return true;
  return action.kind == ir::ActionKind::print_value && action.payload && !is_trigger(*action.payload->fields().front().type);
}

// A word of the language and a colon begin a probe; all else is a condition.
bool is_probe(std::string_view trigger) {
  const std::string_view text = base::trim(trigger);
  const size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_*");
  return end != 0 && end != text.npos && text[end] == ':';
}

// Failure: a stream needs a tracepoint that this kernel does not have.
base::Status check_streams(const std::vector<std::string>& names) {
  for (const Stream& s : streams) {
    if (s.needs.empty() || std::ranges::find(names, s.name) == names.end()) continue;
    ACU_TRY(format::Tracefs tracefs, format::Tracefs::open());
    const size_t colon = s.needs.find(':');
    if (tracefs.has(s.needs.substr(0, colon), s.needs.substr(colon + 1))) continue;
    utsname system = {};
    ::uname(&system);
    return base::Error{base::Failure::unsupported, "stream `" + std::string(s.name) + "` needs the tracepoint " + std::string(s.needs) + ", available from Linux " +
                                                       std::string(s.since) + "; this is " + system.release};
  }
  return {};
}

class Recorder {
public:
  explicit Recorder(const Options& options) : options_(options), files_(options.output, options.files, options.files_bytes) {}
  base::Result<int> run();

private:
  base::Result<session::BuiltinScript> make_script();
  void add_triggers(session::BuiltinScript& script) const;
  void set_regulars();
  void look();
  void set_pending(Trigger trigger, uint64_t after_ns);
  void hold(const ir::Action& action, std::span<const std::byte> payload);
  void take(const type::Type& type, std::span<const std::byte> bytes);
  void end();
  void write_file();
  base::Status write(const std::string& path, FlightEvents& events, const recording::About& about, base::Existing existing);
  recording::About about(const FlightEvents& events);
  uint64_t count_triggers();
  base::Result<std::string> save(FlightEvents& events, std::string& problem);
  void report(const std::string& path, const Trigger& trigger, const FlightEvents& events);

  const Options& options_;
  FlightFiles files_;
  session::Condition condition_;
  std::optional<session::Runner> runner_;
  std::unique_ptr<session::Output> output_;
  session::Regular regular_, looks_, asks_; // writes a pending file; looks at what no probe sees; takes requests of `acu dump`
  session::Regular stacks_;                 // forgets those of events that no file will have
  FlightWatch watch_;
  DumpRequests requests_;
  HeldLines held_; // of the user's script, the oldest first
  uint64_t held_bytes_ = 0, forgotten_ = 0;
  uint64_t own_triggers_ = 0; // that no probe has counted
  std::optional<Trigger> pending_; // its file is not written yet
  uint64_t quiet_until_ns_ = 0;    // triggers are only counted
  uint64_t written_ = 0;
  bool failed_ = false; // a file could not be written where it should be
};

// What a user wrote stays apart from the script: it is put at places of it.
void Recorder::add_triggers(session::BuiltinScript& script) const {
  std::string probes;
  for (size_t i = 0; i < options_.triggers.size(); i++) {
    const std::string number = std::to_string(i + 1), name = "when_" + number, body = " { TRIGGER(" + number + ") }\n";
    if (is_probe(options_.triggers[i])) {
      probes += name + " = interval:s:3600" + body;
      script.set_users_places(name, options_.triggers[i], "--when");
    } else {
      probes += "macro " + name + "() { true }\ninterval:s:1 /" + name + "()/" + body;
      script.set_users_expression(name, options_.triggers[i], "--when");
    }
  }
  script.set_import("flight_triggers.bt", probes);
}

base::Result<session::BuiltinScript> Recorder::make_script() {
  ACU_CHECK(check_streams(options_.streams));
  ACU_TRY(condition_, session::condition_of(options_.filter));
  session::BuiltinScript script("flight");
  for (const Stream& s : streams) script.set(s.parameter, std::ranges::find(options_.streams, s.name) != options_.streams.end());
  const bool has_script = options_.script.has_value();
  script.set_users_script("flight_user.bt", has_script ? std::string(options_.script->text()) : std::string(), has_script ? options_.script->name() : "script");
  add_triggers(script);
  script.set_whose(condition_, options_.filter, options_.duration_ns);
  script.set_scheduler();
  if (!options_.filter.expression.empty()) script.set_users_expression("chosen", options_.filter.expression, "--filter");
  script.set("NOTES_COUNTED", condition_.of_task.empty());
  script.set_expression("is_ours", condition_.of_task.empty() ? "has_key(@counted, (uint32)$task.pid)" : condition_.of_task);
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
  trigger.what = number && number <= options_.triggers.size() ? options_.triggers[number - 1] : "signal SIGUSR2";
  if (trigger.time >= quiet_until_ns_) set_pending(std::move(trigger), options_.after_ns);
}

// One that comes while a file is pending is part of that.
void Recorder::set_pending(Trigger trigger, uint64_t after_ns) {
  if (pending_) return;
  pending_ = std::move(trigger);
  regular_.next_ns = pending_->time + after_ns;
}

// `speculate` holds lines back until they are wanted; so few are that they may come by the ordinary ring. As the rings do, this keeps the newest.
void Recorder::hold(const ir::Action& action, std::span<const std::byte> payload) {
  constexpr uint64_t most_bytes = 8 << 20;
  held_.push_back({.action = &action, .payload = {payload.begin(), payload.end()}});
  for (held_bytes_ += payload.size(); held_bytes_ > most_bytes && held_.size() > 1; held_.pop_front(), forgotten_++) held_bytes_ -= held_.front().payload.size();
}

// Once a second.
void Recorder::look() {
  const uint64_t now = base::clock_ns();
  std::vector<int> pids = options_.filter.pids;
  if (runner_->child()) pids.push_back(runner_->child()->pid());
  const std::string found = watch_.look(now, pids);
  looks_.next_ns = now + 1'000'000'000;
  if (found.empty()) return;
  own_triggers_++;
  if (now >= quiet_until_ns_) set_pending({.time = now, .what = found}, options_.after_ns);
}

// The session ends: what was triggered is written as far as it is known, and so is what a crash of the command left.
void Recorder::end() {
  runner_->drain();
  const std::optional<int> number = runner_->child() ? runner_->child()->signal() : std::nullopt;
  if (!pending_ && number) pending_ = Trigger{.time = base::clock_ns(), .what = "the command was ended by signal " + std::to_string(*number)};
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

base::Status Recorder::write(const std::string& path, FlightEvents& events, const recording::About& about, base::Existing existing) {
  ACU_TRY(recording::Writer writer, recording::Writer::create(path, about));
  for (const recording::EventKind& kind : events.kinds()) writer.add_kind(kind);
  for (const recording::Batch& batch : events.batches()) ACU_CHECK(writer.add(batch, events.names()));
  return writer.finish(about, events.counts(), existing);
}

// Where it should be, or elsewhere if there is no room; the path. `problem` is for the user. Failure: there is no room anywhere.
base::Result<std::string> Recorder::save(FlightEvents& events, std::string& problem) {
  const recording::About what = about(events);
  std::string path;
  base::Status status;
  do {
    path = files_.next();
    status = write(path, events, what, base::Existing::keep);
  } while (!status.ok() && !files_.is_free(path)); // another recorder took the name meanwhile
  if (status.ok()) {
    files_.add(path);
    return path;
  }
  failed_ = true;
  problem = "acu flight: " + status.error().message;
  for (size_t next = 0; !(path = base::make_elsewhere(next, options_.output)).empty();) {
    if (write(path, events, what, base::Existing::replace).ok()) {
      files_.add(path);
      problem += "\nhint: the recording is in " + path;
      return path;
    }
    const base::AsResultOwner as_owner;
    ::unlink(path.c_str());
  }
  problem += "; there is no room in other places either: this recording is lost";
  return base::Error{base::Failure::runtime, problem};
}

// When it says that a file is there, the next trigger counts as one after it.
void Recorder::write_file() {
  runner_->drain(); // stacks were sent
  FlightEvents events(*runner_, pending_->time - std::min(pending_->time, options_.before_ns));
  const std::vector<bpf::FlightCount> counts = runner_->backend().flight()->read([&](const bpf::FlightRecord& r) { events.take(r); });
  runner_->drain(); // … until now
  events.take(held_, forgotten_);
  events.add_mark(pending_->time, pending_->thread, pending_->what);
  events.finish(counts);
  std::string problem;
  const auto path = save(events, problem);
  const Trigger trigger = std::move(*pending_);
  pending_.reset();
  written_ += path.ok();
  regular_.next_ns = session::Regular::never;
  quiet_until_ns_ = base::clock_ns() + options_.cool_down_ns;
  if (!problem.empty()) output_->message(problem + "\n");
  else if (!options_.quiet) report(*path, trigger, events);
  requests_.answer(path.ok() ? *path : "", problem);
}

void Recorder::report(const std::string& path, const Trigger& trigger, const FlightEvents& events) {
  recording::Count sum;
  for (const recording::Count& c : events.counts()) sum.sent += c.sent, sum.kept += c.kept, sum.overwritten += c.overwritten, sum.lost += c.lost;
  const uint64_t first = std::min(events.first_ns(), trigger.time);
  output_->message("wrote " + path + ": " + trigger.what + "; events " + std::to_string(sum.kept) + ", from " + base::short_time(trigger.time - first) +
                   " before; sent " + std::to_string(sum.sent) + ", overwritten " + std::to_string(sum.overwritten) + ", lost " + std::to_string(sum.lost) + "\n");
}

// Also those that came too soon to be sent.
uint64_t Recorder::count_triggers() {
  auto entries = runner_->read(triggers_map);
  uint64_t sum = 0;
  if (entries.ok() && !entries->empty() && entries->front().values.size() >= sizeof sum) std::memcpy(&sum, entries->front().values.data(), sizeof sum);
  return sum + own_triggers_;
}

void Recorder::set_regulars() {
  regular_.next_ns = asks_.next_ns = session::Regular::never;
  looks_.next_ns = watch_.is_empty() ? session::Regular::never : 0;
  regular_.begin = [this] {
    if (!options_.quiet) output_->message("recording " + condition_.what + " in memory; to write it: acu dump " + std::to_string(::getpid()) + "\n");
  };
  regular_.tick = [this]() -> base::Result<bool> {
    write_file();
    ::malloc_trim(0); // a file takes several times its size to make, and the next one may be weeks away
    return true;
  };
  regular_.end = [this] { end(); };
  looks_.tick = [this]() -> base::Result<bool> {
    look();
    return true;
  };
  // Stacks of the last generation but one are of events before the ones that a file can have.
  constexpr uint64_t shortest_ns = 30'000'000'000;
  const uint64_t generation_ns = std::max(shortest_ns, options_.before_ns + options_.after_ns);
  stacks_.next_ns = base::clock_ns() + generation_ns;
  stacks_.tick = [this, generation_ns]() -> base::Result<bool> {
    if (auto status = runner_->backend().begin_stacks(); !status.ok()) output_->message("acu flight: old stacks stay in memory: " + status.error().message + "\n");
    stacks_.next_ns = base::clock_ns() + generation_ns;
    return true;
  };
  asks_.fd = requests_.fd();
  // Whoever asks wants to see what there is now, also soon after another file.
  asks_.input = [this] {
    if (!requests_.take()) return true;
    own_triggers_++;
    set_pending({.time = base::clock_ns(), .what = "acu dump"}, 0);
    regular_.next_ns = base::clock_ns(); // also of a file that would wait for `--after`
    return true;
  };
}

base::Result<int> Recorder::run() {
  ACU_CHECK(base::check_output(options_.output));
  ACU_TRY(watch_, FlightWatch::create(options_.pressures, options_.memory_limit));
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
                                       .overwrites = overwrites,
                                       .take_users = [this](const ir::Action& action, std::span<const std::byte> payload) { hold(action, payload); }},
                  [this](const type::Type& type, std::span<const std::byte> bytes) { take(type, bytes); });
  ACU_CHECK(runner_->compile());
  ACU_CHECK(runner_->load(run));
  if (!runner_->backend().flight()) return base::Error{base::Failure::usage, "nothing to record: no stream"};
  if (auto status = requests_.listen(); !status.ok()) output_->message("acu flight: " + status.error().message + "\n");
  set_regulars();

  // Detached; what was triggered is written.
  ACU_CHECK(runner_->live(*output_, {&regular_, &looks_, &asks_, &stacks_}));
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
