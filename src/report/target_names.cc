#include "report/target_names.h"

#include "report/number.h"
#include "report/text.h"
#include "symbol/demangle.h"

namespace report {

symbol::Module* TargetNames::symbols_of(const target::Module& module) {
  auto [at, is_new] = modules_.try_emplace(&module);
  if (is_new && module.file)
    if (auto file = format::ElfFile::view(module.file->bytes()); file.ok()) {
      std::string path = module.opened.starts_with('[') ? module.path : module.opened;
      at->second = std::make_unique<symbol::Module>(std::move(*file), path, target_.debug_search(module));
    }
  return at->second.get();
}

std::string_view TargetNames::shown(std::string_view name) {
  if (!demangle_ || !symbol::is_mangled(name)) return name;
  auto [at, is_new] = demangled_.try_emplace(std::string(name));
  if (is_new) at->second = symbol::demangle(at->first);
  return at->second.empty() ? at->first : at->second;
}

TargetNames::Function TargetNames::function_at(uint64_t address) {
  Function out;
  out.in = target_.module_at(address);
  if (!out.in) return out;
  out.module = out.in->path;
  out.module_address = address - out.in->bias;
  symbol::Module* symbols = symbols_of(*out.in);
  if (!symbols) return out;
  if (auto found = symbols->names(cache_).find(out.module_address)) {
    out.name = shown(found->name);
    out.offset = found->offset;
  }
  return out;
}

std::string TargetNames::data_at(uint64_t address) {
  const target::Module* m = target_.module_at(address);
  if (!m || !m->file) return {};
  auto at = variables_.try_emplace(m, m->file->elf()).first;
  auto found = at->second.find(address - m->bias);
  return found ? std::string(shown(found->name)) + "+" + std::to_string(found->offset) : std::string();
}

// A return address may lie behind the end of the function that called, when that never goes on.
TargetNames::Function TargetNames::function_of(uint64_t address, bool is_return) {
  Function out = function_at(address - is_return);
  if (!out.name.empty()) out.offset += is_return;
  if (out.in) out.module_address += is_return;
  return out;
}

std::vector<symbol::Frame> TargetNames::frames_at(uint64_t address, bool is_return) {
  std::vector<symbol::Frame> out;
  const Function function = function_of(address, is_return);
  const uint64_t looked_up = function.module_address - is_return;
  if (symbol::Module* symbols = function.in ? symbols_of(*function.in) : nullptr)
    symbols->find_lines(std::span(&looked_up, 1), {.inlines = true, .mangled = !demangle_},
                        [&](size_t, std::span<const symbol::Frame> frames) { out.assign(frames.begin(), frames.end()); });
  if (out.empty()) out.emplace_back();
  for (symbol::Frame& f : out) f.module = function.module, f.module_address = function.module_address;
  if (!function.name.empty()) out.back().name = function.name, out.back().offset = function.offset;
  return out;
}

std::string TargetNames::kernel(uint64_t address, bool) { return bare(address); }

// The last function of a file is said to reach as far as the next one: what is a variable's is asked first.
std::string TargetNames::user(uint32_t, uint64_t address, bool with_offset) {
  if (std::string data = data_at(address); !data.empty()) return with_offset ? data : data.substr(0, data.rfind('+'));
  return text_of(function_at(address), address, with_offset);
}

symbol::Frame TargetNames::language_frame(std::span<const uint64_t> entry) {
  const spec::StackEntry raw = spec::take_entry(entry);
  return runtime::frame_of(stacks_.codes(), {.entry = raw});
}

symbol::Frame TargetNames::frame(const symbol::RawFrame& raw) {
  const uint64_t address = raw.entry.address;
  if (raw.entry.tag) return runtime::frame_of(stacks_.codes(), {.entry = raw.entry});
  return raw.is_kernel ? symbol::Frame() : function_of(address, address && !stacks_.is_exact(address));
}

} // namespace report
