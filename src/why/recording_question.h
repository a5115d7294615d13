// A recording of CPU time (acu record, or any file that acu reads) as what is asked about: it is one measurement, so a cause is likely at most. With an earlier
// recording of the same program, what has changed is asked about instead.
#pragma once

#include "why/rounds.h"

namespace why {

// `question`: its `file` is the recording, `before` the earlier one; the process with most samples is filled in. Failure: it cannot be read, or holds no CPU time.
base::Result<Answer> find_answer_in_recording(Question& question);

} // namespace why
