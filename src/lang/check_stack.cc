// Stacks: kstack, ustack, stack and their like, with a mode and a depth.
#include "lang/checker.h"

#include <algorithm>

namespace lang {

using type::Kind;
using namespace spec;

static constexpr int64_t most_stack_depth = 1024; // that may be written

// kstack, kstack(depth), kstack(mode), kstack(mode, depth); of user stacks also how they are found: ustack(fp),
// ustack(mode, fp, depth)
const type::Type* Checker::check_stack(Kind kind, List<Expr*> arguments) {
  constexpr std::pair<std::string_view, type::StackMode> modes[] = {{"bpftrace", type::StackMode::bpftrace},
                                                                    {"perf", type::StackMode::perf},
                                                                    {"raw", type::StackMode::raw},
                                                                    {"build_id", type::StackMode::build_id}};
  auto mode_of = [&](std::string_view word) -> const type::StackMode* {
    for (auto& [name, mode] : modes)
      if (name == word) return &mode;
    return nullptr;
  };
  type::StackMode mode = *mode_of(program_.config.text("stack_mode"));
  std::optional<int64_t> depth;
  bool has_mode = false, by_frame_pointers = false;
  for (Expr* a : arguments) {
    if (const Name* word = if_a<Name>(a)) {
      if (word->name == "fp" && kind == Kind::ustack && !by_frame_pointers && !depth) {
        by_frame_pointers = true;
        continue;
      }
      const type::StackMode* found = mode_of(word->name);
      if (!found)
        return mistake(tag::bad_argument, a->where, "unknown stack mode `" + std::string(word->name) + "`",
                       kind == Kind::ustack ? "modes are bpftrace, perf, raw and build_id; `fp` takes frame pointers for granted"
                                            : "modes are bpftrace, perf, raw and build_id");
      if (has_mode || depth)
        return mistake(tag::bad_argument, a->where, "the mode of a stack comes first, and once",
                       std::string(find_builtin(kind == Kind::kstack ? "kstack" : kind == Kind::ustack ? "ustack" : "stack")->texts().signature));
      mode = *found;
      has_mode = true;
      continue;
    }
    if (depth)
      return mistake(tag::bad_argument, a->where, "a stack has one depth");
    if (a->constant.kind != Constant::integer || a->constant.integer_value < 0 ||
        a->constant.integer_value > most_stack_depth)
      return mistake(tag::bad_argument, a->where,
                     "the depth of a stack is a number from 0 to " + std::to_string(most_stack_depth));
    depth = a->constant.integer_value;
  }
  const int64_t most = type::most_frames(kind, by_frame_pointers);
  return types_.stack(kind, mode, static_cast<uint32_t>(std::min(depth.value_or(most), most)), by_frame_pointers);
}

} // namespace lang
