#include "profile/kinds_in_files.h"

#include "base/text.h"

#include <algorithm>
#include <array>

namespace profile {

using spec::KnownBy;

uint64_t number_of_kind(const Frame& frame) {
  const auto kind = static_cast<uint64_t>(frame.kind);
  return (kind & 3) | uint64_t{frame.named} << 2 | kind >> 2 << 3;
}

bool take_kind(uint64_t number, Frame& to) {
  if (number >> 3 >= spec::frame_kinds.size()) return false;
  const uint64_t kind = (number & 3) | number >> 3 << 2;
  if (kind >= spec::frame_kinds.size()) return false;
  to.kind = static_cast<FrameKind>(kind);
  to.named = number & 4;
  return true;
}

// In brackets, but no part of the kernel.
static constexpr std::array<std::string_view, 6> mapped_by_programs = {"[vdso]", "[vsyscall]", "[unknown]", "[stack]", "[heap]", "[inlined]"};

static FrameKind kind_known_by(KnownBy how) { return std::ranges::find(spec::frame_kinds, how, &spec::FrameKindRow::known_by)->kind; }

FrameKind kind_by_names(std::string_view name, std::string_view module, bool is_inlined) {
  if (module.empty() && name.starts_with("[") && name.ends_with("]")) return kind_known_by(KnownBy::bracketed_name);
  if (module.starts_with("[") && !base::is_one_of(mapped_by_programs, module)) return kind_known_by(KnownBy::bracketed_module);
  return kind_known_by(is_inlined ? KnownBy::position : KnownBy::nothing);
}

static std::optional<FrameKind> take_mark(std::string_view& name, std::string_view (*mark_of)(FrameKind kind)) {
  for (const spec::FrameKindRow& row : spec::frame_kinds) {
    const std::string_view mark = mark_of(row.kind);
    if (mark.empty() || !name.ends_with(mark)) continue;
    name.remove_suffix(mark.size());
    return row.kind;
  }
  return std::nullopt;
}

std::optional<FrameKind> take_mark(std::string_view& name) {
  return take_mark(name, [](FrameKind kind) { return spec::row_of(kind).mark; });
}

std::string_view mark_of_unusual(FrameKind kind) {
  const spec::FrameKindRow& row = spec::row_of(kind);
  return row.known_by == KnownBy::mark ? row.mark : std::string_view();
}

std::optional<FrameKind> take_mark_of_unusual(std::string_view& name) { return take_mark(name, mark_of_unusual); }

} // namespace profile
