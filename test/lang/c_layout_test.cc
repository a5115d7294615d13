// Layouts of C definitions against those of the C compiler of this machine: a list of odd structures, and random
// ones. Both read the same text; the compiler's program tells size and alignment of each structure, the offset of
// each member and, for bit-fields, the bits that become 1 when it is set to -1.
#include "lang/c_types.h"
#include "lang/parse.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <unistd.h>

namespace lang {
namespace {

constexpr std::string_view odd_structures = R"(
enum small { A0, A1 = 1 << 4, A2 };
enum big { B0 = 1ULL << 40 };
enum negative { N0 = -1, N1 = 5 };
enum __attribute__((packed)) tiny { T0, T1 = 200 };
typedef unsigned char byte;
typedef struct { int x, y; } point;
typedef int unaligned __attribute__((aligned(1)));
typedef int aligned __attribute__((aligned(16)));
typedef int (*callback)(int, const char *);
typedef int four[4];
struct s0 { char a; };
struct s1 { char a; int b; char c; };
struct s2 { char a; long long b; short c; char d[3]; };
struct s3 { struct s1 a; char b; union { int c; long d; char e[9]; }; short f; };
struct s4 { int a : 3; unsigned b : 5; int c : 24; int d : 1; };
struct s5 { char a; int b : 25; char c; };
struct s6 { int a : 3; int : 0; int b : 2; };
struct s7 { char a; int : 5; char b; };
struct s8 { long long a : 33; int b : 30; short c : 9; };
struct s9 { char a; int b; short c; } __attribute__((packed));
struct __attribute__((packed)) s10 { char a; long b; struct s1 c; };
struct s11 { int a : 7; int b : 27; long c : 40; } __attribute__((packed));
struct s12 { char a; int b __attribute__((aligned(16))); char c; };
struct s13 { char a; int b __attribute__((packed)); };
struct s14 { char a; } __attribute__((aligned(64)));
struct s15 { char a; struct s14 b; char c; };
struct s16 { int count; char data[]; };
struct s17 { point p; point q[3]; byte r; };
struct s18 { void *a; char b; int (*c)(void); callback d[2]; const volatile struct s18 *const *e; };
struct s19 { enum small a; enum big b; enum negative c; enum tiny d; };
struct s20 { _Bool a; _Bool b : 1; _Bool c : 1; unsigned char d : 6; };
struct s21 { char a; unaligned b; aligned c; char d; };
struct s22 { char a; _Alignas(8) char b; _Alignas(int) char c; };
struct s23 { char a; long double b; __int128 c; float d; double e; };
struct s24 { int a[2][3]; char b[sizeof(struct s1)]; short c[A2 + 1]; four d; four e[2]; };
struct s25 { struct { int a; struct { char b; short c; }; } d; union { struct { char e; int f; }; long g; }; };
struct s26 { unsigned int a : 32; unsigned long b : 64; unsigned short c : 16; };
struct s27 { char a; unsigned short b : 3, c : 14; unsigned char d : 2; };
struct s28 { enum small a : 6; enum tiny b : 4; long c : 60; };
struct s29 { char a; int : 0; };
struct s30 { char a; long : 0; char b; };
struct s31 { char a : 4; char b : 4; char c : 4; };
union u0 { char a[5]; int b; };
union u1 { int a : 5; long b : 33; char c; };
union u2 { char a[5]; int b; } __attribute__((packed));
struct s32 { unsigned a : 4 __attribute__((packed)); unsigned b : 30 __attribute__((packed)); };
struct s33 { char a; int b : 4 __attribute__((aligned(8))); int c : 4; };
struct s34 { char a; long long int unsigned b; int short unsigned c; unsigned d; long signed e; };
struct s35 { unsigned a : 1; char b; unsigned c : 1; } __attribute__((packed));
struct s36 { char a; __attribute__((aligned(4))) char b; } __attribute__((packed, aligned(2)));
struct s37 { long long a : 7; int : 5; long long b : 53; };
struct s38 { short a; struct { int b : 20; int c : 20; } d; short e; };
struct s39 { int a; char b[0]; };
struct s40 { struct s9 a[3]; short b; };
)";

std::string random_structures(uint32_t seed, int count) {
  std::mt19937 random(seed);
  auto pick = [&](uint32_t n) { return random() % n; };
  constexpr std::string_view numbers[] = {"char",  "unsigned char", "short",     "unsigned short", "int",
                                          "unsigned", "long",       "unsigned long", "long long",  "_Bool",
                                          "void *", "enum small"};
  constexpr uint32_t widths[] = {8, 8, 16, 16, 32, 32, 64, 64, 64, 1};
  std::string text = "enum small { A0, A1 = 16 };\n";
  for (int i = 0; i < count; i++) {
    bool is_union = pick(6) == 0;
    text += std::string(is_union ? "union" : "struct") + " r" + std::to_string(i) + " {";
    for (uint32_t m = 0, members = 1 + pick(7); m < members; m++) {
      std::string name = "m" + std::to_string(m);
      switch (pick(7)) {
      case 0:
      case 1:
      case 2: {
        uint32_t t = pick(10);
        bool named = pick(6) != 0;
        uint32_t width = !named && pick(2) ? 0 : 1 + pick(widths[t]);
        text += " " + std::string(numbers[t]) + " " + (named ? name : "") + " : " + std::to_string(width);
        break;
      }
      case 3:
        if (i > 0) {
          text += " struct t" + std::to_string(pick(static_cast<uint32_t>(i))) + " " + name;
          break;
        }
        [[fallthrough]];
      default: text += " " + std::string(numbers[pick(12)]) + " " + name; break;
      case 4: text += " " + std::string(numbers[pick(12)]) + " " + name + "[" + std::to_string(1 + pick(5)) + "]";
      }
      if (pick(12) == 0) text += " __attribute__((aligned(" + std::to_string(1u << pick(5)) + ")))";
      if (pick(12) == 0) text += " __attribute__((packed))";
      text += ";";
    }
    text += " char last; }";
    if (pick(5) == 0) text += " __attribute__((packed))";
    if (pick(9) == 0) text += " __attribute__((aligned(" + std::to_string(1u << pick(6)) + ")))";
    text += ";\nstruct t" + std::to_string(i) + " { " + (is_union ? "union" : "struct") + " r" + std::to_string(i) +
            " in; };\n";
  }
  return text;
}

// "struct x" and "union x", in order.
std::vector<std::string> names_in(const std::string& text) {
  std::vector<std::string> out;
  for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    std::string line = text.substr(at, text.find('\n', at) - at);
    bool is_union = line.starts_with("union ");
    if (!is_union && !line.starts_with("struct ")) continue;
    size_t open = line.find('{');
    std::string head = line.substr(0, line.find_last_not_of(' ', open - 1) + 1);
    out.push_back((is_union ? "union " : "struct ") + head.substr(head.rfind(' ') + 1));
  }
  return out;
}

