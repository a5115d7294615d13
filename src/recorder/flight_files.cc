#include "recorder/flight_files.h"

#include "base/output_file.h"
#include "base/privilege.h"
#include "recording/reader.h"
#include "recording/writer.h"

#include <algorithm>
#include <optional>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>
#include <utility>

namespace recorder {

// Nothing: there is no such file.
static std::optional<base::FileId> id_of(const std::string& path) {
  const auto file = base::FileMap::open(path);
  return file.ok() ? std::optional(file->id()) : std::nullopt;
}

FlightFiles::FlightFiles(std::string first, uint32_t most, uint64_t most_bytes) : first_(std::move(first)), most_(most), most_bytes_(most_bytes) {
  for (uint32_t number = 1; base::is_accessible(name(number).c_str(), F_OK) || number <= most_; number++) {
    auto file = base::FileMap::open(name(number));
    if (!file.ok()) continue;
    const base::ByteSpan bytes = file->bytes();
    if (recording::is_event_recording({reinterpret_cast<const char*>(bytes.data()), bytes.size()})) files_.push_back({name(number), file->id()});
  }
  std::ranges::sort(files_, {}, [](const File& f) { return std::tie(f.id.changed_ns, f.path); });
}

std::string FlightFiles::name(uint32_t number) const {
  if (number == 1) return first_;
  const size_t slash = first_.rfind('/'), dot = first_.rfind('.');
  const bool has_ending = dot != first_.npos && (slash == first_.npos || dot > slash);
  const size_t at = has_ending ? dot : first_.size();
  return first_.substr(0, at) + "." + std::to_string(number) + first_.substr(at);
}

std::string FlightFiles::next() const {
  uint32_t number = 1;
  while (!is_free(name(number))) number++;
  return name(number);
}

bool FlightFiles::is_free(const std::string& name) const {
  struct stat about;
  return ::lstat(name.c_str(), &about) != 0 && !base::is_being_written(recording::part_of(name));
}

void FlightFiles::add(const std::string& path) {
  const base::AsResultOwner as_owner;
  if (const auto id = id_of(path)) files_.push_back({path, *id});
  // Somebody may have removed some of them, and another recorder may have given their names to files of its own.
  std::erase_if(files_, [](const File& f) { return id_of(f.path) != f.id; });
  uint64_t bytes = 0;
  for (const File& f : files_) bytes += static_cast<uint64_t>(f.id.size);
  for (; files_.size() > most_ || (bytes > most_bytes_ && files_.size() > 1); files_.pop_front()) {
    bytes -= static_cast<uint64_t>(files_.front().id.size);
    ::unlink(files_.front().path.c_str());
  }
}

} // namespace recorder
