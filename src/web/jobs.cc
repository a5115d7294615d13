// Results of the last jobs are kept in memory: what is worth keeping is downloaded.
#include "web/jobs.h"

#include "base/clock.h"
#include "base/print.h"
#include "base/text.h"
#include "profile/formats.h"
#include "report/json_object.h"

#include <algorithm>
#include <memory>

namespace web {

namespace {

constexpr size_t most_running = 4, most_kept = 50;
constexpr size_t largest_profile = 32 << 20;

double now() { return static_cast<double>(base::clock_ns(CLOCK_REALTIME)) / 1e9; }

} // namespace

std::string_view name_of(JobState state) {
  constexpr std::string_view names[] = {"running", "done", "failed", "cancelled"};
  return names[static_cast<size_t>(state)];
}

Jobs::~Jobs() {
  for (Running& r : jobs_) r.call.reset(); // it writes nothing any more, and its folder can go
}

base::Result<Job> Jobs::start(const agent::Verb& verb, const agent::Arguments& arguments, const std::string& client) {
  const std::lock_guard lock(mutex_);
  if (std::ranges::count_if(jobs_, [](const Running& r) { return r.job.state == JobState::running; }) >= static_cast<long>(most_running))
    return base::Error{base::Failure::runtime, std::to_string(most_running) + " jobs are running, which is the limit\nhint: wait for one to end, or cancel it"};
  Running running;
  ACU_TRY(running.job.plan, agent::plan(verb, arguments, settings_));
  agent::Plan& plan = running.job.plan;
  if (plan.form == agent::Form::tree) {
    ACU_CHECK(running.folder.make("profile.acu"));
    plan.words.push_back("--output=" + running.folder.file());
  }
  auto call = agent::Call::start(plan);
  if (!call.ok()) return std::move(call.error());
  running.call.emplace(std::move(*call));
  running.job.id = ++last_;
  running.job.verb = &verb;
  running.job.client = client;
  running.job.started = now();
  jobs_.push_front(std::move(running));
  while (jobs_.size() > most_kept && jobs_.back().job.state != JobState::running) jobs_.pop_back();
  return jobs_.front().job;
}

void Jobs::take_result(Remains& remains) {
  agent::Finished& finished = remains.finished;
  std::string bytes;
  if (remains.folder.is_there()) {
    finished.messages = finished.output + finished.messages;
    finished.output.clear();
    const base::AsResultOwner as_owner; // who could have put another file there
    if (auto profile = profile::read_profile(remains.folder.file()); profile.ok()) {
      finished.output = profile::write_folded(*profile);
      bytes = profile::write_recording(*profile);
      if (bytes.size() > largest_profile) bytes.clear();
    }
    remains.folder.remove();
  }
  agent::Answer answer = agent::answer(*remains.verb, remains.plan, finished);
  std::string error;
  if (finished.outcome == agent::Outcome::failed) {
    const std::string_view messages = base::trim(finished.messages);
    const std::string_view last = messages.substr(messages.rfind('\n') + 1);
    const size_t mark = messages.find("ERROR: ");
    const std::string_view found = mark == messages.npos ? last : messages.substr(mark + 7, messages.find('\n', mark) - mark - 7);
    error = found.empty() ? "acu ended with status " + std::to_string(finished.exit_status) : base::printable(found);
  }
  Job over;
  {
    const std::lock_guard lock(mutex_);
    Job& job = std::ranges::find(jobs_, remains.id, [](const Running& r) { return r.job.id; })->job; // it is kept while it runs
    job.result = std::move(answer.json), job.error = std::move(error);
    job.state = finished.outcome == agent::Outcome::failed ? JobState::failed : finished.outcome == agent::Outcome::cancelled ? JobState::cancelled : JobState::done;
    over = job;
    job.profile = std::move(bytes);
  }
  ended_(over);
}

void Jobs::advance() {
  const std::lock_guard lock(mutex_);
  for (Running& r : jobs_) {
    if (!r.call) continue;
    r.call->advance(base::clock_ns());
    r.job.seconds = now() - r.job.started;
    if (!r.call->has_ended()) continue;
    const auto remains = std::make_shared<Remains>(r.job.id, r.job.verb, r.job.plan, r.call->take(), std::move(r.folder));
    r.call.reset();
    background_([this, remains] { take_result(*remains); });
  }
}

std::optional<Job> Jobs::find(uint64_t id) {
  const std::lock_guard lock(mutex_);
  for (const Running& r : jobs_)
    if (r.job.id == id) return r.job;
  return std::nullopt;
}

std::vector<Job> Jobs::all() {
  const std::lock_guard lock(mutex_);
  std::vector<Job> out;
  for (const Running& r : jobs_) {
    Job& job = out.emplace_back(); // results and profiles may have megabytes each
    job.id = r.job.id, job.verb = r.job.verb, job.plan = r.job.plan, job.client = r.job.client, job.state = r.job.state;
    job.started = r.job.started, job.seconds = r.job.seconds, job.error = r.job.error;
  }
  return out;
}

bool Jobs::cancel(uint64_t id) {
  const std::lock_guard lock(mutex_);
  for (Running& r : jobs_) {
    if (r.job.id != id) continue;
    if (r.call) r.call->cancel(base::clock_ns());
    return true;
  }
  return false;
}

void Jobs::cancel_all() {
  const std::lock_guard lock(mutex_);
  for (Running& r : jobs_)
    if (r.call) r.call->cancel(base::clock_ns());
}

std::string job_json(const Job& job, bool with_result) {
  report::JsonObject out;
  out.add("id", job.id).add("verb", job.verb->name).add("command", agent::command_line(job.plan)).add("client", job.client).add("state", name_of(job.state));
  out.raw("started", base::print("%.3f", job.started)).raw("seconds", base::print("%.2f", job.seconds)).raw("expected_seconds", base::print("%g", job.plan.expected_seconds));
  out.raw("has_page", job.profile.empty() ? "false" : "true");
  if (with_result) out.raw("result", job.result.empty() ? "null" : job.result);
  if (job.error.empty())
    out.raw("error", "null");
  else
    out.add("error", job.error);
  return out.end();
}

} // namespace web
