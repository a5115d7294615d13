#include "runtime/code_names.h"

namespace runtime {

namespace {

constexpr size_t max_objects = 1 << 20; // then those that are known are forgotten
constexpr std::string_view gone = "[code object gone]";

class LanguageFrames : public symbol::FrameSource {
public:
  LanguageFrames(const CodeNames& names, const Runtime& runtime) : names_(names), runtime_(runtime) {}

  Key key_of(const symbol::RawFrame& raw) override { return {reinterpret_cast<uintptr_t>(find(raw)), 0}; }
  symbol::Frame function_of(const symbol::RawFrame& raw) override {
    symbol::Frame out = {.kind = runtime_.frames};
    const Code* code = find(raw);
    if (!code) return out.name = gone, out;
    out.name = code->name;
    out.module = out.file = code->file;
    out.line = runtime_.line_of(*code, raw.entry.number & LANGUAGE_POSITION_MASK);
    if (!out.line) out.line = code->first_line;
    return out;
  }

private:
  const Code* find(const symbol::RawFrame& raw) const {
    return names_.find(static_cast<uint32_t>(raw.pid), raw.entry.address, raw.entry.number >> LANGUAGE_CHECK_SHIFT & LANGUAGE_CHECK_MASK);
  }
  const CodeNames& names_;
  const Runtime& runtime_;
};

uint64_t process_and_check(uint32_t pid, uint32_t check) { return uint64_t{pid} << 32 | check; }

} // namespace

void CodeNames::add(uint32_t pid, const language_object& object, const language_table& table, const ReadMemory& read) {
  auto code = runtime_of(table.kind).decode(object, table, read);
  if (!code) return;
  std::string key = code->name + '\0' + code->file + '\0' + std::to_string(code->first_line) + '.' + std::to_string(code->version) + '\0';
  key.append(reinterpret_cast<const char*>(code->lines.data()), code->lines.size());
  auto [at, is_new] = codes_.try_emplace(std::move(key));
  if (is_new) at->second = std::make_unique<Code>(std::move(*code));
  if (objects_.size() >= max_objects) objects_.clear();
  objects_[{process_and_check(pid, object.check), object.address}] = at->second.get();
}

const Code* CodeNames::find(uint32_t pid, uint64_t address, uint32_t check) const {
  const auto at = objects_.find({process_and_check(pid, check), address});
  return at == objects_.end() ? nullptr : at->second;
}

void add_language_frames(symbol::FrameSources& sources, const CodeNames& names) {
  for (const Runtime& r : runtimes()) sources.add(r.frames, std::make_unique<LanguageFrames>(names, r));
}

} // namespace runtime
