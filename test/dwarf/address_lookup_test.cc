// Lines and inlined calls of compiled programs: at marked places the expected chain, and over all of their
// code what eu-addr2line says, which knows a program less well in a few respects (see `Comparison`).
#include "dwarf/address_lookup.h"

#include "dwarf/compiled.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>

namespace dwarf {
namespace {

using samples::Folder;
using samples::output_of;

// A file with what belongs to it: .dwo files beside it, or a .dwp, or the file it shares with others.
class Opened {
public:
  explicit Opened(const std::string& path, const std::string& package = {})
      : path_(path), package_(package), file_(open(path)), info_(file_), lookup_(info_) {
    info_.set_companions({[this] { return alternate(); }, [this](const Unit& u) { return split(u); }});
  }
  // For each address "function file:line:column", from the innermost function outwards.
  std::vector<std::vector<std::string>> find(const std::vector<uint64_t>& addresses) {
    std::vector<std::vector<std::string>> out(addresses.size());
    lookup_.find(addresses, [&](size_t i, std::span<const SourceFrame> frames) {
      EXPECT_TRUE(out[i].empty());
      for (const SourceFrame& f : frames) {
        EXPECT_EQ(f.inlined, &f != &frames.back());
        out[i].push_back(text_of(f));
      }
    });
    return out;
  }
  std::vector<std::string> find_symbol(std::string_view name) { return find({symbol(name)})[0]; }
  uint64_t symbol(std::string_view name) {
    uint64_t value = 0;
    for_each_symbol([&](const format::ElfSymbol& s) {
      if (s.name == name) value = s.value;
    });
    EXPECT_NE(value, 0u) << name;
    return value;
  }
  // Every `step`-th address of the program's functions.
  std::vector<uint64_t> code(uint64_t step) {
    std::vector<uint64_t> out;
    for_each_symbol([&](const format::ElfSymbol& s) {
      if (!s.is_function() || !s.section) return;
      for (uint64_t at = 0; at < s.size; at += step) out.push_back(s.value + at);
    });
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }
  DebugInfo& info() { return info_; }
  const format::ElfFile& file() { return file_; }

private:
  static format::ElfFile open(const std::string& path) {
    auto file = format::ElfFile::open(path);
    EXPECT_TRUE(file.ok()) << path << ": " << file.error().message;
    return std::move(*file);
  }
  static std::string text_of(const SourceFrame& f) {
    std::string out(f.linkage.empty() ? f.name : f.linkage);
    if (out.empty()) out = "??";
    if (f.file.empty()) return out + " ??:0";
    out += " " + std::string(f.file) + ":" + std::to_string(f.line);
    return f.column ? out + ":" + std::to_string(f.column) : out;
  }
  void for_each_symbol(const std::function<void(const format::ElfSymbol&)>& take) {
    if (const format::ElfSection* table = file_.elf().section(".symtab"))
      file_.elf().for_each_symbol(*table, take);
  }
  DebugInfo* other(const std::string& path) {
    auto& opened = others_[path];
    if (!opened) opened = std::make_unique<Opened>(path);
    return &opened->info_;
  }
  DebugInfo* alternate() {
    auto link = file_.debug_alt_link();
    return link ? other(std::string(link->path)) : nullptr;
  }
  DebugInfo* split(const Unit& unit) {
    if (!package_.empty()) return other(package_);
    std::string name(unit.split_name);
    return other(name.starts_with('/') ? name : std::string(unit.folder) + "/" + name);
  }

