// Reading the ring. See ring.h.
#include "bpf/ring.h"

#include <cerrno>
#include <linux/bpf.h>
#include <sys/epoll.h>
#include <sys/mman.h>

namespace bpf {
namespace {

uint64_t load_acquire(const uint64_t* p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }
uint32_t load_acquire(const uint32_t* p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }
void store_release(uint64_t* p, uint64_t value) { __atomic_store_n(p, value, __ATOMIC_RELEASE); }

// Room is given back to the producers in steps, since each step takes the line from their cache.
constexpr uint64_t release_step = 16 << 10;

base::Result<base::Fd> watch(int map) {
  base::Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll.valid()) return base::errno_error("cannot wait for the ring buffer", errno);
  // By edge: the ring counts as readable at its first byte, but only a wake-up shall count here.
  epoll_event event{EPOLLIN | EPOLLET, {}};
  if (::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, map, &event) != 0) {
    return base::errno_error("cannot wait for the ring buffer", errno);
  }
  return epoll;
}

} // namespace

base::Result<std::unique_ptr<Ring>> Ring::open(int map, uint32_t bytes) {
  std::unique_ptr<Ring> ring(new Ring);
  ring->page_ = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  ring->mask_ = bytes - 1;
  void* consumer = ::mmap(nullptr, ring->page_, PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);
  if (consumer == MAP_FAILED) return base::errno_error("cannot map the ring buffer", errno);
  ring->consumer_ = static_cast<uint64_t*>(consumer);
  ring->shared_size_ = ring->page_ + 2 * size_t{bytes};
  void* shared =
      ::mmap(nullptr, ring->shared_size_, PROT_READ, MAP_SHARED, map, static_cast<off_t>(ring->page_));
  if (shared == MAP_FAILED) return base::errno_error("cannot map the ring buffer", errno);
  ring->shared_ = static_cast<std::byte*>(shared);
  ACU_TRY(ring->epoll_, watch(map));
  return ring;
}

Ring::~Ring() {
  if (consumer_) ::munmap(consumer_, page_);
  if (shared_) ::munmap(shared_, shared_size_);
}

uint64_t Ring::backlog() const {
  return load_acquire(reinterpret_cast<const uint64_t*>(shared_)) - load_acquire(consumer_);
}

size_t Ring::drain(const std::function<void(std::span<const std::byte>)>& take) {
  auto* producer = reinterpret_cast<const uint64_t*>(shared_);
  uint64_t at = *consumer_;
  uint64_t end = load_acquire(producer);
  if (at == end) return 0;
  // Ends the edge before reading: a wake-up that comes while we read is not lost.
  epoll_event event;
  ::epoll_wait(epoll_.get(), &event, 1, 0);
  end = load_acquire(producer);

  const std::byte* data = shared_ + page_;
  uint64_t released = at;
  size_t count = 0;
  while (at < end) {
    const std::byte* record = data + (at & mask_);
    uint32_t length = load_acquire(reinterpret_cast<const uint32_t*>(record));
    if (length & BPF_RINGBUF_BUSY_BIT) break;
    uint32_t size = length & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);
    if (!(length & BPF_RINGBUF_DISCARD_BIT)) {
      take({record + BPF_RINGBUF_HDR_SZ, size});
      count++;
    }
    at += (uint64_t{size} + BPF_RINGBUF_HDR_SZ + 7) & ~uint64_t{7};
    if (at - released >= release_step) {
      store_release(consumer_, at);
      released = at;
    }
  }
  store_release(consumer_, at);
  return count;
}

} // namespace bpf
