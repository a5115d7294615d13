#include "base/arena.h"

#include <algorithm>

namespace base {

void* Arena::allocate_in_new_block(size_t size, size_t align) {
  left_ = std::max(block_size, size + align);
  blocks_.push_back(std::make_unique_for_overwrite<std::byte[]>(left_));
  at_ = blocks_.back().get();
  return take(-reinterpret_cast<uintptr_t>(at_) & (align - 1), size);
}

} // namespace base
