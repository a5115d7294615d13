#include "symbol/process_events.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <linux/perf_event.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace symbol {

namespace {

using Kind = ProcessEvent::Kind;

// A record of a mapping has some 120 bytes, and a program that begins makes ten records: room for a hundred
// such in one turn of the session's loop. Machines with many CPUs spread them.
constexpr size_t few_cpus = 16;
constexpr size_t ring_bytes = 256 << 10, ring_bytes_of_many = 64 << 10;

// The text from here to the next NUL.
std::string text_from(base::ByteSpan record, uint64_t at) { return std::string(base::text_at(record, at)); }

// {u32 pid, tid; u64 address, length, offset; identity of 24 bytes; u32 protection, flags; text}
void parse_mapping(base::ByteSpan record, bool has_build_id, ProcessEvent& e) {
  constexpr uint64_t identity = 8 + 8 + 24, path = identity + 24 + 8;
  base::Reader in(record, 8);
  e.pid = in.number<uint32_t>();
  e.tid = in.number<uint32_t>();
  e.begin = in.number<uint64_t>();
  uint64_t length = in.number<uint64_t>();
  e.offset = in.number<uint64_t>();
  base::ByteSpan id = base::slice(record, identity, 24);
  if (!in.ok() || id.empty() || length == 0 || length > ~e.begin) return;
  e.end = e.begin + length;
  if (has_build_id) {
    e.file.build_id_size = std::min<uint8_t>(static_cast<uint8_t>(id[0]), 20);
    std::copy_n(id.begin() + 4, e.file.build_id_size, e.file.build_id.begin());
  } else {
    auto major = in.number<uint32_t>(), minor = in.number<uint32_t>();
    e.file.inode = in.number<uint64_t>();
    e.file.generation = in.number<uint64_t>();
    if (e.file.inode) e.file.device = makedev(major, minor);
  }
  e.path = text_from(record, path);
  if (!e.path.empty()) e.kind = Kind::mapping;
}

// {u32 pid, parent, tid, parent's tid; u64 time}
void parse_task(base::ByteSpan record, Kind kind, ProcessEvent& e) {
  base::Reader in(record, 8);
  e.pid = in.number<uint32_t>();
  e.parent = in.number<uint32_t>();
  e.tid = in.number<uint32_t>();
  in.skip(4);
  e.time = in.number<uint64_t>();
  // Other threads than the first one come and go without changing what is mapped.
  if (in.ok() && e.pid == e.tid) e.kind = kind;
}

} // namespace

ProcessEvent parse_process_event(base::ByteSpan record) {
  ProcessEvent e;
  base::Reader in(record);
  auto type = in.number<uint32_t>();
  auto misc = in.number<uint16_t>(), size = in.number<uint16_t>();
  if (!in.ok() || size < 16 || size > record.size()) return e;
  record = record.first(size);
  // The time of all records is at their end.
  uint64_t time = base::Reader(record, size - 8).number<uint64_t>();
  switch (type) {
  case PERF_RECORD_MMAP2: parse_mapping(record, misc & PERF_RECORD_MISC_MMAP_BUILD_ID, e); break;
  case PERF_RECORD_FORK: parse_task(record, Kind::fork, e); break;
  case PERF_RECORD_EXIT: parse_task(record, Kind::exit, e); break;
  case PERF_RECORD_COMM:
    if (!(misc & PERF_RECORD_MISC_COMM_EXEC)) break;
    e.pid = in.number<uint32_t>();
    e.tid = in.number<uint32_t>();
    if (in.ok()) e.kind = Kind::exec;
    break;
  case PERF_RECORD_LOST: // {u64 id, lost}
    in.skip(8);
    e.lost = in.number<uint64_t>();
    if (in.ok()) e.kind = Kind::lost;
    break;
  default: break;
  }
  e.time = time;
  return e;
}

base::Result<std::unique_ptr<ProcessEvents>> ProcessEvents::open(std::span<const int> cpus) {
  std::unique_ptr<ProcessEvents> events(new ProcessEvents);
  events->epoll_ = base::Fd(::epoll_create1(EPOLL_CLOEXEC));
  if (!events->epoll_.valid()) return base::errno_error("cannot wait for changes of processes", errno);
  events->page_ = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  events->bytes_ = std::max(cpus.size() > few_cpus ? ring_bytes_of_many : ring_bytes, events->page_);
  bool with_build_ids = true; // since Linux 5.12
  for (int cpu : cpus) {
    auto added = events->add(cpu, with_build_ids);
    if (!added.ok() && with_build_ids && events->buffers_.empty()) {
      with_build_ids = false;
      added = events->add(cpu, with_build_ids);
    }
    if (!added.ok()) return std::move(added.error());
  }
  return events;
}

