// Any bytes as a recording of events, and as the bodies of chunks whose headers and checksums are right: what, a size, as many bytes, and again.
#include "recording/chunks.h"
#include "recording/reader.h"

#include <algorithm>
#include <cstdint>
#include <string>

static void read(std::string bytes) {
  auto reader = recording::Reader::of(std::move(bytes));
  if (!reader.ok()) return;
  size_t events = 0;
  (void)reader->each({}, [&](const recording::Batch& batch) { return (events += batch.size()) < 1'000'000; });
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  read(std::string(input));
  std::string file = std::string(recording::magic) + recording::version;
  for (std::string_view rest = input; rest.size() > 2;) {
    const auto what = static_cast<recording::What>(1 + static_cast<uint8_t>(rest[0]) % 6);
    const size_t length = std::min<size_t>(static_cast<uint8_t>(rest[1]), rest.size() - 2);
    const std::string_view body = rest.substr(2, length);
    const uint32_t count = body.empty() ? 0 : static_cast<uint8_t>(body[0]);
    file += recording::pack({.what = what, .kind = count % 3, .count = count, .first_ns = 1, .last_ns = ~uint64_t{0}}, body);
    rest.remove_prefix(2 + length);
  }
  read(std::move(file));
  return 0;
}
