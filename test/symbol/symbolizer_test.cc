// Addresses of processes, files and the kernel to functions, lines and inlined calls; with programs made
// here.
#include "symbol/symbolizer.h"

#include "scratch.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

namespace symbol {
namespace {

// A program that runs until the end of the test, and writes addresses.
class Child {
public:
  explicit Child(const std::string& path) {
    int ends[2];
    if (::pipe(ends) != 0) return;
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(ends[1], STDOUT_FILENO);
      if (::chdir(path.substr(0, path.rfind('/')).c_str()) == 0) ::execl(path.c_str(), path.c_str(), nullptr);
      ::_exit(127);
    }
    ::close(ends[1]);
    from_ = base::Fd(ends[0]);
    address_ = read();
  }
  ~Child() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }
  uint64_t address() const { return address_; } // that it wrote
  // It goes on, and writes another one.
  uint64_t wake() {
    ::kill(pid_, SIGUSR1);
    return read();
  }

private:
  uint64_t read() {
    char line[64] = {};
    EXPECT_GT(::read(from_.get(), line, sizeof line - 1), 0);
    return std::strtoull(line, nullptr, 16);
  }
  pid_t pid_ = -1;
  base::Fd from_;
  uint64_t address_ = 0;
};

// Tells the address of `outer`, in which `inner` is inlined, and waits.
constexpr const char* source = R"(#include <stdio.h>
#include <unistd.h>
volatile int seen;
static inline __attribute__((always_inline)) int inner(int x) {
  seen = x; seen = x + 1; return seen; }
__attribute__((noinline)) int outer(int x) {
  return inner(x) * 3; }
int main(int argc, char** argv) {
  (void)argv;
  printf("%lx\n", (unsigned long)&outer + 0); fflush(stdout);
  outer(argc);
  pause();
}
)";

class Symbolize : public testing::Test {
protected:
  void SetUp() override { ::setenv("ACU_CACHE", scratch_.path("cache").c_str(), 1); }
  void TearDown() override { ::unsetenv("ACU_CACHE"); }
  bool build(const std::string& options = "-g -O1") const {
    scratch_.write("t.c", source);
    return scratch_.run("gcc " + options + " t.c -o t");
  }
  uint64_t address_of(const std::string& symbol) const {
    scratch_.run("nm t | awk '$3==\"" + symbol + "\"{print $1}'");
    return std::strtoull(scratch_.log().c_str(), nullptr, 16);
  }
  // "inner t.c:5 < outer+4 t.c:7"
  static std::string text(const Place& place) {
    std::string out;
    auto line = [](const Frame& f) {
      return f.file.empty()
                 ? std::string()
                 : " " + std::string(f.file.substr(f.file.rfind('/') + 1)) + ":" + std::to_string(f.line);
    };
    for (size_t i = 0; i + 1 < place.frames.size(); i++)
      out += std::string(place.frames[i].name) + line(place.frames[i]) + " < ";
    out += std::string(place.name) + "+" + std::to_string(place.offset);
    if (!place.frames.empty()) out += line(place.frames.back());
    return out;
  }
  // Of all bytes of a function.
  static std::vector<std::string> all(Symbolizer& symbolizer, uint64_t address,
                                      uint32_t module = Symbolizer::no_module) {
    std::vector<Symbolizer::Question> questions;
    for (uint64_t i = 0; i < 16; i++) questions.push_back({address + i, module});
    std::vector<std::string> out;
    for (const Place& p : symbolizer.find(questions)) out.push_back(text(p));
    return out;
  }
  static bool has(const std::vector<std::string>& texts, std::string_view part) {
    return std::any_of(texts.begin(), texts.end(),
                       [&](const std::string& t) { return t.find(part) != t.npos; });
  }
  Scratch scratch_;
};

TEST_F(Symbolize, OfAFile) {
  ASSERT_TRUE(build());
  Symbolizer symbolizer({});
  auto module = symbolizer.add_file(scratch_.path("t"));
  ASSERT_TRUE(module.ok());
  auto texts = all(symbolizer, address_of("outer"), *module);
  EXPECT_TRUE(has(texts, "inner t.c:5 < outer+")) << texts[4];
  EXPECT_TRUE(has(texts, " t.c:7"));
  EXPECT_FALSE(symbolizer.add_file(scratch_.path("t.c")).ok());
}

