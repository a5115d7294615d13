// The scripts of acu's commands as texts, made from the *.bt files of this folder when acu is built.
#pragma once

#include <span>
#include <string_view>

namespace scripts {

struct Script {
  std::string_view name; // of the file: "trace.bt"
  std::string_view text;
};

std::span<const Script> all();

} // namespace scripts
