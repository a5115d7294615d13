// Recordings for pages have frames of interpreters beside those of their languages, so that the page can show either.
#pragma once

#include "profile/profile.h"

namespace profile {

// Leaves out frames of interpreters, for all that shows functions of the language only; what they weigh is their callers'.
void drop_interpreters(Profile& profile);

} // namespace profile
