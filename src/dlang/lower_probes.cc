// Probe descriptions to acu's probes. What belongs together shares a group: the same probes with the same condition.
#include "base/text.h"
#include "dlang/lowering.h"
#include "spec/syscalls.h"

#include <algorithm>
#include <cctype>
#include <climits>
#include <unistd.h>

namespace dlang {

using namespace spec;
using base::glob_match;
using base::quoted;

namespace {

bool is_one_of_kernel(std::string_view module) {
  constexpr std::string_view names[] = {"", "*", "vmlinux", "kernel", "genunix", "unix", "mach_kernel"};
  return base::is_one_of(names, module);
}

// The numbers of the system calls that a pattern matches. DTrace on Linux names some as the kernel's events do: newstat, sendfile64.
std::vector<int> calls_matching(std::string_view pattern) {
  std::vector<int> out;
  for (const RenamedCall& r : renamed_calls)
    if (r.theirs == pattern) pattern = r.name;
  if (const int n = spec::syscall_of_event(pattern); n >= 0) return {n};
  for (int n = 0; n <= spec::last_syscall; n++)
    if (const std::string_view name = spec::syscall_name(n); !name.empty() && glob_match(pattern, name)) out.push_back(n);
  return out;
}

bool is_everything(std::string_view pattern) { return pattern.empty() || pattern == "*"; }

// Which ends a name stands for.
struct Ends {
  bool entry, is_return;
};
Ends ends_of(std::string_view name) { return {is_everything(name) || glob_match(name, "entry"), is_everything(name) || glob_match(name, "return")}; }

} // namespace

void Lowering::place_clause(const Clause& clause) {
  for (const Description& d : clause.probes) place(d, clause);
  add_syscalls(clause);
}

void Lowering::place(const Description& given, const Clause& clause) {
  Description d = given;
  if (d.provider.empty() && (d.name == "BEGIN" || d.name == "END" || d.name == "ERROR")) d.provider = "dtrace";
  const bool names_code = is_everything(d.provider) && !(is_everything(d.function) && is_one_of_kernel(d.module));
  if (names_code && (ends_of(d.name).entry || ends_of(d.name).is_return)) return place_code(d, clause);
  if (is_everything(d.provider) && is_everything(d.name))
    return error(tag::too_many_probes, d.where, "this names every probe that there is", "name a provider: `syscall:::entry`");
  if (d.name.starts_with("profile-") || d.name.starts_with("tick-"))
    if (d.provider.empty() || d.provider == "profile" || d.provider == "tick") return place_timer(d, clause);
  if (d.provider == "profile" || d.provider == "tick")
    return error(tag::bad_probe, d.where, quoted(d.name) + " is no probe of the provider profile", "write `profile-997`, `profile-10ms` or `tick-1s`");
  if (d.provider == "syscall") return place_syscall(d);
  if (d.provider == "fbt") return place_function(d, clause);
  if (d.provider == "sdt") {
    if (!d.module.empty() || !place_fixed(d, clause)) place_tracepoint(d, clause);
    return;
  }
  if (d.provider == "rawtp") return place_raw_tracepoint(d, clause);
  if (place_fixed(d, clause)) return;
  // A provider of a process: its name ends in a number.
  size_t end = d.provider.size();
  std::string process;
  if (d.provider.ends_with(command_pid)) {
    end -= command_pid.size();
    process = "cpid";
  } else {
    while (end && std::isdigit(static_cast<unsigned char>(d.provider[end - 1]))) end--;
    process = d.provider.substr(end);
  }
  const std::string_view name = std::string_view(d.provider).substr(0, end);
  if (!process.empty() && name == "pid") return place_pid(d, process, clause);
  if (!process.empty() && !name.empty()) return place_usdt(d, name, process, clause);
  if (d.provider.ends_with('*') && d.provider.size() > 1) { // of that process or, without one, of all that run
    const std::string target = options_.values.target >= 0 ? std::to_string(options_.values.target) : options_.values.has_command ? "cpid" : "";
    return place_usdt(d, d.provider, target, clause);
  }
  unknown_provider(d);
}

// With -Z, a description that matches nothing is no mistake: its clause never runs.
void Lowering::no_probe(std::string_view tag, const Description& d, std::string message, std::string hint) {
  if (!allows_no_probes_) error(tag, d.where, std::move(message), std::move(hint));
}

void Lowering::unknown_provider(const Description& d) {
  if (allows_no_probes_) return;
  std::vector<std::string_view> names;
  for (const Provider& p : providers) {
    names.push_back(p.name);
    if (p.name == d.provider && p.support == "no")
      return error(tag::unknown_provider, d.where, "the provider " + quoted(d.provider) + " is not supported on Linux", std::string(p.remark));
  }
  if (d.provider.empty())
    return error(tag::unknown_provider, d.where, quoted(d.name) + " is not a probe that is known by its name alone", "name its provider: PROVIDER:MODULE:FUNCTION:NAME");
  if (d.provider == "pid")
    return error(d_tag::proc_badpid, d.where, "the provider pid needs a process", "write `pid$target` with -p or -c, or the number: `pid4711`");
  std::vector<std::string_view> probes;
  for (const FixedProbe& p : fixed_probes)
    if (p.provider == d.provider) probes.push_back(p.name);
  if (!probes.empty()) {
    std::string known;
    for (std::string_view p : probes) known += (known.empty() ? "" : ", ") + std::string(p);
    return error(tag::no_such_probe, d.where, "the provider " + quoted(d.provider) + " has no probe " + quoted(d.name) + " here", "it has " + known);
  }
  const std::string_view near = base::nearest(d.provider, names);
  error(tag::unknown_provider, d.where, "there is no provider " + quoted(d.provider),
        near.empty() ? "providers of programs have the number of their process: `name$target` with -p or -c" : "did you mean " + quoted(near) + "?");
}

// Clauses with the same probes and condition are one group, in the order of the script.
void Lowering::add(Group g, const Clause& clause) {
  for (Group& other : groups_)
    if (other.places == g.places && other.calls == g.calls && other.condition == g.condition && other.process == g.process &&
        other.context.kind == g.context.kind && other.context.name == g.context.name) {
      if (other.clauses.back() != &clause) other.clauses.push_back(&clause);
      plan_->places[other.id - 1].clauses.push_back(clause.where);
      return;
    }
  g.id = static_cast<uint32_t>(groups_.size()) + 1;
  g.clauses = {&clause};
  const ContextKind kind = g.context.kind;
  plan_->places.push_back({.id = g.id,
                           .provider = g.context.provider,
                           .module = g.context.module,
                           .function = g.context.function,
                           .name = g.context.name,
                           .is_syscall = kind == ContextKind::syscall_entry || kind == ContextKind::syscall_return,
                           .calls = g.calls,
                           .has_functions = kind == ContextKind::function_entry || kind == ContextKind::function_return,
                           .where = g.where,
                           .clauses = {clause.where}});
  groups_.push_back(std::move(g));
}

bool Lowering::place_fixed(const Description& d, const Clause& clause) {
  bool is_found = false;
  for (const FixedProbe& p : fixed_probes) {
    if (!(d.provider == p.provider || (d.provider.empty() && p.provider != "dtrace")) || !glob_match(is_everything(d.name) ? "*" : d.name, p.name)) continue;
    Group g{.where = d.where};
    g.context.kind = p.provider != "dtrace" ? ContextKind::fixed : p.place.empty() ? ContextKind::error : ContextKind::special;
    g.context.translators = p.arguments;
    g.context.provider = p.provider;
    g.context.name = p.name;
    for (std::string_view one : base::split(p.place, ' ')) g.places.emplace_back(one);
    if (!p.condition.empty()) g.condition = "d_c_" + with_underscores(std::string(p.provider) + "_" + std::string(p.name));
    add(std::move(g), clause);
    is_found = true;
  }
  return is_found;
}

void Lowering::place_timer(const Description& d, const Clause& clause) {
  const bool is_tick = d.name.starts_with("tick-");
  const auto rate = rate_of(std::string_view(d.name).substr(is_tick ? 5 : 8));
  if (!rate)
    return error(tag::bad_probe, d.where, quoted(d.name) + " is not a rate", "write a number and a unit: `profile-997`, `profile-10ms`, `tick-1s`, `tick-1min`");
  Group g{.where = d.where};
  g.context = {.kind = is_tick ? ContextKind::tick : ContextKind::profile, .provider = "profile", .name = d.name};
  g.places = {std::string(is_tick ? "interval:" : "profile:") + (rate->is_frequency ? "hz:" : "us:") + std::to_string(rate->number)};
  add(std::move(g), clause);
}

void Lowering::place_syscall(const Description& d) {
  const Ends ends = ends_of(d.name);
  if (!ends.entry && !ends.is_return)
    return no_probe(tag::no_such_probe, d, "the provider syscall has no probe " + quoted(d.name), "its probes are entry and return");
  std::vector<int> calls;
  if (!is_everything(d.function)) {
    calls = calls_matching(d.function);
    if (calls.empty()) {
      std::vector<std::string_view> names;
      for (int n = 0; n <= spec::last_syscall; n++) names.push_back(spec::syscall_name(n));
      const std::string_view near = base::nearest(d.function, names);
      return no_probe(tag::no_such_probe, d, "there is no system call " + quoted(d.function),
                   near.empty() ? "names are those of Linux: `acu list 'tracepoint:syscalls:sys_enter_*'`" : "did you mean " + quoted(near) + "?");
    }
  }
  for (const bool is_return : {false, true}) {
    if (is_return ? !ends.is_return : !ends.entry) continue;
    Group g{.where = d.where};
    g.context = {.kind = is_return ? ContextKind::syscall_return : ContextKind::syscall_entry, .provider = "syscall", .module = "vmlinux", .name = is_return ? "return" : "entry"};
    g.calls = calls;
    g.places = {is_return ? "tracepoint:raw_syscalls:sys_exit" : "tracepoint:raw_syscalls:sys_enter"};
    calls_.push_back(std::move(g));
  }
}

// Each program of a system call runs at all of them: those of a clause share one.
void Lowering::add_syscalls(const Clause& clause) {
  for (ContextKind kind : {ContextKind::syscall_entry, ContextKind::syscall_return}) {
    std::optional<Group> all;
    bool is_every = false;
    for (const Group& g : calls_) {
      if (g.context.kind != kind) continue;
      is_every |= g.calls.empty();
      if (!all)
        all = g;
      else
        all->calls.insert(all->calls.end(), g.calls.begin(), g.calls.end()), all->where = all->where.to(g.where);
    }
    if (!all) continue;
    std::vector<int>& calls = all->calls;
    if (is_every) calls.clear();
    std::sort(calls.begin(), calls.end());
    calls.erase(std::unique(calls.begin(), calls.end()), calls.end());
    all->context.varies = calls.size() != 1;
    if (calls.size() == 1) all->context.function = std::string(spec::syscall_name(calls[0]));
    add(std::move(*all), clause);
  }
  calls_.clear();
}

// FUNCTION:entry without a provider: system calls of that name, or functions of the kernel; of a pattern both.
void Lowering::place_code(const Description& d, const Clause& clause) {
  const bool is_call = is_one_of_kernel(d.module) && !is_everything(d.function) && !calls_matching(d.function).empty();
  if (is_call) place_syscall(d);
  if (!is_call || base::has_glob(d.function)) place_function(d, clause);
}

void Lowering::place_function(const Description& d, const Clause& clause) {
  const Ends ends = ends_of(d.name);
  if (!ends.entry && !ends.is_return)
    return no_probe(tag::no_such_probe, d, "the provider fbt has no probe " + quoted(d.name), "its probes are entry and return");
  if (is_everything(d.function) && is_one_of_kernel(d.module))
    return error(tag::too_many_probes, d.where, "this would probe every function of the kernel", "name functions or a module: `fbt::vfs_*:entry`");
  const std::string place = (is_one_of_kernel(d.module) ? "" : d.module + ":") + (d.function.empty() ? "*" : d.function);
  for (const bool is_return : {false, true}) {
    if (is_return ? !ends.is_return : !ends.entry) continue;
    Group g{.where = d.where};
    g.context = {.kind = is_return ? ContextKind::function_return : ContextKind::function_entry,
                 .provider = "fbt",
                 .module = is_one_of_kernel(d.module) ? "vmlinux" : d.module,
                 .function = d.function,
                 .name = is_return ? "return" : "entry",
                 .varies = d.function.empty() || base::has_glob(d.function)};
    g.places = {(is_return ? "kretprobe:" : "kprobe:") + place};
    add(std::move(g), clause);
  }
}

// The files that a module of a process may be: the program itself, its library of that name, or all of them.
std::vector<std::string> Lowering::files_of(const Description& d, std::string_view process) {
  std::string program;
  if (process == "cpid") {
    const std::string_view command = base::trim(options_.command);
    program = std::string(command.substr(0, command.find_first_of(" \t")));
  } else {
    char target[PATH_MAX];
    const ssize_t n = ::readlink(("/proc/" + std::string(process) + "/exe").c_str(), target, sizeof target);
    if (n <= 0) {
      error(d_tag::proc_grab, d.where, "there is no process " + std::string(process) + ", or it may not be looked at");
      return {};
    }
    program = std::string(target, static_cast<size_t>(n));
  }
  const std::string_view module = d.module;
  if (module == "a.out" || module == program.substr(program.rfind('/') + 1)) return {program};
  if (is_everything(module)) {
    (void)program_->config.set("missing_probes", "ignore"); // not every one of them has the function
    std::vector<std::string> out = {program};
    if (process == "cpid") {
      out.push_back("libc");
      return out;
    }
    const auto maps = base::read_file("/proc/" + std::string(process) + "/maps");
    if (!maps.ok()) return out;
    for (std::string_view line : base::split(*maps, '\n')) {
      const size_t path = line.find('/');
      if (path == line.npos || line.find(" r-xp ") == line.npos || line.ends_with(" (deleted)")) continue;
      const std::string file(line.substr(path));
      if (std::find(out.begin(), out.end(), file) == out.end()) out.push_back(file);
    }
    return out;
  }
  if (module.find('/') != module.npos) return {std::string(module)};
  std::string library(module.substr(0, module.find(".so")));
  while (library.ends_with('*')) library.pop_back();
  return {library};
}

void Lowering::place_pid(const Description& d, std::string_view process, const Clause& clause) {
  const Ends ends = ends_of(d.name);
  const bool is_offset = !d.name.empty() && d.name.find_first_not_of("0123456789abcdefABCDEF") == d.name.npos;
  if (d.name.empty() || d.name == "*")
    return error(tag::bad_probe, d.where, "a probe on each instruction of a function is not supported", "name `entry`, `return` or an offset in hex: `pid$target:a.out:main:1c`");
  if (!ends.entry && !ends.is_return && !is_offset)
    return error(d_tag::proc_name, d.where, "the provider pid has no probe " + quoted(d.name), "its probes are entry, return and offsets in hex");
  const std::vector<std::string> files = files_of(d, process);
  if (files.empty()) return;
  const std::string function = d.function.empty() ? "*" : d.function;
  for (const bool is_return : {false, true}) {
    if (is_return ? !ends.is_return : !ends.entry && !is_offset) continue;
    Group g{.where = d.where};
    g.context = {.kind = is_return ? ContextKind::function_return : ContextKind::function_entry,
                 .provider = "pid" + std::string(process == "cpid" ? command_pid : process),
                 .module = d.module,
                 .function = d.function,
                 .name = is_offset ? d.name : is_return ? "return" : "entry",
                 .varies = base::has_glob(function)};
    g.process = process;
    for (const std::string& file : files)
      g.places.push_back((is_return ? "uretprobe:" : "uprobe:") + file + ":" + function + (is_offset && !ends.entry ? "+0x" + d.name : ""));
    add(std::move(g), clause);
  }
}

void Lowering::place_usdt(const Description& d, std::string_view provider, std::string_view process, const Clause& clause) {
  std::string name = d.name;
  base::replace_all(name, "-", "__");
  Group g{.where = d.where};
  g.context = {.kind = ContextKind::usdt, .provider = d.provider, .module = d.module, .function = {}, .name = d.name};
  g.process = process;
  Description in = d;
  if (is_everything(in.module)) in.module = "a.out";
  for (const std::string& file : process.empty() ? std::vector<std::string>{"*"} : files_of(in, process))
    g.places.push_back("usdt:" + file + ":" + std::string(provider) + ":" + (name.empty() ? "*" : name));
  if (!g.places.empty()) add(std::move(g), clause);
}

// sdt:CATEGORY::EVENT
void Lowering::place_tracepoint(const Description& d, const Clause& clause) {
  if (d.module.empty() || d.name.empty())
    return error(tag::bad_probe, d.where, "a tracepoint needs its category and its name", "write `sdt:sched::sched_switch`; `acu list 'tracepoint:*'` lists them");
  std::string event = d.name;
  base::replace_all(event, "-", "_");
  Group g{.where = d.where};
  g.context = {.kind = ContextKind::tracepoint, .provider = "sdt", .module = d.module, .function = {}, .name = d.name};
  g.places = {"tracepoint:" + d.module + ":" + event};
  add(std::move(g), clause);
}

// rawtp:CATEGORY::EVENT, rawtp:::EVENT: the kernel knows a raw tracepoint by its name alone.
void Lowering::place_raw_tracepoint(const Description& d, const Clause& clause) {
  if (is_everything(d.name) || base::has_glob(d.name))
    return error(tag::bad_probe, d.where, "a raw tracepoint needs its name", "write `rawtp:::sched_switch`; `acu list 'rawtracepoint:*'` lists them");
  Group g{.where = d.where};
  g.context = {.kind = ContextKind::raw_tracepoint, .provider = "rawtp", .module = d.module, .function = {}, .name = d.name};
  g.places = {"rawtracepoint:" + d.name};
  add(std::move(g), clause);
}

} // namespace dlang
