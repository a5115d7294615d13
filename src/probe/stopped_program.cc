// oneshot, thread, frame("FUNCTION"), fault: probes of a stopped program. Nothing is attached: the
// session goes over threads and calls.
#include "probe/stopped_program.h"

#include "probe/kinds.h"
#include "probe/recipe_run.h"
#include "probe/user_values.h"
#include "symbol/source_names.h"

#include "base/text.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <tuple>

namespace probe {

// ------------------------------------------------------------------------------------------- binaries

symbol::Binary* StoppedProgram::binary_of(const target::Module& module) {
  auto [at, is_new] = binaries_.try_emplace(&module);
  if (is_new && module.file && !module.opened.starts_with('[')) {
    auto opened = symbol::Binary::open(
        {.name = module.path, .path = module.opened, .search = target_.debug_search(module), .inner = {}});
    if (opened.ok()) at->second = std::move(*opened);
  }
  return at->second.get();
}

symbol::Binary* StoppedProgram::program() {
  for (const target::Module& m : target_.modules())
    if (m.is_program) return binary_of(m);
  return nullptr;
}

std::span<symbol::Binary* const> StoppedProgram::binaries() {
  if (!in_order_.empty()) return in_order_;
  for (bool is_program : {true, false})
    for (const target::Module& m : target_.modules())
      if (symbol::Binary* b = m.is_program == is_program ? binary_of(m) : nullptr) in_order_.push_back(b);
  return in_order_;
}

std::optional<uint64_t> StoppedProgram::bias_of(const symbol::Binary& binary) const {
  for (const auto& [module, opened] : binaries_)
    if (opened.get() == &binary) return module->bias;
  return std::nullopt;
}

// "libssl.so.3" is called "libssl" and "ssl", too.
static bool is_called(std::string_view path, std::string_view name) {
  if (path == name) return true;
  std::string_view last = path.substr(path.rfind('/') + 1);
  if (name.find('/') != name.npos) return path.ends_with(name) && path[path.size() - name.size() - 1] == '/';
  if (base::has_glob(name)) return base::glob_match(name, last);
  std::string library = std::string(name) + ".so";
  auto begins = [&](std::string_view with) {
    return last.starts_with(with) && (last.size() == with.size() || last[with.size()] == '.');
  };
  return last == name || begins(library) || begins("lib" + library);
}

base::Result<std::vector<symbol::Binary*>> StoppedProgram::find(std::string_view name) {
  std::vector<symbol::Binary*> out;
  const target::Module* lacking = nullptr;
  for (const target::Module& m : target_.modules()) {
    if (name.empty() ? !m.is_program : !is_called(m.path, name)) continue;
    if (symbol::Binary* b = binary_of(m))
      out.push_back(b);
    else
      lacking = &m;
  }
  if (!out.empty()) return out;
  if (lacking)
    return base::Error{base::Failure::runtime, lacking->path + " cannot be used: " + lacking->problem};
  std::vector<std::string_view> names;
  for (const target::Module& m : target_.modules())
    names.push_back(std::string_view(m.path).substr(m.path.rfind('/') + 1));
  std::string_view near = base::nearest(name, names);
  return base::Error{base::Failure::nothing_matched,
                     name.empty()
                         ? "the main program of " + std::string(target_.title()) + " is not known"
                         : "there is no " + base::quoted(name) + " in " + std::string(target_.title()) +
                               (near.empty() ? "" : "; did you mean " + base::quoted(near) + "?")};
}

// ------------------------------------------------------------------------------------------- callers

static constexpr size_t most_callers = 8; // that one value is followed through

const std::vector<Caller>& StoppedProgram::callers(size_t thread, size_t frame) const {
  static const std::vector<Caller> none;
  auto at = callers_.find({thread, frame});
  return at != callers_.end() ? at->second : none;
}

std::vector<uint64_t> StoppedProgram::registers_of(size_t thread, size_t frame, size_t above) {
  const std::vector<unwind::Frame>& frames = stacks_.of(thread).frames;
  std::vector<uint64_t> out;
  for (size_t f = frame; f <= frame + above && f < frames.size(); f++) {
    const target::Registers one =
        f ? stacks_.registers_of(thread, frames[f]) : target_.threads()[thread].registers;
    out.insert(out.end(), one.begin(), one.end());
  }
  return out;
}

const std::vector<Caller>& StoppedProgram::find_callers(Machine& machine, size_t thread, size_t frame) {
  static_assert(sizeof(target::Registers) == stopped_registers);
  if (const std::vector<Caller>& known = callers(thread, frame); !known.empty()) return known;
  const std::vector<unwind::Frame>& frames = stacks_.of(thread).frames;
  uint64_t address = frames[frame].look_up();
  const target::Module* m = target_.module_at(address);
  symbol::Binary* binary = m ? binary_of(*m) : nullptr;
  if (!binary || !machine.user_values(*binary).asks_callers(address - m->bias)) return callers(thread, frame);
  std::vector<Caller> out;
  for (size_t f = frame + 1; f < frames.size() && out.size() < most_callers; f++) {
    if (frames[f - 1].is_signal || frames[f].is_exact) break; // interrupted, not called
    address = frames[f].look_up();
    m = target_.module_at(address);
    binary = m ? binary_of(*m) : nullptr;
    if (!binary) break;
    Event event{.kind = Kind::frame};
    event.module = binary;
    event.bias = m->bias;
    event.address = address - m->bias;
    Caller caller{binary, &machine.user_values(*binary), m->bias, event.address + 1, 0, std::nullopt};
    for (unsigned i = 0; i < unwind::Registers::count; i++)
      if (frames[f].registers.knows(i)) caller.known |= 1u << i;
    const UserValues::CallSite& site = caller.values->call_site(event);
    if (!site.is_known) break;
    if (site.target.kind != Recipe::none) {
      const std::vector<uint64_t> registers = registers_of(thread, f, 0);
      auto read = [&](uint64_t at, std::span<std::byte> to) {
        return target_.memory().read(at, to) == target::Missing::none;
      };
      auto bytes = run_recipe(site.target, 8, {std::as_bytes(std::span(registers)), read});
      uint64_t called = 0;
      if (bytes) std::memcpy(&called, bytes->data(), 8), caller.called = called;
    }
    out.push_back(caller);
    if (!site.asks_callers) break;
  }
  if (out.empty()) return callers(thread, frame);
  return callers_[{thread, frame}] = std::move(out);
}

// ------------------------------------------------------------------------------- frames of a language

const std::vector<runtime::Variable>& StoppedProgram::variables(const Event::LanguageFrame& frame) {
  // As much as fits a string of scripts.
  constexpr runtime::TextLimits limits = {.characters = 1000, .elements = 100, .depth = 6, .is_plain = true, .length = 1000};
  const auto [at, is_new] = variables_.try_emplace({frame.thread, frame.index});
  if (is_new) at->second = stacks_.variables(frame.thread, frame.index, limits);
  return at->second;
}

const runtime::Variable* StoppedProgram::variable(const Event::LanguageFrame& frame, std::string_view name, bool is_argument) {
  for (const runtime::Variable& v : variables(frame))
    if (v.name == name && (v.is_argument || !is_argument)) return &v;
  return nullptr;
}

namespace {

// ---------------------------------------------------------------------------------------------- match

std::vector<Event> refuse(Mismatch& mismatch, std::string message, std::string hint = {}) {
  mismatch = {Mismatch::missing, std::move(message), std::move(hint)};
  return {};
}

bool may_follow(Mismatch& mismatch, std::string_view name, Parts parts) {
  if (parts.size() == 1) return true;
  malformed(mismatch, name, "`" + join(parts) + "`: nothing may follow `" + std::string(name) + "`");
  return false;
}

Event event_of(Kind kind, std::string name) {
  Event e{.kind = kind, .name = name};
  e.provider = name.substr(0, name.find('('));
  return e;
}

void put_into(Event& e, StoppedProgram& stopped, symbol::Binary* binary) {
  if (!binary) return;
  e.bias = stopped.bias_of(*binary);
  e.module = binary;
  e.binary = binary->host_path();
}

std::vector<Event> match_oneshot(Machine& machine, Parts parts, Mismatch& mismatch) {
  if (!may_follow(mismatch, "oneshot", parts)) return {};
  Event e = event_of(Kind::oneshot, "oneshot");
  put_into(e, *machine.stopped, machine.stopped->program());
  return {e};
}

std::vector<Event> match_thread(Machine& machine, Parts parts, Mismatch& mismatch) {
  if (!may_follow(mismatch, "thread", parts)) return {};
  if (machine.stopped->target().threads().empty())
    return refuse(mismatch, std::string(machine.stopped->target().title()) + " has no registers of threads");
  Event e = event_of(Kind::thread, "thread");
  put_into(e, *machine.stopped, machine.stopped->program());
  return {e};
}

// Where a frame's code is.
void place_at(Event& e, StoppedProgram& stopped, uint64_t address) {
  const target::Module* m = stopped.target().module_at(address);
  symbol::Binary* binary = m ? stopped.binary_of(*m) : nullptr;
  if (!binary) return;
  put_into(e, stopped, binary);
  e.address = address - m->bias;
  if (auto f = binary->function_at(e.address)) {
    e.function = f->name;
    e.function_address = f->address;
  }
}

std::vector<Event> match_fault(Machine& machine, Parts parts, Mismatch& mismatch) {
  if (!may_follow(mismatch, "fault", parts)) return {};
  StoppedProgram& stopped = *machine.stopped;
  const target::Fault* fault = stopped.target().fault();
  if (!fault)
    return refuse(mismatch,
                  std::string(stopped.target().title()) + " was not ended by a signal: it has no `fault`",
                  "`thread` is every thread");
  Event e = event_of(Kind::fault, "fault");
  const unwind::Walk& walk = stopped.stacks().of(fault->thread);
  if (!walk.frames.empty()) {
    place_at(e, stopped, walk.frames[0].look_up());
    e.has_vectors = true;
    e.callers = stopped.find_callers(machine, fault->thread, 0);
  }
  if (!e.module) put_into(e, stopped, stopped.program());
  return {e};
}

// The functions that are called at a place of a binary, by all their names.
class Calls {
public:
  Calls(Machine& machine, std::string_view wanted) : machine_(machine), wanted_(wanted), source_(wanted_) {}

