// `acu modules`: what code a process has mapped, and for each file where its names and its debug information
// come from, or what is in the way.
#include "base/counted.h"
#include "base/text.h"
#include "report/json.h"
#include "session/arguments.h"
#include "symbol/debug_package.h"
#include "symbol/symbolizer.h"
#include "tool/tool.h"

#include <climits>
#include <cstdlib>
#include <set>
#include <sys/utsname.h>

namespace tool {

namespace {

using spec::OptionId;
using symbol::DebugFile;

struct Request {
  symbol::DebugSearch search;
  pid_t pid = 0; // 0: none
  bool kernel = false, verbose = false, json = false;
  std::vector<std::string> files;
};

struct Row {
  std::string path;
  uint64_t address = 0; // where its code is mapped; 0: nowhere
  std::string build_id;
  size_t functions = 0;
  size_t unnamed = 0;               // further functions, called by their addresses
  std::vector<std::string> symbols; // where they are from: ".dynsym", "/usr/lib/debug/…"
  std::string debug;                // what has the debug information, with how it was found; empty: nothing
  std::string problem;              // why the file, or a debug file, could not be used
  std::string hint;                 // what to do to get debug information
  std::vector<symbol::TriedPlace> tried;
};

base::Result<Request> read_request(const session::Arguments& arguments) {
  Request out;
  if (const std::string* text = arguments.value(OptionId::pid)) {
    ACU_TRY(out.pid, session::read_pid("-p", *text));
  }
  out.kernel = arguments.has(OptionId::kernel);
  out.verbose = arguments.has(OptionId::verbose);
  out.json = arguments.has(OptionId::json);
  out.search.download = arguments.has(OptionId::debuginfod);
  for (const session::Given& g : arguments.options)
    if (g.id == OptionId::debuginfo) out.search.folders.push_back(g.value);
  out.files = arguments.words;
  if (!out.pid && !out.kernel && out.files.empty())
    return base::usage_error("no target given: add `-p PID`, `-k`, or files (see `acu help modules`)");
  return out;
}

// The file of the running kernel, as packages name it.
std::string kernel_path() {
  utsname system = {};
  ::uname(&system);
  return std::string("/boot/vmlinuz-") + system.release;
}

std::string how_found(DebugFile::Source source) {
  switch (source) {
  case DebugFile::Source::none: return "";
  case DebugFile::Source::module: return "in the file itself";
  case DebugFile::Source::folder: return "by --debuginfo";
  case DebugFile::Source::build_id: return "by build-id";
  case DebugFile::Source::debug_link: return "by debuglink";
  case DebugFile::Source::name: return "by name";
  case DebugFile::Source::download: return "by debuginfod";
  }
  return "";
}

void take_debug(Row& row, const DebugFile& debug) {
  row.tried = debug.debug.tried;
  row.tried.insert(row.tried.end(), debug.alt.tried.begin(), debug.alt.tried.end());
  row.problem = symbol::summary(row.tried);
  if (debug.has_alt_link && !debug.alt.file)
    row.problem +=
        (row.problem.empty() ? "" : "; ") + std::string("the debug file it shares with others (dwz) is missing");
  if (!debug.has_dwarf) return;
  bool is_own = debug.source == DebugFile::Source::module;
  row.debug = is_own ? how_found(debug.source) : debug.debug.path + " (" + how_found(debug.source) + ")";
}

Row row_of(symbol::Module& module, const symbol::Cache& cache) {
  Row row = {.path = module.path()};
  const format::ElfFile& file = *module.file();
  row.build_id = format::to_hex(file.build_id());
  const symbol::FunctionNames& names = module.names(cache);
  row.unnamed = names.count_derived();
  row.functions = names.size() - row.unnamed;
  const format::ElfSection* symtab = file.elf().section(".symtab");
  if (symtab || file.elf().section(".dynsym")) row.symbols.push_back(symtab ? ".symtab" : ".dynsym");
  if (file.packed_symbols()) row.symbols.push_back(".gnu_debugdata");
  if (!names.source().empty()) row.symbols.emplace_back(names.source());
  take_debug(row, module.debug());
  return row;
}

void append_row(std::string& out, const Row& row, bool verbose) {
  out += row.path + "\n";
  auto line = [&](std::string_view name, std::string_view text) {
    std::string left = "    " + std::string(name);
    left.resize(16, ' ');
    if (!text.empty()) out += left + std::string(text) + "\n";
  };
  if (row.address) {
    char text[32];
    std::snprintf(text, sizeof text, "0x%lx", row.address);
    line("code at", text);
  }
  line("build-id", row.build_id);
  std::string symbols;
  for (const std::string& from : row.symbols) symbols += (symbols.empty() ? " from " : ", ") + from;
  if (row.functions || !row.unnamed)
    line("symbols", row.functions ? base::counted(row.functions, "function") + symbols : "none");
  if (row.unnamed) line("unnamed", base::counted(row.unnamed, "function") + ", from .eh_frame");
  line("debug info", row.debug.empty() ? "none" : row.debug);
  line("problem", row.problem);
  line("help", row.hint);
  if (!verbose) return;
  for (const symbol::TriedPlace& t : row.tried) line("tried", t.path + ": " + t.problem);
}

void append_row_json(std::string& out, const Row& row) {
  std::string comma;
  auto key = [&](std::string_view name) {
    out += std::exchange(comma, ", ") + "\"" + std::string(name) + "\": ";
  };
  auto text = [&](std::string_view name, std::string_view value) {
    if (value.empty()) return;
    key(name);
    report::append_json(out, value);
  };
  out += '{';
  text("path", row.path);
  if (row.address) {
    char address[32];
    std::snprintf(address, sizeof address, "0x%lx", row.address);
    text("address", address);
  }
  text("build_id", row.build_id);
  key("functions");
  out += std::to_string(row.functions);
  if (row.unnamed) {
    key("functions_unnamed");
    out += std::to_string(row.unnamed);
  }
  key("symbols");
  out += '[';
  for (size_t i = 0; i < row.symbols.size(); i++) {
    if (i) out += ", ";
    report::append_json(out, row.symbols[i]);
  }
  out += ']';
  text("debug_info", row.debug);
  text("problem", row.problem);
  text("help", row.hint);
  out += "}\n";
}

// Packages know files by absolute paths.
std::string absolute(const std::string& path) {
  if (path[0] == '/') return path;
  char* real = ::realpath(path.c_str(), nullptr);
  std::string out = real ? real : path;
  std::free(real);
  return out;
}

// What would bring the debug information that is missing.
void add_hints(std::vector<Row>& rows, const std::string& root, bool asked_servers) {
  std::vector<symbol::CodeFile> files;
  std::vector<Row*> lacking;
  for (Row& row : rows) {
    bool is_kernel = row.path == "[kernel]";
    if (!row.debug.empty() || (row.path[0] == '[' && !is_kernel)) continue;
    files.push_back({is_kernel ? kernel_path() : absolute(row.path), row.build_id});
    lacking.push_back(&row);
  }
  std::vector<std::string> packages = symbol::debug_packages(files, root);
  const char* servers = std::getenv("DEBUGINFOD_URLS");
  for (size_t i = 0; i < lacking.size(); i++) {
    std::string& hint = lacking[i]->hint = packages[i];
    if (!asked_servers && servers && *servers)
      hint += (hint.empty() ? "" : ", or ") + std::string("--debuginfod");
    if (!hint.empty()) continue;
    hint = lacking[i]->path == "[kernel]"
               ? "give the directory of its vmlinux: --debuginfo DIR"
               : "build it with -g, or give the directory of its debug file: --debuginfo DIR";
  }
}

class Listing {
public:
  explicit Listing(const Request& request) : request_(request) {}

