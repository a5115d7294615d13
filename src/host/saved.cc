#include "host/saved.h"

#include "base/text.h"
#include "format/btf.h"
#include "format/decompress.h"
#include "format/tracefs.h"

#include <algorithm>
#include <charconv>
#include <libdeflate.h>

namespace host {

namespace {

#if defined(__x86_64__)
constexpr std::string_view own_machine = "x86_64";
#else
constexpr std::string_view own_machine = "aarch64";
#endif

constexpr std::string_view save_again = "; write it anew: `acu info --save FILE` on that host";
constexpr uint32_t most_entries = 1 << 16;
constexpr std::string_view formats_name = "tracefs formats";

template<class F> void for_each_line(std::string_view text, F take) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    take(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::string_view text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

} // namespace

// ------------------------------------------------------------------------------------------------ opening

base::Error SavedHost::refuse(std::string_view why) const {
  return {base::Failure::usage, base::printable(name_) + " " + std::string(why)};
}

base::Error SavedHost::damaged(std::string_view why) const {
  return refuse("is damaged: " + std::string(why) + std::string(save_again));
}

base::Error SavedHost::lacks(std::string_view what) const {
  return {base::Failure::unsupported, base::printable(name_) + " has no " + std::string(what)};
}

base::Result<std::unique_ptr<SavedHost>> SavedHost::open(const std::string& path) {
  auto file = base::FileMap::open(path);
  if (!file.ok()) return base::Error{base::Failure::usage, std::move(file.error().message)};
  ACU_TRY(std::unique_ptr<SavedHost> out, view(file->bytes(), path));
  out->file_ = std::move(*file);
  return out;
}

base::Result<std::unique_ptr<SavedHost>> SavedHost::view(base::ByteSpan bytes, std::string name) {
  std::unique_ptr<SavedHost> out(new SavedHost(std::move(name)));
  ACU_CHECK(out->take(bytes));
  return out;
}

base::Status SavedHost::take(base::ByteSpan bytes) {
  base::Reader r(bytes);
  const base::ByteSpan magic = r.bytes(saved_magic.size());
  if (std::string_view(reinterpret_cast<const char*>(magic.data()), magic.size()) != saved_magic)
    return refuse("is not the file of a saved host: `acu info --save FILE` writes one");
  const auto version = r.number<uint32_t>();
  if (r.ok() && version != saved_version)
    return refuse("was saved by another version of acu (format " + std::to_string(version) + ", this acu reads " +
                  std::to_string(saved_version) + ")" + std::string(save_again));
  const auto sum = r.number<uint32_t>();
  const base::ByteSpan rest = base::slice(bytes, r.at(), bytes.size() - r.at());
  if (!r.ok() || libdeflate_crc32(0, rest.data(), rest.size()) != sum) return damaged("its checksum is wrong");
  const auto count = r.number<uint32_t>();
  if (count > most_entries) return damaged("it has too many entries");
  std::vector<std::pair<std::string_view, uint64_t>> found; // names, and bytes that are packed
  std::vector<uint64_t> sizes;
  for (uint32_t i = 0; i < count && r.ok(); i++) {
    const base::ByteSpan name = r.bytes(r.number<uint32_t>());
    sizes.push_back(r.number<uint64_t>());
    found.emplace_back(std::string_view(reinterpret_cast<const char*>(name.data()), name.size()), r.number<uint64_t>());
  }
  for (size_t i = 0; i < found.size() && r.ok(); i++) {
    const Entry entry = {r.bytes(found[i].second), sizes[i]};
    if (entry.size > format::most_decompressed(entry.packed.size())) return damaged("an entry would become unreasonably large");
    entries_.emplace(found[i].first, entry);
  }
  if (!r.ok() || r.at() != bytes.size()) return damaged("its entries do not fit its size");
  ACU_CHECK(take_kernel());
  take_answers();
  return {};
}

base::Status SavedHost::take_kernel() {
  ACU_TRY(std::string text, read("kernel"));
  for_each_line(text, [&](std::string_view line) {
    const size_t blank = line.find(' ');
    const std::string_view key = line.substr(0, blank);
    const std::string_view value = blank == line.npos ? std::string_view() : line.substr(blank + 1);
    if (key == "release") kernel_.release = value;
    if (key == "version") kernel_.version = value;
    if (key == "machine") kernel_.machine = value;
  });
  if (kernel_.machine != own_machine)
    return refuse("is of a host with the architecture " + base::quoted(kernel_.machine) + ": this acu compiles for " +
                  std::string(own_machine) + "; run acu's executable for that architecture");
  return {};
}

void SavedHost::take_answers() {
  auto text = read("answers");
  if (!text.ok()) return;
  for_each_line(*text, [&](std::string_view line) {
    const size_t blank = line.rfind(' ');
    int64_t number = 0;
    if (blank == line.npos || std::from_chars(line.data() + blank + 1, line.data() + line.size(), number).ec != std::errc()) return;
    answers_.emplace(line.substr(0, blank), number);
  });
}

// ------------------------------------------------------------------------------------------------ entries

std::vector<std::string_view> SavedHost::names() const {
  std::vector<std::string_view> out;
  for (auto& [name, entry] : entries_) out.push_back(name);
  return out;
}

base::Result<std::vector<std::byte>> SavedHost::unpack(const Entry& entry, std::string_view name) const {
  std::vector<std::byte> out(entry.size);
  const std::string problem = format::decompress_zlib(entry.packed, out);
  if (!problem.empty()) return damaged(base::quoted(name) + ": " + problem);
  return out;
}

base::Result<std::string> SavedHost::read(const std::string& path) {
  auto at = entries_.find(path);
  if (at == entries_.end())
    return lacks(base::quoted(path) + ": that host had none, or hid it");
  ACU_TRY(std::vector<std::byte> bytes, unpack(at->second, path));
  return std::string(text_of(bytes));
}

base::Result<std::unique_ptr<format::Btf>> SavedHost::types() {
  auto at = entries_.find(kernel_types_path);
  if (at == entries_.end()) return lacks("types of its kernel");
  ACU_TRY(std::vector<std::byte> bytes, unpack(at->second, kernel_types_path));
  return format::Btf::parse(std::move(bytes));
}

base::Result<std::unique_ptr<format::Btf>> SavedHost::module_types(const std::string& module, const format::Btf& kernel) {
  ACU_TRY(std::string bytes, read("/sys/kernel/btf/" + module));
  return format::Btf::parse_split(std::as_bytes(std::span(bytes)), kernel);
}

// The formats are one entry: they are small, many and alike.
base::Result<std::string> SavedHost::read_tracefs(const std::string& place) {
  constexpr std::string_view folder = "events/", file = "/format";
  if (!place.starts_with(folder) || !place.ends_with(file)) return read("tracefs/" + place);
  if (!formats_text_) {
    auto text = read(std::string(formats_name));
    formats_text_ = text.ok() ? std::move(*text) : std::string();
    const std::vector<std::string_view> parts = base::split(*formats_text_, '\0');
    for (size_t i = 0; i + 1 < parts.size(); i += 2) formats_.emplace(parts[i], parts[i + 1]);
  }
  std::string event = place.substr(folder.size(), place.size() - folder.size() - file.size());
  if (size_t slash = event.find('/'); slash != event.npos) event[slash] = ':';
  auto at = formats_.find(event);
  if (at == formats_.end()) return base::Error{base::Failure::nothing_matched, "there is no trace event " + base::quoted(event)};
  return std::string(at->second);
}

base::Result<format::Tracefs> SavedHost::tracefs() {
  if (!entries_.contains("tracefs/available_events"))
    return lacks("trace events: that host had no tracefs, or it was saved without root");
  return format::Tracefs([this](const std::string& place) { return read_tracefs(place); });
}

std::vector<std::optional<uint64_t>> SavedHost::addresses(std::span<const std::string_view> names) {
  std::vector<std::optional<uint64_t>> found(names.size());
  auto text = read("/proc/kallsyms");
  if (!text.ok()) return found;
  for_each_line(*text, [&](std::string_view line) {
    uint64_t address = 0;
    if (!base::take_hex(line, ' ', address) || line.size() < 3 || !address) return;
    const std::string_view name = line.substr(2, line.find_first_of(" \t", 2) - 2);
    for (size_t i = 0; i < names.size(); i++)
      if (!found[i] && name == names[i]) found[i] = address;
  });
  return found;
}

// ------------------------------------------------------------------------------------------------ answers

int64_t SavedHost::answer(std::string_view question, int64_t otherwise, const std::function<int64_t()>&) {
  auto at = answers_.find(question);
  return at == answers_.end() ? otherwise : at->second;
}

uint32_t SavedHost::possible_cpus() {
  constexpr int64_t most = 1 << 16;
  return static_cast<uint32_t>(std::clamp<int64_t>(answer("possible_cpus", 1, {}), 1, most));
}

Clocks SavedHost::clocks() {
  return {static_cast<uint64_t>(answer("boot_ns", 0, {})), answer("boot_to_wall_ns", 0, {})};
}

base::Result<std::unique_ptr<Environment>> open_saved(const std::string& path) {
  ACU_TRY(std::unique_ptr<SavedHost> out, SavedHost::open(path));
  return std::unique_ptr<Environment>(std::move(out));
}

} // namespace host
