// User probes of kernels before 6.6. An event of tracefs may stand for many places of one file (Linux 5.5): a
// line
//   p:GROUP/NAME PATH:0xOFFSET(0xCOUNTER)
// for each in uprobe_events, then one event of perf for all of them; closing that takes the kernel 20 to 100
// ms, so that it should not be one for each place. A single place needs no definition: perf makes it itself.
//
// Definitions outlive the process that made them, even when it was killed. Their group therefore tells the
// process, and who comes next takes back those of processes that are gone.
//
// See the kernel's Documentation/trace/uprobetracer.rst and perf_event_open(2).
#include "probe/attach_user_events.h"
#include "probe/kinds.h"

#include "base/text.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <map>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace probe {

namespace {

constexpr std::string_view group_start = "acu_";

// The process by its number and when it began: numbers come again.
std::string identity(int pid) {
  auto text = base::read_file("/proc/" + std::to_string(pid) + "/stat");
  if (!text.ok()) return {};
  size_t name_end = text->rfind(')'); // a name may hold anything
  if (name_end == text->npos) return {};
  auto fields = base::split(std::string_view(*text).substr(name_end + 1), ' ');
  constexpr size_t start_time = 20; // of those behind the name, the first being empty
  if (fields.size() <= start_time) return {};
  return std::to_string(pid) + "_" + std::string(fields[start_time]);
}

std::string tracefs_root() {
  for (const char* root : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"})
    if (::access((std::string(root) + "/uprobe_events").c_str(), W_OK) == 0) return root;
  return {};
}

// 0, or an errno.
int write_line(int fd, const std::string& line) {
  return ::write(fd, line.data(), line.size()) == static_cast<ssize_t>(line.size()) ? 0 : errno;
}

// Takes back what processes that are gone have left.
void remove_stale(const std::string& root) {
  auto text = base::read_file(root + "/uprobe_events");
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
    if (!pid || identity(static_cast<int>(*pid)) == owner) continue;
    if (!file.valid())
      file = base::Fd(::open((root + "/uprobe_events").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
    if (file.valid()) write_line(file.get(), "-:" + std::string(name) + "\n");
  }
}

int open_perf(perf_event_attr& attr) {
  attr.size = sizeof attr;
  attr.sample_period = 1;
  attr.disabled = 1;
  // The program runs for hits on all CPUs, whichever CPU the event is opened on.
  return static_cast<int>(::syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC));
}

// 0, or an errno. A cookie wants a link, which holds the event too.
int start(base::Fd perf, int program_fd, const uint64_t* cookie, Attachment& out) {
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

// The number of perf's own kind of event for user code.
uint32_t perf_type() {
  auto text = base::read_file("/sys/bus/event_source/devices/uprobe/type");
  return text.ok() ? static_cast<uint32_t>(base::parse_integer(base::trim(*text)).value_or(0)) : 0;
}

// 0, or an errno.
int attach_one(const UserPlaces& places, size_t i, int program_fd, Attachment& out) {
  constexpr uint64_t is_return = 1; // bit 0 of config, the counter's place above (format/ of the device)
  constexpr int counter_shift = 32;
  perf_event_attr attr{};
  attr.type = perf_type();
  if (!attr.type) return EOPNOTSUPP;
  attr.config = (places.is_return ? is_return : 0) | places.counters[i] << counter_shift;
  attr.uprobe_path = reinterpret_cast<uintptr_t>(places.path->c_str());
  attr.probe_offset = places.offsets[i];
  base::Fd perf(open_perf(attr));
  if (!perf.valid()) return errno;
  return start(std::move(perf), program_fd, places.cookies.empty() ? nullptr : &places.cookies[i], out);
}

std::string hex(uint64_t n) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(n));
  return text;
}

// What this process defines.
class Definer {
public:
  static Definer& own() {
    static Definer all;
    return all;
  }
  bool may_define() const { return file_.valid(); }
  std::string file_name() const { return root_ + "/uprobe_events"; }
  std::string next_name() { return std::string(group_start) + identity_ + "/e" + std::to_string(count_++); }
  int write(const std::string& line) const { return write_line(file_.get(), line); }
  // The number of an event that was defined; 0: there is none.
  uint64_t id_of(const std::string& name) const {
    auto text = base::read_file(root_ + "/events/" + name + "/id");
    return text.ok() ? base::parse_integer(base::trim(*text)).value_or(0) : 0;
  }

private:
  Definer() : root_(tracefs_root()), identity_(identity(::getpid())) {
    if (root_.empty() || identity_.empty()) return;
    remove_stale(root_);
    file_ = base::Fd(::open((root_ + "/uprobe_events").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  }
  std::string root_, identity_;
  base::Fd file_;
  uint32_t count_ = 0;
};

// The places `which` (indices) by one event. 0, or an errno. Those that the kernel does not take are refused
// by themselves.
base::Status attach_together(const UserPlaces& places, const std::vector<size_t>& which, int program_fd,
                             const Refusal& refused, Attachment& out) {
  Definer& definer = Definer::own();
  std::string name = definer.next_name();
  std::string start_of_line = (places.is_return ? "r:" : "p:") + name + " " + *places.path + ":";
  size_t defined = 0;
  auto refuse = [&](size_t i, int code) -> base::Status {
    base::Error why = refused_place(*places.events[i], code);
    if (!refused) return why;
    return refused(std::move(why));
  };
  auto define = [&]() -> base::Status {
    for (size_t i : which) {
      std::string line = start_of_line + hex(places.offsets[i]);
      if (places.counters[i]) line += "(" + hex(places.counters[i]) + ")";
      if (int code = definer.write(line + "\n")) {
        ACU_CHECK(refuse(i, code));
      } else {
        defined++;
      }
    }
    return {};
  };
  base::Status made = define();
  if (defined) {
    out.definitions.file = definer.file_name();
    out.definitions.undo.push_back("-:" + name + "\n");
  }
  ACU_CHECK(std::move(made));
  if (!defined) return {};
  perf_event_attr attr{};
  attr.type = PERF_TYPE_TRACEPOINT;
  attr.config = definer.id_of(name);
  base::Fd perf(attr.config ? open_perf(attr) : -1);
  int code = !perf.valid() ? (attr.config ? errno : ENOENT)
                           : start(std::move(perf), program_fd,
                                   places.cookies.empty() ? nullptr : &places.cookies[which.front()], out);
  if (code)
    for (size_t i : which) ACU_CHECK(refuse(i, code));
  return {};
}

} // namespace

base::Status attach_events(const UserPlaces& places, int program_fd, const Refusal& refused,
                           Attachment& out) {
  // What one event tells the program is the same for all of its places.
  std::map<uint64_t, std::vector<size_t>> groups;
  for (size_t i = 0; i < places.events.size(); i++)
    groups[places.cookies.empty() ? 0 : places.cookies[i]].push_back(i);
  // A line of tracefs ends a path at a space.
  bool is_plain = places.path->find_first_of(" \t\n:") == std::string::npos;
  for (auto& [cookie, which] : groups) {
    if (which.size() > 1 && is_plain && Definer::own().may_define()) {
      ACU_CHECK(attach_together(places, which, program_fd, refused, out));
      continue;
    }
    for (size_t i : which)
      if (int code = attach_one(places, i, program_fd, out)) {
        base::Error why = refused_place(*places.events[i], code);
        if (!refused) return why;
        ACU_CHECK(refused(std::move(why)));
      }
  }
  return {};
}

void Definitions::write() const {
  if (undo.empty()) return;
  int fd = ::open(file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (fd < 0) return;
  for (const std::string& line : undo) write_line(fd, line);
  ::close(fd);
}

} // namespace probe
