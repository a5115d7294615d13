// Signals that arrive while a session runs: they are noted by a handler, which makes a descriptor readable,
// and taken up by the session's loop. Only a second SIGINT acts at once, if it comes half a second after the first or later: it ends the process.
#pragma once

#include "base/result.h"

#include <span>
#include <vector>

namespace session::signals {

// From now on SIGINT, SIGTERM, SIGHUP, SIGUSR1 and those of `more` are noted; a broken pipe becomes an error of
// write(2). Handlers are not inherited by programs that are started.
base::Status install(std::span<const int> more);
// Readable while something was noted that was not taken.
int fd();
// How long what the script asked for may still take, in ms: after SIGINT or SIGTERM what is left of half a second; -1: no limit.
int patience_ms();
// Scripts over stopped programs end at this time, too (CLOCK_MONOTONIC); UINT64_MAX: no limit.
void set_deadline(uint64_t time_ns);
// Whether something was noted that was not taken, or it is later than that.
bool is_over();
// Whether SIGINT or SIGTERM has come.
bool is_stopping();
// There is no limit any more: what comes now belongs to the end of the script.
void lift_limit();
// Called before that SIGINT ends the process; it may only do what a handler may. nullptr: nothing.
void set_last_act(void (*act)());
// Those that arrived since the last call, each once.
std::vector<int> take();
// What has come belongs to something that has ended: the next SIGINT is the first again, and limits what it stops.
void forget();

} // namespace session::signals