struct Definitions {
  base::Source source;
  base::Diagnostics diagnostics;
  std::unique_ptr<Program> program;
  explicit Definitions(std::string text) : source("test", std::move(text)) {
    program = parse(source, {}, diagnostics);
    EXPECT_EQ(diagnostics.render(source, true), "");
  }
};

std::string member_line(const std::string& name, const type::Field& f, uint64_t outer) {
  if (!f.bit_size) return name + " at " + std::to_string(outer + f.offset) + "\n";
  return name + " bits " + std::to_string((outer + f.offset) * 8 + f.bit_offset) + "+" + std::to_string(f.bit_size) +
         "\n";
}

// All members that have names, those of anonymous ones included.
template<class Take> void each_member(const type::Type& t, uint64_t outer, const Take& take) {
  for (const type::Field& f : t.fields())
    if (f.name.empty())
      each_member(*f.type, outer + f.offset, take);
    else
      take(f, outer);
}

std::string ours(Definitions& d, const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) {
    size_t space = name.find(' ');
    const type::Type* t = d.program->c_types->find(name.substr(0, space), name.substr(space + 1));
    if (!t) {
      ADD_FAILURE() << "no " << name;
      continue;
    }
    out += name + " " + std::to_string(t->size) + " " + std::to_string(t->align) + "\n";
    each_member(*t, 0, [&](const type::Field& f, uint64_t outer) { out += member_line(std::string(f.name), f, outer); });
  }
  return out;
}

