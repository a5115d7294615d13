// Events with times. An event is a time, a CPU, a thread and values; its kind says what the values are. Whatever repeats (texts, threads, frames, stacks)
// is kept once and referred to by number.
#pragma once

#include "spec/frame_kinds.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace recording {

// What a number in a column means.
enum class FieldType : uint8_t {
  number,        // unsigned
  signed_number, // in two's complement
  duration,      // ns
  address,
  text,          // number in Names::texts
  thread,        // number in Names::threads
  stack,         // number in Names::stacks
};

struct Field {
  std::string name;
  FieldType type = FieldType::number;
};

// What a timeline draws for events of a kind.
enum class Meaning : uint8_t {
  none,      // a point
  sched,     // the thread leaves its CPU to another one
  wakeup,    // the thread wakes another one
  interval,  // it lasted until the event's time; the first field is its duration
  sample,    // the thread was running; the first field is its stack
  counter,   // the first field is its name, the second one its value
  mark,      // of the whole recording, such as what triggered it; the first field is a text
};

struct EventKind {
  std::string name; // "sched_switch"
  Meaning meaning = Meaning::none;
  std::vector<Field> fields;
};

struct Thread {
  uint32_t pid = 0, tid = 0; // 0: idle
  uint32_t process = 0, name = 0; // texts
};

struct Frame {
  uint32_t name = 0, module = 0; // texts; module 0: none
  spec::FrameKind kind = spec::FrameKind::user;
};

// Stacks share their outer frames: a stack is a frame called by another stack. Number 0 is the empty one, and a number is higher than its caller's.
struct Stack {
  uint32_t caller = 0, frame = 0;
};

// What events refer to. Number 0 of texts is the empty text, of threads the idle one, of stacks the empty one.
struct Names {
  std::vector<std::string> texts = {""};
  std::vector<Thread> threads = {Thread{}};
  std::vector<Frame> frames;
  std::vector<Stack> stacks = {Stack{}};
};

// Events of one kind in the order of their times, by column. All columns are as long as `times`.
struct Batch {
  uint32_t kind = 0;                // number of its EventKind
  std::vector<uint64_t> times;      // ns of the recording's clock
  std::vector<uint32_t> cpus;
  std::vector<uint32_t> threads;    // numbers in Names::threads
  std::vector<std::vector<uint64_t>> columns; // of EventKind::fields

  size_t size() const { return times.size(); }
};

// How many events of a kind there were: sent = kept + overwritten + lost. Overwritten: newer ones took their place, as is meant; lost: there was no place for them.
struct Count {
  uint64_t sent = 0, kept = 0, overwritten = 0, lost = 0;
};

// How the recording was made.
struct About {
  std::string what, host, version;   // "all processes"; the host's name; acu's version
  uint64_t begin_ns = 0, end_ns = 0; // of its clock, CLOCK_MONOTONIC
  uint64_t begin_wall_ns = 0;        // wall clock at begin_ns, since 1970
  uint32_t cpus = 0;
  uint64_t own_cpu_ns = 0;           // what acu itself took
  std::vector<std::string> notes;    // what was lost, and how; whole sentences
};

} // namespace recording
