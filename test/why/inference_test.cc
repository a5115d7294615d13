// Rule files of users, good and bad: what they may do, how mistakes are reported, and that neither time, memory nor foreign bytes get out of hand.
#include "base/clock.h"
#include "scratch.h"
#include "why/case_file.h"

#include "why/inference.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace why;
using why_test::make_fact;

namespace {

constexpr char language[] = "(deftemplate evidence (slot cause) (slot subject) (slot side (default for)) (slot decisive (default no)) (slot by) (slot text))\n";

// Hosts that run tests are shared: not the time on the wall.
uint64_t cpu_ms() { return base::clock_ns(CLOCK_PROCESS_CPUTIME_ID) / 1'000'000; }

std::string mistake_in(const std::string& text) {
  Inference inference;
  inference.load_own();
  const base::Status loaded = inference.load(text, "mine.clp");
  return loaded.ok() ? "" : loaded.error().message;
}

// Facts of one process, named as given, and a rule that repeats the name.
Conclusions repeat_name(const std::string& name) {
  Inference inference;
  inference.load_own();
  EXPECT_TRUE(inference.load("(defrule repeat (process (by ?by) (name ?name)) => (suppose repeated \"host\" ?by ?name))", "mine.clp").ok());
  Fact fact = make_fact("processes", "process pid=1");
  fact.slots.emplace_back("name", name);
  inference.add(fact);
  return inference.run();
}

std::string mistake_in_folder(const Scratch& folder) {
  Inference inference;
  inference.load_own();
  const base::Status loaded = inference.load_folder(folder.folder());
  return loaded.ok() ? "" : loaded.error().message.substr(loaded.error().message.find(folder.folder()) + folder.folder().size());
}

} // namespace

TEST(Inference, ConcludesFromFacts) {
  Inference inference;
  inference.load_own();
  ASSERT_TRUE(inference.load("(defrule mine (process (by ?by) (pid ?pid) (cpu ?cpu&:(> ?cpu 3))) =>\n"
                             "  (see mine (process-subject ?pid) ?by (str-cat \"uses \" (number ?cpu) \" CPUs\"))\n"
                             "  (explain mine (process-subject ?pid) (create$ slow) 0.5 0.4 0.6 \"half\")\n"
                             "  (ask mine (process-subject ?pid) waits (target ?pid) 7 \"more\")\n"
                             "  (ask mine (process-subject ?pid) locks (target ?pid) 9 \"still more\")\n"
                             "  (follows mine (process-subject ?pid) leak \"host\"))", "mine.clp").ok());
  inference.add(make_fact("processes", "process pid=7 cpu=3.5"));
  inference.add(make_fact("processes", "process pid=8 cpu=2"));
  const Conclusions c = inference.run();
  const About about = {"mine", "process 7"};
  ASSERT_EQ(c.evidence.size(), 1u);
  EXPECT_EQ(c.evidence[0].about, about);
  EXPECT_TRUE(c.evidence[0].supports);
  EXPECT_TRUE(c.evidence[0].is_decisive);
  EXPECT_EQ(c.evidence[0].measurement, "processes");
  EXPECT_EQ(c.evidence[0].text, "uses 3.5 CPUs");
  ASSERT_EQ(c.explanations.size(), 1u);
  EXPECT_EQ(c.explanations[0].low, 0.4);
  EXPECT_EQ(c.explanations[0].high, 0.6);
  ASSERT_EQ(c.needs.size(), 2u);
  EXPECT_EQ(c.needs[0].measurement, "locks");
  EXPECT_EQ(c.needs[0].target, "7");
  ASSERT_EQ(c.effects.size(), 1u);
  EXPECT_EQ(c.effects[0].effect, (About{"leak", "host"}));
  EXPECT_EQ(c.stopped, "");
}

// A need is gone once it is met, and evidence that rests on an absence goes with it.
TEST(Inference, ConcludesFromLaterFacts) {
  Inference inference;
  inference.load_own();
  inference.add(make_fact("", "request kind=slow pid=7"));
  inference.add(make_fact("processes", "process pid=7 busiest=0.9 cpu=0.9"));
  const auto needs_profile = [](const Conclusions& c) {
    return std::any_of(c.needs.begin(), c.needs.end(), [](const Need& n) { return n.measurement == "cpu-profile"; });
  };
  const auto contradicts = [](const Conclusions& c) { return std::any_of(c.evidence.begin(), c.evidence.end(), [](const Evidence& e) { return !e.supports; }); };
  EXPECT_TRUE(needs_profile(inference.run()));
  inference.add(make_fact("cpu-profile", "measured pid=7"));
  const Conclusions flat = inference.run();
  EXPECT_FALSE(needs_profile(flat));
  EXPECT_TRUE(contradicts(flat));
  inference.add(make_fact("cpu-counters", "hot-function pid=7 name=f share=0.8 low=0.7 high=0.9"));
  EXPECT_FALSE(contradicts(inference.run()));
}

