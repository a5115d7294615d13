#include "session/stack_map.h"

#include "base/output_file.h"
#include "profile/formats.h"
#include "spec/stack_entries.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <sys/utsname.h>

namespace session {

using type::Kind;

uint64_t number_in(const ir::Entry& e, const type::Field& f) {
  uint64_t value = 0;
  std::memcpy(&value, e.key.data() + f.offset, std::min<uint32_t>(f.type->size, 8));
  return value;
}

void add_values(const ir::Map& map, const ir::Entry& e, profile::RawSample& to) {
  const bool has_count = map.value->is(Kind::stats) || map.value->is(Kind::avg);
  for (size_t at = 0; at + map.value_size <= e.values.size(); at += map.value_size) {
    uint64_t words[2] = {};
    std::memcpy(words, e.values.data() + at, std::min<size_t>(map.value_size, sizeof words));
    to.weight += words[0];
    to.count += has_count ? words[1] : words[0];
  }
  if (map.value->is(Kind::sum)) to.count = 1; // it is not known
}

uint32_t StackReader::take(uint64_t id, uint32_t pid, const type::Type& type) {
  if (!id) return profile::RawSample::no_stack;
  auto [at, is_new] = known.try_emplace(id, static_cast<uint32_t>(out.stacks.size()));
  if (!is_new) return at->second;
  std::vector<uint64_t> frames = engine.stack(id);
  const spec::UserStack parts = pid ? spec::split_user_stack(frames) : spec::UserStack{.frames = frames};
  std::string end;
  if (parts.end) end = spec::text_of_stack_end(parts.end);
  const bool is_none = parts.end && spec::is_no_stack(parts.end);
  frames.resize(parts.frames.size());
  const bool is_end_known = pid && has_walker && !type.by_frame_pointers;
  const bool is_cut = !is_end_known && frames.size() >= type.count;
  out.stacks.push_back({.id = id,
                        .pid = pid,
                        .frames = std::move(frames),
                        .end = std::move(end),
                        .is_none = is_none,
                        .is_end_known = is_end_known,
                        .is_cut = is_cut});
  return at->second;
}

namespace {

// { u64 id, u32 pid, u32 0 }, and of both stacks behind it the id of the kernel's.
constexpr uint32_t pid_at = 8, kernel_at = 16;

uint64_t bytes_at(const ir::Entry& e, uint32_t offset, uint32_t size) {
  uint64_t value = 0;
  std::memcpy(&value, e.key.data() + offset, size);
  return value;
}

void take_stack(StackReader& stacks, const ir::Entry& e, const type::Field& f, profile::RawSample& to) {
  const uint64_t id = bytes_at(e, f.offset, 8);
  if (f.type->is(Kind::kstack)) {
    to.kernel = stacks.take(id, 0, *f.type);
    return;
  }
  to.pid = to.tid = static_cast<uint32_t>(bytes_at(e, f.offset + pid_at, 4));
  to.user = stacks.take(id, to.pid, *f.type);
  if (f.type->is(Kind::stack)) to.kernel = stacks.take(bytes_at(e, f.offset + kernel_at, 8), 0, *f.type);
}

bool is_stack(const type::Type& t) { return t.is(Kind::kstack) || t.is(Kind::ustack) || t.is(Kind::stack); }

// "Bytes read": "bytes-read.html"
std::string file_of(const std::string& title) {
  if (title.find('.') != title.npos && profile::format_of_file(title).ok()) return title;
  std::string out;
  for (unsigned char c : title) {
    if (std::isalnum(c) || c >= 0x80)
      out += static_cast<char>(std::tolower(c));
    else if (!out.empty() && out.back() != '-')
      out += '-';
  }
  while (out.ends_with('-')) out.pop_back();
  return (out.empty() ? "flame" : out) + ".html";
}

} // namespace

base::Result<std::string> write_flame(const FlameRequest& request, const ir::Program& program, StackReader stacks,
                                      report::Printer& printer, symbol::FrameSources& sources) {
  const ir::Map& map = program.maps[request.action.map];
  const type::Field whole = {.type = map.key};
  const bool is_tuple = map.key->is(Kind::tuple);
  for (const ir::Entry& e : request.entries) {
    profile::RawSample sample;
    for (const type::Field& f : is_tuple ? map.key->fields() : std::span(&whole, 1)) {
      if (is_stack(*f.type)) {
        take_stack(stacks, e, f, sample);
        continue;
      }
      if (!sample.process.empty()) sample.process += ", ";
      sample.process += printer.text(*f.type, std::span(e.key).subspan(f.offset, f.type->size));
    }
    if (sample.process.empty()) sample.process = "@" + map.name;
    sample.thread = sample.process;
    add_values(map, e, sample);
    if (sample.weight) stacks.out.samples.push_back(std::move(sample));
  }
  profile::Profile profile;
  const std::string title(request.action.text.c_str());
  const std::string unit = request.action.text.substr(title.size() + 1);
  profile.about.title = title;
  profile.about.unit = !unit.empty() ? unit : map.value->is(Kind::count) ? "hits" : "units";
  profile.about.what = "@" + map.name;
  profile.about.duration_ns = request.duration_ns;
  utsname system = {};
  ::uname(&system);
  profile.about.host = system.nodename;
  profile::name_samples(profile, stacks.out, sources);
  const std::string file = file_of(title);
  ACU_TRY(const profile::Format* format, profile::format_of_file(file));
  ACU_CHECK(base::write_file(file, format->write(profile)));
  return file;
}

} // namespace session
