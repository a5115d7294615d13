// strftime(3) does the work, with the buffer that it needs. Its formats are the machine's own: what it does
// not know is left to it, except %f.
#include "report/time.h"

#include <cstdio>
#include <ctime>

namespace report {

// strftime does not know %f: it is filled in before.
static std::string with_microseconds(std::string_view format, int64_t microseconds) {
  std::string out;
  for (size_t i = 0; i < format.size(); i++) {
    if (format[i] != '%' || i + 1 == format.size()) {
      out += format[i];
    } else if (format[++i] == 'f') {
      char digits[8];
      std::snprintf(digits, sizeof digits, "%06d", static_cast<int>(microseconds));
      out += digits;
    } else {
      out.append("%").append(1, format[i]);
    }
  }
  return out;
}

std::string format_time(std::string_view format, int64_t wall_ns) {
  constexpr int64_t second = 1'000'000'000;
  time_t seconds = wall_ns / second - (wall_ns % second < 0);
  int64_t rest = wall_ns - seconds * second;
  // A blank at the end, dropped again, tells an empty result from one that did not fit.
  std::string complete = with_microseconds(format, rest / 1000) + " ";
  tm local = {};
  ::localtime_r(&seconds, &local);
  std::string out(complete.size() + 64, '\0');
  constexpr size_t limit = 1 << 20;
  size_t length = 0;
  while ((length = std::strftime(out.data(), out.size(), complete.c_str(), &local)) == 0 &&
         out.size() < limit)
    out.resize(out.size() * 2);
  out.resize(length ? length - 1 : 0);
  return out;
}

int64_t wall_now_ns() {
  timespec now = {};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

} // namespace report
