// uprobe:BINARY:FUNCTION, uretprobe:BINARY:FUNCTION: the functions and instructions of programs and
// libraries. How they are written is in uprobe_text.h, what can be said when there is no such function in
// uprobe_missing.cc, and where exactly a probe is put in uprobe_entry.cc.
#include "probe/exception_reach.h"
#include "probe/uprobe.h"
#include "probe/uprobe_text.h"
#include "probe/user_values.h"

#include "base/file_map.h"
#include "base/text.h"

#include <algorithm>

namespace probe {

using symbol::Binary;
using symbol::FunctionSymbol;

namespace {

// ------------------------------------------------------------------------------------------------- match

class UserMatch {
public:
  UserMatch(Machine& machine, Kind kind, Mismatch& mismatch)
      : machine_(machine), kind_(kind), provider_(kind == Kind::uprobe ? "uprobe" : "uretprobe"),
        mismatch_(mismatch), reach_(machine.binaries()) {}

  std::vector<Event> match(Parts parts) {
    auto place = parse_user_place(machine_, provider_, parts, mismatch_);
    if (!place) return {};
    if (kind_ == Kind::uretprobe && (place->line || place->offset))
      return malformed(mismatch_, provider_,
                       "a function returns as a whole: `" + join(parts) +
                           "` can't name an instruction in it");
    typed_ = place->binary;
    auto binaries = machine_.binaries().find(place->binary);
    if (!binaries.ok() && place->address && add_in_any_file(*place)) return std::move(events_);
    if (!binaries.ok()) return failed_ ? std::vector<Event>() : refuse(std::move(binaries.error()));
    for (Binary* binary : *binaries) {
      if (place->line)
        add_line(*binary, *place);
      else if (place->address)
        add_address(*binary, *place->address);
      else
        add_functions(*binary, *place);
      if (failed_) return {};
      std::string by = kind_ == Kind::uretprobe ? switches_stacks(*binary) : std::string();
      if (!by.empty())
        mismatch_.warnings.push_back(
            binary->name() + " goes from one stack to another by " + base::quoted(by) +
            ": if that happens while a function is probed for its return, the program goes "
            "wrong");
    }
    if (events_.empty() && refusals_ && mismatch_.message.empty())
      mismatch_.message = first_refusal_, mismatch_.hint = first_hint_;
    if (events_.empty() && mismatch_.message.empty()) tell_missing_function(*binaries, *place, mismatch_);
    if (!events_.empty()) tell_refusals();
    return std::move(events_);
  }

private:
  std::vector<Event> refuse(base::Error error) {
    failed_ = true;
    mismatch_.kind = error.kind == base::Failure::usage ? Mismatch::malformed : Mismatch::missing;
    mismatch_.message = std::move(error.message);
    mismatch_.denied = error.kind == base::Failure::permission;
    return {};
  }
  void refuse(Mismatch::Kind kind, std::string message, std::string hint = {}) {
    failed_ = true;
    mismatch_ = {kind, std::move(message), std::move(hint)};
  }

  void add_functions(Binary& binary, const UserPlace& place) {
    std::vector<FunctionSymbol> found = find(binary, place);
    bool is_pattern = base::has_glob(place.function);
    for (const FunctionSymbol& f : found) {
      std::string shown(f.name);
      if (place.by_source) shown = "cpp:\"" + std::string(binary.shown(f.name)) + "\"";
      if (!f.version.empty() && (!f.is_default || place.function.find('@') != std::string::npos))
        shown += (f.is_default ? "@@" : "@") + std::string(f.version);
      if (place.has_offset && !check_offset(binary, f, place.offset)) return;
      if (place.has_offset) shown += "+" + std::to_string(place.offset);
      if (f.is_chooser && !is_pattern) warn_of_chooser(binary, f);
      size_t had = events_.size();
      add(binary, &f, f.address + place.offset, std::move(shown), is_pattern);
      // `f+0` is the very first instruction, cost what it may.
      if (place.has_offset && !place.offset && events_.size() > had) stay_at_start(events_.back());
      if (failed_) return;
    }
    if (!is_pattern && !place.has_offset && machine_.sees_inlined_calls) add_inlined(binary, place, found);
  }

