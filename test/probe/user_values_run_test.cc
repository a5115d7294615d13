// Values where a program stands: results after functions returned, variables of libraries and threads,
// arguments where compilers made copies of functions; and the reasons where there is no value.
#include "recipe_run.h"
#include "user_values_program.h"
#include "user_values_samples.h"

#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

using probe::UserValue;
using samples::Program;

namespace {

// A traced child process.
class Child {
public:
  explicit Child(const std::string& path) {
    pid_ = ::fork();
    if (pid_ == 0) {
      ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
      ::execl(path.c_str(), path.c_str(), static_cast<char*>(nullptr));
      ::_exit(127);
    }
    wait();
  }
  ~Child() {
    if (pid_ <= 0) return;
    ::ptrace(PTRACE_KILL, pid_, nullptr, nullptr);
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  // Goes on to the next signal; false: the process is over.
  bool go() {
    ::ptrace(PTRACE_CONT, pid_, nullptr, nullptr);
    return wait();
  }
  // To the instruction at an address of memory.
  bool run_to(uint64_t address) {
    errno = 0;
    long word = ::ptrace(PTRACE_PEEKTEXT, pid_, address, nullptr);
    ::ptrace(PTRACE_POKETEXT, pid_, address, (word & ~0xffL) | 0xcc);
    if (!go()) return false;
    ::ptrace(PTRACE_POKETEXT, pid_, address, word);
    user_regs_struct regs;
    ::ptrace(PTRACE_GETREGS, pid_, nullptr, &regs);
    EXPECT_EQ(regs.rip, address + 1);
    regs.rip = address;
    return ::ptrace(PTRACE_SETREGS, pid_, nullptr, &regs) == 0;
  }
  samples::Stopped stopped() const {
    samples::Stopped out;
    out.pid = pid_;
    user_regs_struct regs;
    ::ptrace(PTRACE_GETREGS, pid_, nullptr, &regs);
    std::memcpy(out.registers, &regs, sizeof out.registers);
    out.thread_base = regs.fs_base;
    std::ifstream stat("/proc/" + std::to_string(pid_) + "/stat");
    std::string word;
    for (int i = 0; i < 26; i++) stat >> word;
    out.code_start = std::stoull(word);
    return out;
  }
  // What the loader added to the addresses of a file that may be moved.
  uint64_t bias(const std::string& path) const {
    std::ifstream maps("/proc/" + std::to_string(pid_) + "/maps");
    for (std::string line; std::getline(maps, line);)
      if (line.ends_with(path)) return std::stoull(line, nullptr, 16);
    return 0;
  }

private:
  bool wait() {
    int status = 0;
    if (::waitpid(pid_, &status, 0) != pid_ || !WIFSTOPPED(status)) return pid_ = -1, false;
    return true;
  }
  pid_t pid_ = -1;
};

constexpr size_t ip = 128 / 8, sp = 152 / 8;

// The bytes of a value as number of the first, second, … 8 of them.
std::vector<uint64_t> words_of(const UserValue& value, const samples::Stopped& at) {
  std::vector<uint64_t> out;
  if (!value) return out;
  auto bytes = samples::run_recipe(value.recipe, value.type->size, at);
  for (size_t i = 0; bytes && i < bytes->size(); i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, bytes->data() + i, std::min<size_t>(8, bytes->size() - i));
    out.push_back(word);
  }
  return out;
}

using Words = std::vector<uint64_t>;

Words result_of(Program& program, const std::string& function, UserValue* told = nullptr) {
  Child child(program.path);
  probe::Event event = program.entry(function);
  uint64_t bias = program.binary->is_movable() ? child.bias(program.path) : 0;
  if (!child.run_to(event.address + bias)) return {};
  samples::Stopped at = child.stopped();
  uint64_t back = 0;
  if (!at.read(at.registers[sp], &back, 8) || !child.run_to(back)) return {};
  event.kind = probe::Kind::uretprobe;
  UserValue value = program.values->result(event);
  if (told) *told = value;
  return words_of(value, child.stopped());
}

void check_results(const std::string& command) {
  SCOPED_TRACE(command);
  Program c(command, samples::values_c);
  EXPECT_EQ(result_of(c, "make_point"), Words{0xfffffff900000007});
  EXPECT_EQ(result_of(c, "make_big"), (Words{9, 10, 11, 12}));
  EXPECT_EQ(result_of(c, "make_char"), Words{0xfc});
  EXPECT_EQ(result_of(c, "make_bool"), Words{1});
  EXPECT_EQ(result_of(c, "make_color"), Words{0xfffffffd});
  EXPECT_EQ(result_of(c, "make_wide"), (Words{77, 5}));
  EXPECT_EQ(result_of(c, "scalars").size(), 1u);
  UserValue told;
  Words mixed = result_of(c, "make_mixed", &told);
  ASSERT_EQ(mixed.size(), 2u);
  EXPECT_EQ(mixed[1], 8u);
  EXPECT_NE(told.reason.find("8 of its 16 bytes"), std::string::npos) << told.reason;
  EXPECT_EQ(result_of(c, "make_double", &told), Words{});
  EXPECT_EQ(told.kind, UserValue::without_value);
  EXPECT_NE(told.reason.find("xmm0"), std::string::npos) << told.reason;
}

constexpr char library[] = R"(
__thread int shared_count = 31;
static __thread long own_count[3] = { 32, 33, 34 };
static int hidden = 35;
int shown = 36;
int shared_work(int n) {
  shared_count += n;
  own_count[1] += n;
  hidden += n;
  __asm__ volatile("int3");
  return shared_count + own_count[2] + hidden + shown;
}
)";

