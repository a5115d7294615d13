// Reading perf's buffers. See packets.h.
#include "bpf/packets.h"

#include "bpf/syscall.h"
#include "probe/attach.h"

#include <cerrno>
#include <cstring>
#include <linux/perf_event.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace bpf {

base::Result<std::unique_ptr<Packets>> Packets::open(int map, uint32_t bytes) {
  std::unique_ptr<Packets> packets(new Packets);
  packets->epoll_ = base::Fd(::epoll_create1(EPOLL_CLOEXEC));
  if (!packets->epoll_.valid()) return base::errno_error("cannot wait for packets", errno);
  packets->page_ = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  packets->bytes_ = std::max<size_t>(bytes, packets->page_);
  for (int cpu : probe::online_cpus()) ACU_CHECK(packets->add(map, cpu));
  return packets;
}

Packets::~Packets() {
  for (Buffer& b : buffers_)
    if (b.memory) ::munmap(b.memory, page_ + bytes_);
}

base::Status Packets::add(int map, int cpu) {
  perf_event_attr attr;
  std::memset(&attr, 0, sizeof attr);
  attr.type = PERF_TYPE_SOFTWARE;
  attr.size = sizeof attr;
  attr.config = PERF_COUNT_SW_BPF_OUTPUT;
  attr.sample_type = PERF_SAMPLE_RAW;
  attr.sample_period = 1;
  attr.wakeup_events = 1;
  Buffer buffer;
  buffer.event = base::Fd(
      static_cast<int>(::syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC)));
  if (!buffer.event.valid()) return base::errno_error("cannot open a buffer for packets", errno);
  void* at =
      ::mmap(nullptr, page_ + bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, buffer.event.get(), 0);
  if (at == MAP_FAILED) return base::errno_error("cannot map a buffer for packets", errno);
  buffer.memory = static_cast<std::byte*>(at);
  int fd = buffer.event.get();
  buffers_.push_back(std::move(buffer));
  epoll_event watched{EPOLLIN | EPOLLET, {}};
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &watched) != 0)
    return base::errno_error("cannot wait for packets", errno);
  if (int error = map_update(map, &cpu, &fd); error < 0)
    return base::errno_error("cannot hand over a buffer for packets", -error);
  if (::ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) != 0)
    return base::errno_error("cannot start a buffer for packets", errno);
  return {};
}

size_t Packets::drain(const std::function<void(std::span<const std::byte>)>& take) {
  size_t count = 0;
  // Ends the edges before reading: what comes while we read is not lost.
  epoll_event events[16];
  ::epoll_wait(epoll_.get(), events, std::size(events), 0);
  for (Buffer& b : buffers_) count += drain(b, take);
  return count;
}

size_t Packets::drain(Buffer& buffer, const std::function<void(std::span<const std::byte>)>& take) {
  auto* page = reinterpret_cast<perf_event_mmap_page*>(buffer.memory);
  const std::byte* data = buffer.memory + page_;
  uint64_t at = page->data_tail;
  const uint64_t end = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
  auto copy = [&](void* to, uint64_t from, size_t size) {
    size_t first = std::min<size_t>(size, bytes_ - from % bytes_);
    std::memcpy(to, data + from % bytes_, first);
    std::memcpy(static_cast<std::byte*>(to) + first, data, size - first);
  };
  size_t count = 0;
  while (at < end) {
    perf_event_header header;
    copy(&header, at, sizeof header);
    if (header.size < sizeof header) break; // not what the kernel writes
    record_.resize(header.size - sizeof header);
    copy(record_.data(), at + sizeof header, record_.size());
    uint64_t body[2] = {};
    std::memcpy(body, record_.data(), std::min(sizeof body, record_.size()));
    const auto length = static_cast<uint32_t>(body[0]);
    if (header.type == PERF_RECORD_SAMPLE && length + 4 <= record_.size()) {
      take({record_.data() + 4, length});
      count++;
    } else if (header.type == PERF_RECORD_LOST) {
      lost_ += body[1]; // behind the id
    }
    at += header.size;
  }
  __atomic_store_n(&page->data_tail, at, __ATOMIC_RELEASE);
  return count;
}

} // namespace bpf
