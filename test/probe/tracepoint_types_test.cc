// Types of the arguments of tracepoints, from formats that a test writes: what kernels declare seldom, and what other kernels declare.
#include "base/text.h"
#include "host/saved_files.h"
#include "probe/probe.h"

#include <gtest/gtest.h>

namespace {

struct Field {
  std::string declaration;
  uint32_t size;
  bool is_signed = false;
};

// A host with one event, demo:event, whose record has these fields behind those of all records.
class Host {
public:
  explicit Host(const std::vector<Field>& fields, const std::string& category = "demo", const std::string& event = "event") {
    std::string format = "name: " + event + "\nID: 7\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n";
    uint32_t offset = 8;
    for (const Field& f : fields) {
      format += "\tfield:" + f.declaration + ";\toffset:" + std::to_string(offset) + ";\tsize:" + std::to_string(f.size) + ";\tsigned:" + (f.is_signed ? "1" : "0") + ";\n";
      offset += f.size;
    }
    const std::string name = category + ":" + event;
    bytes_ = host::file_of({{"kernel", "release 6.1.0\nversion #1\nmachine " + host::this_machine + "\n"},
                            {"answers", "possible_cpus 2\n"},
                            {"tracefs/available_events", name + "\n"},
                            {"tracefs/dynamic_events", ""},
                            {"tracefs formats", name + std::string(1, '\0') + format + std::string(1, '\0')}});
    auto opened = host::SavedHost::view(std::as_bytes(std::span(bytes_)), "demo.host");
    EXPECT_TRUE(opened.ok()) << opened.error().message;
    host_ = std::move(*opened);
    machine.emplace(types, *host_);
    const std::string_view parts[] = {"tracepoint", category, event};
    std::vector<probe::Event> events = probe::match(*machine, parts, mismatch);
    EXPECT_EQ(events.size(), 1u) << mismatch.message;
    if (!events.empty()) found = std::move(events.front()), arguments = probe::arguments(*machine, found);
  }
  // "uint32", with `?` behind the text where there is none.
  std::string type_of(std::string_view field) {
    const auto f = arguments ? arguments->find(field) : std::nullopt;
    return f ? type::to_string(*f->type) : "?";
  }

  type::Table types;
  std::optional<probe::Machine> machine;
  probe::Mismatch mismatch;
  probe::Event found;
  const type::Type* arguments = nullptr;

private:
  std::string bytes_;
  std::unique_ptr<host::SavedHost> host_;
};

TEST(TracepointTypes, NumbersHaveTheirSizeAndSign) {
  Host h({{"int a", 4, true}, {"unsigned int b", 4}, {"unsigned c", 4}, {"long d", 8, true}, {"unsigned long long e", 8}, {"short f", 2, true}, {"u8 g", 1}, {"pid_t h", 4, true}, {"s64 i", 8, true}});
  for (auto [name, type] : {std::pair("a", "int32"), {"b", "uint32"}, {"c", "uint32"}, {"d", "int64"}, {"e", "uint64"}, {"f", "int16"}, {"g", "uint8"}, {"h", "int32"}, {"i", "int64"}})
    EXPECT_EQ(h.type_of(name), type) << name;
  EXPECT_EQ(h.arguments->size, 8u + 43u);
  EXPECT_EQ(h.type_of("common_type"), "?") << "programs do not see what all records begin with";
}

TEST(TracepointTypes, TruthValuesAndCharacters) {
  Host h({{"bool a", 1}, {"char b", 1, true}, {"unsigned char c", 1}});
  EXPECT_TRUE(h.arguments->find("a")->type->is(type::Kind::boolean));
  EXPECT_TRUE(h.arguments->find("b")->type->is_char);
  EXPECT_FALSE(h.arguments->find("c")->type->is_char);
}

TEST(TracepointTypes, ArraysHaveElements) {
  Host h({{"char a[16]", 16}, {"u8 b[6]", 6}, {"unsigned long c[4]", 32}, {"__u32 d[COUNT]", 12}, {"char e[0]", 0}, {"struct in6_addr f[1]", 16}});
  EXPECT_EQ(h.type_of("a"), "string[16]");
  EXPECT_EQ(h.type_of("b"), "uint8[6]");
  EXPECT_EQ(h.type_of("c"), "uint64[4]");
  EXPECT_EQ(h.arguments->find("d")->type->size, 12u) << "how many is not told; how large is";
  EXPECT_EQ(h.arguments->find("e")->type->size, 0u);
  EXPECT_EQ(h.arguments->find("f")->type->size, 16u);
}

TEST(TracepointTypes, PointersLeadIntoTheKernel) {
  Host h({{"const char * a", 8}, {"void * b", 8}, {"struct page * c", 8}, {"char ** d", 8}, {"const volatile u32 * e", 8}});
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    const auto f = h.arguments->find(name);
    ASSERT_TRUE(f && f->type->is(type::Kind::pointer)) << name;
    EXPECT_EQ(f->type->space, type::Space::kernel) << name;
  }
  EXPECT_TRUE(h.arguments->find("a")->type->element->is_char);
  EXPECT_EQ(h.arguments->find("b")->type->element, nullptr);
  EXPECT_TRUE(h.arguments->find("d")->type->element->is(type::Kind::pointer));
}

