#include "session/builtin_script.h"

#include "format/btf.h"
#include "host/cpus.h"
#include "lang/lexer.h"
#include "probe/probe.h"
#include "proc/host_counters.h"
#include "scripts/scripts.h"

#include <algorithm>
#include <bit>

namespace session {

BuiltinScript::BuiltinScript(std::string_view own_name) : name(own_name) {
  for (const scripts::Script& s : scripts::all()) {
    if (s.name == name + ".bt") text = s.text;
    else parts.imports.push_back({std::string(s.name), std::string(s.text), std::string(s.name)});
  }
}

void BuiltinScript::set_import(std::string_view file, std::string own) {
  for (lang::Insert& i : parts.imports)
    if (i.name == file) i.text = std::move(own);
}

void BuiltinScript::set_users_script(std::string_view file, std::string own, std::string_view shown) {
  parts.own_maps = own_maps();
  for (lang::Insert& i : parts.imports)
    if (i.name == file) i = {i.name, std::move(own), std::string(shown), true};
}

void BuiltinScript::set_whose(const Condition& condition, const TargetFilter& filter, uint64_t duration_ns) {
  constexpr uint64_t us = 1000;
  std::string more = condition.before;
  if (duration_ns) more += "interval:us:" + std::to_string(std::max(duration_ns / us, uint64_t{1})) + " { exit() }\n";
  for (lang::Insert& i : parts.imports)
    if (i.name == "whose.bt") i.text += more;
  set_expression("ours", condition.text);
  if (!filter.cpus.empty()) set_expression("here", one_of("cpu", filter.cpus));
}

void BuiltinScript::set_scheduler() {
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
  // Kept by thread, and 32 for each CPU (long_waits.bt). To make room for more takes the kernel 0.2 us each, at each start.
  const uint64_t wanted = std::max<uint64_t>(8 * proc::thread_count(proc::text_of("/proc/loadavg")), 32 * static_cast<uint64_t>(host::possible_cpus()));
  set("THREADS", std::clamp<uint64_t>(std::bit_ceil(wanted), 16384, 131072));
  parts.places.push_back({"back", tells_return ? "rawtracepoint:rseq_update" : "rawtracepoint:sys_exit", "back"});
  machine.store_facts();
}

std::string listed(std::string_view kind, const std::vector<std::string>& places) {
  std::string out;
  for (const std::string& place : places) out.append(out.empty() ? "" : ",").append(kind).append(place);
  return out;
}

std::string user_place(std::string_view provider, std::string_view binary, std::string_view function) {
  // `cpp:"ns::f(int)"`, as events are called
  constexpr std::string_view cpp = "cpp:";
  std::string out = std::string(provider) + ":" + lang::in_quotes(binary) + ":";
  if (function.starts_with("cpp:\"")) {
    out += cpp;
    function = function.substr(cpp.size() + 1, function.size() - cpp.size() - 2);
  }
  return out + lang::in_quotes(function);
}

} // namespace session
