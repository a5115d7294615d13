// The asyncio tasks of a stopped program: what each waits for, as a stack of coroutines, and the tasks that wait for it in turn.
//
//   process 4711: 1,002 asyncio tasks
//
//   1,000 tasks Task-3, Task-4, …: waiting for a Future
//      0  sleep at …/asyncio/tasks.py:639
//      1  fetch at /srv/app.py:12
//         awaited by Task-1
//      2  main at /srv/app.py:30
#pragma once

#include "base/result.h"
#include "probe/stopped_program.h"

#include <string>

namespace snapshot {

// Failure: the program has no tasks that are known, and why.
base::Result<std::string> describe_tasks(probe::StoppedProgram& stopped, bool as_json);

} // namespace snapshot
