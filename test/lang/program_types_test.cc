// Scripts that read a program's memory by the types of its debug information. The program prints where its
// data is, its bytes, and what C makes of each expression; scripts must get the same.
#include "dwarf/compiled.h"
#include "dwarf/type_search.h"
#include "eval/engine.h"
#include "ir/lower.h"
#include "lang/check.h"
#include "lang/parse.h"
#include "report/names.h"
#include "report/text.h"

#include <gtest/gtest.h>

#include <cstring>

namespace lang {
namespace {

constexpr const char* c_program = R"(
#include <stdio.h>
#include <stddef.h>
enum sample_color { SAMPLE_RED = -2, SAMPLE_GREEN, SAMPLE_BLUE = 70000 };
typedef struct { short x, y; } sample_point_t;
struct sample_declared;
struct sample_inner {
  unsigned flags : 3; int small : 5; unsigned long long wide : 50; _Bool yes : 1;
  union { int as_int; unsigned char as_bytes[4]; };
  enum sample_color color : 20;
} ;
struct sample_packed { char c; unsigned long long bits : 61; short s; } __attribute__((packed));
struct sample_outer {
  char name[16]; signed char i8; unsigned char u8; short i16; unsigned short u16; int i32; unsigned u32; long i64;
  sample_point_t points[3]; int matrix[2][3][4]; struct sample_inner inner, inners[2]; struct sample_packed packed;
  struct sample_outer *self; const sample_point_t *point; struct sample_inner **twice; void *raw; char *text;
  enum sample_color color; int *numbers; struct { int a; struct { int b; }; } deep; long tail[];
};
static struct { struct sample_outer o; long tail[2]; struct sample_inner *inner; int numbers[4]; char text[32]; } all;
#define P(e) printf("%s\t%lld\n", #e, (long long)(e));
int main(void) {
  struct sample_outer *p = &all.o;
  unsigned seed = 7;
  for (size_t i = 0; i < sizeof all; i++) ((unsigned char *)&all)[i] = (unsigned char)((seed = seed * 1103515245 + 12345) >> 16);
  p->inner.yes = p->inners[0].yes = p->inners[1].yes = 1;
  p->self = p; p->point = &p->points[1]; all.inner = &p->inners[1]; p->twice = &all.inner; p->raw = &p->inner;
  p->text = all.text; p->numbers = all.numbers; p->color = SAMPLE_BLUE;
  for (int i = 0; i < 32; i++) all.text[i] = "the text of the sample"[i % 23];
  for (int i = 0; i < 16; i++) p->name[i] = "sample"[i % 7];
  printf("%p\t%zu\n", (void *)&all, sizeof all);
  for (size_t i = 0; i < sizeof all; i++) printf("%02x", ((unsigned char *)&all)[i]);
  puts("");
  P(p->i8) P(p->u8) P(p->i16) P(p->u16) P(p->i32) P(p->u32) P(p->i64)
  P(p->points[0].x) P(p->points[2].y) P(p->matrix[1][2][3]) P(p->matrix[0][1][0])
  P(p->inner.flags) P(p->inner.small) P(p->inner.wide) P(p->inner.as_int) P(p->inner.as_bytes[2])
  P(p->inners[1].flags) P(p->inners[1].small) P(p->inners[1].wide)
  P(p->packed.c) P(p->packed.bits) P(p->packed.s)
  P(p->self->self->i32) P(p->point->x) P((*p->twice)->small) P(((struct sample_inner *)p->raw)->wide)
  P(p->numbers[2]) P(*p->numbers) P(p->deep.a) P(p->deep.b) P(p->tail[1])
  P(p->color == SAMPLE_BLUE) P(SAMPLE_RED) P(SAMPLE_BLUE) P((int)p->i64)
  P(sizeof(struct sample_outer)) P(sizeof(struct sample_inner)) P(sizeof(sample_point_t)) P(sizeof(enum sample_color))
  P(offsetof(struct sample_outer, deep)) P(offsetof(struct sample_outer, packed.s)) P(offsetof(sample_point_t, y))
  P(p->color) P(p->inner.yes)
}
)";

constexpr const char* cpp_program = R"(
#include <cstdio>
#include <cstddef>
#include <new>
struct sample_base { int first; int hidden; virtual ~sample_base() {} };
struct sample_second { short a; unsigned b : 9; int c : 4; };
enum class sample_state : unsigned char { idle, busy = 200 };
template<class T, int n> struct sample_box { T items[n]; unsigned used : n; };
class sample_derived : public sample_base, private sample_second {
public:
  int hidden = 5; sample_state state = sample_state::busy; static int shared; sample_box<short, 5> box;
  int &reference; sample_derived *next; bool yes = true; wchar_t wide = L'x'; double d = 1.5;
  struct nested { char c; long n; } inside;
  sample_derived(int &r) : reference(r) {}
  int method() { return hidden; }
};
int sample_derived::shared = 9;
static struct all_t { alignas(16) unsigned char room[sizeof(sample_derived)]; int number; } all;
#define P(e) std::printf("%s\t%lld\n", #e, (long long)(e));
int main() {
  all.number = 77;
  sample_derived *p = new (reinterpret_cast<sample_derived *>(all.room)) sample_derived(all.number);
  p->first = -3; p->sample_base::hidden = 11; p->a = -9; p->b = 300; p->c = -7; p->next = p;
  p->box.items[3] = -1234; p->box.used = 21; p->inside.c = 'q'; p->inside.n = 1L << 40;
  std::printf("%p\t%zu\n", (void *)&all, sizeof all);
  for (size_t i = 0; i < sizeof all; i++) std::printf("%02x", reinterpret_cast<unsigned char *>(&all)[i]);
  std::puts("");
  P(p->first) P(p->hidden) P(p->a) P(p->b) P(p->c) P(p->next->b) P(p->box.items[3]) P(p->box.used)
  P(p->inside.n) P(p->wide) P(p->yes) P(sizeof(struct sample_derived)) P(p->next->next->inside.c)
}
)";

