#include "recorder/flight_files.h"

#include "base/file_map.h"
#include "base/privilege.h"
#include "recording/reader.h"

#include <algorithm>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace recorder {

FlightFiles::FlightFiles(std::string first, uint32_t most, uint64_t most_bytes) : first_(std::move(first)), most_(most), most_bytes_(most_bytes) {
  std::vector<std::pair<int64_t, std::string>> found;
  for (uint32_t number = 1; base::is_accessible(name(number).c_str(), F_OK) || number <= most_; number++) {
    auto file = base::FileMap::open(name(number));
    if (!file.ok()) continue;
    const base::ByteSpan bytes = file->bytes();
    if (recording::is_event_recording({reinterpret_cast<const char*>(bytes.data()), bytes.size()})) found.emplace_back(file->id().changed_ns, name(number));
  }
  std::ranges::sort(found);
  for (auto& [time, path] : found) files_.push_back(std::move(path));
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
  struct stat about;
  while (::lstat(name(number).c_str(), &about) == 0) number++;
  return name(number);
}

void FlightFiles::add(std::string path) {
  files_.push_back(std::move(path));
  uint64_t bytes = 0;
  struct stat about;
  for (const std::string& file : files_) bytes += ::stat(file.c_str(), &about) == 0 ? static_cast<uint64_t>(about.st_size) : 0;
  for (; files_.size() > most_ || (bytes > most_bytes_ && files_.size() > 1); files_.pop_front()) {
    if (::stat(files_.front().c_str(), &about) == 0) bytes -= std::min(bytes, static_cast<uint64_t>(about.st_size));
    ::unlink(files_.front().c_str());
  }
}

} // namespace recorder
