// Stacks as text: a newline, then one frame a line, innermost first. As a value and as a key they look the
// same:
//
//   @[
//           vfs_read+1
//           ksys_read+107
//   ]: 5
//
// The form `perf` is that of perf script: an address and its name behind a tab, `[unknown]` where there is no name,
// and of user code the file.
#include "report/number.h"
#include "report/text.h"
#include "spec/stack_ends.h"

#include <algorithm>

namespace report {

using type::StackMode;

bool is_glue(std::string_view function) {
  return function.starts_with("__bpf_trace_") || function.starts_with("__traceiter_") || function.starts_with("bpf_trace_run") ||
         function.starts_with("ftrace_trampoline") || function.starts_with("bpf_trampoline_");
}

static void append_perf(std::string& out, uint64_t address, const std::string& name, std::string module,
                        bool user) {
  out += '\t';
  append_hex(out, address);
  // A place in the module is no name.
  bool is_name = name != bare(address) && !name.starts_with(module.substr(module.rfind('/') + 1) + "+0x");
  out.append(" ").append(is_name ? name : "[unknown]");
  if (user) out.append(" (").append(module.empty() ? "[unknown]" : module).append(")");
}

// Those of one side.
static void append_frames(std::string& out, Context& context, const type::Type& type, uint64_t id, uint32_t pid, bool user) {
  std::vector<uint64_t> frames = context.engine.stack(id);
  // Code without frame pointers leads astray; a return to nowhere is the end of it.
  if (user) frames.erase(std::find(frames.begin(), frames.end(), 0), frames.end());
  while (!user && frames.size() > 1 && is_glue(context.names.kernel(frames.front(), false)))
    frames.erase(frames.begin());
  if (type.count && frames.size() > type.count && !(user && spec::is_stack_end(frames.back()))) frames.resize(type.count);
  for (uint64_t address : frames) {
    if (user && spec::is_stack_end(address)) {
      out.append(type.stack_mode == StackMode::bpftrace ? "        " : type.stack_mode == StackMode::perf ? "\t" : "")
          .append(spec::text_of_stack_end(address)) += '\n';
      continue;
    }
    if (type.stack_mode == StackMode::raw) {
      append_hex(out, address);
    } else {
      std::string name =
          user ? context.names.user(pid, address, true, id) : context.names.kernel(address, true);
      if (type.stack_mode == StackMode::perf)
        append_perf(out, address, name, user ? context.names.module(pid, address, id) : std::string(), user);
      else
        out.append("        ").append(name);
    }
    out += '\n';
  }
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
