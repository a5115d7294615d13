// pprof's format: a gzip'ed message of github.com/google/pprof/proto/profile.proto. A location stands for a
// function with the calls inlined there, the innermost first. Notes are functions without a file. Kinds that none of that
// tells have their mark (kinds_in_files.h) behind the function's system name. Thread, process, trace and span are labels. Comments
// name what was recorded (headings.h), and acu as the writer.
#include "base/protobuf.h"
#include "profile/formats.h"
#include "profile/headings.h"
#include "profile/kinds_in_files.h"
#include "report/number.h"

#include <algorithm>
#include <array>
#include <libdeflate.h>
#include <map>

namespace profile {

namespace {

// Fields of the messages.
namespace in_profile {
enum : uint32_t {
  sample_type = 1,
  sample = 2,
  mapping = 3,
  location = 4,
  function = 5,
  text = 6,
  time = 9,
  duration = 10,
  period_type = 11,
  period = 12,
  comment = 13,
  preferred_type = 14
};
}
namespace in_value_type {
enum : uint32_t { type = 1, unit = 2 };
}
namespace in_sample {
enum : uint32_t { location = 1, value = 2, label = 3 };
}
namespace in_label {
enum : uint32_t { key = 1, text = 2, number = 3 };
}
namespace in_mapping {
enum : uint32_t { id = 1, begin = 2, limit = 3, offset = 4, file = 5, build_id = 6, has_functions = 7, has_inlines = 10 };
}
namespace in_location {
enum : uint32_t { id = 1, mapping = 2, address = 3, line = 4 };
}
namespace in_line {
enum : uint32_t { function = 1 };
}
namespace in_function {
enum : uint32_t { id = 1, name = 2, system_name = 3, file = 4 };
}

constexpr uint64_t most_bytes = uint64_t{1} << 30;
constexpr std::string_view gzip_magic = "\x1f\x8b";
constexpr std::string_view own_comment = "written by acu";
// Beginnings of the names of values that are CPU time, as tools call it.
constexpr std::array<std::string_view, 3> cpu_values = {"cpu", "cycles", "sample"};

std::string gzip(const std::string& in) {
  constexpr int quick = 1;
  auto* z = libdeflate_alloc_compressor(quick);
  std::string out(libdeflate_gzip_compress_bound(z, in.size()), '\0');
  out.resize(libdeflate_gzip_compress(z, in.data(), in.size(), out.data(), out.size()));
  libdeflate_free_compressor(z);
  return out;
}

// How much comes out is not known before.
base::Result<std::string> gunzip(std::string_view in) {
  auto* z = libdeflate_alloc_decompressor();
  std::string out;
  size_t made = 0;
  auto result = LIBDEFLATE_INSUFFICIENT_SPACE;
  for (size_t room = in.size() * 4; result == LIBDEFLATE_INSUFFICIENT_SPACE && out.size() < most_bytes; room *= 2) {
    out.resize(std::min<size_t>(room, most_bytes));
    result = libdeflate_gzip_decompress_ex(z, in.data(), in.size(), out.data(), out.size(), nullptr, &made);
  }
  libdeflate_free_decompressor(z);
  if (result != LIBDEFLATE_SUCCESS)
    return base::Error{base::Failure::runtime, "its gzip data is damaged or too large"};
  out.resize(made);
  return out;
}

class Writer {
public:
  explicit Writer(const Profile& p) : p_(p) { text(""); }

