// Recipes against what gdb says of the same stopped process, for what compilers write at each level.
#include "probe/user_values.h"

#include "recipe_run.h"
#include "user_values_program.h"
#include "user_values_samples.h"

#include <map>
#include <set>
#include <sstream>
#include <sys/wait.h>

using probe::UserValue;
using samples::Program;

namespace {

// gdb, asked over two pipes; see user_values.gdb.py.
class Gdb {
public:
  explicit Gdb(const std::string& program) {
    int to[2], from[2];
    if (::pipe(to) != 0 || ::pipe(from) != 0) return;
    pid_ = ::fork();
    if (pid_ == 0) {
      ::setenv("ACU_TO", std::to_string(to[0]).c_str(), 1);
      ::setenv("ACU_FROM", std::to_string(from[1]).c_str(), 1);
      ::close(to[1]), ::close(from[0]);
      if (!std::freopen("/dev/null", "r", stdin) || !std::freopen("/dev/null", "w", stdout)) ::_exit(126);
      ::execlp("gdb", "gdb", "-q", "-nx", "-batch", "-x", ACU_TEST_DIR "/probe/user_values.gdb.py",
               program.c_str(), static_cast<char*>(nullptr));
      ::_exit(127);
    }
    ::close(to[0]), ::close(from[1]);
    to_ = ::fdopen(to[1], "w"), from_ = ::fdopen(from[0], "r");
  }
  ~Gdb() {
    if (to_) std::fclose(to_);
    if (from_) std::fclose(from_);
    if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
  }
  void say(const std::string& line) {
    std::fputs((line + "\n").c_str(), to_);
    std::fflush(to_);
  }
  std::vector<std::string> hear() {
    std::vector<std::string> words;
    char line[4096];
    if (!from_ || !std::fgets(line, sizeof line, from_)) return {"exit"};
    std::istringstream stream(line);
    for (std::string word; stream >> word;) words.push_back(word);
    return words.empty() ? std::vector<std::string>{"exit"} : words;
  }

private:
  pid_t pid_ = -1;
  FILE *to_ = nullptr, *from_ = nullptr;
};

using Numbers = std::map<std::string, std::optional<uint64_t>>; // by path, nothing: not known

void add_numbers(Numbers& to, const type::Type& type, std::span<const std::byte> bytes,
                 std::vector<bool> gone, size_t at, const std::string& path,
                 const type::Field* field = nullptr) {
  if (type.is(type::Kind::structure)) {
    if (type.is_union) return;
    for (const type::Field& f : type.fields())
      add_numbers(to, *f.type, bytes, gone, at + f.offset,
                  f.name.empty() ? path : path + "." + std::string(f.name), &f);
    return;
  }
  if (type.is(type::Kind::array) || type.is(type::Kind::string)) {
    size_t size = type.is(type::Kind::array) ? type.element->size : 1, count = size ? type.size / size : 0;
    static type::Table table;
    const type::Type& of = type.is(type::Kind::array) ? *type.element : *table.integer(1, false);
    for (size_t i = 0; i < std::min<size_t>(count, 16); i++)
      add_numbers(to, of, bytes, gone, at + i * size, path + "[" + std::to_string(i) + "]");
    return;
  }
  if (type.size > 8 || at + type.size > bytes.size()) return;
  uint64_t number = 0;
  std::memcpy(&number, bytes.data() + at, type.size);
  if (field && field->bit_size) {
    number = number >> field->bit_offset & ((uint64_t{1} << field->bit_size) - 1);
    if (type.is_signed && number >> (field->bit_size - 1)) number |= ~uint64_t{0} << field->bit_size;
    number = samples::extend(number, type.size, false);
  }
  if (gone[at])
    to[path] = std::nullopt;
  else
    to[path] = number;
}

Numbers numbers_of(const UserValue& value, const samples::Stopped& at) {
  Numbers out;
  std::vector<bool> gone;
  auto bytes = samples::run_recipe(value.recipe, value.type->size, at, &gone);
  if (bytes) add_numbers(out, *value.type, *bytes, gone, 0, "");
  return out;
}

struct Counts {
  int stops = 0, equal = 0, unequal = 0, only_gdb = 0, only_acu = 0, neither = 0;
};

// Stops at all statements, and compares all that is visible there.
class Comparison {
public:
  Comparison(Program& program, std::vector<std::string> globals)
      : program_(program), globals_(std::move(globals)) {}
  Counts run();

private:
  void stop(Gdb& gdb, const std::vector<std::string>& words);
  void compare(const std::string& where, const std::string& name, const UserValue& value, const Numbers& ours,
               const Numbers& theirs);
  std::map<std::string, Numbers> ask(Gdb& gdb, const std::vector<std::string>& names);

