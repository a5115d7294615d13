#include "emit/targets.h"

namespace emit {

static const Target* const all[] = {&bpftrace_target, &stap_target, &d_target, &libbpf_target, &bcc_target, &gdb_target, &lldb_target};

std::span<const Target* const> targets() { return all; }

const Target* find_target(std::string_view name) {
  for (const Target* t : all)
    if (t->name == name) return t;
  return nullptr;
}

} // namespace emit
