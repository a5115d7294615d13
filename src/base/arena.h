// A bump allocator: one compilation's nodes, types and names live and die together. Nothing in it is
// destroyed singly, so only trivially destructible things belong here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace base {

class Arena {
public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  template<class T, class... Args>
  T* make(Args&&... args) {
    static_assert(std::is_trivially_destructible_v<T>);
    return new (allocate(sizeof(T), alignof(T))) T{std::forward<Args>(args)...};
  }
  template<class T>
  std::span<T> copy(std::span<const T> items) {
    static_assert(std::is_trivially_destructible_v<T>);
    if (items.empty()) return {};
    T* to = static_cast<T*>(allocate(sizeof(T) * items.size(), alignof(T)));
    for (size_t i = 0; i < items.size(); i++) new (to + i) T(items[i]);
    return {to, items.size()};
  }
  template<class T>
  std::span<T> copy(const std::vector<T>& items) {
    return copy(std::span<const T>(items));
  }
  std::string_view copy(std::string_view text) {
    if (text.empty()) return {};
    char* to = static_cast<char*>(allocate(text.size(), 1));
    std::memcpy(to, text.data(), text.size());
    return {to, text.size()};
  }
  // `align`: a power of two.
  void* allocate(size_t size, size_t align) {
    const size_t pad = -reinterpret_cast<uintptr_t>(at_) & (align - 1);
    if (pad + size > left_) return allocate_in_new_block(size, align);
    return take(pad, size);
  }

private:
  void* allocate_in_new_block(size_t size, size_t align);
  void* take(size_t pad, size_t size) {
    void* result = at_ + pad;
    at_ += pad + size;
    left_ -= pad + size;
    return result;
  }

  static constexpr size_t block_size = 16 << 10;
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  std::byte* at_ = nullptr;
  size_t left_ = 0;
};

} // namespace base
