#include "format/archive.h"

#include "base/text.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace format {

using base::ByteSpan;
using base::Reader;

namespace {

constexpr uint32_t end_mark = 0x06054b50, entry_mark = 0x02014b50, file_mark = 0x04034b50;
constexpr size_t end_size = 22, longest_comment = 0xffff;

// The directory of all files; its place stands at the end, before a comment of unknown length.
std::optional<ByteSpan> directory_of(ByteSpan archive) {
  if (archive.size() < end_size) return std::nullopt;
  size_t last = archive.size() - end_size;
  size_t first = last > longest_comment ? last - longest_comment : 0;
  for (size_t at = last + 1; at-- > first;) {
    Reader r(archive, at);
    if (r.number<uint32_t>() != end_mark) continue;
    r.skip(8);
    auto size = r.number<uint32_t>(), offset = r.number<uint32_t>();
    ByteSpan directory = base::slice(archive, offset, size);
    if (directory.size() == size) return directory;
  }
  return std::nullopt;
}

std::string_view text_of(ByteSpan bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

base::Error problem(std::string message) { return {base::Failure::nothing_matched, std::move(message)}; }

} // namespace

base::Result<ArchivedFile> find_in_archive(ByteSpan archive, std::string_view name) {
  while (name.starts_with('/')) name.remove_prefix(1);
  auto directory = directory_of(archive);
  if (!directory) return problem("it is no zip archive");
  std::vector<std::string_view> names;
  Reader r(*directory);
  while (r.number<uint32_t>() == entry_mark && r.ok()) {
    r.skip(6);
    auto method = r.number<uint16_t>();
    r.skip(8);
    auto packed = r.number<uint32_t>(), size = r.number<uint32_t>();
    auto name_size = r.number<uint16_t>(), extra = r.number<uint16_t>(), comment = r.number<uint16_t>();
    r.skip(8);
    auto header = r.number<uint32_t>();
    std::string_view entry = text_of(r.bytes(name_size));
    r.skip(extra + comment);
    if (!r.ok()) break;
    if (entry != name) {
      names.push_back(entry);
      continue;
    }
    if (method != 0)
      return problem("it is compressed in the archive, so that it can't be executed from there");
    Reader local(archive, header);
    bool is_file = local.number<uint32_t>() == file_mark;
    local.skip(22);
    auto local_name = local.number<uint16_t>(), local_extra = local.number<uint16_t>();
    local.skip(local_name + local_extra);
    if (!is_file || !local.ok() || packed != size || base::slice(archive, local.at(), size).size() != size)
      return problem("the archive is damaged, or larger than 4 GB");
    return ArchivedFile{local.at(), size};
  }
  std::string_view near = base::nearest(name, names);
  std::erase_if(names, [](std::string_view n) { return n.find(".so") == n.npos; });
  std::string hint;
  if (!near.empty())
    hint = "; did you mean `" + std::string(near) + "`?";
  else
    for (size_t i = 0; i < std::min<size_t>(names.size(), 5); i++)
      hint += (i ? ", " : "; it has ") + std::string(names[i]);
  return problem("the archive has no such file" + hint);
}

} // namespace format
