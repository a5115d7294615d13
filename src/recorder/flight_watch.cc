#include "recorder/flight_watch.h"

#include "base/print.h"
#include "base/text.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <unistd.h>

namespace recorder {

namespace {

std::string file_of(const std::string& resource) { return "/proc/pressure/" + resource; }

// "some avg10=0.00 avg60=0.00 avg300=0.00 total=12345", in us (Documentation/accounting/psi.rst); nothing: the file is not there or has no such line.
std::optional<uint64_t> waited_us(const std::string& resource) {
  const auto text = base::read_file(file_of(resource));
  const size_t some = text.ok() ? text->find("some ") : std::string::npos;
  const size_t total = some == std::string::npos ? some : text->find("total=", some);
  if (total == std::string::npos) return std::nullopt;
  return std::strtoull(text->c_str() + total + 6, nullptr, 10);
}

// Resident memory; 0: it has ended.
uint64_t resident_bytes(int pid) {
  const auto text = base::read_file("/proc/" + std::to_string(pid) + "/statm");
  const std::vector<std::string_view> words = text.ok() ? base::split(*text, ' ') : std::vector<std::string_view>();
  const auto pages = words.size() > 1 ? base::parse_integer(words[1]) : std::nullopt;
  return pages.value_or(0) * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

constexpr double mib = 1 << 20;

} // namespace

base::Result<PressureLimit> read_pressure(std::string_view text) {
  const size_t colon = text.find(':');
  PressureLimit out = {.resource = std::string(text.substr(0, colon))};
  std::string number(colon == text.npos ? std::string_view() : text.substr(colon + 1));
  if (number.ends_with('%')) number.pop_back();
  char* end = nullptr;
  out.percent = std::strtod(number.c_str(), &end);
  const bool is_number = !number.empty() && *end == '\0' && number.find_first_not_of("0123456789.") == number.npos;
  if (!base::is_one_of(pressures, out.resource) || !is_number || out.percent <= 0 || out.percent >= 100)
    return base::Error{base::Failure::usage, "`--when-pressure` takes cpu, memory or io and a share of the time, such as memory:20%, not `" + std::string(text) + "`"};
  return out;
}

base::Result<FlightWatch> FlightWatch::create(std::vector<PressureLimit> limits, uint64_t memory) {
  FlightWatch out;
  out.memory_ = memory;
  for (PressureLimit& limit : limits) {
    if (!waited_us(limit.resource))
      return base::Error{base::Failure::unsupported, "`--when-pressure`: this kernel does not measure pressure: there is no " + file_of(limit.resource) +
                                                         "\nhint: boot it with psi=1"};
    out.limits_.push_back({.pressure = std::move(limit)});
  }
  return out;
}

std::string FlightWatch::look(uint64_t now_ns, const std::vector<int>& pids) {
  std::string out;
  for (Limit& l : limits_) {
    const std::optional<uint64_t> waited = waited_us(l.pressure.resource);
    if (!waited) continue;
    const double us = static_cast<double>(now_ns - l.at_ns) / 1000;
    const double percent = 100 * static_cast<double>(*waited - std::min(*waited, l.waited_us)) / us;
    if (l.at_ns && out.empty() && percent > l.pressure.percent)
      out = base::print("%s pressure %.0f%% above %g%%", l.pressure.resource.c_str(), std::min(percent, 100.0), l.pressure.percent);
    l.waited_us = *waited;
    l.at_ns = now_ns;
  }
  if (!memory_ || !out.empty()) return out;
  uint64_t bytes = 0;
  for (int pid : pids) bytes += resident_bytes(pid);
  if (bytes > memory_) out = base::print("memory %.0f MiB above %.0f MiB", static_cast<double>(bytes) / mib, static_cast<double>(memory_) / mib);
  return out;
}

} // namespace recorder
