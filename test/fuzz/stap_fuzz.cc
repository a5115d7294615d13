// Any bytes as a SystemTap script: read and converted. Each mistake has a place inside the text and a next step, what is converted is read by
// acu's parser, and nothing crashes or hangs.
#include "lang/parse.h"
#include "spec/diagnostics.h"
#include "stap/lower.h"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  base::Source source("script.stp", std::string(reinterpret_cast<const char*>(data), size));
  base::Diagnostics diagnostics;
  const stap::Converted converted = stap::convert(source, diagnostics);
  for (const base::Diagnostic& m : diagnostics.all())
    if (m.where.begin > m.where.end || m.where.end > source.size() || m.message.empty() || m.hint.empty()) std::abort();
  (void)diagnostics.render(source, true);
  if (diagnostics.has_errors() != converted.text.empty()) std::abort();
  base::Source result("script.bt", converted.text);
  base::Diagnostics own;
  (void)lang::parse(result, {}, own);
  for (const base::Diagnostic& m : own.all())
    if (!converted.text.empty() && m.tag == spec::tag::syntax) std::abort();
  return 0;
}
