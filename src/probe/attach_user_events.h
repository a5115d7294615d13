// Attaching to user code where the kernel has no links for many places: see attach_user_events.cc. For use
// inside this folder.
#pragma once

#include "probe/attach_user.h"

#include <string>
#include <vector>

namespace probe {

// Places of one file.
struct UserPlaces {
  const std::string* path = nullptr;
  bool is_return = false;
  std::vector<const Event*> events;
  std::vector<uint64_t> offsets, counters, cookies; // by event; cookies: or none
};

base::Error refused_place(const Event& event, int code);

base::Status attach_events(const UserPlaces& places, int program_fd, const Refusal& refused, Attachment& out);

} // namespace probe
