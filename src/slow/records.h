// Records of threads and their waits, which this room shares with src/waits.
#pragma once

#include "waits/wait_names.h"

namespace slow {

using waits::Call, waits::InCall, waits::InterpreterLocks, waits::Io, waits::LeftBy, waits::NamedStack, waits::NextCall, waits::Note, waits::OnCpu, waits::Ran,
    waits::Records, waits::StackId, waits::Stacks, waits::Thread, waits::Turn, waits::Wait, waits::WaitNames, waits::Wake;

} // namespace slow
