// Expressions, variables, strings and clauses of D: what scripts print, the same on both engines. Expected values are those of the D
// language as its manual describes it (Dynamic Tracing Guide: types, operators, variables, formats).
#include "dlang/run_d.h"

#include <gtest/gtest.h>

namespace {

struct Case {
  const char* body; // actions of BEGIN
  const char* expected;
};

constexpr Case numbers[] = {
    {R"(printf("%d", 1);)", "1"},
    {R"(printf("%d", -1);)", "-1"},
    {R"(printf("%i", 42);)", "42"},
    {R"(printf("%d", 2147483647 + 1);)", "-2147483648"},
    {R"(printf("%d", 2147483648);)", "2147483648"},
    {R"(printf("%d", 4294967296);)", "4294967296"},
    {R"(printf("%d", 2147483647L + 1);)", "2147483648"},
    {R"(printf("%u", -1);)", "4294967295"},
    {R"(printf("%u", -1L);)", "18446744073709551615"},
    {R"(printf("%x", -1);)", "ffffffff"},
    {R"(printf("%x %X %o", 255, 255, 8);)", "ff FF 10"},
    {R"(printf("[%5d|%-5d|%05d|%+d]", 42, 42, 42, 42);)", "[   42|42   |00042|+42]"},
    {R"(printf("[%*d|%-*d]", 4, 7, 4, 7);)", "[   7|7   ]"},
    {R"(printf("%#x %%", 16);)", "0x10 %"},
    {R"(printf("%lld %hd %ld", 5, 6, 7);)", "5 6 7"},
    {R"(printf("%c%c", 'A', 66);)", "AB"},
    {R"(printf("%d", 'ab');)", "24930"},
    {R"(printf("%d %d", '\n', '\101');)", "10 65"},
    {R"(printf("%d %d %d %d", 7 / 2, -7 / 2, 7 / -2, -7 / -2);)", "3 -3 -3 3"},
    {R"(printf("%d %d %d", 7 % 3, -7 % 3, 7 % -3);)", "1 -1 1"},
    {R"(x = -9; y = 4; printf("%d %d", x / y, x % y);)", "-2 -1"},
    {R"(printf("%d", 1 << 31);)", "-2147483648"},
    {R"(printf("%d", 1L << 40);)", "1099511627776"},
    {R"(printf("%d", -8 >> 1);)", "-4"},
    {R"(printf("%x", 0xffffffffU >> 4);)", "fffffff"},
    {R"(printf("%d %d", ~0, ~5);)", "-1 -6"},
    {R"(printf("%d %d", !5, !0);)", "0 1"},
    {R"(printf("%d %d %d", 5 > 3, 3 > 5, 3 >= 3);)", "1 0 1"},
    {R"(printf("%d", -1 < 0);)", "1"},
    {R"(printf("%d", -1 < 0U);)", "0"},
    {R"(printf("%d", -1 < 1L);)", "1"},
    {R"(printf("%d %d %d", 1 ^^ 1, 1 ^^ 0, 0 ^^ 0);)", "0 1 0"},
    {R"(printf("%d %d", 1 && 0, 1 || 0);)", "0 1"},
    {R"(printf("%d", 2 > 1 ? 10 : 20);)", "10"},
    {R"(x = 3; printf("%d", x == 1 ? 1 : x == 3 ? 33 : 0);)", "33"},
    {R"(printf("%d %d", (char)300, (unsigned char)-1);)", "44 255"},
    {R"(printf("%d %d", (int8_t)200, (uint16_t)65537);)", "-56 1"},
    {R"(printf("%d", (int)4294967297);)", "1"},
    {R"(printf("%d", (long)(int)-5);)", "-5"},
    {R"(printf("%d %d %d %d", sizeof (int), sizeof (long), sizeof (char), sizeof (int *));)", "4 8 1 8"},
    {R"(printf("%d %d", 0777, 0x1F);)", "511 31"},
    {R"(printf("%d %d %d", 1 + 2 * 3, (1 + 2) * 3, 10 - 4 - 3);)", "7 9 3"},
    {R"(printf("%d %d %d", 12 & 10, 12 | 3, 12 ^ 10);)", "8 15 6"},
    {R"(printf("%d", 1 | 2 == 2);)", "1"},
    {R"(printf("%d", 2 * 3 % 4);)", "2"},
    {R"(x = 5; x += 3; printf("%d ", x); x -= 1; x *= 2; x /= 7; printf("%d", x);)", "8 2"},
    {R"(x = 12; x &= 10; x |= 1; x ^= 3; x <<= 2; x >>= 1; x %= 15; printf("%d", x);)", "5"},
    {R"(x = 1; printf("%d ", x); x++; printf("%d ", x); --x; printf("%d", x);)", "1 2 1"},
    {R"(x = 1; printf("%d ", x++); printf("%d", x);)", "1 2"},
    {R"(x = 1; y = ++x; printf("%d %d", x, y);)", "2 2"},
    {R"(x = y = 7; printf("%d %d", x, y);)", "7 7"},
    {R"(printf("%d", (5, 6) == 6 ? 1 : 0);)", nullptr}, // the comma is no operator of D
    {R"(x = 1.5;)", nullptr},
    {R"(trace(5);)", "5"},
    {R"(trace("text"); trace(-1);)", "text-1"},
    {R"(printf("%d", 10000000000 / 3);)", "3333333333"},
    {R"(printf("%d", -10000000000 / 3);)", "-3333333333"},
    {R"(printf("%u", 18446744073709551615 / 2);)", "9223372036854775807"},
    {R"(printf("%d", 5 - 7);)", "-2"},
    {R"(printf("%u", 5U - 7U);)", "4294967294"},
    {R"(printf("%s", "a\tb\\\"\x41");)", "a\tb\\\"A"},
    {R"(printf("%S", "a\nb");)", "a\\nb"},
    {R"(printf("%S", "q\"b\\\t\001\177 ~");)", "q\\\"b\\\\\\t\\001\\177 ~"},
    {R"(printf("%d %d %d %d %d", SIGKILL, ENOENT, O_CREAT, B_WRITE, CLD_KILLED);)", "9 2 64 256 2"},
    {R"(SIGUSR1 = 3; printf("%d", SIGUSR1);)", "3"},
    {R"(printf("%d %d", sizeof ("abc"), sizeof (ipaddr_t));)", "256 4"},
    {R"(printf("[%5s|%-5s|%.2s]", "abc", "abc", "abc");)", "[  abc|abc  |ab]"},
    {R"(printf("no values\n");)", "no values\n"},
    {R"(printf("%d %s %d", 1, "two", 3);)", "1 two 3"},
    {R"(printf("a" "b" "c");)", "abc"},
};

