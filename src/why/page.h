// An answer as a page for a browser: what the text says, with pictures of what was measured.
#pragma once

#include "why/rounds.h"

#include <string>

namespace why {

std::string answer_page(const Question& question, const Answer& answer);

} // namespace why
