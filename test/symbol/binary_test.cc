// Functions, places and lines of programs that are compiled here in all the ways that matter.
#include "symbol/binaries.h"
#include "symbol/frame_functions.h"
#include "symbol/package_of_file.h"
#include "symbol/source_names.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace symbol {
namespace {

class BinaryTest : public testing::Test {
protected:
  void SetUp() override {
    char name[] = "/tmp/acu-binary-test-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    folder_ = name;
  }
  void TearDown() override { (void)!std::system(("rm -rf " + folder_).c_str()); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  void write(const std::string& name, const std::string& text) { std::ofstream(path(name)) << text; }
  void shell(const std::string& line) {
    ASSERT_EQ(std::system(("cd " + folder_ + " && " + line).c_str()), 0) << line;
  }
  // A program of two files, each with a static function `helper`.
  void compile(const std::string& flags) {
    write("a.c", "static int __attribute__((noinline)) helper(int x) { return x * 3 + 1; }\n"
                 "int other(int);\n"
                 "int value = 7;\n"
                 "int __attribute__((noinline)) twice(int x) {\n"
                 "  int y = helper(x);\n"
                 "  return y + other(x);\n"
                 "}\n"
                 "int main(int argc, char** argv) { return twice(argc); }\n");
    write("b.c", "static int __attribute__((noinline)) helper(int x) { return x * 5 + 2; }\n"
                 "int __attribute__((noinline)) other(int x) { return helper(x + 1); }\n");
    shell("gcc -O1 -fno-inline -g " + flags + " a.c b.c -o program");
  }
  Binary* open(const std::string& name) {
    auto found = binaries_.find(path(name));
    EXPECT_TRUE(found.ok()) << (found.ok() ? "" : found.error().message);
    return found.ok() ? found->front() : nullptr;
  }
  std::string failure(std::string_view name) {
    auto found = binaries_.find(name);
    return found.ok() ? "found" : found.error().message;
  }
  // As binutils tell it.
  uint64_t address_by_nm(const std::string& file, const std::string& symbol) {
    FILE* nm = ::popen(("nm " + path(file) + " | grep ' " + symbol + "$'").c_str(), "r");
    unsigned long address = 0;
    EXPECT_EQ(std::fscanf(nm, "%lx", &address), 1);
    ::pclose(nm);
    return address;
  }

  std::string folder_;
  Binaries binaries_;
};

TEST_F(BinaryTest, FunctionsAndPlaces) {
  for (const char* flags : {"-pie -fPIE", "-no-pie -fno-pie", "-static -no-pie"}) {
    compile(flags);
    binaries_ = Binaries();
    Binary* b = open("program");
    ASSERT_NE(b, nullptr);
    EXPECT_EQ(b->is_movable(), std::string_view(flags).starts_with("-pie")) << flags;
    auto twice = b->find_functions("twice");
    ASSERT_EQ(twice.size(), 1u) << flags;
    EXPECT_EQ(twice[0].address, address_by_nm("program", "twice"));
    EXPECT_GT(twice[0].size, 5u);
    EXPECT_EQ(b->find_functions("helper").size(), 2u);
    EXPECT_TRUE(b->find_functions("helpe").empty());
    EXPECT_TRUE(b->find_functions("value").empty()); // no function
    EXPECT_EQ(b->symbol_address("value"), address_by_nm("program", "value"));
    // The bytes at the place in the file are those of the code.
    auto offset = b->offset_of_address(twice[0].address);
    ASSERT_TRUE(offset);
    auto code = b->code_at(twice[0].address, twice[0].size);
    ASSERT_EQ(code.size(), twice[0].size);
    EXPECT_EQ(code.data(), b->file().bytes().data() + *offset);
    auto at = b->function_at(twice[0].address + 3);
    ASSERT_TRUE(at);
    EXPECT_EQ(at->name, "twice");
    EXPECT_TRUE(b->code_at(*b->symbol_address("value"), 4).empty());
    // The list of all agrees.
    auto& all = b->functions();
    EXPECT_TRUE(std::is_sorted(all.begin(), all.end(), [](auto& x, auto& y) { return x.name < y.name; }));
    EXPECT_EQ(std::count_if(all.begin(), all.end(), [](auto& f) { return f.name == "helper"; }), 2);
    EXPECT_EQ(b->find_functions("helper").size(), 2u);
  }
}

TEST_F(BinaryTest, StrippedWithDebugFile) {
  compile("-Wl,--build-id");
  shell("objcopy --only-keep-debug program program.debug && strip program && "
        "objcopy --add-gnu-debuglink=program.debug program");
  Binary* b = open("program");
  ASSERT_NE(b, nullptr);
  EXPECT_EQ(b->find_functions("helper").size(), 2u);
  EXPECT_FALSE(b->is_stripped());
  auto twice = b->find_functions("twice");
  ASSERT_EQ(twice.size(), 1u);
  auto entry = b->function_entry(twice[0].address + 1);
  ASSERT_TRUE(entry);
  EXPECT_EQ(dwarf::name_of(*entry), "twice");
  EXPECT_EQ(b->find_entries("twice", dwarf::kinds_of({dwarf::NameKind::function})).size(), 1u);

  shell("rm program.debug && cp program bare");
  Binary* bare = open("bare");
  ASSERT_NE(bare, nullptr);
  EXPECT_TRUE(bare->is_stripped());
  EXPECT_TRUE(bare->find_functions("twice").empty());
  EXPECT_EQ(bare->debug_info(), nullptr);
  EXPECT_NE(bare->debug_hint().find("/usr/lib/debug/.build-id/"), std::string::npos);
}

TEST_F(BinaryTest, PackedSymbols) {
  compile("-Wl,--build-id");
  shell("nm program | awk '$2 ~ /[tT]/ {print $3}' | sort -u > names && "
        "objcopy -S --remove-section .gnu_debuglink --keep-symbols=names program mini && "
        "objcopy --only-keep-debug program mini.full && "
        "objcopy -S --keep-symbols=names mini.full mini && xz -f mini && strip -s program && "
        "objcopy --add-section .gnu_debugdata=mini.xz program");
  Binary* b = open("program");
  ASSERT_NE(b, nullptr);
  EXPECT_EQ(b->find_functions("helper").size(), 2u);
  EXPECT_EQ(b->find_functions("twice").size(), 1u);
}

TEST_F(BinaryTest, Versions) {
  write("v.c", "int old_f(void) { return 1; }\nint new_f(void) { return 2; }\nint plain(void) { return 3; }\n"
               "__asm__(\".symver old_f, f@V1\");\n__asm__(\".symver new_f, f@@V2\");\n");
  write("v.map", "V1 { global: f; plain; local: *; };\nV2 { } V1;\n");
  shell("gcc -O1 -shared -fPIC v.c -Wl,--version-script=v.map -o libv.so && cp libv.so stripped.so && "
        "strip stripped.so");
  for (const char* name : {"libv.so", "stripped.so"}) {
    Binary* b = open(name);
    ASSERT_NE(b, nullptr);
    auto all = b->find_functions("f");
    ASSERT_EQ(all.size(), 2u) << name;
    EXPECT_EQ(all[0].version, "V2");
    EXPECT_TRUE(all[0].is_default);
    EXPECT_EQ(all[1].version, "V1");
    EXPECT_FALSE(all[1].is_default);
    EXPECT_EQ(b->find_functions("f@V1").size(), 1u);
    EXPECT_EQ(b->find_functions("f@V1")[0].address, all[1].address);
    EXPECT_EQ(b->find_functions("f@@V2").size(), 1u);
    EXPECT_EQ(b->find_functions("f@V2").size(), 1u);
    EXPECT_TRUE(b->find_functions("f@@V1").empty());
    EXPECT_TRUE(b->find_functions("f@V3").empty());
    EXPECT_EQ(b->find_functions("plain@V1").size(), 1u);
  }
}

TEST_F(BinaryTest, InAnArchive) {
  compile("-shared -fPIC");
  shell(
      "mkdir lib && cp program lib/libx.so && cp program lib/liby.so && zip -q -0 app.zip lib/libx.so a.c && "
      "zip -q -9 app.zip lib/liby.so");
  Binary* b = open("app.zip!/lib/libx.so");
  ASSERT_NE(b, nullptr);
  EXPECT_EQ(b->name(), path("app.zip!/lib/libx.so"));
  EXPECT_EQ(b->host_path(), path("app.zip"));
  auto twice = b->find_functions("twice");
  ASSERT_EQ(twice.size(), 1u);
  auto offset = b->offset_of_address(twice[0].address);
  ASSERT_TRUE(offset);
  // The same bytes stand there in the archive.
  auto archive = base::FileMap::open(path("app.zip"));
  ASSERT_TRUE(archive.ok());
  auto code = b->code_at(twice[0].address, 8);
  EXPECT_EQ(std::memcmp(archive->bytes().data() + *offset, code.data(), 8), 0);

  EXPECT_NE(failure(path("app.zip!/lib/liby.so")).find("compressed"), std::string::npos);
  EXPECT_NE(failure(path("app.zip!/lib/libz.so")).find("did you mean `lib/lib"), std::string::npos);
  EXPECT_NE(failure(path("app.zip!/a.c")).find("ELF"), std::string::npos);
  EXPECT_NE(failure(path("a.c!/lib/libx.so")).find("no zip archive"), std::string::npos);
}

TEST_F(BinaryTest, Lines) {
  compile("");
  Binary* b = open("program");
  ASSERT_NE(b, nullptr);
  auto lines = [&](std::string_view file, uint32_t line, uint32_t column, LineMiss& miss) {
    return b->addresses_of_line(file, line, column, miss);
  };
  LineMiss miss;
  auto at = lines("a.c", 5, 0, miss);
  ASSERT_EQ(at.size(), 1u);
  auto twice = b->find_functions("twice")[0];
  EXPECT_GE(at[0].address, twice.address);
  EXPECT_LT(at[0].address, twice.address + twice.size);
  EXPECT_EQ(at[0].line, 5u);
  EXPECT_EQ(at[0].file, path("a.c"));
  EXPECT_EQ(lines(path("a.c"), 5, 0, miss).size(), 1u);
  EXPECT_EQ(lines("./a.c", 5, 0, miss).size(), 1u);
  EXPECT_EQ(lines("a.c", 5, 11, miss).size(), 1u);
  miss = {};
  EXPECT_TRUE(lines("a.c", 5, 99, miss).empty());
  EXPECT_EQ(std::count(miss.columns.begin(), miss.columns.end(), 11u), 1);
  miss = {};
  EXPECT_TRUE(lines("a.c", 3, 0, miss).empty());
  EXPECT_TRUE(miss.has_file);
  EXPECT_EQ(miss.before, 1u);
  EXPECT_EQ(miss.after, 4u);
  miss = {};
  EXPECT_TRUE(lines("x/a.c", 5, 0, miss).empty());
  EXPECT_FALSE(miss.has_file);
  EXPECT_EQ(miss.near, std::vector<std::string>{path("a.c")});
  miss = {};
  EXPECT_TRUE(lines("c.c", 5, 0, miss).empty());
  EXPECT_FALSE(miss.near.empty());
}

// The head of a loop is one place although its code is in several; a line of a function that was inlined is
// one place in each.
TEST_F(BinaryTest, LinesInLoopsAndInlined) {
  write("l.c", "extern int sink;\n"
               "static inline __attribute__((always_inline)) void piece(int x) {\n"
               "  sink += x;\n"
               "}\n"
               "void one(int n) {\n"
               "  for (int i = 0; i < n; i++)\n"
               "    piece(i);\n"
               "}\n"
               "void two(int n) { piece(n); }\n"
               "int sink;\n"
               "int main() { one(3); two(4); }\n");
  shell("gcc -O1 -fno-inline-functions -fno-inline-small-functions -fno-inline-functions-called-once -g l.c "
        "-o loops");
  Binary* b = open("loops");
  ASSERT_NE(b, nullptr);
  LineMiss miss;
  EXPECT_EQ(b->addresses_of_line("l.c", 6, 0, miss).size(), 1u);
  EXPECT_EQ(b->addresses_of_line("l.c", 3, 0, miss).size(), 2u);
}

TEST_F(BinaryTest, HowNamesLeadToFiles) {
  auto libc = binaries_.find("libc");
  ASSERT_TRUE(libc.ok());
  ASSERT_EQ(libc->size(), 1u);
  EXPECT_TRUE(libc->front()->name().ends_with("/libc.so.6")) << libc->front()->name();
  EXPECT_FALSE(libc->front()->find_functions("malloc").empty());
  auto again = binaries_.find("libc.so.6");
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->front(), libc->front());
  auto shell_program = binaries_.find("sh");
  ASSERT_TRUE(shell_program.ok());
  EXPECT_TRUE(shell_program->front()->name().ends_with("/sh"));
  EXPECT_EQ(binaries_.opened(libc->front()->name()), libc->front());
  EXPECT_EQ(binaries_.opened("/nothing"), nullptr);

