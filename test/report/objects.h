// Objects of C++ and Rust for tests: their types as debug information has them, and the memory that they point to.
#pragma once

#include "fake.h"

#include <deque>

namespace report {

// Structures by their number, with the types that their templates were made with.
class Layouts : public type::Provider {
public:
  struct Layout {
    std::vector<type::Field> fields;
    std::vector<const type::Type*> arguments;
    std::vector<type::Field> variants; // of an enum of Rust; the first byte chooses
  };
  explicit Layouts(type::Table& types) : types_(types) {}

  const type::Type* make(std::string_view name, uint32_t size, Layout layout) {
    layouts_.push_back(std::move(layout));
    return types_.structure(name, false, size, this, static_cast<uint32_t>(layouts_.size() - 1));
  }
  // A structure in which there is only one other, under a name: "_M_impl", or a base class without one.
  const type::Type* around(std::string_view member, const type::Type* inner, std::string_view name = "wrapper", std::vector<const type::Type*> arguments = {}) {
    return make(name, inner->size, {.fields = {{.name = member, .type = inner}}, .arguments = std::move(arguments), .variants = {}});
  }

  std::vector<type::Field> fields(type::Table&, uint32_t id) override { return layouts_[id].fields; }
  std::vector<type::Enumerator> enumerators(uint32_t) override { return {}; }
  const type::Type* argument(uint32_t id, uint32_t n) override { return n < layouts_[id].arguments.size() ? layouts_[id].arguments[n] : nullptr; }
  std::optional<type::Field> variant(type::Table&, uint32_t id, std::span<const std::byte> bytes) override {
    const auto& all = layouts_[id].variants;
    const auto n = static_cast<size_t>(bytes[0]);
    return n < all.size() ? std::optional(all[n]) : std::nullopt;
  }

private:
  type::Table& types_;
  std::deque<Layout> layouts_;
};

class Objects : public ReportTest {
protected:
  Objects() {
    options.memory = [this](uint64_t address, std::span<std::byte> to) {
      for (auto& [begin, bytes] : memory)
        if (address >= begin && address - begin <= bytes.size() && to.size() <= bytes.size() - (address - begin)) {
          std::memcpy(to.data(), bytes.data() + (address - begin), to.size());
          return true;
        }
      return to.empty();
    };
  }
  // Where the bytes are put.
  uint64_t put(const Buffer& bytes) {
    const uint64_t at = next_;
    memory[at] = bytes;
    next_ += (bytes.size() + 0x1fff) / 0x1000 * 0x1000; // nothing is behind them
    return at;
  }
  void put_at(uint64_t address, const Buffer& bytes) { memory[address] = bytes; }
  std::string as_json(const type::Type* type, const Buffer& bytes) {
    const std::string line = json_value(type, bytes);
    options.json = false;
    constexpr std::string_view before = "{\"type\": \"value\", \"data\": ";
    return line.substr(before.size(), line.size() - before.size() - 2);
  }
  const type::Type* pointer_to(const type::Type* to) { return types.pointer(to, type::Space::user); }
  const type::Type* int32() { return types.integer(4, true); }

  Layouts layouts{types};
  std::map<uint64_t, Buffer> memory;

private:
  uint64_t next_ = 0x10000;
};

inline Buffer address(uint64_t n) { return raw(n); }
inline Buffer numbers(std::initializer_list<int32_t> values) {
  Buffer out;
  for (int32_t v : values) {
    const Buffer one = raw(v);
    out.insert(out.end(), one.begin(), one.end());
  }
  return out;
}

} // namespace report
