#include "why/crash_log.h"

#include "base/text.h"

#include <array>
#include <charconv>
#include <cstdio>

namespace why {

namespace {

struct Trap {
  std::string_view text, signal;
};
constexpr Trap traps[] = {{"general protection fault", "SIGSEGV"}, {"divide error", "SIGFPE"},      {"invalid opcode", "SIGILL"},
                          {"stack segment", "SIGBUS"},             {"alignment check", "SIGBUS"},   {"overflow", "SIGSEGV"},
                          {"bounds", "SIGSEGV"},                   {"coprocessor error", "SIGFPE"}, {"simd exception", "SIGFPE"}};

// At the beginning of a text.
std::optional<uint64_t> hexadecimal(std::string_view text) {
  uint64_t out = 0;
  return std::from_chars(text.data(), text.data() + text.size(), out, 16).ec == std::errc() ? std::optional(out) : std::nullopt;
}

// The number behind a word: " ip 00007f…", or " ip:7f…".
std::optional<uint64_t> number_behind(std::string_view line, std::string_view word) {
  const size_t at = line.find(word);
  return at == line.npos ? std::nullopt : hexadecimal(line.substr(at + word.size()));
}

// " in FILE[BASE+SIZE]", or since Linux 6.5 " in FILE[OFFSET,BASE+SIZE]".
std::string code_of(std::string_view line, uint64_t ip) {
  const size_t in = line.rfind(" in "), open = line.rfind('[');
  if (in == line.npos || open == line.npos || open < in) return {};
  const std::string_view inside = line.substr(open + 1);
  const size_t comma = inside.find(',');
  const auto first = hexadecimal(inside);
  const uint64_t offset = !first ? 0 : comma == inside.npos ? ip - *first : *first;
  std::array<char, 20> text;
  std::snprintf(text.data(), text.size(), "+%#llx", static_cast<unsigned long long>(offset));
  return std::string(line.substr(in + 4, open - in - 4)) + text.data();
}

// "NAME[PID]" at the end of a text; names may have spaces and brackets.
bool read_process(std::string_view text, LoggedCrash& out) {
  const size_t open = text.rfind('[');
  if (open == text.npos || !text.ends_with(']')) return false;
  const auto pid = base::parse_integer(text.substr(open + 1, text.size() - open - 2));
  if (!pid || *pid <= 0) return false;
  out.pid = static_cast<uint64_t>(*pid);
  out.name = text.substr(0, open);
  return true;
}

} // namespace

std::optional<LoggedCrash> read_crash(std::string_view line) {
  LoggedCrash out;
  if (const size_t at = line.find(": segfault at "); at != line.npos) {
    if (!read_process(line.substr(0, at), out)) return std::nullopt;
    out.signal = "SIGSEGV";
    out.reason = "segfault";
    out.address = number_behind(line, ": segfault at ").value_or(0);
    out.code = code_of(line, number_behind(line, " ip ").value_or(0));
    return out;
  }
  constexpr std::string_view begin = "traps: ";
  const size_t ip = line.find(" ip:");
  if (!line.starts_with(begin) || ip == line.npos) return std::nullopt;
  for (const Trap& trap : traps) {
    std::string_view head = line.substr(begin.size(), ip - begin.size());
    if (!head.ends_with(trap.text)) continue;
    head = base::trim(head.substr(0, head.size() - trap.text.size()));
    if (head.ends_with(" trap")) head.remove_suffix(5);
    if (!read_process(head, out)) continue;
    out.signal = trap.signal;
    out.reason = trap.text;
    out.code = code_of(line, number_behind(line, " ip:").value_or(0));
    return out;
  }
  return std::nullopt;
}

} // namespace why