  compile("");
  shell("cp program other_program && mkdir deep && cp program deep/program && echo text > textprogram");
  auto several = binaries_.find(path("*program"));
  ASSERT_TRUE(several.ok());
  EXPECT_EQ(several->size(), 2u); // the text is none
  EXPECT_EQ(binaries_.find(path("*/program"))->size(), 1u);

  EXPECT_NE(failure("no-such-program-anywhere").find("there is no program"), std::string::npos);
  EXPECT_NE(failure(path("nothing")).find("No such file"), std::string::npos);
  EXPECT_NE(failure(path("nothing*")).find("matches"), std::string::npos);
  EXPECT_NE(failure(path("textprogram")).find("ELF"), std::string::npos);
  EXPECT_NE(failure(folder_).find("folder"), std::string::npos);
  EXPECT_NE(failure("*").find("too many"), std::string::npos);
  EXPECT_NE(failure("").find("missing"), std::string::npos);
  shell("gcc -c a.c -o object.o");
  EXPECT_NE(failure(path("object.o")).find("object file"), std::string::npos);
}

TEST_F(BinaryTest, OfAProcess) {
  Binaries own(::getpid());
  ASSERT_FALSE(own.mapped().empty());
  EXPECT_EQ(own.root(), ""); // the same files as ours
  auto libc = own.find("libc");
  ASSERT_TRUE(libc.ok());
  EXPECT_NE(std::find_if(own.mapped().begin(), own.mapped().end(),
                         [&](auto& m) { return m.path == libc->front()->name(); }),
            own.mapped().end());
  auto program = own.find("");
  ASSERT_TRUE(program.ok());
  EXPECT_NE(program->front()->name().find("test_symbol"), std::string::npos);
  auto all = own.find("*");
  ASSERT_TRUE(all.ok());
  EXPECT_GE(all->size(), 2u);
  Binaries gone(0x3fffff);
  auto none = gone.find("nothing-of-this-name");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().message, "there is no process 4194303");
}

