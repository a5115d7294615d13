// Named values of arguments of system calls: sets of bits, and numbers of which each means one thing. Linux's
// user API (include/uapi) for x86-64.
#pragma once

#include "base/inline_text.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace spec {

struct NamedValue {
  uint64_t value;
  base::InlineText<55> name;
};

struct FlagSet {
  // Where the bits of `one_of` go if there is no name for them: behind the others, or before them.
  enum class Unnamed : uint8_t { behind, before };

  std::string_view name;
  std::span<const NamedValue> values;
  uint64_t one_of = ~uint64_t{
      0}; // bits of which the values mean one thing together; the rest are bits, each with its meaning
  Unnamed unnamed = Unnamed::behind;
  bool is_wide = false; // 64 bits of an argument count; else the kernel looks at the lower 32 alone
};

// nullptr where there is none of this name.
const FlagSet* find_flag_set(std::string_view name);

// "O_WRONLY|O_CREAT|O_TRUNC"; bits without a name in hexadecimal.
std::string flags_text(const FlagSet& set, uint64_t value);

} // namespace spec
