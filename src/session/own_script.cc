#include "session/own_script.h"

#include "format/btf.h"
#include "probe/probe.h"
#include "scripts/scripts.h"

#include <algorithm>

namespace session {

OwnScript::OwnScript(std::string own_name, std::string_view own_text) : name(std::move(own_name)), text(own_text) {
  static constexpr std::pair<std::string_view, const std::string_view*> imported[] = {
      {"whose.bt", &scripts::whose},
      {"watched.bt", &scripts::watched},
      {"syscall_registers.bt", &scripts::syscall_registers},
      {"scheduler.bt", &scripts::scheduler},
      {"waits.bt", &scripts::waits},
      {"landings.bt", &scripts::landings},
      {"slow_waits.bt", &scripts::slow_waits},
      {"slow_calls.bt", &scripts::slow_calls},
      {"slow_syscalls.bt", &scripts::slow_syscalls},
      {"slow_functions.bt", &scripts::slow_functions},
      {"slow_between.bt", &scripts::slow_between},
      {"slow_disks.bt", &scripts::slow_disks}};
  for (const auto& [file, own] : imported) parts.imports.push_back({std::string(file), std::string(*own), std::string(file)});
}

void OwnScript::set_whose(const Condition& condition, const Filter& filter, uint64_t duration_ns) {
  constexpr uint64_t us = 1000;
  std::string text(scripts::whose);
  text += condition.before;
  if (duration_ns) text += "interval:us:" + std::to_string(std::max(duration_ns / us, uint64_t{1})) + " { exit() }\n";
  std::erase_if(parts.imports, [](const lang::Insert& i) { return i.name == "whose.bt"; });
  parts.imports.push_back({"whose.bt", std::move(text), "whose.bt"});
  set_expression("ours", condition.text);
  if (!filter.cpus.empty()) set_expression("here", one_of("cpu", filter.cpus));
}

void OwnScript::set_scheduler() {
  type::Table types;
  probe::Machine machine(types);
  auto has_member = [&](std::string_view structure, std::string_view member) {
    return machine.kernel_number(std::string(structure) + "." + std::string(member), [&](format::Btf& btf) -> uint32_t {
      return btf.member(types, btf.find(structure, format::BtfKind::structure), member).has_value();
    }) != 0;
  };
  const bool tells_return = has_member("task_struct", "rseq_event_mask");
  set("HAS_TASK_STATE", has_member("task_struct", "__state"));
  set("QUEUE_HAS_CPU", has_member("cfs_rq", "rq"));
  set("TELLS_RETURN", tells_return);
  parts.places.push_back({"back", tells_return ? "rawtracepoint:rseq_update" : "rawtracepoint:sys_exit", "back"});
  machine.store_facts();
}

} // namespace session
