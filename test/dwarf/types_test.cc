// Types as compilers write them: programs that print their own layouts, and small ones for each kind of type.
// ACU_TYPES_SEED and ACU_TYPES_COUNT make the random programs others, and larger.
#include "dwarf/types.h"

#include "dwarf/compiled.h"
#include "dwarf/decode_types.h"
#include "dwarf/type_samples.h"

#include <gtest/gtest.h>

#include <map>
#include <sstream>

namespace dwarf {
namespace {

using type::Kind;

// The types of a file by kind and whole name: what the index of names is for, without it.
class Opened {
public:
  explicit Opened(const std::string& path, type::Space space = type::Space::user)
      : file_(open(path)), info_(file_),
        types(table, space, [this](uint16_t tag, std::string_view name) { return find(tag, name); }) {
    note(info_);
  }
  std::optional<Die> find(uint16_t tag, std::string_view name) {
    if (name.starts_with("::")) name.remove_prefix(2);
    auto at = places_.find({tag, std::string(name)});
    return at == places_.end() ? std::nullopt : die_at(at->second);
  }
  const type::Type* type(std::string_view keyword, std::string_view name) {
    return types.find(keyword, name);
  }

  std::vector<Die> all(uint16_t tag) {
    std::vector<Die> out;
    for (size_t i = 0; i < info_.units().size(); i++) {
      DieCursor cursor(*info_.unit(i));
      while (cursor.next())
        if (cursor.die().tag() == tag) out.push_back(cursor.die());
    }
    return out;
  }

private:
  static format::ElfFile open(const std::string& path) {
    auto file = format::ElfFile::open(path);
    EXPECT_TRUE(file.ok()) << path;
    return std::move(*file);
  }
  void note(DebugInfo& info) {
    type::Table other;
    Types names(other);
    for (size_t i = 0; i < info.units().size(); i++) {
      const Unit* unit = info.unit(i);
      if (!unit) continue;
      DieCursor cursor(*unit);
      while (cursor.next()) {
        Die die = cursor.die();
        if (find_attribute(die, DW_AT_declaration)) continue;
        uint16_t tag = die.tag() == DW_TAG_class_type ? uint16_t{DW_TAG_structure_type} : die.tag();
        std::string name = names.full_name(die);
        if (!name.empty()) places_.try_emplace({tag, name}, place_of(die));
      }
    }
  }

  format::ElfFile file_;
  DebugInfo info_;
  std::map<std::pair<uint16_t, std::string>, Place> places_;

public:
  type::Table table;
  Types types;
};

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);) out.push_back(part);
  return out;
}

const type::Type* any_type(Opened& in, const std::string& name) {
  for (std::string keyword : {"struct", "union", "enum"})
    if (const type::Type* t = in.type(keyword, name)) return t;
  return nullptr;
}

// Compares one line that a program printed.
void expect_line(Opened& in, const std::string& line) {
  std::vector<std::string> words = split(line, '\t');
  const type::Type* t = any_type(in, words[1]);
  ASSERT_NE(t, nullptr) << line;
  if (words[0] == "T") {
    EXPECT_EQ(std::to_string(t->size), words[2]) << line;
    return;
  }
  if (words[0] == "E") {
    EXPECT_EQ(std::to_string(t->size), words[2]) << line;
    std::string value = "none";
    for (const type::Enumerator& e : t->enumerators())
      if (e.name == words[3]) value = std::to_string(e.value);
    EXPECT_EQ(value, words[4]) << line;
    return;
  }
  uint64_t first = 0;
  type::Field field{.type = t};
  for (const std::string& name : split(words[2], '.')) {
    auto found = field.type->find(name);
    ASSERT_TRUE(found) << line;
    field = *found;
    first += field.offset * 8 + field.bit_offset;
  }
  EXPECT_EQ(std::to_string(first), words[3]) << line;
  EXPECT_EQ(std::to_string(field.bit_size), words[4]) << line;
  if (words[4] == "0") {
    EXPECT_EQ(std::to_string(field.type->size), words[5]) << line;
  }
  if (words[6] != "-") {
    EXPECT_EQ(type::to_string(*field.type), words[6]) << line;
  }
}

