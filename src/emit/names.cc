#include "emit/names.h"

#include "base/text.h"

namespace emit {

std::string identifier(std::string_view wish) {
  std::string out;
  for (const char c : wish) {
    const bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (is_word)
      out += c;
    else if (!out.empty() && out.back() != '_')
      out += '_';
  }
  while (!out.empty() && out.back() == '_') out.pop_back();
  if (out.empty()) return "value";
  return out[0] >= '0' && out[0] <= '9' ? "_" + out : out;
}

Names::Names(std::string_view reserved) {
  for (std::string_view word : base::split(reserved, ' ')) taken_.emplace(word);
}

std::string Names::fresh(std::string_view wish) {
  const std::string base = identifier(wish);
  std::string name = base;
  for (int n = 2; taken_.contains(name); n++) name = base + "_" + std::to_string(n);
  taken_.insert(name);
  order_.push_back({nullptr, name});
  return name;
}

const std::string& Names::of(const void* thing, std::string_view wish) {
  if (auto found = given_.find(thing); found != given_.end()) return found->second;
  std::string name = fresh(wish);
  order_.back().first = thing;
  return given_.emplace(thing, std::move(name)).first->second;
}

void Names::release(size_t mark) {
  for (; order_.size() > mark; order_.pop_back()) {
    taken_.erase(taken_.find(order_.back().second));
    if (order_.back().first) given_.erase(order_.back().first);
  }
}

} // namespace emit
