// The table of what `acu slow` can wait for. The probes that see it are in scripts/slow.bt.
#pragma once

#include <cstdint>
#include <string_view>

namespace spec {

struct SlowKind {
  std::string_view name;
  std::string_view asked_by;  // words of the command line
  std::string_view parameter; // of the script: its probes are in it
  bool has_waits = true;      // its thread waits itself
  bool is_dear = false;       // each call is probed by traps
};

// What a call costs whose entry and return are probed, by one link for both (0.8 us) or two (1 us); and whose entry alone is.
inline constexpr uint64_t slow_call_ns = 900, slow_entry_ns = 700;

inline constexpr SlowKind slow_kinds[] = {
    {.name = "function", .asked_by = "[FILE:]FUNCTION", .parameter = "FUNCTIONS", .is_dear = true},
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
