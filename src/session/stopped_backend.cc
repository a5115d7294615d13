// The engine of this process over a stopped program: which probe runs when, and what it sees.
//
// In the order of the script: oneshot probes; then, thread by thread, fault and thread probes; then the calls
// that the thread is in, the innermost first, each with the frame probes that name it.
#include "session/backend.h"

#include "eval/engine.h"
#include "probe/stopped_program.h"
#include "session/signals.h"
#include "target/heap.h"

#include <algorithm>
#include <optional>

namespace session {

namespace {

using probe::Kind;

class StoppedBackend : public Backend {
public:
  StoppedBackend(const ir::Program& program, probe::StoppedProgram& stopped, uint64_t step_budget)
      : program_(program), stopped_(stopped),
        engine_(program, {.step_budget = step_budget, .target = &stopped.target().memory(),
                          .memory_map = [this](ir::MemoryQuestion q, uint64_t a) { return ask_memory(q, a); },
                          .interrupted = signals::is_over}) {
    enter_process();
  }
  ir::Engine& engine() override { return engine_; }
  base::Status attach(uint32_t probe, const Refused&) override {
    return base::Error{base::Failure::usage, program_.probes[probe].name + ": " +
                                                 std::string(stopped_.target().title()) + " has no events"};
  }
  base::Status attach_more(uint32_t probe, std::span<const probe::Event* const>, std::span<const uint64_t>,
                           const Refused& refused) override {
    return attach(probe, refused);
  }
  base::Result<bool> step(uint32_t) override { return false; }
  void detach_file(std::string_view) override {}
  void detach() override {}
  int wait_fd() const override { return -1; }

  base::Status run_stopped(const std::function<bool()>& goes_on) override {
    enter_process();
    ACU_TRY(bool more, run_kind(Kind::oneshot, goes_on));
    if (!has(Kind::thread) && !has(Kind::fault) && !has(Kind::frame)) more = false;
    const target::Fault* fault = stopped_.target().fault();
    for (size_t t = 0; more && t < stopped_.target().threads().size(); t++) {
      const unwind::Walk* walk = has(Kind::frame) || program_.uses_stacks ? &stopped_.stacks().of(t) : nullptr;
      enter_thread(t, walk, 0);
      if (fault && fault->thread == t) {
        ACU_TRY(more, run_kind(Kind::fault, goes_on));
      }
      if (more) {
        ACU_TRY(more, run_kind(Kind::thread, goes_on));
      }
      if (!has(Kind::frame)) continue;
      ACU_TRY(more, run_calls(t, *walk, goes_on));
    }
    enter_process();
    return {};
  }

private:
  // Found out when it is first asked for.
  uint64_t ask_memory(ir::MemoryQuestion question, uint64_t address) {
    if (!heap_) {
      stopped_.target().read_writable();
      heap_ = target::find_heap(stopped_.target());
      for (const target::Window& w : stopped_.target().writable())
        if (stopped_.target().module_at(w.begin)) areas_.push_back({w.begin, w.begin + w.size});
    }
    using enum ir::MemoryQuestion;
    const std::vector<target::Chunk>& chunks = heap_->chunks;
    switch (question) {
    case chunk:
    case chunk_size: {
      const target::Chunk* c = heap_->find(address);
      if (!c || c->state != target::Chunk::used) return 0;
      return question == chunk ? c->address : c->size;
    }
    case next_chunk: {
      auto at = std::upper_bound(chunks.begin(), chunks.end(), address,
                                 [](uint64_t a, const target::Chunk& c) { return a < c.address; });
      while (at != chunks.end() && at->state != target::Chunk::used) at++;
      return at != chunks.end() ? at->address : 0;
    }
    case next_area:
    case area_end: {
      auto at = std::upper_bound(areas_.begin(), areas_.end(), address,
                                 [](uint64_t a, target::Range r) { return a < r.end; });
      if (at == areas_.end()) return 0;
      return question == next_area ? at->begin : address >= at->begin ? at->end : 0;
    }
    }
    return 0;
  }

  bool has(Kind kind) const {
    for (const probe::Event& e : program_.events)
      if (e.kind == kind) return true;
    return false;
  }

  // Runs the probes of a kind; false: that was enough.
  base::Result<bool> run_kind(Kind kind, const std::function<bool()>& goes_on) {
    for (uint32_t i = 0; i < program_.probes.size(); i++) {
      if (program_.events[program_.probes[i].events.front()].kind != kind) continue;
      ACU_CHECK(engine_.run(i));
      if (!goes_on()) return false;
    }
    return true;
  }