  void add(symbol::Module& module, const symbol::Cache& cache, uint64_t address) {
    rows_.push_back(row_of(module, cache));
    rows_.back().address = address;
  }
  void add(std::string path, uint64_t address, std::string problem) {
    rows_.push_back({.path = std::move(path), .address = address, .problem = std::move(problem)});
  }
  void add(Row row) { rows_.push_back(std::move(row)); }
  std::string text(const std::string& root) {
    add_hints(rows_, root, request_.search.download);
    std::string out;
    for (const Row& row : rows_)
      if (request_.json)
        append_row_json(out, row);
      else
        append_row(out, row, request_.verbose);
    return out;
  }

private:
  const Request& request_;
  std::vector<Row> rows_;
};

base::Status list_process(const Request& request, Listing& listing) {
  symbol::Symbolizer symbolizer({.search = request.search});
  ACU_CHECK(symbolizer.set_process(request.pid));
  std::set<std::string> listed;
  for (const symbol::Mapping& m : symbolizer.mappings()) {
    bool is_code = m.is_file() || m.path == "[vdso]";
    if (!is_code || !listed.insert(m.path + (m.deleted ? " (deleted)" : "")).second) continue;
    if (symbol::Module* module = symbolizer.module_of(m))
      listing.add(*module, symbolizer.cache(), m.begin);
    else
      listing.add(m.path, m.begin, symbolizer.problem_of(m));
  }
  return {};
}

Row kernel_row(const Request& request) {
  Row row = {.path = "[kernel]"};
  symbol::Kallsyms kallsyms;
  row.functions = kallsyms.size();
  if (row.functions) row.symbols.push_back("/proc/kallsyms");
  row.build_id = format::to_hex(symbol::kernel_build_id());
  DebugFile debug = symbol::find_kernel_debug_file(request.search);
  take_debug(row, debug);
  if (!row.functions)
    row.problem = "the kernel hides its addresses: run as root, and check /proc/sys/kernel/kptr_restrict";
  return row;
}

} // namespace

int modules(const session::Arguments& arguments) {
  auto request = read_request(arguments);
  if (!request.ok()) return fail(request.error());
  if (request->kernel) {
    Listing kernel(*request);
    kernel.add(kernel_row(*request));
    say(kernel.text({}));
  }
  if (request->pid) {
    Listing process(*request);
    if (auto listed = list_process(*request, process); !listed.ok()) return fail(listed.error());
    say(process.text("/proc/" + std::to_string(request->pid) + "/root"));
  }
  Listing files(*request);
  symbol::Symbolizer symbolizer({.search = request->search});
  for (const std::string& path : request->files) {
    auto module = symbolizer.add_file(path);
    if (!module.ok()) return fail(module.error());
    files.add(symbolizer.module(*module), symbolizer.cache(), 0);
  }
  say(files.text({}));
  return 0;
}

} // namespace tool
