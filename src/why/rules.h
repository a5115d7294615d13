// The rules that acu has as texts, made from rules/*.clp when acu is built, in the order of their names.
#pragma once

#include <span>
#include <string_view>

namespace why {

struct RuleFile {
  std::string_view name; // "lock-spin.clp"
  std::string_view text;
};

std::span<const RuleFile> rule_files();

} // namespace why