  // Calls that were inlined are calls; but nothing is returned from there.
  void add_inlined(Binary& binary, const UserPlace& place, const std::vector<FunctionSymbol>& found) {
    std::vector<uint64_t> entries = inlined_entries(binary, place.function, found);
    if (entries.empty()) return;
    if (kind_ == Kind::uretprobe) {
      if (!found.empty())
        mismatch_.warnings.push_back(std::to_string(entries.size()) + " calls of " +
                                     base::quoted(place.function) + " in " + binary.name() +
                                     " were inlined by the compiler: their returns are not seen");
      return;
    }
    for (uint64_t address : entries) {
      auto caller = binary.function_at(address);
      if (!caller) continue;
      auto begin = symbol::find_instruction(binary, caller->address, address);
      if (!begin.ok() || *begin != address) continue; // debug information is wrong
      size_t had = events_.size();
      add(binary, &*caller, address, std::string(place.function), true);
      if (events_.size() == had) continue;
      Event& e = events_.back();
      e.name = std::string(provider_) + ":" + shown_path(typed_, binary) + ":" +
               std::string(place.by_source ? "cpp:" : "") + std::string(place.function);
      e.function = found.empty() ? std::string(place.function) : std::string(found.front().name);
      e.function_address = address;
      e.at_entry = false;
      e.is_inlined = true;
    }
  }

  std::vector<FunctionSymbol> find(Binary& binary, const UserPlace& place) {
    if (place.by_source) return find_by_source(binary, place.function);
    std::vector<FunctionSymbol> out;
    if (!base::has_glob(place.function)) {
      out = binary.find_functions(place.function);
      // Of several versions programs are linked with one; what is called so elsewhere in the file is another
      // function, and meant as well.
      bool has_default = std::any_of(out.begin(), out.end(), [](auto& f) { return f.is_default; });
      bool any_version = place.function.find('@') == std::string::npos;
      if (any_version && has_default) std::erase_if(out, [](auto& f) { return !f.is_default; });
      if (out.empty()) out = find_by_source(binary, place.function);
      return out;
    }
    bool every = place.function.find_first_not_of('*') == std::string::npos;
    for (const FunctionSymbol& f : binary.functions())
      if (every || base::glob_match(place.function, f.name)) out.push_back(f);
    return keep_one_per_address(std::move(out));
  }

  std::vector<FunctionSymbol> find_by_source(Binary& binary, const std::string& name) const {
    symbol::SourceName wanted(name);
    std::vector<FunctionSymbol> out;
    for (const FunctionSymbol& f : binary.functions())
      if (kind_ == Kind::uretprobe && is_part_of_function(f.name))
        continue; // its function has the same name in the source
      else if (wanted.may_match(f.name) && wanted.matches(binary.shown(f.name)))
        out.push_back(f);
    return keep_one_per_address(std::move(out));
  }

  // A function with several names is probed once, by the best known.
  static std::vector<FunctionSymbol> keep_one_per_address(std::vector<FunctionSymbol> functions) {
    std::stable_sort(functions.begin(), functions.end(),
                     [](const FunctionSymbol& a, const FunctionSymbol& b) {
                       return a.address != b.address ? a.address < b.address : is_better_known(a, b);
                     });
    auto same = [](const FunctionSymbol& a, const FunctionSymbol& b) { return a.address == b.address; };
    functions.erase(std::unique(functions.begin(), functions.end(), same), functions.end());
    std::stable_sort(functions.begin(), functions.end(),
                     [](const FunctionSymbol& a, const FunctionSymbol& b) { return a.name < b.name; });
    return functions;
  }

  bool check_offset(Binary& binary, const FunctionSymbol& f, uint64_t offset) {
    if (f.size && offset >= f.size) {
      refuse(Mismatch::missing, base::quoted(f.name) + " has only " + std::to_string(f.size) +
                                    " bytes of code in " + binary.name());
      return false;
    }
    return check_boundary(binary, f, f.address + offset);
  }

