#include "session/own_script.h"

#include "scripts/scripts.h"

#include <algorithm>

namespace session {

OwnScript::OwnScript(std::string own_name, std::string_view own_text) : name(std::move(own_name)), text(own_text) {
  static constexpr std::pair<std::string_view, const std::string_view*> imported[] = {
      {"whose.bt", &scripts::whose}, {"watched.bt", &scripts::watched}, {"syscall_registers.bt", &scripts::syscall_registers}};
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

} // namespace session
