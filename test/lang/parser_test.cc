// Trees as --dump ast shows them, mistakes by their tags, and texts that are no scripts at all.
#include "lang/parse.h"
#include "probe/probe.h"
#include "spec/diagnostics.h"

#include <gtest/gtest.h>

#include <random>

namespace lang {
namespace {

namespace tag = spec::tag;

struct Parsed {
  base::Source source;
  base::Diagnostics diagnostics;
  std::unique_ptr<Program> program;
  std::string tags;

  explicit Parsed(std::string text, std::vector<std::string> positional = {})
      : source("test", std::move(text)) {
    program = parse(source, {std::move(positional)}, diagnostics);
    for (const base::Diagnostic& d : diagnostics.all())
      tags += (tags.empty() ? "" : " ") + std::string(d.tag);
  }
  std::string errors() const { return diagnostics.render(source, true); }
};

// The tree of a script without mistakes, lines joined by ';' and indented by one '.' a level.
std::string tree(std::string text) {
  Parsed p(std::move(text));
  EXPECT_EQ(p.errors(), "");
  std::string out;
  std::string dump = to_string(*p.program);
  for (size_t at = 0; at < dump.size();) {
    size_t text_begin = dump.find_first_not_of(' ', at);
    size_t end = dump.find('\n', at);
    out += std::string((text_begin - at) / 2, '.') + dump.substr(text_begin, end - text_begin);
    at = end + 1;
    if (at < dump.size()) out += ";";
  }
  return out;
}

// The tree of the value of `$x = …`.
std::string value(const std::string& expression) {
  std::string all = tree("begin { $x = " + expression + "; }");
  constexpr std::string_view head = "probe begin;.assign =;..variable $x;";
  EXPECT_TRUE(all.starts_with(head)) << all;
  std::string rest = all.substr(std::min(head.size(), all.size())), out;
  for (size_t i = 0; i < rest.size(); i++)
    if (i == 0 || rest[i - 1] == ';')
      i += 1; // two levels less
    else
      out += rest[i];
  return out;
}

std::string body(const std::string& statements) {
  std::string all = tree("begin { " + statements + " }");
  return all.size() > 12 ? all.substr(12) : "";
}

std::string tags(const std::string& text) { return Parsed(text).tags; }

// ---------------------------------------------------------------------------------------------- probes

std::vector<std::string> specs(const std::string& text, std::vector<std::string> positional = {}) {
  Parsed p(text, std::move(positional));
  EXPECT_EQ(p.errors(), "") << text;
  std::vector<std::string> out;
  for (auto& probe : p.program->probes)
    for (const ProbeSpec& s : probe->specs) {
      std::string parts;
      for (std::string_view part : s.parts) parts += (parts.empty() ? "" : "|") + std::string(part);
      out.push_back(parts + (probe->predicate ? " if" : ""));
    }
  return out;
}

TEST(Probes, Texts) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(specs("BEGIN{}"), Texts{"BEGIN"});
  EXPECT_EQ(specs("kprobe:a,\n  kprobe:b_* // both\n{ }"), (Texts{"kprobe|a", "kprobe|b_*"}));
  EXPECT_EQ(specs("my=interval:1s {} end {}"), (Texts{"interval|1s", "end"}));
  EXPECT_EQ(specs("uprobe:/usr/lib/*:f+0x10 {}"), Texts{"uprobe|/usr/lib/*|f+0x10"});
  EXPECT_EQ(specs("uprobe:\"/a b\":cpp:\"x::y(int, char)\" {}"), Texts{"uprobe|/a b|cpp|x::y(int, char)"});
  EXPECT_EQ(specs("kprobe:$1,interval:s:$2{}", {"vfs_read", "5"}),
            (Texts{"kprobe|vfs_read", "interval|s|5"}));
  EXPECT_EQ(specs("hardware:cache-misses:1e6 {} h:cycles: {}"),
            (Texts{"hardware|cache-misses|1e6", "h|cycles|"}));
  EXPECT_EQ(specs("iter:task:/sys/fs/bpf/list {}"), Texts{"iter|task|/sys/fs/bpf/list"});
  EXPECT_EQ(specs("t:[a-c]?:*{}"), Texts{"t|[a-c]?|*"});
}

TEST(Probes, PredicatesAndPaths) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(specs("kprobe:vfs_read /arg2 < 16/ {}"), Texts{"kprobe|vfs_read if"});
  EXPECT_EQ(specs("tracepoint:a:b/pid == 1/{}"), Texts{"tracepoint|a|b if"});
  EXPECT_EQ(specs("uprobe:/bin/bash:readline /pid==1/ {}"), Texts{"uprobe|/bin/bash|readline if"});
  EXPECT_EQ(specs("uprobe:/bin/bash:readline/pid==1/{}"), Texts{"uprobe|/bin/bash|readline if"});
  EXPECT_EQ(specs("uprobe:./x:readline/pid == 1/ {}"), Texts{"uprobe|./x|readline if"});
  EXPECT_EQ(specs("usdt:./x:y {}"), Texts{"usdt|./x|y"});
  EXPECT_EQ(specs("uprobe:./x:github.com/a/b.F {}"), Texts{"uprobe|./x|github.com/a/b.F"});
  EXPECT_EQ(specs("uprobe:./x:github.com/a/b.F /1/ {}"), Texts{"uprobe|./x|github.com/a/b.F if"});
  EXPECT_EQ(specs("kprobe:f\n/@a[tid]/\n{}"), Texts{"kprobe|f if"});
}

