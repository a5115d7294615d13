// One value as text: a Writer with one function for each kind of type that is no plain number.
//
// Bytes come from programs in the kernel. They were checked when the script was compiled, but nothing here
// relies on it: a part that is not there reads as zeros, an index that is out of range prints nothing.
#include "report/text.h"

#include "report/histogram.h"
#include "report/number.h"
#include "report/series.h"
#include "report/time.h"
#include "report/views.h"

#include <arpa/inet.h>
#include <cstring>
#include <pwd.h>

namespace report {

using type::Kind;

std::string_view characters(Bytes bytes) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return text.substr(0, text.find('\0'));
}

Bytes buffer_bytes(const type::Type& type, Bytes bytes) {
  return part(bytes, 4, std::min<uint64_t>(load(bytes, 4), type.count));
}

void append_escaped(std::string& out, Bytes bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  for (std::byte b : bytes) {
    auto c = static_cast<unsigned char>(b);
    if (c >= 32 && c <= 126)
      out += static_cast<char>(c);
    else
      out.append("\\x").append(1, digits[c >> 4]).append(1, digits[c & 15]);
  }
}

// A bit-field as a number, from the bytes that hold its bits.
static uint64_t bit_field(const type::Field& f, Bytes structure) {
  uint32_t first = f.bit_offset % 8, bytes = (first + f.bit_size + 7) / 8;
  Bytes held = part(structure, f.offset + f.bit_offset / 8, bytes);
  uint64_t value = load(held, std::min(bytes, 8u)) >> first;
  if (bytes > 8) value |= load(part(held, 8, 1), 1) << (64 - first);
  unsigned unused = 64 - std::min<unsigned>(f.bit_size, 64);
  return f.type->is_signed ? static_cast<uint64_t>(static_cast<int64_t>(value << unused) >> unused)
                           : value << unused >> unused;
}

void for_each_member(const type::Type& type, Bytes bytes, const TakeMember& take) {
  for (const type::Field& f : type.fields()) {
    Bytes at = part(bytes, f.offset, f.type->size);
    if (f.bit_size) {
      uint64_t value = bit_field(f, bytes);
      take(f.name, *f.type, std::as_bytes(std::span(&value, 1)));
    } else if (f.data_loc && type.table) { // where the data is, not the data
      take(f.name, *type.table->integer(4, false), part(bytes, f.offset, 4));
    } else if (f.name.empty() && f.type->is(Kind::structure)) {
      for_each_member(*f.type, at, take);
    } else {
      take(f.name, *f.type, at);
    }
  }
}

namespace {

// Writes one value; one function for each kind.
class Writer {
public:
  Writer(std::string& out, Context& context) : out_(out), context_(context) {}

  void value(const type::Type& type, Bytes bytes, uint64_t div);

private:
  void enumeration(const type::Type& type, Bytes bytes);
  void pointer(Bytes bytes);
  void string(Bytes bytes);
  void array(const type::Type& type, Bytes bytes);
  void structure(const type::Type& type, Bytes bytes);
  void tuple(const type::Type& type, Bytes bytes);
  void inet(Bytes bytes);
  void mac(Bytes bytes);
  void timestamp(Bytes bytes);
  void user_name(uint64_t uid);
  void cgroup_path(Bytes bytes);
  void probe_name(uint64_t index);
  void stats(const type::Type& type, Bytes bytes, uint64_t div);