TEST(Inference, NumbersHaveUnits) {
  Inference inference;
  inference.load_own();
  ASSERT_TRUE(inference.load("(defrule r (process) => (suppose r \"host\" processes (str-cat (percent 0.784) \" \" (percent 0.0004) \" \" (percent 1) \" \"\n"
                             "(duration 999) \" \" (duration 12345678) \" \" (duration 2.5e9) \" \" (duration 0) \" \" (bytes 3) \" \" (bytes 3210000) \" \"\n"
                             "(number 12.34) \" \" (number 123456.7) \" \" (number 0.5) \" \" (number -3) \" \" (number 1e300))))", "mine.clp").ok());
  inference.add(make_fact("processes", "process pid=1"));
  const Conclusions c = inference.run();
  ASSERT_EQ(c.evidence.size(), 1u);
  EXPECT_EQ(c.evidence[0].text, "78.4% 0% 100% 999 ns 12.3 ms 2.5 s 0 ns 3 bytes 3.21 MB 12.3 123457 0.5 -3 1e+300");
}

TEST(Inference, NamesMayHaveAnyBytes) {
  for (const auto& [name, shown] : std::vector<std::pair<std::string, std::string>>{
           {"a \"b\" (c) ?d $e ;f", "a \"b\" (c) ?d $e ;f"},
           {"two\nlines\t\x1b[31m", "two\\nlines\\t\\x1b[31m"},
           {std::string("nul\0byte", 8), "nul\\x00byte"},
           {"\xff\xfe caf\xc3\xa9", "\\xff\\xfe caf\xc3\xa9"},
           {"back\\slash", "back\\slash"},
           {"(defrule x => (assert (evidence)))", "(defrule x => (assert (evidence)))"},
           {std::string(100000, 'x'), std::string(100000, 'x')},
       }) {
    const Conclusions c = repeat_name(name);
    ASSERT_EQ(c.evidence.size(), 1u);
    EXPECT_EQ(c.evidence[0].text, shown);
  }
}

TEST(Inference, NumbersMayBeNone) {
  Inference inference;
  inference.load_own();
  for (double n : {1.0 / 0.0, -1.0 / 0.0, 0.0 / 0.0}) {
    Fact fact = make_fact("processes", "process pid=1");
    fact.slots.emplace_back("busiest", n);
    inference.add(fact);
  }
  Fact huge = make_fact("processes", "process pid=2");
  huge.slots.emplace_back("rss", std::numeric_limits<int64_t>::min());
  huge.slots.emplace_back("rss_growth", 1e300);
  huge.slots.emplace_back("uptime", 1e300);
  inference.add(huge);
  EXPECT_TRUE(inference.run().mistakes.empty());
}

