#include "runtime/code_names.h"

#include "base/clock.h"
#include "runtime/hotspot_code.h"

#include <algorithm>
#include <utility>

namespace runtime {

namespace {

constexpr size_t max_objects = 1 << 20; // then those that are known are forgotten
// Of what was read in part.
constexpr size_t most_partial = 1 << 12;
constexpr uint32_t most_tries = 6;
constexpr uint64_t first_pause = 10'000'000; // ns; each is three times as long as the one before
constexpr std::string_view gone = "[code object gone]";

uint32_t check_of(const spec::StackEntry& entry) { return entry.number >> LANGUAGE_CHECK_SHIFT & LANGUAGE_CHECK_MASK; }

// Compiled code that was not known when the stack was taken is shown as the method that it is of.
const Code* find(const CodeNames& names, const symbol::RawFrame& raw) {
  const auto pid = static_cast<uint32_t>(raw.pid);
  const Code* code = names.find(pid, raw.entry.address, check_of(raw.entry));
  if (!code || !code->compiled) return code;
  const CompiledCode::Call& method = code->compiled->methods.front();
  return names.find(pid, method.method, method.check);
}

uint32_t line_of(const Code& code, const spec::StackEntry& entry) {
  if (code.kind == LANGUAGE_JAVA && entry.number & LANGUAGE_FIRST) return 0; // a position in machine code
  const uint32_t line = runtime_of(code.kind).line_of(code, entry.number & LANGUAGE_POSITION_MASK);
  return line ? line : code.first_line;
}

class LanguageFrames : public symbol::FrameSource {
public:
  explicit LanguageFrames(const CodeNames& names) : names_(names) {}
  Key key_of(const symbol::RawFrame& raw) override { return {reinterpret_cast<uintptr_t>(find(names_, raw)), 0}; }
  symbol::Frame function_of(const symbol::RawFrame& raw) override { return frame_of(names_, raw); }

private:
  const CodeNames& names_;
};

uint64_t pause_before(uint32_t tries) {
  uint64_t out = first_pause;
  for (; tries; tries--) out *= 3;
  return out;
}

uint64_t process_and_check(uint32_t pid, uint32_t check) { return uint64_t{pid} << 32 | check; }

} // namespace

void CodeNames::add(uint32_t pid, const language_object& object, const language_table& table, const ReadMemory& read) {
  if (const Code* known = find(pid, object.address, object.check); known && known->compiled) return; // much to decode
  auto code = runtime_of(table.kind).decode(object, table, read);
  if (!code) return;
  if (code->is_partial) {
    if (tries_ < most_tries && partial_.size() < most_partial) partial_.push_back({pid, tries_, base::clock_ns() + pause_before(tries_), object});
    if (find(pid, object.address, object.check)) return; // it may have been read whole before
  }
  std::string key = code->name + '\0' + code->file + '\0' + std::to_string(code->first_line) + '.' + std::to_string(code->kind) + '.' + std::to_string(code->version) + '\0';
  key.append(reinterpret_cast<const char*>(code->lines.data()), code->lines.size());
  if (code->compiled) key += std::to_string(pid); // its methods are known by their addresses
  auto [at, is_new] = codes_.try_emplace(std::move(key));
  if (is_new) at->second = std::make_unique<Code>(std::move(*code));
  if (objects_.size() >= max_objects) objects_.clear();
  objects_[{process_and_check(pid, object.check), object.address}] = at->second.get();
  if (!at->second->compiled) return;
  for (const CompiledCode::Call& call : at->second->compiled->methods)
    if (!find(pid, call.method, call.check)) add(pid, language_object{.address = call.method, .check = call.check, .table = object.table}, table, read);
}

void CodeNames::retry(uint64_t now, const std::function<void(uint32_t, const language_object&)>& take) {
  const auto is_due = [&](const Partial& p) { return now >= p.next; };
  if (std::ranges::none_of(partial_, is_due)) return;
  for (Partial& p : std::exchange(partial_, {})) {
    if (!is_due(p)) {
      partial_.push_back(std::move(p));
      continue;
    }
    tries_ = p.tries + 1;
    take(p.pid, p.object);
    tries_ = 0;
  }
}

const Code* CodeNames::find(uint32_t pid, uint64_t address, uint32_t check) const {
  const auto at = objects_.find({process_and_check(pid, check), address});
  return at == objects_.end() ? nullptr : at->second;
}

uint64_t CodeNames::meaning(uint32_t pid, std::span<const uint64_t> stack) const {
  uint64_t hash = language_mix(0, pid);
  while (!stack.empty()) {
    const spec::StackEntry entry = spec::take_entry(stack);
    const Code* code = entry.tag ? find(pid, entry.address, check_of(entry)) : nullptr;
    hash = language_mix(hash, code ? reinterpret_cast<uintptr_t>(code) : entry.address);
    hash = language_mix(hash, code ? line_of(*code, entry) : entry.number);
  }
  return hash;
}

symbol::Frame frame_of(const CodeNames& names, const symbol::RawFrame& raw) {
  symbol::Frame out = {.kind = spec::kind_with_tag(raw.entry.tag)->kind};
  const Code* code = find(names, raw);
  if (!code) return out.name = gone, out;
  out.name = code->name;
  out.module = out.file = code->file;
  out.line = line_of(*code, raw.entry);
  return out;
}

void add_language_frames(symbol::FrameSources& sources, const CodeNames& names) {
  for (const Runtime& r : runtimes()) sources.add(r.frames, std::make_unique<LanguageFrames>(names));
}

} // namespace runtime
