// All expressions of a statement, outer ones first.
#pragma once

#include "stap/script.h"

#include <functional>

namespace stap {

using Visit = std::function<void(const Node&)>;
void walk(const Node* n, const Visit& visit);
// Also of the statements in it; `each` gets the heads of foreach.
void walk(const Statement* s, const Visit& visit, const std::function<void(const Each&)>& each = {});

} // namespace stap
