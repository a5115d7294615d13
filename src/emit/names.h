// Names for what a target declares: near the script's, no keyword of the target, each different from the others.
#pragma once

#include "lang/ast.h"

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace emit {

class Names {
public:
  // Keywords and builtin names of the target, separated by spaces, which are not given away. A taken name gets `_2`, `_3`, ….
  explicit Names(std::string_view reserved);

  // The name of a thing, always the same for the same one. `wish` is made an identifier first; empty: "value".
  const std::string& of(const void* thing, std::string_view wish);
  const std::string& of(const lang::Variable& v) { return of(&v, v.name); }
  const std::string& of(const lang::Map& m) { return of(&m, m.name.empty() ? "map" : m.name); }
  const std::string& of(const lang::Function& f) { return of(&f, f.name); }
  // One more name for something that no symbol stands for.
  std::string fresh(std::string_view wish);
  // Begins a probe or function: the names given since mark() are free again.
  size_t mark() const { return order_.size(); }
  void release(size_t mark);

private:
  std::set<std::string, std::less<>> taken_;
  std::map<const void*, std::string> given_;
  std::vector<std::pair<const void*, std::string>> order_;
};

// Letters, digits and `_`, not beginning with a digit.
std::string identifier(std::string_view wish);

} // namespace emit
