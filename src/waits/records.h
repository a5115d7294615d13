// The records of scripts that watch waits (scripts/long_waits.bt, slow.bt, wait_graph.bt), sent by print(), as structures.
#pragma once

#include "type/type.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

namespace waits {

// A stack as recorded by the kernel. `type`: nullptr: none.
struct StackId {
  uint64_t id = 0;
  uint32_t pid = 0; // whose code it is; of the kernel's 0
  const type::Type* type = nullptr;
};

// A thread. `task`: its ID in the kernel; the others are IDs in acu's PID namespace.
struct Thread {
  uint32_t task = 0, pid = 0, tid = 0;
  std::string name;
};

// A wait was ended by a waker. Times are in ns of CLOCK_MONOTONIC.
struct Wake {
  uint32_t task = 0; // who is woken
  uint64_t at = 0;
  Thread by;
  StackId kernel, user;
};

// A thread ran on a CPU that another one waited for.
struct Ran {
  uint32_t task = 0; // who waited
  Thread thread;
  uint64_t until = 0, ns = 0;
};

// The current call of a thread: its start (0: unknown), its time off the CPU so far, and the runnable part of that.
struct InCall {
  uint64_t start = 0, away_ns = 0, queued_ns = 0;
  bool is_counted = true; // the latter two
};

// A thread was off the CPU.
struct Wait {
  Thread thread;
  uint64_t left = 0, back = 0;
  uint64_t woken = 0; // from then on it waited for a CPU alone
  bool is_preempted = false;
  int call = -1; // the system call that it is in
  std::array<uint64_t, 6> arguments = {};
  uint32_t owner = 0; // of a futex: who has it if it is a mutex
  Thread ran;     // who had its CPU just before it came back, …
  uint64_t ran_ns = 0; // … and for how long
  uint32_t cpu = 0;
  std::vector<Ran> others; // who had that CPU while it was runnable
  InCall in;
  StackId kernel, user;
  std::optional<Wake> wake;
  bool is_told = false; // by itself, as no call was seen

  uint64_t ns() const { return back - left; }
  uint64_t queued_ns() const { return back - woken; }
  bool is_for_futex() const;
};

// How a call ended that did not return.
enum class LeftBy : uint8_t { none, exception, jump };

// A call that was slow.
struct Call {
  Thread thread;
  uint64_t start = 0, end = 0;
  int call = -1; // number, of a system call
  bool has_ended = true; // false: its thread ended in it, or it was still going on at the end
  LeftBy left_by = LeftBy::none;
  int64_t result = 0;
  std::array<uint64_t, 6> arguments = {};
  bool is_counted = true; // the time of its thread …
  uint64_t away_ns = 0;   // … off the CPU, …
  uint64_t queued_ns = 0; // … and of that runnable
  StackId user; // of who called it
};

// A thread in a call got the CPU after it was runnable for a time; no wait shows that.
struct Turn {
  uint32_t task = 0;
  uint64_t at = 0, queued_ns = 0;
  Thread ran; // who had the CPU before; pid 0: it was idle
  uint64_t ran_ns = 0;
  uint32_t cpu = 0;
};

// A thread was seen on the CPU within a call.
struct OnCpu {
  Thread thread;
  uint64_t at = 0;
  InCall in;
  StackId user;
};

// A slow disk request.
struct Io {
  Thread thread; // who asked for it
  uint64_t asked = 0, issued = 0, done = 0; // issued: to its device; 0: not known
  uint32_t operation = 0;                   // enum req_op of linux/blk_types.h
  uint32_t device = 0;                      // as the kernel packs it; 0: not known
  uint64_t sector = 0;                      // of 512 bytes
  uint32_t bytes = 0;
  StackId kernel, user;
};

// If only entries are probed: a thread began its next call, so the one that began at or before `start` has ended.
struct NextCall {
  uint32_t task = 0;
  uint64_t start = 0;
};

using Note = std::variant<std::monostate, Wait, Wake, Call, OnCpu, Ran, Io, Turn, NextCall>;

class Records {
public:
  // monostate: another record.
  Note read(const type::Type& type, std::span<const std::byte> bytes);
  // A call in progress, from @call; other fields and its end stay empty. Start 0: none.
  Call read_open_call(std::span<const std::byte> key, const type::Type& type, std::span<const std::byte> value);

  // A field of a record; without a type: absent.
  struct Place {
    const type::Type* type = nullptr;
    uint32_t offset = 0;
  };
  struct ThreadPlaces {
    Place pid, tid, name;
  };
  struct Kind;
  // The fields of a record by their names.
  struct Places {
    const Kind* kind = nullptr; // by the name of the first field, …
    Place task;                 // … which is the kernel's number of a thread
    ThreadPlaces thread, before;
    Place at, left, woken, back, start, end, away_ns, queued_ns, ran_ns, until, asked, issued, done; // times
    Place call, result, owner, cpu;
    std::array<Place, 6> arguments;
    Place operation, device, sector, bytes;
    Place kernel, user;
  };

private:
  const Places& places_in(const type::Type& record);

  std::unordered_map<const type::Type*, Places> places_; // by type of record
};

} // namespace waits