// A program that was deleted while it runs is still to be had.
TEST_F(BinaryTest, OfAProcessWhoseFileIsGone) {
  compile("");
  write("s.c", "#include <unistd.h>\nint waits(void) { return pause(); }\nint main() { write(1, \"x\", 1); "
               "return waits(); }\n");
  shell("gcc s.c -o sleeper");
  FILE* child = ::popen(("exec " + path("sleeper") + " & echo $!; wait").c_str(), "r");
  int pid = 0;
  char x = 0;
  while (x != 'x') ASSERT_EQ(std::fread(&x, 1, 1, child), 1u);
  FILE* found = ::popen(("pgrep -f '^" + path("sleeper") + "$'").c_str(), "r");
  ASSERT_EQ(std::fscanf(found, "%d", &pid), 1);
  ::pclose(found);
  shell("rm sleeper");
  Binaries of(pid);
  auto program = of.find("sleeper");
  EXPECT_TRUE(program.ok()) << (program.ok() ? "" : program.error().message);
  if (program.ok()) {
    EXPECT_EQ(program->front()->name(), path("sleeper"));
    EXPECT_NE(program->front()->host_path().find("/map_files/"), std::string::npos);
    EXPECT_EQ(program->front()->find_functions("waits").size(), 1u);
  }
  ::kill(pid, SIGKILL);
  ::pclose(child);
}