  std::string write() {
    value_type(in_profile::sample_type, "samples", "count");
    bool is_time = p_.about.period_ns || p_.about.unit == "ns";
    const bool is_cpu = is_time && p_.about.title == "CPU"; // the name that readers of pprof know CPU time by
    value_type(in_profile::sample_type, is_cpu ? "cpu" : is_time ? "time" : p_.about.unit,
               is_time                    ? "nanoseconds"
               : p_.about.unit == "bytes" ? "bytes"
                                          : "count");
    for (const Sample& s : p_.samples()) add(s);
    out_.number(in_profile::time, p_.about.start_ns);
    out_.number(in_profile::duration, p_.about.duration_ns);
    if (is_cpu) value_type(in_profile::period_type, "cpu", "nanoseconds");
    out_.number(in_profile::period, p_.about.period_ns);
    out_.number(in_profile::comment, text(heading_of(p_.about)));
    out_.number(in_profile::comment, text(own_comment));
    for (const auto& [text, number] : texts_in_order_) out_.bytes(in_profile::text, *text), (void)number;
    return out_.text();
  }

private:
  uint64_t text(std::string_view t) {
    auto [at, is_new] = texts_.try_emplace(std::string(t), texts_.size());
    if (is_new) texts_in_order_.push_back({&at->first, at->second});
    return at->second;
  }
  void value_type(uint32_t field, std::string_view type, std::string_view unit) {
    base::ProtoWriter m;
    m.number(in_value_type::type, text(type));
    m.number(in_value_type::unit, text(unit));
    out_.bytes(field, m.text());
  }
  uint64_t mapping(uint32_t module) {
    if (!module) return 0;
    auto [at, is_new] = mappings_.try_emplace(module, mappings_.size() + 1);
    if (!is_new) return at->second;
    base::ProtoWriter m;
    m.number(in_mapping::id, at->second);
    m.number(in_mapping::limit, at->second); // readers want ranges that differ
    m.number(in_mapping::file, text(p_.texts()[module]));
    if (auto known = p_.build_ids.find(module); known != p_.build_ids.end()) m.number(in_mapping::build_id, text(known->second));
    m.number(in_mapping::has_functions, 1);
    m.number(in_mapping::has_inlines, 1);
    out_.bytes(in_profile::mapping, m.text());
    return at->second;
  }
  uint64_t function(uint32_t frame) {
    auto [at, is_new] = functions_.try_emplace(frame, functions_.size() + 1);
    if (!is_new) return at->second;
    const Frame& f = p_.frames()[frame];
    base::ProtoWriter m;
    m.number(in_function::id, at->second);
    m.number(in_function::name, text(p_.name(f)));
    m.number(in_function::system_name, text(std::string(p_.name(f)).append(mark_of_unusual(f.kind))));
    m.number(in_function::file, text(p_.module(f)));
    out_.bytes(in_profile::function, m.text());
    return at->second;
  }
  // Frames of one place of the code, the innermost first.
  uint64_t location(const std::vector<uint32_t>& frames) {
    auto [at, is_new] = locations_.try_emplace(frames, locations_.size() + 1);
    if (!is_new) return at->second;
    base::ProtoWriter m;
    m.number(in_location::id, at->second);
    m.number(in_location::mapping, mapping(p_.frames()[frames.back()].module));
    for (uint32_t frame : frames) {
      base::ProtoWriter line;
      line.number(in_line::function, function(frame));
      m.bytes(in_location::line, line.text());
    }
    out_.bytes(in_profile::location, m.text());
    return at->second;
  }
  void label(base::ProtoWriter& to, std::string_view key, std::string_view value, uint64_t number) {
    if (value.empty() && !number) return; // not known
    base::ProtoWriter m;
    m.number(in_label::key, text(key));
    m.number(in_label::text, value.empty() ? 0 : text(value));
    m.number(in_label::number, number);
    to.bytes(in_sample::label, m.text());
  }
  void add(const Sample& s) {
    std::vector<uint64_t> locations; // innermost first
    std::vector<uint32_t> here;
    for (uint32_t node = s.node; node; node = p_.nodes()[node].parent) {
      here.push_back(p_.nodes()[node].frame);
      if (spec::is_inlined(p_.frames()[here.back()].kind) && p_.nodes()[node].parent) continue;
      locations.push_back(location(here));
      here.clear();
    }
    const Thread& t = p_.threads()[s.thread];
    base::ProtoWriter m;
    m.packed(in_sample::location, locations);
    m.packed(in_sample::value, {s.count, p_.about.period_ns ? s.weight * p_.about.period_ns : s.weight});
    label(m, "process", p_.texts()[t.process], 0);
    label(m, "thread", p_.texts()[t.name], 0);
    label(m, "pid", {}, t.pid);
    label(m, "tid", {}, t.tid);
    const Link& link = p_.links()[s.link];
    label(m, "trace_id", link.trace_id, 0);
    label(m, "span_id", link.span_id, 0);
    out_.bytes(in_profile::sample, m.text());
  }

