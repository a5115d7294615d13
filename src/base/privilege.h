// What this process may do: its effective capabilities (capabilities(7)), and files by these. access(2) is not asked: it answers for the
// real user and ignores the capabilities of a process that is not root's, which open(2) would use.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace base {

// Numbers of linux/capability.h.
enum class Capability : uint8_t {
  dac_override = 1,
  dac_read_search = 2,
  sys_ptrace = 19,
  sys_admin = 21,
  sys_resource = 24,
  syslog = 34,
  perfmon = 38,
  bpf = 39,
};
std::string_view name_of(Capability capability); // "CAP_BPF"

// A bit for each; 0 if the kernel does not answer.
uint64_t effective_capabilities();
// CAP_SYS_ADMIN includes CAP_BPF, CAP_PERFMON and CAP_SYSLOG, CAP_DAC_OVERRIDE includes CAP_DAC_READ_SEARCH.
bool has_capability(Capability capability);

// "CAP_BPF and CAP_PERFMON are missing"; empty: all are there.
std::string missing_of(std::initializer_list<Capability> needed);
// ": not permitted: CAP_BPF is missing. Run acu as root, or …"; empty: all are there.
std::string not_permitted(std::initializer_list<Capability> needed);

// `mode`: F_OK, R_OK, W_OK or X_OK. errno is set if it is not.
bool is_accessible(const char* path, int mode);

// Gives up, for the rest of this thread, what a session needs no more once its probes are attached: all but what it takes to read maps and
// processes, to attach anew when a file is replaced, to write results, and to start and end commands. Programs that it starts get what the
// user's rights give them.
void keep_session_capabilities();

} // namespace base