// A process with a root of its own: its paths are meant.
TEST_F(BinaryTest, OfAProcessWithItsOwnRoot) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may change a process's root";
  compile("");
  write("s.c", "#include <unistd.h>\nint waits(void) { return pause(); }\nint main() { return waits(); }\n");
  shell("mkdir -p jail/bin jail/etc && gcc -static s.c -o jail/bin/sleeper && gcc -static a.c b.c -o "
        "jail/bin/other");
  pid_t pid = ::fork();
  if (pid == 0) {
    if (::chroot(path("jail").c_str()) == 0 && ::chdir("/") == 0)
      ::execl("/bin/sleeper", "sleeper", static_cast<char*>(nullptr));
    ::_exit(1);
  }
  std::string exe = "/proc/" + std::to_string(pid) + "/exe";
  char target[200] = {};
  for (int i = 0; i < 200 && std::string_view(target).find("sleeper") == std::string_view::npos; i++) {
    (void)!::readlink(exe.c_str(), target, sizeof target - 1);
    ::usleep(10000);
  }
  Binaries of(pid);
  EXPECT_EQ(of.root(), "/proc/" + std::to_string(pid) + "/root");
  auto found = of.find("/bin/sleeper");
  EXPECT_TRUE(found.ok()) << (found.ok() ? "" : found.error().message);
  if (found.ok()) {
    EXPECT_EQ(found->front()->name(), "/bin/sleeper");
    EXPECT_EQ(found->front()->host_path(), of.root() + "/bin/sleeper");
    EXPECT_EQ(found->front()->find_functions("waits").size(), 1u);
  }
  EXPECT_TRUE(of.find("/bin/other").ok());     // not mapped, but there
  EXPECT_TRUE(of.find("other").ok());          // in its folders for programs
  EXPECT_FALSE(of.find("/bin/sh").ok());       // ours
  EXPECT_FALSE(of.find(path("program")).ok()); // ours
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
}

