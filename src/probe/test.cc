// test:NAME: run once by acu with --test, and judged by what it returns.
#include "probe/kinds.h"

#include "base/text.h"

namespace probe {

// Shared with bench: a name of letters, digits and signs that are no pattern.
std::vector<Event> match_named(Kind kind, std::string_view provider, Parts parts, Mismatch& mismatch) {
  if (parts.size() != 2 || parts[1].empty())
    return malformed(mismatch, provider, "`" + join(parts) + "` must have one name");
  if (base::has_glob(parts[1]))
    return malformed(mismatch, provider, "`" + join(parts) + "`: the name can't be a pattern");
  Event e{.kind = kind, .name = join(parts), .provider = std::string(provider)};
  e.name.replace(0, parts[0].size(), provider); // as the table writes it
  e.event = parts[1];
  return {std::move(e)};
}

static std::vector<Event> match_test(Machine&, Parts parts, Mismatch& mismatch) {
  return match_named(Kind::test, "test", parts, mismatch);
}

constinit const KindFunctions test_kind{
    .match = match_test, .list = [](Machine&, std::vector<Event>&) {}, .attach = run_by_acu};

} // namespace probe
