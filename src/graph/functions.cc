#include "graph/functions.h"

#include "base/counted.h"
#include "base/text.h"
#include "probe/exception_reach.h"
#include "probe/kernel_functions.h"
#include "probe/uprobe.h"
#include "probe/user_values.h"
#include "session/builtin_script.h"
#include "spec/arch.h"
#include "spec/nothrow_functions.h"
#include "symbol/demangle.h"

#include <algorithm>
#include <map>
#include <set>

namespace graph {

namespace {

// Arguments have a program of their own for each function: there are not too many.
constexpr size_t max_typed = 64;
constexpr uint32_t largest_value = 64; // bytes of a structure that is passed by value

constexpr std::string_view kernel_words[] = {"k", "kprobe", "kernel", "f", "fentry", "kfunc"};
constexpr std::string_view user_words[] = {"u", "uprobe"};

std::string_view first_part(std::string_view function) {
  const size_t colon = function.find(':');
  return colon == function.npos ? std::string_view() : function.substr(0, colon);
}

// "a::b" has no part before its first colon.
bool has_prefix(std::string_view function) {
  const std::string_view first = first_part(function);
  return !first.empty() && function.substr(first.size()).compare(0, 2, "::") != 0;
}

// "long ns::f<long>(int) const" -> "ns::f<long>": what it is given and gives back is shown by values.
std::string without_types(std::string_view name) {
  const size_t end = name.rfind(')');
  if (end == name.npos || name.find("operator") != name.npos) return std::string(name);
  size_t begin = end + 1;
  int depth = 0;
  do {
    begin--;
    depth += (name[begin] == ')') - (name[begin] == '(');
  } while (depth && begin);
  if (!begin) return std::string(name);
  name = name.substr(0, begin);
  for (size_t i = name.size(); i-- > 0;) {
    depth += (name[i] == '>' || name[i] == ')') - (name[i] == '<' || name[i] == '(');
    if (!depth && name[i] == ' ') return std::string(name.substr(i + 1));
  }
  return std::string(name);
}

class Finder {
public:
  explicit Finder(const Request& request) : request_(request), machine_(types_, request.pid) {
    machine_.sees_inlined_calls = false; // they do not return
  }

  base::Result<Functions> run() {
    machine_.may_end_programs = request_.all_returns;
    // The functions that were named get their arguments first.
    for (bool is_pattern : {false, true})
      for (const std::string& function : request_.functions)
        if (base::has_glob(function) == is_pattern) ACU_CHECK(add(function));
    report_returns();
    add_values();
    if (std::ranges::any_of(out_.functions, [](const Function& f) { return !f.about.is_kernel; }))
      out_.landings = find_landings(machine_, request_.program);
    machine_.store_facts();
    return std::move(out_);
  }

private:
  using Event = probe::Event;

  base::Status add(const std::string& function) {
    const bool is_kernel = is_kernel_function_name(function);
    std::string_view place(function);
    const bool has_kind = is_kernel || (has_prefix(function) && base::is_one_of(user_words, first_part(function)));
    if (has_kind) place = place.substr(first_part(function).size() + 1);
    const bool is_of_program = !has_kind && (!has_prefix(function) || first_part(function) == "cpp");
    probe::Mismatch mismatch, unused;
    auto match = [&](const char* kind, probe::Mismatch& why) {
      std::vector<std::string_view> parts = {kind};
      if (is_of_program) parts.push_back(request_.program);
      for (std::string_view part : base::split(place, ':')) parts.push_back(part);
      return probe::match(machine_, parts, why);
    };
    std::vector<Event> entries = match(is_kernel ? "kprobe" : "uprobe", mismatch);
    if (entries.empty())
      return base::Error{mismatch.denied                             ? base::Failure::permission
                         : mismatch.kind == probe::Mismatch::missing ? base::Failure::nothing_matched
                                                                     : base::Failure::usage,
                         base::quoted(function) + ": " + mismatch.message +
                             (mismatch.hint.empty() ? "" : "; " + mismatch.hint)};
    std::vector<Event> returns = match(is_kernel ? "kretprobe" : "uretprobe", unused);
    std::map<std::pair<std::string, uint64_t>, const Event*> by_place;
    for (const Event& e : returns) by_place[key(e)] = &e;
    std::map<std::string_view, size_t> names; // functions of several source files may be called the same
    for (const Event& e : entries) names[e.name]++;
    const std::string_view file = is_of_program ? std::string_view(request_.program) : place.substr(0, place.find(':'));
    for (Event& e : entries) {
      if (e.function.find(".cold") != e.function.npos && base::has_glob(function)) continue; // a part of one
      if (!seen_.insert(key(e)).second) continue;
      auto found = by_place.find(key(e));
      const Event* leave = found == by_place.end() ? nullptr : found->second;
      const bool is_alone = names[e.name] == 1, is_of_process = is_of_program ? request_.program.empty() : place.starts_with(':');
      auto probe = [&](const Event& of) {
        return !of.module ? of.name : probe_of(of, file, is_alone, is_of_process);
      };
      std::string entry_probe = probe(e), leave_probe = leave ? probe(*leave) : std::string();
      add(std::move(e), leave, std::move(entry_probe), std::move(leave_probe));
    }
    return {};
  }

  static std::pair<std::string, uint64_t> key(const Event& e) {
    if (!e.module) return {e.category + ":" + e.function, 0};
    return {e.binary, e.function_address};
  }

