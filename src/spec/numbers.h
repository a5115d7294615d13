// Names of numbers that programs and the kernel share: errors and signals as on x86-64 and arm64 Linux
// (include/uapi/asm-generic/errno*.h and signal.h), address families (include/linux/socket.h). Their texts are those
// of the C library without a locale.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace spec {

inline constexpr int last_error = 133, last_signal = 64, last_signal_text = 31;

// "ENOENT"; empty where there is no error with this number.
std::string_view error_name(int number);
// "No such file or directory"; empty where there is no error with this number.
std::string_view error_text(int number);
// "SIGKILL"; "SIGRTMIN+3" for those of real time. Empty where there is none with this number.
std::string_view signal_name(int number);
// "Killed"; empty where there is none with this number, or one of real time.
std::string_view signal_text(int number);

// The names of the numbers 0 … last, for builtins that give them.
struct NumberNames {
  int last;
  std::string_view (*name_of)(int number); // empty: there is none
  std::string_view unknown;                // the text then
  bool shows_unknown = false;              // with the number behind it
};
inline constexpr NumberNames error_texts{last_error, error_text, "Unknown error ", true},
    signal_texts{last_signal_text, signal_text, "Unknown signal ", true};

// What a constant of the usual headers stands for: ENOENT, SIGKILL, AF_INET6, __NR_read. Scripts that include a header
// for these work where it is not installed.
std::optional<int64_t> header_constant(std::string_view name);

} // namespace spec