constexpr char user_of_library[] = R"(
#include <dlfcn.h>
#include <stdlib.h>
__thread long own[40];
int main() {
  void *library = dlopen(LIBRARY, RTLD_NOW);
  int (*work)(int) = (int (*)(int))dlsym(library, "shared_work");
  own[1] = 5;
  return work(100) == 0;
}
)";

void check_library(const std::string& options) {
  SCOPED_TRACE(options);
  Program program;
  std::string file = program.folder.write("library.c", library), path = program.folder.file("libvalues.so");
  std::string user = program.folder.write("user.c", user_of_library), run = program.folder.file("user");
  std::string build = "gcc -g -O1 -fPIC -shared " + options + " " + file + " -o " + path +
                      " && gcc -g -DLIBRARY='\"" + path + "\"' " + user + " -o " + run + " && echo done";
  ASSERT_EQ(samples::output_of(build), "done\n");
  program.path = path;
  program.open(path);
  Child child(run);
  ASSERT_TRUE(child.go());
  samples::Stopped at = child.stopped();
  probe::Event event = program.event(at.registers[ip] - child.bias(path));
  EXPECT_EQ(event.function, "shared_work");
  EXPECT_EQ(words_of(program.values->global(&event, "hidden"), at), Words{135});
  EXPECT_EQ(words_of(program.values->global(&event, "library.c::hidden"), at), Words{135});
  EXPECT_EQ(words_of(program.values->global(&event, "shown"), at), Words{36});
  EXPECT_EQ(words_of(program.values->global(&event, "shared_count"), at), Words{131});
  EXPECT_EQ(words_of(program.values->global(&event, "own_count"), at), (Words{32, 133, 34}));
  // Elsewhere nothing but a known process tells where a library is.
  UserValue value = program.values->global(nullptr, "hidden");
  EXPECT_EQ(value.kind, UserValue::without_value);
  EXPECT_NE(value.reason.find("-p PID"), std::string::npos) << value.reason;
  EXPECT_EQ(words_of(program.values->global(nullptr, "hidden", child.bias(path)), at), Words{135});
  EXPECT_EQ(words_of(program.values->global(nullptr, "own_count", child.bias(path)), at),
            (Words{32, 133, 34}));
}

} // namespace

TEST(UserValuesRun, ResultsOfPlainCode) { check_results("gcc -g -O0"); }
TEST(UserValuesRun, ResultsOfOptimisedCode) { check_results("gcc -g -O2 -no-pie"); }

TEST(UserValuesRun, ResultsThatMustStayWhereTheyAre) {
  for (const char* command : {"g++ -g -O2", "g++ -gdwarf-4 -gstrict-dwarf -O0"}) {
    SCOPED_TRACE(command);
    Program program(command, samples::values_cc);
    EXPECT_EQ(result_of(program, "_ZN4shop4makeEl"), (Words{21, 42}));
  }
}

TEST(UserValuesRun, VariablesOfLibraries) {
  check_library("");
  check_library("-ftls-model=initial-exec");
}

TEST(UserValuesRun, InstructionsThatStandForTheEntry) {
  Program program("gcc -g -O0 -fcf-protection", samples::values_c);
  probe::Event plain = program.entry("scalars"), moved = plain;
  moved.address += 4; // behind endbr64
  for (size_t i = 0; i < program.values->parameter_count(plain); i++) {
    UserValue a = program.values->parameter(plain, i), b = program.values->parameter(moved, i);
    EXPECT_TRUE(a && b) << a.reason << b.reason;
    EXPECT_EQ(a.recipe, b.recipe) << a.name;
  }
}

TEST(UserValuesRun, ArgumentsAsOneStructure) {
  Program program("gcc -g -O2", samples::values_c);
  const type::Type* args = program.values->parameters(program.entry("scalars"));
  ASSERT_TRUE(args);
  EXPECT_EQ(args->fields().size(), 9u);
  EXPECT_EQ(args->find("seventh")->type->size, 4u);
  EXPECT_EQ(program.values->parameters(program.entry("scalars")), args);
  std::vector<std::string> texts = program.values->describe(program.entry("structures"), true);
  EXPECT_EQ(texts, (std::vector<std::string>{"long int", "struct point p", "struct big g", "struct pair q",
                                             "int after", "union either e", "struct bits f"}));
  EXPECT_EQ(program.values->parameter(program.entry("scalars"), "nothing").kind, UserValue::missing);
}

