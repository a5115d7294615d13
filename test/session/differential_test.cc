// The evaluator as the oracle of the kernel engine: random scripts run on both must print the same.
// ACU_DIFFERENTIAL=FIRST:COUNT runs other seeds than the 2,000 of every test run.
#include "session/backend.h"
#include "session/compile.h"
#include "session/random_script.h"
#include "session/run.h"

#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>

namespace {

struct Outcome {
  bool ran = false;
  std::string text; // output, or why there is none
};

Outcome run_on(const ir::Program& program, base::Result<std::unique_ptr<session::Backend>> backend,
               const base::Source& source) {
  if (!backend) return {false, backend.error().message};
  return {true, session::output_of(program, (*backend)->engine(), &source)};
}

TEST(Differential, RandomScriptsPrintTheSameOnBothEngines) {
  unsigned first = 1, count = 2000;
  if (const char* range = std::getenv("ACU_DIFFERENTIAL")) std::sscanf(range, "%u:%u", &first, &count);
  unsigned compared = 0, refused = 0, differ = 0;
  std::string refusal;
  for (unsigned seed = first; seed < first + count && differ < 3; seed++) {
    base::Source source("stdin", random_script(seed));
    base::Diagnostics diagnostics;
    session::Compiled compiled = session::compile(source, {}, diagnostics);
    ASSERT_TRUE(compiled.ok) << "seed " << seed << "\n" << diagnostics.render(source, false) << source.text();
    Outcome expected = run_on(compiled.program, session::make_eval_backend(compiled.program), source);
    session::LoadReport report;
    Outcome kernel =
        run_on(compiled.program,
               session::make_kernel_backend(
                   compiled.program, {.license = "GPL", .log_size = 1000000, .source = &source}, report),
               source);
    if (!kernel.ran) {
      if (seed == first) GTEST_SKIP() << "the kernel takes no programs here: " << kernel.text;
      refused++;
      refusal = "seed " + std::to_string(seed) + ": " + kernel.text;
      continue;
    }
    compared++;
    if (kernel.text == expected.text) continue;
    differ++;
    ADD_FAILURE() << "seed " << seed << "\n"
                  << source.text() << "\n--- evaluator\n"
                  << expected.text << "\n--- kernel\n"
                  << kernel.text;
  }
  std::printf("%u scripts compared, %u refused by the kernel, %u disagreements\n", compared, refused, differ);
  EXPECT_EQ(refused, 0u) << refusal;
}

} // namespace