uint64_t number_from(const char* variable, uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

void expect_layouts(bool is_cpp, const std::string& options) {
  samples::Folder folder;
  samples::Program program = samples::generate(
      number_from("ACU_TYPES_SEED", 4), static_cast<uint32_t>(number_from("ACU_TYPES_COUNT", 60)), is_cpp);
  std::string source = folder.write(is_cpp ? "a.cc" : "a.c", program.source), binary = folder.file("a");
  std::string lines =
      samples::output_of((is_cpp ? "g++ -fno-access-control -femit-class-debug-always " : "gcc ") +
                         ("-w -Wno-psabi " + options) + " -o " + binary + " " + source + " && " + binary);
  ASSERT_FALSE(lines.empty());
  Opened opened(binary);
  size_t count = 0;
  for (const std::string& line : split(lines, '\n')) {
    expect_line(opened, line);
    count++;
  }
  EXPECT_GT(count, program.types * 3);
}

TEST(TypeLayouts, OfCVersion5) { expect_layouts(false, "-gdwarf-5"); }
TEST(TypeLayouts, OfCVersion4) { expect_layouts(false, "-gdwarf-4"); }
TEST(TypeLayouts, OfCVersion2) { expect_layouts(false, "-gdwarf-2 -gstrict-dwarf"); }
TEST(TypeLayouts, OfCppVersion5) { expect_layouts(true, "-gdwarf-5"); }
TEST(TypeLayouts, OfCppVersion4InTypeUnits) { expect_layouts(true, "-gdwarf-4 -fdebug-types-section"); }
TEST(TypeLayouts, OfCppVersion5InTypeUnits) { expect_layouts(true, "-gdwarf-5 -fdebug-types-section"); }

// ------------------------------------------------------------------------------------------- small programs

// Compiled, not linked: `parts` are files of their own.
class Compiled {
public:
  Compiled(const std::string& command, const std::string& suffix, std::vector<std::string> parts) {
    std::string sources;
    for (size_t i = 0; i < parts.size(); i++)
      sources += " " + folder_.write("p" + std::to_string(i) + suffix, parts[i]);
    binary_ = folder_.file("out");
    samples::output_of(command + " -o " + binary_ + sources);
    opened.emplace(binary_);
  }

private:
  samples::Folder folder_;
  std::string binary_;

public:
  std::optional<Opened> opened;
};

Function function_of(Opened& in, std::string_view name) {
  std::optional<Die> die = in.find(DW_TAG_subprogram, name);
  EXPECT_TRUE(die) << name;
  return die ? in.types.function(*die) : Function();
}

std::string text_of(Opened& in, uint16_t tag, std::string_view name) {
  std::optional<Die> die = in.find(tag, name);
  EXPECT_TRUE(die) << name;
  if (!die) return {};
  return tag == DW_TAG_subprogram ? function_text(in.types, *die) : definition_text(in.types, *die);
}

constexpr const char* functions = R"(
struct point { short x, y; };
typedef int (*compare_t)(const void *, const void *);
int counter = 5; static const char *const names[3] = {"a"}; extern int elsewhere;
int plain(const char *path, struct point *p, long numbers[], struct point value, compare_t call, ...) {
  return path[0] + p->x + (int)numbers[0] + value.y + call(p, p) + counter + elsewhere;
}
void nothing(void) {}
static __attribute__((noinline)) int partly(int first, int unused, struct point *last) { return first + last->y; }
int calls(struct point *p) { return partly(counter, 3, p) + partly(7, 4, p) + names[p->x][0]; }
)";