  std::string path_, package_;
  format::ElfFile file_;
  DebugInfo info_;
  AddressLookup lookup_;
  std::map<std::string, std::unique_ptr<Opened>> others_;
};

const char chain_c[] = R"(#define MARK(name) asm volatile(".globl " #name "\n" #name ":")
volatile int sink;
static inline __attribute__((always_inline)) void innermost(int a) {
  MARK(in_innermost);
  sink = a;
}
static inline __attribute__((always_inline)) void middle(int a) {
  sink = 1; innermost(a + 1);
  MARK(in_middle); sink = 2;
}
__attribute__((noinline)) int outermost(int n) {
  if (n > 1) {
    middle(n);
  }
  MARK(in_outermost); sink = 3;
  return sink;
}
int main(int argc, char** argv) {
  __attribute__((noinline)) int nested(int k) {
    MARK(in_nested); sink = k + argc;
    return sink;
  }
  return outermost(argc) + nested((int)(long)argv);
}
)";

// The same chains whatever the version and the shape of the debug information.
class AddressLookupOf : public testing::TestWithParam<const char*> {};

TEST_P(AddressLookupOf, MarkedPlaces) {
  Folder folder;
  std::string source = folder.write("chain.c", chain_c), program = folder.file("chain");
  std::string command =
      "cd " + folder.file("") + " && gcc -O2 " + GetParam() + " " + source + " -o " + program;
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
  Opened opened(program);
  using Chain = std::vector<std::string>;
  std::string in_source = " " + source + ":";
  Chain outer = {"middle" + in_source + "8:13", "outermost" + in_source + "13:5"};
  Chain inner = {"innermost" + in_source + "5:8"};
  inner.insert(inner.end(), outer.begin(), outer.end());
  EXPECT_EQ(opened.find_symbol("in_innermost"), inner);
  outer[0] = "middle" + in_source + "9:25";
  EXPECT_EQ(opened.find_symbol("in_middle"), outer);
  EXPECT_EQ(opened.find_symbol("in_outermost"), Chain{"outermost" + in_source + "15:28"});
  EXPECT_EQ(opened.find_symbol("in_nested"), Chain{"nested" + in_source + "20:31"});
  // Neither code of others (start-up code has no debug information) nor what is no code at all.
  EXPECT_TRUE(opened.find({opened.symbol("_start"), opened.symbol("sink"), 0, UINT64_MAX})[0].empty());
}

INSTANTIATE_TEST_SUITE_P(Gcc, AddressLookupOf,
                         testing::Values("-gdwarf-2", "-gdwarf-3", "-gdwarf-4", "-gdwarf-5",
                                         "-gdwarf-5 -gdwarf64", "-gdwarf-5 -gz", "-gdwarf-5 -flto",
                                         "-gdwarf-4 -gsplit-dwarf", "-gdwarf-5 -gsplit-dwarf",
                                         "-gdwarf-4 -fdebug-types-section"));

const char shapes_cc[] = R"(#ifdef STL
#include <algorithm>
#include <vector>
#endif
extern "C" [[noreturn]] void abort();
namespace shapes {
template<class T> struct Box {
  T v;
  __attribute__((noinline)) T scaled(T f) const { return v * f + static_cast<T>(helper(f)); }
  static inline int helper(T f) { return static_cast<int>(f) % 7; }
};
template<class F> static inline int twice(F f, int x) { return f(x) + f(x + 1); }
namespace { int hidden(int x) { volatile int a = x; return a * 3; } }
struct Local { virtual ~Local() = default; virtual int go(int x) { return hidden(x) + 1; } };
}
__attribute__((noinline)) static int with_local(int n) {
  struct Inner {
    int n;
    __attribute__((noinline)) int run(int k) { volatile int z = k + n; return z; }
    int fast(int k) { return run(k) * 2; }
  };
  Inner i{n};
  auto l = [&](int q) __attribute__((noinline)) { volatile int w = q ^ n; return w + i.fast(q); };
  auto m = [n](int q) { if (q < 0) abort(); return q * n; };
  return l(n) + shapes::twice(m, n) + shapes::twice([&](int y) { return l(y); }, n);
}
int NAME(int argc) {
#ifdef STL
  std::vector<int> v{3, 1, 2, argc};
  std::sort(v.begin(), v.end(), [](int a, int b) { return a > b; });
#else
  int v[] = {3, 1, 2, argc};
#endif
  shapes::Box<int> b{argc};
  shapes::Box<double> d{1.5};
  shapes::Local* p = new shapes::Local;
  int sum = b.scaled(3) + static_cast<int>(d.scaled(2.0)) + with_local(argc) + p->go(4) + v[0];
  delete p;
  return sum;
}
)";

