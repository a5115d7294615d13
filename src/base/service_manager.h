// Tells the service manager that started acu how far it is. systemd waits for that where a unit has `Type=notify`: other
// units are started once the probes are attached.
#pragma once

#include <string_view>

namespace base {

// As of sd_notify(3): lines NAME=VALUE, such as READY=1. Nothing happens if nobody asked to be told.
void tell_service_manager(std::string_view state);

} // namespace base
