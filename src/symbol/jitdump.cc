#include "symbol/jitdump.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <sys/stat.h>

namespace symbol {

namespace {

enum RecordId : uint32_t { load = 0, move = 1, lines = 2 };

constexpr uint32_t magic = 0x4a695444;
constexpr uint64_t file_header = 40, record_header = 16;
constexpr uint64_t load_head = record_header + 40, move_head = record_header + 48,
                   lines_head = record_header + 16;
constexpr size_t longest_name = 16 << 10, most_line_bytes = 16 << 20;
// Of a function that is asked for; a damaged file may have millions of records without content.
constexpr uint64_t most_records_at_once = 32 << 20;

size_t read_at(int fd, std::byte* to, size_t size, uint64_t at) {
  for (size_t have = 0;;) {
    ssize_t n = ::pread(fd, to + have, size - have, static_cast<off_t>(at + have));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return have;
    have += static_cast<size_t>(n);
    if (have == size) return have;
  }
}

} // namespace

void JitDump::take_record(uint64_t at, uint32_t id, base::ByteSpan head) {
  base::Reader r(head, record_header);
  if (id == lines && head.size() >= lines_head) {
    next_lines_ = at;
    next_lines_address_ = r.number<uint64_t>();
  } else if (id == load && head.size() >= load_head) {
    r.skip(16); // pid, tid, vma
    auto address = r.number<uint64_t>(), size = r.number<uint64_t>(), index = r.number<uint64_t>();
    table_.add(address, size, at);
    loads_[index] = at;
    if (next_lines_ && next_lines_address_ == address) lines_[at] = next_lines_;
    next_lines_ = 0;
  } else if (id == move && head.size() >= move_head) {
    r.skip(24); // pid, tid, vma, old address
    auto address = r.number<uint64_t>(), size = r.number<uint64_t>(), index = r.number<uint64_t>();
    auto loaded = loads_.find(index);
    if (loaded == loads_.end()) return;
    table_.add(address, size, at);
    moves_[at] = loaded->second;
  }
}

// False: nothing was.
bool JitDump::read_appended() {
  struct stat about = {};
  if (!fd_.valid() || ::fstat(fd_.get(), &about) != 0) return false;
  auto size = static_cast<uint64_t>(about.st_size);
  if (size <= read_) return false; // such files are never written anew
  std::array<std::byte, move_head> head;
  auto bytes_at = [&](uint64_t at) {
    return base::ByteSpan(head).first(read_at(fd_.get(), head.data(), head.size(), at));
  };
  if (read_ == 0) {
    base::Reader r(bytes_at(0));
    bool is_magic = r.number<uint32_t>() == magic;
    r.skip(4);
    uint64_t header = r.number<uint32_t>();
    if (!is_magic || header < file_header || header > size) return false;
    read_ = header;
  }
  bool is_more = false;
  for (uint64_t i = 0; i < most_records_at_once && read_ + record_header <= size; i++) {
    base::ByteSpan bytes = bytes_at(read_);
    base::Reader r(bytes);
    auto id = r.number<uint32_t>();
    uint64_t length = r.number<uint32_t>();
    if (!r.ok() || length < record_header || length > size - read_) break; // damaged, or not complete yet
    take_record(read_, id, bytes.first(std::min<uint64_t>(bytes.size(), length)));
    read_ += length;
    is_more = true;
  }
  return is_more;
}

// The record that loaded what the record at `place` tells of.
uint64_t JitDump::load_of(uint64_t place) const {
  auto moved = moves_.find(place);
  return moved == moves_.end() ? place : moved->second;
}

std::string_view JitDump::name_at(uint64_t place) {
  auto [at, is_new] = names_.try_emplace(place);
  if (!is_new) return at->second;
  std::vector<std::byte> bytes(longest_name);
  bytes.resize(read_at(fd_.get(), bytes.data(), bytes.size(), place));
  base::Reader r(bytes, 4);
  auto length = r.number<uint32_t>();
  at->second = base::text_at(base::ByteSpan(bytes).first(std::min<size_t>(length, bytes.size())), load_head);
  return at->second;
}

std::optional<JitFunction> JitDump::find(uint64_t address) {
  auto function = table_.find(address);
  if (!function && read_appended()) function = table_.find(address);
  if (!function) return std::nullopt;
  std::string_view name = name_at(load_of(function->place));
  if (name.empty()) return std::nullopt;
  return JitFunction{name, function->start, function->size, function->place};
}

JitDump::Line JitDump::line(const JitFunction& function, uint64_t address) const {
  uint64_t loaded = load_of(function.place);
  auto told = lines_.find(loaded);
  if (told == lines_.end()) return {};
  std::vector<std::byte> bytes(record_header);
  if (read_at(fd_.get(), bytes.data(), bytes.size(), told->second) != bytes.size()) return {};
  base::Reader head(bytes, 4);
  bytes.resize(std::min<size_t>(head.number<uint32_t>(), most_line_bytes));
  bytes.resize(read_at(fd_.get(), bytes.data(), bytes.size(), told->second));
  base::Reader r(bytes, record_header);
  auto code = r.number<uint64_t>(), count = r.number<uint64_t>();
  uint64_t wanted = address - function.start; // lines are those of the place where the code was loaded
  Line found;
  uint64_t best = 0;
  std::string_view file;
  for (uint64_t i = 0; i < count && r.ok(); i++) {
    uint64_t at = r.number<uint64_t>() - code;
    auto line = r.number<uint32_t>();
    r.skip(4);
    std::string_view name = base::text_at(bytes, r.at());
    if (!r.ok() || r.at() + name.size() >= bytes.size()) break;
    r.skip(name.size() + 1);
    if (name != "\xff") file = name; // 0xff: the same as before
    if (at > wanted || (found.line && at < best)) continue;
    best = at;
    found = {std::string(file), line};
  }
  return found;
}

size_t JitDump::size() {
  read_appended();
  return table_.size();
}

} // namespace symbol
