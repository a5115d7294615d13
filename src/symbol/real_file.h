// Which file a path leads to below an overlay. Containers of one image see its files through overlays of their own, each with a
// device number of its own, but the kernel keeps user probes with the file of the image.
#pragma once

#include "base/file_map.h"

#include <optional>
#include <string>

namespace symbol {

// Equal: the same file, as far as can be told from outside of the overlay. Of an overlay the device is 0. Nothing: there is no such
// file, or it may not be looked at.
std::optional<base::FileId> real_file(const std::string& path);

} // namespace symbol
