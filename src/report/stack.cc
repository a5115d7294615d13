// Stacks as text: a newline, then one frame a line, innermost first. As a value and as a key they look the
// same:
//
//   @[
//           vfs_read+1
//           ksys_read+107
//   ]: 5
//
// The form `perf` is that of perf script: an address and its name behind a tab, `[unknown]` where there is no name,
// and of user code the file. The form `build_id` has the build id of the file, and the offset in it.
#include "report/number.h"
#include "report/text.h"
#include "spec/stack_entries.h"

namespace report {

using type::StackMode;

bool is_glue(std::string_view function) {
  return function.starts_with("__bpf_trace_") || function.starts_with("__traceiter_") || function.starts_with("bpf_trace_run") ||
         function.starts_with("ftrace_trampoline") || function.starts_with("bpf_trampoline_");
}

static void append_perf(std::string& out, const symbol::Frame& frame, uint64_t address, bool user) {
  out += '\t';
  append_hex(out, address);
  out.append(" ").append(frame.name.empty() ? "[unknown]" : text_of(frame, address, true)); // a place in the module is no name
  if (user) out.append(" (").append(frame.module.empty() ? "[unknown]" : frame.module).append(")");
}

// The build id and the offset in the file, for who looks up the name elsewhere.
static void append_file_place(std::string& out, Context& context, const symbol::RawFrame& raw) {
  const std::string place = context.names.file_place(raw);
  if (place.empty())
    append_hex(out, raw.entry.address);
  else
    out += place;
}

// Those of one side.
static void append_frames(std::string& out, Context& context, const type::Type& type, uint64_t id, uint32_t pid, bool user) {
  const std::vector<uint64_t> words = context.engine.stack(id);
  const spec::UserStack parts = user ? spec::split_user_stack(words) : spec::UserStack{.frames = words};
  std::vector<symbol::RawFrame> frames;
  for (std::span<const uint64_t> rest = parts.frames; !rest.empty();)
    frames.push_back({.entry = spec::take_entry(rest), .pid = static_cast<pid_t>(pid), .stack = id, .is_kernel = !user});
  while (!user && frames.size() > 1 && is_glue(context.names.frame(frames.front()).name)) frames.erase(frames.begin());
  if (type.count && frames.size() > type.count && !parts.end) frames.resize(type.count);
  const std::string_view indent = type.stack_mode == StackMode::raw ? "" : type.stack_mode == StackMode::perf ? "\t" : "        ";
  for (const symbol::RawFrame& raw : frames) {
    if (type.stack_mode == StackMode::raw && !raw.entry.tag)
      append_hex(out, raw.entry.address);
    else if (type.stack_mode == StackMode::perf)
      append_perf(out, context.names.frame(raw), raw.entry.address, user);
    else if (type.stack_mode == StackMode::build_id)
      out.append(indent), append_file_place(out, context, raw);
    else
      out.append(indent).append(text_of(context.names.frame(raw), raw.entry.address, true));
    out += '\n';
  }
  if (parts.end) out.append(indent).append(spec::text_of_stack_end(parts.end)) += '\n';
}

void append_stack(std::string& out, Context& context, const type::Type& type, Bytes bytes) {
  const uint64_t id = load(bytes, 8);
  std::string text;
  if (type.is(type::Kind::stack)) append_frames(text, context, type, load(part(bytes, 16, 8), 8), 0, false);
  const bool user = !type.is(type::Kind::kstack);
  append_frames(text, context, type, id, user ? static_cast<uint32_t>(load(part(bytes, 8, 4), 4)) : 0, user);
  if (!text.empty()) out.append("\n").append(text);
}

} // namespace report
