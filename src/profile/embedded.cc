// Pages and pictures hold the recording that they show, so that they are read like any other: a comment at their end has
// acu's own form of it (recording.cc) in base64 (RFC 4648).
#include "base/base64.h"
#include "profile/formats.h"

namespace profile {

namespace {

constexpr std::string_view before = "<!-- acu recording: ", after = " -->\n";

std::string with_recording(std::string shown, const Profile& p) {
  return shown.append(before).append(base::base64(write_recording(p))).append(after);
}

bool begins(std::string_view bytes, std::string_view with) {
  if (bytes.size() < with.size()) return false;
  for (size_t i = 0; i < with.size(); i++)
    if ((bytes[i] | 0x20) != (with[i] | 0x20)) return false;
  return true;
}

} // namespace

std::string write_page_file(const Profile& p) { return with_recording(write_page(p), p); }
std::string write_picture_file(const Profile& p) { return with_recording(write_svg(p), p); }

bool is_page(std::string_view bytes) { return begins(bytes, "<!doctype html"); }
bool is_picture(std::string_view bytes) { return begins(bytes, "<?xml") || begins(bytes, "<svg"); }

base::Result<Profile> read_embedded(std::string_view bytes) {
  const size_t at = bytes.rfind(before);
  if (at == bytes.npos || !bytes.ends_with(after))
    return base::Error{base::Failure::runtime, "it contains no recording, or is truncated: acu reads flame graphs (.html, .svg) of recordings, not of comparisons"};
  const std::string own = base::from_base64(bytes.substr(at + before.size(), bytes.size() - at - before.size() - after.size()));
  if (!is_recording(own)) return base::Error{base::Failure::runtime, "the recording in it is damaged"};
  return read_recording(own);
}

} // namespace profile
