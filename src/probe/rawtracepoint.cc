// rawtracepoint:[MODULE:]EVENT: the arguments that the kernel's code passes at a tracepoint, typed by the
// kernel's own types. Each has 8 bytes in the context. They are known by a typedef btf_trace_EVENT (types,
// and the way a typed program names the tracepoint) and a function __traceiter_EVENT of the same parameters
// (their names).
#include "format/btf_declaration.h"
#include "format/tracefs.h"
#include "probe/kinds.h"

#include "base/text.h"

#include <algorithm>

namespace probe {

namespace {

constexpr std::string_view type_prefix = "btf_trace_";
constexpr std::string_view kernel_module = "vmlinux"; // tracepoints of the kernel itself

// ------------------------------------------------------------------------------------------------- match

Event make_event(std::string_view name) {
  Event e{.kind = Kind::rawtracepoint, .provider = "rawtracepoint"};
  e.name.append("rawtracepoint:").append(kernel_module).append(1, ':').append(name);
  e.event = name;
  return e;
}

// Names of all raw tracepoints, sorted; they live as long as the machine.
std::vector<std::string_view> all_names(Machine& machine) {
  std::vector<std::string_view> out;
  if (machine.btf()) {
    out = machine.btf()->names(type_prefix);
    for (std::string_view& name : out) name.remove_prefix(type_prefix.size());
  } else if (machine.tracefs()) {
    // Without types: each trace event has a tracepoint of its name, but for single system calls.
    if (auto events = machine.tracefs()->events(); events.ok())
      for (const format::TraceEvent& e : *events)
        if (e.category != "syscalls") out.push_back(e.event);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::vector<Event> match_raw(Machine& machine, Parts parts, Mismatch& mismatch) {
  if (parts.size() < 2 || parts.size() > 3 || parts[1].empty() || parts.back().empty())
    return malformed(mismatch, "rawtracepoint", "`" + join(parts) + "` must name an event");
  std::string_view event = parts.back();
  bool in_kernel = parts.size() == 2 || base::glob_match(parts[1], kernel_module);
  std::vector<Event> out;
  if (in_kernel && !base::has_glob(event) && machine.btf()) {
    if (machine.btf()->has_name(std::string(type_prefix) + std::string(event))) return {make_event(event)};
  } else if (in_kernel) {
    for (std::string_view name : all_names(machine))
      if (base::glob_match(event, name)) out.push_back(make_event(name));
    if (!out.empty()) return out;
  }
  mismatch = {Mismatch::missing, "there is no raw tracepoint `" + join(parts.subspan(1)) + "`",
              "`acu list 'rawtracepoint:*'` shows what there is"};
  if (!in_kernel && std::ranges::count(all_names(machine), event))
    mismatch.hint = "did you mean `rawtracepoint:" + std::string(event) + "`? Raw tracepoints have no group before their name";
  else if (!in_kernel)
    mismatch.hint = "tracepoints of the kernel itself are in the module `vmlinux`";
  else if (std::string_view near = base::nearest(event, all_names(machine)); !near.empty())
    mismatch.hint = "did you mean `rawtracepoint:" + std::string(near) + "`?";
  return {};
}

void list_raw(Machine& machine, std::vector<Event>& to) {
  for (std::string_view name : all_names(machine)) to.push_back(make_event(name));
}

// --------------------------------------------------------------------------------------------- arguments

// What the kernel's code passes; the tracepoint's own first parameter is left out.
std::vector<format::Btf::Parameter> parameters_of(Machine& machine, const Event& event) {
  format::Btf& btf = *machine.btf();
  std::vector<format::Btf::Parameter> out;
  if (uint32_t named = btf.find("__traceiter_" + event.event, format::BtfKind::function))
    out = btf.parameters(named);
  if (out.empty()) out = btf.parameters(tracepoint_type(machine, event.event));
  if (!out.empty()) out.erase(out.begin());
  return out;
}

const type::Type* arguments_of_raw(Machine& machine, Event& event) {
  if (event.args || !machine.btf()) return event.args;
  format::Btf& btf = *machine.btf();
  std::vector<format::Btf::Parameter> parameters = parameters_of(machine, event);
  if (parameters.empty()) return nullptr;
  type::Table& table = machine.types();
  std::vector<type::Field> fields;
  for (uint32_t i = 0; i < parameters.size(); i++) {
    const format::Btf::Parameter& p = parameters[i];
    const type::Type* type = btf.type(table, p.type);
    if (!type) type = table.uint64();
    fields.push_back({.name = table.keep(p.name.empty() ? "arg" + std::to_string(i) : std::string(p.name)),
                      .type = type,
                      .offset = i * 8});
  }
  event.args = table.structure(event.event, false, static_cast<uint32_t>(fields.size()) * 8, 8, fields);
  return event.args;
}

std::vector<std::string> describe_raw(Machine& machine, Event& event) {
  std::vector<std::string> out;
  if (!machine.btf()) return out;
  for (const format::Btf::Parameter& p : parameters_of(machine, event))
    out.push_back(format::type_name(*machine.btf(), p.type) + " " + std::string(p.name));
  return out;
}

// "arg3" → 3.
std::optional<uint32_t> argument_number(std::string_view field) {
  if (!field.starts_with("arg")) return std::nullopt;
  auto n = base::parse_integer(field.substr(3));
  return n && *n < 12 ? std::optional(static_cast<uint32_t>(*n)) : std::nullopt;
}

std::optional<type::Field> find_field(Machine& machine, const Event& event, std::string_view field) {
  Event known = event;
  const type::Type* args = arguments_of_raw(machine, known);
  return args ? args->find(field) : std::nullopt;
}

// ------------------------------------------------------------------------------------- context and access

// `const void *`: kernels before 6.3 refuse to give such an argument to a typed program.
bool is_constant_void(format::Btf& btf, uint32_t pointer) {
  auto at = btf.raw(pointer);
  if (!at || at->kind != format::BtfKind::pointer || !at->type) return false;
  constexpr int longest_chain = 8;
  for (int i = 0; i < longest_chain; i++) {
    at = btf.raw(at->type);
    bool goes_on = at && (at->kind == format::BtfKind::const_ || at->kind == format::BtfKind::volatile_);
    if (!goes_on) return false;
    if (!at->type) return true;
  }
  return false;
}

Context choose_raw(Machine& machine, const Event& event, Fields fields) {
  bool has_pointer = false;
  for (std::string_view field : fields) {
    auto declared = find_field(machine, event, field);
    if (!declared || !declared->type->is(type::Kind::pointer)) continue;
    has_pointer = true;
    if (is_constant_void(*machine.btf(), parameters_of(machine, event)[declared->offset / 8].type))
      return Context::raw_tracepoint;
  }
  return has_pointer && attach_btf_id(machine, event) ? Context::btf_tracepoint : Context::raw_tracepoint;
}

Access access_raw(Machine& machine, const Event& event, Context, std::string_view field) {
  Access access{.kind = Access::raw};
  if (auto declared = find_field(machine, event, field))
    access.argument = declared->offset / 8;
  else
    access.argument = argument_number(field).value_or(0);
  return access;
}

// ------------------------------------------------------------------------------------------------ attach

base::Result<Attachment> attach_raw(const Event& event, Context context, int program_fd,
                                    const AttachOptions&) {
  return attach_raw_tracepoint(event, event.event, context, program_fd);
}

} // namespace

constinit const KindFunctions rawtracepoint_kind{
    .match = match_raw,
    .list = list_raw,
    .arguments = arguments_of_raw,
    .describe = describe_raw,
    .choose_context = choose_raw,
    .access = access_raw,
    .attach = attach_raw,
};

} // namespace probe
