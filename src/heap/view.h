// The heap of a stopped program, with names: types of chunks, places of words, and who holds what.
#pragma once

#include "report/target_names.h"
#include "target/heap.h"
#include "target/reach.h"
#include "target/stacks.h"
#include "target/target.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heap {

std::string hex(uint64_t n);
std::string size_text(uint64_t bytes); // "48 B", "9.5 KiB"

class View {
public:
  View(target::Target& target, target::Stacks& stacks)
      : target_(target), stacks_(stacks), names_(target, stacks), heap_(target::find_heap(target)),
        own_size_(target::own_variables_size(target)) {}

  target::Target& target() { return target_; }
  const target::Heap& heap() const { return heap_; }
  // Worked out when it is first asked for.
  target::Reach& reach();

  // The class of what C++ made, by the table that its first word leads to; empty: not known.
  const std::string& type_of(const target::Chunk& chunk);
  // "48 B, Session": of which kind it is.
  std::string kind_of(const target::Chunk& chunk);
  // "the chunk at 0x55… (48 B, Session)"
  std::string chunk_text(const target::Chunk& chunk);
  // "chunk 0x55… of 48 B, +8", "counter+0 in /usr/bin/x", "stack of thread 17 in main"
  std::string place(uint64_t address);

  // What holds a chunk that only the root leads to: a variable and its file, a stack and the function, a
  // thread's registers.
  struct Root {
    std::string name, module;
    auto operator<=>(const Root&) const = default;
  };
  Root root_of(const target::Reach::Step& step);

private:
  // The thread on whose stack an address is; or whose own variables or descriptor it is in.
  std::optional<size_t> stack_at(uint64_t address);
  std::optional<size_t> own_at(uint64_t address);
  std::string thread_text(size_t thread) const;

  target::Target& target_;
  target::Stacks& stacks_;
  report::TargetNames names_;
  target::Heap heap_;
  std::optional<target::Reach> reach_;
  uint64_t own_size_ = 0;                 // of threads' own variables
  std::map<uint64_t, std::string> types_; // by address of the virtual table
};

} // namespace heap
