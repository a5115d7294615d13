// begin, end and self:signal:NAME: run by acu itself, no event of the kernel.
#include "probe/kinds.h"
#include "spec/probes.h"

#include "base/text.h"

#include <csignal>
#include <iterator>

namespace probe {

namespace {

// Signals that a script may take: not those that end acu, that it needs itself, or that cannot be caught.
struct Signal {
  std::string_view name;
  int number;
};
constexpr Signal signals[] = {
    {"SIGUSR1", SIGUSR1},   {"SIGUSR2", SIGUSR2}, {"SIGHUP", SIGHUP},   {"SIGALRM", SIGALRM},
    {"SIGWINCH", SIGWINCH}, {"SIGURG", SIGURG},   {"SIGCONT", SIGCONT},
};

Event special(Kind kind, std::string name) {
  return {.kind = kind, .name = std::move(name), .provider = "special"};
}

std::vector<Event> match_plain(Kind kind, std::string_view name, Parts parts, Mismatch& mismatch) {
  if (parts.size() > 1)
    return malformed(mismatch, name, "`" + join(parts) + "`: nothing may follow `" + std::string(name) + "`");
  return {special(kind, std::string(name))};
}

std::vector<Event> match_begin(Machine&, Parts parts, Mismatch& mismatch) {
  return match_plain(Kind::begin, "begin", parts, mismatch);
}
std::vector<Event> match_end(Machine&, Parts parts, Mismatch& mismatch) {
  return match_plain(Kind::end, "end", parts, mismatch);
}

Event signal_event(const Signal& signal) {
  Event e = special(Kind::signal, "self:signal:" + std::string(signal.name));
  e.event = signal.name;
  e.signal = signal.number;
  return e;
}

std::vector<Event> match_signal(Machine&, Parts parts, Mismatch& mismatch) {
  if (parts.size() != 3 || parts[1] != "signal")
    return malformed(mismatch, "self", "`" + join(parts) + "` is not a probe of acu itself");
  std::vector<std::string_view> names;
  for (const Signal& signal : signals) {
    if (signal.name == parts[2]) return {signal_event(signal)};
    names.push_back(signal.name);
  }
  malformed(mismatch, "self", "`" + std::string(parts[2]) + "` is not a signal that scripts can take");
  if (std::string_view near = base::nearest(parts[2], names); !near.empty())
    mismatch.hint = "did you mean `self:signal:" + std::string(near) + "`?";
  return {};
}

} // namespace

constinit const KindFunctions begin_kind{
    .match = match_begin,
    .list = [](Machine&, std::vector<Event>& to) { to.push_back(special(Kind::begin, "begin")); },
    .attach = run_by_acu,
};

constinit const KindFunctions end_kind{
    .match = match_end,
    .list = [](Machine&, std::vector<Event>& to) { to.push_back(special(Kind::end, "end")); },
    .attach = run_by_acu,
};

constinit const KindFunctions signal_kind{
    .match = match_signal,
    .list =
        [](Machine&, std::vector<Event>& to) {
          for (const Signal& signal : signals) to.push_back(signal_event(signal));
        },
    .attach = run_by_acu,
};

} // namespace probe
