// What the programs of several targets have in common: the comment at their head, and which probe of the script an event is of.
#pragma once

#include "emit/target.h"
#include "emit/writer.h"

namespace emit {

// Comments: what the script is for (the first line of its own comment), from which file and for which version it was written, and
// the values of its parameters.
void write_head(const Job& job, const Target& target, Writer& out);

// Whether the event is one that this probe of the script names; by its words, which may have wildcards.
bool is_event_of(const lang::ProbeSpec& spec, const probe::Event& e);

// "opensnoop: files being opened, with the process and the result."; empty: the script begins without a comment.
std::string purpose_of(const base::Source& source);

} // namespace emit
