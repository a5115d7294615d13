// Why stacks of a profile are not complete, and what can be done about it. A profile without callers looks as
// good as any other: where more than one stack in a hundred ends early, the first line of each result says
// so.
#pragma once

#include "profile/profile.h"

#include <string>

namespace profile {

// "only 12.3% of stacks are complete: code without unwind tables in /path/bin (87.7%): build it …", by the
// notes in the tree, for what the samples count now; empty: at least 99 % are complete, or nothing is known
// of it.
std::string why_incomplete(const Profile& profile);

// Samples whose stacks do not end early, by the same notes.
uint64_t complete_samples(const Profile& profile);

} // namespace profile
