// A Printer with everything around it made up: an engine that knows two stacks, names that are a fixed table,
// a sink that keeps what it is given. Values are put together byte by byte.
#pragma once

#include "report/report.h"

#include <cstring>
#include <gtest/gtest.h>
#include <map>

namespace report {

using type::Kind;
using Buffer = std::vector<std::byte>;

template<class T> Buffer raw(T value) {
  Buffer out(sizeof value);
  std::memcpy(out.data(), &value, sizeof value);
  return out;
}
inline Buffer raw_text(std::string_view text, size_t size) {
  Buffer out(size);
  std::memcpy(out.data(), text.data(), text.size());
  return out;
}
inline Buffer joined(std::initializer_list<Buffer> parts) {
  Buffer out;
  for (const Buffer& p : parts) out.insert(out.end(), p.begin(), p.end());
  return out;
}
// 64-bit words.
inline Buffer words(std::initializer_list<int64_t> values) {
  Buffer out;
  for (int64_t v : values) {
    Buffer one = raw(v);
    out.insert(out.end(), one.begin(), one.end());
  }
  return out;
}

class FakeEngine : public ir::Engine {
public:
  base::Result<int64_t> run(uint32_t) override { return 0; }
  size_t drain(const std::function<void(std::span<const std::byte>)>&) override { return 0; }
  base::Result<std::vector<ir::Entry>> read_map(uint32_t) override { return std::vector<ir::Entry>(); }
  base::Status clear_map(uint32_t) override { return {}; }
  base::Status zero_map(uint32_t) override { return {}; }
  std::vector<uint64_t> stack(uint64_t id) override { return stacks[id]; }
  ir::Counters counters() override { return {}; }

  std::map<uint64_t, std::vector<uint64_t>> stacks = {{7, {0x1001, 0x200c, 0xdead}}, {8, {0x1000}}};
};

class FakeNames : public Names {
public:
  std::string kernel(uint64_t address, bool with_offset) override { return name(address, with_offset, "k_"); }
  std::string user(uint32_t pid, uint64_t address, bool with_offset) override {
    return name(address, with_offset, "u" + std::to_string(pid) + "_");
  }
  symbol::Frame frame(const symbol::RawFrame& raw) override {
    const uint64_t address = raw.entry.address;
    if (raw.entry.tag) {
      last_ = "function_" + std::to_string(address);
      return {.name = last_, .module = "test.code", .file = "test.code", .line = static_cast<uint32_t>(raw.entry.number), .kind = spec::FrameKind::test};
    }
    if (address < 0x1000 || address >= 0x3000) return {};
    last_ = raw.is_kernel ? kernel(address, false) : user(static_cast<uint32_t>(raw.pid), address, false);
    return {.name = last_, .offset = address & 0xfff};
  }

private:
  std::string last_;
  static std::string name(uint64_t address, bool with_offset, std::string prefix) {
    if (address >= 0x1000 && address < 0x3000) {
      prefix += address < 0x2000 ? "one" : "two";
      return with_offset ? prefix + "+" + std::to_string(address & 0xfff) : prefix;
    }
    char hex[32];
    std::snprintf(hex, sizeof hex, "0x%llx", static_cast<unsigned long long>(address));
    return hex;
  }
};

class FakeSink : public Sink {
public:
  void out(std::string_view text) override { results += text; }
  void message(std::string_view text) override { messages += text; }
  std::string results, messages;
};

class ReportTest : public testing::Test {
protected:
  type::Table types;
  ir::Program program;
  FakeEngine engine;
  FakeNames names;
  FakeSink sink;
  Options options;

  const type::Type* tuple(std::vector<const type::Type*> elements) { return types.tuple(elements); }
  const type::Type* record_of(std::vector<const type::Type*> elements, std::vector<std::string_view> names) {
    return types.record(elements, names);
  }

  std::string text(const type::Type* type, const Buffer& bytes) {
    return Printer(program, engine, names, sink, options).text(*type, bytes);
  }

  // What a record prints; messages stay in the sink.
  std::string print(ir::Action action, const Buffer& payload = {}, std::string_view place = "") {
    program.actions = {std::move(action)};
    Printer printer(program, engine, names, sink, options);
    printer.record(program.actions[0], payload, place);
    return std::exchange(sink.results, {});
  }
  std::string json(ir::Action action, const Buffer& payload = {}) {
    options.json = true;
    return print(std::move(action), payload);
  }
  std::string json_value(const type::Type* type, const Buffer& bytes) {
    return json({.kind = ir::ActionKind::print_value, .payload = tuple({type})}, bytes);
  }

  // What a map prints. Entries: key and the values of all CPUs.
  std::string print_map(const ir::Map& map, const std::vector<ir::Entry>& entries, uint64_t top = 0,
                        uint64_t div = 0) {
    program.maps = {map};
    Printer(program, engine, names, sink, options).map(0, entries, top, div);
    return std::exchange(sink.results, {});
  }
};

// A map with values of the type's size, rounded up as engines do.
inline ir::Map map_of(std::string name, const type::Type* key, const type::Type* value,
                      ir::MapKind kind = ir::MapKind::hash) {
  auto round = [](uint32_t n) { return (n + 7) / 8 * 8; };
  return {.name = std::move(name),
          .kind = kind,
          .key = key,
          .value = value,
          .key_size = key ? round(key->size) : 0,
          .value_size = round(value->size)};
}

} // namespace report
