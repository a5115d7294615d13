// From the name of a provider to its kind, and from a kind to its functions; listing.
#include "probe/kinds.h"
#include "probe/stopped_program.h"
#include "spec/complete_table.h"
#include "spec/probes.h"
#include "symbol/binaries.h"
#include "symbol/demangle.h"

#include "base/text.h"

#include <algorithm>
#include <iterator>

namespace probe {

struct KindRow {
  std::string_view name; // in spec/probes.h
  Kind kind;
  const KindFunctions* functions;
};
// In the order of probe::Kind.
static constexpr KindRow kinds[] = {
    {"begin", Kind::begin, &begin_kind},
    {"end", Kind::end, &end_kind},
    {"self", Kind::signal, &signal_kind},
    {"interval", Kind::interval, &interval_kind},
    {"test", Kind::test, &test_kind},
    {"bench", Kind::bench, &bench_kind},
    {"profile", Kind::profile, &profile_kind},
    {"software", Kind::software, &software_kind},
    {"hardware", Kind::hardware, &hardware_kind},
    {"tracepoint", Kind::tracepoint, &tracepoint_kind},
    {"rawtracepoint", Kind::rawtracepoint, &rawtracepoint_kind},
    {"kprobe", Kind::kprobe, &kprobe_kind},
    {"kretprobe", Kind::kretprobe, &kretprobe_kind},
    {"fentry", Kind::fentry, &fentry_kind},
    {"fexit", Kind::fexit, &fexit_kind},
    {"uprobe", Kind::uprobe, &uprobe_kind},
    {"uretprobe", Kind::uretprobe, &uretprobe_kind},
    {"usdt", Kind::usdt, &usdt_kind},
    {"iter", Kind::iterator, &iterator_kind},
    {"watchpoint", Kind::watchpoint, &watchpoint_kind},
    {"asyncwatchpoint", Kind::async_watchpoint, &async_watchpoint_kind},
    {"oneshot", Kind::oneshot, &oneshot_kind},
    {"thread", Kind::thread, &thread_kind},
    {"frame", Kind::frame, &frame_kind},
    {"fault", Kind::fault, &fault_kind},
};
static_assert(std::size(kinds) == static_cast<size_t>(Kind::fault) + 1);
static_assert(std::ranges::all_of(kinds, [](const KindRow& row) { return &row - kinds == static_cast<int>(row.kind); }));

static const KindRow& row_of(const spec::ProbeKind& declared) {
  return kinds[spec::row_places<spec::probe_kinds, kinds>[static_cast<size_t>(&declared - spec::probe_kinds)]];
}
static const KindFunctions& functions(const Event& event) { return *kinds[static_cast<size_t>(event.kind)].functions; }

std::string shown_function(const Event& e, bool demangles) {
  if (!demangles || is_kernel_function(e.kind) || !symbol::is_mangled(e.function)) return e.function;
  std::string out = symbol::demangle(e.function);
  return out.empty() ? e.function : out;
}

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

// Events need a running program, probes without events a stopped one.
static bool fits_target(const Machine& machine, const spec::ProbeKind& row, Mismatch& mismatch) {
  if (row.anywhere || row.stopped == (machine.stopped != nullptr)) return true;
  std::string name = "`" + std::string(row.name) + "`";
  if (row.stopped)
    mismatch = {
        Mismatch::malformed, name + " looks at a stopped program, not at events",
        "a core dump: `acu core FILE SCRIPT`; the memory of a live process: `acu snap -p PID SCRIPT`"};
  else
    mismatch = {Mismatch::malformed,
                std::string(machine.stopped->target().title()) + " has no events: there is no " + name,
                "here are oneshot, thread, frame(\"FUNCTION\"), fault, begin and end"};
  return false;
}

// Those that any name fits.
static bool has_any_name(Kind kind) { return kind == Kind::test || kind == Kind::bench; }

// A kind with wildcards: all kinds of the name that have such a probe.
static std::vector<Event> match_kinds(Machine& machine, Parts parts, Mismatch& mismatch) {
  const bool has_path = std::ranges::any_of(parts, [](std::string_view part) { return part.find('/') != part.npos; });
  const std::string provider = base::lower(parts.front());
  std::vector<std::string_view> with_kind(parts.begin(), parts.end());
  std::vector<Event> out;
  Mismatch first;
  for (const KindRow& kind : kinds) {
    if (!base::glob_match(provider, kind.name) || is_stopped(kind.kind) != (machine.stopped != nullptr)) continue;
    if (has_any_name(kind.kind) || (has_path && is_kernel_function(kind.kind))) continue;
    with_kind[0] = kind.name;
    Mismatch why;
    std::vector<Event> found = kind.functions->match(machine, with_kind, why);
    for (std::string& warning : why.warnings) mismatch.warnings.push_back(std::move(warning));
    out.insert(out.end(), std::move_iterator(found.begin()), std::move_iterator(found.end()));
    if (why.kind == Mismatch::missing && first.message.empty()) first = std::move(why);
  }
  if (!out.empty()) return out;
  mismatch.message = first.message.empty() ? "no kind of probe has `" + join(parts) + "`" : first.message;
  mismatch.hint = first.hint;
  mismatch.denied = first.denied;
  return {};
}

std::vector<Event> match(Machine& machine, std::span<const std::string_view> parts, Mismatch& mismatch) {
  std::string_view provider = parts.empty() ? std::string_view() : parts.front();
  if (base::has_glob(provider)) return match_kinds(machine, parts, mismatch);
  const spec::ProbeKind* row = find_kind(provider);
  if (!row) {
    mismatch = {Mismatch::unknown_provider, "`" + std::string(provider) + "` is not a kind of probe", ""};
    std::vector<std::string_view> names;
    std::string all;
    for (const spec::ProbeKind& kind : spec::probe_kinds) {
      names.push_back(kind.name);
      all += (all.empty() ? "" : ", ") + std::string(kind.name);
    }
    std::string_view near = base::nearest(base::lower(provider), names);
    mismatch.hint = near.empty() ? "the kinds are " + all : "did you mean `" + std::string(near) + "`?";
    return {};
  }
  if (!fits_target(machine, *row, mismatch)) return {};
  return row_of(*row).functions->match(machine, parts, mismatch);
}

std::optional<Event> stand_in(std::span<const std::string_view> parts) {
  const spec::ProbeKind* row = parts.empty() ? nullptr : find_kind(parts.front());
  if (!row) return std::nullopt;
  const Kind kind = row_of(*row).kind;
  const std::string group(parts.size() > 2 ? parts[1] : ""), name(parts.back());
  return Event{.kind = kind, .name = join(parts), .provider = std::string(row->name), .category = group, .event = name, .binary = is_kernel_function(kind) ? "" : group, .function = name};
}

const spec::ProbeKind& kind_of(const Event& event) {
  return spec::probe_kinds[spec::row_places<kinds, spec::probe_kinds>[static_cast<size_t>(event.kind)]];
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
  KindFunctions::Attach f = functions(event).attach;
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
static void add_matching(Machine& machine, const KindRow& kind, std::string_view pattern,
                         std::vector<Event>& to) {
  std::vector<std::string_view> parts = base::split(pattern, ':');
  if (parts.size() < 2) return;
  parts[0] = kind.name;
  if (parts[1].starts_with(symbol::container_sign) && parts.size() > 2) { // its file belongs to it
    parts[1] = {parts[1].data(), static_cast<size_t>(parts[2].end() - parts[1].begin())};
    parts.erase(parts.begin() + 2);
  }
  Mismatch mismatch;
  to = kind.functions->match(machine, parts, mismatch);
}

std::vector<Event> list(Machine& machine, std::string_view pattern) {
  std::vector<const KindRow*> in_order;
  for (const KindRow& kind : kinds)
    if (!is_stopped(kind.kind)) in_order.push_back(&kind);
  std::sort(in_order.begin(), in_order.end(), [](auto* a, auto* b) { return a->name < b->name; });
  std::vector<Event> out;
  std::string wanted = pattern.empty() ? "*" : full_pattern(pattern);
  std::string_view provider = std::string_view(wanted).substr(0, wanted.find(':'));
  bool whole = provider.size() == wanted.size(); // no `:`: the pattern is for the whole name
  for (const KindRow* kind : in_order) {
    // Only kinds whose names can match: reading the list of tracepoints takes time.
    if (!base::glob_match(provider, kind->name) && !(whole && base::has_glob(provider))) continue;
    // Those that are always there show only when the pattern names them.
    KindFunctions::List add_all = kind->functions->list;
    bool varies = kind->kind == Kind::tracepoint || kind->kind == Kind::rawtracepoint || kind->kind == Kind::software ||
                  kind->kind == Kind::hardware || add_all == found_by_match;
    if (!varies && wanted == "*") continue;
    std::vector<Event> events;
    if (add_all == found_by_match)
      add_matching(machine, *kind, wanted, events);
    else
      add_all(machine, events);
    if (wanted != "*" && add_all != found_by_match)
      std::erase_if(events, [&](const Event& e) { return !base::glob_match(wanted, e.name); });
    auto by_name = [](const Event& a, const Event& b) { return a.name < b.name; };
    if (!std::is_sorted(events.begin(), events.end(), by_name))
      std::sort(events.begin(), events.end(), by_name);
    out.insert(out.end(), std::move_iterator(events.begin()), std::move_iterator(events.end()));
  }
  return out;
}

} // namespace probe
