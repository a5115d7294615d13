#include "probe/trace_definitions.h"

#include "base/privilege.h"
#include "base/text.h"

#include <cerrno>
#include <fcntl.h>
#include <linux/bpf.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace probe {

static constexpr std::string_view group_start = "acu_";

// The process by its number and when it began: numbers come again.
static std::string identity_of(int pid) {
  auto text = base::read_file("/proc/" + std::to_string(pid) + "/stat");
  if (!text.ok()) return {};
  size_t name_end = text->rfind(')'); // a name may hold anything
  if (name_end == text->npos) return {};
  auto fields = base::split(std::string_view(*text).substr(name_end + 1), ' ');
  constexpr size_t start_time = 20; // of those behind the name, the first being empty
  if (fields.size() <= start_time) return {};
  return std::to_string(pid) + "_" + std::string(fields[start_time]);
}

static std::string find_root(std::string_view name) {
  for (const char* root : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"})
    if (base::is_accessible((std::string(root) + "/" + std::string(name)).c_str(), W_OK)) return root;
  return {};
}

// 0, or an errno.
static int write_line(int fd, const std::string& line) {
  return ::write(fd, line.data(), line.size()) == static_cast<ssize_t>(line.size()) ? 0 : errno;
}

TraceDefinitions::TraceDefinitions(std::string_view name)
    : name_(name), root_(find_root(name)), identity_(identity_of(::getpid())) {
  if (root_.empty() || identity_.empty()) return;
  remove_stale();
  file_ = base::Fd(::open(file_name().c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
}

TraceDefinitions& TraceDefinitions::of_user() {
  static TraceDefinitions all("uprobe_events");
  return all;
}
TraceDefinitions& TraceDefinitions::of_kernel() {
  static TraceDefinitions all("kprobe_events");
  return all;
}

// Takes back what processes that are gone have left.
void TraceDefinitions::remove_stale() const {
  auto text = base::read_file(file_name());
  if (!text.ok()) return;
  base::Fd file;
  std::string_view last; // a definition of many places is listed once for each
  for (std::string_view line : base::split(*text, '\n')) {
    size_t colon = line.find(':');
    std::string_view name = colon == line.npos ? "" : line.substr(colon + 1, line.find(' ') - colon - 1);
    if (!name.starts_with(group_start) || name == last) continue;
    last = name;
    std::string_view owner = name.substr(group_start.size(), name.find('/') - group_start.size());
    auto pid = base::parse_integer(owner.substr(0, owner.find('_')));
    if (!pid || identity_of(static_cast<int>(*pid)) == owner) continue;
    if (!file.valid()) file = base::Fd(::open(file_name().c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
    if (file.valid()) write_line(file.get(), "-:" + std::string(name) + "\n");
  }
}

std::string TraceDefinitions::next_name() {
  return std::string(group_start) + identity_ + "/e" + std::to_string(count_++) + "_" +
         std::to_string(::getpid());
}

int TraceDefinitions::write(const std::string& line) const { return write_line(file_.get(), line); }

uint64_t TraceDefinitions::id_of(const std::string& name) const {
  auto text = base::read_file(root_ + "/events/" + name + "/id");
  return text.ok() ? base::parse_integer(base::trim(*text)).value_or(0) : 0;
}

int open_perf_event(perf_event_attr& attr) {
  attr.size = sizeof attr;
  attr.sample_period = 1;
  attr.disabled = 1;
  // The program runs for hits on all CPUs, whichever CPU the event is opened on.
  return static_cast<int>(::syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC));
}

int start_perf_event(base::Fd perf, int program_fd, const uint64_t* cookie, Attachment& out) {
  if (cookie) {
    struct {
      uint32_t program, target, type, flags;
      uint64_t cookie;
    } request{static_cast<uint32_t>(program_fd), static_cast<uint32_t>(perf.get()), BPF_PERF_EVENT, 0,
              *cookie};
    int link = static_cast<int>(::syscall(SYS_bpf, BPF_LINK_CREATE, &request, sizeof request));
    if (link < 0) return errno;
    out.slow_links.emplace_back(link);
  } else if (::ioctl(perf.get(), PERF_EVENT_IOC_SET_BPF, program_fd) != 0) {
    return errno;
  }
  if (::ioctl(perf.get(), PERF_EVENT_IOC_ENABLE, 0) != 0) return errno;
  out.perf_events.push_back(std::move(perf));
  return 0;
}

// The number of perf's own kind of event; 0: it has none.
static uint32_t perf_type(std::string_view device) {
  auto text = base::read_file("/sys/bus/event_source/devices/" + std::string(device) + "/type");
  return text.ok() ? static_cast<uint32_t>(base::parse_integer(base::trim(*text)).value_or(0)) : 0;
}

perf_event_attr kernel_function_event(const Event& event) {
  static const uint32_t type = perf_type("kprobe");
  perf_event_attr attr{};
  attr.type = type;
  attr.config = event.kind == Kind::kretprobe; // bit 0 (format/retprobe of the device)
  attr.kprobe_func = reinterpret_cast<uintptr_t>(event.function.c_str());
  attr.probe_offset = event.offset;
  return attr;
}

perf_event_attr user_place_event(const std::string& path, uint64_t offset, uint64_t counter_offset, bool at_return) {
  static const uint32_t type = perf_type("uprobe");
  constexpr uint64_t is_return = 1; // bit 0 of config, the counter's place above (format/ of the device)
  constexpr int counter_shift = 32;
  perf_event_attr attr{};
  attr.type = type;
  attr.config = (at_return ? is_return : 0) | counter_offset << counter_shift;
  attr.uprobe_path = reinterpret_cast<uintptr_t>(path.c_str());
  attr.probe_offset = offset;
  return attr;
}

void Definitions::write() const {
  if (undo.empty()) return;
  int fd = ::open(file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (fd < 0) return;
  for (const std::string& line : undo) write_line(fd, line);
  ::close(fd);
}

} // namespace probe
