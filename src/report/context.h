// What turning bytes into text needs besides the type of the bytes. One for each Printer; everything else in
// this folder is a function of a Context, a type and bytes.
#pragma once

#include "report/report.h"

#include <cstddef>
#include <span>
#include <string>
#include <unordered_map>

namespace report {

using Bytes = std::span<const std::byte>;

struct Context {
  const ir::Program& program;
  ir::Engine& engine;
  Names& names;
  Options options = {};
  std::unordered_map<uint64_t, std::string> users{}; // names of user ids asked so far
  int depth = 0; // views that are being written, one in another
  uint64_t elements = 0; // shown in them
};

// `size` bytes at `offset`; fewer where there are no more.
inline Bytes part(Bytes bytes, size_t offset, size_t size) {
  if (offset >= bytes.size()) return {};
  return bytes.subspan(offset, std::min(size, bytes.size() - offset));
}

} // namespace report