TEST(UserValuesRun, ReasonsWhereThereIsNoValue) {
  Program program("gcc -g -O2", samples::values_c), plain("gcc -g -O0", samples::values_c);
  auto reason = [](const UserValue& value) {
    EXPECT_EQ(value.kind, UserValue::without_value);
    return value.reason;
  };
  EXPECT_EQ(reason(program.values->parameter(program.entry("floats"), "d")),
            "is in xmm0 here, which probes cannot read");
  EXPECT_EQ(reason(program.values->parameter(program.entry("floats"), "f")),
            "is in xmm1 here, which probes cannot read");
  UserValue mixed = program.values->parameter(program.entry("floats"), "m");
  EXPECT_TRUE(mixed) << mixed.reason;
  EXPECT_NE(mixed.reason.find("8 of its 16 bytes"), std::string::npos) << mixed.reason;
  probe::Event back = program.entry("scalars");
  back.kind = probe::Kind::uretprobe;
  EXPECT_NE(reason(program.values->parameter(back, "c")).find("entry("), std::string::npos);
  EXPECT_NE(reason(plain.values->local(plain.entry("scalars"), "local"))
                .find("has no value yet: its place in the "
                      "frame is ready at scalars+"),
            std::string::npos);
  EXPECT_EQ(program.values->result(program.entry("scalars")).reason,
            "is there only when the function returns");
  UserValue local = program.values->local(program.entry("scalars"), "local");
  EXPECT_NE(reason(local).find("is optimised away here; it is there from scalars+"), std::string::npos)
      << local.reason;
}

TEST(UserValuesRun, CopiesOfFunctionsAreNotTakenForTheFunction) {
  Program program("gcc -g -O2", samples::values_c);
  bool is_copied = false;
  for (const symbol::FunctionSymbol& f : program.binary->functions()) {
    if (!f.name.starts_with("partly.")) continue;
    is_copied = true;
    probe::Event event = program.event(f.address, true);
    UserValue unused = program.values->parameter(event, "unused"),
              used = program.values->parameter(event, "used");
    EXPECT_TRUE(used) << used.reason;
    Child child(program.path);
    ASSERT_TRUE(child.run_to(f.address + child.bias(program.path)));
    EXPECT_EQ(words_of(used, child.stopped()), Words{5});
    if (unused) { // a constant that the debug information tells
      EXPECT_EQ(words_of(unused, child.stopped()), Words{5});
    }
  }
  EXPECT_TRUE(is_copied) << "this compiler made no copy";
}

TEST(UserValuesRun, GlobalsByName) {
  Program program("gcc -g -O0", samples::values_c);
  probe::UserValues& values = *program.values;
  EXPECT_TRUE(values.is_program());
  EXPECT_TRUE(values.global(nullptr, "counter"));
  EXPECT_TRUE(values.global(nullptr, "values.c::hidden"));
  EXPECT_TRUE(values.global(nullptr, "long_way::calls"));
  EXPECT_TRUE(values.global(nullptr, "values.c::long_way::calls"));
  EXPECT_EQ(values.global(nullptr, "other.c::hidden").kind, UserValue::missing);
  EXPECT_EQ(values.global(nullptr, "calls").kind, UserValue::missing);
  EXPECT_EQ(values.global(nullptr, "nothing").kind, UserValue::missing);
  EXPECT_TRUE(values.has_global("hidden"));
  EXPECT_FALSE(values.has_global("nothing"));
}

TEST(UserValuesRun, AmbiguousGlobals) {
  Program program;
  std::string one = program.folder.write("one.c", "static int same = 1; int *a(void) { return &same; }\n");
  std::string two = program.folder.write("two.c", "static int same = 2; extern int other; int *a(void);\n"
                                                  "int main() { same++; return *a() + same; }\n");
  program.path = program.folder.file("values");
  ASSERT_EQ(samples::output_of("gcc -g " + one + " " + two + " -o " + program.path + " && echo done"),
            "done\n");
  program.open(program.path);
  UserValue value = program.values->global(nullptr, "same");
  EXPECT_EQ(value.kind, UserValue::ambiguous);
  EXPECT_EQ(value.reason, "is the name of several: one.c::same, two.c::same");
  EXPECT_TRUE(program.values->global(nullptr, "two.c::same"));
  Child child(program.path);
  EXPECT_EQ(words_of(program.values->global(nullptr, "two.c::same"), child.stopped()), Words{2});
}
