// Any bytes as the kernel's list of symbols.
#include "symbol/kallsyms.h"

#include <cstdint>
#include <sys/mman.h>

#include "base/fd.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  base::Fd memory(::memfd_create("kallsyms", MFD_CLOEXEC));
  if (::pwrite(memory.get(), data, size, 0) < 0) return 0;
  symbol::Kallsyms kallsyms("/proc/self/fd/" + std::to_string(memory.get()));
  for (uint64_t address :
       {uint64_t{0}, uint64_t{0xffffffff81000100}, uint64_t{0xffffffffc0000400}, ~uint64_t{0}})
    (void)kallsyms.find(address);
  (void)kallsyms.address("_text");
  (void)kallsyms.size();
  return 0;
}
