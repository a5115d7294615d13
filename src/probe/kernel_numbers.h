// Numbers that stand in the kernel's types (BTF), such as the id of a tracepoint's type or the offset of a
// member, kept between runs under the kernel's build-id: to find one takes a walk through a part of all its
// types, a tenth of what it takes to compile a script that asks for nothing else of them.
#pragma once

#include "symbol/cache.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace probe {

class KernelNumbers {
public:
  // `build_id` may be empty: then nothing is kept.
  KernelNumbers(symbol::Cache cache, std::vector<std::byte> build_id);

  // What `ask` gave for this name, now or in a former run. Names have no blank or newline in them.
  uint32_t get(const std::string& name, const std::function<uint32_t()>& ask);
  // For the next run, if something was asked for the first time.
  void store();

private:
  symbol::CacheKey key() const;

  symbol::Cache cache_;
  std::vector<std::byte> build_id_;
  std::map<std::string, uint32_t, std::less<>> known_;
  bool is_new_ = false;
};

} // namespace probe