  const Profile& p_;
  base::ProtoWriter out_;
  std::map<std::string, uint64_t> texts_;
  std::vector<std::pair<const std::string*, uint64_t>> texts_in_order_;
  std::map<uint32_t, uint64_t> mappings_, functions_;
  std::map<std::vector<uint32_t>, uint64_t> locations_;
};

// The parts refer to each other by ids and may stand in any order, so they are collected first.
class Parser {
public:
  base::Result<Profile> read(base::ByteSpan bytes) {
    base::ProtoReader in(bytes);
    while (in.next()) take(in);
    if (!in.ok() || texts_.empty())
      return base::Error{base::Failure::runtime, "it is not a pprof profile, or it is damaged"};
    choose_value();
    choose_title();
    for (base::ByteSpan sample : samples_)
      if (!add(sample))
        return base::Error{base::Failure::runtime, is_comparison_ ? "the profile has negative values: it is a comparison of two profiles"
                                                                  : "the profile is damaged: a sample has an invalid reference"};
    for (auto [file, id] : build_ids_) p_.build_ids[p_.text(text(file))] = text(id);
    return std::move(p_);
  }

private:
  struct Location {
    uint64_t mapping = 0, address = 0;
    std::vector<uint64_t> functions;
  };
  struct Mapping { // file: a text
    uint64_t begin = 0, offset = 0, file = 0;
  };
  struct Function { // texts
    uint64_t name = 0, system_name = 0;
  };
  std::string_view text(uint64_t number) const {
    return number < texts_.size() ? texts_[number] : std::string_view();
  }