TEST(Functions, OfC) {
  Compiled c("gcc -g -O2 -c -w", ".c", {functions});
  Opened& in = *c.opened;
  Function f = function_of(in, "plain");
  ASSERT_EQ(f.parameters.size(), 5u);
  EXPECT_TRUE(f.is_variadic);
  EXPECT_EQ(f.result, in.table.integer(4, true));
  std::vector<std::string> seen;
  for (const Variable& v : f.parameters) seen.push_back(std::string(v.name) + " " + type::to_string(*v.type));
  EXPECT_EQ(seen, (std::vector<std::string>{"path int8 *", "p struct point *", "numbers int64 *",
                                            "value struct point", "call void *"}));
  EXPECT_EQ(f.parameters[1].type->element, in.type("struct", "point"));
  EXPECT_EQ(f.parameters[1].type->space, type::Space::user);
  EXPECT_NE(f.parameters[0].location.kind, Location::none);
  EXPECT_EQ(f.frame_base.kind, Location::expression);
  EXPECT_EQ(function_of(in, "nothing").result, nullptr);
  EXPECT_EQ(text_of(in, DW_TAG_subprogram, "plain"), "int plain(const char *path, struct point *p, long int "
                                                     "*numbers, struct point value, compare_t call, ...)");
  EXPECT_EQ(text_of(in, DW_TAG_subprogram, "nothing"), "void nothing(void)");
}

// A clone has entries only for the parameters that are left, but the function takes all of them.
TEST(Functions, WhoseParametersAreOptimisedAway) {
  Compiled c("gcc -g -O2 -c -w", ".c", {functions});
  size_t clones = 0;
  for (const Die& die : c.opened->all(DW_TAG_subprogram)) {
    Function f = c.opened->types.function(die);
    if (f.name != "partly") continue;
    ASSERT_EQ(f.parameters.size(), 3u);
    EXPECT_EQ(f.parameters[1].name, "unused");
    EXPECT_EQ(f.parameters[2].type->element, c.opened->type("struct", "point"));
    bool is_code = static_cast<bool>(find_attribute(die, DW_AT_low_pc));
    EXPECT_EQ(f.parameters[2].location.kind != Location::none, is_code);
    clones += is_code;
  }
  EXPECT_EQ(clones, 1u);
}

TEST(Functions, Variables) {
  Compiled c("gcc -g -c -w", ".c", {functions});
  Variable v = c.opened->types.variable(*c.opened->find(DW_TAG_variable, "counter"));
  EXPECT_EQ(v.name, "counter");
  EXPECT_EQ(v.type, c.opened->table.integer(4, true));
  ASSERT_EQ(v.location.kind, Location::expression);
  EXPECT_EQ(v.location.bytes.size(), 9u);
  EXPECT_EQ(v.location.bytes[0], std::byte{0x03}); // DW_OP_addr
  v = c.opened->types.variable(*c.opened->find(DW_TAG_variable, "names"));
  EXPECT_EQ(type::to_string(*v.type), "int8 *[3]");
  std::optional<Die> type = die_at(v.type_place);
  ASSERT_TRUE(type);
  EXPECT_EQ(type_text(c.opened->types, &*type, "names"), "const char * const names[3]");
}

constexpr const char* classes = R"(
namespace ns { namespace {
struct hidden { int h; };
} struct top { int t; virtual ~top() {} };
struct left : virtual top { int l; }; struct right : virtual top { int r; };
struct bottom : left, right { int b; top *up; hidden *h; };
class late { public: struct inner; inner *i; int method(int &a, const late &&b, ...) const; static int count; };
struct late::inner { long value; enum class kind : short { one = 1, minus = -1 } k; };
template<class... T> int pack(T... all) { return sizeof...(all); }
}
int ns::late::method(int &a, const late &&, ...) const { return a + int(i->value); }
int ns::late::count = 3;
ns::bottom object; ns::late other; int (ns::late::*member)(int &, const ns::late &&, ...) const; int ns::top::*data;
decltype(nullptr) null_value; int packed = ns::pack(1, 'a', 2L);
int main() { object.l = other.count; }
)";

