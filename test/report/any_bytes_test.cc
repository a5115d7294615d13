// Values of every type from any bytes, whole and cut: text without a crash, JSON that is JSON.
#include "fake.h"

#include <rapidjson/document.h>

#include <cmath>
#include <random>

namespace report {
namespace {

using type::Field;
using type::Slice;
using type::StackMode;

class Names : public type::Provider {
public:
  std::vector<Field> fields(type::Table&, uint32_t) override { return {}; }
  std::vector<type::Enumerator> enumerators(uint32_t) override { return {{"a \"b\"", 1}, {"ü", -1}, {"", 0}}; }
};

class AnyBytes : public ReportTest {
protected:
  // One type of each kind, and some in others.
  std::vector<const type::Type*> all() {
    std::vector<const type::Type*> out = {types.boolean(), types.character(), types.string(1), types.string(16), types.buffer(8), types.buffer(0), types.pointer(nullptr, type::Space::user), types.array(types.int64(), 0),
                                          types.array(types.character(), 5), types.array(types.string(4), 3), types.array(types.array(types.boolean(), 2), 2), types.hist(0), types.hist(5), types.lhist(-3, 9, 2),
                                          types.tuple({}), types.enumeration("e", 4, true, &names_of_enum_, 0), types.enumeration("e8", 8, false, &names_of_enum_, 1)};
    for (uint32_t size : {1u, 2u, 4u, 8u})
      for (bool is_signed : {false, true}) out.push_back(types.integer(size, is_signed));
    for (uint32_t size : {4u, 8u, 16u}) out.push_back(types.floating(size));
    for (Kind kind : {Kind::ksym, Kind::usym, Kind::inet, Kind::mac, Kind::timestamp, Kind::cgroup_path, Kind::probe_name, Kind::count, Kind::sum, Kind::min, Kind::max, Kind::avg, Kind::stats}) {
      out.push_back(types.simple(kind, false));
      out.push_back(types.simple(kind, true));
    }
    for (Kind kind : {Kind::kstack, Kind::ustack, Kind::stack})
      for (StackMode mode : {StackMode::bpftrace, StackMode::perf, StackMode::raw}) out.push_back(types.stack(kind, mode, 3));
    for (Slice slice : {Slice::last, Slice::avg, Slice::max, Slice::min, Slice::sum}) out.push_back(types.tseries(1'000'000, 3, slice, slice == Slice::min));
    const std::vector<const type::Type*> parts = {types.int64(), types.string(4), types.floating(8), types.boolean()};
    const std::vector<std::string_view> words = {"a", "b\"c", "", "ü"};
    out.push_back(types.tuple(parts));
    out.push_back(types.record(parts, words));
    const std::vector<Field> fields = {{.name = "n", .type = types.integer(4, true)}, {.name = "text", .type = types.string(4), .offset = 4}, {.name = "bits", .type = types.integer(8, false), .offset = 8, .bit_offset = 5, .bit_size = 61},
                                       {.name = "", .type = types.structure("", true, 4, 4, std::vector<Field>{{.name = "inner", .type = types.floating(4)}}), .offset = 16}};
    out.push_back(types.structure("s", false, 20, 4, fields));
    return out;
  }
  void check(const type::Type* t, const Buffer& bytes) {
    options.json = false;
    text(t, bytes);
    // As the value of a record, as a value in a map, and as its key.
    const std::string record = json_value(t, bytes);
    const ir::Map values = map_of("m", types.int64(), t);
    const std::string value = print_map(values, {{words({1}), bytes.size() < values.value_size ? joined({bytes, Buffer(values.value_size - bytes.size())}) : bytes}});
    const std::string key = t->is_aggregation() ? value : print_map(map_of("k", t, types.int64()), {{bytes, words({1})}});
    for (const std::string& line : {record, value, key}) {
      rapidjson::Document parsed;
      parsed.Parse<rapidjson::kParseValidateEncodingFlag>(line.c_str());
      ASSERT_FALSE(parsed.HasParseError()) << to_string(*t) << ": " << line;
      ASSERT_TRUE(line.ends_with("}\n"));
      ASSERT_EQ(line.find('\n'), line.size() - 1) << line; // a record is a line
    }
  }
  Names names_of_enum_;
};

TEST_F(AnyBytes, AtRandom) {
  std::mt19937 random(5);
  program.strings = {"%H:%M:%S", "*"};
  program.probe_names = {"begin"};
  for (const type::Type* t : all())
    for (int turn = 0; turn < 15; turn++) {
      Buffer bytes(t->size);
      for (std::byte& b : bytes) b = static_cast<std::byte>(turn % 3 ? random() : random() % 3);
      ASSERT_NO_FATAL_FAILURE(check(t, bytes));
    }
}

TEST_F(AnyBytes, AllOnesAndAllZeroes) {
  for (const type::Type* t : all())
    for (std::byte b : {std::byte{0}, std::byte{0xff}, std::byte{0x80}, std::byte{0x7f}}) ASSERT_NO_FATAL_FAILURE(check(t, Buffer(t->size, b)));
}

// Records of the kernel may be shorter than the type: what is missing reads as zero.
TEST_F(AnyBytes, CutAnywhere) {
  for (const type::Type* t : all())
    for (uint32_t size = 0; size < std::min(t->size, 40u); size++) {
      options.json = false;
      text(t, Buffer(size, std::byte{0xff}));
      const std::string line = json_value(t, Buffer(size, std::byte{0xff}));
      rapidjson::Document parsed;
      parsed.Parse(line.c_str());
      ASSERT_FALSE(parsed.HasParseError()) << to_string(*t) << ": " << line;
    }
}

// Numbers that JSON does not have are texts.
TEST_F(AnyBytes, FloatingPointNumbers) {
  auto value = [&](double n) {
    const std::string line = json_value(types.floating(8), raw(n));
    return line.substr(26, line.size() - 28);
  };
  EXPECT_EQ(value(0.1), "0.1");
  EXPECT_EQ(value(-0.0), "-0");
  EXPECT_EQ(value(1e300), "1e+300");
  EXPECT_EQ(value(HUGE_VAL), "\"inf\"");
  EXPECT_EQ(value(-HUGE_VAL), "\"-inf\"");
  EXPECT_EQ(value(__builtin_nan("")), "\"nan\"");
  options.json = false;
  EXPECT_EQ(text(types.floating(4), raw(0.1f)), "0.1"); // the digits of a float, not those of the double that it becomes
  EXPECT_EQ(text(types.floating(16), raw(0.5L)), "0.5");
}

TEST_F(AnyBytes, SumsThatOverflow) {
  const ir::Map sums = map_of("s", nullptr, types.simple(Kind::sum, true), ir::MapKind::percpu_array);
  options.json = false;
  EXPECT_EQ(print_map(sums, {{{}, words({INT64_MAX, 1})}}), "@s: -9223372036854775808\n"); // as the kernel's numbers do
  const ir::Map unsigned_sums = map_of("s", nullptr, types.simple(Kind::sum, false), ir::MapKind::percpu_array);
  EXPECT_EQ(print_map(unsigned_sums, {{{}, words({INT64_MAX, 1})}}), "@s: 9223372036854775808\n");
  const ir::Map averages = map_of("a", nullptr, types.simple(Kind::avg, true), ir::MapKind::percpu_array);
  EXPECT_EQ(print_map(averages, {{{}, words({INT64_MIN, 1})}}), "@a: -9223372036854775808\n");
  EXPECT_EQ(print_map(averages, {{{}, words({INT64_MIN, -1})}}), "@a: 0\n"); // so many values
  EXPECT_EQ(print_map(averages, {{{}, words({INT64_MIN, 2})}}, 0, 3), "@a: -1537228672809129301\n"); // by two, then by three
}

} // namespace
} // namespace report
