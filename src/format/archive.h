// Files inside zip archives that are stored as they are, not compressed: such libraries are mapped straight
// from the archive (Android's packages, some Java programs). Specification: PKWARE's APPNOTE.TXT, sections
// 4.3.7, 4.3.12 and 4.3.16.
#pragma once

#include "base/reader.h"
#include "base/result.h"

#include <cstdint>
#include <string_view>

namespace format {

struct ArchivedFile {
  uint64_t offset = 0, size = 0; // of its bytes, in the archive
};

// Failure: it is no archive, has no such file (then the message tells what it has), or that is compressed.
base::Result<ArchivedFile> find_in_archive(base::ByteSpan archive, std::string_view name);

} // namespace format
