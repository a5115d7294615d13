// From the name of a provider to its kind, and from a kind to its functions; listing.
#include "probe/kinds.h"
#include "probe/still.h"
#include "spec/probes.h"

#include "base/text.h"

#include <algorithm>
#include <iterator>

namespace probe {

// In the order of probe::Kind.
static constexpr const KindFunctions* kinds[] = {
    &begin_kind,      &end_kind,           &signal_kind,
    &interval_kind,   &test_kind,          &bench_kind,
    &profile_kind,    &software_kind,      &hardware_kind,
    &tracepoint_kind, &rawtracepoint_kind, &kprobe_kind,
    &kretprobe_kind,  &fentry_kind,        &fexit_kind,
    &uprobe_kind,     &uretprobe_kind,     &usdt_kind,
    &iterator_kind,   &watchpoint_kind,    &async_watchpoint_kind,
    &oneshot_kind,    &thread_kind,        &frame_kind,
    &fault_kind,
};
static_assert(std::size(kinds) == static_cast<size_t>(Kind::fault) + 1);

static const KindFunctions& functions(const Event& event) { return *kinds[static_cast<size_t>(event.kind)]; }

// ----------------------------------------------------------------------------------------------- messages

std::string join(Parts parts) {
  std::string out;
  for (size_t i = 0; i < parts.size(); i++) {
    if (i) out += ':';
    out += parts[i];
  }
  return out;
}

std::vector<Event> malformed(Mismatch& mismatch, std::string_view kind, std::string what) {
  mismatch = {Mismatch::malformed, std::move(what), ""};
  for (const spec::ProbeKind& row : spec::probe_kinds)
    if (row.name == kind) {
      mismatch.hint = "write it as " + std::string(row.form);
      if (row.form != row.example) mismatch.hint += ", such as `" + std::string(row.example) + "`";
    }
  return {};
}

// ------------------------------------------------------------------------------------------------- match

// As written first: `U` is usdt and `u` is uprobe. Otherwise names may be in any case.
static const spec::ProbeKind* find_kind(std::string_view name) {
  for (const spec::ProbeKind& row : spec::probe_kinds)
    if (name == row.name ||
        (!name.empty() && std::find(row.aliases.begin(), row.aliases.end(), name) != row.aliases.end()))
      return &row;
  std::string lower = base::lower(name);
  return lower != name ? find_kind(lower) : nullptr;
}

static const KindFunctions* functions_of(const spec::ProbeKind& row) {
  for (const KindFunctions* f : kinds)
    if (f->name == row.name) return f;
  return nullptr;
}

// Events need a program that runs, probes without events one that stands still.
static bool fits_target(const Machine& machine, const spec::ProbeKind& row, Mismatch& mismatch) {
  if (row.anywhere || row.still == (machine.still != nullptr)) return true;
  std::string name = "`" + std::string(row.name) + "`";
  if (row.still)
    mismatch = {
        Mismatch::malformed, name + " looks at a program that stands still, not at events",
        "a core dump: `acu core FILE SCRIPT`; the memory of a live process: `acu snap -p PID SCRIPT`"};
  else
    mismatch = {Mismatch::malformed,
                std::string(machine.still->target().title()) + " has no events: there is no " + name,
                "here are oneshot, thread, frame(\"FUNCTION\"), fault, begin and end"};
  return false;
}

std::vector<Event> match(Machine& machine, std::span<const std::string_view> parts, Mismatch& mismatch) {
  std::string_view provider = parts.empty() ? std::string_view() : parts.front();
  const spec::ProbeKind* row = find_kind(provider);
  if (!row) {
    mismatch = {Mismatch::unknown_provider, "`" + std::string(provider) + "` is not a kind of probe", ""};
    std::vector<std::string_view> names;
    std::string ready;
    for (const spec::ProbeKind& kind : spec::probe_kinds) {
      names.push_back(kind.name);
      if (kind.ready) ready += (ready.empty() ? "" : ", ") + std::string(kind.name);
    }
    std::string_view near = base::nearest(base::lower(provider), names);
    mismatch.hint = near.empty() ? "the kinds are " + ready : "did you mean `" + std::string(near) + "`?";
    return {};
  }
  const KindFunctions* kind = functions_of(*row);
  if (!row->ready || !kind) {
    mismatch = {Mismatch::not_yet, "probes of the kind `" + std::string(row->name) + "` are not built yet",
                "many places in the kernel have a tracepoint: see `acu list 'tracepoint:*'`"};
    return {};
  }
  if (!fits_target(machine, *row, mismatch)) return {};
  return kind->match(machine, parts, mismatch);
}

const spec::ProbeKind& kind_of(const Event& event) {
  for (const spec::ProbeKind& row : spec::probe_kinds)
    if (row.name == functions(event).name) return row;
  __builtin_unreachable(); // each of our kinds has a row
}

std::optional<uint32_t> registers_at(Context context) {
  // struct bpf_perf_event_data begins with them; user probes get them alone.
  if (context == Context::perf_event || context == Context::registers || context == Context::kernel_registers)
    return 0;
  return std::nullopt;
}

const type::Type* arguments(Machine& machine, Event& event) {
  auto f = functions(event).arguments;
  return f ? f(machine, event) : nullptr;
}

std::vector<std::string> describe_arguments(Machine& machine, Event& event) {
  if (auto f = functions(event).describe) return f(machine, event);
  std::vector<std::string> out;
  if (const type::Type* args = arguments(machine, event))
    for (const type::Field& field : args->fields())
      if (!field.name.empty()) out.push_back(type::to_string(*field.type) + " " + std::string(field.name));
  return out;
}

Context choose_context(Machine& machine, const Event& event, std::span<const std::string_view> fields) {
  auto f = functions(event).choose_context;
  return f ? f(machine, event, fields) : Context::none;
}

Access access(Machine& machine, const Event& event, Context context, std::string_view field) {
  auto f = functions(event).access;
  return f ? f(machine, event, context, field) : Access();
}

base::Result<Attachment> attach(const Event& event, Context context, int program_fd,
                                const AttachOptions& options) {
  auto f = functions(event).attach;
  if (!f || context == Context::none) return Attachment();
  return f(event, context, program_fd, options);
}

// -------------------------------------------------------------------------------------------------- list

// The pattern with its provider's short name made long; a provider alone stands for all its events.
static std::string full_pattern(std::string_view pattern) {
  size_t colon = pattern.find(':');
  std::string_view provider = pattern.substr(0, colon);
  const spec::ProbeKind* row = base::has_glob(provider) ? nullptr : find_kind(provider);
  if (!row) return std::string(pattern);
  if (colon == pattern.npos) return std::string(row->name) + "*";
  return std::string(row->name) + std::string(pattern.substr(colon));
}

// Of kinds that look only where they are told to, what a probe of this text would be.
static void add_matching(Machine& machine, const KindFunctions& kind, std::string_view pattern,
                         std::vector<Event>& to) {
  std::vector<std::string_view> parts = base::split(pattern, ':');
  if (parts.size() < 2) return;
  parts[0] = kind.name;
  Mismatch mismatch;
  to = kind.match(machine, parts, mismatch);
}

std::vector<Event> list(Machine& machine, std::string_view pattern) {
  std::vector<const KindFunctions*> in_order(std::begin(kinds), std::end(kinds));
  std::sort(in_order.begin(), in_order.end(), [](auto* a, auto* b) { return a->name < b->name; });
  std::vector<Event> out;
  std::string wanted = pattern.empty() ? "*" : full_pattern(pattern);
  std::string_view provider = std::string_view(wanted).substr(0, wanted.find(':'));
  bool whole = provider.size() == wanted.size(); // no `:`: the pattern is for the whole name
  for (const KindFunctions* kind : in_order) {
    // Only kinds whose names can match: reading the list of tracepoints takes time.
    if (!base::glob_match(provider, kind->name) && !(whole && base::has_glob(provider))) continue;
    // Those that are always there show only when the pattern names them.
    bool fixed = kind != &tracepoint_kind && kind != &rawtracepoint_kind && kind != &software_kind &&
                 kind != &hardware_kind && !kind->is_found_by_match;
    if (fixed && wanted == "*") continue;
    if (kind->name == "oneshot" || kind->name == "thread" || kind->name == "frame" || kind->name == "fault")
      continue;
    std::vector<Event> events;
    if (kind->is_found_by_match)
      add_matching(machine, *kind, wanted, events);
    else
      kind->list(machine, events);
    if (wanted != "*" && !kind->is_found_by_match)
      std::erase_if(events, [&](const Event& e) { return !base::glob_match(wanted, e.name); });
    auto by_name = [](const Event& a, const Event& b) { return a.name < b.name; };
    if (!std::is_sorted(events.begin(), events.end(), by_name))
      std::sort(events.begin(), events.end(), by_name);
    out.insert(out.end(), std::move_iterator(events.begin()), std::move_iterator(events.end()));
  }
  return out;
}

} // namespace probe
