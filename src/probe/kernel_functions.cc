#include "probe/kernel_functions.h"

#include "format/btf.h"
#include "format/tracefs.h"
#include "host/environment.h"
#include "spec/arch.h"

#include "base/text.h"

#include <algorithm>

namespace probe {

using format::BtfKind;

static constexpr std::string_view kernel_itself = "vmlinux";
static constexpr const char* list_of_kernel = "/sys/kernel/debug/kprobes/blacklist";

KernelFunctions::KernelFunctions(Machine& machine) : machine_(machine) {}
KernelFunctions::~KernelFunctions() = default;

// ------------------------------------------------------------------------------------------------- types

format::Btf* KernelFunctions::types(const std::string& module) {
  if (module.empty()) return machine_.btf();
  auto [at, is_new] = modules_.try_emplace(module);
  // A name is part of a path.
  if (is_new && machine_.btf() && module.find('/') == module.npos)
    if (auto btf = machine_.host().module_types(module, *machine_.btf()); btf.ok())
      at->second = std::move(*btf);
  return at->second.get();
}

// For more functions than this, one look at all is faster than a search for each.
static constexpr size_t few = 16;

const KernelFunctions::Ids& KernelFunctions::typed(const std::string& module) {
  auto [at, is_new] = typed_.try_emplace(module);
  format::Btf* btf = is_new ? types(module) : nullptr;
  if (btf)
    for (uint32_t id : btf->all(BtfKind::function)) at->second.emplace(btf->raw(id)->name, id);
  return at->second;
}

uint32_t KernelFunctions::type_of(const Event& event) {
  const std::string& name = event.function;
  if (++asked_ > few || typed_.contains(event.category)) {
    const Ids& ids = typed(event.category);
    const auto found = ids.find(name);
    return found == ids.end() ? 0 : found->second;
  }
  auto ask = [&](format::Btf& btf) { return btf.find(name, BtfKind::function); };
  if (event.category.empty()) return machine_.kernel_number("function." + name, ask);
  format::Btf* btf = types(event.category);
  return btf ? ask(*btf) : 0;
}

const KernelSignature* KernelFunctions::signature(const Event& event) {
  auto [at, is_new] = signatures_.try_emplace(event.category + ":" + event.function);
  if (is_new) at->second = read_signature(event);
  return at->second ? &*at->second : nullptr;
}

std::optional<KernelSignature> KernelFunctions::read_signature(const Event& event) {
  uint32_t id = type_of(event);
  format::Btf* btf = id ? types(event.category) : nullptr;
  auto function = btf ? btf->raw(id) : std::nullopt;
  auto prototype = function ? btf->raw(function->type) : std::nullopt;
  if (!prototype || prototype->kind != BtfKind::prototype) return std::nullopt;
  type::Table& table = machine_.types();
  KernelSignature out;
  out.is_plain = true;
  unsigned used = 0;
  uint32_t stack = 0;
  for (const format::Btf::Parameter& p : btf->parameters(id)) {
    if (!p.type) break; // "...": what is passed there nobody knows
    KernelParameter to{
        .name = p.name, .type = btf->type(table, p.type), .type_id = p.type, .slot = out.slots};
    if (to.name.empty()) to.name = table.keep("arg" + std::to_string(out.parameters.size()));
    if (!to.type || to.type->size == 0) return std::nullopt; // where the next ones are is not known either
    const uint32_t words = (to.type->size + 7) / 8;
    if (words <= 2 && used + words <= spec::arch.arguments.size()) {
      to.first_register = static_cast<int>(used);
      used += words;
    } else {
      to.on_stack = stack;
      stack += words * 8;
    }
    out.is_plain &= words == 1 && to.first_register >= 0 && to.type->is_scalar();
    out.slots += words;
    out.parameters.push_back(std::move(to));
  }
  out.result_id = prototype->type;
  if (out.result_id) out.result = btf->type(table, out.result_id);
  out.is_plain &= !out.result_id || (out.result && out.result->is_scalar());
  return out;
}

Recipe recipe_of(const KernelParameter& p) {
  auto reg = [](std::string_view name) {
    return Step{.op = Step::reg, .value = spec::find_register(name).value_or(0)};
  };
  Recipe out;
  if (p.first_register < 0) {
    constexpr int64_t first = spec::arch.return_address_bytes;
    out.kind = Recipe::address;
    out.steps = {reg(spec::arch.sp), {.op = Step::constant, .value = first + p.on_stack}, {.op = Step::add}};
    return out;
  }
  const auto at = static_cast<size_t>(p.first_register);
  if (p.type->size <= 8) {
    out.kind = Recipe::value;
    out.steps = {reg(spec::arch.arguments[at])};
    return out;
  }
  out.kind = Recipe::pieces;
  for (uint32_t done = 0; done < p.type->size; done += 8)
    out.pieces_of.push_back({.steps = {reg(spec::arch.arguments[at + done / 8])},
                             .bytes = std::min(8u, p.type->size - done)});
  return out;
}

bool KernelFunctions::is_typed(const KernelFunction& f) {
  return typed(std::string(f.module)).contains(f.name);
}

// ------------------------------------------------------------------------------------------------- lists

// A line of /proc/kallsyms: "ffffffff81000000 T name" and, behind a tab, "[module]".
namespace {
struct Symbol {
  uint64_t address = 0;
  char kind = 0;
  std::string_view name, module;
  bool is_code() const { return kind == 't' || kind == 'T' || kind == 'w' || kind == 'W'; }
};
} // namespace

static std::optional<Symbol> read_symbol(std::string_view line) {
  Symbol out;
  if (!base::take_hex(line, ' ', out.address) || line.size() < 3 || line[1] != ' ') return std::nullopt;
  out.kind = line[0];
  line.remove_prefix(2);
  size_t end = line.find_first_of(" \t");
  out.name = line.substr(0, end);
  if (size_t open = line.find('['); end != line.npos && open != line.npos)
    out.module = line.substr(open + 1, line.find(']') - open - 1);
  return out;
}

template<class F> static void for_each_line(std::string_view text, F take) {
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    take(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

const std::string& KernelFunctions::symbols() {
  if (has_symbols_) return symbols_;
  has_symbols_ = true;
  if (auto text = machine_.host().read("/proc/kallsyms"); text.ok()) symbols_ = std::move(*text);
  return symbols_;
}

std::optional<std::string> KernelFunctions::find(const std::string& name, std::string_view module) {
  if (module.empty() || module == kernel_itself) {
    Event e;
    e.function = name;
    if (type_of(e)) return std::string();
  } else {
    Event e;
    e.function = name;
    e.category = module;
    if (type_of(e)) return e.category;
  }
  // The types know neither all functions nor all modules.
  const std::string& text = symbols();
  std::string wanted = " " + name;
  for (size_t at = text.find(wanted); at != text.npos; at = text.find(wanted, at + 1)) {
    size_t behind = at + wanted.size();
    if (behind < text.size() && text[behind] != '\n' && text[behind] != '\t' && text[behind] != ' ') continue;
    size_t begin = text.rfind('\n', at) + 1; // 0 at the very start
    size_t end = std::min(text.find('\n', at), text.size());
    auto symbol = read_symbol(std::string_view(text).substr(begin, end - begin));
    if (!symbol || !symbol->is_code() || symbol->name != name || symbol->module == "bpf") continue;
    if (!module.empty() && module != (symbol->module.empty() ? kernel_itself : symbol->module)) continue;
    return std::string(symbol->module);
  }
  return std::nullopt;
}

// Lines of available_filter_functions: "name" or "name [module]".
const std::vector<KernelFunction>& KernelFunctions::all() {
  if (has_all_) return all_;
  has_all_ = true;
  auto text = base::Result<std::string>(std::string());
  if (!machine_.traceable_functions.empty())
    text = machine_.traceable_functions;
  else if (machine_.tracefs())
    text = machine_.tracefs()->read("available_filter_functions");
  if (text.ok() && !text->empty()) {
    all_text_ = std::move(*text);
    for_each_line(all_text_, [&](std::string_view line) {
      size_t blank = line.find(' ');
      std::string_view module = blank == line.npos ? std::string_view() : line.substr(blank + 1);
      if (module.starts_with('[')) module = module.substr(1, module.find(']') - 1);
      std::string_view name = line.substr(0, blank);
      if (!name.empty() && !name.starts_with("__ftrace_invalid_address")) all_.push_back({name, module});
    });
  } else {
    // Where that list is kept from us, or is not there: all code that has a name.
    for_each_line(symbols(), [&](std::string_view line) {
      auto s = read_symbol(line);
      if (s && s->is_code() && s->module != "bpf") all_.push_back({s->name, s->module});
    });
  }
  auto by_name = [](const KernelFunction& a, const KernelFunction& b) {
    return a.name != b.name ? a.name < b.name : a.module < b.module;
  };
  auto same = [](const KernelFunction& a, const KernelFunction& b) {
    return a.name == b.name && a.module == b.module;
  };
  std::sort(all_.begin(), all_.end(), by_name);
  all_.erase(std::unique(all_.begin(), all_.end(), same), all_.end());
  return all_;
}

uint64_t KernelFunctions::size_of(std::string_view name) {
  uint64_t begin = 0, next = ~uint64_t{0};
  for_each_line(symbols(), [&](std::string_view line) {
    auto s = read_symbol(line);
    if (s && s->is_code() && s->name == name && !begin) begin = s->address;
  });
  if (!begin) return 0;
  for_each_line(symbols(), [&](std::string_view line) {
    auto s = read_symbol(line);
    if (s && s->address > begin) next = std::min(next, s->address);
  });
  return next - begin < uint64_t{1} << 30 ? next - begin : 0;
}

std::vector<std::string> KernelFunctions::parts_of(std::string_view name) {
  std::vector<std::string> out;
  std::string start = std::string(name) + ".";
  for_each_line(symbols(), [&](std::string_view line) {
    auto s = read_symbol(line);
    if (s && s->is_code() && s->name.starts_with(start)) out.emplace_back(s->name);
  });
  return out;
}

// ----------------------------------------------------------------------------------------------- refusal

namespace {

// What programs of a probe run through themselves, where the kernel does not keep probes away.
struct Danger {
  std::string_view pattern, why;
};
constexpr std::string_view takes_lock =
    "maps take such locks, and a probe in there may wait for itself for ever";
constexpr std::string_view is_entry = "each run of a probe goes through it";
constexpr Danger dangers[] = {
    {"_raw_spin_*lock*", takes_lock},     {"*queued_spin_*lock*", takes_lock},
    {"__pv_queued_spin_*", takes_lock},   {"resilient_*spin_lock*", takes_lock},
    {"__rcu_read_lock", is_entry},        {"__rcu_read_unlock", is_entry},
    {"rcu_read_unlock_strict", is_entry}, {"migrate_disable", is_entry},
    {"migrate_enable", is_entry},         {"preempt_count_add", is_entry},
    {"preempt_count_sub", is_entry},      {"__bpf_prog_enter*", is_entry},
    {"__bpf_prog_exit*", is_entry},
};

} // namespace

// Lines of the list: "0xffffffff81000000-0xffffffff81000010\tname".
bool KernelFunctions::is_on_list(std::string_view name) {
  if (!list_) {
    list_.emplace();
    auto text = machine_.host().read(list_of_kernel);
    if (text.ok())
      for_each_line(*text, [&](std::string_view line) {
        if (size_t tab = line.find('\t'); tab != line.npos) list_->emplace_back(line.substr(tab + 1));
      });
    std::sort(list_->begin(), list_->end());
  }
  return std::binary_search(list_->begin(), list_->end(), name);
}

// The list never changes, but for modules; to print it takes the kernel a millisecond or two.
bool KernelFunctions::is_kept_away(std::string_view name, bool many) {
  if (many || list_ || !machine_.host().can_read(list_of_kernel)) return is_on_list(name);
  return machine_.kernel_number("kept_away." + std::string(name),
                                [&](format::Btf&) -> uint32_t { return is_on_list(name); }) != 0;
}

std::string KernelFunctions::why_not(std::string_view name, bool many) {
  for (const Danger& d : dangers)
    if (base::glob_match(d.pattern, name))
      return base::quoted(name) + " must not be probed: " + std::string(d.why);
  if (is_kept_away(name, many))
    return base::quoted(name) + " is on the kernel's list of functions that must not be probed "
                                "(/sys/kernel/debug/kprobes/blacklist)";
  return {};
}

} // namespace probe
