// OpenTelemetry's profiles: an ExportProfilesServiceRequest, which is the body of a POST to /v1development/profiles of an
// OTLP/HTTP receiver, and is the same on the wire as ProfilesData. The fields are those of opentelemetry-proto 1.11.0
// (profiles/v1development); the format is not stable yet. Each process is a resource. What samples share (texts, functions,
// stacks, attributes) is in one dictionary, whose tables begin with an empty element.
#include "base/protobuf.h"
#include "profile/formats.h"

#include <array>
#include <map>

namespace profile {

namespace {

// Fields of the messages.
namespace in_request {
enum : uint32_t { resource_profiles = 1, dictionary = 2 };
}
namespace in_dictionary {
enum : uint32_t { mapping = 1, location = 2, function = 3, link = 4, text = 5, attribute = 6, stack = 7 };
}
namespace in_resource_profiles {
enum : uint32_t { resource = 1, scope_profiles = 2 };
}
namespace in_resource {
enum : uint32_t { attribute = 1 };
}
namespace in_scope_profiles {
enum : uint32_t { scope = 1, profile = 2 };
}
namespace in_scope {
enum : uint32_t { name = 1, version = 2 };
}
namespace in_profile {
enum : uint32_t { sample_type = 1, sample = 2, time = 3, duration = 4, period_type = 5, period = 6 };
}
namespace in_value_type {
enum : uint32_t { type = 1, unit = 2 };
}
namespace in_sample {
enum : uint32_t { stack = 1, attributes = 2, link = 3, values = 4 };
}
namespace in_link {
enum : uint32_t { trace_id = 1, span_id = 2 };
}
namespace in_mapping {
enum : uint32_t { limit = 2, file = 4, attributes = 5 };
}
namespace in_stack {
enum : uint32_t { locations = 1 };
}
namespace in_location {
enum : uint32_t { mapping = 1, line = 3, attributes = 4 };
}
namespace in_line {
enum : uint32_t { function = 1 };
}
namespace in_function {
enum : uint32_t { name = 1 };
}
namespace in_attribute { // of the dictionary
enum : uint32_t { key = 1, value = 2 };
}
namespace in_key_value {
enum : uint32_t { key = 1, value = 2 };
}
namespace in_value {
enum : uint32_t { text = 1, number = 3 };
}

std::string value_of(std::string_view text) {
  base::ProtoWriter m;
  m.bytes(in_value::text, text);
  return m.text();
}
std::string value_of(uint64_t number) {
  base::ProtoWriter m;
  m.number_or_zero(in_value::number, number);
  return m.text();
}

// Of pairs of hexadecimal digits.
std::string bytes_of(std::string_view digits) {
  const auto half = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string out;
  for (size_t at = 0; at + 1 < digits.size(); at += 2) out += static_cast<char>(half(digits[at]) << 4 | half(digits[at + 1]));
  return out;
}

// "off-CPU" is "off_cpu".
std::string lower_word(std::string_view text) {
  std::string out;
  for (char c : text) {
    const bool is_upper = c >= 'A' && c <= 'Z', is_kept = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    out.push_back(is_upper ? static_cast<char>(c - 'A' + 'a') : is_kept ? c : '_');
  }
  return out;
}

// profile.frame.type of OpenTelemetry's semantic conventions; languages that are not here have their own name there.
std::string frame_type(FrameKind kind) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> other_names = {
      {{"Python", "cpython"}, {"Java", "jvm"}, {"JavaScript", "v8js"}}};
  const std::string_view language = spec::row_of(kind).language;
  for (auto [ours, theirs] : other_names)
    if (language == ours) return std::string(theirs);
  return language.empty() ? "native" : lower_word(language);
}

// Elements by what they hold; each is there once.
class Table {
public:
  Table() { number_of({}); }
  uint64_t number_of(std::string_view element) {
    auto [at, is_new] = numbers_.try_emplace(std::string(element), order_.size());
    if (is_new) order_.push_back(&at->first);
    return at->second;
  }
  void write(base::ProtoWriter& to, uint32_t field) const {
    for (const std::string* element : order_) to.bytes(field, *element);
  }

private:
  std::map<std::string, uint64_t, std::less<>> numbers_;
  std::vector<const std::string*> order_;
};

class Writer {
public:
  explicit Writer(const Profile& p) : p_(p) {}

