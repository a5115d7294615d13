// Perl: its files, its statements, frames of stopped programs.
#include "runtime/perl.h"

#include "format/elf_hash.h"
#include "runtime/perl_layouts.h"

#include "made_walk.h"

#include <gtest/gtest.h>

#include <random>

namespace runtime {
namespace {

constexpr uint64_t root = 0x100000, descriptor = 0x200000, interpreter = 0x300000, stacks = 0x400000, contexts = 0x500000, statements = 0x600000,
                   codes = 0x700000, texts = 0x800000;
constexpr uint64_t from_perl = 0x1234; // an operation to return to
constexpr uint8_t is_sub = PERL_CX_SUB, is_eval = PERL_CX_EVAL | PERL_CX_EVAL_BLOCK, is_text = PERL_CX_EVAL | PERL_CX_EVAL_TEXT, is_block = 2;

struct Context {
  uint8_t type = 0;
  uint64_t returns_to = from_perl;
};

// A handmade process: words by address; what was not set is not readable. Statement n is at line 10 + n: the innermost frame is at statement 0,
// and what is behind context n, counted from the innermost one on all stacks, at statement n + 1. Sub n is that of context n.
class Program : public MadeMemory {
public:
  explicit Program(const perl_layout& layout) {
    table.kind = LANGUAGE_PERL;
    table.root = root;
    table.perl = layout;
    if (layout.has_threads) {
      constexpr uint64_t key = 35, block = descriptor + 0x310, second = descriptor + 0x10000;
      for (uint64_t i = 0; i < PERL_DESCRIPTOR_BYTES; i += 8) word(descriptor + i, 7);
      word(root, key, 4);
      word(block + PERL_BLOCK_BYTES, block);
      word(block + PERL_BLOCK_BYTES + 8, second);
      word(second + 16 * (key % PERL_BLOCK_KEYS) + 8, interpreter);
    } else {
      table.perl.current_statement = 16;
    }
    const uint64_t at = layout.has_threads ? interpreter : root;
    word(at + table.perl.current_stack, stacks);
    word(at + table.perl.current_statement, statement());
    name(texts + 0x1000, "work"), name(texts + 0x2000, "Server"), name(texts + 0x3000, "_</srv/app.pl");
    const std::string_view file = "/srv/app.pl";
    for (uint64_t i = 0; i < LANGUAGE_FILE_BYTES; i++) word(texts + i, i < file.size() ? static_cast<uint8_t>(file[i]) : 0, 1);
  }
  const perl_layout& l() const { return table.perl; }
  // The next outer stack, its contexts innermost first.
  void add_stack(std::vector<Context> list, bool is_last) {
    const uint64_t stack = stacks + stacks_ * 0x1000, array = contexts + stacks_++ * 0x10000;
    for (uint64_t i = 0; i < PERL_STACK_BYTES; i += 8) word(stack + i, 0);
    word(stack + l().stack_contexts, array);
    word(stack + l().stack_previous, is_last ? 0 : stack + 0x1000);
    word(stack + l().stack_top, list.size() - 1, 4);
    for (size_t i = 0; i < list.size(); i++) {
      const uint64_t at = array + (list.size() - 1 - i) * l().context_bytes;
      clear(at, l().context_bytes);
      word(at, list[i].type, 1);
      if (list[i].type == is_block) continue;
      word(at + l().context_return, list[i].returns_to);
      if (list[i].type == is_sub) word(at + l().context_code, code());
      word(at + l().context_statement, statement());
    }
  }
  LanguageStack walk() const { return walk_perl(table, {.thread_pointer = descriptor, .frames = {}}, read()); }