// Two units with much in common, linked to one program; of another form than `make` if that is given.
std::string compile_shapes(const Folder& folder, const std::string& name, const std::string& flags,
                           const std::string& compiler = "g++") {
  std::string source = folder.write("shapes.cc", shapes_cc), program = folder.file(name);
  std::string main =
      folder.write("main.cc", "int one(int); int two(int);\n"
                              "int main(int argc, char**) { return one(argc) + two(argc); }\n");
  std::string command = "cd " + folder.file("") + " && " + compiler + " -O2 " + flags + " -c ";
  for (std::string unit : {"one", "two"})
    if (std::system((command + "-DNAME=" + unit + " " + source + " -o " + name + "." + unit + ".o").c_str()))
      return {};
  std::string objects = name + ".one.o " + name + ".two.o " + name + ".main.o";
  if (std::system(
          (command + main + " -o " + name + ".main.o && " + compiler + " " + objects + " -o " + program)
              .c_str()))
    return {};
  return program;
}

// What eu-addr2line says of an address, in our form.
struct Peer {
  std::vector<std::string> chain;
  std::string inlined_at; // its first line: "X inlined at FILE:LINE in Y"
};

std::vector<Peer> ask_peer(const Folder& folder, const std::string& program,
                           const std::vector<uint64_t>& addresses) {
  std::ostringstream list;
  for (uint64_t a : addresses) list << "0x" << std::hex << a << "\n";
  std::string input = folder.write("addresses", list.str());
  std::istringstream lines(output_of("eu-addr2line -a -i -f -e " + program + " < " + input));
  std::vector<Peer> out;
  for (std::string line, place; std::getline(lines, line);) {
    if (line.starts_with("0x")) {
      out.emplace_back();
      continue;
    }
    if (out.empty() || !std::getline(lines, place)) return {};
    size_t at = line.find(" inlined at "), in = line.rfind(" in ");
    if (at != std::string::npos) {
      out.back().inlined_at = line.substr(at + 12, in - at - 12);
      line.resize(at);
    }
    out.back().chain.push_back(line + " " + place);
  }
  return out;
}

std::string place_in(const std::string& frame) { return frame.substr(frame.rfind(' ') + 1); }

// The answers to one question, and why they differ where they do.
enum class Comparison {
  same,
  symbol,    // no function has the address; eu-addr2line falls back on the table of symbols
  padding,   // behind a function's end: it lists the calls of the row of lines before
  no_unit,   // behind the end of a unit's code: it takes the unit before
  row_chain, // its first line agrees with us; the list after it is that of where the row of lines began
  different,
};

Comparison compare(const std::vector<std::string>& ours, const Peer& peer) {
  if (ours == peer.chain) {
    bool agree = peer.inlined_at.empty() || (ours.size() > 1 && peer.inlined_at == place_in(ours[1]));
    return agree ? Comparison::same : Comparison::different;
  }
  if (ours.empty()) {
    bool nothing = peer.chain.size() == 1 && peer.chain[0].ends_with(" ??:0");
    return nothing ? Comparison::symbol : Comparison::no_unit;
  }
  if (ours[0].starts_with("?? ") && ours.size() == 1 && place_in(ours[0]) == place_in(peer.chain[0]))
    return peer.chain.size() == 1 ? Comparison::symbol : Comparison::padding;
  std::string inlined_at = ours.size() > 1 ? place_in(ours[1]) : "";
  return ours[0] == peer.chain[0] && peer.inlined_at == inlined_at ? Comparison::row_chain
                                                                   : Comparison::different;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += "    " + line + "\n";
  return out;
}

