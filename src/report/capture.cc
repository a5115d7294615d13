// A file is a header and, for each packet, a header of 16 bytes and its bytes; numbers are in the order of this
// machine, which the first word tells. The packets have no link layer: they begin with the IP header.
// Specification: draft-ietf-opsawg-pcap, "PCAP Capture File Format"; LINKTYPE_RAW.
#include "report/capture.h"

#include "base/output_file.h"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>
#include <vector>

namespace report {

namespace {

struct FileHeader {
  uint32_t magic = 0xa1b2c3d4; // times in microseconds
  uint16_t major = 2, minor = 4;
  uint32_t reserved[2] = {};
  uint32_t most_bytes = 1 << 18; // of a packet
  uint32_t link_type = 101;      // raw IP
};

struct PacketHeader {
  uint32_t seconds, microseconds;
  uint32_t kept, length; // bytes here, bytes there were
};

bool write_all(int fd, const void* data, size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    ssize_t n = ::write(fd, at, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    size -= static_cast<size_t>(n);
  }
  return true;
}

} // namespace

base::Result<int> Captures::file(const std::string& path) {
  auto [at, is_new] = files_.try_emplace(path);
  if (!is_new) return at->second.get();
  const base::AsResultOwner as_owner;
  at->second = base::Fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!at->second.valid()) return base::errno_error("cannot open " + path, errno);
  FileHeader header;
  if (!write_all(at->second.get(), &header, sizeof header)) return give_up(path);
  return at->second.get();
}

// A full disk would be told of with each packet, and half a record makes the rest of a file unreadable.
base::Error Captures::give_up(const std::string& path) {
  base::Error error = base::errno_error("cannot write " + path + ", it gets no more packets", errno);
  files_[path].reset();
  return error;
}

base::Status Captures::add(const std::string& path, uint64_t wall_ns, std::span<const std::byte> packet) {
  ACU_TRY(int fd, file(path));
  if (fd < 0) return {}; // that it gets no packets was told
  auto size = static_cast<uint32_t>(packet.size());
  PacketHeader header = {static_cast<uint32_t>(wall_ns / 1'000'000'000),
                         static_cast<uint32_t>(wall_ns / 1000 % 1'000'000), size, size};
  // In one piece: who reads along sees whole packets.
  std::vector<std::byte> record(sizeof header + packet.size());
  __builtin_memcpy(record.data(), &header, sizeof header);
  if (size) __builtin_memcpy(record.data() + sizeof header, packet.data(), size);
  if (!write_all(fd, record.data(), record.size())) return give_up(path);
  return {};
}

} // namespace report