TEST(Classes, BasesAndNames) {
  Compiled c("g++ -g -w", ".cc", {classes});
  Opened& in = *c.opened;
  const type::Type* bottom = in.type("struct", "ns::bottom");
  ASSERT_NE(bottom, nullptr);
  EXPECT_EQ(bottom->name, "ns::bottom");
  EXPECT_TRUE(bottom->find("l") && bottom->find("r") && bottom->find("b"));
  EXPECT_FALSE(bottom->find("t")); // only the object knows where
  EXPECT_GT(bottom->find("r")->offset, bottom->find("l")->offset);
  std::vector<Types::Base> bases = in.types.bases(*in.type("struct", "ns::left"));
  ASSERT_EQ(bases.size(), 1u);
  EXPECT_TRUE(bases[0].is_virtual);
  EXPECT_EQ(bases[0].type, in.type("struct", "ns::top"));
  EXPECT_EQ(in.types.bases(*bottom).size(), 2u);
  EXPECT_FALSE(in.types.bases(*bottom)[1].is_virtual);
  EXPECT_EQ(type::to_string(*bottom->find("h")->type), "struct ns::(anonymous namespace)::hidden *");
}

TEST(Classes, MembersDefinedLater) {
  Compiled c("g++ -g -w", ".cc", {classes});
  Opened& in = *c.opened;
  const type::Type* inner = in.type("struct", "ns::late::inner");
  ASSERT_NE(inner, nullptr);
  EXPECT_EQ(in.type("struct", "ns::late")->find("i")->type->element, inner);
  EXPECT_FALSE(in.type("struct", "ns::late")->find("count"));
  const type::Type* kind = inner->find("k")->type;
  EXPECT_EQ(type::to_string(*kind), "enum ns::late::inner::kind");
  EXPECT_EQ(kind->size, 2u);
  EXPECT_TRUE(kind->is_signed);
  ASSERT_EQ(kind->enumerators().size(), 2u);
  EXPECT_EQ(kind->enumerators()[1].value, -1);
}

TEST(Classes, FunctionsAndPointers) {
  Compiled c("g++ -g -w", ".cc", {classes});
  Opened& in = *c.opened;
  Function method = function_of(in, "ns::late::method");
  ASSERT_EQ(method.parameters.size(), 3u);
  EXPECT_TRUE(method.parameters[0].is_artificial);
  EXPECT_EQ(method.parameters[0].name, "this");
  EXPECT_EQ(method.parameters[0].type->element, in.type("struct", "ns::late"));
  EXPECT_EQ(type::to_string(*method.parameters[1].type), "int32 *");
  EXPECT_EQ(method.linkage_name, "_ZNK2ns4late6methodERiOKS0_z");
  EXPECT_EQ(text_of(in, DW_TAG_subprogram, "ns::late::method"),
            "int ns::late::method(int &a, const ns::late &&, ...)");
  EXPECT_EQ(function_of(in, "ns::pack<int, char, long int>").parameters.size(), 3u);
  auto type_of_variable = [&](const char* name) {
    return type::to_string(*in.types.variable(*in.find(DW_TAG_variable, name)).type);
  };
  EXPECT_EQ(type_of_variable("member"), "uint64[2]");
  EXPECT_EQ(type_of_variable("data"), "int64");
  EXPECT_EQ(type_of_variable("null_value"), "void *");
}

TEST(Classes, AskForAlignment) {
  Compiled c("g++ -g -w -c", ".cc", {"struct alignas(64) line { int a; } l; struct part { alignas(32) int b; int c; } p; struct plain { long d; } q;\n"});
  auto asked = [&](const char* name) {
    const type::Type* type = c.opened->types.variable(*c.opened->find(DW_TAG_variable, name)).type;
    return type->provider->alignment(type->provider_id);
  };
  EXPECT_EQ(asked("l"), 64u);
  EXPECT_EQ(asked("p"), 32u);
  EXPECT_EQ(asked("q"), 0u);
}