// What Go's linker writes, made by the assembler: two functions in a file without a symbol table.
TEST_F(BinaryTest, FunctionsOfGo) {
  write("go.s", ".text\n.globl _start\n_start:\none: push %rbp\n pop %rbp\n ret\n nop\ntwo: ret\n nop\nend:\n"
                ".section .gopclntab,\"a\"\npcln: .long 0xfffffff1\n .byte 0,0,1,8\n"
                " .quad 2, 0, one, names - pcln, 0, 0, 0, table - pcln\n"
                "names: .byte 0\nn1: .asciz \"main.one\"\nn2: .asciz \"main.(*T).two\"\n"
                "table: .long 0, f1 - table, two - one, f2 - table, end - one\n"
                "f1: .long 0, n1 - names\nf2: .long two - one, n2 - names\n");
  shell("as go.s -o go.o && ld -o program go.o && cp program whole && strip program");
  Binary* b = open("program");
  ASSERT_NE(b, nullptr);
  EXPECT_TRUE(b->is_go());
  EXPECT_FALSE(b->is_stripped());
  auto one = b->find_functions("main.one"), two = b->find_functions("main.(*T).two");
  ASSERT_EQ(one.size(), 1u);
  ASSERT_EQ(two.size(), 1u);
  EXPECT_EQ(one[0].address, address_by_nm("whole", "one"));
  EXPECT_EQ(one[0].size, 4u);
  EXPECT_EQ(two[0].address, one[0].address + 4);
  EXPECT_EQ(two[0].size, 2u);
  EXPECT_EQ(b->functions().size(), 2u);
  EXPECT_EQ(b->function_at(two[0].address + 1)->name, "main.(*T).two");
}

// A function without a name is found by its address, if calls lead there: no part that is jumped to, no
// middle.
TEST_F(BinaryTest, FunctionsWithoutAName) {
  write("t.c", "#include <stdlib.h>\nvoid pushes(void);\n__attribute__((noinline)) static int twice(int x) { "
               "return x * 2; }\n"
               "int main(int c, char** v) { (void)v; int (*volatile f)(int) = twice; if (c > 9) pushes(); "
               "return f(c); }\n");
  // Begins with a frame already on the stack, as what was put aside does.
  write("p.s", ".globl pushes\npushes: ret\n.globl part\npart:\n.cfi_startproc\n.cfi_def_cfa_offset 32\n "
               "nop\n ret\n.cfi_endproc\n"
               ".section .note.GNU-stack\n");
  shell("gcc -O1 t.c p.s -o whole && strip -o program whole");
  Binary* b = open("program");
  ASSERT_NE(b, nullptr);
  auto named = [](uint64_t address) { return frame_function_name(address); };
  const uint64_t twice = address_by_nm("whole", "twice");
  auto found = b->find_functions(named(twice));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].address, twice);
  EXPECT_EQ(found[0].name, named(twice));
  EXPECT_GT(found[0].size, 0u);
  EXPECT_TRUE(b->find_functions(named(twice + 1)).empty());
  EXPECT_TRUE(b->find_functions(named(address_by_nm("whole", "part"))).empty());
  for (const FunctionSymbol& f : b->functions()) EXPECT_FALSE(f.name.starts_with("func_")) << f.name;
}

// Debian's lists of files: one of a package with an architecture, one of another.
TEST_F(BinaryTest, PackageOfAFile) {
  write("libx:amd64.list", "/.\n/usr/lib\n/usr/lib/libx.so.1\n");
  write("tools.list", "/bin\n/bin/tool\n/bin/tool.sh");
  write("other.info", "/bin/nothing\n");
  EXPECT_EQ(package_of_file("/usr/lib/libx.so.1", folder_), "libx");
  EXPECT_EQ(package_of_file("/lib/libx.so.1", folder_), "libx");
  EXPECT_EQ(package_of_file("/usr/bin/tool", folder_), "tools");
  EXPECT_EQ(package_of_file("/bin/tool.sh", folder_), "tools");
  EXPECT_EQ(package_of_file("/bin/too", folder_), "");
  EXPECT_EQ(package_of_file("/bin/nothing", folder_), "");
  EXPECT_EQ(package_of_file("", folder_), "");
  EXPECT_EQ(package_of_file("/bin/tool", folder_ + "/none"), "");
}

} // namespace
} // namespace symbol