TEST(Probes, PredicatesDivide) {
  EXPECT_EQ(
      tree("k:f /arg0 / 2 == (arg1/{ 1 })/ {}"),
      "probe k:f;.predicate;..binary ==;...binary /;....name arg0;....integer 2;...binary /;....name arg1;"
      "....block;.....value;......integer 1");
}

TEST(Probes, Mistakes) {
  EXPECT_EQ(tags("kprobe:$1 { }"), tag::bad_parameter);
  EXPECT_EQ(tags("begin,{ }"), ""); // as in published scripts
  EXPECT_EQ(tags("begin,,end { }"), tag::syntax);
  EXPECT_EQ(tags(",begin { }"), tag::syntax);
  EXPECT_EQ(tags("begin"), tag::syntax);
  EXPECT_EQ(tags("begin { } } end { }"), tag::syntax);
  EXPECT_EQ(tags("k:f /pid == 1 { }"), tag::syntax);
  EXPECT_EQ(tags("print(1);"), tag::syntax);
  EXPECT_EQ(tags("begin { $x = ; } k:f /1 +/ { $y = ; }"), "syntax syntax syntax");
}

// ------------------------------------------------------------------------------------------- expressions

TEST(Expressions, Precedence) {
  EXPECT_EQ(value("1 + 2 * 3"), "binary +;.integer 1;.binary *;..integer 2;..integer 3");
  EXPECT_EQ(value("1 - 2 - 3"), "binary -;.binary -;..integer 1;..integer 2;.integer 3");
  EXPECT_EQ(
      value("$a || $b && $c | $d ^ $e & $f == $g < $h << $i + $j * -$k"),
      "binary ||;.variable $a;.binary &&;..variable $b;..binary |;...variable $c;...binary ^;....variable $d;"
      "....binary &;.....variable $e;.....binary ==;......variable $f;......binary <;.......variable $g;"
      ".......binary <<;........variable $h;........binary +;.........variable $i;.........binary *;"
      "..........variable $j;..........unary -;...........variable $k");
  EXPECT_EQ(value("(1 + 2) * 3"), "binary *;.binary +;..integer 1;..integer 2;.integer 3");
  EXPECT_EQ(value("1 ? 2 : 3 ? 4 : 5"),
            "ternary ?:;.integer 1;.integer 2;.ternary ?:;..integer 3;..integer 4;..integer 5");
  EXPECT_EQ(value("$a ?: 5"), "ternary ?:;.variable $a;.integer 5");
  EXPECT_EQ(value("try(1, 2)"), "attempt;.integer 1;.integer 2");
}