  // What the frame at this address is of, if it is wanted: its own function, or one inlined there.
  void add(std::vector<Event>& to, size_t thread, size_t frame) {
    StoppedProgram& stopped = *machine_.stopped;
    Event e = event_of(Kind::frame, "frame(\"" + wanted_ + "\")");
    place_at(e, stopped, stopped.stacks().of(thread).frames[frame].look_up());
    if (!e.module) return;
    if (!is_called_so(e)) return;
    e.has_vectors = frame == 0;
    e.callers = stopped.find_callers(machine_, thread, frame);
    if (!seen_.insert({e.module, e.address, e.callers}).second) return;
    // Innermost first; the last is the function itself.
    std::vector<std::string_view> functions = machine_.user_values(*e.module).functions_at(e.address);
    for (size_t i = 0; i + 1 < functions.size(); i++) {
      if (!is_wanted(functions[i], functions[i])) continue;
      Event inlined = e;
      inlined.function = functions[i];
      inlined.is_inlined = true;
      to.push_back(inlined);
      break;
    }
    bool is_own = is_wanted(e.function, e.module->shown(e.function)) ||
                  (!functions.empty() && is_wanted(functions.back(), functions.back()));
    if (is_own) to.push_back(e);
  }

private:
  // Any of the functions at a place of code is wanted.
  bool is_called_so(const Event& e) {
    auto [at, is_new] = wanted_at_.try_emplace({e.module, e.address}, false);
    if (!is_new) return at->second;
    at->second = is_wanted(e.function, e.module->shown(e.function));
    for (std::string_view f : machine_.user_values(*e.module).functions_at(e.address))
      at->second |= is_wanted(f, f);
    return at->second;
  }
  bool is_wanted(std::string_view name, std::string_view shown) const {
    if (base::has_glob(wanted_)) return base::glob_match(wanted_, name) || base::glob_match(wanted_, shown);
    if (name.empty()) return false;
    return name == wanted_ || shown == wanted_ ||
           (shown.find_first_of("(:<") != shown.npos && source_.matches(shown));
  }

