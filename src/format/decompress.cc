#include "format/decompress.h"

#include <algorithm>
#include <libdeflate.h>
#include <lzma.h>
#include <zstd.h>

namespace format {

static constexpr uint64_t always_allowed = 4 << 20, most_ratio = 256, most_bytes = uint64_t{4} << 30;
static constexpr uint64_t xz_memory = 128 << 20; // of the decoder: 65 MB for `xz -9`
static const char damaged[] = "its compressed bytes are damaged";

uint64_t most_decompressed(uint64_t compressed) {
  if (compressed >= most_bytes / most_ratio) return most_bytes;
  return std::max(always_allowed, compressed * most_ratio);
}

std::string decompress_zlib(base::ByteSpan in, std::span<std::byte> out) {
  auto* z = libdeflate_alloc_decompressor();
  if (!z) return "no memory is left";
  size_t taken = 0, made = 0;
  libdeflate_result status = LIBDEFLATE_SUCCESS;
  while (status == LIBDEFLATE_SUCCESS && made < out.size()) { // a linker may have put streams one after the other
    size_t took = 0, gave = 0;
    status = libdeflate_zlib_decompress_ex(z, in.data() + taken, in.size() - taken, out.data() + made,
                                           out.size() - made, &took, &gave);
    taken += took, made += gave;
  }
  libdeflate_free_decompressor(z);
  return status == LIBDEFLATE_SUCCESS ? "" : damaged;
}

std::string decompress_zstd(base::ByteSpan in, std::span<std::byte> out) {
  size_t made = ZSTD_decompress(out.data(), out.size(), in.data(), in.size());
  return !ZSTD_isError(made) && made == out.size() ? "" : damaged;
}

std::string decompress_xz(base::ByteSpan in, std::vector<std::byte>& out) {
  lzma_stream xz = LZMA_STREAM_INIT;
  if (lzma_stream_decoder(&xz, xz_memory, LZMA_CONCATENATED) != LZMA_OK) return "no memory is left";
  const uint64_t most = most_decompressed(in.size());
  xz.next_in = reinterpret_cast<const uint8_t*>(in.data());
  xz.avail_in = in.size();
  std::string problem;
  for (size_t made = 0;;) {
    if (made == out.size()) out.resize(std::max<size_t>(1 << 16, out.size() * 2));
    xz.next_out = reinterpret_cast<uint8_t*>(out.data() + made);
    xz.avail_out = out.size() - made;
    lzma_ret status = lzma_code(&xz, LZMA_FINISH);
    made = out.size() - xz.avail_out;
    if (made > most)
      problem = "it would become unreasonably large";
    else if (status == LZMA_MEMLIMIT_ERROR)
      problem = "to decompress it takes more memory than is reasonable";
    else if (status != LZMA_OK && status != LZMA_STREAM_END)
      problem = damaged;
    if (problem.empty() && status == LZMA_OK) continue;
    out.resize(problem.empty() ? made : 0);
    break;
  }
  lzma_end(&xz);
  return problem;
}

} // namespace format
