// core dump core.17: process 17 `crash`, 3 threads
// command   ./crash 3
// signal    SIGSEGV in thread 17, address 0x8: nothing is mapped there
// message   free(): double free detected in tcache 2
//
// thread 17, which the signal ended
//    0  leaf+0x12 at /src/crash.c:7:12
//           p = 0x0, n = 5
//    1  main+0x20 at /src/crash.c:15:3
//
// 2 threads: 18, 19
//    0  …
//
// 100 goroutines 18, 19, …: waiting: chan receive
//    0  …
//
// heap      5 arenas, 47.8 MiB mapped: 600105 chunks are used (41.9 MiB), 1.0 MiB are free
//
// modules
//    0x55d0c1a3b000  /src/crash  1f00ab…
#include "snapshot/summary.h"

#include "base/counted.h"
#include "base/text.h"
#include "eval/engine.h"
#include "heap/report.h"
#include "probe/probe.h"
#include "probe/recipe_run.h"
#include "probe/user_values.h"
#include "report/context.h"
#include "report/json.h"
#include "report/number.h"
#include "report/target_names.h"
#include "report/text.h"
#include "snapshot/goroutines.h"
#include "snapshot/last_words.h"
#include "snapshot/line.h"
#include "unwind/reason.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace snapshot {

namespace {

constexpr size_t max_values = 64, longest_text = 60;

struct Stack {
  std::vector<size_t> threads;
  std::vector<Line> lines;
  std::string_view end; // why it is not complete; empty: it is
};

class Summary {
public:
  Summary(probe::StoppedProgram& stopped, bool with_heap, size_t most_frames)
      : with_heap_(with_heap), most_frames_(most_frames), stopped_(stopped), target_(stopped.target()), names_(target_, stopped.stacks()),
        engine_(program_), context_{program_, engine_, names_}, machine_(types_) {
    context_.options.memory = [this](uint64_t address, std::span<std::byte> to) {
      return target_.memory().read(address, to) == target::Missing::none;
    };
    machine_.stopped = &stopped;
  }

  std::string text() {
    std::string out = head();
    for (const Stack& s : stacks()) append(out, s);
    append_goroutines(out);
    if (with_heap_) out += heap::heap_totals(target_, false);
    append_modules(out);
    return out;
  }

  std::string json() {
    std::string out = "{";
    auto key = [&](std::string_view name) {
      if (out.back() != '{' && out.back() != '[') out += ", ";
      out += "\"" + std::string(name) + "\": ";
    };
    auto text = [&](std::string_view name, std::string_view value) {
      key(name);
      report::append_json(out, value);
    };
    text("target", target_.title());
    key("pid"), out += std::to_string(target_.pid());
    text("name", target_.name());
    text("command", target_.arguments());
    if (const target::Fault* f = target_.fault()) {
      text("signal", f->signal_name);
      key("thread"), out += std::to_string(target_.threads()[f->thread].id);
      if (f->address) text("address", hex(*f->address));
      if (!f->meaning.empty()) text("meaning", f->meaning);
      if (const std::string message = last_words(stopped_); !message.empty()) text("message", message);
    }
    key("stacks"), out += '[';
    for (const Stack& s : stacks()) {
      if (out.back() != '[') out += ", ";
      out += "{\"threads\": [";
      for (size_t t : s.threads) {
        if (out.back() != '[') out += ", ";
        out += std::to_string(target_.threads()[t].id);
      }
      out += "], \"frames\": [";
      for (const Line& l : s.lines) append_line_json(out, l);
      out += "]";
      if (!s.end.empty()) text("incomplete", s.end);
      out += "}";
    }
    out += "]";
    if (const auto found = find_goroutines(stopped_, types_)) {
      key("goroutines"), out += goroutines_json(*found);
      if (!found->problem.empty()) text("goroutines_not_known", found->problem);
      if (found->unreadable) key("goroutines_unreadable"), out += std::to_string(found->unreadable);
    }
    if (with_heap_) key("heap"), out += heap::heap_totals(target_, true);
    key("modules"), out += '[';
    for (const target::Module& m : target_.modules()) {
      if (out.back() != '[') out += ", ";
      out += "{";
      text("path", m.path);
      text("address", hex(m.begin));
      if (!m.build_id.empty()) text("build_id", format::to_hex(m.build_id));
      if (!m.problem.empty()) text("problem", m.problem);
      out += "}";
    }
    out += "]";
    key("problems"), out += '[';
    for (const std::string& p : target_.problems()) {
      if (out.back() != '[') out += ", ";
      report::append_json(out, p);
    }
    return out + "]}\n";
  }

