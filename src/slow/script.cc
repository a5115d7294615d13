#include "slow/script.h"

#include <algorithm>

namespace slow {

static void set_calls(session::BuiltinScript& out, const std::vector<int>& calls) {
  out.set("LISTED", calls.size() > max_compared_calls);
  if (calls.empty() || calls.size() > max_compared_calls) return;
  out.set_expression("is_wanted", session::one_of("number", calls));
}

session::BuiltinScript slow_script(const Wanted& w) {
  session::BuiltinScript out("slow");
  for (const spec::SlowKind& k : spec::slow_kinds) out.set(k.parameter, w.kind == &k);
  out.set("MIN_DURATION_NS", w.min_duration_ns);
  out.set("MIN_PART_NS", std::max<uint64_t>(min_part(w.min_duration_ns), 1));
  out.set_whose(w.condition, w.filter, w.duration_ns);
  out.set_scheduler();
  if (!w.kind) return out;
  if (w.kind->has_waits) out.set("BY_ENTRIES", !w.has_ends);
  if (w.kind->name == "syscall") set_calls(out, w.calls);
  out.set_places("entry", w.begin.places, w.begin.shown);
  out.set_places("leave", w.has_ends ? w.end.places : "", w.end.shown);
  out.set_places("exception", w.has_ends ? session::listed("", w.landings.exceptions) : "");
  out.set_places("jump", w.has_ends ? session::listed("", w.landings.jumps) : "");
  return out;
}

} // namespace slow