  Program& program_;
  std::vector<std::string> globals_;
  Counts counts_;
  std::map<uint64_t, std::map<std::string, Numbers>>
      entered_; // by function: what its parameters were at entry
};

std::map<std::string, Numbers> Comparison::ask(Gdb& gdb, const std::vector<std::string>& names) {
  std::string line = "values";
  for (const std::string& name : names) line += " " + name;
  gdb.say(line);
  std::map<std::string, Numbers> out;
  for (std::vector<std::string> words = gdb.hear(); words[0] == "value"; words = gdb.hear()) {
    std::string path = words[2] == "-" ? "" : words[2];
    out[words[1]][path] = words[3] == "?" ? std::nullopt : std::optional(std::stoull(words[3], nullptr, 16));
  }
  return out;
}

void Comparison::compare(const std::string& where, const std::string& name, const UserValue& value,
                         const Numbers& ours, const Numbers& theirs) {
  bool gdb_knows = std::ranges::any_of(theirs, [](auto& n) { return n.second.has_value(); });
  if (!value) {
    (gdb_knows ? counts_.only_gdb : counts_.neither)++;
    EXPECT_FALSE(value.reason.empty()) << where << name;
    // What gdb learns from the callers of a function or from vector registers is no place probes can read.
    bool is_known_limit = value.reason.find("entry(") != std::string::npos ||
                          value.reason.find("xmm") != std::string::npos ||
                          value.reason.find("points to something") != std::string::npos ||
                          value.reason.find("only the callers") != std::string::npos ||
                          value.reason.find("no value yet") != std::string::npos;
    if (gdb_knows && !is_known_limit)
      ADD_FAILURE() << where << name << ": only gdb knows it: " << value.reason;
    return;
  }
  for (auto& [path, number] : ours) {
    auto other = theirs.find(path);
    if (other == theirs.end() || !other->second) {
      if (number) counts_.only_acu++;
      continue;
    }
    if (!number) {
      counts_.only_gdb++;
      continue;
    }
    (*number == *other->second ? counts_.equal : counts_.unequal)++;
    EXPECT_EQ(*number, *other->second) << where << name << path;
  }
  if (ours.empty() && gdb_knows && theirs.size() > 0 && value.type->size <= 8 &&
      !value.type->is(type::Kind::structure)) {
    counts_.unequal++;
    ADD_FAILURE() << where << name << ": its recipe cannot be carried out";
  }
}

void Comparison::stop(Gdb& gdb, const std::vector<std::string>& words) {
  ASSERT_EQ(words.size(), 26u);
  samples::Stopped at;
  at.pid = std::stoi(words[1]);
  uint64_t bias = std::stoull(words[2], nullptr, 16), address = std::stoull(words[3], nullptr, 16);
  for (size_t i = 0; i < 21; i++) at.registers[i] = std::stoull(words[4 + i], nullptr, 16);
  at.thread_base = std::stoull(words[25], nullptr, 16);
  std::ifstream stat("/proc/" + words[1] + "/stat");
  std::string word;
  for (int i = 0; i < 26 && stat >> word;) i++;
  at.code_start = std::stoull(word);
  (void)bias;
  counts_.stops++;
  probe::Event event = program_.event(address);
  bool is_entry = event.function_address == address;
  std::string where = event.function + "+" + std::to_string(address - event.function_address) + ": ";
  std::vector<std::string> names;
  for (std::string_view name : program_.values->locals(event)) names.emplace_back(name);
  auto theirs = ask(gdb, names);
  for (const std::string& name : names) {
    UserValue value = program_.values->local(event, name);
    compare(where, name, value, value ? numbers_of(value, at) : Numbers(), theirs[name]);
  }
  if (entered_.contains(event.function_address)) { // just behind the prologue
    for (auto& [name, ours] : entered_[event.function_address]) {
      UserValue value = program_.values->parameter(program_.event(event.function_address, true), name);
      if (value) compare(where + "at entry ", name, value, ours, theirs[name]);
    }
    entered_.erase(event.function_address);
  }
  if (is_entry) {
    probe::Event entry = program_.event(address, true);
    for (size_t i = 0; i < program_.values->parameter_count(entry); i++) {
      UserValue value = program_.values->parameter(entry, i);
      if (value) entered_[address][std::string(value.name)] = numbers_of(value, at);
    }
  }
  auto more = ask(gdb, globals_);
  for (const std::string& name : globals_) {
    const probe::Event* kinds[] = {&event, nullptr};
    for (const probe::Event* e : kinds) {
      UserValue value = program_.values->global(e, name);
      compare(where + "global ", name, value, value ? numbers_of(value, at) : Numbers(), more[name]);
    }
  }
}

Counts Comparison::run() {
  Gdb gdb(program_.path);
  std::vector<uint64_t> all = program_.statements();
  EXPECT_GT(all.size(), 20u);
  std::set<uint64_t> wanted(all.begin(), all.end());
  for (uint64_t address : all)
    if (auto function = program_.binary->function_at(address)) wanted.insert(function->address);
  for (uint64_t address : wanted) {
    char line[64];
    std::snprintf(line, sizeof line, "break %lx", static_cast<unsigned long>(address));
    gdb.say(line);
  }
  gdb.say("go");
  for (std::vector<std::string> words = gdb.hear(); words[0] == "stop"; words = gdb.hear()) {
    stop(gdb, words);
    gdb.say("next");
  }
  return counts_;
}

void compare(const std::string& command, const char* text, std::vector<std::string> globals,
             const std::string& then = "true") {
  SCOPED_TRACE(command);
  Program program(command, text, then);
  ASSERT_TRUE(program.values && program.binary->debug_info());
  Counts c = Comparison(program, std::move(globals)).run();
  std::printf("%s: %d stops, %d equal, %d unequal, %d only gdb, %d only acu, %d neither\n", command.c_str(),
              c.stops, c.equal, c.unequal, c.only_gdb, c.only_acu, c.neither);
  EXPECT_GT(c.stops, 20);
  EXPECT_GT(c.equal, 100);
  EXPECT_EQ(c.unequal, 0);
}

const std::vector<std::string> globals_c = {"counter", "hidden",    "table",
                                            "whole",   "of_thread", "more_of_thread"};
const std::vector<std::string> globals_cc = {"shop::opened", "shop::Named::count"};

} // namespace

