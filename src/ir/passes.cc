// optimize: the order of the passes over each function, and when one is asked again.
#include "ir/passes.h"

#include <cassert>
#include <cstdio>
#include <iterator>

namespace ir {
namespace {

// In debug builds each pass must leave a well-formed function; elsewhere that would cost more than the passes.
void check_well_formed([[maybe_unused]] const Program& program, [[maybe_unused]] uint32_t function,
                       [[maybe_unused]] const char* after) {
#ifdef ACU_VERIFY_PASSES
  const auto mistakes = verify_function(program, function);
  for (const auto& m : mistakes) std::fprintf(stderr, "after %s: %s\n", after, m.c_str());
  assert(mistakes.empty());
#endif
}

constexpr int most_rounds = 6; // each pass is sound by itself: what is left then is not worth the time

struct Pass {
  const char* name;
  bool (*run)(Function&, PassContext&);
};
constexpr Pass clean{"clean_blocks", clean_blocks}, skip_tests{"skip_known_tests", skip_known_tests}, reuse{"reuse_queries", reuse_queries},
    reuse_entries{"reuse_lookups", reuse_lookups}, fold{"fold_values", fold_values}, remove_dead{"remove_dead_code", remove_dead_code};

class Optimizer {
public:
  Optimizer(Program& program, uint32_t function)
      : program_(program), function_(function), context_(program, program.functions[function]) {}

  void run_all() {
    run(clean);
    run(reuse);
    simplify();
    if (run(skip_tests)) run(clean);
    if (run(reuse_entries)) simplify();
    run(clean); // blocks may be empty now
  }

private:
  void simplify() {
    for (int round = 0; round < most_rounds; round++) {
      fold_all();
      if (!run(remove_dead)) break;
    }
  }

  // One walk along the order of blocks finds all there is, unless it takes edges away.
  void fold_all() {
    for (int round = 0; round < most_rounds; round++) {
      run(fold);
      if (!context_.has_changed_edges()) break;
      run(clean);
      run(reuse);
    }
  }

  bool run(const Pass& pass) {
    const bool found = pass.run(program_.functions[function_], context_);
    check_well_formed(program_, function_, pass.name);
    return found;
  }

  Program& program_;
  const uint32_t function_;
  PassContext context_;
};

} // namespace

void optimize(Program& program) {
  for (uint32_t f = 0; f < program.functions.size(); f++) Optimizer(program, f).run_all();
}

} // namespace ir
