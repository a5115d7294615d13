#include "symbol/vdso.h"

#include "symbol/process_map.h"

#include <sys/auxv.h>
#include <unistd.h>

namespace symbol {

// The header does not tell its size; the mapping does.
base::ByteSpan vdso_image() {
  uint64_t at = ::getauxval(AT_SYSINFO_EHDR);
  if (!at) return {};
  std::vector<Mapping> own = read_process_map(::getpid());
  const Mapping* m = find_mapping(own, at);
  if (!m || m->begin != at) return {};
  return {reinterpret_cast<const std::byte*>(at), static_cast<size_t>(m->end - m->begin)};
}

} // namespace symbol