  // "uprobe:/path:f"; where others are called so by its address; of the process itself, whatever its path is,
  // "uprobe::f". `file`: as it was named.
  static std::string probe_of(const Event& e, std::string_view file, bool is_alone, bool is_of_process) {
    const size_t provider = e.name.find(':'), function = provider + 1 + probe::shown_path(file, *e.module).size() + 1;
    return session::user_place(e.name.substr(0, provider), is_of_process ? std::string() : e.module->name(),
                      is_alone ? e.name.substr(function) : probe::hex(e.function_address));
  }

  void add(Event entry, const Event* leave, std::string entry_probe, std::string leave_probe) {
    const bool is_kernel = !entry.module;
    Function f;
    f.about.is_kernel = is_kernel;
    f.about.name = is_kernel ? entry.function : without_types(entry.module->shown(entry.function));
    f.symbol = entry.function;
    f.entry = std::move(entry_probe);
    if (!leave) (is_kernel || !may_throw(entry) ? unprobed_ : thrown_)++;
    if (leave && leave->at_return_instruction) careful_++;
    if (leave) f.leave = std::move(leave_probe);
    f.about.has_return = leave != nullptr;
    if (!leave && first_unprobed_.empty()) first_unprobed_ = f.about.name;
    out_.functions.push_back(std::move(f));
    events_.emplace_back(std::move(entry), leave ? std::optional<Event>(*leave) : std::nullopt);
  }

  // Its return may be probed, but for exceptions.
  bool may_throw(const Event& e) {
    auto f = e.module->function_at(e.function_address);
    return f && probe::why_not_at_return(*e.module, *f).empty() && reach_.may_pass(*e.module, *f);
  }

  void report_returns() {
    if (unprobed_)
      out_.notes.push_back((unprobed_ == 1 ? "the return of " + first_unprobed_
                                           : "the returns of " + std::to_string(unprobed_) +
                                                 " functions (such as " + first_unprobed_ + ")") +
                           " cannot be probed: durations are not available");
    if (thrown_)
      out_.notes.push_back("returns of " + base::counted(thrown_, "function") + " are not probed, so durations are not available: an exception "
                           "passing through would terminate the program, and the return instructions are not known; --all-returns "
                           "probes them, for programs that don't throw");
    if (careful_)
      out_.notes.push_back("exceptions may pass through " + base::counted(careful_, "function") +
                           ", probed at the return instructions: each call takes about " +
                           std::to_string(spec::return_instruction_ns / 1000) + " us longer");
  }

  // ---- values

  void add_values() {
    size_t typed = 0, untyped = 0;
    for (size_t i = 0; i < out_.functions.size(); i++) {
      if (typed == max_typed) {
        untyped++;
        continue;
      }
      Function& f = out_.functions[i];
      auto& [entry, leave] = events_[i];
      f.has_many_arguments = has_many_arguments(entry);
      add_arguments(f, entry);
      if (leave) add_result(f, *leave);
      f.is_typed = !f.arguments.empty() || !f.result.empty();
      typed += f.is_typed;
    }
    if (untyped)
      out_.notes.push_back("arguments and results are shown for the first " + std::to_string(typed) + " of " +
                           base::counted(out_.functions.size(), "function"));
  }

  static bool is_text(const type::Type& t) {
    return t.is(type::Kind::pointer) && t.element && t.element->is_char;
  }
  static bool is_value(const type::Type& t) {
    return t.is_scalar() || (t.is(type::Kind::structure) && t.size && t.size <= largest_value);
  }

  void add_arguments(Function& f, Event& event) {
    const type::Type* all = probe::arguments(machine_, event);
    if (!all) return;
    const probe::Context context =
        event.module ? probe::Context::registers : probe::Context::kernel_registers;
    for (const type::Field& field : all->fields()) {
      if (field.name.empty()) continue;
      Value v{.name = std::string(field.name), .expression = "args." + std::string(field.name)};
      v.is_text = is_text(*field.type);
      v.is_known =
          is_value(*field.type) && probe::access(machine_, event, context, field.name).reason.empty();
      f.arguments.push_back(std::move(v));
    }
  }

  bool has_many_arguments(const Event& event) {
    const probe::KernelSignature* s = event.module ? nullptr : machine_.kernel_functions().signature(event);
    return s && s->slots > spec::arch.arguments.size();
  }

  void add_result(Function& f, const Event& event) {
    const type::Type* result = nullptr;
    if (!event.module) {
      const probe::KernelSignature* s = machine_.kernel_functions().signature(event);
      result = s ? s->result : nullptr;
    } else if (probe::UserValue value = machine_.user_values(*event.module).result(event)) {
      result = value.type;
    }
    if (!result || !result->is_scalar()) return;
    Value v{.expression = "retval", .is_text = is_text(*result)};
    // Of functions of the kernel it is a plain number in the language.
    if (!event.module && result->is(type::Kind::integer))
      v.expression = (result->is_signed ? "(int" : "(uint") + std::to_string(result->size * 8) + ")retval";
    f.result.push_back(std::move(v));
  }

  const Request& request_;
  type::Table types_;
  probe::Machine machine_;
  Functions out_;
  std::vector<std::pair<Event, std::optional<Event>>> events_; // of the functions
  std::set<std::pair<std::string, uint64_t>> seen_;
  probe::ExceptionReach reach_{machine_.binaries()};
  size_t unprobed_ = 0, thrown_ = 0;
  size_t careful_ = 0; // probed at their return instructions
  std::string first_unprobed_;
};

} // namespace

bool is_kernel_function_name(std::string_view function) {
  return has_prefix(function) && base::is_one_of(kernel_words, first_part(function));
}

bool names_program(std::string_view function) {
  return has_prefix(function) && first_part(function) != "cpp" && !is_kernel_function_name(function);
}

base::Result<Functions> find_graph_functions(const Request& request) {
  return Finder(request).run();
}

} // namespace graph
