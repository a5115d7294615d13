// Maps keyed by thread (task storage): the kernel keeps each value with its task, so that it goes when the
// task ends, and no call lists them. A small program that the kernel runs for every task (an iterator) does:
// it writes {u64 tid, value} for each that has one, or deletes or zeroes it. Source:
// Documentation/bpf/bpf_iterators.rst; since Linux 5.11 (task storage), 5.8 (iterators).
#pragma once

#include "base/result.h"
#include "bpf/map_io.h"
#include "ir/engine.h"

#include <memory>
#include <vector>

namespace bpf {

class TaskStorage {
public:
  // Finds what the iterator needs in the kernel's types (a few ms): once for all maps and reads.
  static base::Result<std::unique_ptr<TaskStorage>> open();

  // Keys are u64 thread ids of the initial pid namespace; values with the flag set, once each.
  base::Result<std::vector<ir::Entry>> read(const MapShape& map) const;
  base::Status clear(const MapShape& map) const;
  base::Status zero(const MapShape& map) const;

private:
  TaskStorage() = default;
  enum class Action { read, clear, zero };
  base::Result<std::vector<std::byte>> run(const MapShape& map, Action action) const;

  uint32_t iterator_id_ = 0; // function bpf_iter_task
  uint32_t tid_offset_ = 0;  // of `pid` in struct task_struct
};

} // namespace bpf
