// The service that a process belongs to: its container, its systemd unit, or else the processes of its name.
#pragma once

#include "store/store.h"
#include "symbol/containers.h"

#include <string>
#include <string_view>

namespace monitor {

class ServiceNames {
public:
  // `process`: its name, which decides where it has ended or is in no container or unit.
  store::Service of_process(int pid, std::string_view process);

private:
  symbol::Containers containers_;
};

// The service of a control group: a container, or a unit that runs a program all the time. Nothing: a session, a slice or the root.
std::optional<store::Service> service_of(const symbol::Container& group);

} // namespace monitor
