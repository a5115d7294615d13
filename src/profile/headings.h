// "TITLE of WHAT": names what was recorded in the formats of other tools, which have one text for it.
#pragma once

#include "profile/profile.h"

#include <string>
#include <string_view>

namespace profile {

std::string heading_of(const About& about);
// Takes title and what from a heading. False: it is none. `is_own`: acu wrote the text; else only the titles of acu's kinds are accepted.
bool take_heading(std::string_view text, bool is_own, About& to);

} // namespace profile
