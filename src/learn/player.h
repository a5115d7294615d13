// Plays lessons: shows the text, starts the broken program, runs what the learner types, checks answers.
#pragma once

#include "base/result.h"
#include "learn/lesson.h"

#include <functional>
#include <string>

namespace learn {

struct Terminal {
  std::function<void(std::string_view)> write;
  // A line without its end; false: there is no more input.
  std::function<bool(std::string_view prompt, std::string& line)> read;
};

// Lessons from `first` on (0 is the first one), until the last, `quit` or the end of the input. `seed` chooses what is broken.
// Failure: a program cannot be started.
base::Status play(const Terminal& terminal, size_t first, unsigned seed);

} // namespace learn