  std::string write() {
    std::map<std::pair<uint32_t, uint32_t>, std::string> samples; // by process: number and name
    for (const Sample& s : p_.samples()) {
      const Thread& t = p_.threads()[s.thread];
      base::ProtoWriter m;
      m.bytes(in_profile::sample, sample(s, t));
      samples[{t.pid, t.process}] += m.text();
    }
    base::ProtoWriter out;
    for (const auto& [process, list] : samples)
      out.bytes(in_request::resource_profiles, resource_profiles(process.first, p_.texts()[process.second], list));
    base::ProtoWriter dictionary;
    mappings_.write(dictionary, in_dictionary::mapping);
    locations_.write(dictionary, in_dictionary::location);
    functions_.write(dictionary, in_dictionary::function);
    links_.write(dictionary, in_dictionary::link);
    texts_.write(dictionary, in_dictionary::text);
    attributes_.write(dictionary, in_dictionary::attribute);
    stacks_.write(dictionary, in_dictionary::stack);
    out.bytes(in_request::dictionary, dictionary.text());
    return out.text();
  }

private:
  std::string value_type(std::string_view type, std::string_view unit) {
    base::ProtoWriter m;
    m.number(in_value_type::type, texts_.number_of(type));
    m.number(in_value_type::unit, texts_.number_of(unit));
    return m.text();
  }
  uint64_t attribute(std::string_view key, const std::string& value) {
    base::ProtoWriter m;
    m.number(in_attribute::key, texts_.number_of(key));
    m.bytes(in_attribute::value, value);
    return attributes_.number_of(m.text());
  }
  static void add_to_resource(base::ProtoWriter& to, std::string_view key, const std::string& value) {
    base::ProtoWriter m;
    m.bytes(in_key_value::key, key);
    m.bytes(in_key_value::value, value);
    to.bytes(in_resource::attribute, m.text());
  }
  std::string resource_profiles(uint32_t pid, std::string_view process, std::string_view samples) {
    base::ProtoWriter resource, scope, scope_profiles, out;
    if (!process.empty()) add_to_resource(resource, "service.name", value_of(process));
    if (!process.empty()) add_to_resource(resource, "process.executable.name", value_of(process));
    if (pid) add_to_resource(resource, "process.pid", value_of(pid));
    if (!p_.about.host.empty()) add_to_resource(resource, "host.name", value_of(p_.about.host));
    scope.bytes(in_scope::name, "acu");
    scope.bytes(in_scope::version, p_.about.version);
    scope_profiles.bytes(in_scope_profiles::scope, scope.text());
    scope_profiles.bytes(in_scope_profiles::profile, profile(samples));
    out.bytes(in_resource_profiles::resource, resource.text());
    out.bytes(in_resource_profiles::scope_profiles, scope_profiles.text());
    return out.text();
  }
  std::string profile(std::string_view samples) {
    const About& about = p_.about;
    const bool is_time = about.period_ns || about.unit == "ns";
    base::ProtoWriter m, rest;
    m.bytes(in_profile::sample_type, value_type(lower_word(about.title), is_time                 ? "nanoseconds"
                                                                         : about.unit == "bytes" ? "bytes"
                                                                                                 : "count"));
    if (about.start_ns) rest.fixed64(in_profile::time, about.start_ns);
    rest.number(in_profile::duration, about.duration_ns);
    if (about.period_ns) rest.bytes(in_profile::period_type, value_type("cpu", "nanoseconds"));
    rest.number(in_profile::period, about.period_ns);
    return m.text() + std::string(samples) + rest.text();
  }
  uint64_t mapping(uint32_t module) {
    const std::string_view file = p_.texts()[module];
    if (file.empty()) return 0;
    base::ProtoWriter m;
    m.number(in_mapping::limit, module); // readers want ranges that differ
    m.number(in_mapping::file, texts_.number_of(file));
    if (auto known = p_.build_ids.find(module); known != p_.build_ids.end())
      m.packed(in_mapping::attributes, {attribute("process.executable.build_id.gnu", value_of(known->second))});
    return mappings_.number_of(m.text());
  }
  // Frames of one location of the code, the innermost first.
  uint64_t location(const std::vector<uint32_t>& frames) {
    const Frame& outermost = p_.frames()[frames.back()];
    base::ProtoWriter m;
    m.number(in_location::mapping, mapping(outermost.module));
    for (uint32_t frame : frames) {
      const Frame& f = p_.frames()[frame];
      base::ProtoWriter function, line;
      function.number(in_function::name, texts_.number_of(p_.name(f)));
      line.number(in_line::function, functions_.number_of(function.text()));
      m.bytes(in_location::line, line.text());
    }
    if (!spec::is_note(outermost.kind))
      m.packed(in_location::attributes, {attribute("profile.frame.type", value_of(frame_type(outermost.kind)))});
    return locations_.number_of(m.text());
  }
  uint64_t stack(uint32_t node) {
    std::vector<uint64_t> locations; // innermost first
    std::vector<uint32_t> here;
    for (; node; node = p_.nodes()[node].parent) {
      here.push_back(p_.nodes()[node].frame);
      if (spec::is_inlined(p_.frames()[here.back()].kind) && p_.nodes()[node].parent) continue;
      locations.push_back(location(here));
      here.clear();
    }
    if (locations.empty()) return 0;
    base::ProtoWriter m;
    m.packed(in_stack::locations, locations);
    return stacks_.number_of(m.text());
  }
  uint64_t link(const Link& link) {
    if (link.trace_id.empty()) return 0;
    base::ProtoWriter m;
    m.bytes(in_link::trace_id, bytes_of(link.trace_id));
    m.bytes(in_link::span_id, bytes_of(link.span_id));
    return links_.number_of(m.text());
  }
  std::string sample(const Sample& s, const Thread& t) {
    std::vector<uint64_t> attributes;
    if (const std::string_view name = p_.texts()[t.name]; !name.empty()) attributes.push_back(attribute("thread.name", value_of(name)));
    if (t.tid) attributes.push_back(attribute("thread.id", value_of(t.tid)));
    base::ProtoWriter m;
    m.number(in_sample::stack, stack(s.node));
    m.packed(in_sample::attributes, attributes);
    m.number(in_sample::link, link(p_.links()[s.link]));
    m.packed(in_sample::values, {p_.about.period_ns ? s.weight * p_.about.period_ns : s.weight});
    return m.text();
  }

  const Profile& p_;
  Table texts_, mappings_, locations_, functions_, attributes_, stacks_, links_;
};

} // namespace

std::string write_otlp(const Profile& profile) { return Writer(profile).write(); }

} // namespace profile
