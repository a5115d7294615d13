// What takes time: verbs of src/agent as child processes, started by a request and looked at by later ones.
#pragma once

#include "agent/call.h"
#include "agent/result.h"
#include "agent/temporary_folder.h"

#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace web {

enum class JobState : uint8_t { running, done, failed, cancelled };
std::string_view name_of(JobState state);

struct Job {
  uint64_t id = 0;
  const agent::Verb* verb = nullptr;
  agent::Plan plan;
  std::string client;
  JobState state = JobState::running;
  double started = 0; // seconds since 1970
  double seconds = 0; // that it has run
  std::string result; // JSON; empty: none
  std::string error;  // a sentence
  std::string profile; // of `flame`: a recording, as profile::write_recording has it
};

class Jobs {
public:
  using Background = std::function<void(std::function<void()>)>;
  using Ended = std::function<void(const Job&)>;
  // `background` runs what it is given on another thread, or drops it, while this is there. Results are read there, as a profile may have many megabytes; then `ended` is
  // called, with all but the profile.
  Jobs(agent::Settings settings, Background background, Ended ended) : settings_(std::move(settings)), background_(std::move(background)), ended_(std::move(ended)) {}
  ~Jobs();

  // Failure: usage, the arguments are wrong; otherwise too many run.
  base::Result<Job> start(const agent::Verb& verb, const agent::Arguments& arguments, const std::string& client);
  // Reads what children have written, and applies limits. A job whose child has ended still runs until its result is read.
  void advance();
  std::optional<Job> find(uint64_t id);
  std::vector<Job> all(); // the newest first, without results
  // false: there is none. One that has ended stays as it is.
  bool cancel(uint64_t id);
  void cancel_all();
  const agent::Settings& settings() const { return settings_; }

private:
  struct Running {
    Job job;
    std::optional<agent::Call> call;
    agent::TemporaryFolder folder; // of its output
  };
  // What is left of a job whose child has ended.
  struct Remains {
    uint64_t id = 0;
    const agent::Verb* verb = nullptr;
    agent::Plan plan;
    agent::Finished finished;
    agent::TemporaryFolder folder;
  };
  void take_result(Remains& remains);

  agent::Settings settings_;
  Background background_;
  Ended ended_;
  std::mutex mutex_;
  std::list<Running> jobs_; // the newest first
  uint64_t last_ = 0;
};

std::string job_json(const Job& job, bool with_result);

} // namespace web
