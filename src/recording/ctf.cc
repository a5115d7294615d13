// Common Trace Format 1.8 (diamon.org/ctf): a folder with a text that describes the events, and a stream of packets for each CPU. Every integer takes whole bytes, little-endian; texts
// end with a 0. An event has its kind, its time, and the thread; then the fields, where a thread is two (its number and its name), and a stack the list of its functions, the innermost
// first. Events are in the order of their times in each stream, as readers demand.
//
// How many events were lost is known by kind, not by CPU: a stream without events says it in the number of discarded events of its second packet.
#include "recording/described.h"
#include "recording/export_file.h"
#include "recording/exports.h"

#include <algorithm>
#include <cerrno>
#include <cctype>
#include <dirent.h>
#include <map>
#include <sys/stat.h>

namespace recording {

namespace {

constexpr uint32_t magic_number = 0xc1fc1fc1;
constexpr uint32_t events_stream = 0, lost_stream = 1; // stream classes
constexpr size_t max_packet = 64 << 10;                // bytes; a larger event makes a larger one
constexpr uint64_t second_ns = 1'000'000'000;

void put(std::string& out, uint32_t number) { out.append(reinterpret_cast<const char*>(&number), sizeof number); }
void put(std::string& out, uint64_t number) { out.append(reinterpret_cast<const char*>(&number), sizeof number); }
void put(std::string& out, std::string_view text) { out.append(text.substr(0, text.find('\0'))) += '\0'; }

// A literal of the description's language.
std::string literal(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < ' ' ? '?' : c;
  }
  return out + "\"";
}

// Begins with an underscore, which readers remove: without it a name might be a keyword.
std::string identifier(std::string_view name) {
  std::string out = "_";
  for (char c : name) out += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return out;
}

std::string declaration(const Field& field) {
  const std::string name = identifier(field.name);
  switch (field.type) {
  case FieldType::number:
  case FieldType::duration: return "u64 " + name + ";";
  case FieldType::signed_number: return "s64 " + name + ";";
  case FieldType::address: return "x64 " + name + ";";
  case FieldType::text: return "string " + name + ";";
  case FieldType::thread: return "u32 " + name + "_tid; string " + name + "_name;";
  case FieldType::stack: return "u32 " + name + "_depth; string " + name + "[" + name + "_depth];";
  }
  return "";
}

std::string description(const Reader& reader) {
  const About& about = reader.about();
  const std::string packet_context = "time_ns timestamp_begin; time_ns timestamp_end; u64 content_size; u64 packet_size; u64 events_discarded;";
  // From the recording's clock to the time since 1970.
  const int64_t offset = static_cast<int64_t>(about.begin_wall_ns - about.begin_ns);
  const int64_t seconds = offset >= 0 ? offset / static_cast<int64_t>(second_ns) : -((-offset + static_cast<int64_t>(second_ns) - 1) / static_cast<int64_t>(second_ns));
  std::string out = "/* CTF 1.8 */\n"
                    "typealias integer { size = 32; align = 8; signed = false; } := u32;\n"
                    "typealias integer { size = 64; align = 8; signed = false; } := u64;\n"
                    "typealias integer { size = 64; align = 8; signed = false; base = hexadecimal; } := x64;\n"
                    "typealias integer { size = 64; align = 8; signed = true; } := s64;\n"
                    "trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; u32 stream_id; }; };\n";
  out += "env { hostname = " + literal(about.host) + "; domain = \"acu\"; tracer_name = \"acu\"; tracer_version = " + literal(about.version) + "; recorded = " + literal(about.what) + "; };\n";
  out += "clock { name = monotonic; description = \"CLOCK_MONOTONIC\"; freq = 1000000000; offset_s = " + std::to_string(seconds) +
         "; offset = " + std::to_string(offset - seconds * static_cast<int64_t>(second_ns)) + "; };\n";
  out += "typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } := time_ns;\n";
  out += "stream { id = " + std::to_string(events_stream) + "; packet.context := struct { " + packet_context +
         " u32 cpu_id; }; event.header := struct { u32 id; time_ns timestamp; }; event.context := struct { u32 _pid; u32 _tid; string _thread; }; };\n";
  out += "stream { id = " + std::to_string(lost_stream) + "; packet.context := struct { " + packet_context + " }; };\n";
  for (size_t i = 0; i < reader.kinds().size(); i++) {
    const EventKind& kind = reader.kinds()[i];
    out += "event { name = " + literal(kind.name) + "; id = " + std::to_string(i) + "; stream_id = " + std::to_string(events_stream) + "; fields := struct {";
    for (const Field& field : kind.fields) out += " " + declaration(field);
    out += " }; };\n";
  }
  return out;
}

struct Stream {
  ExportFile file;
  std::string events;
  uint64_t begin = 0, end = 0;
};

class Ctf {
public:
  Ctf(const Reader& reader, std::string folder) : reader_(reader), names_(reader.names()), folder_(std::move(folder)) {}

