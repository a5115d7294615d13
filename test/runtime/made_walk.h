// Threads of stopped programs that tests make up: memory by address, and native frames of an evaluation function.
#pragma once

#include "runtime/runtimes.h"

#include <map>
#include <random>

namespace runtime {

// What was not set is not readable.
class MadeMemory {
public:
  void word(uint64_t address, uint64_t value, unsigned size = 8) {
    for (unsigned i = 0; i < size; i++) bytes_[address + i] = static_cast<uint8_t>(value >> 8 * i);
  }
  void clear(uint64_t address, uint64_t size) {
    for (uint64_t i = 0; i < size; i++) word(address + i, 0, 1);
  }
  void remove(uint64_t address, uint64_t size) { bytes_.erase(bytes_.lower_bound(address), bytes_.lower_bound(address + size)); }
  std::vector<uint64_t> addresses() const {
    std::vector<uint64_t> out;
    for (const auto& [address, value] : bytes_) out.push_back(address);
    return out;
  }
  // A word becomes one of these addresses, or is gone.
  void damage(std::mt19937& random, const std::vector<uint64_t>& all, bool is_gone) {
    const uint64_t address = all[random() % all.size()];
    if (is_gone) return remove(address, 8);
    word(address & ~7ull, all[random() % all.size()]);
  }
  ReadMemory read() const {
    return [this](uint64_t address, std::span<std::byte> to) {
      for (size_t i = 0; i < to.size(); i++) {
        const auto at = bytes_.find(address + i);
        if (at == bytes_.end()) return false;
        to[i] = static_cast<std::byte>(at->second);
      }
      return true;
    };
  }

private:
  std::map<uint64_t, uint8_t> bytes_;
};

struct MadeFrame {
  uint64_t pc = 0, rsp = 0, rbp = 0, cfa = 0;
  bool is_exact = false;
  std::map<unsigned, uint64_t> others = {}; // registers, by DWARF's numbers
};

inline unwind::Frame frame_of(const MadeFrame& made) {
  unwind::Frame out;
  out.registers.set(unwind::Registers::rip, made.pc);
  out.registers.set(unwind::Registers::rsp, made.rsp);
  out.registers.set(unwind::Registers::rbp, made.rbp);
  for (const auto& [number, value] : made.others) out.registers.set(number, value);
  out.cfa = made.cfa;
  out.is_exact = made.is_exact;
  return out;
}

// A language frame, as it is in the words of a stack.
struct Found {
  uint64_t code = 0, position = 0;
  bool is_first = false;
  bool operator==(const Found&) const = default;
};
inline std::ostream& operator<<(std::ostream& out, const Found& f) { return out << std::hex << f.code << " at " << f.position << (f.is_first ? ", first" : ""); }

inline std::vector<Found> found_in(const LanguageStack& stack) {
  std::vector<Found> out;
  for (size_t i = 0; i + 1 < stack.words.size(); i += 2)
    out.push_back({stack.words[i + 1], stack.words[i] & LANGUAGE_POSITION_MASK, (stack.words[i] & LANGUAGE_FIRST) != 0});
  return out;
}

} // namespace runtime
