// What processes do to their code while a session runs: they begin, execute programs, map files and memory
// that may be executed, and end. The kernel tells it by the side records of perf events, which need no
// samples: one dummy event for each CPU, with a buffer of its own. Specification: perf_event_open(2),
// include/uapi/linux/perf_event.h.
//
// A buffer is a page of positions and 2^n pages of records, each a header {u32 type, u16 misc, u16 size},
// fields by type, and at the end, since sample_id_all is asked for, the time.
#pragma once

#include "base/fd.h"
#include "base/reader.h"
#include "base/result.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace symbol {

// Which file a mapping is of: by build-id where the kernel found one, else by inode. All zero: memory that is
// no file, or nothing is known.
struct MappedFileId {
  uint64_t device = 0, inode = 0; // as stat(2) packs devices
  uint64_t generation = 0;        // of the inode, which may be given to another file
  uint8_t build_id_size = 0;
  std::array<std::byte, 20> build_id = {};
  bool is_known() const { return build_id_size || inode; }
  base::ByteSpan build_id_bytes() const { return base::ByteSpan(build_id).first(build_id_size); }
};

struct ProcessEvent {
  enum class Kind : uint8_t { none, mapping, exec, fork, exit, lost };
  Kind kind = Kind::none;
  uint32_t pid = 0, tid = 0;
  uint32_t parent = 0;                     // fork: the process that forked
  uint64_t time = 0;                       // CLOCK_MONOTONIC, ns
  uint64_t lost = 0;                       // records for which there was no room
  uint64_t begin = 0, end = 0, offset = 0; // mapping: addresses, and of `begin` in the file
  MappedFileId file;
  std::string
      path; // mapping: as the process sees it, perhaps with " (deleted)" behind it; "//anon", "[vdso]"
};

// One record, header included, as a dummy event with only times asked for gives it. kind none: one that says
// nothing about code (a thread that begins, a new name), or damaged.
ProcessEvent parse_process_event(base::ByteSpan record);

class ProcessEvents {
public:
  // Buffers of all processes on these CPUs. Failure: it is not allowed (perf_event_paranoid, no CAP_PERFMON).
  static base::Result<std::unique_ptr<ProcessEvents>> open(std::span<const int> cpus);
  ~ProcessEvents();
  ProcessEvents(const ProcessEvents&) = delete;
  ProcessEvents& operator=(const ProcessEvents&) = delete;

  // Hands over what happened up to now, in the order of time. Returns the number of records.
  size_t drain(const std::function<void(const ProcessEvent&)>& take);
  // Readable (poll, epoll) from a record's arrival until the next drain.
  int wait_fd() const { return epoll_.get(); }
  uint64_t lost() const { return lost_; }       // records for which there was no room so far
  uint64_t records() const { return records_; } // that arrived so far

private:
  ProcessEvents() = default;
  struct Buffer {
    base::Fd event;
    std::byte* memory = nullptr;
  };
  base::Status add(int cpu, bool with_build_ids);
  void read(Buffer& buffer, uint64_t end);

  base::Fd epoll_;
  std::vector<Buffer> buffers_;
  size_t page_ = 0, bytes_ = 0;
  uint64_t lost_ = 0, records_ = 0;
  std::vector<ProcessEvent> waiting_; // read, but not handed over
  std::vector<std::byte> record_;     // one that wraps, put together
};

} // namespace symbol