TEST(UserValues, AgreeWithGdbInCPlain) { compare("gcc -g -O0", samples::values_c, globals_c); }
TEST(UserValues, AgreeWithGdbInCOptimised) { compare("gcc -g -O2", samples::values_c, globals_c); }
TEST(UserValues, AgreeWithGdbInCInlinedAndFixed) {
  compare("gcc -gdwarf-4 -O3 -no-pie", samples::values_c, globals_c);
}
TEST(UserValues, AgreeWithGdbInCSplit) { compare("gcc -g -gsplit-dwarf -O2", samples::values_c, globals_c); }
TEST(UserValues, AgreeWithGdbInCLinkedAsAWhole) { compare("gcc -g -O2 -flto", samples::values_c, globals_c); }
TEST(UserValues, AgreeWithGdbInCPacked) {
  compare("gcc -g -gdwarf-4 -gsplit-dwarf -O2", samples::values_c, globals_c,
          "dwp -e values -o values.dwp && rm *.dwo");
}
TEST(UserValues, AgreeWithGdbInCSplitOld) {
  compare("gcc -g -gdwarf-4 -gsplit-dwarf -O2", samples::values_c, globals_c);
}
TEST(UserValues, AgreeWithGdbInCOfClang) {
  if (std::system("clang --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "clang is not installed";
  compare("clang -w -g -O1", samples::values_c, globals_c);
}
TEST(UserValues, AgreeWithGdbInCcPlain) { compare("g++ -g -O0", samples::values_cc, globals_cc); }
TEST(UserValues, AgreeWithGdbInCcOptimised) { compare("g++ -g -O2", samples::values_cc, globals_cc); }