  language_table table = {};

private:
  void name(uint64_t at, std::string_view text) {
    clear(at, LANGUAGE_LINES_BYTES);
    word(at + l().key_length, text.size(), 4);
    for (size_t i = 0; i < text.size(); i++) word(at + l().key_text + i, static_cast<uint8_t>(text[i]), 1);
  }
  // A glob and its body.
  uint64_t glob(uint64_t at, uint64_t its_name, uint64_t stash) {
    word(at + l().value_body, at + 0x100);
    word(at + l().value_pointer, at + 0x200);
    word(at + 0x100 + l().glob_name, its_name);
    word(at + 0x100 + l().glob_stash, stash);
    word(at + 0x200 + l().glob_effective, 0);
    return at;
  }
  uint64_t statement() {
    const uint64_t at = statements + statements_ * 0x1000;
    for (uint64_t i = 0; i < PERL_STATEMENT_BYTES; i += 8) word(at + i, 0);
    word(at + l().statement_line, 10 + statements_, 4);
    word(at + l().statement_sequence, statements_++, 4);
    word(at + l().statement_file, l().has_threads ? texts : glob(at + 0x100, texts + 0x3000, 0));
    return at;
  }
  uint64_t code() {
    const uint64_t at = codes + codes_++ * 0x2000, body = at + 0x100, stash = at + 0x200, stash_body = at + 0x300, buckets = at + 0x400;
    for (uint64_t i = 0; i < PERL_CODE_BYTES; i += 8) word(body + i, 0);
    word(at + l().value_body, body);
    word(body + l().code_name, glob(at + 0x1000, texts + 0x1000, stash));
    word(stash + l().value_body, stash_body);
    word(stash + l().value_pointer, buckets);
    word(stash_body + l().stash_max, 7);
    const uint64_t aux = l().aux_in_body ? stash_body + l().stash_aux : buckets + 64;
    word(aux + l().aux_name, texts + 0x2000);
    word(aux + l().aux_names, 0, 4);
    return at;
  }
  uint64_t stacks_ = 0, statements_ = 0, codes_ = 0;
};

// "10* 11": the lines of the frames; of those that open an activation with a star.
std::string text(const LanguageStack& stack) {
  std::string out;
  for (size_t i = 0; i + 1 < stack.words.size(); i += 2)
    out += (out.empty() ? "" : " ") + std::to_string(stack.words[i] & LANGUAGE_POSITION_MASK) + (stack.words[i] & LANGUAGE_FIRST ? "*" : "");
  return out;
}

std::string names(const Program& p) {
  std::string out;
  for (const language_object& object : p.walk().objects) {
    const auto code = decode_perl(object, p.table, {});
    out += code ? code->name + " " + code->file + "; " : "none; ";
  }
  return out;
}

TEST(PerlStopped, FramesWithTheirLinesAndNames) {
  for (const perl_layout& layout : perl_layouts) {
    Program p(layout);
    p.add_stack({{is_sub}, {is_block}, {is_eval}, {is_text}, {is_block}}, true);
    EXPECT_EQ(text(p.walk()), "10* 11 12 13") << layout.version;
    EXPECT_EQ(p.walk().end, uint32_t{LANGUAGE_COMPLETE});
    EXPECT_EQ(names(p), "Server::work /srv/app.pl; (eval) /srv/app.pl; (eval) /srv/app.pl; (main) /srv/app.pl; ") << layout.version;
  }
}

TEST(PerlStopped, CallsByCEndActivations) {
  for (const perl_layout& layout : perl_layouts) {
    Program p(layout);
    p.add_stack({{is_sub}, {is_sub, 0}}, false);
    p.add_stack({{is_sub, 0}, {is_sub}, {is_block}}, true);
    EXPECT_EQ(text(p.walk()), "10* 11 12* 13* 14") << layout.version;
  }
}

TEST(PerlStopped, AnEvalAroundACallByCIsOfTheSameActivation) {
  Program p(perl_layouts[0]);
  p.add_stack({{is_sub, 0}, {is_eval, 0}, {is_sub}, {is_block}}, true);
  EXPECT_EQ(text(p.walk()), "10* 11 12* 13");
}

TEST(PerlStopped, BlocksThatCRuns) {
  Program p(perl_layouts[0]);
  p.add_stack({{is_sub, 0}, {PERL_CX_NULL, 0}}, false); // a sort block that calls a sub last
  p.add_stack({{PERL_CX_SUB | PERL_CX_REGEX, 0}}, false);
  p.add_stack({{is_block}}, true);
  EXPECT_EQ(text(p.walk()), "10* 11 12* 13*");
  EXPECT_EQ(names(p), "Server::work /srv/app.pl; (sort) /srv/app.pl; (?{}) /srv/app.pl; (main) /srv/app.pl; ");
}

TEST(PerlStopped, BeforeTheProgramRunsItHasNoActivation) {
  Program p(perl_layouts[0]);
  p.add_stack({{is_sub, 0}, {is_eval, 0}}, true); // BEGIN
  EXPECT_EQ(text(p.walk()), "10* 11 12");
}

TEST(PerlStopped, TryIsNoFrame) {
  Program p(perl_layouts[0]);
  p.add_stack({{is_eval | PERL_CX_TRY}, {is_sub}, {is_block}}, true);
  EXPECT_EQ(text(p.walk()), "10* 12");
}

TEST(PerlStopped, AThreadWithoutInterpreter) {
  Program p(perl_layouts[0]);
  p.add_stack({{is_block}}, true);
  p.word(descriptor + 0x310 + PERL_BLOCK_BYTES, 0);
  EXPECT_EQ(p.walk().end, uint32_t{LANGUAGE_NO_THREAD});
}

TEST(PerlStopped, DamagedMemoryEndsTheWalk) {
  Program p(perl_layouts[0]);
  p.add_stack({{is_sub}}, false);
  EXPECT_EQ(p.walk().end, uint32_t{LANGUAGE_UNREADABLE});
  p.word(stacks + p.l().stack_previous, stacks);
  EXPECT_EQ(p.walk().end, uint32_t{LANGUAGE_TOO_DEEP});
  p.word(stacks + p.l().stack_top, 0x7ffffff0, 4);
  EXPECT_EQ(p.walk().end, uint32_t{LANGUAGE_UNREADABLE});
}

TEST(PerlCode, AnyBytes) {
  std::mt19937 random(4);
  for (const perl_layout& layout : perl_layouts)
    for (int i = 0; i < 200; i++) {
      language_object object;
      auto* bytes = reinterpret_cast<uint8_t*>(&object);
      for (size_t n = 0; n < sizeof object; n++) bytes[n] = static_cast<uint8_t>(random());
      const uint64_t kind = random() % 8;
      std::memcpy(object.object, &kind, sizeof kind);
      language_table table = {};
      table.perl = layout;
      EXPECT_EQ(decode_perl(object, table, {}).has_value(), kind <= PERL_FRAME_PROGRAM);
    }
}

TEST(PerlCode, LongTextsAreReadAtOnceOrCut) {
  language_table table = {};
  table.perl = perl_layouts[0];
  language_object object = {};
  const perl_object found = {.kind = PERL_FRAME_PROGRAM, .name = 0, .file = 0x1000, .stash = 0};
  std::memcpy(object.object, &found, sizeof found);
  std::memset(object.file, 'x', sizeof object.file);
  EXPECT_EQ(decode_perl(object, table, {})->file, std::string(sizeof object.file, 'x') + "…");
  const ReadMemory read = [&](uint64_t address, std::span<std::byte> to) {
    for (size_t i = 0; i < to.size(); i++) to[i] = address + i < 0x1000 + 400 ? std::byte{'x'} : std::byte{0};
    return true;
  };
  EXPECT_EQ(decode_perl(object, table, read)->file, std::string(400, 'x'));
}

TEST(PerlLayouts, WhatIsReadIsAsLongAsItsFields) {
  for (const perl_layout& l : perl_layouts) {
    for (uint16_t field : {l.context_statement, l.context_return, l.context_code, l.context_name}) EXPECT_LE(field + 8, l.context_bytes) << l.version;
    for (uint16_t field : {l.code_name, l.code_stash}) EXPECT_LE(field + 8, l.code_bytes) << l.version;
    for (uint16_t field : {l.stack_contexts, l.stack_previous}) EXPECT_LE(field + 8, l.stack_bytes) << l.version;
    EXPECT_LE(l.statement_file + 8, PERL_STATEMENT_BYTES);
    EXPECT_LE(l.statement_sequence + 4, PERL_STATEMENT_BYTES);
    EXPECT_LT(l.context_bytes, PERL_CONTEXT_BYTES);
    EXPECT_LT(l.code_bytes, PERL_CODE_BYTES);
    EXPECT_LT(l.stack_bytes, PERL_STACK_BYTES);
  }
}

TEST(PerlFiles, TheInstalledOneIsKnown) {
  auto file = format::ElfFile::open("/usr/bin/perl");
  if (!file.ok()) GTEST_SKIP() << file.error().message;
  const auto found = recognise(*file);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->version.starts_with("Perl 5.")) << found->version;
  EXPECT_EQ(found->problem, "");
  EXPECT_LT(found->table.evaluation[0].begin, found->table.evaluation[0].end);
  EXPECT_LT(found->table.nested.begin, found->table.nested.end);
}

// The number of the version is made another one: 5.37.
TEST(PerlFiles, AVersionThatIsNotKnownIsNamed) {
  auto file = format::ElfFile::open("/usr/bin/perl");
  if (!file.ok()) GTEST_SKIP() << file.error().message;
  const auto version = format::find_exported(*file, "PL_version");
  ASSERT_TRUE(version);
  const auto at = file->elf().offset_of_address(version->value);
  ASSERT_TRUE(at);
  std::vector<std::byte> image(file->bytes().begin(), file->bytes().end());
  image[*at] = std::byte{37};
  auto changed = format::ElfFile::of(std::move(image));
  ASSERT_TRUE(changed.ok());
  const auto found = recognise(*changed);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->version.starts_with("Perl 5.37.")) << found->version;
  EXPECT_EQ(found->problem, "layout not known");
}

// An interpreter that is laid out otherwise than the headers of its version say: the functions that begin with its fields load others.
TEST(PerlFiles, ALayoutThatTheCodeContradictsIsNotTaken) {
  auto file = format::ElfFile::open("/usr/bin/perl");
  if (!file.ok()) GTEST_SKIP() << file.error().message;
  const auto function = format::find_exported(*file, "Perl_ckwarn");
  ASSERT_TRUE(function);
  const auto at = file->elf().offset_of_address(function->value);
  ASSERT_TRUE(at);
  std::vector<std::byte> image(file->bytes().begin(), file->bytes().end());
  for (uint64_t i = 0; i < function->size; i++) image[*at + i] = std::byte{0x90};
  auto changed = format::ElfFile::of(std::move(image));
  ASSERT_TRUE(changed.ok());
  const auto found = recognise(*changed);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->problem, format::find_exported(*file, "PL_thr_key") ? "layout not known" : "");
}

} // namespace
} // namespace runtime
