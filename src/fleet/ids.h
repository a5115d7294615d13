// Ids of what has a name: FNV-1a, 64 bits (http://www.isthe.com/chongo/tech/comp/fnv/). Two different things have the same one with a probability
// of about 3 in 10^8 among a million.
#pragma once

#include <cstdint>
#include <string_view>

namespace fleet {

class Id {
public:
  Id& add(std::string_view text) {
    for (unsigned char c : text) mix(c);
    return add(text.size()); // "ab", "c" is not "a", "bc"
  }
  Id& add(uint64_t number) {
    for (int i = 0; i < 8; i++) mix(static_cast<unsigned char>(number >> 8 * i));
    return *this;
  }
  uint64_t value() const { return value_; }

private:
  void mix(unsigned char byte) { value_ = (value_ ^ byte) * 0x100000001b3; }
  uint64_t value_ = 0xcbf29ce484222325;
};

inline uint64_t host_id(std::string_view name) { return Id().add(name).value(); }

} // namespace fleet