TEST_F(Symbolize, WithoutInlinesAndWithoutLines) {
  ASSERT_TRUE(build());
  Symbolizer plain({.inlines = false}), names({.lines = false});
  auto texts = all(plain, address_of("outer"), *plain.add_file(scratch_.path("t")));
  EXPECT_TRUE(has(texts, "outer+0 t.c:"));
  EXPECT_TRUE(has(texts, " t.c:5"));
  EXPECT_FALSE(has(texts, "<"));
  texts = all(names, address_of("outer"), *names.add_file(scratch_.path("t")));
  EXPECT_EQ(texts[3], "outer+3");
}

TEST_F(Symbolize, OrderAndRepetitionOfQuestions) {
  ASSERT_TRUE(build());
  Symbolizer symbolizer({});
  uint32_t module = *symbolizer.add_file(scratch_.path("t"));
  uint64_t outer = address_of("outer"), main = address_of("main");
  const Symbolizer::Question questions[] = {
      {main, module}, {outer, module}, {1, module}, {outer, module}, {main, module}};
  auto places = symbolizer.find(questions);
  ASSERT_EQ(places.size(), 5u);
  EXPECT_EQ(places[0].name, "main");
  EXPECT_EQ(places[1].name, "outer");
  EXPECT_EQ(places[2].name, "");
  EXPECT_EQ(text(places[1]), text(places[3]));
  EXPECT_EQ(text(places[0]), text(places[4]));
  EXPECT_TRUE(symbolizer.find({}).empty());
}

TEST_F(Symbolize, OfAProcess) {
  ASSERT_TRUE(build());
  Child child(scratch_.path("t"));
  Symbolizer symbolizer({});
  ASSERT_TRUE(symbolizer.set_process(child.pid()).ok());
  EXPECT_TRUE(has(all(symbolizer, child.address()), "inner t.c:5 < outer+"));
  const Symbolizer::Question nowhere[] = {{1}};
  EXPECT_EQ(symbolizer.find(nowhere)[0].module, "");
  EXPECT_TRUE(symbolizer.find_file("t").ok()); // as it is called there
}

// The file is gone, and another one has its name.
TEST_F(Symbolize, OfAProcessWhoseFileWasReplaced) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may read a file through its mapping";
  ASSERT_TRUE(build());
  Child child(scratch_.path("t"));
  ASSERT_TRUE(scratch_.run("rm t && gcc -O0 -Douter=wrong t.c -o t"));
  Symbolizer symbolizer({});
  ASSERT_TRUE(symbolizer.set_process(child.pid()).ok());
  EXPECT_TRUE(has(all(symbolizer, child.address()), "inner t.c:5 < outer+"));
}

TEST_F(Symbolize, OfAStrippedProcessWithItsDebugFileInAnotherFolder) {
  ASSERT_TRUE(build("-g -O1 -Wl,--build-id"));
  ASSERT_TRUE(scratch_.run("mkdir d && objcopy --only-keep-debug t d/t.debug && strip t && objcopy "
                           "--add-gnu-debuglink=d/t.debug t"));
  Child child(scratch_.path("t"));
  Symbolizer without({}), with({.search = {.folders = {scratch_.path("d")}}});
  ASSERT_TRUE(without.set_process(child.pid()).ok() && with.set_process(child.pid()).ok());
  EXPECT_FALSE(has(all(without, child.address()), "outer"));
  EXPECT_TRUE(has(all(with, child.address()), "inner t.c:5 < outer+"));
}

TEST_F(Symbolize, SplitDebugInformation) {
  ASSERT_TRUE(build("-g -O1 -gsplit-dwarf"));
  Symbolizer symbolizer({});
  uint32_t module = *symbolizer.add_file(scratch_.path("t"));
  auto texts = all(symbolizer, address_of("outer"), module);
  EXPECT_TRUE(has(texts, "inner t.c:5 < outer+")) << texts[4];
}