constexpr Case texts[] = {
    {R"(printf("%d", strlen("hello"));)", "5"},
    {R"(printf("%s", strjoin("ab", "cd"));)", "abcd"},
    {R"(printf("%s", strjoin(strjoin("a", "b"), "c"));)", "abc"},
    {R"(s = "abc"; printf("%s %d", s, strlen(s));)", "abc 3"},
    {R"(printf("%d %d", "a" == "a", "a" == "b");)", "1 0"},
    {R"(printf("%d %d", "a" != "b", "a" < "b");)", "1 1"},
    {R"(s = "x"; s = "longer text"; printf("%s", s);)", "longer text"},
    {R"(printf("%s", 1 ? "yes" : "no");)", "yes"},
    {R"(s = "abc"; printf("%s", s == "abc" ? "same" : "other");)", "same"},
    {R"(printf("%s", substr("abcdef", 2));)", "cdef"},
    {R"(printf("%s", substr("abcdef", 2, 3));)", "cde"},
    {R"(printf("%s", substr("abcdef", -2));)", "ef"},
    {R"(printf("[%s]", substr("abc", 5));)", "[]"},
    {R"(printf("[%s]", substr("abc", 0, 0));)", "[]"},
    {R"(printf("%d %d", index("abcabc", "c"), index("abc", "x"));)", "2 -1"},
    {R"(printf("%d %d %d", rindex("abcabc", "b", 3), rindex("abcabc", "b", 4), rindex("abc", "a", -1));)", "1 4 -1"},
    {R"(printf("[%s][%s][%s][%s]", substr("abc", -5), substr("abc", -5, 3), substr("abcdef", 1, -2), substr("abc", 1, -9));)", "[abc][a][bcd][]"},
    {R"(x = 1; printf("%s %s", substr("abcdef", x, 3), substr("abcdef", -x, 1));)", "bcd f"},
    {R"(printf("%s %s %s", basename("a//"), basename("//"), basename("/a//b/"));)", "a / b"},
    {R"(printf("%s %s %s %s", dirname("a//"), dirname("//"), dirname("/a//b/"), dirname(""));)", ". / /a ."},
    {R"(printf("%s,", strtok(",,ab,c;d", ",;")); printf("%s,", strtok(NULL, ",")); printf("%s,", strtok(NULL, ";")); printf("%d", strtok(NULL, ";") == NULL);)", "ab,c;d,,1"},
    {R"(s = "one two"; this->t = strtok(s, " "); printf("%s|%s|%s", s, this->t, strtok(NULL, " "));)", "one two|one|two"},
    {R"(printf("%s %s", inet_ntoa(0x0100007f), inet_ntop(AF_INET, 0x0100007f));)", "127.0.0.1 127.0.0.1"},
    {R"(printf("%d", rindex("abcabc", "b"));)", "4"},
    {R"(s = "a/b/c"; printf("%d", rindex(s, "/"));)", "3"},
    {R"(printf("%s %s %s", toupper("Abc-z9"), tolower("ABc[Z"), toupper(""));)", "ABC-Z9 abc[z "},
    {R"(printf("%s %s %s %s", cleanpath("/a//b/./c/../d"), cleanpath("/../x"), cleanpath("/a/"), cleanpath("/"));)", "/a/b/d /x /a/ /"},
    {R"(printf("%s %s [%s]", cleanpath("a/./b"), cleanpath("/a/b/../.."), cleanpath(""));)", "a/b / []"},
    {R"(printf("%s", strstr("hello world", "wor"));)", "world"},
    {R"(printf("%s", strchr("a/b/c", '/'));)", "/b/c"},
    {R"(printf("%s", strrchr("a/b/c", '/'));)", "/c"},
    {R"(printf("%d %d", strstr("abc", "b") != NULL, strstr("abc", "x") == NULL);)", "1 1"},
    {R"(printf("%s", basename("/usr/lib/libc.so"));)", "libc.so"},
    {R"(printf("%s %s", basename("/usr/lib/"), basename("file"));)", "lib file"},
    {R"(printf("%s %s", dirname("/usr/lib"), dirname("file"));)", "/usr ."},
    {R"(printf("%s", dirname("/usr"));)", "/"},
    {R"(printf("%s", stringof("abc"));)", "abc"},
    {R"(printf("%s %s", probeprov, probename);)", "dtrace BEGIN"},
    {R"(printf("[%s][%s]", probefunc, probemod);)", "[][]"},
    {R"(printf("%s", zonename);)", "global"},
    {R"(printf("%d", pid == $pid);)", "1"},
    {R"(printf("%d", tid > 0 && cpu >= 0 && timestamp > 0);)", "1"},
    {R"(printf("%d", walltimestamp > 1500000000000000000);)", "1"},
    {R"(printf("%d", strlen(execname) > 0);)", "1"},
    {R"(printf("%d", curpsinfo->pr_pid == pid && curlwpsinfo->pr_lwpid == tid);)", "1"},
    {R"(printf("%x %x", htons(0x1234), htonl(0x12345678));)", "3412 78563412"},
    {R"(printf("%d %d", getmajor(0x800001), getminor(0x800001));)", "8 1"},
    {R"(printf("%d", arg0);)", "0"},
    {R"(printf("%d %d %d %d", strtoll("42"), strtoll(" -17x"), strtoll("0x1f", 16), strtoll("77", 8));)", "42 -17 31 63"},
    {R"(printf("%d %d", index("abcabc", "c", 3), index("abc", "a", 1));)", "5 -1"},
    {R"(s = strstr("abc", "x"); printf("%d %d", s == NULL, s != NULL);)", "1 0"},
    {R"(s = "abc"; printf("%c", s[1]);)", "b"},
    {R"(printf("%d", epid == id);)", "1"},
    {R"(print(5); print(0); print(-1); print((uint8_t)7);)", "int32_t 0x5\nint32_t 0\nint32_t 0xffffffff\nuint8_t 0x7\n"},
    {R"(print("a\"b"); print((int *)16);)", "string \"a\\\"b\"\nint32_t * 0x10\n"},
    {R"(s = "{\"a\": 5, \"b\": \"two\", \"c\": null}"; printf("%s %s %s [%s]", json(s, "a"), json(s, "b"), json(s, "c"), json(s, "d"));)", "5 two null []"},
    {R"(s = "{\"a\":{\"b\":[1, \"two\", {\"c\": true}]}}"; printf("%s|%s|%s|%s", json(s, "a.b[0]"), json(s, "a.b[1]"), json(s, "a.b[2].c"), json(s, "a.b"));)", R"(1|two|true|[1, "two", {"c": true}])"},
    {R"(s = "{\"a\":[]}"; printf("[%s][%s][%s][%s]", json(s, "a"), json(s, "a[0]"), json(s, "a.b"), json(s, "[0]"));)", "[[]][][][]"},
    {R"(s = " {\"k\\\"\":1, \"x\":\"k\", \"y\":\"}{,:\", \"k\": \"v\\\"w\" }"; printf("%s %s %s", json(s, "k"), json(s, "y"), json(s, "x"));)", R"(v\"w }{,: k)"},
    {R"(s = "[[1, 2], [3]]"; printf("%s %s %d", json(s, "[0][1]"), json(s, "[1]"), strtoll(json(s, "[1][0]")) + 1);)", "2 [3] 4"},
    {R"(printf("%d %d", json("{}", "a") == NULL, json("text", "a") == NULL);)", "1 1"},
    {R"(printf("%s %s %s %s", lltostr(0), lltostr(-42), lltostr(255, 16), strjoin("a", lltostr(7)));)", "0 -42 0xff a7"},
    {R"(printf("%s %s %s %s %s", lltostr(0, 16), lltostr(8, 8), lltostr(0, 8), lltostr(5, 2), lltostr(-1, 16));)", "0x0 010 0 101 0xffffffffffffffff"},
    {R"(printf("%s %s", lltostr(-9223372036854775807 - 1), lltostr(9223372036854775807));)", "-9223372036854775808 9223372036854775807"},
    {R"(x = lltostr(12); printf("%d %d", strlen(x), strtoll(x) + 1);)", "2 13"},
};

constexpr Case variables[] = {
    {R"(a[1] = 10; a[2] = 20; printf("%d %d %d", a[1], a[2], a[3]);)", "10 20 0"},
    {R"(a["x", 1] = 5; a["x", 2] = 6; printf("%d %d", a["x", 1], a["x", 2]);)", "5 6"},
    {R"(a["k"] = "text"; printf("%s", a["k"]);)", "text"},
    {R"(a[1] = 5; a[1] = 0; printf("%d", a[1]);)", "0"},
    {R"(a[1]++; a[1]++; a[1] += 5; printf("%d", a[1]);)", "7"},
    {R"(self->x = 5; printf("%d", self->x);)", "5"},
    {R"(self->x = 5; self->x = 0; printf("%d", self->x);)", "0"},
    {R"(self->s = "abc"; printf("%s", self->s);)", "abc"},
    {R"(self->a[1] = 3; printf("%d", self->a[1]);)", "3"},
    {R"(this->x = 5; this->x += 2; printf("%d", this->x);)", "7"},
    {R"(this->s = "abc"; printf("%s", this->s);)", "abc"},
    {R"(x = (uint8_t)255; x++; printf("%d", x);)", "0"},
    {R"(x = (int8_t)127; x++; printf("%d", x);)", "-128"},
    {R"(x = (uint16_t)1; x -= 2; printf("%d %x", x, x);)", "65535 ffff"},
    {R"(x = 5; printf("%d ", x); x = 6; printf("%d", x);)", "5 6"},
    {R"(printf("%d ", x); x = 6; printf("%d", x);)", "0 6"},
    {R"(x = 3; y = x * 2; x = 10; printf("%d %d", x, y);)", "10 6"},
};

void check(const Case& c) {
  const std::string script = "#pragma D option quiet\nBEGIN { " + std::string(c.body) + " }";
  const d_test::Run r = d_test::run(script);
  if (!c.expected) return;
  EXPECT_EQ(r.evaluator, c.expected) << script;
  if (r.refused.empty()) { EXPECT_EQ(r.kernel, r.evaluator) << script; }
}

TEST(Values, Numbers) {
  for (const Case& c : numbers) check(c);
}
TEST(Values, Texts) {
  for (const Case& c : texts) check(c);
}
TEST(Values, Variables) {
  for (const Case& c : variables) check(c);
}

// Whole scripts.
struct Script {
  const char* text;
  const char* expected;
  std::vector<std::string> words = {};
};

const Script scripts[] = {
    {"#pragma D option quiet\nBEGIN { printf(\"a\"); }\nBEGIN { printf(\"b\"); }\nEND { printf(\"c\"); }", "abc"},
    {"#pragma D option quiet\nBEGIN /1 == 1/ { printf(\"yes\"); }\nBEGIN /1 == 2/ { printf(\"no\"); }", "yes"},
    {"#pragma D option quiet\nBEGIN /0/ { printf(\"no\"); }\nBEGIN /!0/ { printf(\"yes\"); }", "yes"},
    {"#pragma D option quiet\nBEGIN /4 / 2 == 2/ { printf(\"yes\"); }", "yes"},
    {"#pragma D option quiet\nBEGIN /(4 / 2) == 2/ { printf(\"yes\"); }", "yes"},
    {"#pragma D option quiet\nBEGIN { this->x = 4; }\nBEGIN /this->x == 4/ { printf(\"%d\", this->x); }", "4"},
    {"#pragma D option quiet\nBEGIN, END { this->x = probename; printf(\"%s \", this->x); }", "BEGIN END "},
    {"#pragma D option quiet\nBEGIN { this->y = 6; }\nEND { printf(\"%d\", this->y); }", "6"},
    {"#pragma D option quiet\nBEGIN { x = 4; }\nBEGIN /x == 4/ { x = 5; }\nBEGIN /x == 5/ { printf(\"five\"); }", "five"},
    {"#pragma D option quiet\nBEGIN, END { printf(\"%s \", probename); }", "BEGIN END "},
    {"#pragma D option quiet\nstruct s { uint64_t ts; int calls; char c; };\nstruct s a[string];\n"
     "BEGIN { a[\"x\"].ts = 5; a[\"x\"].calls++; a[\"x\"].calls++; a[\"y\"].calls += 7; printf(\"%d %d %d %d\", a[\"x\"].ts, a[\"x\"].calls, a[\"y\"].calls, sizeof (struct s)); }", "5 2 7 16"},
    {"#pragma D option quiet\nenum color { RED, GREEN = 5, BLUE };\ntypedef struct pair { int a; char b; } pair_t;\npair_t p;\nenum color c;\n"
     "BEGIN { p.a = BLUE; p.b = 'x'; c = GREEN; printf(\"%d %c %d %d %d %d\", p.a, p.b, c, sizeof (pair_t), offsetof(pair_t, b), sizeof (p)); }", "6 x 5 8 4 8"},
    {"#pragma D option quiet\nstruct bits { int a:3; unsigned int b:3; } x;\nBEGIN { x.a = 7; x.b = 15; x.b++; printf(\"%d %d\", x.a, x.b); }", "-1 0"},
    {"#pragma D option quiet\nunion u { int i; char c; } v;\nBEGIN { v.i = 0x41424344; printf(\"%c \", v.c); v.c = 'z'; printf(\"%x\", v.i); }", "D 4142437a"},
    {"#pragma D option quiet\nint a[5];\nself int b[3];\nBEGIN { a[2] = 5; self->b[1] = a[2] + 1; printf(\"%d %d %d\", a[2], self->b[1], a[0]); }", "5 6 0"},
    {"#pragma D option quiet\nstruct n { int v; struct { int w; } in; struct n *next; };\nstruct n t;\nself struct n u;\nthis struct n w;\n"
     "BEGIN { t.in.w = 3; self->u.v = t.in.w; this->w.v = 4; printf(\"%d %d %d\", self->u.v, this->w.v, sizeof (struct n)); }", "3 4 16"},
    {"#pragma D option quiet\nstruct a { int x; int y; };\nstruct a p, q;\nBEGIN { p.x = 1; p.y = 2; q = p; p.x = 9; printf(\"%d %d %d\", q.x, q.y, p.x); }", "1 2 9"},
    {"#pragma D option quiet\ninline int add[int x, int y] = x + y * 2;\nBEGIN { printf(\"%d %d\", add[1, 2], add[add[1, 1], 3]); }", "5 9"},
    {"#pragma D option quiet\nstruct in { int x; };\nstruct out { int twice; string name; };\nstruct in w;\ntranslator struct out < struct in v > { twice = v.x * 2; name = \"n\"; };\n"
     "BEGIN { w.x = 21; printf(\"%d %s\", xlate < struct out > (w).twice, xlate < struct out > (w).name); }", "42 n"},
    {"#pragma D option quiet\nBEGIN { x = 5; if (x == 5) { printf(\"five \"); x = 6; } else { printf(\"other \"); } printf(\"%d \", x); if (x > 6) printf(\"big\"); else if (x > 5) printf(\"mid\"); else printf(\"small\"); }",
     "five 6 mid"},
    {"#pragma D option quiet\nBEGIN /1/ { x = 1; if (x) { if (x == 2) { printf(\"no\"); } else { printf(\"nested\"); } } }", "nested"},
    {"#pragma D option quiet\nBEGIN { x = 0; if (x++ == 0) { printf(\"first \"); } else { printf(\"other \"); } printf(\"%d\", x); }", "first 1"},
    {"#pragma D option quiet\nBEGIN { x = 2; x == 1 ? printf(\"one\") : x == 2 ? printf(\"two\") : printf(\"other\"); x == 2 ? trace(\" yes\") : 1; }", "two yes"},
    {"#pragma D option quiet\nBEGIN { x = 0; x++ ? printf(\"set\") : printf(\"unset\"); printf(\" %d \", x); 0 ? printf(\"no\") : printf(\"%s\", x ? \"a value\" : \"\"); }", "unset 1 a value"},
    {"#pragma D option quiet\nBEGIN /0/ { if (1) { printf(\"no\"); } else { printf(\"neither\"); } }\nBEGIN { printf(\"end\"); }", "end"},
    {"#pragma D option quiet\n#pragma D option strsize=4\nBEGIN { s = \"abcdefgh\"; printf(\"%s \", s); s = strjoin(\"ab\", \"cd\"); printf(\"%s %d\", s, sizeof (loff_t)); }", "abc abc 8"},
    {"#pragma D option quiet\n#pragma D attributes Stable/Stable/Common provider x\n#ident \"text\"\nBEGIN { trace((loff_t)5); }", "5"},
    {"#pragma D option quiet\ndtrace:::BEGIN { printf(\"b\"); }\n:::END { printf(\"e\"); }", "be"},
    {"#pragma D option quiet\nBEGIN { x = 1; }\nEND { printf(\"%d\", x); }", "1"},
    // Clauses of one probe are together; types and aggregations are those of the script's order.
    {"#pragma D option quiet\nEND { n++; }\nBEGIN { @a = count(); s = \"text\"; }\nEND /s != NULL/ { printa(\"%@d \", @a); printf(\"%d %s\", n, s); }", "1 1 text"},
    {"#pragma D option quiet\nEND { n++; }\nBEGIN { t = 5U; }\nEND { printf(\"%d\", t - 7 > 0); }", "1"},
    {"#pragma D option quiet\ninline int N = 5;\nBEGIN { printf(\"%d\", N * 2); }", "10"},
    {"#pragma D option quiet\nint x;\nstring s;\nBEGIN { x = 70000; s = \"t\"; printf(\"%d %s\", x, s); }", "70000 t"},
    {"#pragma D option quiet\nuint8_t x;\nBEGIN { x = 300; printf(\"%d\", x); }", "44"},
    {"#pragma D option quiet\nself int y;\nthis string t;\nBEGIN { self->y = 3; this->t = \"q\"; printf(\"%d%s\", self->y, this->t); }", "3q"},
    {"#pragma D option quiet\nint a[int, string];\nBEGIN { a[1, \"x\"] = 9; printf(\"%d\", a[1, \"x\"]); }", "9"},
    {"#pragma D option quiet\nBEGIN { printf(\"%d %s\", $1, $$2); }", "17 word", {"17", "word"}},
    {"#pragma D option quiet\nBEGIN { printf(\"%d\", $1 + 1); }", "-4", {"-5"}},
    {"#pragma D option quiet\nBEGIN { printf(\"%s\", $$1); }", "12", {"12"}},
    {"#pragma D option quiet\n#pragma D option defaultargs\nBEGIN { printf(\"%d[%s]\", $1, $$2); }", "0[]"},
    {"#!/usr/sbin/dtrace -s\n#pragma D option quiet\n/* a comment */\nBEGIN { /* one */ printf(\"x\"); }", "x"},
    {"#pragma D option quiet\nBEGIN { printf(\"a\"); exit(0); }\nBEGIN { printf(\"b\"); }\nEND { printf(\"e\"); }", "ae"},
    {"#pragma D option quiet\nBEGIN { exit(3); printf(\"a\"); }", "a"},
    {"#pragma D option quiet\nBEGIN { self->s = speculation(); speculate(self->s); printf(\"kept\"); }\nBEGIN { commit(self->s); }", "kept"},
    {"#pragma D option quiet\nBEGIN { self->s = speculation(); speculate(self->s); printf(\"lost\"); }\nBEGIN { discard(self->s); printf(\"rest\"); }", "rest"},
    {"BEGIN { }", "CPU     ID                    FUNCTION:NAME\n  0      1                           :BEGIN \n"},
    {"BEGIN", "CPU     ID                    FUNCTION:NAME\n  0      1                           :BEGIN \n"},
    {"BEGIN { x = 1; }", "CPU     ID                    FUNCTION:NAME\n"},
    {"BEGIN { exit(0); }", "CPU     ID                    FUNCTION:NAME\n  0      1                           :BEGIN \n"},
    {"BEGIN { printf(\"hello\"); }", "CPU     ID                    FUNCTION:NAME\n  0      1                           :BEGIN hello\n"},
    {"BEGIN { trace(1); trace(\"ab\"); }",
     "CPU     ID                    FUNCTION:NAME\n  0      1                           :BEGIN         1  ab                               \n"},
    {"BEGIN { trace(1L); }", "CPU     ID                    FUNCTION:NAME\n  0      1                           :BEGIN                 1\n"},
    {"BEGIN { printf(\"a\"); }\nEND { printf(\"b\"); }",
     "CPU     ID                    FUNCTION:NAME\n  0      1                           :BEGIN a\n  0      2                             :END b\n"},
    {"#pragma D option quiet\nBEGIN { printf(\"%d %d\", id, (int)id); }", "1 1"},
    {"#pragma D option quiet\nBEGIN { tracemem(\"AB\", 2); }",
     "\n             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef\n         0: 41 42                                            AB\n"},
    {"#pragma D option quiet\nBEGIN { x = 2; tracemem(\"ABC\", 3, x); }",
     "\n             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef\n         0: 41 42                                            AB\n"},
    {"#pragma D option quiet\nBEGIN { this->first = strtok(\"a b\", \" \"); }\nBEGIN { printf(\"%s\", strtok(NULL, \" \")); }", "b"},
    {"BEGIN { setopt(\"quiet\"); printf(\"a\"); }\nEND { printf(\"b\"); }", "CPU     ID                    FUNCTION:NAME\n  0      1                           :BEGIN a\nb"},
    {"#pragma D option quiet\nBEGIN { this->p = (int *)alloca(sizeof (int)); *this->p = 7; *this->p += 1; printf(\"%d\", *this->p * 2); }", "16"},
    {"#pragma D option quiet\nBEGIN { this->a = (uint32_t *)alloca(4); *this->a = 0x0100007f; printf(\"%s\", inet_ntoa(this->a)); }", "127.0.0.1"},
    {"#pragma D option quiet\n#pragma D option preallocate=4m,bpflogsize=1m\nBEGIN { trace(1); }", "1"},
};

// The CPU that a line names is where the probe ran.
std::string without_cpu(std::string text) {
  for (size_t at = 0; at < text.size(); at = text.find('\n', at) == std::string::npos ? text.size() : text.find('\n', at) + 1)
    if (text.compare(at, 2, "  ") == 0 && at + 10 < text.size() && text[at + 2] >= '0' && text[at + 2] <= '9') text[at + 2] = '0';
  return text;
}

TEST(Values, Scripts) {
  for (const Script& s : scripts) {
    const d_test::Run r = d_test::run(s.text, s.words);
    EXPECT_EQ(without_cpu(r.evaluator), s.expected) << s.text;
    if (r.refused.empty()) { EXPECT_EQ(without_cpu(r.kernel), s.expected) << s.text; }
  }
}

TEST(Values, TheKernelTakesThem) {
  const d_test::Run r = d_test::run("#pragma D option quiet\nBEGIN { printf(\"%d\", 1); }");
  if (!r.refused.empty()) GTEST_SKIP() << "the kernel takes no programs here: " << r.refused;
  EXPECT_EQ(r.kernel, "1");
}

} // namespace
