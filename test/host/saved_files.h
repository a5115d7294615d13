// Files of saved hosts, put together by hand (host/saved.h).
#pragma once

#include "host/save.h"
#include "host/saved.h"

#include <libdeflate.h>
#include <string>
#include <utility>
#include <vector>

namespace host {

using Entries = std::vector<std::pair<std::string, std::string>>;

template<class T> std::string word(T number) { return {reinterpret_cast<const char*>(&number), sizeof number}; }

inline std::string pack(const std::string& text) {
  auto* z = libdeflate_alloc_compressor(1);
  std::string out(libdeflate_zlib_compress_bound(z, text.size()), '\0');
  out.resize(libdeflate_zlib_compress(z, text.data(), text.size(), out.data(), out.size()));
  libdeflate_free_compressor(z);
  return out;
}

inline std::string with_sum(const std::string& rest, uint32_t version = saved_version) {
  return std::string(saved_magic) + word(version) + word(libdeflate_crc32(0, rest.data(), rest.size())) + rest;
}

inline std::string file_of(const Entries& entries) {
  std::string table = word(static_cast<uint32_t>(entries.size())), bodies;
  for (auto& [name, text] : entries) {
    const std::string packed = pack(text);
    table += word(static_cast<uint32_t>(name.size())) + name + word(uint64_t{text.size()}) + word(uint64_t{packed.size()});
    bodies += packed;
  }
  return with_sum(table + bodies);
}

#if defined(__x86_64__)
inline const std::string this_machine = "x86_64", other_machine = "aarch64";
#else
inline const std::string this_machine = "aarch64", other_machine = "x86_64";
#endif

} // namespace host