  // An instruction must begin there: a breakpoint in the middle of one would change what it does.
  bool check_boundary(Binary& binary, const FunctionSymbol& f, uint64_t address) {
    auto checked = symbol::find_instruction(binary, f.address, address);
    if (!checked.ok()) return refuse(std::move(checked.error())), false;
    if (*checked == address) return true;
    refuse(Mismatch::malformed,
           "no instruction begins at " + std::string(f.name) + "+" + std::to_string(address - f.address) +
               " in " + binary.name(),
           "the one that holds this byte begins at +" + std::to_string(*checked - f.address));
    return false;
  }

  // A file that is no program: its offsets are its addresses. Nothing is known of what is there. False: no such file,
  // or that was refused.
  bool add_in_any_file(const UserPlace& place) {
    auto path = machine_.binaries().path_of_file(place.binary);
    if (!path.ok()) return false;
    const std::string& root = machine_.binaries().root();
    auto file = base::FileMap::open(*path, root);
    if (!file.ok()) return false;
    const std::string name(place.binary);
    if (kind_ != Kind::uprobe || !machine_.may_probe_any_file)
      return refuse(Mismatch::missing, name + " is not an ELF file, in which functions can be found",
                    kind_ == Kind::uprobe ? "--unsafe probes instructions of any file, by their offset" : ""), false;
    if (*place.address >= file->bytes().size())
      return refuse(Mismatch::missing, name + " has only " + std::to_string(file->bytes().size()) + " bytes"), false;
    Event e{.kind = kind_};
    e.provider = provider_;
    e.name = std::string(provider_) + ":" + name + ":" + hex(*place.address);
    e.binary = root + *path;
    e.address = e.file_offset = *place.address;
    events_.push_back(std::move(e));
    return true;
  }

  void add_address(Binary& binary, uint64_t address) {
    if (binary.code_at(address, 1).empty())
      return refuse(Mismatch::missing, "there is no code at " + hex(address) + " in " + binary.name(),
                    "addresses are those of the file, as `nm` and `objdump -d` show them");
    auto f = binary.function_at(address);
    if (f && address != f->address && !check_boundary(binary, *f, address)) return;
    if (kind_ == Kind::uretprobe && !(f && f->address == address))
      return refuse(Mismatch::missing, "no function begins at " + hex(address) + " in " + binary.name());
    if (!f)
      mismatch_.warnings.push_back("no function of " + binary.name() + " is known to hold " + hex(address) +
                                   ": whether an instruction begins there can't be checked");
    add(binary, f ? &*f : nullptr, address, hex(address), false);
  }

  void add_line(Binary& binary, const UserPlace& place) {
    symbol::LineMiss miss;
    std::vector<symbol::LineAddress> found =
        binary.addresses_of_line(place.file, place.line, place.column, miss);
    if (found.empty()) return tell_missing_line(binary, place, miss, mismatch_);
    for (const symbol::LineAddress& at : found) {
      auto f = binary.function_at(at.address);
      add(binary, f ? &*f : nullptr, at.address, {}, false);
      if (events_.empty() || failed_) continue;
      events_.back().name = std::string(provider_) + ":" + shown_path(typed_, binary) + "@" + place.file + ":" +
                            std::to_string(place.line) +
                            (place.column ? ":" + std::to_string(place.column) : std::string());
    }
  }

