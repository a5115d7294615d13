// A core dump as what is asked about: the kernel's notes in it (signal, registers) and its memory (stacks, variables, mutexes) are two measurements for the same rules.
#pragma once

#include "why/rounds.h"

namespace why {

// `question`: its `file` is the core dump; who it was a core of is filled in. Failure: it is no core that can be read.
base::Result<Answer> find_answer_in_core(Question& question);

} // namespace why
