// Stacks as text: a newline, then one frame a line, innermost first. As a value and as a key they look the
// same:
//
//   @[
//           vfs_read+1
//           ksys_read+107
//   ]: 5
#include "report/number.h"
#include "report/text.h"

namespace report {

using type::StackMode;

// What the kernel calls between a tracepoint and a program on it is not part of what was traced.
static bool is_glue(std::string_view function) {
  return function.starts_with("__bpf_trace_") || function.starts_with("__traceiter_");
}

void append_stack(std::string& out, Context& context, const type::Type& type, Bytes bytes) {
  std::vector<uint64_t> frames = context.engine.stack(load(bytes, 8));
  if (frames.empty()) return;
  if (type.count && frames.size() > type.count) frames.resize(type.count);
  bool user = type.is(type::Kind::ustack);
  if (!user && frames.size() > 1 && is_glue(context.names.kernel(frames.front(), false)))
    frames.erase(frames.begin());
  auto pid = static_cast<uint32_t>(load(part(bytes, 8, 4), 4));
  out += '\n';
  for (uint64_t address : frames) {
    if (type.stack_mode == StackMode::bpftrace) out += "        ";
    if (type.stack_mode == StackMode::perf) out += '\t';
    if (type.stack_mode != StackMode::bpftrace) append_hex(out, address);
    if (type.stack_mode == StackMode::perf) out += ' ';
    if (type.stack_mode != StackMode::raw)
      out += user ? context.names.user(pid, address, true) : context.names.kernel(address, true);
    out += '\n';
  }
}

} // namespace report
