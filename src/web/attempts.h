// Wrong passwords slow their sender down: after some, each next one has to wait twice as long.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace web {

class Attempts {
public:
  // `free`: wrong ones without a wait. `longest_ns`: of a wait.
  Attempts(uint32_t free, uint64_t longest_ns) : free_(free), longest_ns_(longest_ns) {}
  // Until the next attempt of this key may be made; 0: now.
  uint64_t wait_ns(const std::string& key, uint64_t now_ns) const;
  // Counts an attempt of a key whose wait is not over.
  void too_early(const std::string& key) { counts_[key].refused++; }
  void failed(const std::string& key, uint64_t now_ns);
  // How many were too early since the last call.
  uint64_t take_refused(const std::string& key);

private:
  struct Count {
    uint32_t failures = 0;
    uint64_t refused = 0, first_ns = 0, last_ns = 0, next_ns = 0;
  };
  uint32_t free_;
  uint64_t longest_ns_;
  std::map<std::string, Count, std::less<>> counts_; // each of a quarter of an hour, from its first failure on
};

} // namespace web
