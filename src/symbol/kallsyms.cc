// The file has some 120,000 lines, and most of the time of reading it is the kernel's. It goes through a
// small buffer and only what is kept is copied, so that neither five megabytes of text nor an allocation a
// line is needed.
#include "symbol/kallsyms.h"

#include "base/fd.h"
#include "base/text.h"
#include "format/elf_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <span>

namespace symbol {

namespace {

// Beyond this no function reaches: an address so far behind the last symbol before it belongs to something
// else.
constexpr uint64_t largest_function = 1 << 20;

struct Line {
  uint64_t address = 0;
  char type = 0;
  std::string_view name, module;
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
  size_t tab = line.name.find('\t');
  line.module = tab == line.name.npos ? std::string_view() : base::trim(line.name.substr(tab));
  if (line.module.starts_with('[') && line.module.ends_with(']'))
    line.module = line.module.substr(1, line.module.size() - 2);
  line.name = line.name.substr(0, tab);
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

base::ByteSpan bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

template<class T> base::ByteSpan bytes_of(const std::vector<T>& numbers) {
  return std::as_bytes(std::span(numbers));
}

struct CachedHeader {
  uint32_t count = 0, text = 0; // symbols; bytes of their names
};

CacheKey key_of(base::ByteSpan build_id) {
  return {.kind = "kernel", .version = 1, .build_id = build_id, .source = 0};
}

} // namespace

std::vector<std::byte> kernel_build_id(const std::string& notes) {
  auto text = base::read_file(notes);
  if (!text.ok()) return {};
  base::ByteSpan id = format::build_id_in_notes(bytes_of(*text), 4);
  return {id.begin(), id.end()};
}

bool Kallsyms::load_cached(base::ByteSpan build_id) {
  if (build_id.empty()) return false;
  cached_ = cache_.find(key_of(build_id));
  if (!cached_) return false;
  base::ByteSpan bytes = cached_->bytes();
  base::Reader r(bytes);
  auto count = r.number<uint32_t>(), text = r.number<uint32_t>();
  if (bytes.size() != r.at() + uint64_t{count} * 8 + text) {
    cached_.reset();
    return false;
  }
  const auto* numbers = reinterpret_cast<const uint32_t*>(bytes.data() + r.at());
  core_.starts = {numbers, count};
  core_.names = {numbers + count, count};
  core_.text = bytes.last(text);
  return true;
}

void Kallsyms::load_core() {
  if (loaded_ != Loaded::nothing) return;
  loaded_ = Loaded::core;
  std::vector<std::byte> build_id;
  if (!notes_.empty() && !cache_.folder().empty()) build_id = kernel_build_id(notes_);
  read_lines(path_, [&](const Line& line) {
    if (is_code(line.type)) core_.base = line.address;
    return !is_code(line.type);
  });
  if (core_.base && load_cached(build_id)) return;
  load_all();
  if (build_id.empty() || core_starts_.empty()) return;
  CachedHeader header = {static_cast<uint32_t>(core_starts_.size()),
                         static_cast<uint32_t>(core_text_.size())};
  const base::ByteSpan parts[] = {std::as_bytes(std::span(&header, 1)), bytes_of(core_starts_),
                                  bytes_of(core_names_), bytes_of(core_text_)};
  (void)cache_.store(key_of(build_id), parts); // next time it costs the same again
}

// The kernel itself comes first, in order. Whatever does not fit is kept with the modules.
void Kallsyms::take_line(uint64_t address, std::string_view name, std::string_view module) {
  uint64_t last = core_starts_.empty() ? 0 : core_starts_.back();
  uint64_t start = address - core_.base;
  if (module.empty() && address >= core_.base && start >= last && start <= UINT32_MAX) {
    core_starts_.push_back(static_cast<uint32_t>(start));
    core_names_.push_back(static_cast<uint32_t>(core_text_.size()));
    core_text_.append(name).push_back('\0');
    return;
  }
  auto place = static_cast<uint32_t>(other_text_.size());
  other_text_.append(name).push_back('\0');
  auto module_place = static_cast<uint32_t>(other_text_.size());
  other_text_.append(module).push_back('\0');
  others_.push_back({address, place, module_place});
}

void Kallsyms::load_all() {
  if (loaded_ == Loaded::all) return;
  loaded_ = Loaded::all;
  bool is_first = true;
  core_starts_.clear();
  core_names_.clear();
  core_text_.clear();
  read_lines(path_, [&](const Line& line) {
    if (!is_code(line.type) || line.address == 0) return true;
    if (std::exchange(is_first, false)) core_.base = line.address;
    if (!cached_ || !line.module.empty()) take_line(line.address, line.name, line.module);
    return true;
  });
  if (!cached_) core_ = {core_.base, core_starts_, core_names_, bytes_of(core_text_)};
  std::stable_sort(others_.begin(), others_.end(),
                   [](const Other& a, const Other& b) { return a.address < b.address; });
}

std::optional<Kallsyms::Symbol> Kallsyms::find_other(uint64_t address) const {
  auto after = std::upper_bound(others_.begin(), others_.end(), address,
                                [](uint64_t a, const Other& o) { return a < o.address; });
  if (after == others_.begin()) return std::nullopt;
  const Other& o = *std::prev(after);
  if (address - o.address >= largest_function) return std::nullopt;
  return Symbol{other_text_.data() + o.name, address - o.address, other_text_.data() + o.module};
}

// Of several names for one address this is the last listed.
std::optional<Kallsyms::Symbol> Kallsyms::find_core(uint64_t address) const {
  uint64_t at = address - core_.base;
  auto after = std::upper_bound(core_.starts.begin(), core_.starts.end(), static_cast<uint32_t>(at));
  if (address < core_.base || at > UINT32_MAX || after == core_.starts.begin()) return std::nullopt;
  auto index = static_cast<size_t>(after - core_.starts.begin()) - 1;
  uint64_t offset = at - core_.starts[index];
  std::string_view name = base::text_at(core_.text, core_.names[index]);
  if (offset >= largest_function || name.empty()) return std::nullopt;
  return Symbol{name, offset, {}};
}

std::optional<Kallsyms::Symbol> Kallsyms::find(uint64_t address) {
  load_core();
  if (auto found = find_core(address)) return found;
  bool is_inside =
      !core_.starts.empty() && address >= core_.base && address - core_.base < core_.starts.back();
  if (is_inside) return std::nullopt; // code between functions of the kernel itself
  load_all();
  return find_other(address);
}

std::optional<uint64_t> Kallsyms::address(std::string_view name) const {
  return addresses({&name, 1}).front();
}

std::vector<std::optional<uint64_t>> Kallsyms::addresses(std::span<const std::string_view> names) const {
  std::vector<std::optional<uint64_t>> found(names.size());
  size_t missing = names.size();
  read_lines(path_, [&](const Line& line) {
    for (size_t i = 0; line.address && i < names.size(); i++)
      if (!found[i] && line.name == names[i]) found[i] = line.address, missing--;
    return missing > 0;
  });
  return found;
}

size_t Kallsyms::size() {
  load_all();
  return core_.starts.size() + others_.size();
}

} // namespace symbol