  bool has_language_frames() const {
    return std::ranges::any_of(program_.events, [](const probe::Event& e) { return e.language.has_value(); });
  }

  // Native calls, and those of a language in their places among them.
  base::Result<bool> run_calls(size_t thread, const unwind::Walk& walk, const std::function<bool()>& goes_on) {
    bool more = true;
    size_t next = 0; // native frame
    const auto run_up_to = [&](size_t end) -> base::Status {
      while (more && next < end) {
        ACU_TRY(more, run_call(thread, walk, next++, goes_on));
      }
      return {};
    };
    if (has_language_frames())
      for (const runtime::SplicedFrame& f : stopped_.stacks().spliced(thread).frames) {
        if (!more) break;
        if (f.is_language) {
          ACU_TRY(more, run_language_call(thread, f.index, goes_on));
        } else {
          ACU_CHECK(run_up_to(f.index + 1));
        }
      }
    ACU_CHECK(run_up_to(walk.frames.size()));
    return more;
  }

  base::Result<bool> run_language_call(size_t thread, size_t index, const std::function<bool()>& goes_on) {
    for (uint32_t i = 0; i < program_.probes.size(); i++)
      for (uint32_t e : program_.probes[i].events) {
        const auto& language = program_.events[e].language;
        if (!language || language->thread != thread || language->index != index) continue;
        enter_thread(thread, nullptr, 0, stopped_.stacks().words_from_language(thread, index));
        ACU_CHECK(engine_.run(i));
        if (!goes_on()) return false;
      }
    return true;
  }

  // Runs the frame probes of the call whose code a frame is in, once for each function inlined there that is
  // meant as well.
  base::Result<bool> run_call(size_t thread, const unwind::Walk& walk, size_t frame,
                              const std::function<bool()>& goes_on) {
    uint64_t address = walk.frames[frame].look_up();
    const target::Module* m = stopped_.target().module_at(address);
    symbol::Binary* binary = m ? stopped_.binary_of(*m) : nullptr;
    if (!binary) return true;
    bool is_entered = false;
    for (uint32_t i = 0; i < program_.probes.size(); i++)
      for (uint32_t e : program_.probes[i].events) {
        const probe::Event& event = program_.events[e];
        if (event.kind != Kind::frame || event.language || event.module != binary || event.address != address - m->bias)
          continue;
        if (event.callers != stopped_.callers(thread, frame)) continue;
        if (!is_entered) enter_thread(thread, &walk, frame);
        is_entered = true;
        ACU_CHECK(engine_.run(i));
        if (!goes_on()) return false;
      }
    return true;
  }

  eval::Thread process() const {
    const target::Target& t = stopped_.target();
    return {.pid = t.pid(), .id = t.pid(), .user = t.user(), .group = t.group(), .name = t.name()};
  }
  void enter_process() { engine_.set_thread(process()); }

  void enter_thread(size_t thread, const unwind::Walk* walk, size_t frame, std::vector<uint64_t> stack = {}) {
    const target::Thread& t = stopped_.target().threads()[thread];
    eval::Thread now = process();
    now.id = t.id;
    if (!t.name.empty()) now.name = t.name;
    const size_t above = stopped_.callers(thread, frame).size();
    if (above || (frame && walk))
      registers_ = stopped_.registers_of(thread, frame, above);
    else
      registers_.assign(t.registers.begin(), t.registers.end());
    now.context = std::as_bytes(std::span(registers_));
    stack_ = walk ? stopped_.stacks().words_from(thread, frame) : std::move(stack);
    now.stack = stack_;
    engine_.set_thread(now);
  }

  const ir::Program& program_;
  probe::StoppedProgram& stopped_;
  eval::Engine engine_;
  std::vector<uint64_t> registers_; // of the frame; then of those above it that its values depend on
  std::vector<uint64_t> stack_;
  std::optional<target::Heap> heap_;
  std::vector<target::Range> areas_; // of variables, by address
};

} // namespace

std::unique_ptr<Backend> make_stopped_backend(const ir::Program& program, probe::StoppedProgram& stopped,
                                            uint64_t step_budget) {
  return std::make_unique<StoppedBackend>(program, stopped, step_budget);
}

} // namespace session