TEST_F(Symbolize, KernelAndVdso) {
  Symbolizer symbolizer({});
  ASSERT_TRUE(symbolizer.set_process(::getpid()).ok());
  Kallsyms kallsyms;
  uint64_t schedule = kallsyms.address("schedule").value_or(0);
  if (!schedule) GTEST_SKIP() << "the kernel hides its addresses";
  std::vector<Symbolizer::Question> questions = {{schedule}, {schedule + 4}};
  for (uint64_t at = ::getauxval(AT_SYSINFO_EHDR), i = 0; i < 0x2000; i += 16) questions.push_back({at + i});
  auto places = symbolizer.find(questions);
  EXPECT_EQ(places[0].name, "schedule");
  EXPECT_EQ(places[1].offset, 4u);
  EXPECT_EQ(places[1].module, "[kernel]");
  auto is_clock = [](const Place& p) {
    return p.module == "[vdso]" && p.name.find("clock_gettime") != p.name.npos;
  };
  EXPECT_TRUE(std::any_of(places.begin(), places.end(), is_clock));
}

// Code that a process makes while it runs, with the lines of a jitdump.
TEST_F(Symbolize, JitCode) {
  scratch_.write("jit.c", R"(#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static int fd;
static void put(const void* p, unsigned n) { if (write(fd, p, n) < 0) _exit(1); }
static void number(unsigned long v, unsigned n) { put(&v, n); }
static void record(int id, unsigned size) { number(id, 4); number(size + 16, 4); number(0, 8); }
int main(void) {
  char path[64];
  snprintf(path, sizeof path, "jit-%d.dump", getpid());
  fd = open(path, O_CREAT | O_RDWR, 0600);
  unsigned long code = (unsigned long)mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  number(0x4a695444, 4); number(1, 4); number(40, 4); number(62, 4); number(0, 4); number(getpid(), 4);
  number(0, 8); number(0, 8);
  mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
  record(2, 16 + 16 + 6); number(code, 8); number(1, 8); number(code, 8); number(7, 4); number(0, 4); put("/a.js", 6);
  record(0, 40 + 5 + 1); number(getpid(), 4); number(getpid(), 4); number(code, 8); number(code, 8); number(64, 8);
  number(1, 8); put("made", 5); put("\xcc", 1);
  printf("%lx\n", code); fflush(stdout);
  pause();
}
)");
  ASSERT_TRUE(scratch_.run("gcc -O1 jit.c -o jit")) << scratch_.log();
  Child child(scratch_.path("jit"));
  Symbolizer symbolizer({});
  ASSERT_TRUE(symbolizer.set_process(child.pid()).ok());
  const Symbolizer::Question questions[] = {{child.address() + 4}, {child.address() + 100}};
  auto places = symbolizer.find(questions);
  EXPECT_EQ(text(places[0]), "made+4 a.js:7");
  EXPECT_TRUE(places[0].module.ends_with(".dump")) << places[0].module;
  EXPECT_EQ(places[1].name, "");
}

// What is loaded after the first questions is found as well.
TEST_F(Symbolize, LibrariesThatAreLoadedLater) {
  scratch_.write("lib.c", "int loaded(int x) { return x + 1; }\n");
  scratch_.write("late.c", R"(#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static void nothing(int s) { (void)s; }
int main(int argc, char** argv) {
  (void)argc;
  signal(SIGUSR1, nothing);
  printf("0\n"); fflush(stdout);
  pause();
  char path[4096];
  snprintf(path, sizeof path, "%s.so", argv[0]);
  void* library = dlopen(path, RTLD_NOW);
  printf("%lx\n", (unsigned long)dlsym(library, "loaded")); fflush(stdout);
  pause();
}
)");
  ASSERT_TRUE(scratch_.run("gcc -shared -fPIC -g lib.c -o late.so && gcc late.c -o late -ldl"))
      << scratch_.log();
  Child child(scratch_.path("late"));
  Symbolizer symbolizer({});
  ASSERT_TRUE(symbolizer.set_process(child.pid()).ok());
  ::usleep(150 * 1000);
  uint64_t loaded = child.wake();
  const Symbolizer::Question questions[] = {{loaded}};
  EXPECT_EQ(text(symbolizer.find(questions)[0]), "loaded+0 lib.c:1");
}

TEST_F(Symbolize, ProcessesThatAreNotThere) {
  Symbolizer symbolizer({});
  auto status = symbolizer.set_process(4194303);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, base::Failure::nothing_matched);
}

} // namespace
} // namespace symbol