  void take(base::ProtoReader& in) {
    switch (in.field()) {
    case in_profile::sample_type: types_.push_back(pair_of(in.bytes())); break;
    case in_profile::sample: samples_.push_back(in.bytes()); break;
    case in_profile::text: texts_.push_back(in.text()); break;
    case in_profile::time: p_.about.start_ns = in.number(); break;
    case in_profile::duration: p_.about.duration_ns = in.number(); break;
    case in_profile::period_type: period_type_ = pair_of(in.bytes()); break;
    case in_profile::period: period_ = in.number(); break;
    case in_profile::comment: in.append_to(comments_); break;
    case in_profile::preferred_type: preferred_type_ = in.number(); break;
    case in_profile::mapping: take_mapping(in.bytes()); break;
    case in_profile::function: {
      base::ProtoReader m(in.bytes());
      uint64_t id = 0;
      Function function;
      while (m.next())
        (m.field() == in_function::id            ? id
         : m.field() == in_function::name        ? function.name
         : m.field() == in_function::system_name ? function.system_name
                                                 : ignored_) = m.number();
      functions_[id] = function;
      break;
    }
    case in_profile::location: take_location(in.bytes()); break;
    }
  }
  void take_mapping(base::ByteSpan bytes) {
    base::ProtoReader m(bytes);
    uint64_t id = 0, build_id = 0;
    Mapping mapping;
    while (m.next())
      (m.field() == in_mapping::id         ? id
       : m.field() == in_mapping::begin    ? mapping.begin
       : m.field() == in_mapping::offset   ? mapping.offset
       : m.field() == in_mapping::file     ? mapping.file
       : m.field() == in_mapping::build_id ? build_id
                                           : ignored_) = m.number();
    mappings_[id] = mapping;
    if (build_id) build_ids_[mapping.file] = build_id;
  }
  void take_location(base::ByteSpan bytes) {
    base::ProtoReader m(bytes);
    uint64_t id = 0;
    Location location;
    while (m.next()) {
      if (m.field() == in_location::id) id = m.number();
      if (m.field() == in_location::mapping) location.mapping = m.number();
      if (m.field() == in_location::address) location.address = m.number();
      if (m.field() != in_location::line) continue;
      base::ProtoReader line(m.bytes());
      while (line.next())
        if (line.field() == in_line::function) location.functions.push_back(line.number());
    }
    locations_[id] = std::move(location);
  }
  static std::pair<uint64_t, uint64_t> pair_of(base::ByteSpan bytes) {
    base::ProtoReader m(bytes);
    std::pair<uint64_t, uint64_t> out;
    while (m.next()) (m.field() == 1 ? out.first : out.second) = m.number();
    return out;
  }
  // The one that the profile prefers, else the last, as in pprof itself; time becomes samples again where all of it is whole periods.
  // Samples are counted by the value before it.
  void choose_value() {
    if (types_.empty()) types_.emplace_back();
    value_ = types_.size() - 1;
    for (size_t i = 0; preferred_type_ && i < types_.size(); i++)
      if (text(types_[i].first) == text(preferred_type_)) value_ = i;
    const auto is_count = [&](size_t at) { return text(types_[at].second) == "count"; };
    count_ = value_ && is_count(value_ - 1) ? value_ - 1 : is_count(value_) ? value_ : types_.size();
    const std::string_view unit = text(types_[value_].second);
    const bool is_sampled = unit == "nanoseconds" && count_ < value_ && period_ && text(period_type_.second) == "nanoseconds" && are_whole_periods();
    if (is_sampled) p_.about.period_ns = period_;
    p_.about.unit = is_sampled              ? "samples"
                    : unit == "nanoseconds" ? "ns"
                    : unit == "count"       ? text(types_[value_].first)
                                            : unit;
    if (p_.about.unit.empty()) p_.about.unit = "samples";
  }
  bool are_whole_periods() const {
    return std::ranges::all_of(samples_, [&](base::ByteSpan sample) {
      base::ProtoReader m(sample);
      std::vector<uint64_t> values;
      while (m.next())
        if (m.field() == in_sample::value) m.append_to(values);
      return value_ >= values.size() || values[value_] % period_ == 0;
    });
  }
  // If no comment names what was recorded, the name of the values does.
  void choose_title() {
    const bool is_own = std::ranges::any_of(comments_, [&](uint64_t comment) { return text(comment) == own_comment; });
    if (std::ranges::any_of(comments_, [&](uint64_t comment) { return take_heading(text(comment), is_own, p_.about); })) return;
    const std::string_view type = text(types_[value_].first);
    const bool is_cpu = std::ranges::any_of(cpu_values, [&](std::string_view begin) { return type.starts_with(begin); });
    if (!type.empty() && !is_cpu) p_.about.title = type;
    if (type.empty() && p_.about.unit == "ns") p_.about.title = "time"; // of what kind, nothing says
  }
  // Of code without a function: "libx.so.1+0x2234".
  Frame place(const Location& l) {
    const Mapping& mapping = mappings_[l.mapping];
    const std::string_view file = text(mapping.file);
    const std::string at = report::bare(file.empty() ? l.address : l.address - mapping.begin + mapping.offset);
    const uint32_t name = p_.text(file.empty() ? at : std::string(file.substr(file.rfind('/') + 1)) + "+" + at);
    return {name, p_.text(file), kind_by_names({}, file), false};
  }
  Frame frame(const Location& l, uint64_t function, bool is_inlined) {
    const auto known = functions_.find(function);
    if (known == functions_.end()) return place(l);
    std::string_view name = text(known->second.name), marked = text(known->second.system_name), file = text(mappings_[l.mapping].file);
    Frame f = {p_.text(name), p_.text(file)};
    const auto unusual = take_mark_of_unusual(marked);
    f.kind = unusual && marked == name ? *unusual : kind_by_names(name, file, is_inlined);
    size_t plus = name.rfind("+0x");
    f.named = plus == name.npos || plus + 3 >= name.size() ||
              name.find_first_not_of("0123456789abcdef", plus + 3) != name.npos;
    return f;
  }
  bool add(base::ByteSpan bytes) {
    base::ProtoReader m(bytes);
    std::vector<uint64_t> locations, values;
    Thread thread;
    Link link;
    while (m.next()) {
      if (m.field() == in_sample::location) m.append_to(locations);
      if (m.field() == in_sample::value) m.append_to(values);
      if (m.field() == in_sample::label) take_label(m.bytes(), thread, link);
    }
    if (!m.ok() || value_ >= values.size()) return false;
    is_comparison_ = static_cast<int64_t>(values[value_]) < 0;
    if (is_comparison_) return false;
    const uint64_t weight = values[value_] / std::max<uint64_t>(p_.about.period_ns, 1);
    const uint64_t count = count_ < values.size() ? values[count_] : 1;
    uint32_t node = 0;
    const auto call = [&](const Frame& f) {
      node = p_.node(node, p_.frame(f));
      p_.about.frames += count;
      p_.about.frames_named += f.named ? count : 0;
    };
    for (size_t i = locations.size(); i-- > 0;) {
      auto at = locations_.find(locations[i]);
      if (at == locations_.end()) return false;
      const Location& l = at->second;
      if (l.functions.empty()) call(place(l));
      for (size_t k = l.functions.size(); k-- > 0;) call(frame(l, l.functions[k], k + 1 < l.functions.size()));
    }
    p_.add(p_.thread(thread), node, weight, count, p_.link(link));
    p_.about.samples += count;
    return true;
  }
  void take_label(base::ByteSpan bytes, Thread& to, Link& link) {
    base::ProtoReader m(bytes);
    uint64_t key = 0, value = 0, number = 0;
    while (m.next())
      (m.field() == in_label::key      ? key
       : m.field() == in_label::text   ? value
       : m.field() == in_label::number ? number
                                       : ignored_) = m.number();
    std::string_view name = text(key);
    if (name == "process") to.process = p_.text(text(value));
    if (name == "thread") to.name = p_.text(text(value));
    if (name == "pid") to.pid = static_cast<uint32_t>(number);
    if (name == "tid") to.tid = static_cast<uint32_t>(number);
    if (name == "trace_id") link.trace_id = text(value);
    if (name == "span_id") link.span_id = text(value);
  }