  base::Status write(const Part& part) {
    ACU_CHECK(each_in_order(reader_, part, [&](const Event& e) { return take(e); }));
    for (auto& [cpu, stream] : streams_) {
      ACU_CHECK(flush(cpu, stream));
      ACU_CHECK(stream.file.finish());
    }
    ACU_CHECK(lost());
    ACU_TRY(ExportFile metadata, ExportFile::create(folder_ + "/metadata"));
    ACU_CHECK(metadata.add(description(reader_)));
    return metadata.finish();
  }

private:
  base::Status take(const Event& e) {
    auto at = streams_.find(e.cpu);
    if (at == streams_.end()) {
      ACU_TRY(ExportFile file, ExportFile::create(folder_ + "/cpu_" + std::to_string(e.cpu)));
      at = streams_.emplace(e.cpu, Stream{.file = std::move(file), .events = {}}).first;
    }
    Stream& stream = at->second;
    if (stream.events.empty()) stream.begin = e.time;
    stream.end = e.time;
    append(stream.events, e);
    return stream.events.size() < max_packet ? base::Status() : flush(e.cpu, stream);
  }

  void append(std::string& out, const Event& e) const {
    const Thread& t = names_.threads[e.thread];
    put(out, e.kind), put(out, e.time), put(out, t.pid), put(out, t.tid), put(out, thread_name(names_, e.thread));
    const EventKind& kind = reader_.kinds()[e.kind];
    for (size_t i = 0; i < kind.fields.size(); i++) {
      const uint64_t value = e.values[i];
      switch (kind.fields[i].type) {
      case FieldType::text: put(out, names_.texts[value]); break;
      case FieldType::thread: put(out, names_.threads[value].tid), put(out, thread_name(names_, value)); break;
      case FieldType::stack: append_stack(out, value); break;
      default: put(out, value); break;
      }
    }
  }

  void append_stack(std::string& out, uint64_t stack) const {
    const size_t depth_at = out.size();
    uint32_t depth = 0;
    put(out, depth);
    for (uint64_t s = stack; s; s = names_.stacks[s].caller, depth++) put(out, names_.texts[names_.frames[names_.stacks[s].frame].name]);
    out.replace(depth_at, sizeof depth, reinterpret_cast<const char*>(&depth), sizeof depth);
  }

  // `rest`: what follows the context that both stream classes have.
  static std::string packet(uint32_t stream, uint64_t begin, uint64_t end, uint64_t discarded, std::string_view rest) {
    std::string out;
    put(out, magic_number), put(out, stream), put(out, begin), put(out, end);
    const uint64_t bits = (out.size() + 3 * sizeof(uint64_t) + rest.size()) * 8;
    put(out, bits), put(out, bits), put(out, discarded);
    return out.append(rest);
  }

  base::Status flush(uint32_t cpu, Stream& stream) {
    if (stream.events.empty()) return {};
    std::string rest;
    put(rest, cpu);
    ACU_CHECK(stream.file.add(packet(events_stream, stream.begin, stream.end, 0, rest + stream.events)));
    stream.events.clear();
    return {};
  }

  base::Status lost() {
    uint64_t all = 0;
    for (const Count& c : reader_.counts()) all += c.lost;
    if (!all) return {};
    const uint64_t begin = reader_.about().begin_ns, end = std::max(begin, reader_.about().end_ns);
    ACU_TRY(ExportFile file, ExportFile::create(folder_ + "/lost"));
    ACU_CHECK(file.add(packet(lost_stream, begin, begin, 0, "") + packet(lost_stream, begin, end, all, "")));
    return file.finish();
  }

  const Reader& reader_;
  const Names& names_;
  const std::string folder_;
  std::map<uint32_t, Stream> streams_; // by CPU
};

// Failure: there are files in it, of which a reader might take some for the trace's own.
base::Status make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0777) == 0) return {};
  const int error = errno;
  DIR* folder = error == EEXIST ? ::opendir(path.c_str()) : nullptr;
  if (!folder) return base::errno_error("cannot create folder `" + path + "`", error);
  size_t entries = 0;
  while (::readdir(folder)) entries++;
  ::closedir(folder);
  if (entries > 2) return base::Error{base::Failure::runtime, "cannot write `" + path + "`: the folder is not empty\nhint: choose another name, or remove the folder"};
  return {};
}

} // namespace

base::Status write_ctf(const Reader& reader, const Part& part, const std::string& path) {
  const std::string folder = path.ends_with('/') ? path.substr(0, path.size() - 1) : path;
  ACU_CHECK(make_folder(folder));
  return Ctf(reader, folder).write(part);
}

} // namespace recording
