// Records as scripts print them: fields with names, put together one by one.
#pragma once

#include "type/type.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

class RecordBuilder {
public:
  using Bytes = std::vector<std::byte>;
  explicit RecordBuilder(type::Table& types) : types_(types) {}

  RecordBuilder& number(std::string_view name, uint64_t value, uint32_t size = 8) {
    return add(name, types_.integer(size, false), std::as_bytes(std::span(&value, 1)).first(size));
  }
  // Cut where it does not fit.
  RecordBuilder& text(std::string_view name, std::string_view text, uint32_t size = 16) {
    Bytes value(size);
    std::memcpy(value.data(), text.data(), std::min<size_t>(text.size(), size));
    return add(name, types_.string(size), value);
  }
  // A buffer with room for `capacity` bytes. `length`: what it says of itself; by default the truth.
  RecordBuilder& bytes(std::string_view name, std::string_view content, uint32_t capacity = 64, int64_t length = -1) {
    Bytes value(4 + capacity);
    const auto said = static_cast<uint32_t>(length < 0 ? static_cast<int64_t>(content.size()) : length);
    std::memcpy(value.data(), &said, sizeof said);
    std::memcpy(value.data() + 4, content.data(), std::min<size_t>(content.size(), capacity));
    return add(name, types_.buffer(capacity), value);
  }
  RecordBuilder& user_stack(std::string_view name, uint64_t id, uint32_t pid) {
    const uint64_t words[] = {id, pid};
    return add(name, types_.stack(type::Kind::ustack, {}, 512), std::as_bytes(std::span(words)));
  }
  RecordBuilder& kernel_stack(std::string_view name, uint64_t id) { return add(name, types_.stack(type::Kind::kstack, {}, 127), std::as_bytes(std::span(&id, 1))); }
  RecordBuilder& record(std::string_view name, const RecordBuilder& inner) { return add(name, &inner.type(), inner.bytes()); }
  RecordBuilder& add(std::string_view name, const type::Type* type, std::span<const std::byte> value) {
    names_.push_back(name), elements_.push_back(type), values_.emplace_back(value.begin(), value.end());
    return *this;
  }

  const type::Type& type() const { return *types_.record(elements_, names_); }
  Bytes bytes() const {
    Bytes out(type().size);
    for (size_t i = 0; i < values_.size(); i++) std::memcpy(out.data() + type().fields()[i].offset, values_[i].data(), values_[i].size());
    return out;
  }

private:
  type::Table& types_;
  std::vector<std::string_view> names_;
  std::vector<const type::Type*> elements_;
  std::vector<Bytes> values_;
};
