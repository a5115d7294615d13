// One traced system call: registers, result, and copied memory of up to two
// arguments.
#pragma once

#include "base/reader.h"

#include <array>
#include <optional>
#include <cstdint>
#include <string>
#include <vector>

namespace trace {

// In place of a call number: a signal (result: its code, duration: its number), a thread exit
// (result: its status, as from wait(2)), or a socket: result its descriptor, duration its inode, and six words about it in place of
// arguments.
constexpr int signal_record = -1, end_record = -2, detail_record = -3;
constexpr int unknown_code = INT32_MAX; // of a signal
constexpr size_t max_words = 8; // of an execve that failed

struct Call {
  static constexpr uint64_t no_time = ~uint64_t{0};

  int number = 0;
  int64_t result = 0;
  uint64_t duration_ns = no_time; // no_time: it does not return, or had begun before
  uint64_t begin_ns = 0;             // when it began, by the clock of the probes (CLOCK_BOOTTIME); of signals and ends, when they were
  uint32_t tid = 0, pid = 0;
  std::string thread; // name
  std::array<uint64_t, 6> arguments = {};
  std::array<base::ByteSpan, 6> copied = {}; // by argument; empty: nothing is known of what it points to
  std::array<bool, 6> is_cut = {};           // there is more than was copied
  std::array<bool, 6> is_late = {};          // what was copied is of a while after the call, when its page was there
  base::ByteSpan left = {};              // what is left of a timeout, of calls that write that over it
  std::vector<base::ByteSpan> inner = {};    // what the copied bytes point to: contents of an iovec; of a message before them
                                             // its address, its iovec and its control messages
  std::vector<base::ByteSpan> sets = {}; // of select: the three that were given, the three that came back, and the signal mask
  // Calls of 32-bit programs have the numbers of i386, and this added.
  static constexpr int first_of_32 = 1 << 29;
  bool is_32() const { return number >= first_of_32; }
  bool failed() const { return result < 0 && result >= -4095; }
};

// What descriptors refer to.
class Descriptors {
public:
  virtual ~Descriptors() = default;
  virtual std::string path(uint32_t pid, int fd) = 0; // empty: not known
  virtual std::string shown(uint32_t pid, int fd) { return path(pid, fd); } // with more about it, where that is wanted
  // The protocol of a netlink socket; nullopt: another socket, or not known.
  virtual std::optional<uint32_t> netlink_protocol(uint32_t, int) { return std::nullopt; }
};

} // namespace trace
