// Frames of interpreters in recordings. Pages can show them; all other outputs show functions of the language only.
#pragma once

#include "profile/profile.h"

namespace profile {

// Removes frames of interpreters. Their weight goes to their callers.
void drop_interpreters(Profile& profile);

} // namespace profile