TEST(Inference, MistakesHaveFileLineAndCause) {
  struct Mistake {
    const char* text;
    const char* message;
  };
  for (const Mistake& m : {
           Mistake{"(defrule a\n  (process (pid ?pid)\n  =>\n", "mine.clp:1: this parenthesis is never closed"},
           {"(defrule a\n  (process))\n)", "mine.clp:3: `)` without `(`"},
           {"\n\n(defrul a (process) =>)", "mine.clp:3: `defrul` is not allowed here; rule files have defrule, deffunction, deftemplate and defglobal"},
           {"hello", "mine.clp:1: expected `(`, found `hello`"},
           {"(defrule a\n\n  (proces (pid 1)) =>)", "mine.clp:3: there is no kind of fact `proces`; did you mean `process`?"},
           {"(defrule a (not (and (process) (zzzzzzzzzz))) =>)", "mine.clp:1: there is no kind of fact `zzzzzzzzzz`"},
           {"(defrule a (process) => (assert (evidenc (cause x))))", "mine.clp:1: there is no kind of fact `evidenc`; did you mean `evidence`?"},
           {"(defrule a\n  (process (pit 1)) =>)", "mine.clp:2: Invalid slot pit not defined in corresponding deftemplate process, at `(process (pit`"},
           {"(defrule a (process (pid \"x\")) =>)", "mine.clp:1: A literal restriction value"},
           {"(defrule a (process) => (nothing 1))", "mine.clp:1: Missing function declaration for nothing"},
           {"(defrule a (process) => (abs))", "mine.clp:1: Function abs expected exactly 1 argument(s)"},
           {"(defrule a (process (pid ?x)) => (abs ?y))", "mine.clp:1: Undefined variable y referenced in RHS of defrule"},
           {"(defrule leak-sign (process) =>)", "mine.clp:1: defrule `leak-sign` is already defined in leak.clp"},
           {"(defrule a (process) =>)\n(defrule a (process) =>)", "mine.clp:2: defrule `a` is already defined in mine.clp"},
           {"(deffunction f (?x)\n  (f ?x))", "mine.clp:2: function `f` calls itself"},
           {"(deffunction f (?x) \"text", "mine.clp:1: this string is never closed"},
           {"\n(defglobal ?*x* = (while TRUE do 1))", "mine.clp:2: a computation without end"},
           {"(defclass A (is-a USER))", "mine.clp:1: `defclass` is not allowed here"},
           {"(defmodule M)", "mine.clp:1: `defmodule` is not allowed here"},
           {"(deffacts f (process))", "mine.clp:1: `deffacts` is not allowed here"},
           {"(system \"true\")", "mine.clp:1: `system` is not allowed here"},
       }) {
    EXPECT_EQ(mistake_in(m.text).substr(0, std::string_view(m.message).size()), m.message) << m.text;
  }
  EXPECT_EQ(mistake_in("(defrule a (process) => " + std::string(200, '(') + std::string(200, ')') + ")").substr(0, 22), "mine.clp:1: nested dee");
  EXPECT_EQ(mistake_in(std::string("(defrule a\n\0 (process) =>)", 25)), "mine.clp:2: not a text: it has \\x00");
  EXPECT_EQ(mistake_in("(defrule a\n (process) =>) ; caf\xe9"), "mine.clp:2: not a text: it has \\xe9");
  EXPECT_EQ(mistake_in(std::string(2 << 20, ' ')), "mine.clp:1: the file is larger than 1 MiB");
}

TEST(Inference, GoodFilesLoad) {
  EXPECT_EQ(mistake_in(""), "");
  EXPECT_EQ(mistake_in("; a comment ( \" only"), "");
  EXPECT_EQ(mistake_in("(deftemplate mine (slot a))\n(defrule make (process (pid ?p)) => (assert (mine (a ?p))))\n"
                       "(defrule use \"with ( in its text \\\" and ;\" ?f <- (mine (a ?a&:(not (= ?a 1))|3)) (test (or (> ?a 0) (not (< ?a 5)))) (exists (process (pid ?a)))\n"
                       " => (retract ?f))"), "");
}

// A rule file is data: nothing that reads, writes, runs, waits, ends or evaluates other text.
TEST(Inference, RulesReachNothingOutside) {
  for (const char* call : {"(system \"touch /tmp/x\")", "(open \"/etc/passwd\" f)", "(load \"x\")", "(load* \"x\")", "(batch \"x\")", "(batch* \"x\")", "(remove \"x\")",
                           "(rename \"x\" \"y\")", "(exit)", "(save \"x\")", "(bsave \"x\")", "(bload \"x\")", "(save-facts \"x\")", "(load-facts \"x\")", "(dribble-on \"x\")",
                           "(constructs-to-c \"x\" 1)", "(read)", "(readline)", "(read-number)", "(get-char)", "(printout t 1)", "(format nil \"%1000d\" 1)", "(put-char 1)", "(close)",
                           "(eval \"1\")", "(build \"1\")", "(funcall abs 1)", "(assert-string \"(process)\")", "(load-facts \"x\")", "(time)", "(random)", "(gensym)",
                           "(run)", "(reset)", "(clear)", "(halt)", "(undefrule *)", "(undeffunction *)", "(watch all)", "(mod 1 0)", "(div 1 0)", "(operating-system)",
                           "(new x)", "(call x)", "(make-instance x)", "(send x)", "(fetch \"x\")", "(print-region a b)", "(get-function-list)", "(set-strategy random)"}) {
    const std::string message = mistake_in("(defrule a (process) => " + std::string(call) + ")");
    const std::string name(call + 1, std::string_view(call).find_first_of(" )") - 1);
    EXPECT_NE(message.find("Missing function declaration for " + name), message.npos) << call << ": " << message;
  }
}