  std::string& out_;
  Context& context_;
};

void Writer::value(const type::Type& type, Bytes bytes, uint64_t div) {
  if (auto number = number_of(type, bytes)) return append(out_, divide(*number, div));
  switch (type.kind) {
  case Kind::boolean: out_ += load(bytes, 1) ? "true" : "false"; break;
  case Kind::enumeration: enumeration(type, bytes); break;
  case Kind::floating: append_floating(out_, type, bytes); break;
  case Kind::pointer: pointer(bytes); break;
  case Kind::array: array(type, bytes); break;
  case Kind::string: string(bytes); break;
  case Kind::buffer: append_escaped(out_, buffer_bytes(type, bytes)); break;
  case Kind::structure:
    if (!append_view(out_, context_, type, bytes, false)) structure(type, bytes);
    break;
  case Kind::tuple: type.is_named ? structure(type, bytes) : tuple(type, bytes); break;
  case Kind::ksym: out_ += context_.names.kernel(load(bytes, 8), false); break;
  case Kind::usym:
    out_ += context_.names.user(static_cast<uint32_t>(load(part(bytes, 8, 4), 4)), load(bytes, 8), false);
    break;
  case Kind::kstack:
  case Kind::ustack:
  case Kind::stack: append_stack(out_, context_, type, bytes); break;
  case Kind::inet: inet(bytes); break;
  case Kind::mac: mac(bytes); break;
  case Kind::timestamp: timestamp(bytes); break;
  case Kind::username: user_name(load(bytes, 8)); break;
  case Kind::cgroup_path: cgroup_path(bytes); break;
  case Kind::probe_name: probe_name(load(bytes, 8)); break;
  case Kind::stats: stats(type, bytes, div); break;
  case Kind::hist:
  case Kind::lhist: append_histogram(out_, histogram_rows(type, bytes, div)); break;
  case Kind::tseries: append_series(out_, series_points(type, bytes, div)); break;
  case Kind::none:
  case Kind::integer:
  case Kind::count:
  case Kind::sum:
  case Kind::min:
  case Kind::max:
  case Kind::avg: break; // numbers, above
  }
}

void Writer::enumeration(const type::Type& type, Bytes bytes) {
  uint64_t value = extend(type, bytes);
  for (const type::Enumerator& e : type.enumerators())
    if (static_cast<uint64_t>(e.value) == value) {
      out_ += e.name;
      return;
    }
  append(out_, {value, type.is_signed});
}

void Writer::pointer(Bytes bytes) {
  out_ += "0x";
  append_hex(out_, load(bytes, 8));
}

// A last byte that is not NUL is no character but the mark of a text that was cut.
void Writer::string(Bytes bytes) {
  bool cut = !bytes.empty() && bytes.back() != std::byte{0};
  out_ += characters(cut ? bytes.first(bytes.size() - 1) : bytes);
  if (cut) out_ += context_.options.cut_trailer;
}

void Writer::array(const type::Type& type, Bytes bytes) {
  const type::Type& element = *type.element;
  if (element.is_char) {
    out_ += characters(bytes);
    return;
  }
  out_ += '[';
  for (uint32_t i = 0; i < type.count; i++) {
    if (i) out_ += ',';
    Bytes at = part(bytes, size_t{i} * element.size, element.size);
    if (element.is(Kind::string)) // of C, as in structures
      out_ += characters(at);
    else
      value(element, at, 1);
  }
  out_ += ']';
}

void Writer::structure(const type::Type& type, Bytes bytes) {
  bool first = true;
  out_ += "{";
  for_each_member(type, bytes, [&](std::string_view name, const type::Type& member, Bytes at) {
    out_ += std::exchange(first, false) ? " ." : ", .";
    out_ += name;
    out_ += " = ";
    // A full array of characters in a C structure has no NUL and was not cut.
    if (member.is(Kind::string) && type.is(Kind::structure))
      out_ += characters(at);
    else
      value(member, at, 1);
  });
  out_ += " }";
}

void Writer::tuple(const type::Type& type, Bytes bytes) {
  out_ += '(';
  for (const type::Field& f : type.fields()) {
    if (&f != type.fields().data()) out_ += ", ";
    value(*f.type, part(bytes, f.offset, f.type->size), 1);
  }
  out_ += ")";
}

void Writer::inet(Bytes bytes) {
  char buffer[INET6_ADDRSTRLEN];
  Bytes address = part(bytes, 1, 16);
  if (address.size() < 16) return;
  int family = load(bytes, 1) == 16 ? AF_INET6 : AF_INET;
  if (::inet_ntop(family, address.data(), buffer, sizeof buffer)) out_ += buffer;
}

void Writer::mac(Bytes bytes) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  for (size_t i = 0; i < bytes.size(); i++) {
    auto b = static_cast<unsigned char>(bytes[i]);
    if (i) out_ += ':';
    out_.append(1, digits[b >> 4]).append(1, digits[b & 15]);
  }
}

void Writer::timestamp(Bytes bytes) {
  uint64_t format = load(bytes, 4);
  if (format >= context_.program.strings.size()) return;
  const Options& options = context_.options;
  int64_t to_wall = options.boot_to_wall_ns;
  switch (static_cast<type::TimeClock>(load(part(bytes, 4, 4), 4))) {
  case type::TimeClock::boot: break;
  case type::TimeClock::monotonic: to_wall = options.monotonic_to_wall_ns; break;
  case type::TimeClock::tai: to_wall = options.tai_to_wall_ns; break;
  }
  auto when = static_cast<int64_t>(load(part(bytes, 8, 8), 8));
  out_ += format_time(context_.program.strings[format], when + to_wall);
}

// Asking can mean reading a file or the network, so once a user.
void Writer::user_name(uint64_t uid) {
  auto [at, is_new] = context_.users.try_emplace(uid);
  if (is_new) {
    char buffer[4096];
    passwd entry, *found = nullptr;
    bool fine = ::getpwuid_r(static_cast<uid_t>(uid), &entry, buffer, sizeof buffer, &found) == 0 && found;
    at->second = fine ? found->pw_name : std::to_string(uid);
  }
  out_ += at->second;
}

void Writer::cgroup_path(Bytes bytes) {
  uint64_t filter = load(part(bytes, 8, 8), 8);
  bool has_filter = filter < context_.program.strings.size();
  out_ += context_.names.cgroup(load(bytes, 8), has_filter ? context_.program.strings[filter] : "*");
}

void Writer::probe_name(uint64_t index) {
  if (index < context_.program.probe_names.size()) out_ += context_.program.probe_names[index];
}

void Writer::stats(const type::Type& type, Bytes bytes, uint64_t div) {
  Stats s = stats_of(type, bytes);
  out_ += "{ .count = ";
  append(out_, {s.count, false});
  out_ += ", .average = ";
  append(out_, divide(s.average, div));
  out_ += ", .total = ";
  append(out_, divide(s.total, div));
  out_ += " }";
}

} // namespace

void append_text(std::string& out, Context& context, const type::Type& type, Bytes bytes, uint64_t div) {
  Writer(out, context).value(type, bytes, div);
}

} // namespace report