  std::vector<Line> fault_stack() {
    const target::Fault* fault = target_.fault();
    if (!fault) return {};
    Stack out = make_stack(fault->thread, stopped_.stacks().of(fault->thread), frames_of(fault->thread), true);
    add_language_values(out);
    return std::move(out.lines);
  }

private:
  std::string thread_name(size_t t) const {
    const target::Thread& thread = target_.threads()[t];
    return std::to_string(thread.id) + (thread.name.empty() ? "" : " (" + base::printable(thread.name) + ")");
  }

  std::string head() {
    const std::string process = "process " + std::to_string(target_.pid());
    std::string out = base::printable(target_.title()); // of a live one that is all
    if (out != process) out += ": " + process;
    if (!target_.name().empty()) out += " " + base::quoted(base::printable(target_.name()));
    size_t n = target_.threads().size();
    out += ", " + base::counted(n, "thread") + "\n";
    if (!target_.arguments().empty()) out += "command   " + base::printable(target_.arguments()) + "\n";
    if (const target::Fault* f = target_.fault()) {
      out += "signal    " +
             (f->signal_name.empty() ? std::to_string(f->signal) : std::string(f->signal_name)) +
             " in thread " + std::to_string(target_.threads()[f->thread].id);
      if (f->address) out += ", address " + hex(*f->address);
      if (!f->meaning.empty()) out += ": " + std::string(f->meaning);
      if (f->sender) out += " by process " + std::to_string(f->sender);
      out += "\n";
      if (const std::string message = last_words(stopped_); !message.empty()) out += "message   " + base::printable(message) + "\n";
    }
    for (const std::string& p : target_.problems()) out += "problem   " + base::printable(p) + "\n";
    return out;
  }

  // Equal ones once, in the order of their first thread; the one that a signal ended stands alone.
  std::vector<Stack> stacks() {
    std::vector<Stack> out;
    std::map<std::vector<uint64_t>, size_t> known;
    const target::Fault* fault = target_.fault();
    for (size_t t = 0; t < target_.threads().size(); t++) {
      const unwind::Walk& walk = stopped_.stacks().of(t);
      bool is_crashed = fault && fault->thread == t;
      const Frames frames = frames_of(t);
      std::vector<uint64_t> key;
      for (const ShownFrame& f : frames) key.insert(key.end(), f.key.begin(), f.key.end());
      auto [at, is_new] = known.try_emplace(std::move(key), out.size());
      if (is_new || is_crashed) {
        at->second = is_crashed ? SIZE_MAX : out.size();
        if (is_crashed) known.erase(at);
        out.push_back(make_stack(t, walk, frames, is_crashed));
      } else {
        out[at->second].threads.push_back(t);
      }
    }
    for (Stack& s : out) add_language_values(s);
    return out;
  }

  // A native frame of a walk, or one of a language.
  struct ShownFrame {
    const unwind::Frame* native = nullptr;
    size_t index = 0;              // of the native one, or in the words of the thread's language frames
    std::array<uint64_t, 2> key;   // frames in one place have one: what is looked up, or the words of the entry
    bool is_language() const { return !native; }
  };
  using Frames = std::vector<ShownFrame>;