void expect_agreement(const Folder& folder, const std::string& program, uint64_t step) {
  Opened opened(program);
  std::vector<uint64_t> addresses = opened.code(step);
  ASSERT_GT(addresses.size(), 100u);
  auto ours = opened.find(addresses);
  auto peers = ask_peer(folder, program, addresses);
  ASSERT_EQ(peers.size(), addresses.size()) << "eu-addr2line (package elfutils) does not work here";
  std::map<Comparison, size_t> count;
  for (size_t i = 0; i < addresses.size(); i++) {
    ASSERT_FALSE(peers[i].chain.empty());
    Comparison c = compare(ours[i], peers[i]);
    count[c]++;
    EXPECT_NE(c, Comparison::different) << std::hex << addresses[i] << "\n  acu\n"
                                        << joined(ours[i]) << "  eu-addr2line\n"
                                        << joined(peers[i].chain) << "  at " << peers[i].inlined_at;
  }
  EXPECT_GT(count[Comparison::same], addresses.size() * 8 / 10);
  EXPECT_LT(count[Comparison::padding] + count[Comparison::no_unit], addresses.size() / 20);
  EXPECT_LT(count[Comparison::row_chain], addresses.size() / 20);
}

TEST(AddressLookup, AgreesWithEuAddr2line) {
  Folder folder;
  for (const char* flags : {"-gdwarf-5 -DSTL", "-gdwarf-4"}) {
    SCOPED_TRACE(flags);
    std::string program = compile_shapes(folder, "shapes", flags);
    ASSERT_FALSE(program.empty());
    expect_agreement(folder, program, 4);
  }
}

// What other forms of the same debug information say is the same: split units, packages, dwz.
class OtherForms : public testing::Test {
protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<Folder>();
    std::string plain = compile_shapes(*folder_, "plain", "-gdwarf-5");
    ASSERT_FALSE(plain.empty());
    Opened opened(plain);
    addresses_ = opened.code(1);
    expected_ = opened.find(addresses_);
  }
  static void TearDownTestSuite() { folder_.reset(); }
  void SetUp() override { ASSERT_FALSE(addresses_.empty()); }
  void expect_same(const std::string& program, const std::string& package = {}) {
    ASSERT_FALSE(program.empty());
    Opened opened(program, package);
    auto found = opened.find(addresses_);
    size_t wrong = 0;
    for (size_t i = 0; i < found.size() && wrong < 3; i++) {
      wrong += found[i] != expected_[i];
      EXPECT_EQ(found[i], expected_[i]) << std::hex << addresses_[i];
    }
  }
  bool run(const std::string& command) {
    return std::system(("cd " + folder_->file("") + " && " + command).c_str()) == 0;
  }

  static inline std::unique_ptr<Folder> folder_;
  static inline std::vector<uint64_t> addresses_;
  static inline std::vector<std::vector<std::string>> expected_;
};

TEST_F(OtherForms, OlderVersionAndTypeUnits) {
  expect_same(compile_shapes(*folder_, "four", "-gdwarf-4"));
  expect_same(compile_shapes(*folder_, "types", "-gdwarf-4 -fdebug-types-section"));
}

TEST_F(OtherForms, SplitUnits) {
  expect_same(compile_shapes(*folder_, "split5", "-gdwarf-5 -gsplit-dwarf"));
  std::string four = compile_shapes(*folder_, "split4", "-gdwarf-4 -gsplit-dwarf");
  expect_same(four);
  ASSERT_TRUE(run("dwp -e split4 -o split4.dwp")) << "dwp is of package binutils";
  ASSERT_TRUE(run("rm *.dwo"));
  expect_same(four, four + ".dwp");
}

// Without the .dwo files there are lines, and no functions.
TEST_F(OtherForms, SplitUnitsThatAreMissing) {
  std::string program = compile_shapes(*folder_, "gone", "-gdwarf-5 -gsplit-dwarf");
  ASSERT_TRUE(run("rm -f *.dwo"));
  ASSERT_FALSE(program.empty());
  auto file = format::ElfFile::open(program);
  ASSERT_TRUE(file.ok());
  DebugInfo info(*file);
  size_t found = 0, named = 0;
  AddressLookup(info).find(addresses_, [&](size_t i, std::span<const SourceFrame> frames) {
    ASSERT_EQ(frames.size(), 1u);
    std::string place = std::string(frames[0].file) + ":" + std::to_string(frames[0].line);
    if (!expected_[i].empty()) {
      EXPECT_EQ(place_in(expected_[i][0]).substr(0, place.size()), place);
    }
    found++;
    named += !frames[0].name.empty();
  });
  EXPECT_GT(found, addresses_.size() / 2);
  EXPECT_EQ(named, 0u);
}

