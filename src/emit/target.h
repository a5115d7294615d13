// A target: another framework, whose language scripts are written in.
//
// In: a checked and simplified program (simplify.h), and what it was checked for. Out: files of text. What cannot be
// carried over is an error (tag `misplaced`) with its place, the reason, and the nearest that can as its hint.
#pragma once

#include "base/diagnostics.h"
#include "base/source.h"
#include "base/text_table.h"
#include "emit/construct.h"
#include "lang/ast.h"
#include "lang/check.h"
#include "probe/probe.h"

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace emit {

enum class Level : uint8_t {
  no,        // an error; `note` says why
  rewritten, // by other means, which `note` names
  yes,
};

// How a target takes one construct, builtin or probe kind.
struct Support {
  std::string_view name = {};           // of a builtin or probe kind, as its table has it
  Construct construct = Construct::predicate; // in a list of constructs
  Level level = Level::yes;
  std::string_view note = {};    // no: the reason, as the end of a sentence: "its probes have no loops"; rewritten: by what
  std::string_view nearest = {}; // no: what to write instead, for the hint
  // Versions of the target (minor numbers: 21 is 0.21): `level` holds from this one on; before it, `older` with `note`.
  int since = 0;
  Level older = Level::no;
  Level level_at(int version) const { return version && version < since ? older : level; }
};
using SupportTable = base::TextTable<Support, &Support::name, &Support::note, &Support::nearest>;

// One file of the result. The first is the program itself and has no name of its own where it goes to standard output.
struct File {
  std::string name; // relative: "Makefile", "opensnoop.bpf.c"
  std::string text;
  bool is_executable = false;
};

// What a target is given.
struct Job {
  const lang::Program& program; // checked and simplified
  probe::Machine& machine;      // of the host that it was checked for: types, symbols, debug information
  const base::Source& source;   // its places name the script's lines
  std::string name;             // of the script without folders and ending: "opensnoop"
  std::span<const lang::NamedParameter> parameters; // of getopt(): constants in the result …
  std::span<const std::pair<std::string, std::string>> named; // … with these values, or their defaults
  int version = 0;              // of the target, as in Support; 0: targets without versions
  base::Diagnostics& diagnostics;
};

struct Target {
  std::string_view name;   // as --to has it: "bpftrace"
  std::string_view title;  // "bpftrace", "SystemTap", "D (DTrace)"
  std::string_view ending; // of the program's file: ".bt"
  std::string_view run;    // how the result is run, for help: "bpftrace FILE"
  std::string_view line_comment; // "//" or "#"
  bool stopped = false;    // takes scripts for core dumps and stopped processes (oneshot, thread, frame, fault)
  int first_version = 0, last_version = 0; // 0: without --target-version; else minor numbers, the last is the default
  SupportTable constructs, builtins, probes;
  // Called without mistakes of find_unsupported(). Further mistakes go to job.diagnostics; then what is returned is not used.
  std::vector<File> (*emit)(const Job& job);
};

// Rows of a target; a thing without a row is not supported.
Support support_of(const Target& target, Construct construct);
Support support_of_builtin(const Target& target, std::string_view name);
Support support_of_probe(const Target& target, std::string_view name);

// Reports everything in the program that the target's rows don't allow, each place once.
void find_unsupported(const Job& job, const Target& target);

// One such mistake: "SystemTap has no X: REASON". `what`: "`ustack`", "loop over a map".
void refuse(const Job& job, const Target& target, base::Range where, std::string_view what, std::string_view reason,
            std::string_view nearest);

// The whole way from a checked program: simplify, find_unsupported, emit. Empty if there are mistakes.
std::vector<File> emit_program(const Job& job, lang::Program& program, const Target& target);

// The table of all features and targets, as Markdown: `acu emit --support`.
std::string support_table();

} // namespace emit
