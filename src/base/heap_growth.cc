#include "base/heap_growth.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

namespace base {

void grow_heap(size_t bytes) {
  constexpr size_t large_page = 2 << 20, most = 512 << 20;
  constexpr int usual_growth = 128 << 10, largest_block = 32 << 20; // glibc's defaults: of M_TOP_PAD, the limit of M_MMAP_THRESHOLD
  bytes = std::clamp(bytes, 2 * large_page, most);
  ::mallopt(M_MMAP_THRESHOLD, largest_block); // vectors that grow stay in the heap
  ::mallopt(M_TRIM_THRESHOLD, static_cast<int>(2 * bytes)); // and these pages are not given back in between
  ::mallopt(M_TOP_PAD, static_cast<int>(bytes));
  const auto before = reinterpret_cast<uintptr_t>(::sbrk(0));
  void* volatile block = std::malloc(2 * usual_growth); // more than is left of the last growth; volatile: or the compiler leaves both calls out
  std::free(block);
  const auto after = reinterpret_cast<uintptr_t>(::sbrk(0));
  ::mallopt(M_TOP_PAD, usual_growth);
  const uintptr_t begin = (before + large_page - 1) & -large_page;
  if (begin < after) ::madvise(reinterpret_cast<void*>(begin), after - begin, MADV_HUGEPAGE);
}

} // namespace base
