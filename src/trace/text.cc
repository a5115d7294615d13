#include "trace/text.h"

#include "base/counted.h"
#include "spec/numbers.h"

#include <bit>
#include <cstdio>
#include <ctime>

namespace trace {

static std::string printed(const char* format, uint64_t value) {
  char out[32];
  return std::string(out, static_cast<size_t>(std::snprintf(out, sizeof out, format, value)));
}

std::string clock_text(uint64_t ns, ClockTimes how) {
  constexpr uint64_t second = 1'000'000'000, us = 1000;
  const auto whole = static_cast<time_t>(ns / second);
  char text[40];
  struct tm local = {};
  ::localtime_r(&whole, &local);
  size_t n = std::strftime(text, sizeof text, how == ClockTimes::since_epoch ? "%s" : "%T", &local);
  if (how != ClockTimes::seconds) n += static_cast<size_t>(std::snprintf(text + n, sizeof text - n, ".%06lu", ns % second / us));
  return std::string(text, n);
}

std::string hexadecimal(uint64_t value) { return printed("%#lx", value); }
std::string pointer(uint64_t value) { return value ? hexadecimal(value) : "NULL"; }
std::string octal(uint64_t value) { return printed("%#03lo", value); }

// One setting for all that is shown: a value that is forgotten somewhere would give a secret away.
static bool hides_text = false;
void redact_text(bool is_redacted) { hides_text = is_redacted; }

std::string quoted(base::ByteSpan bytes, bool is_cut) {
  if (hides_text) return "<" + base::counted(bytes.size(), "byte") + (is_cut ? " or more>" : ">");
  std::string out = "\"";
  out.reserve(bytes.size() + sizeof "\"\"...");
  for (size_t i = 0; i < bytes.size(); i++) {
    const auto c = static_cast<unsigned char>(bytes[i]);
    if (c >= ' ' && c < 0x7f && c != '"' && c != '\\') {
      out += static_cast<char>(c);
      continue;
    }
    constexpr std::string_view special = "\"\\\n\t\r\v\f", letters = "\"\\ntrvf";
    if (size_t at = special.find(static_cast<char>(c)); at != special.npos) {
      out.append(1, '\\').append(1, letters[at]);
    } else {
      // As few digits as can be told from what follows.
      const bool digit_follows = // octal
          i + 1 < bytes.size() && bytes[i + 1] >= std::byte{'0'} && bytes[i + 1] <= std::byte{'7'};
      out += printed(digit_follows ? "\\%03lo" : "\\%lo", c);
    }
  }
  return out + (is_cut ? "\"..." : "\"");
}

std::string signal(uint64_t number) {
  constexpr uint64_t first_of_real_time = 32; // for the kernel; the C library keeps two of them to itself
  if (number >= first_of_real_time && number <= spec::last_signal)
    return number == first_of_real_time ? "SIGRTMIN" : "SIGRT_" + std::to_string(number - first_of_real_time);
  std::string_view name =
      number < first_of_real_time ? spec::signal_name(static_cast<int>(number)) : std::string_view();
  return name.empty() ? std::to_string(static_cast<int32_t>(number)) : std::string(name);
}

std::string signal_set(uint64_t bits) {
  const bool most = std::popcount(bits) >= 42; // two thirds
  std::string out = most ? "~[" : "[";
  const char* between = "";
  for (uint64_t n = 1; n <= 64; n++) {
    if ((bits >> (n - 1) & 1) == most) continue;
    std::string name = signal(n);
    out.append(between).append(name.starts_with("SIG") ? name.substr(3) : name);
    between = " ";
  }
  return out + "]";
}

} // namespace trace
