// optimize: the passes in turn, function by function, until none finds anything to do.
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

struct Pass {
  const char* name;
  bool (*run)(Function&, PassContext&);
  bool makes_work = true; // what it changes may be something to do for others
};
constexpr Pass passes[] = {
    {"fold_values", fold_values},
    {"clean_blocks", clean_blocks},
    {"reuse_queries", reuse_queries},
    {"remove_dead_code", remove_dead_code, false},
};

} // namespace

void optimize(Program& program) {
  constexpr size_t most_rounds = 6; // each pass is sound by itself: what is left then is not worth the time
  for (uint32_t f = 0; f < program.functions.size(); f++) {
    PassContext context(program, program.functions[f]);
    size_t idle = 0; // passes in a row that made no work
    for (size_t turn = 0; idle < std::size(passes) && turn < most_rounds * std::size(passes); turn++) {
      const Pass& pass = passes[turn % std::size(passes)];
      const bool changed = pass.run(program.functions[f], context);
      idle = changed && pass.makes_work ? 0 : idle + 1;
      check_well_formed(program, f, pass.name);
    }
  }
}

} // namespace ir
