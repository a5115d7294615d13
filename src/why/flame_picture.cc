#include "why/flame_picture.h"

#include "profile/formats.h"
#include "report/page.h"

#include <ranges>

namespace why {

void FlamePicture::add(const std::vector<symbol::Frame>& frames, uint64_t samples) {
  uint32_t node = 0;
  for (const symbol::Frame& f : std::views::reverse(frames))
    if (!f.name.empty()) node = profile_.node(node, profile_.frame({.name = profile_.text(f.name), .module = profile_.text(f.module), .kind = f.kind}));
  profile_.add(profile_.thread({}), node, samples, samples);
  profile_.about.samples += samples;
}

std::string FlamePicture::element(std::string_view title, int pid) {
  profile_.about.title = title;
  profile_.about.what = "process " + std::to_string(pid);
  return report::picture_element(profile::write_svg(profile_), title);
}

} // namespace why
