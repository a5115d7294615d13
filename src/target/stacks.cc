#include "target/stacks.h"

#include "spec/stack_entries.h"

namespace target {

// By DWARF's numbers, as places in Registers.
static constexpr auto places =
    spec::each_dwarf_register<unwind::Registers::count>(spec::x86_64, [](const spec::Register& r) { return r.offset / 8; });

unwind::CodePlace Stacks::find_code(uint64_t address) {
  if (!target_.is_code(address)) return {};
  const Module* m = target_.module_at(address);
  if (!m || !m->file) return {.is_code = true}; // made by the program itself (JIT), or its file is not here
  auto [at, is_new] = files_.try_emplace(m);
  if (is_new)
    at->second = std::make_unique<unwind::FileFrames>(*m->file, unwind::tables_of_file(*m->file, cache_));
  return {.is_code = true, .file = at->second.get(), .bias = m->bias};
}

const unwind::Walk& Stacks::of(size_t thread) {
  if (walks_.size() < target_.threads().size()) walks_.resize(target_.threads().size());
  std::optional<unwind::Walk>& walk = walks_[thread];
  if (walk) return *walk;
  const Registers& given = target_.threads()[thread].registers;
  unwind::Registers start;
  for (unsigned i = 0; i < places.size(); i++) start.set(i, given[places[i]]);
  walk = from(start);
  return *walk;
}

unwind::ReadMemory Stacks::reader() {
  return [this](uint64_t address, std::span<std::byte> to) { return (!has_time_ || has_time_()) && target_.memory().read(address, to) == Missing::none; };
}

unwind::Walk Stacks::from(const unwind::Registers& start) {
  const unwind::ReadMemory read = reader();
  unwind::WalkOptions options = {.most_frames = most_frames_, .all_registers = true, .correct = {}};
  const runtime::ProcessRuntime* const language = runtime();
  bool is_met = false; // the innermost frame of the evaluation function
  if (const auto correct = language ? runtime::runtime_of(language->table.kind).correct : nullptr)
    options.correct = [&, correct](unwind::Frame& frame, bool has_table) {
      if (!is_met) correct(language->table, read, frame, has_table);
      is_met |= runtime::is_evaluation(language->table, frame.look_up());
    };
  if (const auto made = language ? runtime::runtime_of(language->table.kind).made_frame : nullptr)
    options.caller = [&, made](const unwind::Frame& frame) {
      const auto found = made(language->table, read, frame);
      return found ? found->caller : std::nullopt;
    };
  unwind::Walk out = unwind::walk(start, read, [&](uint64_t address) { return find_code(address); }, options);
  for (const unwind::Frame& f : out.frames)
    if (f.is_exact) exact_.insert(f.look_up());
  return out;
}

// ---------------------------------------------------------------------------------------- language frames

const runtime::ProcessRuntime* Stacks::runtime() {
  if (!std::exchange(looked_for_runtime_, true))
    for (const Module& m : target_.modules()) {
      const auto found = m.file ? runtime::recognise(*m.file) : std::nullopt;
      if (!found || !found->problem.empty()) continue;
      language_table table = runtime::moved(found->table, m.bias);
      const auto complete = runtime::runtime_of(table.kind).complete;
      if (complete && complete(table, reader()) != std::string()) continue;
      runtime_ = {.table = table, .code = {m.begin, m.end}};
      runtime_module_ = &m;
      if (found->objects) objects_ = runtime::moved(*found->objects, m.bias);
      break;
    }
  return runtime_ ? &*runtime_ : nullptr;
}

void Stacks::walk_language(size_t thread, Spliced& into) {
  const language_table& table = runtime()->table;
  const runtime::ReadMemory read = reader();
  const runtime::ThreadWalk walked = {.thread_pointer = target_.threads()[thread].registers[register_fs_base], .frames = of(thread).frames};
  runtime::LanguageStack found = runtime::runtime_of(table.kind).walk(table, walked, read);
  for (const language_object& object : found.objects) codes_.add(0, object, table, read);
  into.language = std::move(found);
  into.language.objects = {}; // they have names now
}

// Language frames are among the native ones.
void Stacks::expand(const unwind::Walk& walk, const runtime::ProcessRuntime& language, Spliced& into) {
  const runtime::Runtime& row = runtime::runtime_of(language.table.kind);
  const runtime::ReadMemory read = reader();
  std::vector<uint64_t> words;
  for (const unwind::Frame& f : walk.frames) {
    const auto made = row.made_frame(language.table, read, f);
    if (!made || !made->object) {
      words.push_back(f.registers.get(unwind::Registers::rip).value_or(0));
      continue;
    }
    words.insert(words.end(), {spec::tagged_word(row.frames, made->number), made->object->address});
    if (!codes_.find(0, made->object->address, made->object->check)) codes_.add(0, *made->object, language.table, read);
  }
  const auto find = [&](uint64_t address, uint32_t check) { return codes_.find(0, address, check); };
  const runtime::Expanded expanded = row.expand(words, language, codes_.show(), find);
  std::span<const uint64_t> rest = expanded.words;
  for (size_t n = 0; !rest.empty() && n < expanded.from.size(); n++) {
    const uint64_t word = rest.front();
    const spec::StackEntry entry = spec::take_entry(rest);
    const bool is_language = entry.tag && !spec::has_code_address(entry);
    if (is_language) into.language.words.insert(into.language.words.end(), {word, entry.address}), into.language.frames.push_back(0);
    into.frames.push_back({is_language, is_language ? into.language.words.size() - 2 : expanded.from[n], entry.tag && !is_language});
  }
}

void Stacks::with_runtime(const std::function<void(const runtime::Runtime&, const runtime::StoppedRuntime&)>& use) {
  const runtime::ProcessRuntime* const language = runtime();
  if (!language || !objects_) return;
  const runtime::ReadMemory read = reader();
  const runtime::ObjectMemory memory = {.read = read, .why = [this](uint64_t address) { return to_string(target_.memory().window(address).why); }};
  use(runtime::runtime_of(language->table.kind), {language->table, *objects_, memory});
}

std::vector<runtime::Variable> Stacks::variables(size_t thread, size_t index, const runtime::TextLimits& limits) {
  std::vector<runtime::Variable> out;
  reads_variables_ = limits;
  const std::vector<uint64_t>& frames = spliced(thread).language.frames;
  with_runtime([&](const runtime::Runtime& runtime, const runtime::StoppedRuntime& stopped) {
    if (runtime.variables) out = runtime.variables(stopped, frames[index / 2], limits);
  });
  return out;
}

std::optional<runtime::AsyncTasks> Stacks::tasks() {
  std::optional<runtime::AsyncTasks> out;
  reads_tasks_ = true;
  std::vector<runtime::LanguageStack> threads;
  for (size_t t = 0; t < target_.threads().size(); t++) threads.push_back(spliced(t).language);
  with_runtime([&](const runtime::Runtime& runtime, const runtime::StoppedRuntime& stopped) {
    if (!runtime.tasks) return;
    out = runtime.tasks(stopped, threads);
    for (const language_object& object : out->objects) codes_.add(0, object, stopped.table, stopped.memory.read);
  });
  return out;
}

Stacks::Asked Stacks::asked() const {
  if (spliced_.empty() || !runtime_ || codes_.show() == runtime::Show::native) return {};
  if (!objects_) return {.language = true};
  return {.language = true, .tasks = reads_tasks_, .variables = reads_variables_};
}

const Stacks::Spliced& Stacks::spliced(size_t thread) {
  spliced_.resize(target_.threads().size());
  if (spliced_[thread]) return *spliced_[thread];
  const unwind::Walk& walk = of(thread);
  Spliced& out = spliced_[thread].emplace();
  const runtime::ProcessRuntime* const language = runtime();
  if (language && runtime::runtime_of(language->table.kind).expand) {
    expand(walk, *language, out);
    return out;
  }
  if (language) walk_language(thread, out);
  if (out.language.words.empty()) {
    for (size_t f = 0; f < walk.frames.size(); f++) out.frames.push_back({false, f});
    return out;
  }
  std::vector<uint64_t> native;
  for (const unwind::Frame& f : walk.frames) native.push_back(f.registers.get(unwind::Registers::rip).value_or(0));
  out.frames = runtime::order_of({native, out.language.words, walk.end != UNWIND_COMPLETE}, *language, codes_.show());
  return out;
}

void Stacks::walk_again(const Asked& asked, const std::function<bool()>& has_time) {
  const runtime::Show show = codes_.show();
  walks_.clear(), spliced_.clear(), exact_.clear();
  codes_ = {};
  codes_.set_show(show);
  has_time_ = has_time;
  constexpr size_t most_variables = 100; // frames of a thread whose variables are read: the innermost
  for (size_t t = 0; t < target_.threads().size() && has_time(); t++) {
    const size_t frames = std::min(spliced(t).language.frames.size(), most_variables);
    for (size_t f = 0; asked.variables && f < frames && has_time(); f++) variables(t, 2 * f, *asked.variables);
  }
  if (asked.tasks && has_time()) tasks();
  has_time_ = {};
}

std::vector<uint64_t> Stacks::words_from(size_t thread, const std::function<bool(const runtime::SplicedFrame&)>& is_first) {
  const unwind::Walk& walk = of(thread);
  const Spliced& all = spliced(thread);
  std::vector<uint64_t> out;
  for (auto f = std::ranges::find_if(all.frames, is_first); f != all.frames.end(); ++f) {
    if (f->is_language)
      out.insert(out.end(), {all.language.words[f->index], all.language.words[f->index + 1]});
    else
      out.push_back(walk.frames[f->index].registers.get(unwind::Registers::rip).value_or(0));
  }
  return out;
}

std::vector<uint64_t> Stacks::words_from(size_t thread, size_t frame) {
  return words_from(thread, [&](const runtime::SplicedFrame& f) { return frame == 0 || (!f.is_language && f.index >= frame); });
}

std::vector<uint64_t> Stacks::words_from_language(size_t thread, size_t index) {
  return words_from(thread, [&](const runtime::SplicedFrame& f) { return f.is_language && f.index == index; });
}

symbol::Frame Stacks::language_frame(size_t thread, size_t index) {
  std::span<const uint64_t> words = std::span(spliced(thread).language.words).subspan(index, 2);
  return runtime::frame_of(codes_, {.entry = spec::take_entry(words)});
}

const Module* Stacks::runtime_module() { return runtime() ? runtime_module_ : nullptr; }

Registers Stacks::registers_of(size_t thread, const unwind::Frame& frame) {
  Registers out = target_.threads()[thread].registers; // segments: the thread's
  std::fill(out.begin() + general_registers, out.end(), 0);
  for (unsigned i = 0; i < places.size(); i++) out[places[i]] = frame.registers.get(i).value_or(0);
  return out;
}

} // namespace target
