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
    .constructs = SupportTable::of<debugger_constructs>(),
    .builtins = SupportTable::of<debugger_builtins>(),
    .probes = SupportTable::of<debugger_probes>(),
    .emit = [](const Job& job) { return emit_debugger(job, lldb_target, "lldb"); },
};

} // namespace emit
