// Events that are defined by lines written to uprobe_events and kprobe_events of tracefs, and attaching
// programs to events of perf. Definitions outlive the process that made them, even when it was killed. Their
// group therefore tells the process, and who comes next takes back those of processes that are gone. For use
// inside this folder. See the kernel's Documentation/trace/kprobetrace.rst, uprobetracer.rst and
// perf_event_open(2).
#pragma once

#include "probe/attach.h"

#include <linux/perf_event.h>
#include <string>
#include <string_view>

namespace probe {

// What this process defines in one of the two files.
class TraceDefinitions {
public:
  static TraceDefinitions& of_user();
  static TraceDefinitions& of_kernel();
  bool may_define() const { return file_.valid(); }
  std::string file_name() const { return root_ + "/" + std::string(name_); }
  // "acu_PID_START/e0_PID": of an event to be defined.
  std::string next_name();
  // 0, or an errno.
  int write(const std::string& line) const;
  // The number of an event that was defined; 0: there is none.
  uint64_t id_of(const std::string& name) const;

private:
  explicit TraceDefinitions(std::string_view name);
  void remove_stale() const;
  std::string_view name_;
  std::string root_, identity_;
  base::Fd file_;
  uint32_t count_ = 0;
};

// An event for hits on all CPUs that is not started yet; size, period and so on of `attr` are set. -1: see
// errno.
int open_perf_event(perf_event_attr& attr);
// Starts it with the program; 0, or an errno. A cookie wants a link, which holds the event too.
int start_perf_event(base::Fd perf, int program_fd, const uint64_t* cookie, Attachment& out);
// What perf_event_open(2) is asked for to be hit at a function of the kernel, or at a place of a file; `type` 0: the kernel has
// no such events. Texts stay where they are.
perf_event_attr kernel_function_event(const Event& event);
perf_event_attr user_place_event(const std::string& path, uint64_t offset, uint64_t counter_offset, bool at_return);

} // namespace probe
