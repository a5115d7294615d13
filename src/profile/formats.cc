// The table of formats.
#include "profile/formats.h"

#include "base/file_map.h"
#include "base/output_file.h"
#include "base/text.h"
#include "profile/completeness.h"
#include "profile/perf_data.h"

#include <array>

namespace profile {

namespace {

constexpr std::array<Format, 8> table = {{
    {"html", ".html|.htm", "a self-contained page", write_page_file, is_page, read_embedded, true, false, true},
    {"svg", ".svg", "an image", write_picture_file, is_picture, read_embedded},
    {"acu", ".acu", "acu's own compact format", write_recording, is_recording, read_recording, true, true, true},
    {"pprof", ".pb.gz|.pb|.pprof", "for go tool pprof", write_pprof, is_pprof, read_pprof, false, true},
    {"speedscope", ".json", "for speedscope", write_speedscope, is_speedscope, read_speedscope},
    {"perf", ".perf|.script", "text as perf script writes it", write_perf_script, is_perf_script,
     read_perf_script},
    {"folded", ".folded|.txt|.collapsed", "one line per stack", write_folded, is_folded, read_folded},
    {"otlp", ".otlp", "for OpenTelemetry collectors", write_otlp, nullptr, nullptr, false, true},
}};

// Sums, times and comparisons are made with numbers of 64 bits and a sign.
bool fits(const Profile& p) {
  const uint64_t most = static_cast<uint64_t>(INT64_MAX) / std::max<uint64_t>(p.about.period_ns, 1);
  uint64_t sum = 0;
  for (const Sample& s : p.samples())
    if (s.weight > most || (sum += s.weight) > most) return false;
  return true;
}

std::string endings_of_all() {
  std::string out;
  for (const Format& f : table)
    for (std::string_view ending : base::split(f.endings, '|'))
      out.append(out.empty() ? "" : ", ").append(ending);
  return out;
}

} // namespace

std::span<const Format> formats() { return table; }

base::Result<const Format*> format_of_file(std::string_view path) {
  for (const Format& f : table)
    for (std::string_view ending : base::split(f.endings, '|'))
      if (path.ends_with(ending)) return &f;
  return base::Error{base::Failure::usage,
                     "`" + std::string(path) +
                         "`: the extension selects the format: " + endings_of_all()};
}

base::Result<const Format*> format_of_output(const std::string& path) {
  ACU_TRY(const Format* format, format_of_file(path));
  ACU_CHECK(base::check_output(path));
  return format;
}

base::Result<const Format*> format_of_name(std::string_view name) {
  std::string all;
  std::vector<std::string_view> names;
  for (const Format& f : table) {
    if (f.name == name) return &f;
    names.push_back(f.name);
    all.append(all.empty() ? "" : ", ").append(f.name);
  }
  std::string_view near = base::nearest(name, names);
  return base::Error{base::Failure::usage,
                     "there is no format `" + std::string(name) + "`; " +
                         (near.empty() ? "formats are " + all : "did you mean `" + std::string(near) + "`?")};
}

base::Result<Profile> read_profile(const std::string& path) {
  ACU_TRY(std::string bytes, base::read_file(path));
  if (bytes.empty()) return base::Error{base::Failure::runtime, path + ": it is empty"};
  if (is_perf_data(bytes)) {
    ACU_TRY(bytes, perf_script_of(path));
    if (bytes.empty()) return base::Error{base::Failure::runtime, path + ": it has no samples"};
  }
  for (const Format& f : table) {
    if (!f.is_this || !f.is_this(bytes)) continue;
    auto profile = f.read(bytes);
    if (!profile.ok()) return std::move(profile.error()).with(path);
    if (!fits(*profile)) return base::Error{base::Failure::runtime, path + ": its weights add up to more than 64 bits hold"};
    profile->about.incomplete = why_incomplete(*profile);
    return std::move(*profile);
  }
  return base::Error{
      base::Failure::runtime,
      path + ": not a recording; acu reads its own recordings (also from its .html and .svg files), pprof, speedscope, perf.data, perf script output, and folded stacks"};
}

} // namespace profile