// The memory of the program as it printed it.
class Printed : public eval::Memory {
public:
  uint64_t address = 0;
  std::vector<std::byte> bytes;
  bool read(uint64_t from, std::span<std::byte> to) override {
    if (from < address || from - address > bytes.size() || to.size() > bytes.size() - (from - address))
      return false;
    std::memcpy(to.data(), bytes.data() + (from - address), to.size());
    return true;
  }
};

struct Expected {
  std::string expression, value;
};

class ProgramTypes : public testing::Test {
protected:
  void run_program(const std::string& compile, const std::string& name, const std::string& text);
  void open_types();
  void compare(const std::string& type, const std::vector<Expected>& named);
  std::string run_script(const std::string& expression);

  samples::Folder folder_;
  std::string binary_;
  Printed memory_;
  std::vector<Expected> expected_;
  std::optional<format::ElfFile> file_;
  std::optional<dwarf::DebugInfo> info_;
  std::vector<std::byte> index_bytes_;
  std::optional<dwarf::Index> index_;
  std::string start_;
};

void ProgramTypes::run_program(const std::string& compile, const std::string& name, const std::string& text) {
  binary_ = folder_.file("program");
  std::string source = folder_.write(name, text);
  std::string out = samples::output_of(compile + " -o " + binary_ + " " + source + " && " + binary_);
  std::vector<std::string_view> lines;
  for (std::string_view rest = out; !rest.empty();
       rest.remove_prefix(std::min(rest.size(), rest.find('\n') + 1)))
    lines.push_back(rest.substr(0, rest.find('\n')));
  ASSERT_GT(lines.size(), 10u);
  memory_.address = std::strtoull(lines[0].data(), nullptr, 16);
  for (size_t i = 0; i + 1 < lines[1].size(); i += 2)
    memory_.bytes.push_back(
        static_cast<std::byte>(std::stoul(std::string(lines[1].substr(i, 2)), nullptr, 16)));
  for (std::string_view line : std::span(lines).subspan(2))
    expected_.push_back(
        {std::string(line.substr(0, line.find('\t'))), std::string(line.substr(line.find('\t') + 1))});
  open_types();
}

