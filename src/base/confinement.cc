#include "base/confinement.h"

#include "base/privilege.h"
#include "base/text.h"

#include <cstdlib>
#include <sys/stat.h>
#include <unistd.h>

namespace base {

static bool is_other_namespace(const char* path, ino_t initial) {
  struct stat about = {};
  return ::stat(path, &about) == 0 && about.st_ino != initial;
}

static Confinement find_out() {
  Confinement out;
  out.has_user_namespace = is_other_namespace("/proc/self/ns/user", initial_user_namespace);
  out.has_pid_namespace = is_other_namespace("/proc/self/ns/pid", initial_pid_namespace);
  out.is_marked = is_accessible("/.dockerenv", F_OK) || is_accessible("/run/.containerenv", F_OK) || std::getenv("container");
  if (const auto status = read_file("/proc/self/status"); status.ok()) out.has_filter = status->find("\nSeccomp:\t2") != std::string::npos;
  return out;
}

const Confinement& confinement() {
  static const Confinement known = find_out();
  return known;
}

std::string permitted_by(const std::string& options) {
  const Confinement& c = confinement();
  if (c.has_user_namespace)
    return "; acu is in a user namespace, where capabilities do not count on the host: in a container without one (docker: --userns=host; podman: "
           "as root), start it with " + options;
  return c.is_container() ? "; in a container: start it with " + options : std::string();
}

} // namespace base
