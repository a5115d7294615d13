// Starting, limiting and ending the child of a call.
#include "agent/call.h"

#include "base/clock.h"
#include "base/text.h"
#include "bpf/syscall.h"
#include "policy/enforce.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <dirent.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace agent {

namespace {

constexpr uint64_t second = 1'000'000'000;
constexpr uint64_t longest_messages = 64 << 10;
constexpr uint64_t cost_period_ns = second / 2;
// How long a child has after SIGINT, and again after SIGTERM.
constexpr uint64_t grace_ns = 4 * second;

// The executable by its own name, so that it is called so in lists of processes; if another file has this name now, by the kernel's link.
std::string own_executable() {
  char path[4096];
  const ssize_t size = ::readlink("/proc/self/exe", path, sizeof path);
  struct stat by_name = {}, own = {};
  if (size <= 0 || static_cast<size_t>(size) == sizeof path) return "/proc/self/exe";
  const std::string name(path, static_cast<size_t>(size));
  const bool is_same = ::stat(name.c_str(), &by_name) == 0 && ::stat("/proc/self/exe", &own) == 0 && by_name.st_dev == own.st_dev && by_name.st_ino == own.st_ino;
  return is_same ? name : "/proc/self/exe";
}

// While it exists, this thread takes no signals. A child that got one before it has its own handlers would run those of this process, whose pipes it shares: a job
// that is cancelled as it starts would end the server.
class WithoutSignals {
public:
  WithoutSignals() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~WithoutSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

private:
  sigset_t before_;
};

// In the child, after fork: only what a signal handler may do.
[[noreturn]] void become(const char* path, char* const* words, int input, int output, int messages, pid_t parent, rlim_t cpu_seconds) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(1);
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  const rlimit no_core = {0, 0}, cpu = {cpu_seconds, cpu_seconds + 5};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::setrlimit(RLIMIT_CPU, &cpu);
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::dup2(input, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(messages, STDERR_FILENO);
  ::syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC); // Linux 5.11: sockets that are being opened are not marked yet
  ::execv(path, words);
  ::_exit(127);
}

uint64_t cpu_ns_of(pid_t pid) {
  clockid_t clock;
  return ::clock_getcpuclockid(pid, &clock) == 0 ? base::clock_ns(clock) : 0;
}

// CPU time of the programs that a process holds. The kernel counts it while somebody asks for it (BPF_ENABLE_STATS, 5.8).
uint64_t program_ns_of(pid_t pid) {
  constexpr int most = 512; // descriptors looked at
  const std::string folder = "/proc/" + std::to_string(pid) + "/fdinfo/";
  DIR* entries = ::opendir(folder.c_str());
  if (!entries) return 0;
  uint64_t total = 0;
  int seen = 0;
  while (const dirent* entry = ::readdir(entries)) {
    if (++seen > most) break;
    const auto text = base::read_file(folder + entry->d_name);
    if (entry->d_name[0] == '.' || !text.ok()) continue;
    constexpr std::string_view name = "\nrun_time_ns:";
    if (const size_t at = text->find(name); at != text->npos)
      total += base::parse_integer(base::trim(std::string_view(*text).substr(at + name.size(), text->find('\n', at + 1) - at - name.size()))).value_or(0);
  }
  ::closedir(entries);
  return total;
}

// What is readable now; false: the other end is closed.
template<class Take> bool read_pieces(const base::Fd& from, Take take) {
  char buffer[65536];
  for (;;) {
    const ssize_t n = ::read(from.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == EAGAIN;
    if (n == 0) return false;
    if (!take(std::string_view(buffer, static_cast<size_t>(n)))) return true;
  }
}

} // namespace

std::string_view name_of(Outcome outcome) {
  constexpr std::string_view names[] = {"complete", "failed", "time limit", "output limit", "cost limit", "cancelled"};
  return names[static_cast<size_t>(outcome)];
}

