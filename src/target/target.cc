#include "target/target.h"

#include <algorithm>
#include <cstring>
#include <elf.h>

namespace target {

std::string_view to_string(Missing why) {
  switch (why) {
  case Missing::none: return "is there";
  case Missing::unmapped: return "is not mapped";
  case Missing::not_dumped: return "was not dumped";
  case Missing::truncated: return "is cut off the core";
  case Missing::no_binary: return "is in a file that is not here";
  case Missing::wrong_binary: return "is in a file of which another version is here";
  case Missing::not_copied: return "was not copied";
  case Missing::gone: return "could not be read any more";
  }
  return {};
}

void take_vectors(Registers& into, std::span<const std::byte> saved) {
  constexpr size_t offset = 160, bytes = 16 * vector_registers; // Intel's manual, volume 1, section 10.5.1
  if (saved.size() >= offset + bytes) std::memcpy(&into[general_registers], saved.data() + offset, bytes);
}

Missing Memory::read(uint64_t address, std::span<std::byte> to) {
  for (size_t at = 0; at < to.size();) {
    if (!last_.bytes || !last_.holds(address + at, 1)) last_ = window(address + at);
    if (!last_.bytes) return last_.why;
    uint64_t inside = address + at - last_.begin;
    size_t n = static_cast<size_t>(std::min<uint64_t>(to.size() - at, last_.size - inside));
    std::memcpy(to.data() + at, last_.bytes + inside, n);
    at += n;
  }
  return Missing::none;
}

std::optional<uint64_t> Memory::word(uint64_t address) {
  uint64_t out;
  if (read(address, std::as_writable_bytes(std::span(&out, 1))) != Missing::none) return std::nullopt;
  return out;
}

std::optional<std::string> Memory::text(uint64_t address, size_t most) {
  std::string out;
  while (out.size() < most) {
    Window w = window(address + out.size());
    if (!w.bytes) return std::nullopt;
    uint64_t inside = address + out.size() - w.begin;
    size_t n = static_cast<size_t>(std::min<uint64_t>(most - out.size(), w.size - inside));
    const char* from = reinterpret_cast<const char*>(w.bytes) + inside;
    size_t length = strnlen(from, n);
    out.append(from, length);
    if (length < n) break;
  }
  return out;
}

const Module* Target::module_at(uint64_t address) const {
  const std::vector<Module>& all = modules();
  auto after = std::upper_bound(all.begin(), all.end(), address,
                                [](uint64_t a, const Module& m) { return a < m.begin; });
  if (after == all.begin() || address >= std::prev(after)->end) return nullptr;
  return &*std::prev(after);
}

bool Target::is_code_of_module(uint64_t address) const {
  const Module* m = module_at(address);
  if (!m || !m->file) return m != nullptr;
  for (const format::ElfSegment& s : m->file->elf().segments())
    if (s.type == PT_LOAD && (s.flags & PF_X) && address - m->bias - s.address < s.memory_size) return true;
  return false;
}

symbol::DebugSearch Target::debug_search(const Module& module) const {
  return {.root = module.root, .folders = search_.folders, .download = search_.download};
}

// A file that has the name; the reason why it is not the right one, or nothing.
static std::optional<std::string> why_not(const Module& module, const format::ElfFile& file,
                                          bool& is_verified) {
  base::ByteSpan id = file.build_id();
  is_verified = !module.build_id.empty();
  if (module.build_id.empty()) return std::nullopt;
  if (std::ranges::equal(id, module.build_id)) return std::nullopt;
  return "its build-id is " + (id.empty() ? "missing" : format::to_hex(id)) + ", not " +
         format::to_hex(module.build_id);
}

void open_module(Module& module, const Search& search) {
  std::vector<std::string> roots;
  if (!search.sysroot.empty()) roots.push_back(search.sysroot);
  roots.emplace_back();
  std::string path = module.path;
  constexpr std::string_view deleted = " (deleted)";
  bool was_deleted = path.ends_with(deleted);
  if (was_deleted) path.resize(path.size() - deleted.size());
  for (const std::string& root : roots) {
    auto file = format::ElfFile::open(path, root);
    if (!file.ok()) {
      if (module.problem.empty()) module.problem = file.error().message;
      continue;
    }
    bool is_verified = false;
    if (auto why = why_not(module, *file, is_verified)) {
      module.state = Module::wrong;
      module.problem = root + path + ": " + *why;
      continue;
    }
    // A file without build-id under a name that was deleted is likely the one that came after it.
    if (!is_verified && was_deleted) {
      module.state = Module::wrong;
      module.problem = path + ": the file was replaced, and no build-id tells whether this is it";
      continue;
    }
    module.state = is_verified ? Module::found : Module::unverified;
    module.problem.clear();
    module.opened = path;
    module.root = root;
    module.file = std::make_shared<format::ElfFile>(std::move(*file));
    return;
  }
}

} // namespace target
