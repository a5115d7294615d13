// A script as a target writes it, without the comments.
#pragma once

#include "base/text.h"
#include "emit/targets.h"
#include "session/compile.h"

#include <string>
#include <string_view>

namespace test {

struct Emitted {
  std::string text;     // without lines of comments, empty lines and the first line
  std::string mistakes; // as a person sees them
};

inline Emitted emit(std::string_view target, std::string script, int version = 0) {
  const emit::Target& to = *emit::find_target(target);
  base::Source source("script.bt", std::move(script));
  base::Diagnostics diagnostics;
  session::Compiled compiled;
  const session::CompileOptions options;
  std::vector<emit::File> files;
  if (session::parse(compiled, source, options, diagnostics) && session::check(compiled, options, diagnostics)) {
    const emit::Job job = {.program = *compiled.tree,
                           .machine = *compiled.machine,
                           .source = source,
                           .name = "script",
                           .parameters = compiled.checked.parameters,
                           .named = {},
                           .version = version ? version : to.last_version,
                           .diagnostics = diagnostics};
    files = emit::emit_program(job, *compiled.tree, to);
  }
  Emitted out;
  out.mistakes = diagnostics.render(source, false);
  if (files.empty()) return out;
  for (std::string_view line : base::split(files[0].text, '\n')) {
    const std::string_view words = base::trim(line);
    if (words.empty() || words.starts_with("//") || words.starts_with("#!")) continue;
    out.text += std::string(line) + "\n";
  }
  return out;
}

} // namespace test
