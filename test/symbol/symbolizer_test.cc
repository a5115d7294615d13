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

// A program that runs until the end of the test.
class Child {
public:
  explicit Child(const std::string& path) {
    int ready[2];
    if (::pipe(ready) != 0) return;
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(ready[1], STDOUT_FILENO);
      ::execl(path.c_str(), path.c_str(), nullptr);
      ::_exit(127);
    }
    ::close(ready[1]);
    char line[64] = {};
    EXPECT_GT(::read(ready[0], line, sizeof line - 1), 0);
    ::close(ready[0]);
    address_ = std::strtoull(line, nullptr, 16);
  }
  ~Child() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }
  uint64_t address() const { return address_; } // that it told

private:
  pid_t pid_ = -1;
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
      out += std::string(place.frames[i].function) + line(place.frames[i]) + " < ";
    out += std::string(place.function) + "+" + std::to_string(place.offset);
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
  EXPECT_EQ(places[0].function, "main");
  EXPECT_EQ(places[1].function, "outer");
  EXPECT_EQ(places[2].function, "");
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
  EXPECT_EQ(places[0].function, "schedule");
  EXPECT_EQ(places[1].offset, 4u);
  EXPECT_EQ(places[1].module, "[kernel]");
  auto is_clock = [](const Place& p) {
    return p.module == "[vdso]" && p.function.find("clock_gettime") != p.function.npos;
  };
  EXPECT_TRUE(std::any_of(places.begin(), places.end(), is_clock));
}

TEST_F(Symbolize, ProcessesThatAreNotThere) {
  Symbolizer symbolizer({});
  auto status = symbolizer.set_process(4194303);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, base::Failure::nothing_matched);
}

} // namespace
} // namespace symbol