TEST(Expressions, UnaryAndPostfix) {
  EXPECT_EQ(value("!~-*$p"), "unary !;.unary ~;..unary -;...unary *;....variable $p");
  EXPECT_EQ(value("&@m"), "unary &;.map @m");
  EXPECT_EQ(value("++@m[1]"), "unary ++;.map @m;..integer 1");
  EXPECT_EQ(value("$i--"), "unary post --;.variable $i");
  EXPECT_EQ(value("$t.0.1"), "field .1;.field .0;..variable $t");
  EXPECT_EQ(value("args->a.config[2]"), "index [];.field .config;..field .a;...name args;.integer 2");
  EXPECT_EQ(value("f(1, @m, $1, $#)"), "call f;.integer 1;.map @m;.positional $1;.positional $#");
  EXPECT_EQ(value("true"), "boolean true");
}

TEST(Expressions, CastsAndParentheses) {
  EXPECT_EQ(value("(uint32)-1"), "cast (uint32);.unary -;..integer 1");
  EXPECT_EQ(value("(struct task_struct *)arg0"), "cast (struct task_struct *);.name arg0");
  EXPECT_EQ(value("(const struct a **)1"), "cast (struct a **);.integer 1");
  EXPECT_EQ(value("(int8[8])12345"), "cast (int8[8]);.integer 12345");
  EXPECT_EQ(value("(uint8[])$a"), "cast (uint8[]);.variable $a");
  EXPECT_EQ(value("(long unsigned int)1"), "cast (unsigned long);.integer 1");
  EXPECT_EQ(value("(typeof($a))1"), "cast (typeof(…));.integer 1");
  EXPECT_EQ(value("(foo_t *)1"), "cast (foo_t *);.integer 1");
  EXPECT_EQ(value("(foo_t)$a"), "cast (foo_t);.variable $a");
  EXPECT_EQ(value("(pid) + 1"), "binary +;.name pid;.integer 1");
  EXPECT_EQ(value("(arg0) - 1"), "binary -;.name arg0;.integer 1");
  EXPECT_EQ(value("(FOO) & 1"), "binary &;.name FOO;.integer 1");
  EXPECT_EQ(value("((struct a *)arg0)->b"), "field .b;.cast (struct a *);..name arg0");
  EXPECT_EQ(value("**(int64 **)1"), "unary *;.unary *;..cast (int64 **);...integer 1");
}

TEST(Expressions, NamesOfCpp) {
  EXPECT_EQ(value("(ns::Foo *)1"), "cast (ns::Foo *);.integer 1");
  EXPECT_EQ(value("(struct ns :: Foo *)1").substr(0, 4), "cast");
  EXPECT_EQ(value("(Box<int,4> *)1"), "cast (Box<int, 4> *);.integer 1");
  EXPECT_EQ(value("(ns::Map<unsigned   long, ns::Box<char*>>::node *)1"),
            "cast (ns::Map<unsigned long, ns::Box<char*> >::node *);.integer 1");
  EXPECT_EQ(value("target.ns::Foo::count"), "field .ns::Foo::count;.name target");
  EXPECT_EQ(value("target.file.c::count"), "field .file.c::count;.name target");
  EXPECT_EQ(value("target.file.c"), "field .c;.field .file;..name target");
  EXPECT_EQ(value("target(\"lib\").f::x.y"), "field .y;.field .f::x;..call target;...string \"lib\"");
  EXPECT_EQ(value("ns::RED"), "name ns::RED");
  EXPECT_EQ(value("(a < b > c)"), "binary >;.binary <;..name a;..name b;.name c");
  EXPECT_EQ(value("(a < b)"), "binary <;.name a;.name b");
  EXPECT_EQ(value("(a < b, c > d)").substr(0, 5), "tuple");
  EXPECT_EQ(value("(a < b, c > *d)").substr(0, 5), "tuple");
  EXPECT_EQ(value("1 ? a : b"), "ternary ?:;.integer 1;.name a;.name b");
}

TEST(Expressions, Tuples) {
  EXPECT_EQ(value("()"), "tuple");
  EXPECT_EQ(value("(1,)"), "tuple;.integer 1");
  EXPECT_EQ(value("(1, \"a\")"), "tuple;.integer 1;.string \"a\"");
  EXPECT_EQ(value("(a = 1, b = 2)"), "record a b;.integer 1;.integer 2");
  EXPECT_EQ(value("@m[1, 2]"), "map @m;.tuple;..integer 1;..integer 2");
  EXPECT_EQ(value("@[1][0]"), "index [];.map @;..integer 1;.integer 0");
}

