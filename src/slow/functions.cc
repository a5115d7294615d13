// Names are those of the symbol table, or as C++ and Rust have them in the source.
#include "slow/functions.h"

#include "base/text.h"
#include "lang/lexer.h"
#include "probe/exception_reach.h"
#include "probe/uprobe.h"
#include "session/child.h"
#include "spec/nothrow_functions.h"
#include "spec/slow_kinds.h"
#include "symbol/binaries.h"
#include "symbol/source_names.h"

namespace slow {

namespace {

struct Named {
  std::string_view file, function;
};

// A colon that stands alone.
Named split_name(std::string_view text) {
  for (size_t at = text.size(); at-- > 1;) {
    if (text[at] != ':') continue;
    if (text[at - 1] != ':') return {text.substr(0, at), text.substr(at + 1)};
    at--;
  }
  return {{}, text};
}

struct Finder {
  explicit Finder(symbol::Binaries& binaries) : reach(binaries) { out.call_ns = spec::slow_call_ns; }
  Functions out;
  probe::ExceptionReach reach;

  void take_returns(symbol::Binary& binary, const symbol::FunctionSymbol& f);

  bool take(symbol::Binary& binary);
};

// "f" of the symbol table, or "ns::f" of the source.
bool Finder::take(symbol::Binary& binary) {
  std::vector<symbol::FunctionSymbol> found = binary.find_functions(out.name, false);
  const bool is_plain = !found.empty();
  if (!is_plain) {
    const symbol::SourceName wanted(out.name);
    for (const symbol::FunctionSymbol& f : binary.functions())
      if (wanted.may_match(f.name) && wanted.matches(binary.shown(f.name))) found.push_back(f);
  }
  const bool is_inlined = found.empty() && binary.has_inlined_calls(out.name);
  if (found.empty() && !is_inlined) return false;
  out.places.push_back(lang::in_quotes(binary.name()) + ":" + (is_plain || is_inlined ? "" : "cpp:") + lang::in_quotes(out.name));
  if (is_inlined) out.no_calls = "all its calls were inlined";
  for (const symbol::FunctionSymbol& f : found) {
    if (std::string why = probe::why_not_at_return(binary, f); !why.empty()) {
      out.no_calls = why;
    } else if (std::string by = probe::switches_stacks(binary); !by.empty() && out.no_calls.empty()) {
      out.no_calls = "the program seems to switch stacks (with `" + by + "`), and return probes could crash it";
      out.is_risk = true;
    }
    if (reach.may_pass(binary, f)) take_returns(binary, f);
  }
  return true;
}

// An exception would end the program while the return is probed like others.
void Finder::take_returns(symbol::Binary& binary, const symbol::FunctionSymbol& f) {
  if (auto returns = probe::find_return_places(binary, f); !returns.ok()) {
    out.no_returns =
        "an exception leaving it would terminate the program, and its return instructions are not known: " +
        returns.error().message;
    return;
  }
  out.call_ns = spec::slow_entry_ns + spec::return_instruction_ns;
  out.is_at_returns = true;
}

base::Error missing(symbol::Binary& binary, const std::string& name) {
  std::vector<std::string_view> names;
  for (const symbol::FunctionSymbol& f : binary.functions())
    names.push_back(symbol::split_source_name(binary.shown(f.name)).name);
  const std::string_view near = base::nearest(name, names);
  std::string message = binary.name() + " has no function `" + name + "`";
  if (!near.empty())
    message += "; did you mean `" + std::string(near) + "`?";
  else if (binary.is_stripped())
    message += ": it is stripped, so the names of its functions are not known";
  else
    message += "; `acu list 'uprobe:" + binary.name() + ":*'` lists its functions, and `LIBRARY:FUNCTION` names a function of a library";
  return {base::Failure::nothing_matched, std::move(message)};
}

} // namespace

base::Result<Functions> find_slow_functions(std::string_view text, int pid, const std::string& command) {
  const Named named = split_name(text);
  symbol::Binaries binaries(pid);
  Finder finder(binaries);
  finder.out.name = named.function;
  std::string file(named.file);
  if (file.empty() && pid < 0) {
    ACU_TRY(file, session::find_executable(command, "--"));
  }
  ACU_TRY(std::vector<symbol::Binary*> found, binaries.find(file));
  for (symbol::Binary* binary : found) finder.take(*binary);
  if (finder.out.places.empty() && named.file.empty() && pid >= 0)
    for (const auto& mapped : binaries.mapped())
      if (auto others = binaries.find(mapped.path); others.ok() && finder.out.places.empty())
        for (symbol::Binary* binary : *others) finder.take(*binary);
  if (finder.out.places.empty()) return missing(*found.front(), finder.out.name);
  type::Table types;
  probe::Machine machine(types, pid);
  finder.out.landings = graph::find_landings(machine, file);
  machine.store_facts();
  return std::move(finder.out);
}

} // namespace slow