// Unions without names that differ in nothing but which template's `brief` they hold.
TEST(Classes, WithoutNamesInTemplates) {
  Compiled c("g++ -g -w -c", ".cc",
             {"template<class T> struct text { struct brief { T size, data[24 / sizeof(T) - 1]; }; union { long words[3]; brief s; }; };\n"
              "text<char> narrow; text<short> wide;"});
  auto data_of = [&](const char* name) {
    const type::Type* type = c.opened->types.variable(*c.opened->find(DW_TAG_variable, name)).type;
    return type->find("s")->type->find("data");
  };
  EXPECT_EQ(data_of("narrow")->offset, 1u);
  EXPECT_EQ(data_of("wide")->offset, 2u);
}

// ------------------------------------------------------------------------------------------- several units

constexpr const char* shared =
    "struct same { int a; struct { char b[4]; } in; struct other *o; union { int x; } u; };\n";

TEST(SeveralUnits, WriteOneTypeDown) {
  Compiled c("gcc -g -w -shared -fPIC", ".c",
             {std::string(shared) +
                  "struct twin { int a; }; enum e { A, B }; struct same s1; struct twin t1; enum e e1;",
              std::string(shared) +
                  "struct twin { int b; }; enum e { A, B }; struct same s2; struct twin t2; enum e e2;",
              std::string(shared) + "struct other { long value; }; struct other o; struct same s3;"});
  Opened& in = *c.opened;
  auto type_of = [&](const char* name) { return in.types.variable(*in.find(DW_TAG_variable, name)).type; };
  EXPECT_EQ(type_of("s1"), type_of("s2"));
  EXPECT_EQ(type_of("s1"), type_of("s3"));
  EXPECT_EQ(type_of("e1"), type_of("e2"));
  EXPECT_NE(type_of("t1"), type_of("t2"));
  EXPECT_TRUE(type_of("t1")->find("a") && type_of("t2")->find("b"));
  // The first unit knows only the name of what `o` points to.
  EXPECT_EQ(type_of("s1")->find("o")->type->element, type_of("o"));
}

TEST(SeveralUnits, NoneDefinesTheType) {
  Compiled c("gcc -g -w -c", ".c", {"struct unknown; struct unknown *p, *q; enum none; enum none *e;"});
  Opened& in = *c.opened;
  const type::Type* p = in.types.variable(*in.find(DW_TAG_variable, "p")).type;
  ASSERT_TRUE(p && p->element);
  EXPECT_FALSE(p->element->has_size);
  EXPECT_EQ(type::to_string(*p), "struct unknown *");
  EXPECT_TRUE(p->element->fields().empty());
  EXPECT_EQ(in.types.variable(*in.find(DW_TAG_variable, "q")).type, p);
  EXPECT_EQ(in.types.variable(*in.find(DW_TAG_variable, "e")).type->element->size, 4u);
}

// ------------------------------------------------------------------------------------------------- as text

TEST(TypeText, IsAsItWasWritten) {
  std::string wanted = "struct all {\n"
                       "        int (*call)(const char *, ...);\n"
                       "        volatile int * const *p[2][3];\n"
                       "        unsigned int bits : 3;\n"
                       "        struct {\n"
                       "                char c;\n"
                       "        } in;\n"
                       "        enum color paint;\n"
                       "        int (*rows)[4];\n"
                       "        struct all *(*maker)(void);\n"
                       "        long int tail[];\n"
                       "};";
  Compiled c("gcc -g -w -c", ".c",
             {"enum color { RED, BLUE = 7 };\n" + wanted + " struct all a; enum color e;"});
  EXPECT_EQ(text_of(*c.opened, DW_TAG_structure_type, "all"), wanted);
  EXPECT_EQ(text_of(*c.opened, DW_TAG_enumeration_type, "color"),
            "enum color {\n        RED = 0,\n        BLUE = 7,\n};");
}

