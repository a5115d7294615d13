// Faults and the clauses of ERROR, on both engines, and the names that DTrace gives to mistakes.
#include "dlang/error_tags.h"
#include "dlang/run_d.h"

#include <gtest/gtest.h>

namespace {

struct Case {
  const char* script;
  const char* expected;
};

#define AT_BEGIN "stderr: dtrace: error on enabled probe ID 1 (ID 1: dtrace:::BEGIN): "

constexpr Case cases[] = {
    // A clause ends, and nothing of it is printed; those behind it run.
    {"BEGIN { printf(\"before\"); trace(*(int *)0); } BEGIN { printf(\"next\"); }", "next" AT_BEGIN "invalid address (0x0) in action #2\n"},
    {"BEGIN { trace(*(int *)16); }", AT_BEGIN "invalid address (0x10) in action #1\n"},
    {"BEGIN / *(int *)8 / { trace(1); } BEGIN { trace(2); }", "2" AT_BEGIN "invalid address (0x8) in predicate\n"},
    {"BEGIN { trace(((struct task_struct *)0)->pid); } BEGIN { trace(2); }", nullptr},
    {"BEGIN { trace(copyinstr(0)); }", AT_BEGIN "invalid address (0x0) in action #1\n"},
    {"BEGIN { trace(stringof(32)); }", AT_BEGIN "invalid address (0x20) in action #1\n"},
    {"BEGIN { x = 0; trace(5 / x); } BEGIN { trace(7); }", "7" AT_BEGIN "divide-by-zero in action #2\n"},
    {"BEGIN { x = 0; y = 5 % x; trace(1); }", AT_BEGIN "divide-by-zero in action #2\n"},
    {"BEGIN { x = 0; @[5 / x] = count(); }", AT_BEGIN "divide-by-zero in action #2\n"},
    {"BEGIN { x = 0U; trace(5U / x); }", AT_BEGIN "divide-by-zero in action #2\n"},
    {"BEGIN { x = 1; x /= 0 * x; } BEGIN { trace(x); }", "1" AT_BEGIN "divide-by-zero in action #2\n"},
    {"BEGIN { x = 3; y = *(int *)0; x = 4; } BEGIN { trace(x); }", "3" AT_BEGIN "invalid address (0x0) in action #2\n"},
    {"BEGIN { x = 0; trace(x ? 5 / x : 9); }", "9"},
    {"BEGIN { trace(1); exit(0); trace(*(int *)0); }", AT_BEGIN "invalid address (0x0) in action #3\n"},
    // ERROR: the probe, the action, no offset, the kind, the address.
    {"BEGIN { trace(*(int *)24); } ERROR { n = 1; printf(\"%d %d %d %d %x\", arg1, arg2, arg3, arg4, arg5); } ERROR { trace(*(int *)8); } ERROR { trace(arg5); }",
     "1 1 -1 1 1824" AT_BEGIN "invalid address (0x18) in action #1\n"},
    {"BEGIN { x = 0; y = 1 / x; } ERROR { printf(\"%d %d %d\", arg2, arg4, arg5); }", "2 4 0" AT_BEGIN "divide-by-zero in action #2\n"},
    {"ERROR { printf(\"%s:%s\", probeprov, probename); } BEGIN { trace(*(int *)0); }", "dtrace:ERRORstderr: dtrace: error on enabled probe ID 2 (ID 2: dtrace:::BEGIN): invalid address (0x0) in action #1\n"},
    {"BEGIN { n = 0; } BEGIN { trace(*(int *)0); } ERROR /n == 0/ { n++; trace(n); } ERROR /n == 1/ { trace(\"second\"); }", "1second" AT_BEGIN "invalid address (0x0) in action #1\n"},
    {"BEGIN { self->s = \"kept\"; trace(*(int *)0); } ERROR { trace(self->s); this->a = 5; trace(this->a); }", "kept5" AT_BEGIN "invalid address (0x0) in action #2\n"},
    // A fault there ends that clause only.
    {"BEGIN { trace(*(int *)0); } ERROR { trace(*(int *)8); } ERROR { trace(3); } END { trace(4); }", "34" AT_BEGIN "invalid address (0x0) in action #1\n"},
    {"BEGIN { trace(1); } ERROR { trace(2); }", "1"},
};

TEST(Faults, EndTheirClause) {
  for (const Case& c : cases) {
    const d_test::Run r = d_test::run(std::string("#pragma D option quiet\n") + c.script);
    if (!c.expected) {
      EXPECT_NE(r.evaluator.find("invalid address"), std::string::npos) << r.evaluator;
      EXPECT_TRUE(r.evaluator.starts_with("2")) << r.evaluator;
      continue;
    }
    EXPECT_EQ(r.evaluator, c.expected) << c.script;
    if (r.refused.empty()) { EXPECT_EQ(r.kernel, c.expected) << c.script; }
  }
}

// The kernel takes records that acu's own reads fill; the evaluator has no task to read, and goes on.
TEST(Faults, WhatACUReadsIsNone) {
  const d_test::Run r = d_test::run("#pragma D option quiet\nBEGIN { x = curpsinfo->pr_fname; printf(\"%d%.0s%d\", strlen(x) > 0, curpsinfo->pr_fname, ppid > 0); }");
  if (r.refused.empty()) { EXPECT_EQ(r.kernel, "11"); }
  EXPECT_TRUE(r.evaluator.starts_with("00")) << r.evaluator;
}

TEST(Faults, ALineOfERRORIsThatOfAProbe) {
  const std::string text = d_test::run("BEGIN { trace(*(int *)0); } ERROR { trace(\"seen\"); }", {}, false).evaluator;
  EXPECT_NE(text.find("      2                           :ERROR   seen"), std::string::npos) << text;
}

// ------------------------------------------------------------------------------------------------ names of mistakes

constexpr Case tags[] = {
    {"BEGIN { trace(; }", "D_SYNTAX"},
    {"", "D_EMPTY"},
    {"BEGIN { trace(08); }", "D_INT_DIGIT"},
    {"BEGIN { trace(0x1ffffffffffffffff); }", "D_INT_OFLOW"},
    {"BEGIN { trace(\"a\n\"); }", "D_STR_NL"},
    {"BEGIN { trace(''); }", "D_CHR_NULL"},
    {"BEGIN { trace('123456789'); }", "D_CHR_OFLOW"},
    {"BEGIN { trace($nothing); }", "D_MACRO_UNDEF"},
    {"BEGIN { trace($1); }", "D_MACRO_UNDEF"},
    {"#pragma D option nosuch\nBEGIN", "D_PRAGMA_OPTSET"},
    {"#pragma D nosuch\nBEGIN", "D_PRAGMA_INVAL"},
    {"#error no\nBEGIN", "D_PRAGERR"},
    {"nosuch:::probe", "D_PDESC_ZERO"},
    {"syscall::nosuch:entry", "D_PDESC_ZERO"},
    {"a:b:c:d:e", "D_PDESC_INVAL"},
    {"BEGIN /\"a\"/ { }", "D_PRED_SCALAR"},
    {"BEGIN { nosuch(); }", "D_FUNC_UNDEF"},
    {"BEGIN { trace(nosuch); }", "D_IDENT_UNDEF"},
    {"BEGIN { trace(self->nosuch); }", "D_VAR_UNDEF"},
    {"BEGIN { trace(strlen()); }", "D_PROTO_LEN"},
    {"BEGIN { trace(strlen(5)); }", "D_PROTO_ARG"},
    {"BEGIN { trace(\"a\" + 1); }", "D_OP_INCOMPAT"},
    {"BEGIN { trace(\"a\" * 2); }", "D_OP_ARITH"},
    {"BEGIN { trace(\"a\" % 2); }", "D_OP_INT"},
    {"BEGIN { trace(!\"a\"); }", "D_OP_SCALAR"},
    {"BEGIN { 5 = 6; }", "D_OP_LVAL"},
    {"BEGIN { 5++; }", "D_OP_LVAL"},
    {"BEGIN { pid = 6; }", "D_OP_WRITE"},
    {"BEGIN { trace(@a); }", "D_TRACE_DYN"},
    {"BEGIN { x = 1 + @a; }", "D_OP_DYN"},
    {"BEGIN { @a = count(); normalize(@a, \"x\"); }", "D_NORMALIZE_SCALAR"},
    {"BEGIN { @a = count(); trunc(@a, \"x\"); }", "D_TRUNC_SCALAR"},
    {"BEGIN { trace(1 / 0); }", "D_DIV_ZERO"},
    {"BEGIN { trace(*5); }", "D_DEREF_NONPTR"},
    {"BEGIN { x = 1; y = &x; }", "D_ADDROF_VAR"},
    {"BEGIN { trace((int)\"a\"); }", "D_CAST_INVAL"},
    {"BEGIN { trace(pid->x); }", "D_OP_SOU"},
    {"BEGIN { x = \"a\"; x = 1; }", "D_OP_INCOMPAT"},
    {"BEGIN { this->a[1] = 2; }", "D_ARR_LOCAL"},
    {"BEGIN { @a = 1; }", "D_AGG_FUNC"},
    {"BEGIN { @a; }", "D_AGG_NULL"},
    {"BEGIN { @a = count(); @a = sum(1); }", "D_AGG_REDEF"},
    {"BEGIN { @a = count(1); }", "D_PROTO_LEN"},
    {"BEGIN { @a = sum(\"a\"); }", "D_AGG_SCALAR"},
    {"BEGIN { @a = lquantize(1, x, 5); x = 1; }", "D_LQUANT_BASETYPE"},
    {"BEGIN { @a = lquantize(1, 6, 5); }", "D_LQUANT_MISMATCH"},
    {"BEGIN { @a = lquantize(1, 5, 5); }", "D_LQUANT_STEPLARGE"},
    {"BEGIN { @a = lquantize(1, 0, 5, 0); }", "D_LQUANT_STEPTYPE"},
    {"BEGIN { @a = lquantize(1, 0, 100000, 70000); }", "D_LQUANT_STEPVAL"},
    {"BEGIN { @a = lquantize(1, 0, 5, 10); }", "D_LQUANT_STEPLARGE"},
    {"BEGIN { @a = lquantize(1, 0, 100000); }", "D_LQUANT_STEPSMALL"},
    {"BEGIN { @a = lquantize(1, 1L << 40, 5); }", "D_LQUANT_BASEVAL"},
    {"BEGIN { @a = lquantize(1, 5, 1L << 40); }", "D_LQUANT_LIMVAL"},
    {"BEGIN { @a = llquantize(1, 10, 0, 3, 30); }", "D_LLQUANT_STEPVAL"},
    {"BEGIN { @a = llquantize(1, 10, 3, 0, 10); }", "D_LLQUANT_HMAGVAL"},
    {"BEGIN { @a = lquantize(1, 0, 5); @a = lquantize(1, 1, 5); }", "D_LQUANT_MATCHBASE"},
    {"BEGIN { @a = lquantize(1, 0, 5); @a = lquantize(1, 0, 6); }", "D_LQUANT_MATCHLIM"},
    {"BEGIN { @a = llquantize(1, 1, 0, 2, 10); }", "D_LLQUANT_FACTORVAL"},
    {"BEGIN { x = count(); }", "D_OP_ACT"},
    {"BEGIN { printf(\"%d\"); }", "D_PRINTF_ARG_PROTO"},
    {"BEGIN { printf(\"a\", 1); }", "D_PRINTF_ARG_EXTRA"},
    {"BEGIN { printf(\"%s\", 1); }", "D_PRINTF_ARG_TYPE"},
    {"BEGIN { printf(execname); }", "D_PRINTF_ARG_FMT"},
    {"BEGIN { printf(\"\"); }", "D_PRINTF_FMT_EMPTY"},
    {"BEGIN { printf(\"%@d\", 1); }", "D_PRINTF_AGG_CONV"},
    {"BEGIN { printa(@a); }", "D_PRINTA_AGGBAD"},
    {"BEGIN { printa(1); }", "D_PRINTA_AGGARG"},
    {"BEGIN { printa(); }", "D_PRINTA_PROTO"},
    {"BEGIN { clear(@a); }", "D_CLEAR_AGGBAD"},
    {"BEGIN { clear(1); }", "D_CLEAR_AGGARG"},
    {"BEGIN { clear(); }", "D_CLEAR_PROTO"},
    {"BEGIN { trunc(1); }", "D_TRUNC_AGGARG"},
    {"BEGIN { normalize(@a, 1); }", "D_NORMALIZE_AGGBAD"},
    {"BEGIN { tracemem(0, pid); }", "D_TRACEMEM_SIZE"},
    {"BEGIN { stack(pid); }", "D_STACK_SIZE"},
    {"BEGIN { stack(1, 2); }", "D_STACK_PROTO"},
    {"BEGIN { ustack(pid); }", "D_USTACK_FRAMES"},
    {"BEGIN { commit(1); commit(1); }", "D_COMM_COMM"},
    {"BEGIN { trace(1); commit(1); }", "D_COMM_DREC"},
    {"BEGIN { commit(1); trace(1); }", "D_DREC_COMM"},
    {"BEGIN { speculate(1); speculate(1); }", "D_SPEC_SPEC"},
    {"BEGIN { commit(1); speculate(1); }", "D_SPEC_COMM"},
    {"BEGIN { trace(1); speculate(1); }", "D_SPEC_DREC"},
    {"BEGIN { speculate(1); @ = count(); }", "D_AGG_SPEC"},
    {"BEGIN { speculate(1); exit(0); }", "D_EXIT_SPEC"},
    {"BEGIN { trace(args[11]); }", "D_ARGS_IDX"},
    {"BEGIN { trace(xlate < struct o > (1).b); }", "D_XLATE_NONE"},
    {"int x; string x; BEGIN", "D_DECL_IDRED"},
    {"BEGIN { exit(\"a\"); }", "D_PROTO_ARG"},
    {"BEGIN { x = htons(\"a\"); }", "D_PROTO_ARG"},
    {"BEGIN { commit(\"a\"); }", "D_PROTO_ARG"},
    {"BEGIN { speculate(\"a\"); }", "D_PROTO_ARG"},
    {"BEGIN { x = progenyof(\"a\"); }", "D_PROTO_ARG"},
    {"BEGIN { @ = quantize(1, \"a\"); }", "D_PROTO_ARG"},
    {"BEGIN { printf(\"%*d\", \"a\", 1); }", "D_PRINTF_DYN_TYPE"},
    {"BEGIN { @a[1] = count(); printa(\"%s %@d\", @a); }", "D_PRINTF_ARG_TYPE"},
    {"BEGIN { @a = count(); printa(\"%@s\", @a); }", "D_PRINTF_AGG_CONV"},
    {"BEGIN { @a[1] = count(); @b[\"a\"] = count(); printa(@a, @b); }", "D_PRINTA_AGGKEY"},
    {"BEGIN { ustack(1, -1); }", "D_USTACK_STRSIZE"},
    {"BEGIN { x = &5; }", "D_ADDROF_LVAL"},
    {"BEGIN { x = &pid; }", "D_ADDROF_VAR"},
    {"BEGIN { x = ~\"a\"; }", "D_OP_INT"},
    {"BEGIN { x = offsetof(int, a); }", "D_OFFSETOF_TYPE"},
    {"int x[]; BEGIN", "D_DECL_ARRNULL"},
    {"int pid; BEGIN", "D_DECL_IDRED"},
    {"int x[string]; BEGIN { x[1] = 2; }", "D_PROTO_ARG"},
    {"int x[int, int]; BEGIN { x[1] = 2; }", "D_PROTO_LEN"},
    {"static int x; BEGIN", "D_DECL_BADCLASS"},
    {"void x; BEGIN", "D_DECL_VOIDOBJ"},
    {"int a[-1]; BEGIN", "D_DECL_ARRSUB"},
    {"this int a[string]; BEGIN", "D_DECL_LOCASSC"},
    {"struct s { int a : 33; }; BEGIN", "D_DECL_BFSIZE"},
    {"struct s { string a : 3; }; BEGIN", "D_DECL_BFTYPE"},
    {"enum e { A = 1 << 40L }; BEGIN", "D_DECL_ENCONST"},
    {"long char x; BEGIN", "D_DECL_CHARATTR"},
    {"unsigned string x; BEGIN", "D_DECL_SIGNINT"},
    {"long string x; BEGIN", "D_DECL_LONGINT"},
    {"signed unsigned x; BEGIN", "D_DECL_COMBO"},
};

TEST(Mistakes, HaveTheNamesOfDTrace) {
  for (const Case& c : tags) {
    base::Source source("test.d", c.script);
    base::Diagnostics diagnostics;
    dlang::TranslateOptions d;
    session::CompileOptions options;
    options.d_script = &d;
    EXPECT_FALSE(session::compile(source, options, diagnostics).ok) << c.script;
    std::string_view found;
    for (const base::Diagnostic& one : diagnostics.all())
      if (found.empty() && one.severity == base::Severity::error) found = dlang::error_tag(one.tag);
    EXPECT_EQ(found, c.expected) << c.script << "\n" << diagnostics.render(source, false);
  }
}

TEST(Mistakes, ShowTheirNamesOnDemand) {
  base::Source source("test.d", "BEGIN { trace(; }");
  base::Diagnostics diagnostics;
  dlang::TranslateOptions d;
  d.settings.emplace_back("errtags", "");
  const dlang::Translated t = dlang::translate(source, d, diagnostics);
  EXPECT_TRUE(t.plan->error_tags);
  EXPECT_EQ(dlang::with_error_tags(diagnostics).render(source, false).substr(0, 33), "test.d:1:15-16: ERROR: [D_SYNTAX]");
}

TEST(Mistakes, DescriptionsMayMatchNothing) {
  const std::string script = "nosuch:::probe, syscall::nosuch:entry, syscall::read:middle { nothing[1] = \"a\"; } BEGIN { trace(1); }";
  EXPECT_NE(d_test::run("#pragma D option quiet\n" + script, {}, false).evaluator, "1");
  EXPECT_EQ(d_test::run("#pragma D option quiet\n#pragma D option zdefs\n" + script, {}, false).evaluator, "1");
}

TEST(Mistakes, EveryArgumentIsUsed) {
  EXPECT_NE(d_test::run("BEGIN { trace($1); }", {"1", "extra"}, false).evaluator.find("`extra` is not used"), std::string::npos);
  EXPECT_EQ(d_test::run("#pragma D option quiet\n#pragma D option argref\nBEGIN { trace($1); }", {"1", "extra"}, false).evaluator, "1");
}

} // namespace
