// Probes that this host has, as `acu list` prints them.
#include "sql/sources.h"

#include "probe/probe.h"

namespace sql {

namespace {

constexpr Column columns[] = {
    column<&probe::Event::provider>("kind", "", "Kind of probe: tracepoint, rawtracepoint, software, …", Role::pushed),
    column<&probe::Event::category>("category", "", "Of tracepoints: their subsystem; of functions of the kernel: the module."),
    column<&probe::Event::event>("event", "", "Of tracepoints: the event."),
    column<&probe::Event::name>("name", "", "The probe, as a script names it."),
};

base::Result<std::vector<probe::Event>> read_probes(const Request& request) {
  static type::Table types; // events refer to it
  static probe::Machine machine(types);
  const std::optional<std::string> kind = request.text("kind");
  return probe::list(machine, kind ? *kind + ":*" : std::string());
}

} // namespace

const Table probes = {.name = "probes", .doc = "Probes of this host: what scripts can attach to.", .example = "select category, count(*) from probes where kind = 'tracepoint' group by 1 order by 2 desc limit 5",
                      .columns = columns, .read = rows_of<read_probes>, .expected_rows = 50'000};

} // namespace sql