TEST_F(OtherForms, Dwz) {
  for (std::string name : {"a", "b"}) ASSERT_TRUE(run("cp plain " + name));
  ASSERT_TRUE(run("dwz -m shared a b")) << "dwz (package dwz) does not work here";
  std::string program = folder_->file("a");
  auto file = format::ElfFile::open(program);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->debug_alt_link());
  // The link is as dwz was called: relative to the folder it ran in.
  auto shared = format::ElfFile::open(folder_->file("shared"));
  ASSERT_TRUE(shared.ok());
  DebugInfo alternate(*shared), info(*file);
  EXPECT_GT(alternate.units().size(), 0u);
  info.set_companions({[&] { return &alternate; }, {}});
  AddressLookup(info).find(addresses_, [&](size_t i, std::span<const SourceFrame> frames) {
    ASSERT_EQ(frames.size(), expected_[i].size());
    for (size_t f = 0; f < frames.size(); f++) {
      std::string_view name = frames[f].linkage.empty() ? frames[f].name : frames[f].linkage;
      if (!name.empty()) {
        EXPECT_EQ(name, expected_[i][f].substr(0, name.size()));
      }
      EXPECT_EQ(name.empty(), expected_[i][f].starts_with("?? "));
    }
  });
}

// Code of clang, which leaves .debug_aranges out, and writes version 5 packages where binutils cannot.
TEST(AddressLookup, Clang) {
  if (output_of("command -v clang++").empty() || output_of("command -v llvm-dwp").empty())
    GTEST_SKIP() << "no clang++ and llvm-dwp here (packages clang, llvm)";
  Folder folder;
  std::string plain = compile_shapes(folder, "plain", "-gdwarf-5", "clang++"), split, package;
  ASSERT_FALSE(plain.empty());
  Opened opened(plain);
  EXPECT_FALSE(opened.file().has_section(".debug_aranges"));
  auto addresses = opened.code(1);
  auto expected = opened.find(addresses);
  std::vector<std::string> chain = opened.find_symbol("main");
  ASSERT_EQ(chain.size(), 1u);
  EXPECT_EQ(chain[0], "main " + folder.file("main.cc") + ":2");
  split = compile_shapes(folder, "split", "-gdwarf-5 -gsplit-dwarf", "clang++");
  ASSERT_FALSE(split.empty());
  EXPECT_EQ(Opened(split).find(addresses), expected);
  package = folder.file("split.dwp");
  ASSERT_EQ(std::system(("cd " + folder.file("") + " && llvm-dwp -e split -o split.dwp && rm *.dwo").c_str()),
            0);
  EXPECT_EQ(Opened(split, package).find(addresses), expected);
}

TEST(AddressLookup, RepeatedAndUnsortedAddresses) {
  Folder folder;
  std::string source = folder.write("chain.c", chain_c), program = folder.file("chain");
  ASSERT_EQ(std::system(("gcc -O2 -g " + source + " -o " + program).c_str()), 0);
  Opened opened(program);
  uint64_t inner = opened.symbol("in_innermost"), nested = opened.symbol("in_nested");
  auto found = opened.find({nested, inner, 1, nested, inner, inner});
  EXPECT_EQ(found[0], found[3]);
  EXPECT_EQ(found[1], found[4]);
  EXPECT_EQ(found[1], found[5]);
  EXPECT_EQ(found[1].size(), 3u);
  EXPECT_TRUE(found[2].empty());
}

} // namespace
} // namespace dwarf
