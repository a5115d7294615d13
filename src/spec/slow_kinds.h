// The table of what `acu slow` can measure. Its probes are in scripts/slow.bt.
#pragma once

#include <cstdint>
#include <string_view>

namespace spec {

struct SlowKind {
  std::string_view name;
  std::string_view asked_by;  // words of the command line
  std::string_view parameter; // of the script: holds its probes
  bool has_waits = true;      // the waits of its thread are part of it
  bool is_expensive = false;  // every call is probed with traps
};

// The overhead per call of probing entry and return (0.8 us with one link for both, 1 us with two), and of the entry alone.
inline constexpr uint64_t slow_call_ns = 900, slow_entry_ns = 700;

inline constexpr SlowKind slow_kinds[] = {
    {.name = "function", .asked_by = "[FILE:]FUNCTION", .parameter = "FUNCTIONS", .is_expensive = true},
    {.name = "between", .asked_by = "PROBE PROBE", .parameter = "BETWEEN"},
    {.name = "syscall", .asked_by = "syscalls|syscall:NAME[,NAME…]", .parameter = "SYSCALLS"},
    {.name = "io", .asked_by = "io", .parameter = "DISKS", .has_waits = false},
};

constexpr const SlowKind* find_slow_kind(std::string_view name) {
  for (const SlowKind& k : slow_kinds)
    if (k.name == name) return &k;
  return nullptr;
}

} // namespace spec