TEST(Expressions, SizeAndOffset) {
  EXPECT_EQ(value("sizeof(struct x)"), "sizeof struct x");
  EXPECT_EQ(value("sizeof(uint32)"), "sizeof uint32");
  EXPECT_EQ(value("sizeof(pid_t)"), "sizeof pid_t");
  EXPECT_EQ(value("sizeof($x)"), "sizeof;.variable $x");
  EXPECT_EQ(value("sizeof(comm)"), "sizeof;.name comm");
  EXPECT_EQ(value("offsetof(struct x, a.b)"), "offsetof struct x .a .b");
  EXPECT_EQ(value("offsetof($x, a)"), "offsetof .a;.variable $x");
}

TEST(Expressions, BlocksAndConditions) {
  EXPECT_EQ(value("{ let $a = 1; $a }"), "block;.let $a;..integer 1;.value;..variable $a");
  EXPECT_EQ(value("if ($c) { 1 } else if (2) { 3 } else { f(); 4 }"),
            "if;.variable $c;then;.value;..integer 1;else;.value;..if;...integer "
            "2;..then;...value;....integer 3;..else;"
            "...call f;...value;....integer 4");
  EXPECT_EQ(value("{ if (1) { 2 } else { 3 } 4 }"),
            "block;.if;..integer 1;.then;..integer 2;.else;..integer 3;.value;..integer 4");
  EXPECT_EQ(value("{ if (1) { 2 } else { 3 } }"),
            "block;.value;..if;...integer 1;..then;...value;....integer 2;..else;...value;....integer 3");
}

TEST(Expressions, Mistakes) {
  for (std::string_view text : {"",
                                "1 +",
                                "(1",
                                "(1, ",
                                "f(1",
                                "f(,)",
                                "@m[]",
                                "@m[1",
                                "1 ? 2",
                                "$a = 2",
                                "struct x",
                                "if",
                                "(a = 1, 2)",
                                "$a.",
                                "$a->1",
                                "sizeof()",
                                "offsetof(struct x)",
                                "_",
                                "break",
                                "(uint8)"})
    EXPECT_EQ(tags("begin { $x = " + std::string(text) + "; }"), tag::syntax) << text;
  EXPECT_EQ(tags("begin { $x = 1.5; }"), tag::bad_number);
}

// -------------------------------------------------------------------------------------------- statements

TEST(Statements, Assignments) {
  EXPECT_EQ(body("@a[1] = 2; $b += 3; $c <<= 1; _ = f(); let $d; let $e : uint8; let $f : string[16] = \"\""),
            ".assign =;..map @a;...integer 1;..integer 2;.assign +=;..variable $b;..integer 3;.assign <<=;"
            "..variable $c;..integer 1;.discard;..call f;.let $d;.let $e : uint8;.let $f : "
            "string[16];..string \"\"");
}

TEST(Statements, Loops) {
  EXPECT_EQ(body("for ($i : 0..ncpus) { break; } for $kv : @m { continue }"),
            ".for $i in range;..integer 0;..name ncpus;..break;.for $kv in map;..map @m;..continue");
  EXPECT_EQ(body("while ($i < 5) { $i++ } unroll(3) { } unroll 3 { }"),
            ".while;..binary <;...variable $i;...integer 5;..unary post ++;...variable $i;.unroll;..integer "
            "3;.unroll;"
            "..integer 3");
}

TEST(Statements, Blocks) {
  EXPECT_EQ(
      body("if (pid) { return } else if 1 { return 2; } else { } { $a = 1 } f()"),
      ".if;..name pid;.then;..return;.else;..if;...integer 1;..then;...return;....integer 2;..else;.block;"
      "..assign =;...variable $a;...integer 1;.call f");
  EXPECT_EQ(body(";; { 1 }"), ".block;..integer 1");
  EXPECT_EQ(body("if (1) { }"), ".if;..integer 1;.then");
}