  Profile p_;
  std::vector<std::string_view> texts_;
  std::vector<std::pair<uint64_t, uint64_t>> types_;
  std::vector<base::ByteSpan> samples_;
  std::vector<uint64_t> comments_; // texts
  std::map<uint64_t, Mapping> mappings_;
  std::map<uint64_t, Function> functions_;
  std::map<uint64_t, uint64_t> build_ids_;            // by file; both are texts
  std::map<uint64_t, Location> locations_;
  std::pair<uint64_t, uint64_t> period_type_;
  uint64_t period_ = 0, preferred_type_ = 0, ignored_ = 0;
  size_t value_ = 0, count_ = 0; // of a sample's values: its weight, and how often it was seen
  bool is_comparison_ = false;
};

} // namespace

std::string write_pprof(const Profile& profile) { return gzip(Writer(profile).write()); }

// A message that begins with a sample type is a profile.
bool is_pprof(std::string_view bytes) {
  constexpr char sample_type_key = in_profile::sample_type << 3 | 2;
  if (bytes.starts_with(gzip_magic)) return true;
  if (bytes.size() < 4 || bytes[0] != sample_type_key) return false;
  base::ProtoReader in(std::as_bytes(std::span(bytes)));
  return in.next() && in.field() == in_profile::sample_type && in.bytes().size() < 32;
}

base::Result<Profile> read_pprof(std::string_view bytes) {
  std::string unpacked;
  if (bytes.starts_with(gzip_magic)) {
    ACU_TRY(unpacked, gunzip(bytes));
    bytes = unpacked;
  }
  return Parser().read(std::as_bytes(std::span(bytes)));
}

} // namespace profile
