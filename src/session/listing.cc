#include "session/listing.h"

#include "base/text.h"
#include "format/btf_declaration.h"
#include "session/output.h"

#include <algorithm>
#include <optional>

namespace session {

std::string describe_event(probe::Machine& machine, probe::Event& event, bool arguments) {
  std::string out = event.name + "\n";
  if (!arguments) return out;
  for (const std::string& line : probe::describe_arguments(machine, event)) out += "    " + line + "\n";
  return out;
}

// What a pattern of no exact match may have meant: a part of a name, an event without its module, or without the
// `:` that the names of some kinds end with.
static std::vector<std::string> wider_patterns(std::string_view pattern) {
  size_t colon = pattern.find(':');
  if (colon == pattern.npos)
    return base::has_glob(pattern) ? std::vector<std::string>() : std::vector{"*" + std::string(pattern) + "*"};
  std::string provider(pattern.substr(0, colon)), rest(pattern.substr(colon + 1));
  return {provider + ":*:" + rest, std::string(pattern) + ":"};
}

std::vector<probe::Event> find_events(probe::Machine& machine, const std::vector<std::string>& patterns) {
  if (patterns.empty()) return probe::list(machine, {});
  std::vector<probe::Event> out;
  for (const std::string& pattern : patterns)
    for (std::string_view part : base::split(pattern, ',')) {
      part = base::trim(part);
      if (part.empty()) continue;
      std::vector<probe::Event> found = probe::list(machine, part);
      for (const std::string& wider : wider_patterns(part))
        if (found.empty()) found = probe::list(machine, wider);
      for (probe::Event& e : found) out.push_back(std::move(e));
    }
  return out;
}

// "struct list_head", "enum *state*": types of the kernel instead of probes.
static std::optional<format::BtfKind> kind_of_types(std::string_view pattern) {
  if (pattern.starts_with("struct ")) return format::BtfKind::structure;
  if (pattern.starts_with("union ")) return format::BtfKind::union_;
  if (pattern.starts_with("enum ")) return format::BtfKind::enumeration;
  return std::nullopt;
}

static std::vector<uint32_t> find_types(format::Btf& btf, format::BtfKind kind, std::string_view name) {
  bool is_enum = kind == format::BtfKind::enumeration;
  if (!base::has_glob(name)) {
    uint32_t id = btf.find(name, kind);
    if (!id && is_enum) id = btf.find(name, format::BtfKind::enumeration64);
    return id ? std::vector{id} : std::vector<uint32_t>();
  }
  std::vector<uint32_t> out = btf.all(kind);
  if (is_enum)
    for (uint32_t id : btf.all(format::BtfKind::enumeration64)) out.push_back(id);
  std::erase_if(out, [&](uint32_t id) { return !base::glob_match(name, btf.raw(id)->name); });
  auto by_name = [&](uint32_t a, uint32_t b) { return btf.raw(a)->name < btf.raw(b)->name; };
  std::stable_sort(out.begin(), out.end(), by_name);
  return out;
}

// Their names, or with `whole` their declarations.
static int list_types(probe::Machine& machine, Output& output, std::string_view pattern, format::BtfKind kind,
                      bool whole) {
  format::Btf* btf = machine.btf();
  if (!btf) {
    output.message("ERROR: this kernel has no type information (/sys/kernel/btf/vmlinux)\n");
    return static_cast<int>(base::Failure::unsupported);
  }
  size_t blank = pattern.find(' ');
  std::string word(pattern.substr(0, blank + 1));
  std::vector<uint32_t> ids = find_types(*btf, kind, base::trim(pattern.substr(blank)));
  for (uint32_t id : ids) {
    if (output.broken()) return 0;
    output.out((whole ? format::definition(*btf, id) : word + std::string(btf->raw(id)->name)) + "\n");
  }
  if (!ids.empty()) return 0;
  output.message("ERROR: this kernel has no `" + std::string(pattern) + "`\n");
  return static_cast<int>(base::Failure::nothing_matched);
}

// Kinds of probe that search only where the pattern points report why nothing was found.
static std::optional<probe::Mismatch> why_nothing(probe::Machine& machine, const std::vector<std::string>& patterns) {
  constexpr std::string_view kinds[] = {"uprobe", "uretprobe", "usdt",   "u",     "ur", "U", "kprobe",
                                          "k",      "kretprobe", "kr",     "fentry", "f",  "kfunc", "fexit",
                                          "fr",     "kretfunc"};
  for (const std::string& pattern : patterns)
    for (std::string_view part : base::split(pattern, ',')) {
      std::vector<std::string_view> parts = base::split(base::trim(part), ':');
      if (!base::is_one_of(kinds, parts[0])) continue;
      probe::Mismatch mismatch;
      if (probe::match(machine, parts, mismatch).empty() && !mismatch.message.empty()) return mismatch;
    }
  return std::nullopt;
}

int list_probes(const std::vector<std::string>& patterns, bool arguments, int pid, host::Environment& host) {
  type::Table types;
  probe::Machine machine(types, host, pid);
  Output output(STDOUT_FILENO, Buffering::full, false);
  if (patterns.size() == 1)
    if (auto kind = kind_of_types(base::trim(patterns[0])))
      return list_types(machine, output, base::trim(patterns[0]), *kind, arguments);
  std::vector<probe::Event> events = find_events(machine, patterns);
  for (probe::Event& e : events) {
    // A marked probe (USDT) may stand in several places, which only their arguments tell apart.
    if (!arguments && &e != &events.front() && e.name == (&e)[-1].name) continue;
    output.out(describe_event(machine, e, arguments));
    if (output.broken()) return 0;
  }
  output.flush();
  if (!events.empty()) return 0;
  if (auto why = why_nothing(machine, patterns)) {
    output.message("ERROR: " + why->message + "\n" + (why->hint.empty() ? "" : "HINT: " + why->hint + "\n"));
    if (why->kind == probe::Mismatch::malformed) return static_cast<int>(base::Failure::usage);
    return static_cast<int>(why->denied ? base::Failure::permission : base::Failure::nothing_matched);
  }
  if (!machine.tracefs()) { // perhaps there is something, but we could not look
    output.message("ERROR: " + machine.tracefs_error().message + "\n");
    return static_cast<int>(machine.tracefs_error().kind);
  }
  std::string wanted;
  for (const std::string& p : patterns) wanted += (wanted.empty() ? "" : " ") + p;
  output.message("ERROR: no probe matches `" + wanted + "`\n");
  return static_cast<int>(base::Failure::nothing_matched);
}

} // namespace session
