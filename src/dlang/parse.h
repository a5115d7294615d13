// Text of a D script to its tree.
#pragma once

#include "base/diagnostics.h"
#include "dlang/script.h"
#include "dlang/translate_options.h"

#include <string_view>

namespace dlang {

// All mistakes go to `diagnostics`, also of the script's directives and pragmas; the tree is returned as far as it goes.
Script parse(const base::Source& source, const MacroValues& values, base::Diagnostics& diagnostics);

// The name that stands for $target where the process is not known yet.
inline constexpr std::string_view command_pid = "$target";

} // namespace dlang