std::string compilers(Definitions& d, const std::string& text, const std::vector<std::string>& names) {
  std::string program = "#include <stdio.h>\n#include <string.h>\n#include <stddef.h>\n" + text +
                        "static void bits(const char *name, unsigned char *p, unsigned long n) {\n"
                        "  unsigned long first = 0, count = 0;\n"
                        "  for (unsigned long i = 0; i < n * 8; i++)\n"
                        "    if (p[i / 8] >> i % 8 & 1) { if (!count) first = i; count++; }\n"
                        "  printf(\"%s bits %lu+%lu\\n\", name, first, count);\n}\n"
                        "static void take() {}\nint main() {\n";
  for (const std::string& name : names) {
    program += "  printf(\"" + name + " %lu %lu\\n\", (unsigned long)sizeof(" + name +
               "), (unsigned long)_Alignof(" + name + "));\n";
    const type::Type* t = d.program->c_types->find(name.substr(0, name.find(' ')), name.substr(name.find(' ') + 1));
    each_member(*t, 0, [&](const type::Field& f, uint64_t) {
      std::string m(f.name);
      if (f.bit_size)
        program += "  { " + name + " x; memset(&x, 0, sizeof x); x." + m + " = -1; bits(\"" + m +
                   "\", (unsigned char *)&x, sizeof x); }\n";
      else
        program += "  printf(\"" + m + " at %lu\\n\", (unsigned long)offsetof(" + name + ", " + m + "));\n";
    });
  }
  program += "  take();\n}\n";
  char folder[] = "/tmp/acu-layout-XXXXXX";
  if (!mkdtemp(folder)) return "no folder";
  std::string base = folder;
  std::ofstream(base + "/x.c") << program;
  std::string out;
  if (std::system(("gcc -w -std=gnu11 -Wno-packed-bitfield-compat -o " + base + "/x " + base + "/x.c").c_str()) == 0)
    if (FILE* pipe = popen((base + "/x").c_str(), "r")) {
      char buffer[4096];
      while (size_t n = fread(buffer, 1, sizeof buffer, pipe)) out.append(buffer, n);
      pclose(pipe);
    }
  std::system(("rm -r " + base).c_str());
  return out;
}

bool has_compiler() { return std::system("gcc --version >/dev/null 2>&1") == 0; }

// The lines of both that differ, with the structure they are of.
std::string difference(const std::string& a, const std::string& b) {
  std::string out, in;
  size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    std::string x = a.substr(i, a.find('\n', i) - i), y = b.substr(j, b.find('\n', j) - j);
    if (x.starts_with("struct ") || x.starts_with("union ")) in = x;
    if (x != y) out += in + ": " + x + " is " + y + "\n";
    i = std::min(a.size(), i + x.size() + 1);
    j = std::min(b.size(), j + y.size() + 1);
  }
  return out;
}

void compare(const std::string& text) {
  Definitions d(text + "\nbegin { }");
  std::vector<std::string> names = names_in(text);
  ASSERT_FALSE(names.empty());
  EXPECT_EQ(difference(ours(d, names), compilers(d, text, names)), "") << text;
}

TEST(CLayout, OddStructuresAsTheCompiler) {
  if (!has_compiler()) GTEST_SKIP() << "there is no gcc";
  compare(std::string(odd_structures));
}

TEST(CLayout, RandomStructuresAsTheCompiler) {
  if (!has_compiler()) GTEST_SKIP() << "there is no gcc";
  for (uint32_t seed = 1; seed <= 8; seed++) compare(random_structures(seed, 120));
}

// Everything that a mutated text still defines is laid out.
void lay_out_safely(const std::string& text) {
  base::Source source("test", text + "\nbegin { }");
  base::Diagnostics diagnostics;
  std::unique_ptr<Program> program = parse(source, {}, diagnostics);
  CTypes& c = *program->c_types;
  c.tell = [](std::string_view, Range, std::string, std::string) {};
  c.check_script();
  for (std::string_view keyword : {"struct", "union", "enum", ""})
    for (std::string_view name : c.names(keyword)) {
      const type::Type* t = c.find(keyword, name);
      if (!t) continue;
      type::to_string(*t);
      EXPECT_LE(t->size, 2u << 30);
      for (const type::Field& f : t->fields()) type::to_string(*f.type);
      t->enumerators();
    }
}

