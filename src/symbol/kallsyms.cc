// The file has some 120,000 lines, and most of the time of reading it is the kernel's. It goes through a
// small buffer and only what is kept is copied, so that neither five megabytes of text nor an allocation a
// line is needed.
#include "symbol/kallsyms.h"

#include "base/fd.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <numeric>

namespace symbol {

namespace {

// Beyond this no function reaches: an address so far behind the last symbol before it belongs to something
// else.
constexpr uint64_t largest_function = 1 << 20;

struct Line {
  uint64_t address = 0;
  char type = 0;
  std::string_view name;
};

// "ffffffff81000000 T _text", "ffffffffc0000000 t f\t[module]". False: not such a line.
bool parse_line(std::string_view text, Line& line) {
  line.address = 0;
  size_t at = 0;
  for (; at < text.size(); at++) {
    char c = text[at];
    unsigned digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
    if (digit == 16) break;
    line.address = line.address << 4 | digit;
  }
  if (at == 0 || at + 3 >= text.size() || text[at] != ' ' || text[at + 2] != ' ') return false;
  line.type = text[at + 1];
  line.name = text.substr(at + 3);
  line.name = line.name.substr(0, line.name.find('\t'));
  return true;
}

// Calls take(Line) for each line until it gives false.
template<class Take> void read_lines(const std::string& path, Take take) {
  base::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return;
  std::vector<char> buffer(64 << 10);
  size_t held = 0;
  for (;;) {
    ssize_t n = ::read(fd.get(), buffer.data() + held, buffer.size() - held);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return; // a last line without its newline is no line of this file
    held += static_cast<size_t>(n);
    const char* at = buffer.data();
    const char* end = at + held;
    while (const char* newline =
               static_cast<const char*>(std::memchr(at, '\n', static_cast<size_t>(end - at)))) {
      Line line;
      if (parse_line({at, static_cast<size_t>(newline - at)}, line) && !take(line)) return;
      at = newline + 1;
    }
    held = static_cast<size_t>(end - at);
    if (held == buffer.size()) return; // a line of 64 KB is no symbol
    std::memmove(buffer.data(), at, held);
  }
}

bool is_code(char type) { return type == 't' || type == 'T' || type == 'w' || type == 'W'; }

} // namespace

void Kallsyms::load() {
  if (loaded_) return;
  loaded_ = true;
  read_lines(path_, [&](const Line& line) {
    if (!is_code(line.type) || line.address == 0) return true;
    addresses_.push_back(line.address);
    names_.push_back(static_cast<uint32_t>(text_.size()));
    text_.append(line.name);
    text_.push_back('\0');
    return true;
  });
  sort();
}

// The kernel itself is listed in order, modules and BPF programs behind it are not.
void Kallsyms::sort() {
  if (std::is_sorted(addresses_.begin(), addresses_.end())) return;
  std::vector<uint32_t> order(addresses_.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return addresses_[a] < addresses_[b]; });
  std::vector<uint64_t> addresses(order.size());
  std::vector<uint32_t> names(order.size());
  for (size_t i = 0; i < order.size(); i++) {
    addresses[i] = addresses_[order[i]];
    names[i] = names_[order[i]];
  }
  addresses_ = std::move(addresses);
  names_ = std::move(names);
}

std::optional<Kallsyms::Symbol> Kallsyms::find(uint64_t address) {
  load();
  // Of several names for one address this is the last listed.
  auto after = std::upper_bound(addresses_.begin(), addresses_.end(), address);
  if (after == addresses_.begin()) return std::nullopt;
  auto index = static_cast<size_t>(after - addresses_.begin()) - 1;
  uint64_t offset = address - addresses_[index];
  if (offset >= largest_function) return std::nullopt;
  return Symbol{text_.data() + names_[index], offset};
}

std::optional<uint64_t> Kallsyms::address(std::string_view name) const {
  std::optional<uint64_t> found;
  read_lines(path_, [&](const Line& line) {
    if (line.name == name && line.address) found = line.address;
    return !found;
  });
  return found;
}

size_t Kallsyms::size() {
  load();
  return addresses_.size();
}

} // namespace symbol
