// The architecture of this machine (arch_traits.h).
#pragma once

#if defined(__x86_64__)
#include "spec/arch_x86_64.h"
#elif defined(__aarch64__)
#include "spec/arch_aarch64.h"
#else
#error "acu does not know the registers of this architecture"
#endif

namespace spec {

#if defined(__x86_64__)
inline constexpr const Arch& arch = x86_64;
#elif defined(__aarch64__)
inline constexpr const Arch& arch = aarch64;
#endif

// The place of a register in struct pt_regs; nothing if there is none of this name.
constexpr std::optional<uint32_t> find_register(std::string_view name) {
  const Register* found = arch.find(name);
  return found ? std::optional(found->offset) : std::nullopt;
}

} // namespace spec
