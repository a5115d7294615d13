#include "session/listing.h"

#include "base/text.h"
#include "format/btf_declaration.h"
#include "session/output.h"
#include "session/probe_options.h"
#include "symbol/binaries.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

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

// Kinds of probe that search only where the pattern points report why nothing was found.
static std::optional<probe::Mismatch> why_nothing(probe::Machine& machine, std::string_view pattern) {
  constexpr std::string_view kinds[] = {"uprobe", "uretprobe", "usdt",   "u",     "ur", "U", "kprobe",
                                          "k",      "kretprobe", "kr",     "fentry", "f",  "kfunc", "fexit",
                                          "fr",     "kretfunc"};
  std::vector<std::string_view> parts = base::split(pattern, ':');
  if (!base::is_one_of(kinds, parts[0])) return std::nullopt;
  probe::Mismatch mismatch;
  const bool found = !probe::match(machine, parts, mismatch).empty();
  return found || mismatch.message.empty() ? std::nullopt : std::optional(std::move(mismatch));
}

namespace {

class Listing {
public:
  Listing(const ListRequest& request, host::Environment& host)
      : request_(request), patterns_(patterns_of(request)), machine_(types_, host, request.pid),
        output_(STDOUT_FILENO, Buffering::full, false) {
    machine_.debug_folders = request.debug_folders;
    if (!request.container.empty()) machine_.binaries().look_in_container(request.container);
  }

  int run() {
    if (!request_.traceable_functions.empty()) {
      auto text = traceable_functions(request_.traceable_functions);
      if (!text.ok()) return fail(text.error().kind, text.error().message);
      machine_.traceable_functions = std::move(*text);
    }
    if (patterns_.empty()) show(probe::list(machine_, {}));
    // Kernel types or probes, in any order.
    for (const std::string& part : patterns_) {
      if (output_.broken()) return 0;
      const auto kind = kind_of_types(part);
      if (kind)
        list_types(part, *kind);
      else
        show(find_events(machine_, {part}));
    }
    output_.flush();
    return any_ ? 0 : report_nothing();
  }

private:
  // Each may hold several, between commas. Of a process without a pattern: what its files have.
  static std::vector<std::string> patterns_of(const ListRequest& request) {
    std::vector<std::string> out;
    for (const std::string& pattern : request.patterns)
      for (std::string_view part : base::split(pattern, ','))
        if (part = base::trim(part); !part.empty()) out.emplace_back(part);
    if (out.empty() && request.pid >= 0) return {"uprobe:*", "usdt:*"};
    return out;
  }

  int fail(base::Failure kind, const std::string& message, const std::string& hint = {}) {
    output_.flush();
    // That nothing is found is no failure of bpftrace.
    const bool is_warning = request_.as_bpftrace && kind == base::Failure::nothing_matched;
    output_.message((is_warning ? "WARNING: " : "ERROR: ") + message + "\n" + (hint.empty() ? "" : "HINT: " + hint + "\n"));
    if (request_.as_bpftrace) return is_warning ? 0 : 1;
    return static_cast<int>(kind);
  }

  // Their names, or with arguments their declarations.
  void list_types(std::string_view pattern, format::BtfKind kind) {
    format::Btf* btf = machine_.btf();
    if (!btf) return;
    const size_t blank = pattern.find(' ');
    const std::string word(pattern.substr(0, blank + 1));
    for (uint32_t id : find_types(*btf, kind, base::trim(pattern.substr(blank)))) {
      if (output_.broken()) return;
      any_ = true;
      if (!request_.arguments)
        output_.out(word + std::string(btf->raw(id)->name) + "\n");
      else if (request_.as_bpftrace)
        output_.out(format::definition(*btf, id, "\t") + "\n\n");
      else
        output_.out(format::definition(*btf, id) + "\n");
    }
  }

  void show(std::vector<probe::Event> events) {
    any_ |= !events.empty();
    for (probe::Event& e : events) {
      // A marked probe (USDT) may stand in several places, which only their arguments tell apart.
      if (!request_.arguments && &e != &events.front() && e.name == (&e)[-1].name) continue;
      if (shown_.contains(e.name)) continue;
      output_.out(describe_event(machine_, e, request_.arguments));
      if (output_.broken()) return;
    }
    if (patterns_.size() > 1)
      for (probe::Event& e : events) shown_.insert(std::move(e.name));
  }

  int report_nothing() {
    const bool wants_types = std::ranges::any_of(patterns_, [](const std::string& p) { return kind_of_types(p).has_value(); });
    if (wants_types && !machine_.btf())
      return fail(base::Failure::unsupported, "this kernel has no type information (/sys/kernel/btf/vmlinux)");
    for (const std::string& pattern : patterns_)
      if (auto why = why_nothing(machine_, pattern)) {
        if (why->kind == probe::Mismatch::malformed) return fail(base::Failure::usage, why->message, why->hint);
        return fail(why->denied ? base::Failure::permission : base::Failure::nothing_matched, why->message, why->hint);
      }
    if (!wants_types && !machine_.tracefs()) // perhaps there is something, but we could not look
      return fail(machine_.tracefs_error().kind, machine_.tracefs_error().message);
    std::string wanted;
    for (const std::string& p : patterns_) wanted += (wanted.empty() ? "" : " ") + p;
    return fail(base::Failure::nothing_matched, wants_types ? "this kernel has no `" + wanted + "`" : "no probe matches `" + wanted + "`");
  }

  const ListRequest& request_;
  const std::vector<std::string> patterns_;
  type::Table types_;
  probe::Machine machine_;
  Output output_;
  std::unordered_set<std::string> shown_; // by the patterns before
  bool any_ = false;
};

} // namespace

int list_probes(const ListRequest& request, host::Environment& host) { return Listing(request, host).run(); }

} // namespace session