// Whatever rules do, CLIPS prints nothing.
TEST(Inference, PrintsNothing) {
  char path[] = "/tmp/acu_output_XXXXXX";
  const int file = mkstemp(path);
  ASSERT_GE(file, 0);
  unlink(path);
  fflush(stdout);
  fflush(stderr);
  const int out = dup(1), err = dup(2);
  dup2(file, 1);
  dup2(file, 2);
  mistake_in("(defrule a (process (pit 1)) =>)");
  {
    Inference inference;
    inference.load_own();
    const base::Status loaded = inference.load("(defrule a (process (pid ?p)) => (/ 1 ?p) (nth$ 9 (create$)))\n(defrule b (process (pid ?p&:(> (/ 1 ?p) 0))) =>)", "mine.clp");
    inference.add(make_fact("processes", "process pid=0"));
    inference.run(3);
    if (!loaded.ok()) dprintf(2, "not loaded: %s\n", loaded.error().message.c_str());
  }
  fflush(stdout);
  fflush(stderr);
  dup2(out, 1);
  dup2(err, 2);
  close(out);
  close(err);
  char text[1000] = {};
  EXPECT_EQ(pread(file, text, sizeof text - 1, 0), 0) << text;
  close(file);
}

TEST(Inference, MistakesOfRulesThatRunAreReported) {
  Inference inference;
  inference.load_own();
  ASSERT_TRUE(inference.load("(defrule divides (process (pid ?p)) => (suppose x \"host\" processes (str-cat (/ 1 ?p))))\n"
                             "(defrule matches (process (pid ?p&:(> (/ 1 ?p) 0))) =>)\n"
                             "(defrule invents (process) => (ask y \"host\" tea-leaves \"\" 1 \"the future\"))\n"
                             "(defrule works (process (by ?by)) => (suppose z \"host\" ?by \"fine\"))", "mine.clp").ok());
  inference.add(make_fact("processes", "process pid=0"));
  const Conclusions c = inference.run();
  const auto has = [&](std::string_view text) { return std::find(c.mistakes.begin(), c.mistakes.end(), text) != c.mistakes.end(); };
  EXPECT_TRUE(has("rule divides: Attempt to divide by zero in / function"));
  EXPECT_TRUE(has("rule matches: Attempt to divide by zero in / function"));
  EXPECT_TRUE(has("rules of y: there is no measurement `tea-leaves`"));
  EXPECT_EQ(c.mistakes.size(), 3u) << testing::PrintToString(c.mistakes);
  EXPECT_TRUE(std::any_of(c.evidence.begin(), c.evidence.end(), [](const Evidence& e) { return e.about.cause == "z"; }));
  EXPECT_TRUE(c.needs.empty());
  EXPECT_TRUE(inference.run().mistakes.size() == 1) << "only what is still there: the unknown measurement";
}

