#include "format/decompress.h"

#include <algorithm>
#include <lzma.h>
#include <zlib.h>
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
  z_stream z = {};
  if (inflateInit(&z) != Z_OK) return "no memory is left";
  constexpr size_t most_at_once = 1 << 30; // zlib counts in 32 bits
  size_t taken = 0, made = 0;
  int status = Z_OK;
  while (made < out.size() && taken < in.size()) {
    auto in_step = static_cast<uInt>(std::min(in.size() - taken, most_at_once));
    auto out_step = static_cast<uInt>(std::min(out.size() - made, most_at_once));
    z.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(in.data() + taken));
    z.next_out = reinterpret_cast<Bytef*>(out.data() + made);
    z.avail_in = in_step, z.avail_out = out_step;
    status = inflate(&z, Z_NO_FLUSH);
    size_t step = (in_step - z.avail_in) + (out_step - z.avail_out);
    taken += in_step - z.avail_in;
    made += out_step - z.avail_out;
    if (status == Z_STREAM_END)
      status = inflateReset(&z); // a linker may have put streams one after the other
    if (status != Z_OK || step == 0) break;
  }
  inflateEnd(&z);
  return made == out.size() ? "" : damaged;
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