TEST(Statements, LoopsAsInC) {
  EXPECT_EQ(body("for ($i = 0; $i < 5; $i++) { f; }"),
            ".block;..assign =;...variable $i;...integer 0;..while;...binary <;....variable $i;....integer 5;...name "
            "f;..step;...unary post ++;....variable $i");
  EXPECT_EQ(body("for (;;) { }"), ".block;..while;...boolean true");
}

TEST(Statements, MistakesAllAtOnce) {
  EXPECT_EQ(tags("begin { $x = ; f(1, ; if (x ? ) { a } else { b } $q = = 2; if (1) { $a = ; $b = ; } } end "
                 "{ 1 + }"),
            "syntax syntax syntax syntax syntax syntax syntax");
  EXPECT_EQ(tags("begin { $a = 1\n $b = 2\n $c = }"), "syntax syntax syntax");
  EXPECT_EQ(tags("begin { $a = 1 $b = 2 }"), tag::syntax);
  EXPECT_EQ(tags("begin { for ($i = 0; $i < 5) { $a = 1; } }"), tag::syntax);
  EXPECT_EQ(tags("begin { for ($x : 5) { } }"), tag::syntax);
  EXPECT_EQ(tags("begin { let @x = 1; }"), tag::syntax);
  EXPECT_EQ(tags("begin { if (1) {"), tag::syntax);
  EXPECT_EQ(tags("begin { while (1) print(1); }"), tag::syntax);
  EXPECT_EQ(tags("begin { printf(\"x }"), tag::unterminated_string);
  EXPECT_EQ(tags("begin { /* x }"), tag::unterminated_comment);
}

TEST(Statements, PlaceAndHint) {
  EXPECT_EQ(Parsed("begin { $x = } ").errors(),
            "test:1:14-15: ERROR: syntax error, unexpected `}`, expected an expression\nbegin { $x = } \n"
            "             ~\n");
  EXPECT_EQ(
      Parsed("begin {\n if (1) { $x = 1;\n").errors(),
      "test:2:18-18: ERROR: syntax error, unexpected end of the script, expected `}`\n if (1) { $x = 1;\n"
      "                 ~\nHINT: the block that begins in line 2 is not closed\n");
  EXPECT_EQ(Parsed("begin { if ($a = 1) { } }").errors(),
            "test:1:16-17: ERROR: syntax error, unexpected `=`, expected `)`\nbegin { if ($a = 1) { } }\n"
            "               ~\nHINT: `==` compares; an assignment is a statement of its own\n");
}

// ----------------------------------------------------------------------------------------------- program

TEST(Program, Maps) {
  Parsed p("let @d = lruhash(7); begin { @b = 1; @a[1] = @b; @ = 2; @a[2]++ }");
  EXPECT_EQ(p.errors(), "");
  ASSERT_EQ(p.program->maps.size(), 4u);
  EXPECT_EQ(p.program->maps[0]->name, "d");
  EXPECT_EQ(p.program->maps[0]->storage, Storage::lruhash);
  EXPECT_EQ(p.program->maps[0]->max_entries, 7u);
  EXPECT_TRUE(p.program->maps[0]->declared);
  EXPECT_EQ(p.program->maps[1]->name, "b");
  EXPECT_EQ(p.program->maps[2]->name, "a");
  EXPECT_EQ(p.program->maps[2]->id, 2u);
  EXPECT_EQ(p.program->maps[3]->name, "");
}

TEST(Program, MapDeclarationMistakes) {
  EXPECT_EQ(tags("let @a = foo(1); begin { }"), tag::unknown_type);
  EXPECT_EQ(tags("let @a = hash(0); begin { }"), tag::too_large);
  EXPECT_EQ(tags("let @a = hash(1); let @a = hash(2); begin { }"), tag::redeclared);
  EXPECT_EQ(tags("let @a = hash(1) begin { }"), tag::syntax);
  EXPECT_EQ(tags("let $a = 1; begin { }"), tag::syntax);
}