TEST(Inference, EndlessRulesAreStoppedAndNamed) {
  for (const char* rules : {
           "(deftemplate tick (slot n))\n(defrule begins (process) => (assert (tick (n 0))))\n(defrule endless ?t <- (tick (n ?n)) => (modify ?t (n (+ ?n 1))))",
           "(defrule endless (process) => (while TRUE do (abs 1)))",
           "(defrule endless (process) => (loop-for-count (?i 1 1000000000) do (bind ?x ?i)))",
           "(deffunction forever () (while TRUE do 1))\n(defrule endless (process) => (forever))",
       }) {
    Inference inference;
    inference.load_own();
    ASSERT_TRUE(inference.load(rules, "mine.clp").ok());
    inference.add(make_fact("processes", "process pid=1"));
    const uint64_t begin = cpu_ms();
    const Conclusions c = inference.run(100'000);
    EXPECT_EQ(c.stopped, "endless") << rules;
    EXPECT_LT(cpu_ms() - begin, 30'000u);
  }
}

TEST(Inference, EndlessConditionsAreStopped) {
  Inference inference;
  inference.load_own();
  ASSERT_TRUE(inference.load("(deffunction forever () (while TRUE do 1))\n(defrule endless (process (pid ?p&:(forever))) =>)", "mine.clp").ok());
  inference.add(make_fact("processes", "process pid=1"));
  const Conclusions c = inference.run();
  EXPECT_EQ(c.mistakes, std::vector<std::string>{"a rule's conditions: a computation without end"});
}

TEST(Inference, GrowingTextsAreStopped) {
  Inference inference;
  inference.load_own();
  ASSERT_TRUE(inference.load("(defrule endless (process) => (bind ?x \"xxxxxxxxxxxxxxxx\") (while TRUE do (bind ?x (str-cat ?x ?x))))", "mine.clp").ok());
  inference.add(make_fact("processes", "process pid=1"));
  EXPECT_EQ(inference.run().stopped, "endless");
}

TEST(Inference, FolderIsLoadedInTheOrderOfNames) {
  const Scratch folder;
  folder.write("b.clp", "(defrule b (mine) =>)");
  folder.write("a.clp", "(deftemplate mine)");
  folder.write("notes.txt", "not a rule");
  EXPECT_EQ(mistake_in_folder(folder), "");
  folder.write("0.clp", "(defrule zero (mine) =>)");
  EXPECT_EQ(mistake_in_folder(folder), "/0.clp:1: there is no kind of fact `mine`");
}

TEST(Inference, FolderWithoutRules) {
  const Scratch folder;
  EXPECT_EQ(mistake_in_folder(folder), ": no rules there: no file with the ending .clp");
  Inference inference;
  const base::Status missing = inference.load_folder(folder.folder() + "/missing");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().message, folder.folder() + "/missing: No such file or directory");
}

TEST(Inference, FolderWithUnreadableFiles) {
  const Scratch folder;
  std::filesystem::create_directory(folder.folder() + "/folder.clp");
  EXPECT_NE(mistake_in_folder(folder).find("Is a directory"), std::string::npos);
  const Scratch dangling;
  std::filesystem::create_symlink("/nowhere", dangling.folder() + "/a.clp");
  EXPECT_NE(mistake_in_folder(dangling).find("No such file or directory"), std::string::npos);
  const Scratch binary;
  binary.write("a.clp", std::string("\x7f" "ELF\x02\x01\x01\0", 8));
  EXPECT_EQ(mistake_in_folder(binary), "/a.clp:1: not a text: it has \\x7f");
}

TEST(Inference, TwoAtOnce) {
  Inference a, b;
  a.load_own();
  ASSERT_TRUE(a.load("(defrule only-a (process) => (suppose a \"host\" processes \"a\"))", "a.clp").ok());
  ASSERT_TRUE(b.load(language, "b.clp").ok());
  ASSERT_TRUE(b.load("(defrule only-b (process) => (assert (evidence (cause b) (subject \"host\") (by processes) (text \"b\"))))", "b.clp").ok());
  a.add(make_fact("processes", "process pid=1"));
  b.add(make_fact("processes", "process pid=1"));
  const Conclusions from_a = a.run(), from_b = b.run();
  ASSERT_EQ(from_a.evidence.size(), 1u);
  EXPECT_EQ(from_a.evidence[0].about.cause, "a");
  ASSERT_EQ(from_b.evidence.size(), 1u);
  EXPECT_EQ(from_b.evidence[0].about.cause, "b");
}

TEST(Inference, MemoryIsFreed) {
  const auto round = [] {
    Inference inference;
    inference.load_own();
    for (int i = 0; i < 200; i++) inference.add(make_fact("processes", "process pid=" + std::to_string(i) + " busiest=0.9 name=process" + std::to_string(i)));
    inference.run();
  };
  for (int i = 0; i < 5; i++) round();
  const auto resident = [] {
    long pages = 0, rss = 0;
    std::ifstream("/proc/self/statm") >> pages >> rss;
    return rss * getpagesize();
  };
  const long before = resident();
  for (int i = 0; i < 20; i++) round();
  EXPECT_LT(resident() - before, 4 << 20);
}

// A large host, and facts that rules join with each other.
TEST(Inference, ManyFacts) {
  Inference inference;
  inference.load_own();
  inference.add(make_fact("", "request kind=slow pid=-1"));
  inference.add(make_fact("system", "host-cpu cpus=64 busy=0.9 busiest=1 forks=100"));
  inference.add(make_fact("system", "network retransmits=0.02 segments=1000 listen_overflows=1 connect_failures=1"));
  const uint64_t begin = cpu_ms();
  for (int i = 0; i < 4000; i++) {
    const std::string pid = "pid=" + std::to_string(i);
    inference.add(make_fact("processes", "process " + pid + " name=p busiest=" + (i % 10 ? "0.1" : "0.95") + " user=0.9 cpu=0.5 threads=3 run_delay=0.3 cgroup=/c" + std::to_string(i % 50)));
    inference.add(make_fact("syscalls", "syscall " + pid + " call=futex rate=3000 time=0.4"));
    inference.add(make_fact("syscalls", "syscall " + pid + " call=read rate=3000 time=0.4"));
    inference.add(make_fact("cpu-profile", "hot-function " + pid + " name=f share=0.3 low=0.2 high=0.4"));
    inference.add(make_fact("cpu-profile", "measured " + pid));
  }
  for (int i = 0; i < 50; i++) inference.add(make_fact("cgroups", "cgroup name=/c" + std::to_string(i) + " cpu=0.5"));
  const Conclusions c = inference.run();
  EXPECT_EQ(c.stopped, "");
  EXPECT_TRUE(c.mistakes.empty());
  EXPECT_GT(c.evidence.size(), 2000u);
  EXPECT_LT(cpu_ms() - begin, 60'000u);
}
