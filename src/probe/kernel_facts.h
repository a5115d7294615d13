// What a kernel tells alike each time that it runs, kept between runs under its build-id: numbers that stand
// in its types (BTF), such as the id of a tracepoint's type or the offset of a member, and the formats of its
// events. To find a number takes a walk through a part of all types; to read a format, tracefs makes files
// for each process that asks. Both together are a fifth of what it takes to compile a script.
#pragma once

#include "symbol/cache.h"

#include <cstdint>
#include <forward_list>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace probe {

class KernelFacts {
public:
  // `build_id` may be empty: then nothing is kept.
  KernelFacts(symbol::Cache cache, std::vector<std::byte> build_id);

  // What `ask` gave for this name, now or in a former run. Names have no blank or newline in them.
  uint32_t number(const std::string& name, const std::function<uint32_t()>& ask);

  // The format of an event, as tracefs writes it, without its print and what all records begin with; nothing
  // where it was not kept.
  std::optional<std::string_view> format(std::string_view event) const;
  // Keeps the text that tracefs gave. Only for events that are in the kernel itself, not in a module.
  void keep_format(std::string_view text);

  // For the next run, if there is anything new.
  void store();

private:
  symbol::CacheKey key() const;
  std::vector<std::string_view>::const_iterator find_format(std::string_view first_line) const;

  symbol::Cache cache_;
  std::vector<std::byte> build_id_;
  std::optional<symbol::CachedFile> file_;
  std::map<std::string, uint32_t, std::less<>> numbers_;
  std::vector<std::string_view> formats_;    // sorted; parts of the file, or of these:
  std::forward_list<std::string> new_formats_;
  bool is_new_ = false;
};

} // namespace probe
