#include "probe/counter.h"

#include "base/text.h"
#include "format/tracefs.h"
#include "probe/kernel_refusal.h"
#include "probe/kinds.h"
#include "probe/trace_definitions.h"
#include "spec/counters.h"
#include "spec/probes.h"

#include <algorithm>
#include <cerrno>
#include <sys/syscall.h>
#include <unistd.h>

namespace probe {

namespace {

bool is_countable(Kind kind) {
  switch (kind) {
  case Kind::software:
  case Kind::hardware:
  case Kind::tracepoint:
  case Kind::kprobe:
  case Kind::kretprobe:
  case Kind::uprobe:
  case Kind::uretprobe:
  case Kind::usdt: return true;
  default: return false;
  }
}

base::Error unknown(const std::string& name, const Mismatch& mismatch) {
  std::vector<std::string_view> names;
  for (const spec::CounterRow& row : spec::counter_rows) names.insert(names.end(), {row.name, row.alias});
  std::string text = mismatch.message;
  std::string hint = mismatch.hint;
  if (name.find(':') == name.npos) {
    const std::string_view near = base::nearest(name, names);
    text = "there is no event `" + name + "`";
    hint = near.empty() ? "name a counter of perf, or a probe such as tracepoint:sched:sched_switch"
                        : "did you mean `" + std::string(near) + "`?";
  }
  return {base::Failure::usage, text + (hint.empty() ? "" : "; " + hint)};
}

// What the kernel is asked for; texts are the event's.
base::Result<perf_event_attr> attributes_of(const Counter& counter, const Event* event) {
  perf_event_attr attr{};
  attr.type = counter.type;
  attr.config = counter.config;
  if (!event) return attr;
  switch (event->kind) {
  case Kind::software: attr.type = PERF_TYPE_SOFTWARE, attr.config = event->perf_config; break;
  case Kind::hardware: attr.type = PERF_TYPE_HARDWARE, attr.config = event->perf_config; break;
  case Kind::tracepoint: attr.type = PERF_TYPE_TRACEPOINT, attr.config = event->tracepoint_id; break;
  case Kind::kprobe:
  case Kind::kretprobe: attr = kernel_function_event(*event); break;
  default: attr = user_place_event(event->binary, event->file_offset, event->counter_offset,
                                   event->kind == Kind::uretprobe && !event->at_return_instruction);
  }
  if (event->kind >= Kind::kprobe && !attr.type)
    return base::Error{base::Failure::unsupported, "the kernel has no counters of functions; `acu run` counts them"};
  return attr;
}

// The setting that permits some counters to everybody; empty where it does not matter.
std::string paranoia() {
  if (base::has_capability(base::Capability::perfmon)) return {};
  constexpr const char* setting = "/proc/sys/kernel/perf_event_paranoid";
  const auto text = base::read_file(setting);
  return text.ok() ? std::string(". Without it, ") + setting + " decides, which is " + std::string(base::trim(*text)) : std::string();
}

base::Error refused(const Counter& counter, int code) {
  const std::string what = "`" + counter.name + "` cannot be counted: ";
  switch (code) {
  case ENOENT:
  case ENODEV:
  case ENXIO:
  case EOPNOTSUPP:
  case EINVAL: return {base::Failure::unsupported, what + "this machine has no such counter"};
  case EACCES:
  case EPERM:
    return {base::Failure::permission, "`" + counter.name + "` cannot be counted" + why_not_permitted({base::Capability::perfmon}) + paranoia()};
  case ESRCH: return {base::Failure::runtime, what + "the process is gone"};
  case EMFILE: return {base::Failure::runtime, what + "too many open files; raise the limit with `ulimit -n`"};
  default: return base::errno_error("`" + counter.name + "` cannot be counted", code);
  }
}

} // namespace

base::Result<Counter> find_counter(Machine& machine, const std::string& name) {
  Counter out{.name = name};
  if (const spec::CounterRow* row = spec::find_counter(name)) {
    out.type = row->type, out.config = row->config, out.is_time = row->is_time;
    out.may_lack = row->type != PERF_TYPE_SOFTWARE;
    return out;
  }
  Mismatch mismatch;
  std::vector<std::string_view> parts = base::split(name, ':');
  out.events = match(machine, parts, mismatch);
  if (out.events.empty() && parts.size() == 2 && mismatch.kind == Mismatch::unknown_provider) {
    parts.insert(parts.begin(), "tracepoint");
    out.events = match(machine, parts, mismatch);
  }
  if (out.events.empty()) return unknown(name, mismatch);
  const Event& first = out.events.front();
  if (std::any_of(out.events.begin(), out.events.end(), [](const Event& e) { return e.tail_calls != nullptr; }))
    return base::Error{base::Failure::unsupported, "`" + name + "`: a function there ends with a jump to another one, whose returns the kernel does not count apart; acu run -e '" +
                                                       name + " { @ = count(); }' does"};
  if (!is_countable(first.kind))
    return base::Error{base::Failure::usage, "`" + name + "`: the kernel keeps no counts of " + std::string(kind_of(first).name) +
                                                 " probes; acu run -e '" + name + " { @ = count(); }' does"};
  out.may_lack = first.kind == Kind::hardware;
  for (Event& e : out.events)
    if (e.kind == Kind::tracepoint) {
      ACU_TRY(e.tracepoint_id, machine.tracefs()->id(e.category, e.event));
    }
  return out;
}

base::Result<std::vector<base::Fd>> open_counter(const Counter& counter, const CounterPlace& place) {
  std::vector<base::Fd> out;
  for (size_t n = 0; n < std::max<size_t>(counter.events.size(), 1); n++) {
    ACU_TRY(perf_event_attr attr, attributes_of(counter, counter.events.empty() ? nullptr : &counter.events[n]));
    attr.size = sizeof attr;
    attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    attr.inherit = place.pid >= 0;
    attr.disabled = attr.enable_on_exec = place.at_exec;
    const unsigned long flags = PERF_FLAG_FD_CLOEXEC | (place.cgroup >= 0 ? PERF_FLAG_PID_CGROUP : 0);
    const int whose = place.cgroup >= 0 ? place.cgroup : place.pid;
    base::Fd fd(static_cast<int>(::syscall(SYS_perf_event_open, &attr, whose, place.cpu, -1, flags)));
    if (!fd.valid()) return refused(counter, errno);
    out.push_back(std::move(fd));
  }
  return out;
}

base::Result<Count> read_counter(std::span<const base::Fd> fds) {
  Count sum;
  for (const base::Fd& fd : fds) {
    uint64_t words[3] = {}; // the order of read_format
    if (::read(fd.get(), words, sizeof words) != sizeof words) return base::errno_error("cannot read a counter", errno);
    sum.value += words[0], sum.enabled_ns += words[1], sum.running_ns += words[2];
  }
  return sum;
}

} // namespace probe