TEST(TracepointTypes, ThoseOfSystemCallsLeadIntoTheProcess) {
  Host h({{"int __syscall_nr", 4, true}, {"int pad", 4}, {"unsigned int fd", 8}, {"const char * buf", 8}, {"size_t count", 8}}, "syscalls", "sys_enter_write");
  EXPECT_EQ(h.found.syscall, 1);
  EXPECT_EQ(h.arguments->find("buf")->type->space, type::Space::user);
  EXPECT_EQ(h.type_of("fd"), "uint64") << "as wide as the register, which the kernel may see";
}

TEST(TracepointTypes, WhatIsElsewhereInTheRecord) {
  Host h({{"__data_loc char[] a", 4}, {"__data_loc u8[] b", 4}, {"__data_loc struct x[] c", 4}});
  for (const char* name : {"a", "b", "c"}) {
    const auto f = h.arguments->find(name);
    ASSERT_TRUE(f) << name;
    EXPECT_TRUE(f->data_loc) << name;
    EXPECT_TRUE(f->type->is(type::Kind::pointer)) << name;
  }
  EXPECT_TRUE(h.arguments->find("a")->type->element->is_char);
}

// A size that no register has: the bytes are there, and no number is made up.
TEST(TracepointTypes, OddSizesAreBytes) {
  Host h({{"int a", 3}, {"struct in6_addr b", 16}, {"union u c", 8}, {"u128 d", 16}});
  for (auto [name, size] : {std::pair("a", 3u), {"b", 16u}, {"c", 8u}, {"d", 16u}}) {
    const auto f = h.arguments->find(name);
    ASSERT_TRUE(f) << name;
    EXPECT_TRUE(f->type->is(type::Kind::array)) << name;
    EXPECT_EQ(f->type->size, size) << name;
  }
}

TEST(TracepointTypes, EventsWithoutArguments) {
  Host h({});
  ASSERT_TRUE(h.arguments);
  EXPECT_TRUE(h.arguments->fields().empty());
}

TEST(TracepointTypes, EachDeclarationHasALine) {
  Host h({{"int a", 4, true}, {"char b[16]", 16}, {"__data_loc char[] c", 4}, {"const char * d", 8}, {"u8 e[N]", 3}});
  EXPECT_EQ(probe::describe_arguments(*h.machine, h.found),
            (std::vector<std::string>{"int a", "char b[16]", "__data_loc char[] c", "const char * d", "u8 e[]"}));
}

// A format that cannot be read: the event is there, its arguments are not.
TEST(TracepointTypes, ADamagedFormat) {
  Host h({{"int", 4}});
  EXPECT_EQ(h.arguments, nullptr);
  EXPECT_TRUE(probe::describe_arguments(*h.machine, h.found).empty());
}

} // namespace
