#include "symbol/perf_map_file.h"

#include "base/text.h"

#include <cerrno>
#include <cstring>
#include <sys/stat.h>
#include <vector>

namespace symbol {

namespace {

constexpr size_t buffer_bytes = 256 << 10, longest_line = 16 << 10;
// A program may write faster than we read: what comes later is read at the next question.
constexpr uint64_t most_bytes_at_once = uint64_t{4} << 30;

// Some programs write 0x, though the format has none.
bool take_number(std::string_view& text, uint64_t& value) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  return base::take_hex(text, ' ', value);
}

struct Line {
  uint64_t start = 0, size = 0;
  std::string_view name;
};

bool parse_line(std::string_view text, Line& line) {
  if (!take_number(text, line.start) || !take_number(text, line.size)) return false;
  line.name = base::trim(text);
  return !line.name.empty();
}

size_t read_at(int fd, char* to, size_t size, uint64_t at) {
  for (;;) {
    ssize_t n = ::pread(fd, to, size, static_cast<off_t>(at));
    if (n >= 0) return static_cast<size_t>(n);
    if (errno != EINTR) return 0;
  }
}

} // namespace

// False: nothing was.
bool PerfMapFile::read_appended() {
  struct stat about = {};
  if (!fd_.valid() || ::fstat(fd_.get(), &about) != 0) return false;
  auto size = static_cast<uint64_t>(about.st_size);
  if (size < read_) { // written anew
    read_ = 0;
    table_.clear();
    names_.clear();
  }
  if (size == read_) return false;
  uint64_t end = std::min(size, read_ + most_bytes_at_once);
  std::vector<char> buffer(static_cast<size_t>(std::min<uint64_t>(buffer_bytes, end - read_)));
  bool is_more = false;
  while (read_ < end) {
    size_t n = read_at(fd_.get(), buffer.data(), std::min<uint64_t>(buffer.size(), end - read_), read_);
    size_t at = 0;
    while (const void* newline = n > at ? std::memchr(buffer.data() + at, '\n', n - at) : nullptr) {
      std::string_view text(buffer.data() + at,
                            static_cast<size_t>(static_cast<const char*>(newline) - buffer.data()) - at);
      Line line;
      if (parse_line(text, line)) table_.add(line.start, line.size, read_ + at), is_more = true;
      at += text.size() + 1;
    }
    if (at == 0 && n == buffer.size() && n >= longest_line) at = n; // no line of this file
    if (at == 0) break;
    read_ += at;
  }
  return is_more;
}

std::string_view PerfMapFile::name_at(const JitTable::Function& function) {
  auto [at, is_new] = names_.try_emplace(function.place);
  if (!is_new) return at->second;
  std::string buffer(longest_line, '\0');
  buffer.resize(read_at(fd_.get(), buffer.data(), buffer.size(), function.place));
  Line line;
  if (parse_line(std::string_view(buffer).substr(0, buffer.find('\n')), line) && line.start == function.start)
    at->second = line.name;
  return at->second;
}

std::optional<JitFunction> PerfMapFile::find(uint64_t address) {
  auto function = table_.find(address);
  if (!function && read_appended()) function = table_.find(address);
  if (!function) return std::nullopt;
  std::string_view name = name_at(*function);
  if (name.empty()) return std::nullopt;
  return JitFunction{name, function->start, function->size, function->place};
}

size_t PerfMapFile::size() {
  read_appended();
  return table_.size();
}

} // namespace symbol