  static Frames native_frames(const unwind::Walk& walk) {
    Frames out;
    for (size_t f = 0; f < walk.frames.size(); f++) out.push_back({&walk.frames[f], f, {walk.frames[f].look_up(), 0}});
    return out;
  }

  Frames frames_of(size_t thread) {
    const unwind::Walk& walk = stopped_.stacks().of(thread);
    const target::Stacks::Spliced& spliced = stopped_.stacks().spliced(thread);
    Frames out;
    for (const runtime::SplicedFrame& f : spliced.frames) {
      if (f.is_language)
        out.push_back({.index = f.index, .key = {spliced.language.words[f.index], spliced.language.words[f.index + 1]}});
      else
        out.push_back({&walk.frames[f.index], f.index, {walk.frames[f.index].look_up(), 0}});
    }
    return out;
  }

  Stack make_stack(size_t thread, const unwind::Walk& walk, const Frames& frames, bool with_values) {
    Stack out{.threads = {thread},
              .lines = {},
              .end = walk.end == UNWIND_COMPLETE ? std::string_view() : unwind::reason_of(walk.end).text};
    size_t next = 0; // frame
    for (size_t f : shown_frames(frames)) {
      if (f != next) out.lines.push_back(frames_between(frames, next, f - next));
      if (frames[f].is_language())
        out.lines.push_back(language_line(names_.language_frame(frames[f].key), f, frames[f].index));
      else
        add_lines(out, thread, walk, frames[f].index, f, with_values);
      next = f + 1;
    }
    return out;
  }

  // All; of a deep stack not the calls in the middle of a recursion, and of what is still too much the innermost and the
  // outermost.
  std::vector<size_t> shown_frames(const Frames& frames) const {
    constexpr size_t longest_turn = 8, kept_turns = 3; // frames; at both ends
    std::vector<size_t> out;
    for (size_t f = 0; f < frames.size(); out.push_back(f++)) {
      for (size_t turn = 1; frames.size() > most_frames_ && turn <= longest_turn; turn++) {
        size_t end = f + turn;
        while (end < frames.size() && frames[end].key == frames[end - turn].key) end++;
        const size_t turns = (end - f) / turn;
        if (turns <= 2 * kept_turns + 1) continue;
        for (size_t i = 0; i < kept_turns * turn; i++) out.push_back(f++);
        f += (turns - 2 * kept_turns) * turn;
        for (size_t i = 0; i + 1 < kept_turns * turn; i++) out.push_back(f++); // but for the last one, see above
        break;
      }
    }
    if (out.size() > most_frames_)
      out.erase(out.end() - static_cast<ptrdiff_t>(out.size() - (most_frames_ - most_frames_ / 2)), out.end() - static_cast<ptrdiff_t>(most_frames_ / 2));
    return out;
  }

  // Those with one stack and state, those that are most first.
  struct Alike {
    std::string state;
    std::vector<uint64_t> ids;
    const unwind::Walk* walk = nullptr;
  };
  static std::vector<Alike> alike(const Goroutines& found) {
    std::map<std::pair<std::string, std::vector<uint64_t>>, Alike> by_stack;
    for (const Goroutine& g : found.all) {
      std::vector<uint64_t> key;
      for (const unwind::Frame& f : g.walk.frames) key.push_back(f.look_up());
      Alike& one = by_stack[{g.state, std::move(key)}];
      one.state = g.state, one.walk = &g.walk;
      one.ids.push_back(g.id);
    }
    std::vector<Alike> out;
    for (auto& [key, one] : by_stack) out.push_back(std::move(one));
    std::ranges::stable_sort(out, [](const Alike& a, const Alike& b) { return a.ids.size() > b.ids.size(); });
    return out;
  }

