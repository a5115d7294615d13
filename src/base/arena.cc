#include "base/arena.h"

#include <algorithm>

namespace base {

void* Arena::allocate(size_t size, size_t align) {
  size_t pad = (align - reinterpret_cast<uintptr_t>(at_) % align) % align;
  if (!at_ || pad + size > left_) {
    left_ = std::max(block_size, size + align);
    blocks_.push_back(std::make_unique_for_overwrite<std::byte[]>(left_));
    at_ = blocks_.back().get();
    pad = (align - reinterpret_cast<uintptr_t>(at_) % align) % align;
  }
  void* result = at_ + pad;
  at_ += pad + size;
  left_ -= pad + size;
  return result;
}

} // namespace base