  Machine& machine_;
  std::string wanted_;
  symbol::SourceName source_;
  std::set<std::tuple<symbol::Binary*, uint64_t, std::vector<Caller>>> seen_;
  std::map<std::pair<symbol::Binary*, uint64_t>, bool> wanted_at_;
};

constexpr std::string_view python_prefix = "py:";

// Functions of Python have qualified names (`Catalog.search`) from 3.11 on; what is behind the last dot is enough.
bool is_python_name(std::string_view wanted, std::string_view name) {
  const std::string_view plain = name.substr(name.rfind('.') + 1);
  return base::glob_match(wanted, name) || base::glob_match(wanted, plain);
}

std::vector<Event> match_python_frame(StoppedProgram& stopped, const std::string& text, Mismatch& mismatch) {
  const std::string_view wanted = std::string_view(text).substr(python_prefix.size());
  if (wanted.empty()) return malformed(mismatch, "frame", "`frame(\"py:\")` needs the name of a function");
  target::Stacks& stacks = stopped.stacks();
  const target::Module* module = stacks.runtime_module();
  std::vector<Event> out;
  std::vector<std::string_view> names;
  for (size_t t = 0; module && t < stopped.target().threads().size(); t++)
    for (const runtime::SplicedFrame& f : stacks.spliced(t).frames) {
      const symbol::Frame frame = f.is_language ? stacks.language_frame(t, f.index) : symbol::Frame();
      if (frame.kind != spec::FrameKind::python) continue;
      const std::string_view name = names.emplace_back(frame.name);
      if (!is_python_name(wanted, name)) continue;
      Event& e = out.emplace_back(event_of(Kind::frame, "frame(\"" + text + "\")"));
      put_into(e, stopped, stopped.binary_of(*module));
      e.function = name;
      e.language = {t, f.index};
    }
  if (!out.empty()) return out;
  if (names.empty()) return refuse(mismatch, std::string(stopped.target().title()) + " has no frames of Python that are known");
  const std::string_view near = base::nearest(wanted, names);
  return refuse(mismatch, "no thread is in a call of the Python function " + base::quoted(wanted),
                near.empty() ? "`thread { print(ustack); }` shows where they are" : "did you mean `py:" + std::string(near) + "`?");
}

std::vector<Event> match_frame(Machine& machine, Parts parts, Mismatch& mismatch) {
  std::string name = parts.size() > 1 ? join(parts.subspan(1)) : std::string();
  if (name.empty()) return malformed(mismatch, "frame", "`frame` needs the name of a function");
  StoppedProgram& stopped = *machine.stopped;
  if (name.starts_with(python_prefix)) return match_python_frame(stopped, name, mismatch);
  Calls calls(machine, name);
  std::vector<Event> out;
  for (size_t t = 0; t < stopped.target().threads().size(); t++)
    for (size_t f = 0; f < stopped.stacks().of(t).frames.size(); f++) calls.add(out, t, f);
  if (!out.empty()) return out;
  return refuse(
      mismatch, "no thread is in a call of `" + name + "`",
      "`thread { print(ustack); }` shows where they are; to go on without, config = { missing_probes = "
      "\"warn\" }");
}

// --------------------------------------------------------------------------------- arguments, access

Context choose_registers(Machine&, const Event&, Fields) { return Context::registers; }
Context choose_none(Machine&, const Event&, Fields) { return Context::none; }

const type::Type* arguments_of_call(Machine& machine, Event& event) {
  if (!event.args && event.module && !event.language) event.args = machine.user_values(*event.module).parameters(event);
  return event.args;
}

Access access_parameter(Machine& machine, const Event& event, Context, std::string_view field) {
  Access out{.kind = Access::computed};
  UserValue v = machine.user_values(*event.module).parameter(event, field);
  out.recipe = std::move(v.recipe);
  out.reason = std::move(v.reason);
  return out;
}

} // namespace

constinit const KindFunctions oneshot_kind{
    .match = match_oneshot,
    .list = found_by_match,
    .choose_context = choose_none,
    .attach = run_by_acu,
};
constinit const KindFunctions thread_kind{
    .match = match_thread,
    .list = found_by_match,
    .choose_context = choose_registers,
    .attach = run_by_acu,
};
constinit const KindFunctions frame_kind{
    .match = match_frame,
    .list = found_by_match,
    .arguments = arguments_of_call,
    .choose_context = choose_registers,
    .access = access_parameter,
    .attach = run_by_acu,
};
constinit const KindFunctions fault_kind{
    .match = match_fault,
    .list = found_by_match,
    .arguments = arguments_of_call,
    .choose_context = choose_registers,
    .access = access_parameter,
    .attach = run_by_acu,
};

} // namespace probe
