#include "emit/debugger.h"
#include "emit/debugger_rows.h"
#include "emit/targets.h"

namespace emit {

const Target lldb_target = {
    .name = "lldb",
    .title = "lldb",
    .ending = ".py",
    .run = "./FILE CORE|PID, or in lldb: command script import FILE",
    .line_comment = "#",
    .stopped = true,
    .constructs = debugger_constructs,
    .builtins = debugger_builtins,
    .probes = debugger_probes,
    .emit = [](const Job& job) { return emit_debugger(job, lldb_target, "lldb"); },
};

} // namespace emit
