// Runs a D script that has only BEGIN and END, on both engines: what it prints.
#pragma once

#include "dlang/lower.h"
#include "host/cpus.h"
#include "session/backend.h"
#include "session/compile.h"
#include "session/run.h"

#include <string>
#include <vector>

namespace d_test {

struct Run {
  std::string evaluator, kernel; // output, or the mistakes of the script
  std::string refused;           // why the kernel takes no programs here, or not this one
};

inline std::string on(session::Compiled& compiled, base::Result<std::unique_ptr<session::Backend>> backend, const base::Source& source) {
  if (!backend.ok()) return "refused: " + backend.error().message;
  return session::output_of(compiled.program, (*backend)->engine(), &source, compiled.d_plan.get());
}

inline Run run(const std::string& text, std::vector<std::string> words = {}, bool in_kernel = true) {
  Run out;
  base::Source source("test.d", text);
  base::Diagnostics diagnostics;
  dlang::TranslateOptions d;
  d.values.words = std::move(words);
  d.values.script_name = "test.d";
  session::CompileOptions options;
  options.d_script = &d;
  options.lower.possible_cpus = host::possible_cpus();
  session::Compiled compiled = session::compile(source, options, diagnostics);
  if (!compiled.ok) {
    out.evaluator = out.kernel = diagnostics.render(source, false);
    return out;
  }
  out.evaluator = on(compiled, session::make_eval_backend(compiled.program), source);
  if (!in_kernel) return out;
  session::LoadReport report;
  out.kernel = on(compiled, session::make_kernel_backend(compiled.program, {.license = "GPL", .log_size = 1000000, .source = &source}, report), source);
  if (out.kernel.starts_with("refused: ")) out.refused = out.kernel;
  return out;
}

} // namespace d_test
