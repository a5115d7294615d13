// What SystemTap does with tokens before they are parsed: `%( condition %? … %: … %)` and macros, `@define name(a) %( … %)`.
#pragma once

#include "stap/lexer.h"

namespace stap {

// Conditions are decided for a new kernel and for x86-64, with a remark: a converted script is for acu, which asks the kernel itself.
std::vector<Token> preprocess(std::vector<Token> tokens, std::vector<Remark>& remarks, base::Diagnostics& diagnostics);

// Arguments of the script in place of $1, @1, $# and @#: SystemTap replaces them before it reads anything. Those that are missing stay parameters.
std::vector<Token> insert_arguments(std::vector<Token> tokens, const std::vector<std::string>& words, base::Diagnostics& diagnostics);

} // namespace stap
