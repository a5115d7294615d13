#include "profile/headings.h"

#include "spec/profile_kinds.h"

#include <algorithm>

namespace profile {

constexpr std::string_view between = " of ";

std::string heading_of(const About& about) { return about.title + std::string(between) + about.what; }

bool take_heading(std::string_view text, bool is_own, About& to) {
  const size_t at = text.find(between);
  if (at == text.npos) return false;
  const std::string_view title = text.substr(0, at);
  if (!is_own && std::ranges::find(spec::profile_kinds, title, &spec::ProfileKind::title) == std::end(spec::profile_kinds)) return false;
  to.title = title, to.what = text.substr(at + between.size());
  return true;
}

} // namespace profile
