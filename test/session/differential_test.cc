// The evaluator as the oracle of the kernel engine and of the passes: random scripts must print the same on
// the evaluator, unoptimised, and in the kernel, optimised.
// ACU_DIFFERENTIAL=FIRST:COUNT[:STATEMENTS] runs other seeds than the 500 of every test run, or longer
// scripts; ACU_WITHOUT=NAME,NAME does without these abilities of the kernel. What an old kernel lacks an
// ability for, which is then named, is left out, and other scripts take its place. Where the verifier walks
// each turn of a loop (no bpf_loop) the scripts are short, and one in a hundred has loops: else they would
// take it most of a day on an emulated processor.
#include "base/text.h"
#include "host/cpus.h"
#include "bpf/features.h"
#include "session/backend.h"
#include "session/compile.h"
#include "session/random_script.h"
#include "session/run.h"

#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <map>

namespace {

constexpr unsigned most_failures = 3;

struct Outcome {
  bool ran = false;
  std::string text;     // output, or why there is none
  bool was_cut = false; // a loop was ended before its time, which is counted
};

bool cuts_loops(const ir::Program& program, const ir::Counters& counters) {
  for (size_t i = 0; i < counters.sites.size(); i++)
    if (counters.sites[i] && program.sites[i].fault == ir::Fault::loop_limit) return true;
  return false;
}

// The ability that a script was refused for, if the kernel lacks it and not only says so; else empty.
std::string_view lacking_ability(const Outcome& outcome) {
  for (const bpf::FeatureRow& row : bpf::feature_table())
    if (outcome.text.find("this kernel lacks `" + std::string(row.name) + "`") != std::string::npos)
      return bpf::features().ask(row.id) == bpf::Answer::no ? row.name : std::string_view();
  return {};
}

Outcome run_on(const ir::Program& program, base::Result<std::unique_ptr<session::Backend>> backend,
               const base::Source& source) {
  if (!backend) return {false, backend.error().message};
  std::string text = session::output_of(program, (*backend)->engine(), &source);
  return {true, std::move(text), cuts_loops(program, (*backend)->engine().counters())};
}

Outcome run_in_kernel(const ir::Program& program, const base::Source& source, const bpf::PieceSizes& pieces = {}) {
  session::LoadReport report;
  return run_on(program,
                session::make_kernel_backend(
                    program, {.license = "GPL", .log_size = 1000000, .source = &source, .pieces = pieces}, report),
                source);
}

TEST(Differential, RandomScriptsPrintTheSameOnBothEngines) {
  if (const char* without = std::getenv("ACU_WITHOUT"))
    for (std::string_view name : base::split(without, ',')) bpf::do_without(name);
  bpf::PieceSizes pieces; // ACU_PIECES=24:16 cuts as long functions are cut, but into many and small pieces
  if (const char* sizes = std::getenv("ACU_PIECES")) std::sscanf(sizes, "%zu:%zu", &pieces.longest_function, &pieces.piece);
  const bool walks_turns = bpf::features().ask(bpf::Feature::loop) == bpf::Answer::no;
  unsigned first = 1, count = 500, statements = walks_turns ? 4 : 0;
  if (const char* range = std::getenv("ACU_DIFFERENTIAL"))
    std::sscanf(range, "%u:%u:%u", &first, &count, &statements);
  const RandomScriptShape shape = {.statements = static_cast<int>(statements),
                                   .with_loops = walks_turns ? 1 : 100};
  base::Source smallest("stdin", "begin { }");
  base::Diagnostics none;
  if (Outcome outcome = run_in_kernel(session::compile(smallest, {}, none).program, smallest); !outcome.ran)
    GTEST_SKIP() << "the kernel takes no programs here: " << outcome.text;
  unsigned compared = 0, refused = 0, differ = 0, left_out = 0;
  std::map<std::string_view, unsigned> lacking; // what is lacking -> scripts
  for (unsigned seed = first; compared < count && refused + differ < most_failures; seed++) {
    ASSERT_LE(left_out, 20 * count) << "too little of the language can be tested on this kernel";
    base::Source source("stdin", random_script(seed, shape));
    base::Diagnostics diagnostics;
    session::CompileOptions options = {.positional = random_script_parameters()};
    options.lower.possible_cpus = host::possible_cpus(); // aggregations are read from all of them
    session::Compiled compiled = session::compile(source, options, diagnostics);
    ASSERT_TRUE(compiled.ok) << "seed " << seed << "\n" << diagnostics.render(source, false) << source.text();
    Outcome kernel = run_in_kernel(compiled.program, source, pieces);
    const bool was_cut = kernel.was_cut && walks_turns; // such loops have few turns
    const std::string_view lacks = was_cut ? "loop" : kernel.ran ? "" : lacking_ability(kernel);
    if (!lacks.empty()) {
      left_out++;
      lacking[lacks]++;
      continue;
    }
    if (!kernel.ran) {
      refused++;
      ADD_FAILURE() << "seed " << seed << " is refused: " << kernel.text << "\n" << source.text();
      continue;
    }
    options.optimize = false;
    ASSERT_TRUE(session::lower(compiled, options, diagnostics)) << "seed " << seed;
    Outcome expected = run_on(compiled.program, session::make_eval_backend(compiled.program), source);
    compared++;
    if (kernel.text == expected.text) continue;
    differ++;
    ADD_FAILURE() << "seed " << seed << "\n"
                  << source.text() << "\n--- evaluator\n"
                  << expected.text << "\n--- kernel\n"
                  << kernel.text;
  }
  std::printf("%u scripts compared, %u refused by the kernel, %u disagreements\n", compared, refused, differ);
  for (const auto& [name, scripts] : lacking)
    std::printf("skipped %u: the kernel lacks %s\n", scripts, std::string(name).c_str());
}

} // namespace