base::Result<Call> Call::start(const Plan& plan) {
  Call out(plan);
  int output[2], messages[2];
  if (::pipe2(output, O_CLOEXEC) != 0) return base::errno_error("cannot start acu", errno);
  out.output_ = base::Fd(output[0]);
  const base::Fd output_end(output[1]);
  if (::pipe2(messages, O_CLOEXEC) != 0) return base::errno_error("cannot start acu", errno);
  out.messages_ = base::Fd(messages[0]);
  const base::Fd messages_end(messages[1]), nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!nothing.valid()) return base::errno_error("cannot open /dev/null", errno);
  for (int fd : {output[0], messages[0]}) ::fcntl(fd, F_SETFL, O_NONBLOCK);
  if (plan.max_cost > 0) out.run_times_ = bpf::measure_run_times(); // not permitted for everyone: then their cost is 0
  const std::string path = own_executable();
  std::vector<std::string> texts = {"acu"};
  if (const std::string& file = policy::given_file(); !file.empty()) texts.insert(texts.end(), {"--policy", file});
  texts.insert(texts.end(), plan.words.begin(), plan.words.end());
  std::vector<char*> words;
  for (std::string& text : texts) words.push_back(text.data());
  words.push_back(nullptr);
  const pid_t parent = ::getpid();
  const auto cpu_seconds = static_cast<rlim_t>(std::ceil(plan.limit_seconds)) * 2 + 10;
  out.started_ns_ = out.looked_ns_ = base::clock_ns();
  const WithoutSignals until_it_has_its_own;
  out.pid_ = ::fork();
  if (out.pid_ < 0) return base::errno_error("cannot start acu", errno);
  if (out.pid_ == 0) become(path.c_str(), words.data(), nothing.get(), output_end.get(), messages_end.get(), parent, cpu_seconds);
  ::setpgid(out.pid_, out.pid_); // whoever comes first
  return out;
}

Call::Call(Call&& o) noexcept
    : plan_(std::move(o.plan_)), pid_(std::exchange(o.pid_, -1)), output_(std::move(o.output_)), messages_(std::move(o.messages_)), run_times_(std::move(o.run_times_)), result_(std::move(o.result_)),
      started_ns_(o.started_ns_), attached_ns_(o.attached_ns_), cpu_at_attach_ns_(o.cpu_at_attach_ns_), stopped_ns_(o.stopped_ns_), looked_ns_(o.looked_ns_), signals_(o.signals_),
      messages_given_(o.messages_given_), has_ended_(o.has_ended_), is_stopped_early_(o.is_stopped_early_) {}