void ProgramTypes::open_types() {
  auto file = format::ElfFile::open(binary_);
  ASSERT_TRUE(file.ok());
  file_.emplace(std::move(*file));
  info_.emplace(*file_);
  std::vector<dwarf::IndexFile> files = {dwarf::IndexFile::of(*file_)};
  auto bytes = dwarf::build_index(files);
  ASSERT_TRUE(bytes.ok());
  index_bytes_ = std::move(*bytes);
  auto index = dwarf::Index::open(index_bytes_);
  ASSERT_TRUE(index.ok());
  index_ = *index;
}

// What `@x = expression` leaves in the map, as text.
std::string ProgramTypes::run_script(const std::string& expression) {
  base::Source source("test", "begin { " + start_ + " @x = " + expression + "; }");
  base::Diagnostics diagnostics;
  auto tree = parse(source, {}, diagnostics);
  if (diagnostics.has_errors()) return diagnostics.render(source, false);
  dwarf::IndexedFiles files = {&*info_};
  dwarf::Types types(tree->types, type::Space::kernel, dwarf::search_types(*index_, files));
  probe::Machine machine(tree->types);
  machine.program_types = [&](std::string_view keyword, std::string_view name) {
    return types.find(keyword, name);
  };
  machine.program_enumerators = [&](std::string_view name) {
    auto die = dwarf::find_enumerator(*index_, files, name);
    return die ? types.enumerator(*die) : std::nullopt;
  };
  check(*tree, machine, {}, diagnostics);
  if (diagnostics.has_errors()) return diagnostics.render(source, false);
  ir::Program program = ir::lower(*tree, machine, {}, diagnostics);
  if (diagnostics.has_errors()) return diagnostics.render(source, false);
  eval::Engine engine(program, {.kernel = &memory_});
  if (!engine.run(0).ok()) return "failed";
  auto entries = engine.read_map(0);
  if (!entries.ok() || entries->size() != 1) return "no value";
  report::SystemNames names;
  report::Context context{.program = program, .engine = engine, .names = names};
  const type::Type& type = *program.maps[0].value;
  return report::text_of(context, type, report::part(entries->front().values, 0, type.size));
}

// `named`: those that acu shows by a name.
void ProgramTypes::compare(const std::string& type, const std::vector<Expected>& named) {
  start_ = "$p = (struct " + type + " *)" + std::to_string(memory_.address) + ";";
  for (Expected& e : expected_) {
    for (const Expected& n : named)
      if (n.expression == e.expression) e.value = n.value;
    for (size_t at = 0; (at = e.expression.find("p->", at)) != std::string::npos; at += 4)
      e.expression.insert(at, "$");
    EXPECT_EQ(run_script(e.expression), e.value) << e.expression;
  }
}

TEST_F(ProgramTypes, OfC) {
  run_program("gcc -g -w", "a.c", c_program);
  compare("sample_outer", {{"p->color", "SAMPLE_BLUE"},
                           {"p->inner.yes", "true"},
                           {"p->color == SAMPLE_BLUE", "true"},
                           {"SAMPLE_RED", "SAMPLE_RED"},
                           {"SAMPLE_BLUE", "SAMPLE_BLUE"}});
  EXPECT_EQ(run_script("$p->name"), "sample");
  EXPECT_EQ(run_script("str($p->text)"), "the text of the sample");
  EXPECT_EQ(run_script("$p->points[1]"), run_script("*$p->point"));
  EXPECT_NE(run_script("$p->nothing").find("has no member"), std::string::npos);
}

TEST_F(ProgramTypes, OfCpp) {
  run_program("g++ -g -w -fno-access-control", "a.cc", cpp_program);
  compare("sample_derived", {{"p->yes", "true"}});
  EXPECT_EQ(run_script("$p->state"), "busy");
  EXPECT_EQ(run_script("*$p->reference"), "77");
  EXPECT_NE(run_script("$p->shared").find("has no member"), std::string::npos);
}

} // namespace
} // namespace lang
