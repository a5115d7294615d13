// Compressed bytes to plain ones: zlib, zstd and xz, as they occur within ELF files. The size of what comes
// out is foreign too: nothing is made that is larger than the input can reasonably mean.
#pragma once

#include "base/reader.h"

#include <memory>
#include <string>
#include <vector>

namespace format {

// How much may come out of so much input (bytes). Debug information shrinks to a third or a tenth.
uint64_t most_decompressed(uint64_t compressed);

// Fill all of `out`, and say why not: empty is success.
std::string decompress_zlib(base::ByteSpan in, std::span<std::byte> out);
std::string decompress_zstd(base::ByteSpan in, std::span<std::byte> out);
// The size of the result is not known before.
std::string decompress_xz(base::ByteSpan in, std::vector<std::byte>& out);

} // namespace format
