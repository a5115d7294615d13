// What each kind of probe does, as one row of functions; the rows are in the file of the kind, the table of
// them is in match.cc. For use inside this folder.
#pragma once

#include "probe/attach.h"
#include "probe/probe.h"

#include <string>
#include <string_view>

namespace spec {
struct ProbeKind;
}

namespace probe {

using Parts = std::span<const std::string_view>;
using Fields = std::span<const std::string_view>;

// A function that the row of every kind must give: one left out does not compile.
template<class Function> class Required {
public:
  constexpr Required(auto function) : function_(function) {}
  constexpr operator Function() const { return function_; }

private:
  Function function_;
};

struct KindFunctions {
  using Match = std::vector<Event> (*)(Machine&, Parts parts, Mismatch&);
  using List = void (*)(Machine&, std::vector<Event>& to);
  using Attach = base::Result<Attachment> (*)(const Event&, Context, int program_fd, const AttachOptions&);

  Required<Match> match;
  Required<List> list; // adds all events there are, for listing
  // Any of these four may be missing: the kind has no arguments, no programs.
  const type::Type* (*arguments)(Machine&, Event&) = nullptr;
  std::vector<std::string> (*describe)(Machine&, Event&) = nullptr; // missing: from the arguments
  Context (*choose_context)(Machine&, const Event&, Fields fields) = nullptr;
  Access (*access)(Machine&, const Event&, Context, std::string_view field) = nullptr;
  Required<Attach> attach;
};

// There are too many events to list all: those that a pattern names are found as a script's are.
inline constexpr KindFunctions::List found_by_match = nullptr;
// The kernel has no such event: acu runs the block itself.
inline constexpr KindFunctions::Attach run_by_acu = nullptr;
// Probes of user code: those of a file share a link (attach_user.h).
inline constexpr KindFunctions::Attach attached_by_file = nullptr;

extern const KindFunctions begin_kind, end_kind, signal_kind, interval_kind, test_kind, bench_kind,
    profile_kind, software_kind, hardware_kind, tracepoint_kind, rawtracepoint_kind, kprobe_kind,
    kretprobe_kind, fentry_kind, fexit_kind, uprobe_kind, uretprobe_kind, usdt_kind, iterator_kind,
    watchpoint_kind, async_watchpoint_kind, oneshot_kind, thread_kind, frame_kind, fault_kind;

// Fills in `mismatch` for a probe that is not written right: `what` is the sentence; the hint shows the right
// form.
[[gnu::cold]] std::vector<Event> malformed(Mismatch& mismatch, std::string_view kind, std::string what);
// The parts as they were written, for messages.
std::string join(Parts parts);

// The same for names of events: counts in decimal, however they were written.
std::string join_counts(Parts parts);

// How often, as interval and profile have it: `hz:99`, `s:1`, `1s`, `1000000`. One of the two is not 0.
struct Rate {
  uint64_t period_ns = 0;
  uint64_t frequency = 0; // hz
};
// Reads the parts behind the provider; nothing if they are wrong, then `mismatch` tells how.
std::optional<Rate> parse_rate(std::string_view kind, Parts parts, Mismatch& mismatch);
// "1e6", "1_000", "0x10": a number as scripts write it.
std::optional<uint64_t> parse_count(std::string_view text);

// An event of perf that is counted, and the count after which a probe fires if the script tells none.
struct Counted {
  std::string_view name, alias;
  uint32_t config;
  uint64_t period;
};
// KIND:EVENT[:COUNT], see counted.cc.
std::vector<Event> match_counted(Kind kind, std::string_view provider, std::span<const Counted> rows,
                                 Parts parts, Mismatch& mismatch);
void list_counted(Kind kind, std::string_view provider, std::span<const Counted> rows,
                  std::vector<Event>& to);

// KIND:NAME, see test.cc.
std::vector<Event> match_named(Kind kind, std::string_view provider, Parts parts, Mismatch& mismatch);

// Attaching, see attach.cc.
// Why the kernel refused an event, in words that lead on. `what` is what was tried.
base::Error refused(const Event&, std::string_view what, int code);
base::Result<Attachment> attach_raw_tracepoint(const Event&, std::string_view name, Context, int program_fd);
base::Result<Attachment> attach_perf_tracepoint(const Event&, uint32_t id, int program_fd);
struct Sampling {
  uint32_t type = 0;      // PERF_TYPE_SOFTWARE, PERF_TYPE_HARDWARE or PERF_TYPE_BREAKPOINT
  uint64_t config = 0;    // PERF_COUNT_SW_* or PERF_COUNT_HW_*
  uint64_t period = 0;    // events between two samples …
  uint64_t frequency = 0; // … or samples in a second
  uint64_t address = 0;   // breakpoints: what is watched
  uint32_t bytes = 0;
  uint32_t mode = 0; // HW_BREAKPOINT_*
};
base::Result<Attachment> attach_sampling(const Event&, const Sampling&, int program_fd, const AttachOptions&);

// The typedef btf_trace_NAME, which stands for the prototype of a tracepoint; 0 if the kernel tells none.
uint32_t tracepoint_type(Machine& machine, std::string_view name);

} // namespace probe