// ------------------------------------------------------------------------------------------------- damaged

// Sections of an object file, as assembled from text.
struct Assembled {
  explicit Assembled(const std::string& text) {
    std::string source = folder.write("a.s", text);
    samples::output_of("gcc -c -o " + folder.file("a.o") + " " + source);
    auto opened = format::ElfFile::open(folder.file("a.o"));
    EXPECT_TRUE(opened.ok());
    file.emplace(std::move(*opened));
    sections = sections_of(*file);
  }
  samples::Folder folder;
  std::optional<format::ElfFile> file;
  Sections sections;
};

// A unit whose entries are given: 1 structure(name, size), 2 member(name, type, place), 3 typedef(type),
// 4 pointer(type), 5 array(type) with children, 6 dimension(count), 7 int, 8 member of bits (name, type,
// first, bits).
std::string unit_of(const std::string& entries) {
  return R"(
  .section .debug_abbrev
  .uleb128 9, 0x11 ; .byte 1, 0, 0
  .uleb128 1, 0x13 ; .byte 1 ; .uleb128 3, 8, 0xb, 0xf, 0, 0
  .uleb128 2, 0xd ; .byte 0 ; .uleb128 3, 8, 0x49, 0x13, 0x38, 0xf, 0, 0
  .uleb128 3, 0x16 ; .byte 0 ; .uleb128 0x49, 0x13, 0, 0
  .uleb128 4, 0xf ; .byte 0 ; .uleb128 0x49, 0x13, 0, 0
  .uleb128 5, 0x1 ; .byte 1 ; .uleb128 0x49, 0x13, 0, 0
  .uleb128 6, 0x21 ; .byte 0 ; .uleb128 0x37, 0xf, 0, 0
  .uleb128 7, 0x24 ; .byte 0 ; .uleb128 3, 8, 0xb, 0xb, 0x3e, 0xb, 0, 0
  .uleb128 8, 0xd ; .byte 0 ; .uleb128 3, 8, 0x49, 0x13, 0x6b, 0xf, 0xd, 0xf, 0, 0
  .byte 0
  .macro structure name, size
  .uleb128 1 ; .asciz "\name" ; .uleb128 \size
  .endm
  .macro member name, type, place
  .uleb128 2 ; .asciz "\name" ; .long \type - unit ; .uleb128 \place
  .endm
  .macro bits name, type, first, bits
  .uleb128 8 ; .asciz "\name" ; .long \type - unit ; .uleb128 \first, \bits
  .endm
  .macro other code, type
  .uleb128 \code ; .long \type - unit
  .endm
  .macro done
  .byte 0
  .endm
  .section .debug_info
unit: .long end - version
version: .value 4 ; .long 0 ; .byte 8
  .uleb128 9
int: .uleb128 7 ; .asciz "int" ; .byte 4, 5
)" + entries +
         "  done\nend:\n";
}

class Damaged {
public:
  explicit Damaged(const std::string& entries) : assembled_(unit_of(entries)), info_(assembled_.sections) {
    const Unit* unit = info_.unit(0);
    EXPECT_NE(unit, nullptr);
    if (!unit) return;
    DieCursor cursor(*unit);
    while (cursor.next())
      if (std::string_view name = name_of(cursor.die()); !name.empty())
        named_.emplace(name, cursor.die().offset);
  }
  const type::Type* type(const std::string& name) { return types.type(*info_.die_at(named_.at(name))); }
  std::string members(const std::string& name) {
    std::string out;
    for (const type::Field& f : type(name)->fields()) out += std::string(f.name) + " ";
    return out;
  }

private:
  Assembled assembled_;
  DebugInfo info_;
  std::map<std::string, uint64_t, std::less<>> named_;

public:
  type::Table table;
  Types types{table};
};

