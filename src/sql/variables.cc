// Variables of programs by debug information, blocks of their heaps, and symbols of their files. What an expression means is the business of acu's own
// language: it is the value of a macro in a script that prints it. It has no statements and writes nothing, as queries only read.
#include "sql/proc.h"
#include "sql/sources.h"
#include "sql/subject.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/text.h"
#include "heap/view.h"
#include "proc/process_files.h"
#include "proc/text.h"
#include "session/run.h"
#include "session/signals.h"
#include "snapshot/line.h"
#include "symbol/binaries.h"
#include "target/live_target.h"

#include <algorithm>
#include <rapidjson/document.h>
#include <sys/mman.h>

namespace sql {

namespace {

struct Variable {
  int64_t pid = 0;
  std::string process;
  Value value;
};

bool is_name(char c) { return c == '_' || (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z'); }

// "*pool->first" -> "*target.pool->first"; a builtin, as in "str(target.name)", stays as it is.
std::string with_target(std::string_view expression) {
  const size_t begin = std::min(expression.find_first_not_of("*&( "), expression.size());
  size_t end = begin;
  while (end < expression.size() && is_name(expression[end])) end++;
  const std::string_view name = expression.substr(begin, end - begin);
  const bool is_ready = name.empty() || (name[0] >= '0' && name[0] <= '9') || name == "target" || (end < expression.size() && expression[end] == '(');
  return is_ready ? std::string(expression) : std::string(expression.substr(0, begin)) + "target." + std::string(expression.substr(begin));
}

constexpr std::string_view macro = "asked_value"; // stands for the expression: its text is no part of the script

struct Script {
  std::string text, value; // of the macro
};

// `list(first, next)` has a row for each element.
base::Result<Script> script_of(std::string_view expression) {
  constexpr std::string_view list = "list(";
  const std::string declared = "macro " + std::string(macro) + " { 0 } ", name(macro);
  expression = base::trim(expression);
  // Nothing in a query is repeated without an end, and no file is imported.
  if (expression.find('{') != expression.npos) return base::Error{base::Failure::usage, base::quoted(expression) + ": an expression has no statements, and no `{`"};
  if (!expression.starts_with(list)) return Script{declared + "oneshot { print(" + name + ") }", with_target(expression)};
  const size_t comma = expression.rfind(',');
  const std::string_view next = comma == expression.npos || !expression.ends_with(')') ? std::string_view() : base::trim(expression.substr(comma + 1, expression.size() - comma - 2));
  if (next.empty() || !std::ranges::all_of(next, [](char c) { return is_name(c) || c == '.' || c == ':'; }))
    return base::Error{base::Failure::usage, base::quoted(expression) + ": a list is written `list(FIRST, NEXT)`: its first element, and the member that leads to the next one"};
  return Script{declared + "oneshot { for ($element : list(" + name + ", " + std::string(next) + ")) { print(*$element) } }", with_target(expression.substr(list.size(), comma - list.size()))};
}

// The value of a line {"type": "value", "data": …}: structures and arrays stay JSON, which SQLite's functions read. Nothing: it is another line.
std::optional<Value> value_of(std::string_view line) {
  constexpr std::string_view before = "{\"type\": \"value\", \"data\": ";
  if (!line.starts_with(before)) return {};
  const std::string_view data = line.substr(before.size(), line.size() - before.size() - 1);
  rapidjson::Document parsed;
  parsed.Parse(data.data(), data.size());
  if (parsed.HasParseError()) return std::string(data);
  if (parsed.IsString()) return std::string(parsed.GetString(), parsed.GetStringLength());
  if (parsed.IsInt64()) return int64_t{parsed.GetInt64()};
  if (parsed.IsDouble()) return parsed.GetDouble();
  if (parsed.IsBool()) return int64_t{parsed.GetBool()};
  return parsed.IsNull() ? Value() : Value(std::string(data));
}

base::Status evaluate(const Request& request, probe::StoppedProgram& stopped, std::vector<Variable>& to) {
  const std::string expression = request.text("expression").value_or("");
  ACU_TRY(Script script, script_of(expression));
  const base::Fd file(::memfd_create("acu", MFD_CLOEXEC));
  if (!file.valid()) return base::errno_error("cannot keep the values", errno);
  const std::string path = "/proc/self/fd/" + std::to_string(file.get());
  session::Options options;
  options.script = std::move(script.text), options.has_script = true, options.script_name = "expression";
  options.output_file = path, options.json = true, options.quiet = true, options.read_only = true, options.stopped = &stopped;
  const uint64_t left_ns = request.left_ns(), now = base::clock_ns();
  session::signals::set_deadline(left_ns < UINT64_MAX - now ? now + left_ns : UINT64_MAX);
  const int status = session::run(options, {}, {{.name = std::string(macro), .text = std::move(script.value), .shown = options.script_name}});
  session::signals::set_deadline(UINT64_MAX);
  if (status != 0) return base::Error{base::Failure::usage, "the expression has no value: " + expression};
  ACU_TRY(const std::string text, base::read_file(path));
  const target::Target& target = stopped.target();
  for (std::string_view line : base::split(text, '\n'))
    if (std::optional<Value> value = value_of(line)) to.push_back({.pid = target.pid(), .process = std::string(target.name()), .value = std::move(*value)});
  return {};
}

// A number is a process ID, a name (comm) means all that have it.
std::vector<int> processes_of(const Request& request, const std::string& process) {
  std::vector<int> out;
  const std::optional<uint64_t> only = proc::decimal(process);
  for_each_process(request, [&](int pid, const std::string&) {
    if (only ? static_cast<uint64_t>(pid) == *only : proc::name_of_process(pid) == process) out.push_back(pid);
  });
  return out;
}

// One that is asked for by its ID must be readable; of several with a name, those that are.
base::Status for_each_target(const Request& request, const std::function<base::Status(target::LiveTarget&)>& use) {
  const std::string process = request.text("process").value_or("");
  const std::vector<int> pids = processes_of(request, process);
  if (pids.empty()) return no_process(process);
  for (int pid : pids) {
    if (request.is_stopped()) break;
    auto target = target::open_live(pid, {});
    if (!target.ok() && pids.size() == 1) return std::move(target.error());
    if (!target.ok()) request.note(target.error().message);
    else ACU_CHECK(use(**target));
  }
  return {};
}

base::Result<std::vector<Variable>> read_variables(const Request& request) {
  std::vector<Variable> out;
  ACU_CHECK(for_each_target(request, [&](target::LiveTarget& target) {
    target::Stacks stacks(target);
    probe::StoppedProgram stopped(target, stacks);
    return evaluate(request, stopped, out);
  }));
  return out;
}

base::Result<std::vector<Variable>> read_core_variables(const Request& request) {
  std::vector<Variable> out;
  ACU_CHECK(evaluate(request, *request.subject().stopped, out));
  return out;
}

constexpr Column expression_argument =
    argument("expression", Type::text, "", "An expression of acu's language; a name at its start is a variable of the program: 'pool->first', 'str(target.name)'.");

constexpr Column variable_columns[] = {
    column<&Variable::pid>("pid", "", "The process."),
    column<&Variable::process>("name", "", "Its name."),
    column<&Variable::value>("value", "", "A number or a text; a structure or array as JSON: value ->> 'member'."),
    argument("process", Type::text, "", "Process ID, or the name of processes."),
    expression_argument,
};
constexpr Column core_variable_columns[] = {
    column<&Variable::value>("value", "", "A number or a text; a structure or array as JSON: value ->> 'member'."),
    expression_argument,
};

struct Block {
  int64_t pid = 0, size = 0;
  std::string address, state;
  bool is_mapped = false;
  std::optional<std::string> type;
};

base::Status read_blocks_of(const Request& request, target::Target& target, target::Stacks& stacks, std::vector<Block>& to) {
  constexpr std::string_view states[] = {"used", "freed", "cached", "own", "top"};
  heap::View view(target, stacks);
  for (const target::Chunk& chunk : view.heap().chunks) {
    if (request.is_stopped()) break;
    Block row = {.pid = target.pid(), .size = static_cast<int64_t>(chunk.size), .address = snapshot::hex(chunk.address), .state = std::string(states[chunk.state]), .is_mapped = chunk.is_mapped};
    if (request.uses("type") && chunk.state == target::Chunk::used)
      if (const std::string& type = view.type_of(chunk); !type.empty()) row.type = type;
    to.push_back(std::move(row));
  }
  for (const target::Damage& damage : view.heap().damage) request.note("the heap is damaged at block " + snapshot::hex(damage.chunk) + ": it " + damage.what);
  return {};
}

base::Result<std::vector<Block>> read_blocks(const Request& request) {
  std::vector<Block> out;
  ACU_CHECK(for_each_target(request, [&](target::LiveTarget& target) -> base::Status {
    target.read_writable();
    request.note("process " + std::to_string(target.pid()) + " was not stopped: blocks that it allocated or freed meanwhile may be wrong (acu snap stops it)");
    target::Stacks stacks(target);
    return read_blocks_of(request, target, stacks, out);
  }));
  return out;
}

base::Result<std::vector<Block>> read_core_blocks(const Request& request) {
  std::vector<Block> out;
  ACU_CHECK(read_blocks_of(request, *request.subject().core, *request.subject().stacks, out));
  return out;
}

constexpr Column block_columns[] = {
    column<&Block::pid>("pid", "", "The process."),
    column<&Block::address>("address", "", "What malloc() returned, in hexadecimal."),
    column<&Block::size>("size", "bytes", "Bytes that may be used."),
    column<&Block::state>("state", "", "used, freed, cached (freed, and kept by a thread), own (malloc's), or top (not given out yet)."),
    column<&Block::type>("type", "", "C++ class with virtual functions; NULL: not known."),
    column<&Block::is_mapped>("mapped", "", "1: it has a mapping of its own."),
    argument("process", Type::text, "", "Process ID, or the name of processes. They are not stopped."),
};

struct Symbol {
  std::string name, module;
  std::optional<std::string> shown;
  uint64_t address = 0;
  std::optional<int64_t> size;
  bool is_exported = false;
  std::string address_text() const { return snapshot::hex(address); }
};

// /proc/kallsyms, "ffffffff81000000 T _text\t[module]".
std::vector<Symbol> kernel_symbols() {
  std::vector<Symbol> out;
  const std::string text = proc::text_of("/proc/kallsyms");
  for (std::string_view line : base::split(text, '\n')) {
    const std::vector<std::string_view> words = proc::words_of(line);
    uint64_t address = 0;
    if (words.size() < 3 || !base::take_hex(line, ' ', address)) continue;
    const std::string_view module = words.size() > 3 ? words[3].substr(1, words[3].size() - 2) : "kernel";
    out.push_back({.name = std::string(words[2]), .module = std::string(module), .shown = {}, .address = address, .size = {}, .is_exported = words[1] == "T"});
  }
  return out;
}

base::Result<std::vector<Symbol>> read_symbols(const Request& request) {
  const std::string object = request.text("object").value_or("");
  if (object == "kernel") return kernel_symbols();
  const std::optional<uint64_t> pid = proc::decimal(object);
  if (pid && (*pid > INT32_MAX || proc::name_of_process(static_cast<int>(*pid)).empty())) return no_process(object);
  symbol::Binaries binaries(pid ? static_cast<pid_t>(*pid) : -1);
  ACU_TRY(const std::vector<symbol::Binary*> found, binaries.find(pid ? "*" : object));
  std::vector<Symbol> out;
  for (symbol::Binary* binary : found)
    for (const symbol::FunctionSymbol& f : binary->functions()) {
      if (request.is_stopped()) return out;
      Symbol row = {.name = std::string(f.name), .module = binary->name(), .shown = {}, .address = f.address, .size = {}, .is_exported = f.is_exported};
      if (request.uses("shown")) row.shown = std::string(binary->shown(f.name));
      if (f.size) row.size = static_cast<int64_t>(f.size);
      out.push_back(std::move(row));
    }
  return out;
}

constexpr Column symbol_columns[] = {
    column<&Symbol::name>("name", "", "Name of the function, as the file has it; of the kernel also of data."),
    column<&Symbol::shown>("shown", "", "The name as in the source: A::f(int)."),
    column<&Symbol::address_text>("address", "", "Address in the file, before the loader moves it, in hexadecimal; of the kernel, in memory."),
    column<&Symbol::size>("size", "bytes", "Size of its code; NULL: not known."),
    column<&Symbol::is_exported>("exported", "", "1: other files are linked with it."),
    column<&Symbol::module>("module", "", "The file, or the module of the kernel."),
    argument("object", Type::text, "", "A file, a library (libc), a process ID (all files of its code), or kernel."),
};

} // namespace

const Table variables = {.name = "var", .doc = "Variables of running programs, by debug information; the process is not stopped.", .example = "select pid, value from var('nginx', 'ngx_cycle->connection_n')",
                         .columns = variable_columns, .read = rows_of<read_variables>, .expected_rows = 10};
const Table core_variables = {.of = Of::core, .name = "var", .doc = "Variables of the program, by debug information.", .example = "select value ->> 'id' from var('list(sessions, next)')",
                              .columns = core_variable_columns, .read = rows_of<read_core_variables>, .expected_rows = 10};
const Table blocks = {.name = "heap_blocks", .doc = "Blocks of glibc's malloc in a process.", .example = "select type, count(*), sum(size) from heap_blocks('nginx') where state = 'used' group by 1 order by 3 desc limit 5",
                      .columns = block_columns, .read = rows_of<read_blocks>, .expected_rows = 100'000};
const Table core_blocks = {.of = Of::core, .name = "heap_blocks", .doc = "Blocks of glibc's malloc, by address.", .example = "select type, count(*), sum(size) from heap_blocks where state = 'used' group by 1 order by 3 desc limit 5",
                           .columns = std::span(block_columns).first(std::size(block_columns) - 1), .read = rows_of<read_core_blocks>, .expected_rows = 100'000};
const Table symbols = {.name = "symbols", .doc = "Functions of a file, of a process, or of the kernel.", .example = "select name, size from symbols('libc') order by size desc limit 5",
                       .columns = symbol_columns, .read = rows_of<read_symbols>, .expected_rows = 10'000};

} // namespace sql
