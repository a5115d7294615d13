// Attaching: the system calls, and what their failures mean. Raw tracepoints by BPF_RAW_TRACEPOINT_OPEN;
// tracepoint records and samples by perf_event_open and PERF_EVENT_IOC_SET_BPF. Descriptors own what is
// attached: nothing is left behind however acu ends. See bpf(2), perf_event_open(2).
#include "probe/attach.h"
#include "probe/kernel_refusal.h"
#include "probe/kinds.h"

#include "base/text.h"

#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

namespace probe {

base::Error refused(const Event& event, std::string_view what, int code) {
  std::string message = "cannot attach " + event.name + ": ";
  base::Failure kind = base::Failure::runtime;
  switch (code) {
  case EPERM:
  case EACCES:
    kind = base::Failure::permission;
    message = "cannot attach " + event.name + why_not_permitted();
    break;
  case ENOENT:
  case ENODEV:
    kind = base::Failure::nothing_matched;
    message += "the kernel has no such event";
    break;
  case EEXIST:
  case EBUSY:
    message += "something else is attached there and leaves no room; end the other tracer and try again";
    break;
  case E2BIG:
    message += "too many programs are attached to it (the kernel's limit is 64); end other tracers";
    break;
  case ENOSPC: message += "all of the processor's registers for it are taken; end other tracers and debuggers"; break;
  case EMFILE:
  case ENFILE: message += "too many open files; raise the limit with `ulimit -n`"; break;
  case EOPNOTSUPP:
  case 524: // ENOTSUPP, which has no name outside the kernel
    kind = base::Failure::unsupported;
    message += "the kernel does not support it; `acu info` shows what it can";
    break;
  case ESRCH: message += "the process is gone"; break;
  default: message += std::string(what) + " failed: " + strerror(code); break;
  }
  return {kind, std::move(message)};
}

namespace {

int open_perf(perf_event_attr& attr, int pid, int cpu) {
  return static_cast<int>(syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC));
}

base::Status start(const Event& event, int perf_fd, int program_fd) {
  if (ioctl(perf_fd, PERF_EVENT_IOC_SET_BPF, program_fd) != 0)
    return refused(event, "connecting the program", errno);
  if (ioctl(perf_fd, PERF_EVENT_IOC_ENABLE, 0) != 0) return refused(event, "starting the event", errno);
  return {};
}

} // namespace

std::vector<int> threads_of(int pid) {
  std::vector<int> out;
  DIR* dir = opendir(("/proc/" + std::to_string(pid) + "/task").c_str());
  if (!dir) return out;
  while (const dirent* entry = readdir(dir))
    if (auto tid = base::parse_integer(entry->d_name)) out.push_back(static_cast<int>(*tid));
  closedir(dir);
  return out;
}

base::Result<Attachment> attach_raw_tracepoint(const Event& event, std::string_view name, Context context,
                                               int program_fd) {
  std::string text(name);
  bpf_attr attr;
  std::memset(&attr, 0, sizeof attr);
  // A typed program carries the tracepoint itself; then there must be no name.
  if (context == Context::raw_tracepoint)
    attr.raw_tracepoint.name = reinterpret_cast<uintptr_t>(text.c_str());
  attr.raw_tracepoint.prog_fd = static_cast<uint32_t>(program_fd);
  int fd = static_cast<int>(syscall(SYS_bpf, BPF_RAW_TRACEPOINT_OPEN, &attr, sizeof attr));
  if (fd < 0) return refused(event, "opening the raw tracepoint " + text, errno);
  Attachment out;
  out.links.emplace_back(fd);
  return out;
}

base::Result<Attachment> attach_perf_tracepoint(const Event& event, uint32_t id, int program_fd) {
  perf_event_attr attr;
  std::memset(&attr, 0, sizeof attr);
  attr.type = PERF_TYPE_TRACEPOINT;
  attr.size = sizeof attr;
  attr.config = id;
  attr.sample_period = 1;
  attr.disabled = 1;
  // The program runs for hits on all CPUs, whichever CPU the event is opened on.
  base::Fd fd(open_perf(attr, -1, 0));
  if (!fd.valid()) return refused(event, "opening the event", errno);
  ACU_CHECK(start(event, fd.get(), program_fd));
  Attachment out;
  out.perf_events.push_back(std::move(fd));
  return out;
}

base::Result<Attachment> attach_sampling(const Event& event, const Sampling& sampling, int program_fd,
                                         const AttachOptions& options) {
  perf_event_attr attr;
  std::memset(&attr, 0, sizeof attr);
  attr.type = sampling.type;
  attr.size = sizeof attr;
  attr.config = sampling.config;
  attr.disabled = 1;
  attr.freq = sampling.frequency != 0;
  if (sampling.type == PERF_TYPE_BREAKPOINT) {
    attr.bp_type = sampling.mode;
    attr.bp_addr = sampling.address;
    attr.bp_len = sampling.bytes;
  }
  if (sampling.frequency)
    attr.sample_freq = sampling.frequency;
  else
    attr.sample_period = sampling.period;
  bool one_process = options.pid >= 0;
  attr.inherit = one_process;
  std::vector<int> places = one_process ? threads_of(options.pid) : options.cpus; // threads made later inherit it
  if (places.empty() && !one_process) places = online_cpus();
  Attachment out;
  for (int place : places) {
    base::Fd fd(one_process ? open_perf(attr, place, -1) : open_perf(attr, -1, place));
    if (!fd.valid() && one_process && errno == ESRCH) continue;   // the thread has ended
    if (!fd.valid() && !one_process && errno == ENODEV) continue; // the CPU was taken off
    if (!fd.valid() && errno == EINVAL && sampling.frequency)
      return base::Error{base::Failure::runtime, "cannot attach " + event.name + ": " +
                                                     std::to_string(sampling.frequency) +
                                                     " samples a second are more than the kernel allows; see "
                                                     "/proc/sys/kernel/perf_event_max_sample_rate"};
    if (!fd.valid()) return refused(event, "opening the event", errno);
    ACU_CHECK(start(event, fd.get(), program_fd));
    out.perf_events.push_back(std::move(fd));
  }
  if (out.perf_events.empty()) return refused(event, "opening the event", one_process ? ESRCH : ENODEV);
  return out;
}

void Attachment::disable() {
  links.clear();
  for (base::Fd& fd : perf_events) ioctl(fd.get(), PERF_EVENT_IOC_DISABLE, 0);
}

} // namespace probe
