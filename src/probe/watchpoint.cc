// watchpoint:ADDRESS:LENGTH:MODE and asyncwatchpoint: when memory is read, written or executed, by the debug
// registers of the processor (perf_event_open(2), PERF_TYPE_BREAKPOINT). With -p or -c the address is one of
// that process; threads that are made later are watched too. Otherwise it is one of the kernel, on all CPUs;
// a name stands for the symbol's address. The processor has few such registers: four on x86-64.
#include "host/environment.h"
#include "probe/kinds.h"

#include "base/text.h"

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace probe {

namespace {

#if defined(__aarch64__)
constexpr uint32_t execution_bytes = 4;
#else
constexpr uint32_t execution_bytes = sizeof(long);
#endif

// ------------------------------------------------------------------------------------------------- match

std::vector<Event> wrong(std::string_view kind, Parts parts, Mismatch& mismatch, std::string why) {
  return malformed(mismatch, kind, "`" + join(parts) + "`: " + why);
}

// The letters r, w and x in any order, each once; 0: anything else.
uint32_t parse_mode(std::string_view text) {
  uint32_t mode = 0;
  for (char c : text) {
    uint32_t bit = c == 'r' ? HW_BREAKPOINT_R : c == 'w' ? HW_BREAKPOINT_W : c == 'x' ? HW_BREAKPOINT_X : 0;
    if (!bit || mode & bit) return 0;
    mode |= bit;
  }
  return mode;
}

// Why the processor cannot watch so; empty: it can.
std::string unable(uint32_t mode, uint64_t address, uint64_t length) {
  if (address == 0) return "nothing is at address 0";
  if (length != 1 && length != 2 && length != 4 && length != 8) return "the length must be 1, 2, 4 or 8";
  if (mode & HW_BREAKPOINT_X && mode != HW_BREAKPOINT_X) return "x cannot be together with r or w";
#if defined(__x86_64__)
  if (mode == HW_BREAKPOINT_R) return "this processor cannot watch reads alone: use rw";
#endif
  if (mode != HW_BREAKPOINT_X && address % length != 0) return "the address must be a multiple of the length";
  return {};
}

// A number, or the name of a symbol of the kernel.
std::optional<uint64_t> find_address(Machine& machine, std::string_view text, std::string& why) {
  if (auto n = parse_count(text)) return n;
  if (size_t at = text.find("+arg"); at != text.npos) {
    why = "addresses that a function is given are not followed; a uprobe on `" +
          std::string(text.substr(0, at)) + "` that prints " + std::string(text.substr(at + 1)) +
          " tells them";
    return std::nullopt;
  }
  if (machine.pid() >= 0) {
    why = "`" + std::string(text) + "` is not an address";
    return std::nullopt;
  }
  std::optional<uint64_t> found = machine.host().addresses({&text, 1}).front();
  if (!found) why = "the kernel has no symbol `" + std::string(text) + "`, or hides where it is";
  return found;
}

std::vector<Event> match(Machine& machine, Kind kind, std::string_view provider, Parts parts,
                         Mismatch& mismatch) {
  if (parts.size() != 4) return wrong(provider, parts, mismatch, "it takes an address, a length and a mode");
  std::string why;
  std::optional<uint64_t> address = find_address(machine, parts[1], why);
  if (!address) return wrong(provider, parts, mismatch, std::move(why));
  std::optional<uint64_t> length = parse_count(parts[2]);
  if (!length) return wrong(provider, parts, mismatch, "`" + std::string(parts[2]) + "` is not a length");
  uint32_t mode = parse_mode(parts[3]);
  if (!mode) return wrong(provider, parts, mismatch, "the mode is made of the letters r, w and x");
  if (why = unable(mode, *address, *length); !why.empty())
    return wrong(provider, parts, mismatch, std::move(why));
  Event e{.kind = kind, .provider = std::string(provider)};
  e.name.append(provider).append(1, ':').append(join(parts.subspan(1)));
  e.address = *address;
  // An instruction begins at the address, whatever its length: the kernel must be given this one.
  e.watch_bytes = mode == HW_BREAKPOINT_X ? execution_bytes : static_cast<uint32_t>(*length);
  e.watch_mode = mode;
  return {std::move(e)};
}

std::vector<Event> match_watchpoint(Machine& machine, Parts parts, Mismatch& mismatch) {
  return match(machine, Kind::watchpoint, "watchpoint", parts, mismatch);
}

std::vector<Event> match_async(Machine& machine, Parts parts, Mismatch& mismatch) {
  return match(machine, Kind::async_watchpoint, "asyncwatchpoint", parts, mismatch);
}

// There is nothing to be listed.
void list_none(Machine&, std::vector<Event>&) {}

// ------------------------------------------------------------------------------------------------ attach

Context choose_watchpoint(Machine&, const Event&, Fields) { return Context::perf_event; }

base::Result<Attachment> attach_watchpoint(const Event& event, Context, int program_fd,
                                           const AttachOptions& options) {
  Sampling sampling{.type = PERF_TYPE_BREAKPOINT,
                    .period = 1,
                    .address = event.address,
                    .bytes = event.watch_bytes,
                    .mode = event.watch_mode};
  AttachOptions where = options;
  if (where.pid < 0) where.pid = options.command;
  bool is_kernel = event.address >> 63 != 0;
  if (where.pid < 0 && !is_kernel)
    return base::Error{base::Failure::usage,
                       "cannot attach " + event.name +
                           ": the address is not one of the kernel; -p PID or -c COMMAND tells whose it is"};
  if (where.pid >= 0 && is_kernel)
    return base::Error{base::Failure::usage,
                       "cannot attach " + event.name +
                           ": the address is not one of the process; for the kernel's leave -p and -c out"};
  auto attached = attach_sampling(event, sampling, program_fd, where);
  if (!attached.ok() && attached.error().kind == base::Failure::nothing_matched)
    attached.error() = {
        base::Failure::unsupported,
        "cannot attach " + event.name +
            ": this kernel lacks `watchpoint`: the machine has no registers that watch memory; virtual machines may hide them"};
  if (attached.ok() && !raises_accesses())
    return base::Error{base::Failure::unsupported,
                       "cannot attach " + event.name +
                           ": this kernel lacks `watchpoint`: the (virtual) machine accepts watchpoints and raises none of the accesses"};
  if (attached.ok()) attached->watched = event.address;
  return attached;
}

} // namespace

bool raises_accesses() {
  volatile long word = 0;
  perf_event_attr attr{.type = PERF_TYPE_BREAKPOINT, .size = sizeof attr};
  attr.exclude_kernel = 1;
  attr.bp_type = HW_BREAKPOINT_W;
  attr.bp_addr = reinterpret_cast<uintptr_t>(&word);
  attr.bp_len = sizeof word;
  base::Fd event(static_cast<int>(::syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC)));
  if (!event.valid()) return errno == ENOSPC || errno == EACCES; // all registers in use, or not permitted to ask
  word = 1;
  uint64_t count = 0;
  return ::read(event.get(), &count, sizeof count) != sizeof count || count != 0;
}

constinit const KindFunctions watchpoint_kind{
    .match = match_watchpoint,
    .list = list_none,
    .choose_context = choose_watchpoint,
    .attach = attach_watchpoint,
};

constinit const KindFunctions async_watchpoint_kind{
    .match = match_async,
    .list = list_none,
    .choose_context = choose_watchpoint,
    .attach = attach_watchpoint,
};

} // namespace probe
