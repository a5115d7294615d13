#include "dlang/symbols.h"

#include "report/number.h"
#include "report/text.h"
#include "spec/frame_kinds.h"
#include "spec/stack_entries.h"

#include <climits>
#include <cstdio>
#include <unistd.h>

namespace dlang {

using report::Bytes;
using type::Kind;

// "/usr/lib/libc.so.6" is libc.so.6, "[ext4]" ext4; the kernel itself is vmlinux.
static std::string object_of(const symbol::Frame& frame, bool is_kernel) {
  std::string_view module = frame.module.substr(frame.module.rfind('/') + 1);
  if (!is_kernel) return std::string(module);
  if (module.starts_with('[') && module.ends_with(']')) module = module.substr(1, module.size() - 2);
  return module.empty() || module == "kernel" || module == "kernel.kallsyms" ? "vmlinux" : std::string(module);
}

static std::string frame_text(const symbol::Frame& frame, uint64_t address, bool is_kernel, SymbolForm form) {
  const spec::FrameKindRow& kind = spec::row_of(frame.kind);
  if (kind.tag && !frame.name.empty()) return report::text_of(frame, address, true); // of a language
  const std::string object = object_of(frame, is_kernel);
  if (form == SymbolForm::module) return object.empty() ? report::bare(address) : object;
  std::string out = object.empty() ? "" : object + "`";
  if (frame.name.empty()) return (is_kernel ? "" : out) + report::bare(address);
  out.append(frame.name).append(kind.remark);
  if (form != SymbolForm::address || frame.offset == 0) return out;
  char offset[32];
  std::snprintf(offset, sizeof offset, "+0x%llx", static_cast<unsigned long long>(frame.offset));
  return out + offset;
}

std::string kernel_symbol_text(report::Names& names, uint64_t address, SymbolForm form) {
  return frame_text(names.frame({.entry = {.address = address}, .is_kernel = true}), address, true, form);
}

std::string symbol_text(report::Names& names, const type::Type& type, Bytes bytes, SymbolForm form) {
  const uint64_t address = report::load(report::part(bytes, 0, 8), 8);
  if (type.is(Kind::ksym)) return kernel_symbol_text(names, address, form);
  const auto pid = static_cast<pid_t>(report::load(report::part(bytes, 8, 4), 4));
  return frame_text(names.frame({.entry = {.address = address}, .pid = pid}), address, false, form);
}

std::string device_text(uint64_t device, SymbolForm form) {
  const std::string number = std::to_string(device >> 20) + ":" + std::to_string(device & 0xfffff);
  char target[PATH_MAX];
  const ssize_t size = ::readlink(("/sys/dev/block/" + number).c_str(), target, sizeof target);
  if (size <= 0) return number;
  const std::string_view path(target, static_cast<size_t>(size));
  return (form == SymbolForm::device_path ? "/dev/" : "") + std::string(path.substr(path.rfind('/') + 1));
}

std::vector<std::string> frames_of(report::Names& names, ir::Engine& engine, const type::Type& type, Bytes bytes) {
  const bool is_kernel = type.is(Kind::kstack);
  const uint64_t id = report::load(report::part(bytes, 0, 8), 8);
  const auto pid = is_kernel ? 0 : static_cast<pid_t>(report::load(report::part(bytes, 8, 4), 4));
  const std::vector<uint64_t> words = engine.stack(id);
  const spec::UserStack parts = is_kernel ? spec::UserStack{.frames = words} : spec::split_user_stack(words);
  std::vector<std::string> out;
  bool is_first = true;
  for (std::span<const uint64_t> rest = parts.frames; !rest.empty();) {
    const symbol::RawFrame raw = {.entry = spec::take_entry(rest), .pid = pid, .stack = id, .is_kernel = is_kernel};
    const symbol::Frame frame = names.frame(raw);
    if (is_kernel && is_first && !rest.empty() && report::is_glue(frame.name)) continue;
    is_first = false;
    if (type.count && out.size() == type.count && !parts.end) break;
    out.push_back(frame_text(frame, raw.entry.address, is_kernel, SymbolForm::address));
  }
  if (parts.end) out.emplace_back(spec::text_of_stack_end(parts.end));
  return out;
}

} // namespace dlang
