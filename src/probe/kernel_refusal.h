// What to say when the kernel does not let its functions be probed at all.
#pragma once

#include "base/privilege.h"
#include "probe/probe.h"

namespace probe {

// Why the kernel answered EPERM or EACCES, as the end of a message: a capability that is missing and how to get it, else lockdown, a user
// namespace, a filter of system calls, or a security module, by name.
std::string why_not_permitted(std::initializer_list<base::Capability> needed = {base::Capability::bpf, base::Capability::perfmon});

// Of an event that is refused although nothing is wrong with it: why, as far as it is known, and which
// tracepoint tells the same. `what`: how the sentence begins.
base::Error refused_by_kernel(const Event& event, std::string_view what);

// "integrity", "confidentiality"; empty where the kernel is not locked down, or does not tell.
std::string lockdown();

// Of a kind of probe that the kernel does not know: why, "this kernel is built without kprobes (CONFIG_KPROBE_EVENTS)".
std::string why_no_kernel_functions(const Event& event);

// "; a tracepoint that tells the same: …", for functions that there is such a one for; or nothing.
std::string tracepoint_instead(const Event& event);

} // namespace probe