Call::~Call() {
  if (pid_ <= 0 || has_ended_) return;
  send(SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void Call::send(int signal) const { ::kill(-pid_, signal); }

void Call::stop(Outcome why, uint64_t now_ns) {
  if (has_ended_) return;
  if (!is_stopped_early_ && why != Outcome::complete) result_.outcome = why, is_stopped_early_ = true;
  if (stopped_ns_) return;
  stopped_ns_ = now_ns;
  signals_ = 1;
  send(SIGINT);
}

void Call::read_output() {
  const bool is_open = read_pieces(output_, [&](std::string_view piece) {
    const uint64_t room = plan_.max_output - std::min<uint64_t>(plan_.max_output, result_.output.size());
    if (piece.size() > room) result_.truncated = true;
    result_.output += piece.substr(0, room);
    return !result_.truncated;
  });
  if (!is_open) output_.reset();
}

void Call::read_messages() {
  const bool is_open = read_pieces(messages_, [&](std::string_view piece) {
    const uint64_t room = longest_messages - std::min<uint64_t>(longest_messages, result_.messages.size());
    result_.messages += piece.substr(0, room);
    return true;
  });
  if (!is_open) messages_.reset();
}

void Call::measure_cost(uint64_t now_ns) {
  if (now_ns - looked_ns_ < cost_period_ns || !plan_.max_cost) return;
  looked_ns_ = now_ns;
  if (run_times_.valid()) result_.probes_ns = std::max(result_.probes_ns, program_ns_of(pid_));
  if (!plan_.enforces_cost || !attached_ns_ || stopped_ns_ || now_ns - attached_ns_ < second) return;
  const uint64_t spent = result_.probes_ns + cpu_ns_of(pid_) - cpu_at_attach_ns_;
  if (static_cast<double>(spent) * 100 > plan_.max_cost * static_cast<double>(now_ns - attached_ns_)) stop(Outcome::cost_limit, now_ns);
}

bool Call::has_run_out(uint64_t now_ns) const { return static_cast<double>(now_ns - started_ns_) >= plan_.limit_seconds * 1e9; }

void Call::reap(uint64_t now_ns) {
  int status = 0;
  rusage usage = {};
  if (::wait4(pid_, &status, WNOHANG, &usage) != pid_) return;
  has_ended_ = true;
  if (output_.valid() && !result_.truncated) read_output();
  if (messages_.valid()) read_messages();
  output_.reset(), messages_.reset();
  result_.wall_ns = now_ns - started_ns_;
  const auto ns = [](const timeval& t) { return static_cast<uint64_t>(t.tv_sec) * second + static_cast<uint64_t>(t.tv_usec) * 1000; };
  result_.cpu_ns = ns(usage.ru_utime) + ns(usage.ru_stime);
  result_.exit_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  const bool is_answer = result_.exit_status == 0 || (plan_.status_is_answer && result_.exit_status == 2);
  if (result_.outcome == Outcome::complete && !is_answer) result_.outcome = Outcome::failed;
}

void Call::advance(uint64_t now_ns) {
  if (has_ended_) return;
  if (output_.valid()) {
    // What follows a full result is discarded, so that the child can end.
    if (result_.truncated) {
      if (!read_pieces(output_, [](std::string_view) { return true; })) output_.reset();
    } else {
      read_output();
    }
  }
  if (messages_.valid()) read_messages();
  if (result_.truncated) stop(Outcome::output_limit, now_ns);
  if (!attached_ns_ && plan_.seconds > 0 && result_.output.find("\"attached_probes\"") != std::string::npos) attached_ns_ = now_ns, cpu_at_attach_ns_ = cpu_ns_of(pid_);
  const bool is_done = attached_ns_ && static_cast<double>(now_ns - attached_ns_) >= plan_.seconds * 1e9;
  if ((is_done || has_run_out(now_ns)) && !stopped_ns_ && run_times_.valid()) result_.probes_ns = std::max(result_.probes_ns, program_ns_of(pid_));
  if (is_done) stop(Outcome::complete, now_ns);
  if (has_run_out(now_ns)) stop(Outcome::time_limit, now_ns);
  measure_cost(now_ns);
  if (stopped_ns_ && signals_ < 3 && now_ns - stopped_ns_ >= grace_ns * static_cast<uint64_t>(signals_)) send(signals_++ == 1 ? SIGTERM : SIGKILL);
  reap(now_ns);
}

std::string Call::new_messages() {
  const std::string& all = result_.messages;
  const size_t end = has_ended_ ? all.size() : all.rfind('\n') + 1; // npos + 1: there is no line yet
  if (end <= messages_given_) return {};
  const size_t begin = std::exchange(messages_given_, end);
  return all.substr(begin, end - begin);
}

Finished Call::take() { return std::move(result_); }

base::Result<Finished> run_to_end(const Plan& plan) {
  ACU_TRY(Call call, Call::start(plan));
  while (!call.has_ended()) {
    pollfd waited[] = {{call.output(), POLLIN, 0}, {call.messages(), POLLIN, 0}};
    ::poll(waited, 2, call.output() < 0 && call.messages() < 0 ? 2 : 50);
    call.advance(base::clock_ns());
  }
  return call.take();
}

} // namespace agent
