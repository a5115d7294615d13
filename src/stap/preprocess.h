// What SystemTap does with tokens before they are parsed: `%( condition %? … %: … %)` and macros, `@define name(a) %( … %)`.
#pragma once

#include "stap/lexer.h"

namespace stap {

// Conditions are decided for a new kernel and for x86-64, with a remark: a converted script is for acu, which asks the kernel itself.
std::vector<Token> preprocess(std::vector<Token> tokens, std::vector<Remark>& remarks, base::Diagnostics& diagnostics);

} // namespace stap