TEST(Program, Config) {
  Parsed p("config = { max_map_keys = 1e3; STACK_MODE=perf; str_trunc_trailer = \"…\"; "
           "print_maps_on_exit=false }\n"
           "begin { }");
  EXPECT_EQ(p.errors(), "");
  EXPECT_EQ(p.program->config.number("max_map_keys"), 1000u);
  EXPECT_EQ(p.program->config.text("stack_mode"), "perf");
  EXPECT_EQ(p.program->config.text("str_trunc_trailer"), "…");
  EXPECT_FALSE(p.program->config.flag("print_maps_on_exit"));
  EXPECT_EQ(tags("config = { nonsense = 1; stack_mode = none } begin { }"), "bad_config bad_config");
  EXPECT_EQ(tags("config = { } config = { } begin { }"), tag::bad_config);
  EXPECT_EQ(tags("config = { max_map_keys = ; stack_mode = x } begin { }"), "syntax bad_config");
  EXPECT_EQ(tags("config = 5 begin { }"), tag::syntax);
}

TEST(Program, Functions) {
  EXPECT_EQ(
      tree("fn f($a : uint64, $p : struct x *) : int8[4] { return $a; } fn g() { } begin { }"),
      "function f($a : uint64, $p : struct x *) : int8[4];.return;..variable $a;function g();probe begin");
  EXPECT_EQ(tags("fn f(a) { } fn g($a) { } fn 5() { } fn h() : { } begin { }"),
            "syntax syntax syntax syntax");
}

TEST(Program, PreambleOfC) {
  Parsed p(
      "#!/bin/acu\n#include <stddef.h>\n#define X(a) \\\n  \"{\"\nstruct foo { struct { int y; } z; };\n"
      "typedef struct { int a; } bar_t;\nenum e { A, B }\nmacro m($a) { $a + 1 }\nimport \"no_such_file.bt\";\n"
      "begin { print(1); }");
  EXPECT_EQ(p.tags, tag::missing_file);
  ASSERT_EQ(p.program->probes.size(), 1u);
  EXPECT_EQ(p.program->probes[0]->body->statements.size(), 1u);
}

TEST(Program, NotAScript) {
  EXPECT_EQ(tags(""), tag::empty_program);
  EXPECT_EQ(tags("#!/bin/acu\n// nothing\n"), tag::empty_program);
  EXPECT_EQ(tags(std::string("\x7f"
                             "ELF\0\1\2",
                             7)),
            tag::not_text);
  EXPECT_EQ(tags(std::string("begin { }\0", 10)), tag::not_text);
  EXPECT_EQ(tags(std::string((16 << 20) + 1, ' ')), tag::too_large);
}

// What is put into a script is no more than an expression.
TEST(Program, InsertedExpressions) {
  const auto tags_of = [](std::string text) {
    base::Source source("test", "macro asked { 0 } begin { print(asked) }");
    base::Diagnostics diagnostics;
    ParseOptions options;
    options.parts.expressions.push_back({.name = "asked", .text = std::move(text), .shown = "expression"});
    parse(source, options, diagnostics);
    std::string out;
    for (const base::Diagnostic& d : diagnostics.all()) out += (out.empty() ? "" : " ") + std::string(d.tag);
    return out;
  };
  EXPECT_EQ(tags_of("str(target.a->b[1]) == \"x\" ? 1 : (2, 3)"), "");
  EXPECT_EQ(tags_of("1); exit("), tag::syntax);
  EXPECT_EQ(tags_of("1; exit()"), tag::syntax);
  EXPECT_EQ(tags_of("1) } end { print(2"), tag::syntax);
  EXPECT_EQ(tags_of("1\n#include \"/etc/hostname\"\n"), tag::bad_directive);
  EXPECT_EQ(tags_of("#define A 1\nA"), tag::bad_directive) << "and A is a name";
}

