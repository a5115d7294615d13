// What acu itself is confined by: namespaces, filters of system calls. Messages about something that is refused name the option of a
// container's runtime that permits it.
#pragma once

#include <cstdint>
#include <string>

namespace base {

// The inode numbers of the first namespaces, which never change: include/linux/proc_ns.h, PROC_PID_INIT_INO and PROC_USER_INIT_INO.
inline constexpr uint64_t initial_pid_namespace = 0xeffffffc, initial_user_namespace = 0xeffffffd;

struct Confinement {
  bool has_user_namespace = false; // other than the host's: capabilities count only in there
  bool has_pid_namespace = false;  // other than the host's
  bool is_marked = false;          // by a runtime: /.dockerenv, /run/.containerenv, $container
  bool has_filter = false;         // of system calls (seccomp)
  bool is_container() const { return has_user_namespace || has_pid_namespace || is_marked; }
};

// Found out at the first call.
const Confinement& confinement();

// The end of a message: "; in a container: start it with OPTIONS"; empty where acu is in none.
std::string permitted_by(const std::string& options);
inline std::string permitted_by_capabilities() { return permitted_by("`--cap-add BPF --cap-add PERFMON` (docker, podman)"); }

} // namespace base