TEST(CLayout, MutatedTextsAreSafe) {
  std::mt19937 random(7);
  std::string all = std::string(odd_structures) + "typedef a1 a2; typedef a2 a1; struct x { struct x y[2]; a1 z; };";
  for (int round = 0; round < 150; round++) {
    std::string text = all;
    for (uint32_t i = 0, changes = 1 + random() % 12; i < changes; i++) {
      size_t at = random() % text.size(), from = random() % text.size();
      switch (random() % 4) {
      case 0: text.erase(at, random() % 20); break;
      case 1: text.insert(at, text.substr(from, random() % 30)); break;
      case 2: text[at] = "{}[]();:,*=-0123456789"[random() % 22]; break;
      case 3: text.replace(at, 1, "2147483647"); break;
      }
    }
    lay_out_safely(text);
  }
  for (size_t end = 0; end < all.size(); end += 19) lay_out_safely(all.substr(0, end));
}

// Definitions that double or hang on each other without end: answered, or given up, in no time.
TEST(CLayout, ManyLevels) {
  std::string doubling = "typedef char t0[2];\n", chain = "typedef int c0;\n", pointers = "struct p { int ";
  for (int i = 0; i < 60; i++) {
    std::string old = "t" + std::to_string(i);
    doubling += "typedef char t" + std::to_string(i + 1) + "[sizeof(" + old + ") + sizeof(" + old + ") - 2];\n";
  }
  for (int i = 0; i < 20'000; i++)
    chain += "typedef c" + std::to_string(i) + " c" + std::to_string(i + 1) + ";\n";
  pointers += std::string(100'000, '*') + "p; };\n";
  Definitions d(doubling + chain + pointers + "begin { }");
  CTypes& c = *d.program->c_types;
  EXPECT_EQ(c.find("", "t60")->size, 2u);
  EXPECT_EQ(c.find("", "c20000"), nullptr);
  EXPECT_EQ(c.find("", "c100")->size, 4u);
  EXPECT_EQ(c.find("struct", "p")->size, 8u);
}

TEST(CLayout, EnumerationsStandOnIntegersOnly) {
  Definitions d("typedef struct { char a[100]; } large; enum e : large { A = 5 }; enum f : short { B }; begin { }");
  CTypes& c = *d.program->c_types;
  EXPECT_EQ(c.find("enum", "e")->size, 4u);
  EXPECT_EQ(c.find("enum", "f")->size, 2u);
}

TEST(CLayout, HeadersAreReadOver) {
  Definitions d(R"(typedef struct { int a; } t;
typedef union { char c; t inner; } u, *pu;
struct with_commas { int a, *b, c[2], (*d)(int); };
typedef long numbers[4];
begin { })");
  CTypes& c = *d.program->c_types;
  EXPECT_EQ(c.find("", "u")->size, 4u);
  EXPECT_EQ(type::to_string(*c.find("", "pu")), "union u *");
  EXPECT_EQ(c.find("", "numbers")->size, 32u);
  EXPECT_EQ(c.find("struct", "with_commas")->size, 32u);
  EXPECT_EQ(c.find("struct", "nobody"), nullptr);
}

TEST(CLayout, EnumeratorsHaveValues) {
  Definitions d("enum e { A = 1 << 3, B, C = B * 2 + (A ? 1 : 0), D = sizeof(int), E = -D, F = ~0u & 0xf }; begin { }");
  CTypes& c = *d.program->c_types;
  EXPECT_EQ(c.enumerator("A")->second, 8);
  EXPECT_EQ(c.enumerator("B")->second, 9);
  EXPECT_EQ(c.enumerator("C")->second, 19);
  EXPECT_EQ(c.enumerator("D")->second, 4);
  EXPECT_EQ(c.enumerator("E")->second, -4);
  EXPECT_EQ(c.enumerator("F")->second, 15);
  EXPECT_FALSE(c.enumerator("G"));
}

} // namespace
} // namespace lang