  void append_goroutines(std::string& out) {
    const auto found = find_goroutines(stopped_, types_);
    if (!found) return;
    if (!found->problem.empty()) out += "\ngoroutines not available: " + found->problem + "\n";
    if (found->unreadable) out += "\n" + report::grouped(found->unreadable) + " " + base::unit_of(found->unreadable, "goroutine") + " could not be read (memory not mapped)\n";
    constexpr size_t max_ids = 8, max_stacks = 100;
    const std::vector<Alike> groups = alike(*found);
    for (size_t i = 0; i < std::min(groups.size(), max_stacks); i++) {
      const Alike& one = groups[i];
      out += one.ids.size() == 1 ? "\ngoroutine " : "\n" + report::grouped(one.ids.size()) + " goroutines ";
      for (size_t n = 0; n < std::min(one.ids.size(), max_ids); n++) out += (n ? ", " : "") + std::to_string(one.ids[n]);
      out += one.ids.size() > max_ids ? ", …: " : ": ";
      out += one.state + "\n";
      const Stack stack = make_stack(0, *one.walk, native_frames(*one.walk), false);
      for (const Line& line : stack.lines) append_line(out, line);
      if (!one.walk->frames.empty() && !stack.end.empty()) out += "       (incomplete: " + std::string(stack.end) + ")\n";
    }
    if (groups.size() > max_stacks)
      out += "\n" + report::grouped(groups.size() - max_stacks) + " more " + base::unit_of(groups.size() - max_stacks, "stack") + " of goroutines omitted (--json shows all)\n";
  }

  std::string goroutines_json(const Goroutines& found) {
    std::string out = "[";
    for (const Alike& one : alike(found)) {
      out += out.size() > 1 ? ", {\"ids\": [" : "{\"ids\": [";
      for (uint64_t id : one.ids) out += (id == one.ids[0] ? "" : ", ") + std::to_string(id);
      out += "], \"state\": ";
      report::append_json(out, one.state);
      out += ", \"frames\": [";
      for (const Line& l : make_stack(0, *one.walk, native_frames(*one.walk), false).lines) append_line_json(out, l);
      out += "]}";
    }
    return out + "]";
  }

  std::string function_of(const ShownFrame& f) {
    return std::string(f.is_language() ? names_.language_frame(f.key).name : names_.function_at(f.native->look_up()).name);
  }

  Line frames_between(const Frames& frames, size_t first, size_t count) {
    std::map<std::array<uint64_t, 2>, std::pair<const ShownFrame*, size_t>> places; // of code
    for (size_t f = first; f < first + count; f++) {
      auto& place = places[frames[f].key];
      place.first = &frames[f], place.second++;
    }
    std::map<std::string, size_t> functions;
    for (const auto& [key, place] : places) functions[function_of(*place.first)] += place.second;
    const auto most = std::ranges::max_element(functions, {}, [](const auto& f) { return f.second; });
    return {.function = most->first, .left_out = count, .of_function = most->second};
  }

  void add_lines(Stack& to, size_t thread, const unwind::Walk& walk, size_t frame, size_t number, bool with_values) {
    uint64_t at = walk.frames[frame].look_up(),
             rip = *walk.frames[frame].registers.get(unwind::Registers::rip);
    const target::Module* module = target_.module_at(at);
    for (const symbol::Frame& f : names_.frames_at(rip, rip != at)) {
      Line line{.address = rip, .frame = number};
      line.kind = f.kind;
      line.function = f.name;
      line.module = f.module;
      line.offset = f.name.empty() ? f.module_address : f.offset;
      if (!f.file.empty()) line.place = std::string(f.file) + ":" + std::to_string(f.line);
      if (!f.file.empty() && f.column) line.place += ":" + std::to_string(f.column);
      if (with_values && module) add_values(line, thread, walk, frame, *module);
      to.lines.push_back(std::move(line));
    }
  }

