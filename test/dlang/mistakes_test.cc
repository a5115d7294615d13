// Scripts with mistakes: one clear error each, with its place in the D file, and nothing that crashes or hangs.
#include "dlang/run_d.h"

#include <gtest/gtest.h>

namespace {

struct Case {
  const char* script;
  const char* place; // test.d:LINE:COLUMN
  const char* message;
};

constexpr Case cases[] = {
    {"", "test.d:1:1", "this script has no probes"},
    {"BEGIN {", "test.d:1:8", "expected `}`"},
    {"BEGIN { x = ; }", "test.d:1:13", "expected an expression"},
    {"BEGIN { printf(\"%d\"); }", "test.d:1:9", "the format takes 1 value, and there are 0"},
    {"BEGIN { printf(\"%d\", \"a\"); }", "test.d:1:22", "%d prints numbers"},
    {"BEGIN { printf(\"%s\", 1); }", "test.d:1:22", "%s prints strings"},
    {"BEGIN { printf(\"%q\", 1); }", "test.d:1:16", "%q is not a conversion"},
    {"BEGIN { printf(\"%f\", 1); }", "test.d:1:16", "floating point"},
    {"BEGIN { printf(x); }", "test.d:1:9", "takes a format"},
    {"BEGIN { trace(x); }", "test.d:1:15", "there is no variable `x`"},
    {"BEGIN { trace(self->x); }", "test.d:1:15", "is not assigned anywhere"},
    {"BEGIN { trace(execnam); }", "test.d:1:15", "did you mean `execname`?"},
    {"BEGIN { trace(ipl); }", "test.d:1:15", "`ipl` is not available on Linux"},
    {"BEGIN { trace(1 / 0); }", "test.d:1:15", "divides by 0"},
    {"BEGIN { trace(\"a\" + 1); }", "test.d:1:15", "a string and a number"},
    {"BEGIN { trace(\"a\" + \"b\"); }", "test.d:1:15", "strings have no `+`"},
    {"BEGIN { trace(@a); }", "test.d:1:9", "an aggregation has none"},
    {"BEGIN { @a = 5; }", "test.d:1:9", "it takes an aggregating function"},
    {"BEGIN { @a = count(1); }", "test.d:1:14", "takes 0 arguments"},
    {"BEGIN { @a = sum(\"a\"); }", "test.d:1:14", "takes a number"},
    {"BEGIN { @a = count(); @a = sum(1); }", "test.d:1:28", "has another function elsewhere"},
    {"BEGIN { @a[1] = count(); @a[1, 2] = count(); }", "test.d:1:26", "has 1 key elsewhere, not 2"},
    {"BEGIN { @a = lquantize(1, 10, 0, 1); }", "test.d:1:14", "upper bound"},
    {"BEGIN { @a = llquantize(1, 1, 0, 2, 10); }", "test.d:1:14", "the factor must be"},
    {"BEGIN { printa(@nothing); }", "test.d:1:16", "there is no aggregation @nothing"},
    {"BEGIN { printa(); }", "test.d:1:9", "printa() takes an aggregation"},
    {"BEGIN { x = count(); }", "test.d:1:13", "is an aggregating function"},
    {"BEGIN { pid = 5; }", "test.d:1:9", "`pid` cannot be assigned"},
    {"BEGIN { *(int *)5 = 1; }", "test.d:1:9", "only variables can be assigned"},
    {"BEGIN { x = \"a\"; x = 1; }", "test.d:1:18", "is a string, this is a number"},
    {"BEGIN { nosuch(1); }", "test.d:1:9", "there is no function `nosuch`"},
    {"BEGIN { system(\"true\"); }", "test.d:1:9", "destructive action"},
    {"BEGIN { raise(9); }", "test.d:1:9", "raise() is a destructive action"},
    {"BEGIN { stop(); }", "test.d:1:9", "stop() is a destructive action"},
    {"BEGIN { copyout(0, 0, 1); }", "test.d:1:9", "copyout() is a destructive action"},
    {"BEGIN { chill(1); }", "test.d:1:9", "chill() is a destructive action"},
    {"#pragma D option destructive\nBEGIN { copyout(0, 0, 1); }", "test.d:2:9", "`copyout` is not supported: it would change the traced program"},
    {"#pragma D option destructive\nBEGIN { copyoutstr(\"a\", 0, 1); }", "test.d:2:9", "would change the traced program"},
    {"#pragma D option destructive\nBEGIN { chill(1); }", "test.d:2:9", "would change the traced program"},
    {"BEGIN { freopen(\"/tmp/x\"); }", "test.d:1:9", "freopen() is a destructive action: it writes to a file"},
    {"BEGIN { setopt(\"nosuch\"); }", "test.d:1:16", "there is no option `nosuch`"},
    {"BEGIN { setopt(\"strsize\", \"4k\"); }", "test.d:1:16", "cannot change while the script runs"},
    {"BEGIN { setopt(\"aggsortpos\", \"x\"); }", "test.d:1:30", "`x` is not a value"},
    {"BEGIN { setopt(\"switchrate\", \"soon\"); }", "test.d:1:30", "`soon` is not a value"},
    {"BEGIN { setopt(execname); }", "test.d:1:16", "as a string literal"},
    {"BEGIN { trace(json(5, \"a\")); }", "test.d:1:20", "takes a string"},
    {"BEGIN { trace(json(\"{}\", execname)); }", "test.d:1:26", "the element as a string literal"},
    {"BEGIN { trace(json(\"{}\", \"a[x]\")); }", "test.d:1:26", "is not an element of JSON"},
    {"BEGIN { print(curpsinfo); }", "test.d:1:9", "use a member"},
    {"BEGIN { copyinto(0, 4, this->p); }", "test.d:1:24", "memory of alloca()"},
    {"BEGIN { panic(); }", "test.d:1:9", "crash the system"},
    {"BEGIN { while (1) { } }", "test.d:1:9", "D has no `while`"},
    {"BEGIN { trace($1); }", "test.d:1:15", "macro argument $1 is missing"},
    {"BEGIN { trace($nothing); }", "test.d:1:15", "there is no macro variable $nothing"},
    {"BEGIN { trace($target); }", "test.d:1:15", "$target is the process of -p or -c"},
    {"syscall::nosuchcall:entry", "test.d:1:1", "there is no system call `nosuchcall`"},
    {"syscall::reed:entry", "test.d:1:1", "did you mean `read`?"},
    {"syscall::read:middle", "test.d:1:1", "has no probe `middle`"},
    {"nosuch:::probe", "test.d:1:1", "there is no provider `nosuch`"},
    {"plockstat:::mutex-block", "test.d:1:1", "is not supported on Linux"},
    {"mib:::tcpInErrs", "test.d:1:1", "is not supported on Linux"},
    {"io:::nothing", "test.d:1:1", "it has start, done"},
    {"sysinfo:::rawch", "test.d:1:1", "it has readch"},
    {"pid:libc:malloc:entry", "test.d:1:1", "the provider pid needs a process"},
    {"profile-zero", "test.d:1:1", "is not a rate"},
    {"tick-0", "test.d:1:1", "is not a rate"},
    {"a:b:c:d:e", "test.d:1:1", "more than four parts"},
    {"fbt:::entry", "test.d:1:1", "every function of the kernel"},
    {"#include <sys/types.h>\nBEGIN", "test.d:1:1", "remove the line, or add -C"},
    {"#define X 1\nBEGIN", "test.d:1:1", "inline int NAME = VALUE;`, or add -C"},
    {"#pragma D option nosuch\nBEGIN", "test.d:1:1", "there is no option `nosuch`"},
    {"#pragma D option encoding=latin1\nBEGIN", "test.d:1:1", "`latin1` is not a value"},
    {"#pragma D option switchrate=soon\nBEGIN", "test.d:1:1", "`soon` is not a value"},
    {"#pragma D option bufsize=big\nBEGIN", "test.d:1:1", "`big` is not a value"},
    {"#pragma D option bufpolicy=best\nBEGIN", "test.d:1:1", "`best` is not a value"},
    {"#pragma D option aggsortpos=x\nBEGIN", "test.d:1:1", "`x` is not a value"},
    {"#pragma D nothing\nBEGIN", "test.d:1:1", "there is no `#pragma D nothing`"},
    {"#error stop here\nBEGIN", "test.d:1:1", "stop here"},
    {"#pragma D option strsize=zero\nBEGIN", "test.d:1:1", "is not a size"},
    {"BEGIN { trace(\"abc", "test.d:1:15", "this string has no end"},
    {"/* open\nBEGIN", "test.d:1:1", "this comment has no end"},
    {"BEGIN { trace(09); }", "test.d:1:15", "is not a number"},
    {"BEGIN { trace(99999999999999999999); }", "test.d:1:15", "does not fit in 64 bits"},
    {"BEGIN { trace(1)\n trace(2); }", "test.d:2:2", "expected `;`"},
    {"BEGIN /x = / { }", "test.d:1:12", "expected"},
    {"BEGIN { \x01 }", "test.d:1:9", "cannot contain"},
    {"struct s { int a; };", "test.d:1:1", "has no probes"},
    {"struct s { int a; int a; };\nBEGIN", "test.d:1:23", "declared twice"},
    {"struct s { int a; };\nstruct s { int a; };\nBEGIN", "test.d:2:1", "defined twice"},
    {"struct s { struct s a; };\nBEGIN", "test.d:1:21", "cannot contain itself"},
    {"struct s { nothing_t a; };\nBEGIN { trace(sizeof (struct s)); }", "test.d:1:12", "unknown type `nothing_t`"},
    {"struct s { int a : 33; };\nBEGIN", "test.d:1:16", "wider than its type"},
    {"struct s { int a; };\nstruct s v;\nBEGIN { trace(v); }", "test.d:3:15", "no value of its own"},
    {"struct s { int a; };\nstruct s v;\nBEGIN { trace(v.b); }", "test.d:3:15", "has no member `b`"},
    {"struct s { int a; };\nstruct s v;\nBEGIN { v = 5; }", "test.d:3:9", "has another type"},
    {"enum e { A, A };\nBEGIN", "test.d:1:13", "defined twice"},
    {"int a[5];\nBEGIN { a[5] = 1; }", "test.d:2:11", "outside of the array"},
    {"int a[x];\nBEGIN", "test.d:1:7", "a positive constant"},
    {"int x;\nstring x;\nBEGIN", "test.d:2:8", "declared with another type"},
    {"float x;\nBEGIN", "test.d:1:1", "no floating point"},
    {"int x = 5;\nBEGIN", "test.d:1:7", "cannot have a value"},
    {"inline int A = 1;\ninline int A = 2;\nBEGIN", "test.d:2:12", "defined twice"},
    {"inline int f[int a] = a;\nBEGIN { trace(f[1, 2]); }", "test.d:2:15", "takes 1 key"},
    {"translator struct o < int x > { a = x; };\nBEGIN { trace(xlate < struct o > (1).b); }", "test.d:2:15", "has no member `b`"},
    {"BEGIN { trace(xlate < struct o > (1).b); }", "test.d:1:15", "no translator"},
    {"BEGIN { else { } }", "test.d:1:9", "has no `if`"},
    {"BEGIN { if 1 { } }", "test.d:1:12", "a condition"},
    {"BEGIN { commit(1); commit(1); }", "test.d:1:20", "one commit()"},
    {"BEGIN { trace(1); commit(1); }", "test.d:1:19", "a clause of its own"},
    {"BEGIN { commit(1); trace(1); }", "test.d:1:20", "cannot follow commit()"},
    {"BEGIN { speculate(1); speculate(1); }", "test.d:1:23", "cannot follow another one"},
    {"BEGIN { speculate(1); @ = count(); }", "test.d:1:23", "cannot be speculative"},
    {"BEGIN { speculate(1); exit(0); }", "test.d:1:23", "cannot be speculative"},
    {"BEGIN { x = 1; y = &x; }", "test.d:1:20", "has no address"},
    {"BEGIN { self = 5; }", "test.d:1:9", "needs the name of a variable"},
    {"BEGIN { trace(sizeof (nosuch_t)); }", "test.d:1:23", "unknown type `nosuch_t`"},
    {"BEGIN { @a = count(); printa(\"%s\", @a); }", "test.d:1:30", "takes 1 key"},
    {"BEGIN { trace(strlen(5)); }", "test.d:1:22", "takes a string"},
    {"BEGIN { trace(strlen(inet_ntoa(5))); }", "test.d:1:22", "made when it is printed"},
    {"BEGIN { trace(lltostr(\"5\")); }", "test.d:1:23", "takes a number"},
    {"BEGIN { trace(lltostr(5, 99)); }", "test.d:1:26", "a constant base"},
    {"BEGIN { trace(strtoll(5)); }", "test.d:1:23", "takes a string"},
    {"BEGIN { trace(strtoll(\"5\", 99)); }", "test.d:1:28", "a constant base"},
    {"BEGIN { stack(-1); }", "test.d:1:15", "number of frames"},
    {"syscall::read:entry { trace(caller); }", "test.d:1:29", "is not available in this probe"},
    {"BEGIN { trace(fds); }", "test.d:1:15", "`fds` needs the number of a descriptor"},
    {"BEGIN { trace(fds[0].name); }", "test.d:1:15", "it has fi_name"},
    {"BEGIN { trace(strtok(\"a\", execname)); }", "test.d:1:27", "separators as a string literal"},
    {"BEGIN { trace(strtok(1, \" \")); }", "test.d:1:22", "takes a string, or NULL"},
    {"inline string t[string s] = strtok(s, \" \");\nBEGIN { trace(t[\"a\"]); }", "test.d:1:29", "a part of an inline definition"},
    {"BEGIN { x[1] = 1; x[1, 2] = 2; }", "test.d:1:19", "`x` has 1 key elsewhere, not 2"},
    {"BEGIN { self->x[1] = 1; trace(self->x); }", "test.d:1:31", "used both with and without keys"},
    {"#pragma D option define=X\nBEGIN", "test.d:1:1", "-C -D NAME=VALUE"},
    {"*:::", "test.d:1:1", "names every probe"},
    {"vfs_*:nothing", "test.d:1:1", "is not a probe that is known by its name alone"},
    {"BEGIN { trace(args[0]); }\nproc:::exec-success { trace(args[0]); }", "test.d:2:29", "is not available here"},
    {"io:::start { trace(arg0); }", "test.d:1:20", "use args[0]"},
    {"syscall::read:return { trace(arg2); }", "test.d:1:30", "are the result"},
    {"io:::start { trace(args[0]->b_nothing); }", "test.d:1:20", "has no member `b_nothing`"},
    {"io:::start { trace(args[0]); }", "test.d:1:14", "use a member"},
    {"BEGIN { trace(pid->x); }", "test.d:1:15", "is a number: it has no members"},
    {"inline int A = B;\ninline int B = A;\nBEGIN { trace(A); }", "test.d:2:16", "is made of itself"},
};

TEST(Mistakes, AreReportedOnceForAllProbesOfAClause) {
  const std::string text = d_test::run("BEGIN, END { trace(nothing); }", {}, false).evaluator;
  EXPECT_EQ(text.find("there is no variable"), text.rfind("there is no variable")) << text;
}

TEST(Mistakes, HaveAPlaceAndAReason) {
  for (const Case& c : cases) {
    const std::string text = d_test::run(c.script, {}, false).evaluator;
    EXPECT_EQ(text.rfind(c.place, 0), 0u) << c.script << "\n" << text;
    EXPECT_NE(text.find(c.message), std::string::npos) << c.script << "\n" << text;
  }
}

// Depth, length and bytes that no script has.
TEST(Mistakes, NothingIsTooMuch) {
  auto repeated = [](const std::string& text, size_t times) {
    std::string out;
    for (size_t i = 0; i < times; i++) out += text;
    return out;
  };
  const std::string scripts[] = {
      "BEGIN { trace(" + repeated("(", 10000) + "1; }",   "BEGIN { trace(" + repeated("-", 10000) + "1); }", "BEGIN { trace(" + repeated("1 + ", 10000) + "1); }",
      "BEGIN { trace(" + repeated("1 ? 1 : ", 10000) + "1); }", repeated("BEGIN {", 1000),                   repeated("\x80", 10000),
      "BEGIN { x" + repeated("[1]", 10000) + " = 1; }",  "BEGIN { trace(x" + repeated("->a", 10000) + "); }", repeated("/", 1000),
      "BEGIN { printf(\"" + repeated("%d", 1000) + "\"); }", "BEGIN { x = " + repeated("x = ", 10000) + "1; }",  repeated("$", 1000),
  };
  for (const std::string& s : scripts) EXPECT_NE(d_test::run(s, {}, false).evaluator, "") << s.substr(0, 60);
}

} // namespace