  // `f`: the function that holds the address, if it is known. What a pattern found and can't be probed is
  // left out, and told; what was asked for by name is refused.
  void add(Binary& binary, const FunctionSymbol* f, uint64_t address, std::string shown, bool is_pattern) {
    if (kind_ == Kind::uretprobe && f) {
      std::string why = why_not_at_return(binary, *f);
      if (!why.empty()) return leave_out(std::move(why), is_pattern);
      if (!machine_.may_end_programs && reach_.may_pass(binary, *f))
        return add_returns(binary, *f, shown, is_pattern);
    }
    auto offset = binary.offset_of_address(address);
    if (!offset || binary.code_at(address, 1).empty())
      return leave_out("the code of " + base::quoted(shown) + " is not in " + binary.name(), is_pattern);
    std::optional<FunctionSymbol> owner;
    if (f && f->is_label) owner = binary.function_at(address);
    if (owner && !owner->is_label) f = &*owner; // a label within a function
    Event e = event_at(binary, f, address, *offset, shown);
    if (e.at_entry)
      choose_entry(machine_, binary, *f, e); // also of returns: the return address stands in one place
    else if (!avoid_red_zone(machine_, binary, f, e))
      mismatch_.warnings.push_back(e.name +
                                   " is on a nop that this kernel replaces by a call, which may overwrite "
                                   "variables of the function; choose another instruction");
    if (symbol::is_refused(binary.code_at(e.address, 16)))
      return leave_out("the kernel can't carry out a probe on the instruction at " + hex(e.address) + " of " +
                           binary.name() + ", where " + base::quoted(shown.empty() ? e.function : shown) +
                           " is",
                       is_pattern);
    events_.push_back(std::move(e));
  }

  Event event_at(Binary& binary, const FunctionSymbol* f, uint64_t address, uint64_t offset,
                 const std::string& shown) const {
    Event e{.kind = kind_};
    e.provider = provider_;
    e.name = std::string(provider_) + ":" + shown_path(typed_, binary) + ":" + shown;
    e.binary = binary.host_path();
    e.module = &binary;
    e.address = address;
    e.file_offset = offset;
    if (f) {
      e.function = f->name;
      e.function_address = f->address;
      e.at_entry = address == f->address;
    }
    return e;
  }

  // A return probe on a function that exceptions may pass through: at the instructions that return.
  void add_returns(Binary& binary, const FunctionSymbol& f, const std::string& shown, bool is_pattern) {
    const std::string what = "the return of " + base::quoted(shown) + " in " + binary.name();
    auto places = find_return_places(binary, f);
    if (!places.ok() || (places->own.empty() && places->in_place.empty()))
      return leave_out_unsafe(what +
                                  " can't be probed without danger: an exception that passes through would "
                                  "end the program, and " +
                                  (places.ok() ? "it has no return instruction for a probe"
                                               : "where it returns is not known: " + places.error().message),
                              is_pattern);
    const auto calls = std::make_shared<const TailCalls>(offsets_of(binary, places->tail_calls));
    Event at_entry = event_at(binary, &f, f.address, binary.offset_of_address(f.address).value_or(0), shown);
    choose_entry(machine_, binary, f, at_entry);
    auto add = [&](uint64_t address, bool is_in_place) {
      Event e = event_at(binary, &f, address, binary.offset_of_address(address).value_or(0), shown);
      e.at_entry = true; // of the values that it is asked for, as all return probes
      e.at_return_instruction = true;
      e.entry_offset = at_entry.file_offset;
      if (is_in_place) e.tail_calls = calls;
      events_.push_back(std::move(e));
    };
    for (uint64_t address : places->own) add(address, false);
    for (uint64_t address : places->in_place) add(address, true);
  }

  // Entries are moved to where probes cost little, as those of uprobe.
  TailCalls offsets_of(Binary& binary, const TailCalls& addresses) const {
    TailCalls out;
    auto add = [&](std::vector<uint64_t>& to, uint64_t address) {
      if (auto offset = binary.offset_of_address(address)) to.push_back(*offset);
    };
    for (uint64_t address : addresses.jumps) add(out.jumps, address);
    for (uint64_t address : addresses.onward) add(out.onward, address);
    for (uint64_t address : addresses.entries) {
      Event e{.kind = Kind::uprobe};
      e.address = address;
      auto f = binary.function_at(address);
      if (f && f->address == address) choose_entry(machine_, binary, *f, e);
      add(out.entries, e.address);
    }
    return out;
  }

  static void stay_at_start(Event& e) {
    e.file_offset -= e.address - e.function_address;
    e.address = e.function_address;
  }

  void leave_out_unsafe(std::string why, bool is_pattern) {
    leave_out(std::move(why), is_pattern,
              "--unsafe probes it by the kernel's trampoline, for programs that throw nothing there");
  }

