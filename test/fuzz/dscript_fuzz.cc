// Any bytes as a D script: parsed, translated, checked, lowered and made bytecode of; nothing is loaded. Whatever happens, each mistake must
// have a place inside the text, and nothing may crash or hang.
#include "bpf/object.h"
#include "dlang/lower.h"
#include "session/compile.h"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  base::Source source("script.d", std::string(reinterpret_cast<const char*>(data), size));
  base::Diagnostics diagnostics;
  dlang::TranslateOptions d;
  d.values.words = {"1", "text"};
  session::CompileOptions options;
  options.d_script = &d;
  session::Compiled compiled = session::compile(source, options, diagnostics);
  for (const base::Diagnostic& m : diagnostics.all())
    if (m.where.begin > m.where.end || m.where.end > source.size() || m.message.empty()) std::abort();
  std::string shown = diagnostics.render(source, true);
  if (!compiled.ok && shown.empty()) std::abort(); // refused without a reason
  if (compiled.ok) (void)bpf::emit(compiled.program, bpf::EmitOptions{});
  return 0;
}
