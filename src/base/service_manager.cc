// The protocol of sd_notify(3): one datagram to the Unix socket that $NOTIFY_SOCKET names, a path, or with a leading `@` an abstract
// name. Who does not listen misses nothing that tracing needs, so failures are ignored.
#include "base/service_manager.h"

#include "base/fd.h"

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <sys/socket.h>
#include <sys/un.h>

namespace base {

void tell_service_manager(std::string_view state) {
  const char* variable = std::getenv("NOTIFY_SOCKET");
  const std::string_view name = variable ? variable : "";
  sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = {}};
  if (name.size() < 2 || name.size() >= sizeof address.sun_path || (name[0] != '/' && name[0] != '@')) return;
  std::memcpy(address.sun_path, name.data(), name.size());
  if (name[0] == '@') address.sun_path[0] = '\0';
  const base::Fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return;
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  (void)::sendto(socket.get(), state.data(), state.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address), length);
}

} // namespace base