TEST(Program, DepthIsLimited) {
  auto nested = [](std::string_view open, int times) {
    std::string text = "begin { $x = ";
    for (int i = 0; i < times; i++) text += open;
    return text;
  };
  for (std::string_view open : {"(", "{ ", "-", "- ", "@a[", "if (1) { ", "f(", "1 ? ", "1 ? 1 : ", "(1, ",
                                "(a = ", "sizeof(", "(uint8)", "(typeof(", "1 + ", "1 + (", "$x + "}) {
    Parsed p(nested(open, 100000));
    EXPECT_EQ(p.diagnostics.error_count(), 1u) << open << p.errors().substr(0, 200);
    EXPECT_EQ(p.tags, tag::too_deep) << open;
  }
  std::string fields = "begin { $x = $y";
  for (int i = 0; i < 100000; i++) fields += ".a";
  EXPECT_EQ(tags(fields), tag::too_deep);
  std::string open, close;
  for (int i = 0; i < 150; i++) open += "if (1) { ", close += " }";
  EXPECT_EQ(tags("begin { " + open + close + " }"), "");
}

TEST(Program, AtMostAHundredMistakes) {
  std::string text = "begin { ";
  for (int i = 0; i < 1000; i++) text += "$x = ; ";
  EXPECT_EQ(Parsed(text + "}").diagnostics.error_count(), 100u);
}

// Any text must give a tree or a mistake, and end.
constexpr std::string_view samples[] = {
    R"x(#!/usr/bin/env acu
config = { max_map_keys = 10; stack_mode=perf }
let @m = lruhash(100);
fn add($a : uint64, $p : struct task_struct *) : uint64 { return $a + 1; }
begin { printf("hi\x41\n"); @[pid, comm]++; $x = (uint32)-1; $y = (struct task_struct *)curtask; }
)x",
    R"x(#include <stddef.h>
#define READ(f) (vfs_ ## f)
#if defined READ && !defined(OTHER) // c
struct s { int x; };
kprobe:vfs_read, uprobe:/usr/lib/*:f /arg2 / 2 < 16 && comm == "a b"/ { @m = count(); /* c */ }
my=uprobe:"/bin/a b":cpp:"x::y(int)", usdt:./x:y, k:$1+0x10 { for ($kv : @m) { print($kv.0.1); } }
#endif
)x",
    R"x(end {
  $w = { let $e = 1; $e }; $v = if (1) { 2 } else if (3) { 4 } else { 5 };
  while ($x < 1e3) { $x += 1; if ($x > 5ms) { break } } unroll(3) { continue; }
  $k = sizeof(struct x) + offsetof(struct x, a.b) + sizeof($x); $j = $c ?: 5; $t = (a=1, b=(1,)); // done
  for $i : 0..$# { _ = has_key(@m, &$v->q[2]); } delete(@m[(typeof(@m))1]);
}
)x"};

void parse_safely(std::string text) {
  Parsed p(std::move(text), {"one"});
  EXPECT_LE(p.diagnostics.error_count(), 100u);
  EXPECT_TRUE(!p.program->probes.empty() || p.diagnostics.has_errors());
  to_string(*p.program);
  p.errors();
}

TEST(Robustness, SamplesAreFine) {
  EXPECT_EQ(tags(std::string(samples[0])), "");
  EXPECT_EQ(Parsed(std::string(samples[1]), {"f"}).tags, "");
  EXPECT_EQ(tags(std::string(samples[2])), "");
}

TEST(Robustness, EveryPrefix) {
  for (std::string_view sample : samples)
    for (size_t length = 0; length < sample.size(); length++)
      parse_safely(std::string(sample.substr(0, length)));
}

TEST(Robustness, Mutations) {
  std::mt19937 random(20240501);
  constexpr std::string_view alphabet = "{}()[];,:?.+-*/%&|^~!<>=\"'\\$@#_ \n\x01\xff"
                                        "019axe";
  for (int round = 0; round < 5000; round++) {
    std::string text(samples[random() % std::size(samples)]);
    for (unsigned changes = 1 + random() % 6; changes; changes--) {
      size_t at = random() % text.size();
      switch (random() % 5) {
      case 0: text.erase(at, 1 + random() % 8); break;
      case 1: text.insert(at, 1, alphabet[random() % alphabet.size()]); break;
      case 2: text[at] = alphabet[random() % alphabet.size()]; break;
      case 3: text.insert(at, text.substr(random() % text.size(), random() % 40)); break;
      default: text[at] = static_cast<char>(random() % 256);
      }
      if (text.empty()) text = " ";
    }
    parse_safely(std::move(text));
  }
}

} // namespace
} // namespace lang
