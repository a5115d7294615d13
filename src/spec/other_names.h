// What scripts for other tracers, or from years ago, call things that have another name here. Only hints come of it.
#pragma once

#include <string_view>

namespace spec {

struct OtherName {
  std::string_view name, here;
};

// clang-format off
constexpr OtherName other_names[] = {
    {"quantize", "hist(n)"},          {"lquantize", "lhist(n, min, max, step)"}, {"sym", "ksym(address) or usym(address)"},
    {"jstack", "ustack"},             {"ntohs", "bswap((uint16)n)"},
    {"htons", "bswap((uint16)n)"},    {"ntohl", "bswap((uint32)n)"},             {"htonl", "bswap((uint32)n)"},
    {"copyinstr", "str(pointer)"},    {"stringof", "str(pointer)"},              {"strjoin", "printf() with several %s"},
    {"execname", "comm"},             {"timestamp", "nsecs"},                    {"walltimestamp", "strftime(format, nsecs)"},
    {"probefunc", "func"},            {"probename", "probe"},                    {"curthread", "curtask"},
    {"trunc", "print(@map, top)"},    {"printa", "print(@map)"},                 {"trace", "print(value)"},
    {"gettimeofday_ns", "nsecs"},     {"user_string", "str(pointer)"},           {"kernel_string", "str(pointer)"},
};
// clang-format on

// What it is called here, or nothing.
constexpr std::string_view name_here(std::string_view other) {
  for (const OtherName& row : other_names)
    if (row.name == other) return row.here;
  return {};
}

} // namespace spec