  void leave_out(std::string why, bool is_pattern, std::string hint = {}) {
    if (!is_pattern) return refuse(Mismatch::missing, std::move(why), std::move(hint));
    if (!refusals_++) first_refusal_ = std::move(why), first_hint_ = std::move(hint);
  }

  void tell_refusals() {
    if (!refusals_) return;
    mismatch_.warnings.push_back(refusals_ == 1 ? "left out: " + first_refusal_
                                                : "left out: " + std::to_string(refusals_) +
                                                      " functions; the first: " + first_refusal_);
    if (!first_hint_.empty()) mismatch_.warnings.back() += "; " + first_hint_;
  }

  // The calls go to one of several functions that the code here chose once.
  void warn_of_chooser(Binary& binary, const FunctionSymbol& f) {
    std::string pattern = "*" + std::string(f.name) + "_*";
    std::string example;
    for (const FunctionSymbol& other : binary.functions())
      if (example.empty() && base::glob_match(pattern, other.name)) example = other.name;
    mismatch_.warnings.push_back(
        base::quoted(f.name) + " of " + binary.name() +
        " only runs when a program starts, to choose the function for this processor; calls don't come here" +
        (example.empty() ? "" : ": probe those such as " + base::quoted(example)));
  }

  Machine& machine_;
  const Kind kind_;
  const std::string_view provider_;
  std::string_view typed_; // the file, as the script names it
  Mismatch& mismatch_;
  std::vector<Event> events_;
  bool failed_ = false;
  size_t refusals_ = 0; // functions left out
  std::string first_refusal_, first_hint_;
  ExceptionReach reach_;
};

template<Kind kind> std::vector<Event> match_function(Machine& machine, Parts parts, Mismatch& mismatch) {
  mismatch = {};
  return UserMatch(machine, kind, mismatch).match(parts);
}

// --------------------------------------------------------------------------------- arguments and context

const type::Type* arguments_of_function(Machine& machine, Event& event) {
  if (!event.args && event.module) event.args = machine.user_values(*event.module).parameters(event);
  return event.args;
}

std::vector<std::string> describe_function(Machine& machine, Event& event) {
  if (!event.module) return {};
  bool is_return = event.kind == Kind::uretprobe;
  std::vector<std::string> out = machine.user_values(*event.module).describe(event, is_return);
  if (is_return && !out.empty() && out[0] != "void") out[0] += " retval";
  return out;
}

Context choose_registers(Machine&, const Event&, Fields) { return Context::registers; }

Access access_parameter(Machine& machine, const Event& event, Context, std::string_view field) {
  Access out{.kind = Access::computed};
  if (!event.module) return out;
  UserValue value = machine.user_values(*event.module).parameter(event, field);
  if (value) out.recipe = std::move(value.recipe);
  out.reason = std::move(value.reason);
  return out;
}

} // namespace

std::string shown_path(std::string_view typed, const Binary& binary) {
  if (const size_t colon = typed.find(':'); typed.starts_with(symbol::container_sign) && colon != typed.npos)
    return std::string(typed.substr(0, colon + 1)) + shown_path(typed.substr(colon + 1), binary);
  const std::string& found = binary.name();
  if (typed.find('/') == typed.npos) return found == symbol::absolute_path(typed) ? std::string(typed) : found;
  if (!base::has_glob(typed)) return std::string(typed);
  // One of those that match a pattern: from the same folder on.
  const std::string here = symbol::absolute_path("");
  if (typed.starts_with('/') || !found.starts_with(here)) return found;
  return (typed.starts_with("./") ? "./" : "") + found.substr(here.size());
}

std::string hex(uint64_t number) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%lx", number);
  return text;
}

// What is alike at the entry and at the return.
template<Kind kind> static consteval KindFunctions row_of() {
  return {
      .match = match_function<kind>,
      .list = found_by_match,
      .arguments = arguments_of_function,
      .describe = describe_function,
      .choose_context = choose_registers,
      .access = access_parameter,
      .attach = attached_by_file,
  };
}
constinit const KindFunctions uprobe_kind = row_of<Kind::uprobe>();
constinit const KindFunctions uretprobe_kind = row_of<Kind::uretprobe>();

} // namespace probe
