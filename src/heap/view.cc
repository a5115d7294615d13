#include "heap/view.h"

#include "base/text.h"

#include <cstdio>

namespace heap {

using target::Chunk;

std::string hex(uint64_t n) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%lx", n);
  return text;
}

std::string size_text(uint64_t bytes) {
  char text[32];
  if (bytes < 10000)
    std::snprintf(text, sizeof text, "%lu B", bytes);
  else if (bytes < 10'000'000)
    std::snprintf(text, sizeof text, "%.1f KiB", static_cast<double>(bytes) / 1024);
  else
    std::snprintf(text, sizeof text, "%.1f MiB", static_cast<double>(bytes) / (1 << 20));
  return text;
}

target::Reach& View::reach() {
  if (!reach_) reach_ = target::find_reach(target_, heap_);
  return *reach_;
}

const std::string& View::type_of(const Chunk& chunk) {
  uint64_t table = chunk.size >= 8 ? target_.memory().word(chunk.address).value_or(0) : 0;
  auto [at, is_new] = types_.try_emplace(table);
  if (is_new && table && target_.module_at(table)) {
    std::string name = names_.data_at(table);
    constexpr std::string_view before = "vtable for ";
    if (name.starts_with(before)) at->second = name.substr(before.size(), name.rfind('+') - before.size());
  }
  return at->second;
}

std::string View::kind_of(const Chunk& chunk) {
  const std::string& type = type_of(chunk);
  return size_text(chunk.size) + (type.empty() ? "" : ", " + type);
}

std::string View::chunk_text(const Chunk& chunk) {
  return "the block at " + hex(chunk.address) + " (" + kind_of(chunk) + ")";
}

std::string View::thread_text(size_t thread) const {
  const target::Thread& t = target_.threads()[thread];
  return "thread " + std::to_string(t.id) + (t.name.empty() ? "" : " (" + base::printable(t.name) + ")");
}

std::optional<size_t> View::stack_at(uint64_t address) {
  for (size_t i = 0; i < target_.threads().size(); i++) {
    target::Window w = target_.memory().window(target_.threads()[i].registers[target::register_sp]);
    if (w.bytes && w.holds(address, 1)) return i;
  }
  return std::nullopt;
}

std::optional<size_t> View::own_at(uint64_t address) {
  constexpr uint64_t descriptor =
      2368; // struct pthread of glibc, which its values by key (pthread_setspecific) are in
  for (size_t i = 0; i < target_.threads().size(); i++) {
    const uint64_t base = target_.threads()[i].registers[target::register_fs_base];
    if (address + own_size_ >= base && address < base + descriptor) return i;
  }
  return std::nullopt;
}

std::string View::place(uint64_t address) {
  if (const Chunk* c = heap_.find(address))
    return std::string(c->state == Chunk::used ? "block " : "free block ") + hex(c->address) + " of " +
           kind_of(*c) + ", +" + std::to_string(address - c->address);
  if (const target::Module* m = target_.module_at(address)) {
    std::string name = names_.data_at(address);
    return (name.empty() ? "" : name + " in ") + m->path;
  }
  Root root = root_of({target::Reach::root, 0, address});
  return root.module.empty() ? root.name : root.name + " in " + root.module;
}

View::Root View::root_of(const target::Reach::Step& step) {
  if (step.thread) return {"registers of " + thread_text(step.thread - 1), ""};
  if (const target::Module* m = target_.module_at(step.word)) {
    std::string name = names_.data_at(step.word);
    if (size_t plus = name.rfind('+'); plus != name.npos) name.resize(plus);
    if (name.empty()) name = "unnamed variables of " + m->path.substr(m->path.rfind('/') + 1);
    return {name, m->path};
  }
  if (auto own = own_at(step.word)) return {"thread-local variables of " + thread_text(*own), ""};
  auto found = stack_at(step.word);
  if (!found) return {"memory around " + hex(step.word >> 16 << 16), ""};
  // Of a frame is what lies from its stack pointer to that of its caller.
  const unwind::Walk& walk = stacks_.of(*found);
  std::string function;
  for (const unwind::Frame& f : walk.frames) {
    if (f.registers.get(unwind::Registers::rsp).value_or(0) > step.word) break;
    function = names_.function_at(f.look_up()).name;
  }
  return {"stack of " + thread_text(*found) + (function.empty() ? "" : ", " + function), ""};
}

} // namespace heap