  // Of language frames. Threads with one stack have values of their own each: those that differ are shown one after the other.
  void add_language_values(Stack& s) {
    constexpr size_t most_threads = 64; // of which values are read
    for (Line& line : s.lines)
      for (size_t t = 0; line.entry && t < std::min(s.threads.size(), most_threads); t++)
        for (runtime::Variable& v : stopped_.stacks().variables(s.threads[t], *line.entry, {}))
          if (v.is_set) add_language_value(line, v);
  }
  static void add_language_value(Line& line, runtime::Variable& v) {
    const auto known = std::ranges::find_if(line.values, [&](const Line::Value& value) { return value.name == v.name; });
    if (known == line.values.end()) {
      if (line.values.size() < max_values) line.values.push_back({std::move(v.name), std::move(v.text), v.is_argument});
    } else if (known->text != v.text && std::ranges::find(known->others, v.text) == known->others.end()) {
      known->others.push_back(std::move(v.text));
    }
  }

  // Arguments and variables of one function, as far as debug information tells.
  void add_values(Line& line, size_t thread, const unwind::Walk& walk, size_t frame,
                  const target::Module& module) {
    symbol::Binary* binary = stopped_.binary_of(module);
    if (!binary || !binary->debug_info()) return;
    probe::Event event{.kind = probe::Kind::frame};
    event.module = binary;
    event.bias = module.bias;
    event.address = walk.frames[frame].look_up() - module.bias;
    event.is_inlined = line.is_inlined();
    if (line.is_inlined()) {
      // Debug information has the name without namespaces.
      const std::string_view function = line.function;
      size_t colon = function.rfind("::");
      event.function = function.substr(colon == function.npos ? 0 : colon + 2);
      event.function = event.function.substr(0, event.function.find('('));
    } else if (auto f = binary->function_at(event.address)) {
      event.function = f->name;
      event.function_address = f->address;
    }
    event.has_vectors = frame == 0;
    event.callers = stopped_.find_callers(machine_, thread, frame);
    const std::vector<uint64_t> registers = stopped_.registers_of(thread, frame, event.callers.size());
    probe::UserValues& values = machine_.user_values(*binary);
    std::vector<std::string_view> seen;
    for (size_t i = 0, n = std::min(values.parameter_count(event), max_values); i < n; i++) {
      probe::UserValue v = values.parameter(event, i);
      if (v.name.empty()) continue;
      seen.push_back(v.name);
      line.values.push_back({std::string(v.name), value_text(v, registers, walk.frames[frame]), true});
    }
    for (std::string_view name : values.locals(event)) {
      if (line.values.size() >= max_values || std::find(seen.begin(), seen.end(), name) != seen.end())
        continue;
      line.values.push_back(
          {std::string(name), value_text(values.local(event, name), registers, walk.frames[frame])});
    }
  }

  std::string value_text(const probe::UserValue& v, std::span<const uint64_t> registers,
                         const unwind::Frame& frame) {
    if (!v) return "<" + (v.reason.empty() ? "not known" : v.reason.substr(0, v.reason.find(';'))) + ">";
    if (!v.type || !v.type->has_size) return "<its type has no values>";
    if (auto lost = lost_register(v.recipe, frame)) return "<its register was not saved: " + *lost + ">";
    constexpr size_t largest = 1 << 16;
    size_t size = std::min<size_t>(v.type->size, largest);
    auto bytes = probe::run_recipe(v.recipe, size, {std::as_bytes(registers), context_.options.memory});
    if (!bytes) return "<could not be read: not mapped>";
    std::string out = report::text_of(context_, *v.type, *bytes);
    if (v.is_reference) out = referred(*v.type, *bytes, largest).value_or(out);
    if (v.type->is(type::Kind::pointer) && v.type->element && v.type->element->is_integer() &&
        v.type->element->size == 1) {
      uint64_t at = 0;
      std::memcpy(&at, bytes->data(), std::min<size_t>(8, bytes->size()));
      if (auto text = at ? target_.memory().text(at, longest_text) : std::nullopt)
        out += " \"" + printable(*text) + "\"";
    }
    if (out.size() > longest_value) {
      size_t end = longest_value;
      while (end && (static_cast<unsigned char>(out[end]) & 0xc0) == 0x80) end--; // not within a character
      out = out.substr(0, end) + "…";
    }
    return out;
  }

