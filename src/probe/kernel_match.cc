// From what a script names to functions of the kernel: KIND:[MODULE:]FUNCTION[+OFFSET], with wildcards in
// module and function; their arguments and where those are. See kernel_functions.h.
#include "probe/kernel_functions.h"

#include "format/btf.h"
#include "format/btf_declaration.h"
#include "host/environment.h"
#include "probe/kinds.h"
#include "probe/uprobe.h"
#include "symbol/debug_files.h"

#include "base/text.h"

#include <algorithm>

namespace probe {

static constexpr std::string_view kernel_itself = "vmlinux";

static std::string_view name_of(Kind kind) {
  switch (kind) {
  case Kind::kprobe: return "kprobe";
  case Kind::kretprobe: return "kretprobe";
  case Kind::fentry: return "fentry";
  default: return "fexit";
  }
}
static bool is_trampoline(Kind kind) { return kind == Kind::fentry || kind == Kind::fexit; }

static Event make_event(Kind kind, std::string_view module, std::string_view name, uint32_t offset = 0) {
  Event e{.kind = kind, .provider = std::string(name_of(kind))};
  e.name = e.provider + ":";
  if (!module.empty() || is_trampoline(kind))
    e.name.append(module.empty() ? kernel_itself : module).append(1, ':');
  e.name.append(name);
  if (offset) e.name.append("+").append(std::to_string(offset));
  e.function = name;
  e.category = module;
  e.offset = offset;
  e.at_entry = offset == 0;
  return e;
}

namespace {

class Match {
public:
  Match(Machine& machine, Kind kind, Mismatch& mismatch)
      : machine_(machine), functions_(machine.kernel_functions()), kind_(kind), mismatch_(mismatch) {}

  std::vector<Event> run(Parts parts) {
    if (parts.size() < 2 || parts.size() > 3 || parts[1].empty() || parts.back().empty())
      return malformed(mismatch_, name_of(kind_), "`" + join(parts) + "` must name a function of the kernel");
    std::string_view module = parts.size() == 3 ? parts[1] : std::string_view();
    std::string_view function = parts.back();
    uint32_t offset = 0;
    if (size_t plus = function.find('+'); plus != function.npos) {
      auto n = parse_count(base::trim(function.substr(plus + 1)));
      function = base::trim(function.substr(0, plus));
      if (kind_ != Kind::kprobe)
        return malformed(mismatch_, name_of(kind_),
                         "`" + join(parts) +
                             "` can't name an instruction: only `kprobe` can be put within a function");
      if (!n || *n > UINT32_MAX || function.empty() || base::has_glob(function))
        return malformed(mismatch_, name_of(kind_),
                         "`" + join(parts) +
                             "`: behind `+` stands a number of bytes, "
                             "before it the name of one function");
      offset = static_cast<uint32_t>(*n);
    }
    if (base::has_glob(function) || base::has_glob(module)) return by_pattern(module, function);
    return by_name(module, std::string(function), offset);
  }

private:
  std::vector<Event> refuse(std::string message, std::string hint = {}) {
    mismatch_ = {Mismatch::missing, std::move(message), std::move(hint)};
    return {};
  }

  std::vector<Event> by_name(std::string_view module, const std::string& function, uint32_t offset) {
    if (std::string why = functions_.why_not(function, false); !why.empty())
      return refuse(std::move(why), "its callers and most of what it calls can be");
    auto found = functions_.find(function, module);
    if (!found) return tell_missing(module, function);
    if (offset) {
      uint64_t size = functions_.size_of(function);
      if (size && offset >= size)
        return refuse(base::quoted(function) + " has only " + std::to_string(size) + " bytes of code");
    }
    Event e = make_event(kind_, *found, function, offset);
    // As it was written.
    if (module.empty() && !is_trampoline(kind_)) e.name = make_event(kind_, {}, function, offset).name;
    if (is_trampoline(kind_) && !functions_.type_of(e)) return tell_untyped(e);
    return {std::move(e)};
  }

  std::vector<Event> by_pattern(std::string_view module, std::string_view function) {
    std::vector<Event> out;
    size_t untyped = 0, refused = 0;
    std::string first;
    for (const KernelFunction& f : functions_.all()) {
      if (!module.empty() && !base::glob_match(module, f.module.empty() ? kernel_itself : f.module)) continue;
      if (!base::glob_match(function, f.name)) continue;
      if (!out.empty() && out.back().function == f.name && out.back().category == f.module) continue;
      if (std::string why = functions_.why_not(f.name, true); !why.empty()) {
        if (!refused++) first = std::move(why);
        continue;
      }
      Event e = make_event(kind_, f.module, f.name);
      if (is_trampoline(kind_) && !functions_.is_typed(f)) {
        untyped++;
        continue;
      }
      out.push_back(std::move(e));
    }
    if (out.empty() && !refused && !untyped) return tell_missing(module, std::string(function));
    if (out.empty() && !refused) return tell_untyped(make_event(kind_, module, function));
    if (refused)
      mismatch_.warnings.push_back(
          "left out: " + (refused > 1 ? std::to_string(refused) + " functions; the first: " : std::string()) +
          first);
    if (out.empty()) mismatch_.message = first;
    return out;
  }

