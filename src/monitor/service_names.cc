// Sessions of users are no services: what runs in them goes by its name.
#include "monitor/service_names.h"

#include "base/text.h"
#include "proc/process_files.h"
#include "proc/process_stat.h"

namespace monitor {

std::optional<store::Service> service_of(const symbol::Container& group) {
  if (group.is_container()) return store::Service{group.title(), store::ServiceType::container};
  const std::string title = group.title();
  if (group.runtime != symbol::unit_runtime || !title.ends_with(".service") || title.starts_with("user@")) return std::nullopt;
  return store::Service{title, store::ServiceType::unit};
}

store::Service ServiceNames::of_process(int pid, std::string_view process) {
  if (const std::string group = proc::cgroup_of_process(pid); !group.empty() && group != "/")
    if (auto service = service_of(containers_.of_group(group))) return *service;
  const proc::ProcessStat stat(proc::text_of("/proc/" + std::to_string(pid) + "/stat"));
  if (pid == 0 || (stat.is_valid() && static_cast<uint64_t>(stat.number(proc::stat_fields::flags)) & proc::kernel_thread_flag)) return {"kernel", store::ServiceType::kernel};
  return {process.empty() ? "[unknown]" : base::printable(process), store::ServiceType::process}; // as in profiles
}

} // namespace monitor
