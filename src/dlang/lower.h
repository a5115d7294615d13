// D to acu's own language: a script's text becomes a lang::Program, which is checked, lowered and run like any other, and a Plan, which
// says how its output is printed (consumer.h).
#pragma once

#include "base/diagnostics.h"
#include "dlang/plan.h"
#include "dlang/translate_options.h"
#include "lang/ast.h"

#include <memory>
#include <optional>
#include <string>

namespace dlang {

struct Translated {
  std::unique_ptr<lang::Program> program; // never nullptr
  std::shared_ptr<const Plan> plan;
};

// All mistakes go to `diagnostics`, with places in `source`. The program has neither macros nor types yet: lang::check comes next.
Translated translate(const base::Source& source, const TranslateOptions& options, base::Diagnostics& diagnostics);

// Of `-l`: one line for each probe, with the numbers that records show.
std::string list(const Plan& plan, const lang::Program& program);

// How many probes each part of the script has: "dtrace: description 'syscall:::entry' matched 373 probes".
std::string matched(const Plan& plan, const lang::Program& program, const base::Source& source, const std::vector<ScriptPart>& parts);

// What became of the command of -c, or of the process of -p: "dtrace: pid 17 has exited".
std::string end_of_process(int pid, std::optional<int> status, std::optional<int> signal);

// Of `-l` without a script: descriptions of all probes with fixed names.
std::string all_descriptions();

// The table of providers: whether each is supported, what stands for it, what differs.
std::string list_providers();

// The same mistakes, with DTrace's names in front of their messages: "[D_SYNTAX] expected …".
base::Diagnostics with_error_tags(const base::Diagnostics& diagnostics);

} // namespace dlang
