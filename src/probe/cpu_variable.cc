// See cpu_variable.h. The linker puts these variables between two marks, wherever it lets them begin
// (include/asm-generic/ vmlinux.lds.h of the kernel); what a CPU adds is in __per_cpu_offset.
#include "probe/cpu_variable.h"

#include <map>
#include <string>
#include <tuple>

namespace probe {

std::optional<CpuVariable> cpu_variable(host::Environment& host, std::string_view name) {
  static std::map<std::pair<host::Environment*, std::string>, std::optional<CpuVariable>> known; // to read the list takes time
  const std::pair key(&host, std::string(name));
  if (auto at = known.find(key); at != known.end()) return at->second;
  const std::string_view names[] = {name, "__per_cpu_start", "__per_cpu_end", "__per_cpu_offset"};
  std::vector<std::optional<uint64_t>> found = host.addresses(names);
  auto [offset, start, end, offsets] = std::tie(found[0], found[1], found[2], found[3]);
  std::optional<CpuVariable>& out = known[key];
  bool is_one =
      offset && end && offsets && *offset < *end && *offset >= start.value_or(0); // they may start at 0
  if (is_one) out = CpuVariable{*offset, *offsets};
  return out;
}

} // namespace probe
