// `acu snap -p PID [SCRIPT]`: the memory of a live process, as a summary or as what a script asks.
//
// A script is first run over memory as it is, to learn which pieces it reads; then the process is stopped for
// as long as it takes to copy these. If the copy turns out to lack pieces (the process has changed
// meanwhile), this is done again. Frames of a language may be elsewhere each time: then they are walked while
// the process is stopped.
#include "base/counted.h"
#include "base/text.h"
#include "heap/report.h"
#include "probe/stopped_program.h"
#include "profile/formats.h"
#include "session/arguments.h"
#include "session/run.h"
#include "snapshot/profile.h"
#include "snapshot/summary.h"
#include "snapshot/tasks.h"
#include "symbol/containers.h"
#include "target/live_target.h"
#include "tool/file_note.h"
#include "tool/snapshot_arguments.h"
#include "tool/tool.h"

#include <algorithm>
#include <chrono>
#include <climits>
#include <optional>
#include <thread>

namespace tool {

namespace {

using spec::OptionId;

constexpr int max_rounds = 6, max_tries = 5;
constexpr auto before_next_try = std::chrono::milliseconds(20); // times the tries so far

struct Request {
  runtime::Show languages = runtime::Show::folded;
  pid_t pid = 0;
  uint64_t most_ns = 10'000'000;
  bool stops = true;
  bool json = false;
  bool shows_tasks = false;
  size_t most_frames = 100;
  std::string flame;             // file to write; empty: none
  std::vector<std::string> heap; // heap, leaks, refs ADDR, find TEXT; empty: none
  target::Search search;
};

base::Result<Request> read_request(const session::Arguments& arguments) {
  auto usage = [](std::string message) { return base::Error{base::Failure::usage, std::move(message)}; };
  Request out;
  const std::string* pid = arguments.value(OptionId::pid);
  const std::string* container = arguments.value(OptionId::container);
  if (pid && container) return usage("`-p` and `--container` cannot be combined");
  if (!pid && !container) return usage("no process: `acu snap -p PID [SCRIPT]` (see `acu help snap`)");
  if (pid) {
    ACU_TRY(out.pid, session::read_pid("-p", *pid));
  } else {
    ACU_TRY(const symbol::Container found, symbol::Containers().find(*container));
    const std::optional<pid_t> main = symbol::main_process(symbol::processes_of_group(found.folder));
    if (!main) return base::Error{base::Failure::nothing_matched, "container " + found.title() + " has no process"};
    out.pid = *main;
  }
  if (const std::string* text = arguments.value(OptionId::max_pause)) {
    // Elsewhere a number alone is in seconds, which stops a process for longer than may be meant.
    if (base::parse_integer(*text)) return usage("`--max-pause` takes a time with its unit, such as 10ms, not `" + *text + "`");
    ACU_TRY(out.most_ns, session::read_time("--max-pause", *text, 1'000));
  }
  out.stops = !arguments.has(OptionId::no_stop);
  out.json = arguments.has(OptionId::json);
  out.shows_tasks = arguments.has(OptionId::async);
  if (const std::string* text = arguments.value(OptionId::frames)) {
    ACU_TRY(out.most_frames, session::read_count("--frames", *text, 1'000'000));
  }
  if (const std::string* flame = arguments.value(OptionId::flame)) {
    ACU_CHECK(profile::format_of_output(*flame));
    out.flame = *flame;
  }
  out.languages = runtime::show_of(arguments.text(OptionId::lang));
  bool is_heap = !arguments.words.empty() && heap::is_heap_question(arguments.words[0]);
  if (is_heap && !arguments.has(OptionId::execute)) out.heap = arguments.words;
  out.search = search_of(arguments);
  return out;
}

class Snap {
public:
  Snap(const Request& request, target::LiveTarget& target, const session::Options* script)
      : request_(request), target_(target), script_(script) {}

  int run() {
    if (!request_.heap.empty()) target_.want_writable();
    if (!request_.stops) {
      if (!request_.heap.empty()) target_.read_writable();
      return use(Use::told);
    }
    if (int status = freeze()) return status;
    // What a wrong script asks is told now, and once.
    target_.thaw();
    if (int status = use(Use::learning)) return status;
    for (int round = 0; round < max_rounds; round++) {
      if (int status = freeze()) return status;
      use(Use::trying);
      if (!target_.lacks_pieces()) break;
      target_.thaw();
      use(Use::trying);
      if (asked_.language) prepare_look();
    }
    int status = use(Use::told);
    char text[160];
    std::snprintf(text, sizeof text,
                  "process %d was stopped %s, for at most %.2f ms (%.1f MiB copied)\n", request_.pid,
                  base::counted(static_cast<uint64_t>(stops_), "time").c_str(), static_cast<double>(longest_ns_) / 1e6,
                  static_cast<double>(target_.copied_bytes()) / (1 << 20));
    complain(text);
    return status;
  }

private:
  enum class Use : uint8_t { learning, trying, told };

  int freeze() {
    // On a machine that is busy a stop may take long for want of a CPU: another try may not, after others have had theirs.
    for (int tried = 1;; tried++) {
      auto frozen = target_.freeze(request_.most_ns, look_);
      stops_++;
      if (frozen.ok()) break;
      if (frozen.error().kind != base::Failure::runtime || tried == max_tries) return fail(frozen.error());
      std::this_thread::sleep_for(tried * before_next_try);
    }
    longest_ns_ = std::max(longest_ns_, target_.pause_ns());
    return 0;
  }

  // Reads what walks need of files before the process is stopped.
  void prepare_look() {
    if (look_) return;
    looking_.emplace(target_);
    look_ = [this](const target::LiveTarget::HasTime& has_time) { looking_->walk_again(asked_, has_time); };
    look_([] { return true; });
  }

  int use(Use how) {
    target::Stacks stacks(target_);
    const int status = use(how, stacks);
    asked_ = stacks.asked();
    return status;
  }

  int use(Use how, target::Stacks& stacks) {
    stacks.set_show(request_.languages);
    probe::StoppedProgram stopped(target_, stacks);
    if (!request_.heap.empty() && !request_.flame.empty() && how == Use::told) {
      auto written = heap::write_holders(target_, stacks, request_.heap, request_.flame);
      return written.ok() ? 0 : fail(written.error());
    }
    if (!request_.heap.empty()) {
      auto answer = heap::answer_heap(target_, stacks, request_.heap, request_.json);
      if (!answer.ok()) return how == Use::trying ? 0 : fail(answer.error());
      if (how == Use::told) say(*answer);
      return 0;
    }
    if (!request_.flame.empty()) {
      if (how != Use::told) {
        snapshot::profile_of_stacks(stopped);
        return 0;
      }
      auto written = snapshot::write_stacks(stopped, request_.flame);
      return written.ok() ? 0 : fail(written.error());
    }
    if (request_.shows_tasks) {
      auto text = snapshot::describe_tasks(stopped, request_.json);
      if (!text.ok()) return how == Use::trying ? 0 : fail(text.error());
      if (how == Use::told) say(*text);
      return 0;
    }
    if (!script_) {
      std::string text = snapshot::summarize(stopped, {.json = request_.json, .most_frames = request_.most_frames});
      if (how == Use::told) say(text);
      return 0;
    }
    session::Options options = *script_;
    options.stopped = &stopped;
    options.is_trial = how != Use::told;
    if (options.is_trial) options.warnings = false;
    return session::run(options);
  }

  const Request& request_;
  target::LiveTarget& target_;
  const session::Options* script_;
  std::optional<target::Stacks> looking_; // for look_
  target::LiveTarget::Look look_;         // while the process is stopped; empty: it is not needed yet
  target::Stacks::Asked asked_;           // of what a language has
  int stops_ = 0;
  uint64_t longest_ns_ = 0;
};

} // namespace

int snap(Words words) { return snap(words, {}); }

static int run_snap(const session::Arguments& arguments, const session::ReadyTool& tool) {
  auto request = read_request(arguments);
  if (!request.ok()) return fail(request.error());
  if (request->shows_tasks && (!arguments.words.empty() || arguments.has(OptionId::execute) || !request->flame.empty()))
    return refuse("--async shows the tasks of the process: it takes no script and no --flame");
  auto target = target::open_live(request->pid, request->search);
  if (!target.ok()) return fail(target.error());
  const bool is_script = request->heap.empty() && request->flame.empty() && (!arguments.words.empty() || arguments.has(OptionId::execute));
  if (!is_script && request->flame.empty())
    if (const base::Status opened = open_output(arguments); !opened.ok()) return fail(opened.error());
  if (!is_script) return Snap(*request, **target, nullptr).run();
  auto options = session::read_options(arguments);
  if (!options.ok()) return refuse(options.error().message);
  session::be_tool(*options, tool);
  options->container.clear();
  options->pid = -1; // nothing of the kernel's is attached
  options->engine = session::EngineKind::eval;
  options->json |= request->json;
  return Snap(*request, **target, &*options).run();
}

int snap(Words words, const session::ReadyTool& tool) {
  const int status = run_command("snap", words, [&](const session::Arguments& arguments) { return run_snap(arguments, tool); });
  note_unopened_files();
  return status;
}

} // namespace tool
