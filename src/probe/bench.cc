// bench:NAME: run over and over by acu with --bench, and timed.
#include "probe/kinds.h"

namespace probe {

static std::vector<Event> match_bench(Machine&, Parts parts, Mismatch& mismatch) {
  return match_named(Kind::bench, "bench", parts, mismatch);
}

constinit const KindFunctions bench_kind{
    .match = match_bench, .list = [](Machine&, std::vector<Event>&) {}, .attach = run_by_acu};

} // namespace probe