  // What a reference of C++ refers to, as gdb shows it: `@0x7ffe10: [1,2]`; nothing where it cannot be read.
  std::optional<std::string> referred(const type::Type& pointer, report::Bytes bytes, size_t largest) {
    const type::Type* to = pointer.is(type::Kind::pointer) ? pointer.element : nullptr;
    if (!to || !to->has_size || !to->size || to->size > largest) return std::nullopt;
    const uint64_t at = report::load(bytes, 8);
    std::vector<std::byte> held(to->size);
    if (!context_.options.memory(at, held)) return std::nullopt;
    return "@" + hex(at) + ": " + report::text_of(context_, *to, held);
  }

  // A register that callers keep in a frame of theirs is known; others are lost at a call.
  static std::optional<std::string> lost_register(const probe::Recipe& recipe, const unwind::Frame& frame) {
    auto look = [&](const std::vector<probe::Step>& steps) -> std::optional<std::string> {
      for (const probe::Step& s : steps)
        for (const spec::Register& r : spec::x86_64.registers)
          if (s.op == probe::Step::reg && r.offset == s.value && r.dwarf >= 0 && !frame.registers.knows(static_cast<uint64_t>(r.dwarf)))
            return std::string(r.name);
      return std::nullopt;
    };
    if (auto lost = look(recipe.steps)) return lost;
    for (const probe::Piece& p : recipe.pieces_of)
      if (auto lost = look(p.steps)) return lost;
    return std::nullopt;
  }

  static std::string printable(std::string_view text) {
    std::string out;
    report::append_escaped(out, std::as_bytes(std::span(text)));
    return out;
  }

  void append(std::string& out, const Stack& s) {
    const target::Fault* fault = target_.fault();
    out += "\n";
    if (s.threads.size() == 1)
      out += "thread " + thread_name(s.threads[0]);
    else
      out += std::to_string(s.threads.size()) + " threads: ";
    for (size_t i = 0; s.threads.size() > 1 && i < s.threads.size(); i++)
      out += (i ? ", " : "") + thread_name(s.threads[i]);
    if (fault && s.threads.size() == 1 && s.threads[0] == fault->thread) out += ", terminated by the signal";
    out += "\n";
    for (const Line& line : s.lines) append_line(out, line);
    if (!s.end.empty()) out += "       (incomplete: " + std::string(s.end) + ")\n";
  }

  void append_modules(std::string& out) {
    if (target_.modules().empty()) return;
    out += "\nmodules\n";
    for (const target::Module& m : target_.modules()) {
      char address[32];
      std::snprintf(address, sizeof address, "  0x%012lx  ", m.begin);
      out += address + base::printable(m.path);
      if (!m.build_id.empty()) out += "  " + format::to_hex(m.build_id);
      out += "\n";
      if (m.state == target::Module::unverified)
        out += "      taken from " + base::printable(m.root + m.opened) + " (not verified: no build-id)\n";
      if (!m.problem.empty()) out += "      missing: " + base::printable(m.problem) + "\n";
    }
  }

  bool with_heap_;
  size_t most_frames_;
  probe::StoppedProgram& stopped_;
  target::Target& target_;
  report::TargetNames names_;
  ir::Program program_;
  eval::Engine engine_;
  report::Context context_;
  type::Table types_;
  probe::Machine machine_;
};

} // namespace

std::vector<Line> fault_stack(probe::StoppedProgram& stopped) { return Summary(stopped, false, SummaryOptions().most_frames).fault_stack(); }

std::string summarize(probe::StoppedProgram& stopped, const SummaryOptions& options) {
  Summary summary(stopped, options.with_heap, options.most_frames);
  return options.json ? summary.json() : summary.text();
}

} // namespace snapshot
