#include "report/target_names.h"

#include "report/number.h"
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

std::string TargetNames::shown(std::string_view name) {
  if (!demangle_ || !symbol::is_mangled(name)) return std::string(name);
  std::string plain = symbol::demangle(std::string(name));
  return plain.empty() ? std::string(name) : plain;
}

TargetNames::Function TargetNames::function_at(uint64_t address) {
  Function out;
  out.module = target_.module_at(address);
  symbol::Module* symbols = out.module ? symbols_of(*out.module) : nullptr;
  if (!symbols) return out;
  if (auto found = symbols->names(cache_).find(address - out.module->bias)) {
    out.name = shown(found->name);
    out.begin = address - found->offset;
  }
  return out;
}

std::string TargetNames::data_at(uint64_t address) {
  const target::Module* m = target_.module_at(address);
  if (!m || !m->file) return {};
  auto at = variables_.try_emplace(m, m->file->elf()).first;
  auto found = at->second.find(address - m->bias);
  return found ? shown(found->name) + "+" + std::to_string(found->offset) : std::string();
}

std::vector<symbol::Frame> TargetNames::lines_at(uint64_t address) {
  std::vector<symbol::Frame> out;
  const target::Module* m = target_.module_at(address);
  symbol::Module* symbols = m ? symbols_of(*m) : nullptr;
  if (!symbols) return out;
  uint64_t in_file = address - m->bias;
  symbols->find_lines(
      std::span(&in_file, 1), {.inlines = true, .mangled = !demangle_},
      [&](size_t, std::span<const symbol::Frame> frames) { out.assign(frames.begin(), frames.end()); });
  return out;
}

std::string TargetNames::kernel(uint64_t address, bool) { return bare(address); }

// A return address may lie behind the end of the function that called, when that never goes on: it is looked
// up where the call is.
std::string TargetNames::user(uint32_t, uint64_t address, bool with_offset, uint64_t stack) {
  bool is_return = stack && address && !stacks_.is_exact(address);
  // The last function of a file is said to reach as far as the next one: what is a variable's is asked first.
  if (std::string data = stack ? std::string() : data_at(address); !data.empty())
    return with_offset ? data : data.substr(0, data.rfind('+'));
  Function f = function_at(address - is_return);
  if (f.name.empty() && f.module) {
    std::string_view path = f.module->path;
    return std::string(path.substr(path.rfind('/') + 1)) + "+" + bare(address - f.module->bias);
  }
  if (f.name.empty()) return bare(address);
  return with_offset ? f.name + "+" + std::to_string(address - f.begin) : f.name;
}

std::string TargetNames::module(uint32_t, uint64_t address, uint64_t) {
  const target::Module* m = target_.module_at(address);
  return m ? m->path : std::string();
}

} // namespace report