TEST(DamagedTypes, HoldThemselves) {
  Damaged d(R"(
a: structure a 8
  member inside a 0
  member number int 4
  done
b: structure b 8
  member other c 0
  member fine int 0
  done
c: structure c 8
  member rows r 0
  member also int 4
  done
r: other 5 b
  .uleb128 6, 1
  done
)");
  EXPECT_EQ(d.members("a"), "number ");
  std::string held = d.members("b") + d.members("c");
  EXPECT_TRUE(held == "fine rows also " || held == "fine also " || held == "other fine also ") << held;
  size_t left = 1000;
  EXPECT_LT(samples::walk_members(*d.type("b"), left), 10u);
}

TEST(DamagedTypes, ReachOutOfTheirStructure) {
  Damaged d(R"(
a: structure a 8
  member fits int 4
  member over int 5
  member far int 0xffffffffffff
  bits low int 60 4
  bits high int 61 4
  bits wide int 0 33
  bits never int 0xfffffffffffffff0 4
  done
h: structure huge 0x80000000
  done
p: structure of_huge 8
  member next h 0
  done
)");
  EXPECT_EQ(d.members("a"), "fits low ");
  EXPECT_EQ(d.type("huge"), nullptr);
  EXPECT_EQ(d.members("of_huge"), "");
}

TEST(DamagedTypes, NeverEnd) {
  Damaged d(R"(
t: other 3 u
u: other 3 t
p: other 4 q
q: other 4 p
y: other 5 y
  .uleb128 6, 4
  done
a: structure a 64
  member typedefs t 0
  member pointers p 0
  member arrays y 0
  member nowhere end 0
  member number int 0
  done
)");
  EXPECT_EQ(d.members("a"), "pointers number ");
}

TEST(DamagedTypes, AreTooDeep) {
  std::string text;
  for (int i = 1; i <= 300; i++)
    text += "s" + std::to_string(i) + ": structure s" + std::to_string(i) + " " +
            std::to_string(300 - i + 4) + "\n  member m" + " " +
            (i == 300 ? "int" : "s" + std::to_string(i + 1)) + " 0\n  done\n";
  Damaged d(text);
  int depth = 0;
  for (const type::Type* t = d.type("s1"); t && !t->fields().empty() && depth < 1000; depth++)
    t = t->fields()[0].type;
  EXPECT_LT(depth, 100);
  depth = 0;
  for (const type::Type* t = d.type("s250"); t && !t->fields().empty() && depth < 1000; depth++)
    t = t->fields()[0].type;
  EXPECT_EQ(depth, 51);
}

TEST(DamagedTypes, CutAnywhere) {
  samples::Folder folder;
  std::string source = folder.write("a.cc", classes);
  samples::output_of("g++ -g -w -c -o " + folder.file("a.o") + " " + source);
  auto file = format::ElfFile::open(folder.file("a.o"));
  ASSERT_TRUE(file.ok());
  Sections whole = sections_of(*file);
  samples::Decoded all = samples::decode_types(whole);
  EXPECT_GT(all.types, 40u);
  EXPECT_GT(all.members, 20u);
  EXPECT_GT(all.functions, 5u);
  size_t last = 0;
  for (ByteSpan Sections::*part : {&Sections::info, &Sections::abbrev, &Sections::str})
    for (size_t size = 0; size < std::min<size_t>((whole.*part).size(), 4096); size += 11) {
      Sections cut = whole;
      std::vector<std::byte> copy((whole.*part).begin(),
                                  (whole.*part).begin() + static_cast<ptrdiff_t>(size));
      cut.*part = copy;
      last = samples::decode_types(cut).types;
    }
  EXPECT_LE(last, all.types);
}

} // namespace
} // namespace dwarf
