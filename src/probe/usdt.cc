// usdt:BINARY:[NAMESPACE:]PROBE: the points that the authors of a program marked in it (format/usdt.h).
//
// A probe may stand in several places of the code, where compilers keep its arguments differently: each place
// is an event of its own. Its counter, if it has one, is raised by the kernel in every process that has the
// file mapped, and in those that map it later, for as long as the probe is attached.
#include "format/elf_file.h"
#include "format/load_bias.h"
#include "format/usdt.h"
#include "probe/kinds.h"
#include "probe/uprobe.h"
#include "spec/arch.h"
#include "symbol/binaries.h"
#include "symbol/instructions.h"
#include "symbol/module.h"

#include "base/text.h"

#include <algorithm>
#include <elf.h>
#include <set>

namespace probe {

using format::UsdtNote;
using format::UsdtOperand;
using symbol::Binary;

// ------------------------------------------------------------------------------------------------- match

namespace {

// How probes are asked for; parts may be patterns.
struct Wanted {
  std::string_view binary, provider, name;
};

std::string counter_is_missing(const Binary& binary, const UsdtNote& note) {
  return "the counter of " + std::string(note.provider) + ":" + std::string(note.name) +
         " does not stand in " + binary.name() + ": the program may pass over this probe";
}

// The kernel looks for the counter of a program that starts by its offset in the file, and takes the first
// writable memory that is mapped from there.
bool may_be_counted_elsewhere(const Event& event) {
  if (!event.counter_offset || event.module->is_in_archive()) return false;
  const auto segments = format::segments_of_page(event.module->file().elf().segments(), event.counter_offset);
  return std::ranges::count_if(segments, [](const format::ElfSegment* s) { return s->flags & PF_W; }) > 1;
}

void warn_of_counters(const std::vector<Event>& events, Mismatch& mismatch) {
  const auto found = std::ranges::find_if(events, may_be_counted_elsewhere);
  if (found == events.end()) return;
  mismatch.warnings.push_back(
      found->module->name() + " may pass over " + found->category + ":" + found->event +
      " in processes that start after the probe is attached: its linker (lld, mold) put the probe's "
      "counter into a page that the kernel takes for another; running processes are not affected");
}

Event make_event(Binary& binary, const UsdtNote& note, uint64_t offset, std::string_view typed, Mismatch& mismatch) {
  Event e{.kind = Kind::usdt, .provider = "usdt"};
  e.name = "usdt:" + shown_path(typed, binary) + ":" + std::string(note.provider) + ":" + std::string(note.name);
  e.category = note.provider;
  e.event = note.name;
  e.binary = binary.host_path();
  e.module = &binary;
  e.address = note.address;
  e.file_offset = offset;
  e.operands = note.arguments;
  if (!note.counter) return e;
  if (auto counter = binary.offset_of_address(note.counter))
    e.counter_offset = *counter;
  else
    mismatch.warnings.push_back(counter_is_missing(binary, note));
  return e;
}

constexpr uint64_t longest_instruction = 15; // bytes

// Probes are put on nops of one byte, or of five: those have a danger of their own.
bool is_safe(Machine& machine, Binary& binary, Event& event) {
  if (!symbol::is_nop5(binary.code_at(event.address, longest_instruction))) return true;
  auto function = binary.function_at(event.address);
  return avoid_red_zone(machine, binary, function ? &*function : nullptr, event);
}

void add_events(Machine& machine, Binary& binary, const Wanted& wanted, std::vector<Event>& to, Mismatch& mismatch) {
  std::vector<Event> found;
  for (const UsdtNote& note : format::read_usdt(binary.file())) {
    if (!base::glob_match(wanted.provider, note.provider) || !base::glob_match(wanted.name, note.name))
      continue;
    std::string place = "left out: a place of " + std::string(note.provider) + ":" + std::string(note.name);
    auto offset = binary.offset_of_address(note.address);
    if (!offset || binary.code_at(note.address, 1).empty()) {
      mismatch.warnings.push_back(place + " that is not in the code of " + binary.name());
      continue;
    }
    Event event = make_event(binary, note, *offset, wanted.binary, mismatch);
    if (symbol::is_refused(binary.code_at(event.address, longest_instruction)))
      mismatch.warnings.push_back(place + ": the kernel can't carry out a probe on the instruction there");
    else if (is_safe(machine, binary, event))
      found.push_back(std::move(event));
    else
      mismatch.warnings.push_back(place +
                                  ": this kernel would replace its nop by a call, which may overwrite "
                                  "variables of the function");
  }
  auto before = [](const Event& a, const Event& b) {
    return std::tie(a.name, a.address) < std::tie(b.name, b.address);
  };
  std::sort(found.begin(), found.end(), before);
  // Functions that were compiled twice at one place leave two notes.
  auto same = [](const Event& a, const Event& b) { return a.name == b.name && a.address == b.address; };
  found.erase(std::unique(found.begin(), found.end(), same), found.end());
  to.insert(to.end(), std::move_iterator(found.begin()), std::move_iterator(found.end()));
}

// "PATH has no", "process 17 has no", …
std::string who_has_none(const std::vector<Binary*>& binaries, const Wanted& wanted, int pid) {
  if (binaries.size() == 1) return binaries.front()->name() + " has no";
  if (wanted.binary != "*") return base::quoted(wanted.binary) + " has no";
  return pid > 0 ? "process " + std::to_string(pid) + " has no" : "no running program has";
}

// Nothing in `binaries` is called so: what is, and what is near.
void tell_missing(const std::vector<Binary*>& binaries, const Wanted& wanted, int pid, Mismatch& mismatch) {
  std::set<std::string> providers, names;
  bool has_provider = false;
  for (Binary* binary : binaries)
    for (const UsdtNote& note : format::read_usdt(binary->file())) {
      providers.emplace(note.provider);
      bool fits = base::glob_match(wanted.provider, note.provider);
      has_provider |= fits;
      if (fits) names.emplace(note.name);
    }
  const std::string none = who_has_none(binaries, wanted, pid);
  if (providers.empty()) {
    mismatch.message = none + " USDT probes";
    if (binaries.size() == 1)
      mismatch.hint =
          "its functions can be probed: see `acu list 'uprobe:" + std::string(wanted.binary) + ":*'`";
    return;
  }
  auto nearest = [](std::string_view word, const std::set<std::string>& in) {
    return std::string(base::nearest(word, std::vector<std::string_view>(in.begin(), in.end())));
  };
  std::string near = nearest(has_provider ? wanted.name : wanted.provider, has_provider ? names : providers);
  if (has_provider)
    mismatch.message =
        none + (none.ends_with(" no") ? " USDT probe " : " a USDT probe ") + base::quoted(wanted.name) +
        (wanted.provider == "*" ? std::string() : " in the namespace " + base::quoted(wanted.provider));
  else
    mismatch.message = none + " USDT probes of the namespace " + base::quoted(wanted.provider);
  mismatch.hint = near.empty() ? "`acu list 'usdt:" + std::string(wanted.binary) + ":*'` shows what there is"
                               : "did you mean `" + near + "`?";
}

// Without a namespace the name has to be in one only.
bool is_ambiguous(const std::vector<Event>& events, const Wanted& wanted, Mismatch& mismatch) {
  std::set<std::string_view> providers;
  for (const Event& e : events) providers.insert(e.category);
  if (providers.size() < 2) return false;
  std::string all;
  for (std::string_view p : providers) all += (all.empty() ? "`" : ", `") + std::string(p) + "`";
  std::string form = "usdt:" + std::string(wanted.binary) + ":";
  mismatch.kind = Mismatch::malformed;
  mismatch.message = "`" + std::string(wanted.name) + "` is in the namespaces " + all;
  mismatch.hint = "write `" + form + std::string(*providers.begin()) + ":" + std::string(wanted.name) +
                  "`, or `" + form + "*:" + std::string(wanted.name) + "` for all";
  return true;
}

} // namespace

// `*` is everything that the traced process has mapped; without one, everything that any process has.
static base::Result<std::vector<Binary*>> find_binaries(Machine& machine, std::string_view name) {
  if (name == "*" && machine.pid() <= 0) return machine.binaries().find_running();
  return machine.binaries().find(name);
}

static std::vector<Event> match_usdt(Machine& machine, Parts parts, Mismatch& mismatch) {
  bool all = parts.size() == 2 && parts[1] == "*";
  bool complete = (parts.size() == 3 || parts.size() == 4) && !parts.back().empty();
  if (!all && !complete)
    return malformed(mismatch, "usdt", "`" + join(parts) + "` must name a program or library and a probe");
  // An empty namespace stands for any, `usdt:::NAME` for any file, too.
  const bool any_namespace = parts.size() != 4 || parts[2].empty();
  const bool any_file = parts.size() == 4 && parts[1].empty() && parts[2].empty();
  Wanted wanted{any_file ? "*" : parts[1], any_namespace ? "*" : parts[2], all ? "*" : parts.back()};
  mismatch = {};
  auto binaries = find_binaries(machine, wanted.binary);
  if (!binaries.ok()) {
    mismatch = {Mismatch::missing, std::move(binaries.error().message), ""};
    mismatch.denied = binaries.error().kind == base::Failure::permission;
    return {};
  }
  std::vector<Event> out;
  for (Binary* binary : *binaries) add_events(machine, *binary, wanted, out, mismatch);
  if (machine.pid() <= 0) warn_of_counters(out, mismatch);
  if (out.empty()) tell_missing(*binaries, wanted, machine.pid(), mismatch);
  bool is_one_name = any_namespace && !base::has_glob(wanted.name) && binaries->size() == 1;
  if (is_one_name && is_ambiguous(out, wanted, mismatch)) return {};
  return out;
}

// --------------------------------------------------------------------------------------------- arguments

namespace {

uint16_t machine_of(const Event& event) { return event.module->file().elf().machine(); }

std::string argument_name(size_t index) { return "arg" + std::to_string(index); }

// The arguments as arg0, arg1, … with the sizes and signs of their operands.
class Operands final : public type::Provider {
public:
  explicit Operands(std::vector<UsdtOperand> operands) : operands_(std::move(operands)) {}
  std::vector<type::Field> fields(type::Table& table, uint32_t) override {
    std::vector<type::Field> out;
    for (size_t i = 0; i < operands_.size(); i++) out.push_back(field_of(table, i));
    return out;
  }
  std::vector<type::Enumerator> enumerators(uint32_t) override { return {}; }

private:
  type::Field field_of(type::Table& table, size_t index) {
    const UsdtOperand& o = operands_[index];
    return {.name = table.keep(argument_name(index)),
            .type = o.is_floating ? table.floating(o.size) : table.integer(o.size, o.is_signed),
            .offset = static_cast<uint32_t>(8 * index)};
  }
  std::vector<UsdtOperand> operands_;
};

} // namespace

static const type::Type* arguments_of_usdt(Machine& machine, Event& event) {
  if (event.args || !event.module) return event.args;
  std::vector<UsdtOperand> operands = format::parse_usdt_arguments(event.operands, machine_of(event));
  if (operands.empty()) return nullptr;
  auto size = static_cast<uint32_t>(8 * operands.size());
  auto provider = std::make_unique<Operands>(std::move(operands));
  event.args = machine.types().structure(event.event, false, size, machine.keep(std::move(provider)), 0);
  return event.args;
}

// "int32 arg0 at -4@%edi"
static std::vector<std::string> describe_usdt(Machine& machine, Event& event) {
  std::vector<std::string> out;
  const type::Type* args = arguments_of_usdt(machine, event);
  if (!args) return out;
  std::vector<UsdtOperand> operands = format::parse_usdt_arguments(event.operands, machine_of(event));
  for (const type::Field& field : args->fields()) {
    const UsdtOperand& o = operands[out.size()];
    out.push_back(type::to_string(*field.type) + " " + std::string(field.name) + " at " +
                  std::string(o.text) + (o.reason.empty() ? "" : " (not readable: " + o.reason + ")"));
  }
  return out;
}

// ------------------------------------------------------------------------------------- context and access

namespace {

void push(std::vector<Step>& to, Step::Op op, int64_t value = 0) { to.push_back({.op = op, .value = value}); }

void push_sum(std::vector<Step>& to, Step::Op op, int64_t value) {
  bool is_first = to.empty();
  push(to, op, value);
  if (!is_first) push(to, Step::add);
}

void extend(std::vector<Step>& to, const UsdtOperand& o) {
  if (o.size < 8) to.push_back({.op = o.is_signed ? Step::sext : Step::zext, .size = o.size});
}

// Thread-local variables of a program lie below the thread's base (ELF Handling for Thread-Local Storage,
// variant II): the distance of one from it.
std::optional<int64_t> thread_offset(const Binary& binary, std::string_view symbol) {
  auto value = symbol::symbol_address(binary.file(), symbol);
  if (!value) return std::nullopt;
  for (const format::ElfSegment& s : binary.file().elf().segments()) {
    if (s.type != PT_TLS) continue;
    uint64_t align = std::max<uint64_t>(1, s.alignment);
    uint64_t size = (s.memory_size + align - 1) / align * align;
    return static_cast<int64_t>(*value - size);
  }
  return std::nullopt;
}

// Pushes the address of the operand's symbol. False: the file does not know it.
bool push_symbol(std::vector<Step>& to, const Event& event, const UsdtOperand& o) {
  if (o.is_thread_local) {
    auto offset = thread_offset(*event.module, o.symbol);
    if (offset) push_sum(to, Step::constant, *offset);
    return offset.has_value();
  }
  auto address = event.module->symbol_address(o.symbol);
  if (!address) return false;
  if (!event.module->is_movable()) {
    push_sum(to, Step::constant, static_cast<int64_t>(*address));
    return true;
  }
  // As far from it in the file, as far in the process.
  push_sum(to, Step::reg, *spec::find_register(spec::arch.ip));
  push_sum(to, Step::constant, static_cast<int64_t>(*address - event.address));
  return true;
}

std::optional<std::vector<Step>> steps_of(const Event& event, const UsdtOperand& o) {
  std::vector<Step> steps;
  if (o.is_thread_local) push(steps, Step::thread_base);
  if (!o.symbol.empty() && !push_symbol(steps, event, o)) return std::nullopt;
  if (o.base) push_sum(steps, Step::reg, *o.base);
  if (o.index) {
    push(steps, Step::reg, *o.index);
    push(steps, Step::constant, o.scale);
    push(steps, Step::mul);
    if (steps.size() > 3) push(steps, Step::add);
  }
  if (o.offset || steps.empty()) push_sum(steps, Step::constant, o.offset);
  if (o.shift) {
    push(steps, Step::constant, o.shift);
    push(steps, Step::lshr);
  }
  if (o.form == UsdtOperand::memory)
    steps.push_back({.op = Step::load, .size = o.size, .is_signed = o.is_signed});
  else
    extend(steps, o);
  return steps;
}

} // namespace

static Context choose_usdt(Machine&, const Event&, Fields) { return Context::registers; }

static Access access_usdt(Machine&, const Event& event, Context, std::string_view field) {
  Access access{.kind = Access::computed};
  std::vector<UsdtOperand> operands = format::parse_usdt_arguments(event.operands, machine_of(event));
  size_t index = 0;
  while (index < operands.size() && argument_name(index) != field) index++;
  if (index == operands.size()) {
    access.reason = "is not an argument of this probe";
    return access;
  }
  const UsdtOperand& o = operands[index];
  std::string at = "is at `" + std::string(o.text) + "`";
  if (o.form == UsdtOperand::unsupported) {
    access.reason = at + ": " + o.reason;
  } else if (auto steps = steps_of(event, o)) {
    access.recipe = {.kind = Recipe::value, .steps = std::move(*steps)};
  } else {
    access.reason = at + ", and the file does not tell where `" + std::string(o.symbol) + "` is";
    if (event.module->is_stripped()) access.reason += ": it is stripped";
  }
  return access;
}

constinit const KindFunctions usdt_kind{
    .match = match_usdt,
    .list = found_by_match,
    .arguments = arguments_of_usdt,
    .describe = describe_usdt,
    .choose_context = choose_usdt,
    .access = access_usdt,
    .attach = attached_by_file,
};

} // namespace probe
