// The wire format of protocol buffers, as much as profiles and traces need: numbers, and lengths with bytes. A message is
// a run of fields, each a key (number << 3 | kind) and its value. Specification: protobuf.dev, "Encoding".
#pragma once

#include "base/leb128.h"
#include "base/reader.h"

#include <string>
#include <string_view>
#include <vector>

namespace base {

class ProtoWriter {
public:
  void number(uint32_t field, uint64_t value) {
    if (value) number_or_zero(field, value); // what is not there is 0
  }
  // Where 0 is a value, and its absence another one.
  void number_or_zero(uint32_t field, uint64_t value) {
    put(out_, uint64_t{field} << 3);
    put(out_, value);
  }
  void bytes(uint32_t field, std::string_view value) {
    put(out_, uint64_t{field} << 3 | 2);
    put(out_, value);
  }
  void fixed64(uint32_t field, uint64_t value) {
    put(out_, uint64_t{field} << 3 | 1);
    for (int shift = 0; shift < 64; shift += 8) out_.push_back(static_cast<char>(value >> shift));
  }
  // Many numbers in one field.
  void packed(uint32_t field, const std::vector<uint64_t>& values) {
    ProtoWriter inner;
    for (uint64_t v : values) put(inner.out_, v);
    bytes(field, inner.out_);
  }
  const std::string& text() const { return out_; }

private:
  std::string out_;
};

class ProtoReader {
public:
  explicit ProtoReader(base::ByteSpan bytes) : size_(bytes.size()), in_(bytes) {}
  // Goes to the next field; false at the end, and where the bytes are no message (see ok()).
  bool next() {
    if (!in_.ok() || in_.at() >= size_) return false;
    uint64_t key = in_.uleb128();
    field_ = static_cast<uint32_t>(key >> 3);
    number_ = 0;
    bytes_ = {};
    is_packed_ = (key & 7) == 2;
    switch (key & 7) {
    case 0: number_ = in_.uleb128(); break;
    case 1: number_ = in_.number<uint64_t>(); break;
    case 2: bytes_ = in_.bytes(in_.uleb128()); break;
    case 5: number_ = in_.number<uint32_t>(); break;
    default: is_wrong_ = true;
    }
    return ok();
  }
  bool ok() const { return in_.ok() && !is_wrong_; }
  uint32_t field() const { return field_; }
  uint64_t number() const { return number_; }
  base::ByteSpan bytes() const { return bytes_; }
  std::string_view text() const { return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()}; }
  // A repeated number: packed, or one of them.
  void append_to(std::vector<uint64_t>& list) const {
    if (!is_packed_) {
      list.push_back(number_);
      return;
    }
    base::Reader in(bytes_);
    while (in.ok() && in.at() < bytes_.size()) list.push_back(in.uleb128());
  }

private:
  uint64_t size_;
  base::Reader in_;
  uint32_t field_ = 0;
  uint64_t number_ = 0;
  base::ByteSpan bytes_;
  bool is_packed_ = false, is_wrong_ = false;
};

} // namespace base
