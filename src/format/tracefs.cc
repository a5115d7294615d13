// Reading tracefs and its format texts, see tracefs.h.
#include "format/tracefs.h"

#include "base/confinement.h"
#include "base/privilege.h"
#include "base/text.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

namespace format {

// ------------------------------------------------------------------------------------------- format texts

namespace {

// The number behind `key` in "…; key:12; …"; the line then begins behind it.
std::optional<uint32_t> number_after(std::string_view& line, std::string_view key) {
  constexpr std::string_view between = ";\t";
  size_t at = line.starts_with(between) ? between.size() : 0; // where it normally stands
  if (!line.substr(at).starts_with(key)) at = line.find(key);
  if (at == line.npos) return std::nullopt;
  line.remove_prefix(at + key.size());
  auto n = base::parse_integer(base::trim(line.substr(0, line.find(';'))));
  if (!n || *n > UINT32_MAX) return std::nullopt;
  return static_cast<uint32_t>(*n);
}

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// "unsigned long args[6]" → type, name, count. False if there is no name in it.
bool split_declaration(std::string_view text, TraceField& field) {
  text = base::trim(text);
  if (text.ends_with(']')) {
    size_t open = text.rfind('[');
    if (open == text.npos) return false;
    field.is_array = true;
    auto count = base::parse_integer(base::trim(text.substr(open + 1, text.size() - open - 2)));
    field.count = count && *count <= UINT32_MAX ? static_cast<uint32_t>(*count) : 0;
    text = base::trim(text.substr(0, open));
  }
  size_t begin = text.size();
  while (begin > 0 && is_name_char(text[begin - 1])) begin--;
  field.name = text.substr(begin);
  text = base::trim(text.substr(0, begin));
  constexpr std::string_view located = "__data_loc ";
  if (text.starts_with(located)) {
    field.is_located = true;
    text = base::trim(text.substr(located.size()));
    if (text.ends_with("[]")) text = base::trim(text.substr(0, text.size() - 2));
  }
  field.type = text;
  return !field.name.empty() && !text.empty();
}

std::optional<TraceField> parse_field(std::string_view line) {
  TraceField field;
  size_t end = line.find(';');
  if (end == line.npos || !split_declaration(line.substr(0, end), field)) return std::nullopt;
  line.remove_prefix(end);
  auto offset = number_after(line, "offset:");
  auto size = number_after(line, "size:");
  // The kernel's records are below 64 KiB; larger numbers are garbage.
  if (!offset || !size || *offset > UINT16_MAX || *size > UINT16_MAX) return std::nullopt;
  field.offset = *offset;
  field.size = *size;
  field.is_signed = number_after(line, "signed:").value_or(0) != 0;
  field.is_common = field.name.starts_with("common_");
  return field;
}

} // namespace

base::Result<TraceFormat> parse_trace_format(std::string_view text) {
  TraceFormat format;
  bool has_id = false;
  for (size_t end = 0; !text.empty(); text.remove_prefix(std::min(end, text.size() - 1) + 1)) {
    end = text.find('\n');
    std::string_view line = base::trim(text.substr(0, end));
    if (line.starts_with("print fmt:")) break;
    if (line.starts_with("name:")) format.name = base::trim(line.substr(5));
    if (line.starts_with("ID:")) {
      auto id = base::parse_integer(base::trim(line.substr(3)));
      has_id = id && *id <= UINT32_MAX;
      if (has_id) format.id = static_cast<uint32_t>(*id);
    }
    if (!line.starts_with("field:")) continue;
    auto field = parse_field(line.substr(6));
    if (!field)
      return base::Error{base::Failure::runtime, "cannot read this line of the format: " + std::string(line)};
    format.fields.push_back(*field);
  }
  if (format.name.empty() || !has_id)
    return base::Error{base::Failure::runtime, "the format has no name or no ID"};
  return format;
}

// ------------------------------------------------------------------------------------------------ tracefs

Tracefs::Tracefs(std::string root)
    : root_(std::move(root)), folder_(::open((root_ + "/events").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {}

base::Result<Tracefs> Tracefs::open() {
  static constexpr const char* places[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
  int error = ENOENT;
  for (int attempt = 0; attempt < 2; attempt++) {
    for (const char* place : places) {
      std::string root = place;
      if (base::is_accessible((root + "/events").c_str(), R_OK | X_OK)) return Tracefs(root);
      if (errno == EACCES) error = EACCES;
    }
    if (error == EACCES) break;
    if (attempt == 0 && mount("tracefs", places[0], "tracefs", 0, nullptr) != 0) {
      if (errno == EPERM) error = EPERM;
      break;
    }
  }
  if (error == EACCES && !base::has_capability(base::Capability::dac_read_search))
    return base::Error{base::Failure::permission, "cannot read the trace events in /sys/kernel/tracing" + base::not_permitted({base::Capability::dac_read_search})};
  const std::string permitted = base::permitted_by("`-v /sys/kernel/tracing:/sys/kernel/tracing:ro` (docker, podman)");
  if (!permitted.empty())
    return base::Error{base::Failure::permission, "cannot read the trace events: there is no tracefs at /sys/kernel/tracing that may be read" + permitted};
  if (error == ENOENT)
    return base::Error{base::Failure::unsupported,
                       "there is no tracefs at /sys/kernel/tracing: this kernel has no trace events"};
  return base::errno_error("cannot read the trace events in /sys/kernel/tracing", error);
}

base::Result<std::string> Tracefs::read(const std::string& place) const {
  return read_ ? read_(place) : base::read_file(root_ + "/" + place);
}

base::Result<std::vector<TraceEvent>> Tracefs::events() {
  if (!events_.empty()) return events_;
  ACU_TRY(list_, read("available_events"));
  std::vector<std::string_view> lines = base::split(list_, '\n');
  std::sort(lines.begin(), lines.end());
  events_.reserve(lines.size());
  for (std::string_view line : lines) {
    size_t colon = line.find(':');
    if (colon == line.npos) continue;
    // ftrace's own records (function graphs, …) have no point in the code that could be attached.
    if (line.substr(0, colon) == "ftrace") continue;
    events_.push_back({line.substr(0, colon), line.substr(colon + 1)});
  }
  return events_;
}

// Names come from scripts: one with a slash or dots could lead elsewhere.
static bool is_plain(std::string_view name) {
  return !name.empty() && name.find('/') == name.npos && name.find('\0') == name.npos && name != "." &&
         name != "..";
}

// One of the files of an event, seen from the folder of all: a whole path takes the kernel twice as long to walk.
static std::string place_of(std::string_view category, std::string_view event, std::string_view file) {
  std::string out;
  if (!is_plain(category) || !is_plain(event)) return out;
  out.reserve(category.size() + event.size() + file.size() + 2);
  return out.append(category).append(1, '/').append(event).append(1, '/').append(file);
}

base::Result<base::Fd> Tracefs::open_file(const std::string& place) const {
  if (place.empty()) return base::Error{base::Failure::nothing_matched, "this is not the name of a trace event"};
  base::Fd fd(::openat(folder_.get(), place.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return base::errno_error("cannot open " + root_ + "/events/" + place, errno);
  return fd;
}

bool Tracefs::has(std::string_view category, std::string_view event) {
  constexpr size_t most_opened = 64;
  if (category == "ftrace") return false;
  std::string place = place_of(category, event, "format");
  if (read_) return !place.empty() && read_("events/" + place).ok();
  auto fd = open_file(place);
  if (!fd.ok()) return fd.error().kind == base::Failure::permission; // it is there; reading it tells more
  if (opened_.size() < most_opened) opened_.emplace_back(std::move(place), std::move(*fd));
  return true;
}

base::Result<std::string> Tracefs::format(std::string_view category, std::string_view event) {
  const std::string place = place_of(category, event, "format");
  if (read_) return read_("events/" + place);
  auto known = std::find_if(opened_.begin(), opened_.end(), [&](auto& o) { return o.first == place; });
  base::Fd fd;
  if (known != opened_.end()) {
    fd = std::move(known->second);
    opened_.erase(known);
  } else {
    ACU_TRY(fd, open_file(place));
  }
  // The kernel makes this text anew for each read: not one more than needed.
  std::string out;
  char buffer[16384];
  while (out.find("\nprint fmt:") == out.npos) {
    ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return base::errno_error("cannot read " + root_ + "/events/" + place, errno);
    if (n == 0) break;
    out.append(buffer, static_cast<size_t>(n));
  }
  return out;
}

base::Result<uint32_t> Tracefs::id(std::string_view category, std::string_view event) const {
  const std::string place = place_of(category, event, "id");
  ACU_TRY(base::Fd fd, open_file(place));
  ACU_TRY(std::string text, base::read_up_to(fd, UINT64_MAX, place));
  auto id = base::parse_integer(base::trim(text));
  if (!id || *id > UINT32_MAX)
    return base::Error{base::Failure::runtime, "the kernel gives no id of this event"};
  return static_cast<uint32_t>(*id);
}

const std::vector<std::string>& Tracefs::made_categories() {
  if (made_known_) return made_;
  made_known_ = true;
  // Lines such as "p:kprobes/name …", "r8:probe_libc/name …", "s:synthetic/name …".
  auto text = read("dynamic_events");
  if (text.ok())
    for (std::string_view line : base::split(*text, '\n')) {
      size_t colon = line.find(':'), slash = line.find('/');
      if (colon != line.npos && slash != line.npos && slash > colon)
        made_.emplace_back(line.substr(colon + 1, slash - colon - 1));
    }
  std::sort(made_.begin(), made_.end());
  made_.erase(std::unique(made_.begin(), made_.end()), made_.end());
  return made_;
}

} // namespace format
