#include "emit/raw_argument.h"

#include "base/text.h"
#include "spec/raw_fields.h"
#include "type/type.h"

#include <algorithm>

namespace emit {

// The arguments of the raw tracepoint of this name.
static const type::Type* arguments_of(probe::Machine& machine, std::string_view name) {
  probe::Mismatch mismatch;
  std::vector<probe::Event> raw = probe::match(machine, std::vector<std::string_view>{"rawtracepoint", name}, mismatch);
  return raw.empty() ? nullptr : probe::arguments(machine, raw.front());
}

std::optional<RawArgument> raw_argument(probe::Machine& machine, const probe::Event& event, std::string_view field) {
  RawArgument out;
  const type::Type* all = arguments_of(machine, event.event);
  const auto fields = all ? all->fields() : std::span<const type::Field>();
  if (event.kind == probe::Kind::rawtracepoint) {
    const auto found = std::ranges::find(fields, field, &type::Field::name);
    if (found == fields.end()) return std::nullopt;
    out.number = static_cast<unsigned>(found - fields.begin());
  } else {
    const std::string name = event.category + ":" + event.event;
    const auto row = std::ranges::find_if(spec::raw_fields, [&](const spec::RawField& r) { return r.field == field && base::glob_match(r.event, name); });
    if (row == spec::raw_fields.end()) return std::nullopt;
    out.number = (*row).argument;
    out.path = (*row).path;
  }
  out.name = "arg" + std::to_string(out.number);
  if (out.number < fields.size()) {
    out.name = fields[out.number].name;
    out.type = fields[out.number].type;
  }
  return out;
}

std::optional<Syscall> syscall_of(const probe::Event& event) {
  if (event.kind != probe::Kind::tracepoint || event.category != "syscalls") return std::nullopt;
  constexpr std::string_view enter = "sys_enter_", leave = "sys_exit_";
  const std::string_view name = event.event;
  if (name.starts_with(enter)) return Syscall{std::string(name.substr(enter.size())), event.syscall, false};
  if (name.starts_with(leave)) return Syscall{std::string(name.substr(leave.size())), event.syscall, true};
  return std::nullopt;
}

// Records of system calls: 8 bytes common to all, the number in 8, then 8 bytes each.
std::optional<unsigned> syscall_argument(const Syscall& call, const type::Field& field) {
  constexpr uint32_t first = 16;
  if (field.offset < first || field.offset % 8) return std::nullopt;
  const unsigned number = (field.offset - first) / 8;
  if (call.is_exit) return field.name == "ret" ? std::optional(0u) : std::nullopt;
  return number < 6 ? std::optional(number) : std::nullopt;
}

} // namespace emit
