// A tree as a script again: what parse() reads, as a person would write it. For scripts that come from another language.
#pragma once

#include "lang/ast.h"

#include <functional>
#include <string>
#include <vector>

namespace lang {

// Lines that stand above a probe, a function or a statement, as comments without `//`. Asked once for each, in the order of the text.
using CommentsAbove = std::function<std::vector<std::string>(Range)>;

// Works on trees that no checker has seen. Variables have their names alone: expansions of macros are not distinguished.
std::string source_text(const Program& program, const CommentsAbove& comments);

// A text in double quotes, as scripts have it.
std::string literal_text(std::string_view text);

} // namespace lang
