#include "emit/debugger.h"
#include "emit/debugger_rows.h"
#include "emit/targets.h"

namespace emit {

const Target gdb_target = {
    .name = "gdb",
    .title = "gdb",
    .ending = ".py",
    .run = "./FILE CORE|PID, or in gdb: source FILE",
    .line_comment = "#",
    .stopped = true,
    .constructs = SupportTable::of<debugger_constructs>(),
    .builtins = SupportTable::of<debugger_builtins>(),
    .probes = SupportTable::of<debugger_probes>(),
    .emit = [](const Job& job) { return emit_debugger(job, gdb_target, "gdb"); },
};

} // namespace emit