ProcessEvents::~ProcessEvents() {
  for (Buffer& b : buffers_)
    if (b.memory) ::munmap(b.memory, page_ + bytes_);
}

base::Status ProcessEvents::add(int cpu, bool with_build_ids) {
  perf_event_attr attr;
  std::memset(&attr, 0, sizeof attr);
  attr.type = PERF_TYPE_SOFTWARE;
  attr.size = sizeof attr;
  attr.config = PERF_COUNT_SW_DUMMY;
  attr.sample_type = PERF_SAMPLE_TIME;
  attr.sample_id_all = 1;
  attr.use_clockid = 1; // the clock of BPF programs, so that their times can be compared
  attr.clockid = CLOCK_MONOTONIC;
  attr.mmap = attr.mmap2 = 1; // executable mappings only
  attr.build_id = with_build_ids;
  attr.comm = attr.comm_exec = 1;
  attr.task = 1;
  attr.watermark = 1;
  attr.wakeup_watermark = 1; // each record is worth a look: its process may be gone in a moment
  Buffer buffer;
  buffer.event =
      base::Fd(static_cast<int>(::syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC)));
  if (!buffer.event.valid()) return base::errno_error("cannot follow processes", errno);
  void* at = ::mmap(nullptr, page_ + bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, buffer.event.get(), 0);
  if (at == MAP_FAILED) return base::errno_error("cannot map a buffer for changes of processes", errno);
  buffer.memory = static_cast<std::byte*>(at);
  int fd = buffer.event.get();
  buffers_.push_back(std::move(buffer));
  epoll_event watched{EPOLLIN | EPOLLET, {}};
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &watched) != 0)
    return base::errno_error("cannot wait for changes of processes", errno);
  return {};
}

void ProcessEvents::read(Buffer& buffer, uint64_t end) {
  auto* page = reinterpret_cast<perf_event_mmap_page*>(buffer.memory);
  const std::byte* data = buffer.memory + page_;
  uint64_t at = page->data_tail;
  auto copy = [&](void* to, uint64_t from, size_t size) {
    size_t first = std::min<size_t>(size, bytes_ - from % bytes_);
    std::memcpy(to, data + from % bytes_, first);
    std::memcpy(static_cast<std::byte*>(to) + first, data, size - first);
  };
  while (at < end) {
    perf_event_header header;
    copy(&header, at, sizeof header);
    if (header.size < sizeof header) break; // not what the kernel writes
    record_.resize(header.size);
    copy(record_.data(), at, record_.size());
    ProcessEvent e = parse_process_event(record_);
    records_++;
    lost_ += e.lost;
    if (e.kind != Kind::none) waiting_.push_back(std::move(e));
    at += header.size;
  }
  __atomic_store_n(&page->data_tail, at, __ATOMIC_RELEASE);
}

// A process that moves to another CPU writes there what happens later. What has a time before `now` is in
// some buffer already, when the ends of all buffers are looked up after that time; what is later waits for
// the next turn.
size_t ProcessEvents::drain(const std::function<void(const ProcessEvent&)>& take) {
  epoll_event events[16]; // ends the edges before reading: what comes while we read is not lost
  ::epoll_wait(epoll_.get(), events, std::size(events), 0);
  timespec t = {};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  const uint64_t now = static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
  const uint64_t before = records_;
  for (Buffer& b : buffers_) {
    auto* page = reinterpret_cast<perf_event_mmap_page*>(b.memory);
    read(b, __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE));
  }
  std::stable_sort(waiting_.begin(), waiting_.end(),
                   [](const ProcessEvent& a, const ProcessEvent& b) { return a.time < b.time; });
  std::vector<ProcessEvent> due = std::move(waiting_);
  waiting_.clear();
  for (ProcessEvent& e : due)
    if (e.time > now)
      waiting_.push_back(std::move(e));
    else
      take(e);
  return records_ - before;
}

} // namespace symbol
