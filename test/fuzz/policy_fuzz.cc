// Any bytes as a policy, then decisions by what was read.
#include "policy/policy.h"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto read = policy::read_policy({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!read.ok()) return read.error().message.empty() ? (std::abort(), 0) : 0;
  const policy::Caller caller{1000, "alice", {1000, 50}, {"alice", "web"}};
  policy::Request request{"flame", true, true, {{"process 1", {{policy::TargetKind::unit, "a.service"}, {policy::TargetKind::user, "1000"}}}}, {}, {}};
  const bool is_permitted = policy::decide(*read, caller, request).ok();
  const policy::Rule* rule = policy::rule_for(*read, caller);
  if (is_permitted && (!rule || rule->commands.empty() || rule->targets.empty())) std::abort();
  if (policy::describe(*read, caller).empty()) std::abort();
  return 0;
}
