#include "symbol/process_map.h"

#include "base/text.h"

#include <algorithm>
#include <dirent.h>
#include <memory>
#include <sys/sysmacros.h>

namespace symbol {

namespace {

std::string_view take_word(std::string_view& text) {
  size_t end = text.find(' ');
  std::string_view word = text.substr(0, end);
  text.remove_prefix(end == text.npos ? text.size() : end + 1);
  return word;
}

// The kernel writes a newline in a name as \012.
std::string unescape(std::string_view path) {
  std::string out(path);
  for (size_t at = 0; (at = out.find("\\012", at)) != out.npos;) out.replace(at, 4, "\n");
  return out;
}

// False: no line of this file. Lines of memory that is not asked for give an empty mapping.
bool parse_line(std::string_view line, MappingsOf which, Mapping& m) {
  if (!base::take_hex(line, '-', m.begin) || !base::take_hex(line, ' ', m.end)) return false;
  std::string_view rights = take_word(line);
  if (rights.size() != 4 || !base::take_hex(line, ' ', m.offset)) return false;
  uint64_t major = 0, minor = 0;
  if (!base::take_hex(line, ':', major) || !base::take_hex(line, ' ', minor)) return false;
  m.device = makedev(static_cast<unsigned>(major), static_cast<unsigned>(minor));
  m.inode = base::parse_integer(take_word(line)).value_or(0);
  m.may_be_executed = rights[2] == 'x';
  if ((which == MappingsOf::code && !m.may_be_executed) || m.begin >= m.end) {
    m.end = m.begin;
    return true;
  }
  std::string_view path = base::trim(line);
  constexpr std::string_view deleted = " (deleted)";
  m.deleted = path.ends_with(deleted);
  if (m.deleted) path.remove_suffix(deleted.size());
  m.path = unescape(path);
  return true;
}

} // namespace

std::vector<Mapping> parse_process_map(std::string_view text, MappingsOf which) {
  std::vector<Mapping> out;
  for (std::string_view line : base::split(text, '\n')) {
    Mapping m;
    if (parse_line(line, which, m) && m.end > m.begin) out.push_back(std::move(m));
  }
  auto before = [](const Mapping& a, const Mapping& b) { return a.begin < b.begin; };
  if (!std::is_sorted(out.begin(), out.end(), before)) std::stable_sort(out.begin(), out.end(), before);
  return out;
}

std::vector<Mapping> read_process_map(pid_t pid, MappingsOf which) {
  auto text = base::read_file("/proc/" + std::to_string(pid) + "/maps");
  return text.ok() ? parse_process_map(*text, which) : std::vector<Mapping>();
}

const Mapping* find_mapping(const std::vector<Mapping>& map, uint64_t address) {
  auto after = std::upper_bound(map.begin(), map.end(), address,
                                [](uint64_t a, const Mapping& m) { return a < m.begin; });
  if (after == map.begin()) return nullptr;
  const Mapping& m = *std::prev(after);
  return address < m.end ? &m : nullptr;
}

std::vector<uint32_t> all_processes() {
  std::vector<uint32_t> out;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc"), ::closedir);
  while (const dirent* entry = folder ? ::readdir(folder.get()) : nullptr)
    if (auto pid = base::parse_integer(entry->d_name)) out.push_back(static_cast<uint32_t>(*pid));
  return out;
}

} // namespace symbol
