// Packets from programs: the kernel hands them over through perf's buffers, one for each CPU
// (BPF_MAP_TYPE_PERF_EVENT_ARRAY), since a ring buffer takes no data of a packet.
//
// A buffer is a page of positions (struct perf_event_mmap_page) and 2^n pages of records: a header {u32 type,
// u16 misc, u16 size}, then for a sample a u32 length and as many bytes. Source: perf_event_open(2).
#pragma once

#include "base/fd.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace bpf {

class Packets {
public:
  // A buffer of so many bytes, a power of two and at least a page, for each CPU that is online.
  static base::Result<std::unique_ptr<Packets>> open(int map, uint32_t bytes);
  ~Packets();
  Packets(const Packets&) = delete;
  Packets& operator=(const Packets&) = delete;

  // Hands every record to `take`, CPU by CPU. Returns their number.
  size_t drain(const std::function<void(std::span<const std::byte>)>& take);
  // Readable (poll, epoll) from the arrival of a record until the next drain.
  int wait_fd() const { return epoll_.get(); }
  // Records for which there was no room so far.
  uint64_t lost() const { return lost_; }

private:
  Packets() = default;
  struct Buffer {
    base::Fd event;
    std::byte* memory = nullptr;
  };
  base::Status add(int map, int cpu);
  size_t drain(Buffer& buffer, const std::function<void(std::span<const std::byte>)>& take);

  base::Fd epoll_;
  std::vector<Buffer> buffers_;
  size_t page_ = 0, bytes_ = 0;
  uint64_t lost_ = 0;
  std::vector<std::byte> record_; // one that wraps, put together
};

} // namespace bpf
