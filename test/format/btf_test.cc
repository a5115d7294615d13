// BTF: a blob built by hand, its truncations and mutations, and the kernel of this machine.
#include "format/btf_declaration.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <random>

using format::Btf;
using format::BtfKind;

namespace {

// Writes BTF: types in the order of the calls, ids from 1.
class Builder {
public:
  Builder() = default;
  // Of a module: ids and places of names go on where those of the kernel end.
  Builder(uint32_t first_id, uint32_t names_at) : names_(), names_at_(names_at), next_(first_id) {}
  uint32_t name(std::string_view text) {
    if (text.empty()) return 0;
    auto at = names_at_ + static_cast<uint32_t>(names_.size());
    names_.append(text).append(1, '\0');
    return at;
  }
  uint32_t type(BtfKind kind, std::string_view text, uint32_t value, std::vector<uint32_t> tail = {},
                uint32_t count = 0, bool flag = false) {
    words_.insert(words_.end(),
                  {name(text), static_cast<uint32_t>(kind) << 24 | count | (flag ? 1u << 31 : 0u), value});
    words_.insert(words_.end(), tail.begin(), tail.end());
    return next_++;
  }
  uint32_t integer(std::string_view text, uint32_t size, uint32_t encoding) {
    return type(BtfKind::integer, text, size, {encoding << 24 | size * 8});
  }
  std::vector<std::byte> bytes() const {
    uint32_t header[6] = {0xeb9f | 1u << 16,
                          24,
                          0,
                          static_cast<uint32_t>(words_.size() * 4),
                          static_cast<uint32_t>(words_.size() * 4),
                          static_cast<uint32_t>(names_.size())};
    std::vector<std::byte> out(24 + words_.size() * 4 + names_.size());
    std::memcpy(out.data(), header, 24);
    std::memcpy(out.data() + 24, words_.data(), words_.size() * 4);
    std::memcpy(out.data() + 24 + words_.size() * 4, names_.data(), names_.size());
    return out;
  }

private:
  std::string names_ = std::string(1, '\0');
  uint32_t names_at_ = 0;
  std::vector<uint32_t> words_;
  uint32_t next_ = 1;
};

struct Sample {
  std::vector<std::byte> bytes;
  uint32_t prototype = 0;
};

// struct pair { int first; const char *text; char name[16]; unsigned flags : 3; unsigned rest : 5; user_t
// *to;
//               union { long big; bool yes; }; struct pair *next; enum color paint; };
Sample sample() {
  Builder b;
  uint32_t i32 = b.integer("int", 4, 1), u32 = b.integer("unsigned int", 4, 0), ch = b.integer("char", 1, 1);
  uint32_t i64 = b.integer("long", 8, 1), yes = b.integer("_Bool", 1, 4);
  uint32_t constant = b.type(BtfKind::const_, "", ch), text = b.type(BtfKind::pointer, "", constant);
  uint32_t name = b.type(BtfKind::array, "", 0, {ch, u32, 16});
  uint32_t tag = b.type(BtfKind::type_tag, "user", i32), to_user = b.type(BtfKind::pointer, "", tag);
  uint32_t either = b.type(BtfKind::union_, "", 8, {b.name("big"), i64, 0, b.name("yes"), yes, 0}, 2);
  uint32_t color = b.type(BtfKind::enumeration, "color", 4, {b.name("RED"), 1, b.name("NONE"), ~0u}, 2, true);
  uint32_t big = b.type(BtfKind::enumeration64, "big_enum", 8, {b.name("HUGE"), 5, 1}, 1);
  uint32_t next = b.type(BtfKind::pointer, "", 15);
  uint32_t pair = b.type(BtfKind::structure, "pair", 64,
                         {b.name("first"),
                          i32,
                          0,
                          b.name("text"),
                          text,
                          8 * 8,
                          b.name("name"),
                          name,
                          16 * 8,
                          b.name("flags"),
                          u32,
                          3u << 24 | (32 * 8 + 2),
                          b.name("rest"),
                          u32,
                          5u << 24 | (32 * 8 + 27),
                          b.name("to"),
                          to_user,
                          40 * 8,
                          0,
                          either,
                          48 * 8,
                          b.name("next"),
                          next,
                          56 * 8,
                          b.name("paint"),
                          color,
                          36 * 8},
                         9, true);
  EXPECT_EQ(pair, 15u);
  uint32_t alias = b.type(BtfKind::typedef_, "pair_t", pair);
  uint32_t proto = b.type(BtfKind::prototype, "", 0, {b.name("__data"), text, b.name("what"), next}, 2);
  uint32_t pointer = b.type(BtfKind::pointer, "", proto);
  b.type(BtfKind::typedef_, "btf_trace_thing", pointer);
  b.type(BtfKind::function, "thing", proto);
  b.type(BtfKind::forward, "unknown", 0);
  b.type(BtfKind::section, ".data", 4, {alias, 0, 4}, 1);
  b.type(BtfKind::variable, "some", i32, {0});
  b.type(BtfKind::decl_tag, "tag", i32, {0});
  b.type(BtfKind::floating, "double", 8);
  b.type(BtfKind::typedef_, "loop_t", 27);
  b.type(BtfKind::typedef_, "pool_t", 26);
  (void)big;
  return {b.bytes(), pointer};
}

std::unique_ptr<Btf> parsed(std::vector<std::byte> bytes) {
  auto btf = Btf::parse(std::move(bytes));
  EXPECT_TRUE(btf.ok());
  return btf.ok() ? std::move(*btf) : nullptr;
}

TEST(Btf, finds_by_name_and_kind) {
  auto btf = parsed(sample().bytes);
  EXPECT_EQ(btf->find("int", BtfKind::integer), 1u);
  EXPECT_EQ(btf->find("pair", BtfKind::structure), 15u);
  EXPECT_EQ(btf->find("pair", BtfKind::union_), 0u);
  EXPECT_EQ(btf->find("pair_t", BtfKind::typedef_), 16u);
  EXPECT_EQ(btf->find("pair_t", {BtfKind::structure, BtfKind::typedef_}), 16u);
  EXPECT_EQ(btf->find("ai", BtfKind::structure), 0u);
  EXPECT_EQ(btf->find("", BtfKind::structure), 0u);
  EXPECT_TRUE(btf->has_name("btf_trace_thing"));
  EXPECT_FALSE(btf->has_name("btf_trace_"));
  ASSERT_EQ(btf->names("btf_trace_").size(), 1u);
  EXPECT_EQ(btf->names("btf_trace_")[0], "btf_trace_thing");
}

TEST(Btf, decodes_structures) {
  auto btf = parsed(sample().bytes);
  type::Table table;
  const type::Type* pair = btf->type(table, btf->find("pair_t", BtfKind::typedef_));
  ASSERT_TRUE(pair);
  EXPECT_EQ(type::to_string(*pair), "struct pair");
  EXPECT_EQ(pair->size, 64u);
  EXPECT_EQ(type::to_string(*pair->find("first")->type), "int32");
  EXPECT_EQ(pair->find("text")->offset, 8u);
  EXPECT_TRUE(pair->find("text")->type->element->is_char);
  EXPECT_EQ(pair->find("text")->type->space, type::Space::kernel);
  EXPECT_EQ(type::to_string(*pair->find("name")->type), "string[16]");
  EXPECT_EQ(pair->find("to")->type->space, type::Space::user);
  EXPECT_EQ(pair->find("next")->type->element, pair);
  EXPECT_EQ(pair->find("yes")->offset, 48u);
  EXPECT_EQ(pair->find("yes")->type, table.boolean());
  EXPECT_FALSE(pair->find("nothing"));
}

TEST(Btf, declares_types_as_c_does) {
  auto btf = parsed(sample().bytes);
  EXPECT_EQ(format::definition(*btf, btf->find("pair", BtfKind::structure)),
            "struct pair {\n"
            "        int first;\n"
            "        const char *text;\n"
            "        char name[16];\n"
            "        unsigned int flags: 3;\n"
            "        unsigned int rest: 5;\n"
            "        int *to;\n"
            "        union {\n"
            "                long big;\n"
            "                _Bool yes;\n"
            "        };\n"
            "        struct pair *next;\n"
            "        enum color paint;\n"
            "};");
  EXPECT_EQ(format::definition(*btf, btf->find("color", BtfKind::enumeration)),
            "enum color {\n        RED = 1,\n        NONE = -1,\n};");
  EXPECT_EQ(format::type_name(*btf, sample().prototype), "void (*)(const char *, struct pair *)");
  EXPECT_EQ(format::definition(*btf, 9999), "");
}

TEST(Btf, endless_declarations_end) {
  Builder b;
  uint32_t to = b.type(BtfKind::pointer, "", 2);
  uint32_t both = b.type(BtfKind::prototype, "", 0, {b.name("a"), to, b.name("b"), to}, 2);
  uint32_t outer = b.type(BtfKind::structure, "", 0, {0, 3, 0, 0, 3, 0}, 2);
  auto btf = parsed(b.bytes());
  EXPECT_LT(format::type_name(*btf, both).size(), 1u << 22);
  EXPECT_LT(format::definition(*btf, outer).size(), 1u << 24);
}

TEST(Btf, finds_single_members) {
  auto btf = parsed(sample().bytes);
  type::Table table;
  uint32_t pair = btf->find("pair", BtfKind::structure);
  auto next = btf->member(table, pair, "next");
  ASSERT_TRUE(next);
  EXPECT_EQ(next->field.offset, 56u);
  EXPECT_EQ(btf->pointee(next->type), pair);
  EXPECT_EQ(btf->member(table, pair, "yes")->field.offset, 48u);
  EXPECT_FALSE(btf->member(table, pair, "nothing"));
  EXPECT_FALSE(btf->member(table, pair, ""));
  EXPECT_FALSE(btf->member(table, 1, "x"));
  EXPECT_EQ(btf->pointee(1), 0u);
}

TEST(Btf, places_bit_fields_in_their_storage_unit) {
  auto btf = parsed(sample().bytes);
  type::Table table;
  const type::Type* pair = btf->type(table, btf->find("pair", BtfKind::structure));
  auto flags = pair->find("flags"), rest = pair->find("rest");
  EXPECT_EQ(flags->offset, 32u);
  EXPECT_EQ(flags->bit_offset, 2u);
  EXPECT_EQ(flags->bit_size, 3u);
  EXPECT_EQ(rest->offset, 32u);
  EXPECT_EQ(rest->bit_offset, 27u);
  EXPECT_EQ(rest->bit_size, 5u);
}

TEST(Btf, decodes_enumerations) {
  auto btf = parsed(sample().bytes);
  type::Table table;
  const type::Type* paint = btf->type(table, btf->find("pair", BtfKind::structure))->find("paint")->type;
  EXPECT_TRUE(paint->is_signed);
  ASSERT_EQ(paint->enumerators().size(), 2u);
  EXPECT_EQ(paint->enumerators()[1].name, "NONE");
  EXPECT_EQ(paint->enumerators()[1].value, -1);
  auto huge = btf->find_enumerator("HUGE");
  ASSERT_TRUE(huge);
  EXPECT_EQ(huge->second, 0x100000005);
  EXPECT_FALSE(btf->find_enumerator("RE"));
  EXPECT_FALSE(btf->find_enumerator("pair"));
}

TEST(Btf, gives_parameters_of_a_prototype) {
  Sample s = sample();
  auto btf = parsed(s.bytes);
  auto parameters = btf->parameters(btf->find("btf_trace_thing", BtfKind::typedef_));
  ASSERT_EQ(parameters.size(), 2u);
  EXPECT_EQ(parameters[1].name, "what");
  EXPECT_EQ(btf->parameters(btf->find("thing", BtfKind::function)).size(), 2u);
  EXPECT_TRUE(btf->parameters(1).empty());
  type::Table table;
  EXPECT_EQ(type::to_string(*btf->type(table, s.prototype)), "void *");
}

TEST(Btf, reads_modules_with_the_kernel) {
  Builder kernel;
  uint32_t u32 = kernel.integer("unsigned int", 4, 0);
  std::vector<std::byte> bytes = kernel.bytes();
  auto base = parsed(bytes);
  uint32_t names_size;
  std::memcpy(&names_size, bytes.data() + 20, 4);
  Builder module(u32 + 1, names_size);
  uint32_t structure =
      module.type(BtfKind::structure, "device", 4, {module.name("mtu"), u32, 0}, 1);
  uint32_t pointer = module.type(BtfKind::pointer, "", structure);
  uint32_t prototype = module.type(BtfKind::prototype, "", u32, {module.name("dev"), pointer}, 1);
  module.type(BtfKind::function, "start", prototype);
  auto btf = Btf::parse_split(module.bytes(), *base);
  ASSERT_TRUE(btf.ok());
  EXPECT_EQ((*btf)->find("unsigned int", BtfKind::integer), u32);
  uint32_t function = (*btf)->find("start", BtfKind::function);
  ASSERT_TRUE(function);
  auto parameters = (*btf)->parameters(function);
  ASSERT_EQ(parameters.size(), 1u);
  EXPECT_EQ(parameters[0].name, "dev");
  type::Table table;
  const type::Type* to = (*btf)->type(table, parameters[0].type);
  ASSERT_TRUE(to && to->element);
  ASSERT_TRUE(to->element->find("mtu"));
  EXPECT_EQ(type::to_string(*to->element->find("mtu")->type), "uint32");
  // Whatever is cut off of it.
  bytes = module.bytes();
  for (size_t size = 0; size < bytes.size(); size++)
    if (auto part = Btf::parse_split(std::span(bytes).first(size), *base); part.ok()) (*part)->all(BtfKind::function);
}

TEST(Btf, endless_typedefs_are_void) {
  auto btf = parsed(sample().bytes);
  type::Table table;
  EXPECT_EQ(btf->type(table, btf->find("loop_t", BtfKind::typedef_)), nullptr);
}

// Asks everything there is to ask; nothing may crash or read outside (sanitizers watch).
void ask_all(std::vector<std::byte> bytes) {
  auto made = Btf::parse(std::move(bytes));
  if (!made.ok()) return;
  Btf& btf = **made;
  for (std::string_view name : {"pair", "pair_t", "color", "loop_t", "big_enum"})
    btf.find(name, {BtfKind::structure, BtfKind::typedef_, BtfKind::enumeration, BtfKind::enumeration64});
  btf.find_enumerator("NONE");
  btf.find_enumerator("HUGE");
  btf.names("b");
  type::Table table;
  for (uint32_t id = 0; id < 40; id++) {
    btf.member(table, id, "yes");
    btf.parameters(id);
    btf.pointee(id);
    if (id == 15) format::definition(btf, id), format::type_name(btf, id);
    const type::Type* t = btf.type(table, id);
    if (!t) continue;
    type::to_string(*t);
    for (const type::Field& f : t->fields()) EXPECT_LE(f.offset, 1u << 30);
    t->enumerators();
  }
}

TEST(Btf, survives_truncation_at_every_length) {
  std::vector<std::byte> whole = sample().bytes;
  ASSERT_LE(whole.size(), 4096u);
  for (size_t n = 0; n <= whole.size(); n++) ask_all({whole.begin(), whole.begin() + static_cast<long>(n)});
  // Cut, but with a header that agrees.
  uint32_t types_size;
  std::memcpy(&types_size, whole.data() + 12, 4);
  for (uint32_t cut = 0; cut < types_size; cut++) {
    std::vector<std::byte> copy = whole;
    copy.erase(copy.begin() + 24 + cut, copy.begin() + 24 + types_size);
    std::memcpy(copy.data() + 12, &cut, 4);
    std::memcpy(copy.data() + 16, &cut, 4);
    ask_all(copy);
  }
}

TEST(Btf, survives_random_changes) {
  std::vector<std::byte> whole = sample().bytes;
  std::mt19937 random(1);
  for (int round = 0; round < 20000; round++) {
    std::vector<std::byte> copy = whole;
    for (unsigned n = random() % 6 + 1; n > 0; n--) {
      size_t at = random() % copy.size();
      copy[at] = random() % 2 ? static_cast<std::byte>(random())
                              : copy[at] ^ static_cast<std::byte>(1 << random() % 8);
    }
    ask_all(copy);
  }
}

TEST(Btf, refuses_what_is_not_btf) {
  EXPECT_FALSE(Btf::parse({}).ok());
  EXPECT_FALSE(Btf::parse(std::vector<std::byte>(100)).ok());
  EXPECT_FALSE(Btf::open("/proc/self/exe").ok());
  EXPECT_FALSE(Btf::open("/nonexistent").ok());
}

// ------------------------------------------------------------------------------- the kernel of this machine

std::unique_ptr<Btf> kernel() {
  auto btf = Btf::open("/sys/kernel/btf/vmlinux");
  return btf.ok() ? std::move(*btf) : nullptr;
}

TEST(BtfKernel, knows_tasks) {
  auto btf = kernel();
  if (!btf) GTEST_SKIP() << "this kernel gives no type information";
  type::Table table;
  const type::Type* task = btf->type(table, btf->find("task_struct", BtfKind::structure));
  ASSERT_TRUE(task);
  EXPECT_GT(task->size, 1000u);
  ASSERT_TRUE(task->find("pid"));
  EXPECT_EQ(type::to_string(*task->find("pid")->type), "int32");
  ASSERT_TRUE(task->find("comm"));
  EXPECT_EQ(type::to_string(*task->find("comm")->type), "string[16]");
  EXPECT_EQ(task->find("real_parent")->type->element, task);
  const type::Type* size_t_type = btf->type(table, btf->find("size_t", BtfKind::typedef_));
  ASSERT_TRUE(size_t_type);
  EXPECT_EQ(type::to_string(*size_t_type), "uint64");
  EXPECT_EQ(btf->parameters(btf->find("btf_trace_sched_switch", BtfKind::typedef_)).size() >= 4, true);
  EXPECT_TRUE(btf->find_enumerator("BPF_MAP_TYPE_HASH"));
  EXPECT_EQ(btf->find_enumerator("BPF_MAP_TYPE_HASH")->second, 1);
}

// Every structure of the kernel decodes, and its members lie inside it.
TEST(BtfKernel, decodes_everything) {
  auto btf = kernel();
  if (!btf) GTEST_SKIP() << "this kernel gives no type information";
  type::Table table;
  size_t structures = 0;
  for (uint32_t id = 1; id < 30000; id++) {
    const type::Type* t = btf->type(table, id);
    if (!t || !t->is(type::Kind::structure)) continue;
    structures++;
    for (const type::Field& f : t->fields()) EXPECT_LE(f.offset, t->size) << t->name << '.' << f.name;
  }
  EXPECT_GT(structures, 1000u);
}

TEST(BtfKernel, is_quick) {
  using Clock = std::chrono::steady_clock;
  for (const char* name : {"task_struct", "sockaddr", "btf_trace_sched_switch", "no_such_type_at_all"}) {
    auto start = Clock::now();
    auto btf = kernel();
    if (!btf) GTEST_SKIP() << "this kernel gives no type information";
    auto opened = Clock::now();
    uint32_t id = btf->find(name, {BtfKind::structure, BtfKind::typedef_});
    auto found = Clock::now();
    type::Table table;
    const type::Type* t = btf->type(table, id);
    size_t fields = t ? t->fields().size() : 0;
    auto decoded = Clock::now();
    auto us = [](auto from, auto to) { return std::chrono::duration<double, std::micro>(to - from).count(); };
    printf("%-24s open %.0f us, find %.0f us, %zu fields %.0f us\n", name, us(start, opened),
           us(opened, found), fields, us(found, decoded));
    EXPECT_LT(us(opened, found), 50000);
  }
}

} // namespace
