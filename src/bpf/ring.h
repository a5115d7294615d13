// The consumer's end of a kernel ring buffer (BPF_MAP_TYPE_RINGBUF).
//
// The map is mapped three times in a row: one page that we write (how far we have read), one page that the
// kernel writes (how far records are reserved), and the data, twice, so that records that wrap look
// contiguous. A record is a header of 8 bytes {u32 length, u32 page} and the data, rounded up to 8; the top
// bits of the length say that it is still being written (busy) or was given up (discard). Source:
// kernel/bpf/ringbuf.c.
//
// The programs send without waking anybody, except past a quarter of the ring: a waiter's processor
// is left alone (a wake-up per event costs more than the event), and the ring is read by the clock.
#pragma once

#include "base/fd.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

namespace bpf {

class Ring {
public:
  // `bytes`: size of the ring, a power of two and a multiple of the page size.
  static base::Result<std::unique_ptr<Ring>> open(int map, uint32_t bytes);
  ~Ring();
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  // Hands every finished record to `take`, oldest first, up to the first that is still being written or to
  // what was there when it began. Returns their number.
  size_t drain(const std::function<void(std::span<const std::byte>)>& take);
  // Bytes not yet read.
  uint64_t backlog() const;
  // Readable (poll, epoll) from a producer's wake-up until the next drain.
  int wait_fd() const { return epoll_.get(); }

private:
  Ring() = default;

  base::Fd epoll_;
  uint64_t* consumer_ = nullptr; // position up to which we have read
  std::byte* shared_ = nullptr;  // the producer's page, then the data
  size_t shared_size_ = 0;
  size_t page_ = 0;
  uint64_t mask_ = 0;
};

} // namespace bpf
