// Texts of /proc and of control groups as numbers by name. What a kernel does not have is not in the result; a damaged line is left out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace proc {

class NamedNumbers {
public:
  void set(std::string name, uint64_t number) { numbers_[std::move(name)] = number; }
  std::optional<uint64_t> find(const std::string& name) const;
  uint64_t get(const std::string& name) const { return find(name).value_or(0); }
  const std::unordered_map<std::string, uint64_t>& all() const { return numbers_; }

private:
  std::unordered_map<std::string, uint64_t> numbers_;
};

// By how much it grew; 0 if it is smaller: the kernel started anew.
constexpr uint64_t growth(uint64_t before, uint64_t after) { return after > before ? after - before : 0; }

// Lines with a name and a number, as vmstat, cpu.stat, memory.events and meminfo have them ("MemFree:  12 kB", which are bytes here).
NamedNumbers read_named_numbers(std::string_view text);
// Two lines for each protocol, of names and of numbers, as net/snmp and net/netstat have them: "Tcp.OutSegs".
NamedNumbers read_protocol_numbers(std::string_view text);

// Pressure stall information (Documentation/accounting/psi.rst): for how long some or all tasks waited, so far.
struct PressureTotals {
  uint64_t some_us = 0, full_us = 0;
};
// Nothing: it is no such text.
std::optional<PressureTotals> read_pressure(std::string_view text);

// Words between any number of spaces and tabs.
std::vector<std::string_view> words_of(std::string_view line);
// A decimal number; nothing else may follow.
std::optional<uint64_t> decimal(std::string_view word);
// A file as text; empty: it cannot be read.
std::string text_of(const std::string& path);
// A file with one number; 0: it cannot be read, or has another text ("max").
uint64_t number_in(const std::string& path);

} // namespace proc
