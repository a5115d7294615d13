// What programs may ask of the events of a kind of probe: probe kinds have these (probes.h), builtins need them
// (builtins.h).
#pragma once

#include <cstdint>

namespace spec {

// Bits.
enum Ability : uint16_t {
  has_registers = 1,   // reg(), usermode: the context begins with struct pt_regs
  has_arg_numbers = 2, // arg0, arg1, …
  has_function = 4,    // func
  has_result = 8,      // retval
  has_context = 16,    // ctx
  in_task = 32,        // signal(): the event happens in a task
  can_override = 64,   // override()
  can_write_user = 128,
  sees_paths = 256, // path(): kernel functions that may ask for one
  vouches = 512,    // arguments that helpers of the kernel take as they are: skboutput(), socket_cookie()
};

} // namespace spec
