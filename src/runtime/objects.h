// What readers of a stopped program's objects share, whatever the language: where they read, what they give, and how much of it.
#pragma once

#include "runtime/code.h"
#include "runtime/language.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace runtime {

// Memory of a program that does not change while it is read.
struct ObjectMemory {
  const ReadMemory& read;
  // Why a byte cannot be read, as "is not mapped"; without it texts only say that it cannot.
  std::function<std::string_view(uint64_t address)> why = {};
};

// How much of an object becomes text. What is left out is marked with `…`.
struct TextLimits {
  size_t characters = 60; // of a string
  size_t elements = 10;   // of a list, …
  unsigned depth = 3;     // lists in lists
  bool is_plain = false;  // a string is its characters, without quotes
  size_t length = 100;    // of the whole text, in bytes: once it is longer, no more elements follow
};

// A variable of a frame.
struct Variable {
  std::string name, text;
  bool is_argument = false;
  bool is_set = true; // not: it has no value yet, or none any more
};

// A task of an event loop, with the coroutines that it is in.
struct AsyncTask {
  uint64_t address = 0;
  std::string name;
  enum State : uint8_t { running, ready, created, waiting } state = waiting;
  std::string waits_for;           // type of the future that it waits for; empty: not known
  std::vector<uint64_t> words;     // entries of its coroutines, innermost first (spec/stack_entry.h)
  std::vector<size_t> awaited_by;  // tasks, by index
  size_t awaits = 0;               // tasks
};

struct AsyncTasks {
  std::vector<AsyncTask> all;
  std::vector<language_object> objects; // what names the code objects of `words`
  size_t unreadable = 0;                // tasks whose memory is not there or damaged
  std::string problem;                  // why there are none; empty: none
};

} // namespace runtime
