// Containers and other library objects, as libstdc++, libc++ and Rust lay them out; and what is shown where they are damaged.
#include "objects.h"

#include "report/number.h"

namespace report {
namespace {

using type::Field;
using type::Type;

class Views : public Objects {
protected:
  // libstdc++'s: a base class without a name, in which _M_impl is.
  const Type* vector_of(const Type* element, std::string_view name = "std::vector<int, std::allocator<int> >") {
    const Type* impl = layouts.make("_Vector_impl", 24, {.fields = {{.name = "_M_start", .type = pointer_to(element)}, {.name = "_M_finish", .type = pointer_to(element), .offset = 8}, {.name = "_M_end_of_storage", .type = pointer_to(element), .offset = 16}}, .arguments = {}, .variants = {}});
    return layouts.around("", layouts.around("_M_impl", impl), name, {element});
  }
  Buffer vector_at(uint64_t begin, uint64_t bytes) { return joined({address(begin), address(begin + bytes), address(begin + bytes)}); }
  Buffer vector_with(const Buffer& elements) { return vector_at(put(elements), elements.size()); }

  const Type* string_type() {
    const Type* data = layouts.make("_Alloc_hider", 8, {.fields = {{.name = "_M_p", .type = pointer_to(types.character())}}, .arguments = {}, .variants = {}});
    return layouts.make("std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >", 32,
                        {.fields = {{.name = "_M_dataplus", .type = data}, {.name = "_M_string_length", .type = types.uint64(), .offset = 8}}, .arguments = {types.character()}, .variants = {}});
  }
  Buffer string_with(std::string_view text, uint64_t length = ~uint64_t{0}) {
    return joined({address(put(raw_text(text, text.size() + 1))), raw(length == ~uint64_t{0} ? text.size() : length), Buffer(16)});
  }
};

TEST_F(Views, Vectors) {
  EXPECT_EQ(text(vector_of(int32()), vector_with(numbers({1, -2, 3}))), "[1,-2,3]");
  EXPECT_EQ(as_json(vector_of(int32()), vector_with(numbers({1, -2, 3}))), "[1,-2,3]");
  EXPECT_EQ(text(vector_of(int32()), vector_at(0, 0)), "[]"); // a new one has no memory
  EXPECT_EQ(text(vector_of(int32()), vector_with({})), "[]");
}

TEST_F(Views, WithoutMemoryTheMembersAreShown) {
  options.memory = {};
  EXPECT_EQ(text(vector_of(int32()), vector_at(0x10, 8)), "{ ._M_impl = { ._M_start = 0x10, ._M_finish = 0x18, ._M_end_of_storage = 0x18 } }");
}

TEST_F(Views, DamagedVectors) {
  const Type* t = vector_of(int32());
  EXPECT_EQ(text(t, vector_at(0x999000, 8)), "[<the memory at 0x999000 is not there>]");
  EXPECT_EQ(text(t, joined({address(0x20), address(0x10), address(0)})), "<a vector from 0x20 to 0x10: not initialised, or damaged?>");
  EXPECT_EQ(text(t, vector_at(0x20, 7)), "<a vector from 0x20 to 0x27: not initialised, or damaged?>"); // no whole number of elements
  EXPECT_EQ(as_json(t, vector_at(0x999000, 8)), "[{\"not_shown\": \"the memory at 0x999000 is not there\"}]");
  // The memory ends within it.
  const uint64_t begin = put(numbers({1, 2}));
  EXPECT_EQ(text(t, vector_at(begin, 12)), "[1,2,<the memory at " + bare(begin + 8) + " is not there>]");
}

TEST_F(Views, OneHundredElementsAreShown) {
  Buffer many;
  for (int32_t i = 0; i < 101; i++) {
    const Buffer one = raw(i);
    many.insert(many.end(), one.begin(), one.end());
  }
  const Type* t = vector_of(int32());
  std::string shown = text(t, vector_with(many));
  EXPECT_TRUE(shown.ends_with(",99,… 1 more]")) << shown.substr(shown.size() - 30);
  shown = as_json(t, vector_with(many));
  EXPECT_TRUE(shown.ends_with(",99,{\"left_out\": 1}]")) << shown.substr(shown.size() - 30);
  many.resize(400);
  EXPECT_TRUE(text(t, vector_with(many)).ends_with(",99]"));
}

// Containers of containers end after so many elements in all, and so deep.
TEST_F(Views, ElementsOfAllContainersCount) {
  const Type* inner = vector_of(int32());
  Buffer row, rows; // rows of 100
  for (int i = 0; i < 100; i++) row = joined({row, raw(7)});
  for (int i = 0; i < 50; i++) {
    const Buffer one = vector_with(row);
    rows.insert(rows.end(), one.begin(), one.end());
  }
  const std::string shown = text(vector_of(inner), vector_with(rows));
  EXPECT_EQ(std::ranges::count(shown, '7'), 2000 - 20); // of 20 rows, which count too
  EXPECT_TRUE(shown.ends_with(",7,… 20 more],… 30 more]")) << shown.substr(shown.size() - 40);
  const Type* t = int32();
  Buffer bytes = raw(7);
  for (int i = 0; i < 12; i++) t = vector_of(t, "std::vector<deep>"), bytes = vector_with(bytes);
  EXPECT_EQ(text(t, bytes), "[[[[[[[[[<deeper than is shown>]]]]]]]]]"); // eight in the first
}

TEST_F(Views, VectorsOfBits) {
  const Type* start = layouts.make("_Bit_iterator", 16, {.fields = {{.name = "_M_p", .type = pointer_to(types.uint64())}, {.name = "_M_offset", .type = types.integer(4, false), .offset = 8}}, .arguments = {}, .variants = {}});
  const Type* impl = layouts.make("impl", 32, {.fields = {{.name = "_M_start", .type = start}, {.name = "_M_finish", .type = start, .offset = 16}}, .arguments = {}, .variants = {}});
  const Type* t = layouts.around("_M_impl", impl, "std::vector<bool, std::allocator<bool> >", {types.boolean()});
  const uint64_t at = put(words({0b101}));
  EXPECT_EQ(text(t, joined({address(at), words({0}), address(at), raw<uint64_t>(3)})), "[true,false,true]");
  EXPECT_EQ(text(t, joined({address(0), words({0}), address(0), raw<uint64_t>(0)})), "[]");
  EXPECT_EQ(text(t, joined({address(at + 8), words({0}), address(at), raw<uint64_t>(0)})).substr(0, 15), "<a vector from ");
}

TEST_F(Views, Strings) {
  EXPECT_EQ(text(string_type(), string_with("hello")), "\"hello\"");
  EXPECT_EQ(text(string_type(), string_with("")), "\"\"");
  EXPECT_EQ(text(string_type(), string_with("a \"b\" \\ \n")), "\"a \\\"b\\\" \\\\ \\x0a\"");
  EXPECT_EQ(as_json(string_type(), string_with("a \"b\" ü\n")), "\"a \\\"b\\\" ü\\n\"");
  EXPECT_EQ(text(string_type(), string_with(std::string_view("a\0b", 3))), "\"a\\x00b\""); // its length counts, not a NUL
}

TEST_F(Views, LongStringsAreCut) {
  const std::string shown = text(string_type(), string_with(std::string(5000, 'x')));
  EXPECT_EQ(shown, "\"" + std::string(4096, 'x') + "\"… 904 bytes more");
  EXPECT_EQ(text(string_type(), joined({address(0x10), raw(~uint64_t{0} >> 1), Buffer(16)})), "<a text of 9,223,372,036,854,775,807 bytes: not initialised, or damaged?>");
  EXPECT_EQ(text(string_type(), joined({address(0x10), raw<uint64_t>(5), Buffer(16)})), "<the memory at 0x10 is not there>");
}

// libc++ keeps up to 22 characters in the object. In the default layout the lowest bit of the first byte tells.
TEST_F(Views, ShortStringsOfLibcxx) {
  const Type* longs = layouts.make("__long", 24, {.fields = {{.name = "__cap_", .type = types.uint64()}, {.name = "__size_", .type = types.uint64(), .offset = 8}, {.name = "__data_", .type = pointer_to(types.character()), .offset = 16}}, .arguments = {}, .variants = {}});
  const Type* shorts = layouts.make("__short", 24, {.fields = {{.name = "__size_", .type = types.integer(1, false)}, {.name = "__data_", .type = types.string(23), .offset = 1}}, .arguments = {}, .variants = {}});
  const Type* rep = layouts.make("__rep", 24, {.fields = {{.name = "__l", .type = longs}, {.name = "__s", .type = shorts}}, .arguments = {}, .variants = {}});
  const Type* t = layouts.around("__rep_", rep, "std::__1::basic_string<char, std::__1::char_traits<char>, std::__1::allocator<char> >", {types.character()});
  EXPECT_EQ(text(t, joined({raw<uint8_t>(5 << 1), raw_text("short", 23)})), "\"short\"");
  EXPECT_EQ(text(t, joined({raw<uint8_t>(0), raw_text("", 23)})), "\"\"");
  EXPECT_EQ(text(t, joined({raw<uint8_t>(22 << 1), raw_text("0123456789012345678901", 23)})), "\"0123456789012345678901\"");
  EXPECT_EQ(text(t, joined({raw<uint64_t>(33), raw<uint64_t>(4), address(put(raw_text("long", 5)))})), "\"long\"");
  EXPECT_EQ(text(t, joined({raw<uint8_t>(120 << 1), Buffer(23)})), "<a short text of 120 characters: not initialised, or damaged?>");
}

TEST_F(Views, StringViewsAndSpans) {
  const Type* view = layouts.make("std::basic_string_view<char, std::char_traits<char> >", 16, {.fields = {{.name = "_M_len", .type = types.uint64()}, {.name = "_M_str", .type = pointer_to(types.character()), .offset = 8}}, .arguments = {types.character()}, .variants = {}});
  EXPECT_EQ(text(view, joined({raw<uint64_t>(2), address(put(raw_text("abc", 4)))})), "\"ab\"");
  EXPECT_EQ(text(view, Buffer(16)), "\"\"");
  const uint64_t at = put(numbers({7, 8, 9}));
  const Type* extent = layouts.make("__extent_storage", 8, {.fields = {{.name = "_M_extent_value", .type = types.uint64()}}, .arguments = {}, .variants = {}});
  const Type* dynamic = layouts.make("std::span<int, 18446744073709551615ul>", 16, {.fields = {{.name = "_M_ptr", .type = pointer_to(int32())}, {.name = "_M_extent", .type = extent, .offset = 8}}, .arguments = {int32()}, .variants = {}});
  EXPECT_EQ(text(dynamic, joined({address(at), raw<uint64_t>(2)})), "[7,8]");
  const Type* fixed = layouts.make("std::span<int, 3ul>", 8, {.fields = {{.name = "_M_ptr", .type = pointer_to(int32())}}, .arguments = {int32()}, .variants = {}});
  EXPECT_EQ(text(fixed, address(at)), "[7,8,9]");
}

// Nodes of std::map: colour, parent, left, right, then key and value.
class Trees : public Views {
protected:
  const Type* map_type() {
    const Type* header = layouts.make("_Rb_tree_node_base", 32, {.fields = {{.name = "_M_color", .type = int32()}, {.name = "_M_parent", .type = pointer_to(nullptr), .offset = 8}, {.name = "_M_left", .type = pointer_to(nullptr), .offset = 16}, {.name = "_M_right", .type = pointer_to(nullptr), .offset = 24}}, .arguments = {}, .variants = {}});
    const Type* impl = layouts.make("_Rb_tree_impl", 48, {.fields = {{.name = "_M_header", .type = header, .offset = 8}, {.name = "_M_node_count", .type = types.uint64(), .offset = 40}}, .arguments = {}, .variants = {}});
    return layouts.around("_M_t", layouts.around("_M_impl", impl), "std::map<int, long, std::less<int>, std::allocator<std::pair<int const, long> > >", {int32(), types.int64()});
  }
  static Buffer node(uint64_t parent, uint64_t left, uint64_t right, int32_t key, int64_t value) {
    return joined({words({0}), address(parent), address(left), address(right), raw(key), Buffer(4), raw(value)});
  }
  static Buffer map_of(uint64_t leftmost, uint64_t count) { return joined({words({0, 0, 0}), address(leftmost), words({0}), raw(count)}); }
};

TEST_F(Trees, InTheOrderOfTheirKeys) {
  // 2 is the root; 1 its left child; 4 its right one, whose left child is 3.
  put_at(0x1000, node(0x9000, 0x2000, 0x3000, 2, 20));
  put_at(0x2000, node(0x1000, 0, 0, 1, 10));
  put_at(0x3000, node(0x1000, 0x4000, 0, 4, 40));
  put_at(0x4000, node(0x3000, 0, 0, 3, 30));
  EXPECT_EQ(text(map_type(), map_of(0x2000, 4)), "{ [1] = 10, [2] = 20, [3] = 30, [4] = 40 }");
  EXPECT_EQ(as_json(map_type(), map_of(0x2000, 4)), "[[1,10],[2,20],[3,30],[4,40]]");
  EXPECT_EQ(text(map_type(), map_of(0, 0)), "{ }");
  EXPECT_EQ(as_json(map_type(), map_of(0, 0)), "[]");
}

TEST_F(Trees, DamagedOnesEnd) {
  put_at(0x1000, node(0x9000, 0x2000, 0x3000, 2, 20));
  put_at(0x2000, node(0x1000, 0, 0, 1, 10));
  put_at(0x3000, node(0x7777, 0, 0, 4, 40)); // of another parent
  EXPECT_EQ(text(map_type(), map_of(0x2000, 3)), "{ [1] = 10, [2] = 20, <the rest cannot be followed: it says that it has 3, damaged?> }");
  // A circle: each node is its own child.
  put_at(0x2000, node(0x2000, 0x2000, 0x2000, 1, 10));
  const std::string shown = text(map_type(), map_of(0x2000, 1000));
  EXPECT_NE(shown.find("damaged?"), shown.npos) << shown;
}

TEST_F(Views, Lists) {
  const Type* base = layouts.make("_List_node_base", 24, {.fields = {{.name = "_M_next", .type = pointer_to(nullptr)}, {.name = "_M_prev", .type = pointer_to(nullptr), .offset = 8}, {.name = "_M_size", .type = types.uint64(), .offset = 16}}, .arguments = {}, .variants = {}});
  const Type* list = layouts.around("", layouts.around("_M_impl", layouts.around("_M_node", base)), "std::__cxx11::list<int, std::allocator<int> >", {int32()});
  put_at(0x1000, joined({address(0x2000), address(0), raw(1)}));
  put_at(0x2000, joined({address(0x9000), address(0), raw(2)}));
  EXPECT_EQ(text(list, joined({address(0x1000), address(0), raw<uint64_t>(2)})), "[1,2]");
  EXPECT_EQ(text(list, joined({address(0x1000), address(0), raw<uint64_t>(3)})), "[1,2,<the memory at 0x9010 is not there>]");
}

TEST_F(Views, ListsWithoutALength) {
  const Type* head = layouts.make("_Fwd_list_node_base", 8, {.fields = {{.name = "_M_next", .type = pointer_to(nullptr)}}, .arguments = {}, .variants = {}});
  const Type* list = layouts.around("", layouts.around("_M_impl", layouts.around("_M_head", head)), "std::forward_list<int, std::allocator<int> >", {int32()});
  put_at(0x1000, joined({address(0x2000), raw(1)}));
  put_at(0x2000, joined({address(0), raw(2)}));
  EXPECT_EQ(text(list, address(0x1000)), "[1,2]");
  EXPECT_EQ(text(list, address(0)), "[]");
  for (uint64_t back : {0x1000u, 0x2000u}) { // circles that begin at the first node, and behind it
    put_at(0x2000, joined({address(back), raw(2)}));
    EXPECT_EQ(text(list, address(0x1000)), "<a list that goes in a circle: not initialised, or damaged?>");
  }
}

TEST_F(Views, Deques) {
  auto iterator = [&] {
    return layouts.make("_Deque_iterator", 32, {.fields = {{.name = "_M_cur", .type = pointer_to(int32())}, {.name = "_M_first", .type = pointer_to(int32()), .offset = 8}, {.name = "_M_last", .type = pointer_to(int32()), .offset = 16}, {.name = "_M_node", .type = pointer_to(pointer_to(int32())), .offset = 24}}, .arguments = {}, .variants = {}});
  };
  const Type* impl = layouts.make("_Deque_impl", 64, {.fields = {{.name = "_M_start", .type = iterator()}, {.name = "_M_finish", .type = iterator(), .offset = 32}}, .arguments = {}, .variants = {}});
  const Type* deque = layouts.around("", layouts.around("_M_impl", impl), "std::deque<int, std::allocator<int> >", {int32()});
  // Blocks of 128 ints: the last of one, the first two of the next.
  Buffer first(512), second(512);
  const Buffer one = raw(1), more = numbers({2, 3});
  std::ranges::copy(one, first.end() - 4), std::ranges::copy(more, second.begin());
  const uint64_t a = put(first), b = put(second), blocks = put(joined({address(a), address(b)}));
  auto at = [&](uint64_t cur, uint64_t block, uint64_t node) { return joined({address(cur), address(block), address(block + 512), address(node)}); };
  EXPECT_EQ(text(deque, joined({at(a + 508, a, blocks), at(b + 8, b, blocks + 8)})), "[1,2,3]");
  EXPECT_EQ(text(deque, joined({at(a, a, blocks), at(a, a, blocks)})), "[]");
  EXPECT_NE(text(deque, joined({at(a, a, blocks + 8), at(b, b, blocks)})).find("damaged?"), std::string::npos);
  EXPECT_NE(text(deque, joined({at(a + 8, a, blocks), at(a, a, blocks)})).find("damaged?"), std::string::npos); // it ends before it begins
  EXPECT_NE(text(deque, joined({at(a - 4, a, blocks), at(a, a, blocks)})).find("damaged?"), std::string::npos);
}

TEST_F(Views, Pointers) {
  const Type* unique = layouts.around("_M_t", layouts.around("_M_t", layouts.around("", layouts.around("", layouts.around("_M_head_impl", pointer_to(int32()))))), "std::unique_ptr<int, std::default_delete<int> >", {int32()});
  EXPECT_EQ(text(unique, address(0x1234)), "0x1234");
  const Type* count = layouts.around("_M_pi", pointer_to(nullptr));
  const Type* shared = layouts.make("std::shared_ptr<int>", 16, {.fields = {{.name = "_M_ptr", .type = pointer_to(int32())}, {.name = "_M_refcount", .type = count, .offset = 8}}, .arguments = {int32()}, .variants = {}});
  const uint64_t counts = put(joined({words({0x5555}), raw<uint32_t>(3), raw<uint32_t>(1)}));
  EXPECT_EQ(text(shared, joined({address(0x1234), address(counts)})), "0x1234 (uses 3)");
  EXPECT_EQ(as_json(shared, joined({address(0x1234), address(counts)})), "{\"pointer\": 4660, \"uses\": 3}");
  EXPECT_EQ(text(shared, Buffer(16)), "0x0");
  EXPECT_EQ(text(shared, joined({address(0x1234), address(0x888000)})), "0x1234 (its count is not there)");
}

TEST_F(Views, Choices) {
  const Type* payload = layouts.make("_Optional_payload", 8, {.fields = {{.name = "_M_payload", .type = int32()}, {.name = "_M_engaged", .type = types.boolean(), .offset = 4}}, .arguments = {}, .variants = {}});
  const Type* optional = layouts.around("_M_payload", payload, "std::optional<int>", {int32()});
  EXPECT_EQ(text(optional, joined({raw(5), raw(1)})), "5");
  EXPECT_EQ(text(optional, joined({raw(5), raw(0)})), "nothing");
  EXPECT_EQ(as_json(optional, joined({raw(5), raw(0)})), "\"nothing\"");
  const Type* variant = layouts.make("std::variant<int, long>", 16, {.fields = {{.name = "_M_u", .type = types.int64()}, {.name = "_M_index", .type = types.integer(1, false), .offset = 8}}, .arguments = {int32(), types.int64()}, .variants = {}});
  EXPECT_EQ(text(variant, joined({raw(-1), raw(0), raw<uint64_t>(0)})), "-1");
  EXPECT_EQ(text(variant, words({-7, 1})), "-7");
  EXPECT_EQ(text(variant, words({-7, 255})), "nothing (valueless by exception)");
  EXPECT_EQ(text(variant, words({-7, 2})), "<a variant that holds its type number 2: not initialised, or damaged?>");
}

TEST_F(Views, TuplesOfLibstdcxxAreInsideOut) {
  const Type* last = layouts.around("_M_head_impl", types.int64());
  const Type* first = layouts.around("_M_head_impl", int32());
  const Type* all = layouts.make("_Tuple_impl<0>", 16, {.fields = {{.name = "", .type = last}, {.name = "", .type = first, .offset = 8}}, .arguments = {}, .variants = {}});
  const Type* t = layouts.around("", all, "std::tuple<int, long>");
  EXPECT_EQ(text(t, joined({raw<int64_t>(2), raw(1), raw(0)})), "(1, 2)");
  EXPECT_EQ(as_json(t, joined({raw<int64_t>(2), raw(1), raw(0)})), "[1, 2]");
  EXPECT_EQ(text(layouts.around("", layouts.around("", layouts.around("_M_head_impl", int32())), "std::tuple<int>"), raw(1)), "(1,)");
}

TEST_F(Views, MembersInPlaceOfTheirObject) {
  EXPECT_EQ(text(layouts.around("_M_elems", types.array(int32(), 3), "std::array<int, 3ul>", {int32()}), numbers({1, 2, 3})), "[1,2,3]");
  EXPECT_EQ(text(layouts.around("_M_i", int32(), "std::atomic<int>", {int32()}), raw(5)), "5");
  EXPECT_EQ(text(layouts.around("__r", types.int64(), "std::chrono::duration<long, std::ratio<1l, 1000l> >"), words({9})), "9");
}

TEST_F(Views, OfRust) {
  const Type* pointer = layouts.around("pointer", pointer_to(int32()));
  const Type* vector = layouts.make("alloc::vec::Vec<i32, alloc::alloc::Global>", 24, {.fields = {{.name = "buf", .type = pointer}, {.name = "len", .type = types.uint64(), .offset = 16}}, .arguments = {int32()}, .variants = {}});
  EXPECT_EQ(text(vector, joined({address(put(numbers({4, 5}))), words({0, 2})})), "[4,5]");
  const Type* bytes = layouts.make("alloc::vec::Vec<u8, alloc::alloc::Global>", 24, {.fields = {{.name = "buf", .type = pointer}, {.name = "len", .type = types.uint64(), .offset = 16}}, .arguments = {}, .variants = {}});
  const Type* string = layouts.around("vec", bytes, "alloc::string::String");
  EXPECT_EQ(text(string, joined({address(put(raw_text("größe", 7))), words({0, 7})})), "\"gr\\xc3\\xb6\\xc3\\x9fe\"");
  EXPECT_EQ(as_json(string, joined({address(put(raw_text("größe", 7))), words({0, 7})})), "\"größe\"");
  const Type* slice = layouts.make("&[i32]", 16, {.fields = {{.name = "data_ptr", .type = pointer_to(int32())}, {.name = "length", .type = types.uint64(), .offset = 8}}, .arguments = {}, .variants = {}});
  EXPECT_EQ(text(slice, joined({address(put(numbers({6}))), words({1})})), "[6]");
  const Type* str = layouts.make("&str", 16, {.fields = {{.name = "data_ptr", .type = pointer_to(types.integer(1, false))}, {.name = "length", .type = types.uint64(), .offset = 8}}, .arguments = {}, .variants = {}});
  EXPECT_EQ(text(str, joined({address(put(raw_text("abc", 3))), words({2})})), "\"ab\"");
}

TEST_F(Views, EnumsOfRust) {
  const Type* some = layouts.make("Some", 8, {.fields = {{.name = "__0", .type = int32(), .offset = 4}}, .arguments = {}, .variants = {}});
  const Type* pair = layouts.make("Pair", 8, {.fields = {{.name = "__0", .type = types.integer(1, false), .offset = 1}, {.name = "__1", .type = int32(), .offset = 4}}, .arguments = {}, .variants = {}});
  const Type* point = layouts.make("Point", 8, {.fields = {{.name = "x", .type = types.integer(1, false), .offset = 1}, {.name = "y", .type = int32(), .offset = 4}}, .arguments = {}, .variants = {}});
  const Type* none = layouts.make("None", 8, {});
  const Type* choice = layouts.make("app::Choice", 8, {.fields = {}, .arguments = {}, .variants = {{.name = "None", .type = none}, {.name = "Some", .type = some}, {.name = "Pair", .type = pair}, {.name = "Point", .type = point}}});
  auto held = [](uint8_t n) { return joined({raw(n), raw<uint8_t>(9), Buffer(2), raw(5)}); };
  options.memory = {}; // they need none
  EXPECT_EQ(text(choice, held(0)), "None");
  EXPECT_EQ(text(choice, held(1)), "Some(5)");
  EXPECT_EQ(text(choice, held(2)), "Pair(9, 5)");
  EXPECT_EQ(text(choice, held(3)), "Point { .x = 9, .y = 5 }");
  EXPECT_EQ(as_json(choice, held(0)), "\"None\"");
  EXPECT_EQ(as_json(choice, held(1)), "{\"Some\": 5}");
  EXPECT_EQ(as_json(choice, held(2)), "{\"Pair\": [9, 5]}");
  EXPECT_EQ(as_json(choice, held(3)), "{\"Point\": { \"x\": 9, \"y\": 5 }}");
}

// A structure may be called as it likes, and lack what its name promises.
TEST_F(Views, NamesAloneMakeNoView) {
  for (const char* name : {"std::vector<int>", "std::map<int, int>", "std::list<int>", "std::deque<int>", "std::optional<int>", "std::variant<int>", "std::function<void ()>", "std::unique_ptr<int>", "std::shared_ptr<int>",
                           "std::basic_string<char>", "std::span<int>", "alloc::vec::Vec<i32>", "&str", "alloc::string::String", "std::unordered_map<int, int>", "std::tuple<>", "std::forward_list<int>"})
    EXPECT_EQ(text(layouts.around("x", int32(), name, {int32(), int32()}), raw(5)), "{ .x = 5 }") << name;
}

} // namespace
} // namespace report
