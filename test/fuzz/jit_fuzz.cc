// Any bytes as a jitdump and as a perf map; the second half is appended after the first questions.
#include "symbol/jitdump.h"
#include "symbol/perf_map_file.h"

#include <cstdint>
#include <sys/mman.h>

namespace {

uint64_t questions[] = {0, 0x10, 0x1000, 0x1008, 0x2008, 0x3008, 0x7f0010, ~uint64_t{0}};

template<class File> void ask(File& file) {
  for (uint64_t address : questions)
    if (auto found = file.find(address)) {
      if constexpr (requires { file.line(*found, address); }) (void)file.line(*found, address);
    }
}

template<class File> void run(const uint8_t* data, size_t size) {
  base::Fd memory(::memfd_create("jit", MFD_CLOEXEC));
  File file{base::Fd(::dup(memory.get()))};
  size_t half = size / 2;
  if (::pwrite(memory.get(), data, half, 0) < 0) return;
  ask(file);
  if (::pwrite(memory.get(), data + half, size - half, static_cast<off_t>(half)) < 0) return;
  ask(file);
  (void)file.size();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  run<symbol::JitDump>(data, size);
  run<symbol::PerfMapFile>(data, size);
  return 0;
}
