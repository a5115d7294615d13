// Probe points to acu's probes.
#include "stap/lowering.h"

#include "base/text.h"
#include "spec/counters.h"
#include "spec/diagnostics.h"
#include "stap/walk.h"

#include <algorithm>

namespace stap {

using namespace spec;
using base::quoted;

namespace {

constexpr int max_alias_depth = 20;

// Names of system calls where SystemTap and the kernel's events differ.
constexpr std::pair<std::string_view, std::string_view> call_names[] = {
    {"stat", "newstat"}, {"fstat", "newfstat"}, {"lstat", "newlstat"}, {"fstatat", "newfstatat"}, {"sendfile", "sendfile64"}, {"uname", "newuname"}, {"umount", "umount"},
    {"pread", "pread64"}, {"pwrite", "pwrite64"}, {"send", "sendto"}, {"recv", "recvfrom"}, {"sigaction", "rt_sigaction"}, {"sigprocmask", "rt_sigprocmask"}, {"fadvise64", "fadvise64"}};

constexpr std::string_view call_providers[] = {"syscall", "nd_syscall", "dw_syscall"};

bool is_named(const Point& p, size_t i, std::string_view name) { return i < p.components.size() && p.components[i].name == name; }

const Component* component(const Point& p, std::string_view name) {
  for (const Component& c : p.components)
    if (c.name == name) return &c;
  return nullptr;
}

} // namespace

bool Lowering::refuse(const Point& p, std::string message, std::string hint) {
  error(tag::bad_probe, p.where, std::move(message), std::move(hint));
  return false;
}

// The argument of a component, as acu's probes have it: a text, a number, or a parameter of the script.
std::string Lowering::words_of(const Point& p, const Component& c, std::string_view what) {
  if (!c.argument) return {};
  const Node& a = *c.argument;
  if (a.kind == NodeKind::text) {
    const bool is_plain = std::ranges::all_of(a.text, [](char c) { return static_cast<unsigned char>(c) > ' ' && c != 127 && std::string_view("{},;\"\\()#").find(c) == std::string_view::npos; });
    if (!is_plain) refuse(p, base::quoted(base::printable(a.text)) + " has characters that no probe of acu can have", "write " + std::string(what) + " without blanks, quotes and brackets");
    return is_plain ? a.text : std::string();
  }
  if (a.kind == NodeKind::integer && (c.name == "function" || c.name == "statement")) { // an address
    char address[32];
    std::snprintf(address, sizeof address, "0x%llx", static_cast<unsigned long long>(a.value));
    if (!p.text().starts_with("process")) refuse(p, "an address in the kernel cannot be probed", "name the function: `acu list 'kprobe:*'` lists them");
    return address;
  }
  if (a.kind == NodeKind::integer) return std::to_string(static_cast<int64_t>(a.value));
  if (a.kind == NodeKind::argument && a.text != "#") return "$" + a.text;
  refuse(p, "the argument of " + quoted(c.name) + " is no literal", "write " + std::string(what));
  return {};
}

// "f", "f@file.c", "f@file.c:12": the file is dropped where it only chooses among functions of one name.
std::string Lowering::function_pattern(const Point& p, const std::string& text) {
  const size_t at = text.find('@');
  if (at == text.npos) return text;
  if (text.substr(0, at) == "*") {
    refuse(p, "acu cannot tell which functions are in " + quoted(text.substr(at + 1)), "name functions, also with `*`: `acu list 'kprobe:sock_*'` lists them");
    return {};
  }
  remark("the file in " + p.text() + " was dropped: acu probes all functions of that name", p.where);
  return text.substr(0, at);
}

// Aliases of the script become what they stand for; their blocks run in front of the probe's, or behind it.
void Lowering::add_units(const Probe& p, const Point& point, std::vector<const Statement*> before, std::vector<const Statement*> behind, std::vector<Unit>& to, int depth) {
  const std::string text = point.text();
  if (depth > max_alias_depth) return (void)refuse(point, "the alias " + quoted(text) + " is made of itself", "name a probe in it");
  bool is_alias = false;
  for (const Alias& a : script_.aliases) {
    if (a.name != text && !(base::has_glob(text) && base::glob_match(text, a.name))) continue;
    is_alias = true;
    std::vector<const Statement*> front = before, back = behind;
    if (a.is_behind)
      back.insert(back.begin(), a.body);
    else
      front.push_back(a.body);
    for (const Point& inner : a.points) add_units(p, inner, front, back, to, depth + 1);
  }
  if (is_alias) return;
  Unit u;
  u.where = p.where;
  u.condition = point.condition;
  statement_ = {p.where.begin, p.where.begin + 1};
  const bool is_placed = place(point, u);
  statement_ = {};
  if (!is_placed) return;
  u.bodies = std::move(before);
  u.bodies.push_back(p.body);
  u.bodies.insert(u.bodies.end(), behind.begin(), behind.end());
  to.push_back(std::move(u));
}

// Names of the probe that a block uses: $x, or names that are no variables.
bool Lowering::uses_context(const Unit& u) const {
  bool uses = false;
  for (const Statement* body : u.bodies)
    walk(body, [&](const Node& n) {
      uses |= n.kind == NodeKind::target || (n.kind == NodeKind::name && !is_global(n.text) && !u.scope.locals.contains(n.text));
      uses |= n.kind == NodeKind::call && n.text.ends_with("_arg");
    });
  return uses;
}

// $name other than $return, and values of a tapset that are made of arguments.
bool Lowering::uses_arguments(const Unit& u) const {
  bool uses = false;
  for (const Statement* body : u.bodies)
    walk(body, [&](const Node& n) {
      uses |= n.kind == NodeKind::target && n.text != "return" && n.text != "$return";
      const auto row = n.kind == NodeKind::name ? variable_row(n.text, u.scope.context) : std::nullopt;
      uses |= row && variable_rows[*row].expression.find("args.") != std::string_view::npos;
    });
  return uses;
}

bool Lowering::uses_result(const Unit& u) const {
  bool uses = false;
  for (const Statement* body : u.bodies) walk(body, [&](const Node& n) { uses |= n.kind == NodeKind::target && (n.text == "return" || n.text == "$return"); });
  return uses;
}

bool Lowering::place(const Point& p, Unit& u) {
  const std::string& first = p.components[0].name;
  if (first == "never" || first == "error") {
    remark(first == "never" ? "a block of `never` was dropped" : "a block of `error` was dropped: acu counts failed reads and reports them at the end", p.where);
    return false;
  }
  if (p.is_optional) {
    (void)program_->config.set("missing_probes", "ignore");
    remark("`?` became missing_probes = \"ignore\", which is for all probes of the script", p.where);
  }
  if (base::is_one_of(call_providers, first)) return place_syscall(p, u);
  if (first == "kernel" || first == "module" || first == "kprobe") return place_kernel(p, u);
  if (first == "process") return place_process(p, u);
  if (first == "perf") return place_perf(p, u);
  if (first == "timer") return place_timer(p, u);
  if (place_simple(p, u)) return true;
  return !diagnostics_.has_errors() && place_tapset(p, u);
}

bool Lowering::place_simple(const Point& p, Unit& u) {
  const std::string& first = p.components[0].name;
  if (first == "oneshot") {
    u.places = {"begin"};
    u.exits = true;
    return true;
  }
  if (first != "begin" && first != "end") return false;
  if (p.components[0].argument && p.components[0].argument->kind == NodeKind::integer) u.order = static_cast<int64_t>(p.components[0].argument->value);
  u.places = {first};
  return true;
}

// timer.s(1), timer.ms(100), timer.profile, timer.hz(10)
bool Lowering::place_timer(const Point& p, Unit& u) {
  struct UnitRow {
    std::string_view name, unit;
    uint64_t factor;
  };
  constexpr UnitRow rows[] = {{"s", "s", 1}, {"sec", "s", 1}, {"ms", "ms", 1}, {"msec", "ms", 1}, {"us", "us", 1}, {"usec", "us", 1}, {"hz", "hz", 1}, {"jiffies", "ms", 4}, {"ns", "us", 1}, {"nsec", "us", 1}};
  if (is_named(p, 1, "profile")) {
    remark("timer.profile became 100 samples per second on each CPU", p.where);
    u.places = {"profile:hz:100"};
    return true;
  }
  if (is_named(p, 2, "randomize")) remark("the random part of the timer was dropped", p.where);
  for (const UnitRow& row : rows) {
    if (!is_named(p, 1, row.name)) continue;
    const std::string number = words_of(p, p.components[1], "a number");
    if (number.empty()) return refuse(p, "this timer has no period", "write `timer.s(1)`");
    if (row.name == "jiffies") remark("a jiffy was taken as 4 ms", p.where);
    const auto value = base::parse_integer(number);
    const bool is_ns = row.name.starts_with("ns");
    const uint64_t n = !value ? 0 : is_ns ? std::max<uint64_t>(*value / 1000, 1) : *value * row.factor;
    u.places = {"interval:" + std::string(row.unit) + ":" + (value ? std::to_string(n) : number)};
    return true;
  }
  return refuse(p, quoted(p.text()) + " is no timer that acu has", "timers are timer.s(N), .ms(N), .us(N), .ns(N), .hz(N), .jiffies(N) and timer.profile");
}

// syscall.NAME[.return]
bool Lowering::place_syscall(const Point& p, Unit& u) {
  if (p.components.size() < 2) return refuse(p, "the system call has no name", "write `syscall.read` or `syscall.*`");
  const std::string& given = p.components[1].name;
  u.scope.context.is_return = is_named(p, 2, "return");
  if (given == "*") {
    u.scope.context.kind = ContextKind::raw_syscall;
    u.places = {u.scope.context.is_return ? "tracepoint:raw_syscalls:sys_exit" : "tracepoint:raw_syscalls:sys_enter"};
    return true;
  }
  std::string event = given;
  for (const auto& [theirs, kernels] : call_names)
    if (given == theirs) event = kernels;
  if (given == "open") remark("programs of today call openat: probe syscall.openat as well", p.where);
  u.scope.context.kind = ContextKind::syscall;
  u.scope.context.name = given;
  u.places = {std::string("tracepoint:syscalls:sys_") + (u.scope.context.is_return ? "exit_" : "enter_") + event};
  return true;
}

// kernel.function("f"), .return, .call; module("m").function("f"); kernel.trace("t"); kernel.statement("f@file:line")
bool Lowering::place_kernel(const Point& p, Unit& u) {
  const Component* function = component(p, "function");
  if (const Component* trace = component(p, "trace")) {
    std::string event = words_of(p, *trace, "the name of a tracepoint");
    event = event.substr(event.rfind(':') == event.npos ? 0 : event.rfind(':') + 1);
    if (event.empty()) return refuse(p, "the tracepoint has no name", "write `kernel.trace(\"sched_switch\")`");
    u.scope.context.kind = ContextKind::trace;
    u.scope.context.name = event;
    u.places = {"rawtracepoint:" + event};
    return true;
  }
  if (const Component* data = component(p, "data")) return refuse(p, "watching data of the kernel is not converted", "write `watchpoint:" + words_of(p, *data, "an address") + ":8:w`");
  if (component(p, "statement")) return refuse(p, "acu can't probe a line of the kernel", "probe a function: kernel.function(\"f\")");
  if (!function) return refuse(p, quoted(p.text()) + " is no probe that acu has", "probes of the kernel are .function(\"f\"), .function(\"f\").return and .trace(\"t\")");
  std::string name = function_pattern(p, words_of(p, *function, "the name of a function"));
  if (name.empty()) return diagnostics_.has_errors() ? false : refuse(p, "the function has no name", "write `kernel.function(\"vfs_read\")`");
  if (p.components[0].name == "module") name = words_of(p, p.components[0], "the name of a module") + ":" + name;
  if (component(p, "inline")) remark("the kernel's inlined functions can't be probed: only calls are", p.where);
  if (component(p, "exported")) remark("`.exported` was dropped", p.where);
  u.scope.context.kind = ContextKind::kernel_function;
  u.scope.context.is_return = component(p, "return") != nullptr;
  u.places = {(u.scope.context.is_return ? "kretprobe:" : "kprobe:") + name};
  return true;
}

// process("x").begin, .end, .thread.begin, .thread.end, .syscall, .syscall.return
bool Lowering::place_process_event(const Point& p, Unit& u, const std::string& path) {
  const bool is_thread = is_named(p, 1, "thread");
  const std::string& event = p.components[is_thread ? 2 : 1].name;
  if (event == "begin")
    u.places = {is_thread ? "rawtracepoint:sched_process_fork" : "tracepoint:sched:sched_process_exec"};
  else if (event == "end")
    u.places = {"tracepoint:sched:sched_process_exit"};
  else if (event == "syscall")
    u.places = {is_named(p, 2, "return") ? "tracepoint:raw_syscalls:sys_exit" : "tracepoint:raw_syscalls:sys_enter"};
  else
    return refuse(p, quoted(p.text()) + " is no probe that acu has", "probes of programs are .function(\"f\"), .mark(\"m\"), .statement(\"f@file:line\"), .begin, .end and .syscall");
  if (event == "syscall") u.scope.context = {ContextKind::raw_syscall, is_named(p, 2, "return"), {}};
  if (event == "end" && !is_thread) remark("this runs when any thread of the program ends: `pid == tid` is its first", p.where);
  const Node* of = p.components[0].argument;
  if (of && of->kind != NodeKind::text) {
    u.process = of;
    if (of->is_text) remark("the parameter must be the name of the program, without its folder", p.where);
  } else if (path.empty())
    remark("a probe without a program runs for all of them: use `-p PID`, or name the program", p.where);
  else
    u.program = path.substr(path.rfind('/') == path.npos ? 0 : path.rfind('/') + 1).substr(0, 15);
  return true;
}

// process("x")[.library("y")].function("f")[.return|.call], .mark("m"), .statement("f@file:line")
bool Lowering::place_process(const Point& p, Unit& u) {
  std::string path = words_of(p, p.components[0], "the path of a program");
  const Component *function = component(p, "function"), *mark = component(p, "mark"), *line = component(p, "statement"), *plt = component(p, "plt");
  if (p.components.size() < 2 || diagnostics_.has_errors()) return diagnostics_.has_errors() ? false : refuse(p, "this names no event of the program", "write `.function(\"f\")`");
  if (plt) return refuse(p, "calls through the linkage table can't be probed", "probe the function in its library");
  if (!function && !mark && !line) return place_process_event(p, u, path);
  const Component* library = component(p, "library");
  if (library) {
    remark("the library is probed in all processes: use `-p PID` for one of them", p.where);
    path = words_of(p, *library, "the name of a library");
  } else if (path.empty() || !p.components[0].argument || p.components[0].argument->kind == NodeKind::integer) {
    return refuse(p, "the program has no path", "write `process(\"/usr/bin/NAME\")`, or pass it: `process(@1)`");
  }
  if (mark) {
    const Component* provider = component(p, "provider");
    u.scope.context.kind = ContextKind::mark;
    u.places = {"usdt:" + path + ":" + (provider ? words_of(p, *provider, "the name of a provider") + ":" : "*:") + words_of(p, *mark, "the name of a mark")};
    return !diagnostics_.has_errors();
  }
  std::string what = words_of(p, function ? *function : *line, "the name of a function");
  const size_t at = what.find('@');
  const size_t colon = at == what.npos ? at : what.find_first_of(":+", at);
  u.scope.context.is_return = component(p, "return") != nullptr;
  if (colon != what.npos) { // a line
    if (what[colon] == '+') return refuse(p, "a line that is counted from the begin of its function is not converted", "name the line: " + what.substr(at + 1, colon - at - 1) + ":LINE");
    u.scope.context.kind = ContextKind::user_line;
    u.places = {"uprobe:" + path + what.substr(at)};
    return true;
  }
  if (line && at == what.npos) {
    if (!line->argument || line->argument->kind != NodeKind::integer) return refuse(p, "the statement has no line", "write `.statement(\"f@file.c:12\")`");
    what = base::lower(what);
  }
  u.scope.context.kind = ContextKind::user_function;
  what = function_pattern(p, what);
  u.places = {(u.scope.context.is_return ? "uretprobe:" : "uprobe:") + path + ":" + what};
  return !what.empty();
}

// perf.sw.page_faults.sample(1), perf.hw.cpu_cycles.sample(1000000)
bool Lowering::place_perf(const Point& p, Unit& u) {
  const bool is_software = is_named(p, 1, "sw");
  if (p.components.size() < 3 || (!is_software && !is_named(p, 1, "hw"))) return refuse(p, quoted(p.text()) + " is no counter that acu has", "counters are perf.sw.NAME and perf.hw.NAME");
  const spec::CounterRow* counter = spec::find_systemtap_counter(is_software ? PERF_TYPE_SOFTWARE : PERF_TYPE_HARDWARE, p.components[2].name);
  if (!counter) return refuse(p, quoted(p.text()) + " is no counter that acu has", "`acu list` names them: software:*, hardware:*");
  std::string period;
  if (const Component* sample = component(p, "sample")) period = words_of(p, *sample, "a number");
  if (component(p, "counter") || component(p, "process")) remark("reading a counter in another probe is not converted: `acu stat` counts", p.where);
  u.places = {std::string(is_software ? "software:" : "hardware:") + std::string(counter->name) + (period.empty() ? "" : ":" + period)};
  return true;
}

bool Lowering::place_tapset(const Point& p, Unit& u) {
  const std::string text = p.text();
  bool is_found = false;
  for (const ProbeRow& row : probe_rows) {
    if (row.name != text && !(base::has_glob(text) && base::glob_match(text, row.name))) continue;
    u.scope.context.kind = ContextKind::tapset;
    u.scope.context.name = row.name;
    u.scope.context.is_return = text.ends_with(".return");
    u.places.emplace_back(row.place);
    if (!row.remark.empty()) remark(std::string(row.remark), p.where);
    is_found = true;
  }
  if (is_found) return true;
  const std::string& first = p.components[0].name;
  for (const MissingProbe& m : missing_probes)
    if (m.name == first) return refuse(p, quoted(text) + " has no counterpart in acu", std::string(m.instead));
  std::vector<std::string_view> names = {"begin", "end", "timer", "syscall", "kernel", "module", "process", "perf"};
  for (const ProbeRow& row : probe_rows) names.push_back(row.name);
  for (const Alias& a : script_.aliases) names.push_back(a.name);
  const std::string_view near = base::nearest(text, names);
  return refuse(p, "acu knows no probe " + quoted(text), near.empty() ? "name what it stands for: kernel.trace(\"…\"), kernel.function(\"…\") or syscall.…" : "did you mean " + quoted(near) + "?");
}

} // namespace stap
