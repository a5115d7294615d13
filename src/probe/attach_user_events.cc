// User probes of kernels before 6.6. An event of tracefs may stand for many places of one file (Linux 5.5): a
// line
//   p:GROUP/NAME PATH:0xOFFSET(0xCOUNTER)
// for each in uprobe_events, then one event of perf for all of them; closing that takes the kernel 20 to 100
// ms, so that it should not be one for each place. A single place needs no definition: perf makes it itself.
//
// See the kernel's Documentation/trace/uprobetracer.rst and perf_event_open(2), and trace_definitions.h.
#include "probe/attach_user_events.h"
#include "probe/kinds.h"
#include "probe/trace_definitions.h"

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

// 0, or an errno.
int attach_one(const UserPlaces& places, size_t i, int program_fd, Attachment& out) {
  perf_event_attr attr = user_place_event(*places.path, places.offsets[i], places.counters[i], places.is_return);
  if (!attr.type) return EOPNOTSUPP;
  base::Fd perf(open_perf_event(attr));
  if (!perf.valid()) return errno;
  return start_perf_event(std::move(perf), program_fd, places.cookies.empty() ? nullptr : &places.cookies[i],
                          out);
}

std::string hex(uint64_t n) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(n));
  return text;
}

// The places `which` (indices) by one event. 0, or an errno. Those that the kernel does not take are refused
// by themselves.
base::Status attach_together(const UserPlaces& places, const std::vector<size_t>& which, int program_fd,
                             const Refusal& refused, Attachment& out) {
  TraceDefinitions& definer = TraceDefinitions::of_user();
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
  base::Fd perf(attr.config ? open_perf_event(attr) : -1);
  int code = !perf.valid()
                 ? (attr.config ? errno : ENOENT)
                 : start_perf_event(std::move(perf), program_fd,
                                    places.cookies.empty() ? nullptr : &places.cookies[which.front()], out);
  if (code)
    for (size_t i : which) ACU_CHECK(refuse(i, code));
  return {};
}

} // namespace

base::Status attach_events(const UserPlaces& places, int program_fd, const Refusal& refused,
                           Attachment& out) {
  // What one event tells the program is the same for all of its places, and none is in it twice (EEXIST):
  // functions that are one code under several names, each asked for, are hit as often.
  std::map<std::pair<uint64_t, size_t>, std::vector<size_t>> groups; // by cookie, and how often the place came before
  std::map<std::pair<uint64_t, uint64_t>, size_t> seen;
  for (size_t i = 0; i < places.events.size(); i++) {
    const uint64_t cookie = places.cookies.empty() ? 0 : places.cookies[i];
    groups[{cookie, seen[{cookie, places.offsets[i]}]++}].push_back(i);
  }
  // A line of tracefs ends a path at a space.
  bool is_plain = places.path->find_first_of(" \t\n:") == std::string::npos;
  for (auto& [shared, which] : groups) {
    if (which.size() > 1 && is_plain && TraceDefinitions::of_user().may_define()) {
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

} // namespace probe
