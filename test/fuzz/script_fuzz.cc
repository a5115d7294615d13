// Any bytes as a script: parsed, checked, lowered and made bytecode of; nothing is loaded. Whatever happens, each mistake must have
// a place inside the text, and nothing may crash or hang.
#include "bpf/object.h"
#include "session/compile.h"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  base::Source source("stdin", std::string(reinterpret_cast<const char*>(data), size));
  base::Diagnostics diagnostics;
  session::CompileOptions options = {.positional = {"1", "text"}, .named = {{"a", "2"}}, .unsafe = true};
  session::Compiled compiled = session::compile(source, options, diagnostics);
  for (const base::Diagnostic& d : diagnostics.all())
    if (d.where.begin > d.where.end || d.message.empty()) std::abort();
  std::string shown = diagnostics.render(source, true);
  if (!compiled.ok && shown.empty()) std::abort(); // refused without a reason
  if (compiled.ok) (void)bpf::emit(compiled.program, bpf::EmitOptions{});
  return 0;
}
