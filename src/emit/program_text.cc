#include "emit/program_text.h"

#include "base/text.h"

#include <algorithm>

namespace emit {

using namespace lang;

std::string purpose_of(const base::Source& source) {
  std::string out;
  for (std::string_view line : base::split(source.text(), '\n')) {
    line = base::trim(line);
    if (line.starts_with("#!")) continue;
    if (!line.starts_with("//")) break;
    line = base::trim(line.substr(2));
    if (line.empty()) break;
    out += (out.empty() ? "" : " ") + std::string(line);
  }
  return out;
}

void write_head(const Job& job, const Target& target, Writer& out) {
  if (const std::string purpose = purpose_of(job.source); !purpose.empty()) out.comment(purpose);
  std::string from = "Written by `acu emit --to " + std::string(target.name);
  if (job.version && job.version != target.last_version) from += " --target-version 0." + std::to_string(job.version);
  std::string file = job.source.name();
  file = file.substr(file.rfind('/') + 1);
  out.comment(from + "` from " + (file == "stdin" ? std::string("a script of its command line") : file) + "; comments with numbers name its lines.");
  for (const NamedParameter& p : job.parameters) {
    const auto given = std::ranges::find(job.named, p.name, &std::pair<std::string, std::string>::first);
    const std::string& value = given == job.named.end() ? p.default_value : given->second;
    out.comment("Parameter --" + p.name + "=" + (value.empty() ? "\"\"" : value) + (p.help.empty() ? "" : ": " + p.help) +
                (given == job.named.end() ? "" : " (chosen when this was written)"));
  }
}

// Providers have several names, which match() knows; here only what follows is compared.
bool is_event_of(const ProbeSpec& spec, const probe::Event& e) {
  if (spec.parts.size() < 2) return true;
  if (e.module) {
    const std::string_view function = spec.parts.back();
    if (base::has_glob(function)) return base::glob_match(function, e.function) || base::glob_match(function, e.event);
    // Names of lines, addresses and C++ functions are not those of symbols.
    return spec.parts.size() == 2 || std::ranges::find(spec.parts, "cpp") != spec.parts.end() || function.find_first_of("@+") != function.npos ||
           e.name.ends_with(function) || e.function == function || e.function.starts_with(function);
  }
  const size_t rest = e.name.find(':');
  const std::string_view name = rest == e.name.npos ? std::string_view() : std::string_view(e.name).substr(rest + 1);
  std::string pattern;
  for (size_t i = 1; i < spec.parts.size(); i++) pattern += (i > 1 ? ":" : "") + std::string(spec.parts[i]);
  return base::glob_match(pattern, name) || name.ends_with(":" + pattern) || base::glob_match("*:" + pattern, name) || spec.parts.size() == 2 ||
         name.starts_with(pattern + ":");
}

} // namespace emit