  std::vector<Event> tell_untyped(const Event& e) {
    if (!machine_.btf())
      return refuse("the kernel has no type information (/sys/kernel/btf/vmlinux), which " +
                        std::string(name_of(kind_)) + " needs",
                    std::string(kind_ == Kind::fentry ? "kprobe:" : "kretprobe:") + e.function +
                        " is at the same place, with arg0, arg1, …");
    if (!e.category.empty() && !functions_.types(e.category))
      return refuse("the module " + base::quoted(e.category) + " has no type information (/sys/kernel/btf/" +
                        e.category + "), which " + std::string(name_of(kind_)) + " needs",
                    "use " + std::string(kind_ == Kind::fentry ? "kprobe:" : "kretprobe:") + e.function);
    return refuse("the kernel's types do not describe " + base::quoted(e.function) + ", as " +
                      std::string(name_of(kind_)) + " needs",
                  "use " + std::string(kind_ == Kind::fentry ? "kprobe:" : "kretprobe:") + e.function);
  }

  // The nearest name, where it is instead, or what became of it.
  std::vector<Event> tell_missing(std::string_view module, const std::string& function) {
    bool is_pattern = base::has_glob(function) || base::has_glob(module);
    std::string where = module.empty() ? "the kernel" : "the module " + base::quoted(module);
    std::string message =
        is_pattern ? "no function of " + where + " that can be probed matches " + base::quoted(function)
                   : where + " has no function " + base::quoted(function);
    if (is_pattern)
      return refuse(std::move(message),
                    "`acu list '" + std::string(name_of(kind_)) + ":*'` shows what there is");
    if (!module.empty())
      if (auto elsewhere = functions_.find(function, {}))
        return refuse(std::move(message),
                      "it is in " + base::quoted(elsewhere->empty() ? kernel_itself : *elsewhere));
    if (!module.empty() && module != kernel_itself && !is_loaded(module))
      return refuse("no module " + base::quoted(module) + " is loaded", "`lsmod` shows those that are");
    if (std::vector<std::string> parts = functions_.parts_of(function); !parts.empty()) {
      std::string names;
      for (const std::string& p : parts) names += (names.empty() ? "" : ", ") + base::quoted(p);
      return refuse(base::quoted(function) + " is not there as it was written: the compiler made " + names +
                        " of it",
                    "probe that, as in `" + std::string(name_of(kind_)) + ":" + parts.front() +
                        "`; its arguments may be others");
    }
    if (is_inlined_everywhere(function))
      return refuse(base::quoted(function) + " has no code of its own: the compiler put it into its callers",
                    "probe those; the kernel's debug information names it, but no place of it");
    std::vector<std::string_view> names;
    for (const KernelFunction& f : functions_.all())
      if (module.empty() || f.module == module || (f.module.empty() && module == kernel_itself))
        names.push_back(f.name);
    std::string_view near = base::nearest(function, names);
    return refuse(
        std::move(message),
        near.empty()
            ? "functions that the compiler put into all of their callers can't be probed; `acu list '" +
                  std::string(name_of(kind_)) + ":*'` shows what there is"
            : "did you mean " + base::quoted(near) + "?");
  }

  // As the kernel's debug information tells, where it is installed.
  bool is_inlined_everywhere(const std::string& function) {
    if (!machine_.host().is_this_host()) return false;
    const symbol::DebugFile found = symbol::find_kernel_debug_file({});
    if (!found.has_dwarf) return false;
    auto files = machine_.binaries().find(found.debug.path);
    return files.ok() && files->size() == 1 && is_inlined(*files->front(), function);
  }

  bool is_loaded(std::string_view module) {
    auto text = machine_.host().read("/proc/modules");
    if (!text.ok()) return true; // nobody knows
    std::string line = "\n" + std::string(module) + " ";
    return ("\n" + *text).find(line) != std::string::npos;
  }

  Machine& machine_;
  KernelFunctions& functions_;
  const Kind kind_;
  Mismatch& mismatch_;
};

} // namespace

std::vector<Event> match_kernel_function(Machine& machine, Kind kind, Parts parts, Mismatch& mismatch) {
  mismatch = {};
  return Match(machine, kind, mismatch).run(parts);
}

// --------------------------------------------------------------------------------------------- arguments

const type::Type* kernel_arguments(Machine& machine, Event& event) {
  if (event.args || event.kind == Kind::kretprobe || event.offset) return event.args;
  const KernelSignature* s = machine.kernel_functions().signature(event);
  if (!s) return nullptr;
  type::Table& table = machine.types();
  std::vector<type::Field> fields;
  for (const KernelParameter& p : s->parameters)
    fields.push_back({.name = table.keep(p.name), .type = p.type, .offset = p.slot * 8});
  event.args = table.structure(event.function, false, s->slots * 8, 8, fields);
  return event.args;
}

std::vector<std::string> describe_kernel_function(Machine& machine, Event& event) {
  std::vector<std::string> out;
  const KernelSignature* s = machine.kernel_functions().signature(event);
  format::Btf* btf = s ? machine.kernel_functions().types(event.category) : nullptr;
  if (!btf) return out;
  if (event.kind != Kind::kretprobe)
    for (const KernelParameter& p : s->parameters)
      out.push_back(format::type_name(*btf, p.type_id) + " " + std::string(p.name));
  bool at_return = event.kind == Kind::kretprobe || event.kind == Kind::fexit;
  if (at_return && s->result_id) out.push_back(format::type_name(*btf, s->result_id) + " retval");
  return out;
}

Access access_kernel_function(Machine& machine, const Event& event, Context context, std::string_view field) {
  Access out{.kind = context == Context::function ? Access::raw : Access::computed};
  const KernelSignature* s = machine.kernel_functions().signature(event);
  if (!s) return out;
  for (const KernelParameter& p : s->parameters) {
    if (p.name != field) continue;
    out.argument = p.slot;
    if (context != Context::function) out.recipe = recipe_of(p);
  }
  return out;
}

} // namespace probe
