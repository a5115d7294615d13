// Command lines: options before, after and between other words, the script's own behind `--`, and typos.
#include "base/text.h"
#include "session/options.h"
#include "spec/subcommands.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>

namespace {

using session::Arguments;
using session::Options;
using spec::OptionId;

base::Result<Arguments> parse(std::vector<std::string> words, std::string_view subcommand = "run") {
  std::vector<char*> pointers;
  for (std::string& w : words) pointers.push_back(w.data());
  return session::parse_arguments(*spec::find_subcommand(subcommand), pointers);
}

Options options(std::vector<std::string> words) {
  auto arguments = parse(std::move(words));
  EXPECT_TRUE(arguments.ok()) << arguments.error().message;
  auto out = session::read_options(*arguments);
  EXPECT_TRUE(out.ok()) << out.error().message;
  return std::move(*out);
}

std::string mistake(std::vector<std::string> words) {
  auto arguments = parse(std::move(words));
  if (!arguments.ok()) {
    EXPECT_EQ(arguments.error().kind, base::Failure::usage);
    return arguments.error().message;
  }
  auto out = session::read_options(*arguments);
  return out.ok() ? "" : out.error().message;
}

TEST(Arguments, OptionsAndWordsMix) {
  Options o = options({"a.bt", "-q", "one", "-f", "json", "two", "-v"});
  EXPECT_EQ(o.file, "a.bt");
  EXPECT_EQ(o.positional, (std::vector<std::string>{"one", "two"}));
  EXPECT_TRUE(o.quiet && o.json && o.verbose);
}

TEST(Arguments, TextOfTheScriptLeavesAllWordsToIt) {
  Options o = options({"-e", "begin {}", "7", "-B", "none"});
  EXPECT_EQ(o.script, "begin {}");
  EXPECT_TRUE(o.has_script && o.file.empty());
  EXPECT_EQ(o.positional, std::vector<std::string>{"7"});
  EXPECT_EQ(o.buffering, session::Buffering::none);
}

TEST(Arguments, BehindTheDashesAllIsTheScripts) {
  Options o = options({"-e", "x", "p1", "--", "--aa=20", "--bb", "-q", "p2"});
  EXPECT_EQ(o.positional, (std::vector<std::string>{"p1", "-q", "p2"}));
  ASSERT_EQ(o.named.size(), 2u);
  EXPECT_EQ(o.named[0], (std::pair<std::string, std::string>{"aa", "20"}));
  EXPECT_EQ(o.named[1], (std::pair<std::string, std::string>{"bb", "true"}));
  EXPECT_FALSE(o.quiet);
}

TEST(Arguments, DashesAsAnArgumentAreNotTheEnd) {
  Options o = options({"-e", "x", "-o", "--", "-q"});
  EXPECT_EQ(o.output_file, "--");
  EXPECT_TRUE(o.quiet);
}

TEST(Arguments, LettersMayBeJoined) {
  Options o = options({"-lv", "tracepoint:*"});
  EXPECT_TRUE(o.list && o.verbose);
  EXPECT_EQ(o.file, "tracepoint:*");
  EXPECT_EQ(options({"-e", "x", "-p12"}).pid, 12);
  EXPECT_EQ(options({"-e", "x", "-e", "y"}).script, "x\ny");
}

TEST(Arguments, EveryOptionOfTheTableIsTakenIn) {
  for (const spec::Option& o : spec::run_options) {
    std::string value = o.allowed.empty() ? "1" : std::string(o.allowed.substr(0, o.allowed.find('|')));
    std::vector<std::string> words = {"--" + std::string(o.name)};
    if (!o.argument.empty()) words.push_back(value);
    auto parsed = parse(words);
    ASSERT_TRUE(parsed.ok()) << o.name << parsed.error().message;
    ASSERT_EQ(parsed->options.size(), 1u);
    EXPECT_EQ(parsed->options[0].id, o.id);
    EXPECT_EQ(parsed->options[0].value, o.argument.empty() ? "" : value);
    if (o.letter) {
      words[0] = std::string("-") + o.letter;
      EXPECT_TRUE(parse(words).ok()) << o.name;
    }
  }
}

TEST(Arguments, TyposGetTheNearestName) {
  EXPECT_EQ(mistake({"--quite", "x"}), "unknown option `--quite`; did you mean `--quiet`?");
  EXPECT_NE(mistake({"-e", "x", "-f", "jsn"}).find("did you mean `json`?"), std::string::npos);
  EXPECT_NE(mistake({"-e", "x", "-Z"}).find("unknown option `-Z`"), std::string::npos);
}

TEST(Arguments, WrongUseIsNamed) {
  EXPECT_EQ(mistake({"-e"}), "`-e` needs an argument");
  EXPECT_EQ(mistake({"--quiet=yes", "x"}), "`--quiet=yes` takes no argument");
  EXPECT_NE(mistake({}).find("no script"), std::string::npos);
  EXPECT_NE(mistake({"-e", "x", "-p", "none"}).find("not `none`"), std::string::npos);
  EXPECT_NE(mistake({"-e", "x", "-p", "1", "-c", "true"}).find("cannot be combined"), std::string::npos);
}

TEST(Arguments, HelpNamesEveryOption) {
  for (const spec::Subcommand& s : spec::subcommands) {
    std::string help = session::help_text(s);
    for (const spec::Option& o : s.options)
      EXPECT_NE(help.find("--" + std::string(o.name)), std::string::npos) << o.name;
  }
}

// Options mean the same everywhere: a name has one letter, and among the commands that watch a letter has one name.
TEST(Arguments, OptionsMeanTheSameEverywhere) {
  std::map<std::string_view, char> letters; // by name
  std::map<char, std::string_view> names;   // by letter
  constexpr std::string_view of_their_own[] = {"run", "bpftrace", "dscript", "export", "emit", "agent", "trace", "core", "snap", "sym", "modules", "why"}; // bpftrace's, DTrace's, strace's and (-C) ps's letters, -t of --to, and older
  for (const spec::Subcommand& s : spec::subcommands)
    for (const spec::Option& o : s.options) {
      if (o.name.empty() || o.name == "execute") continue; // -e is a script wherever one is taken
      const bool is_own = base::is_one_of(of_their_own, s.name);
      if (o.letter || !is_own) { // the letter may be taken there
        EXPECT_EQ(letters.try_emplace(o.name, o.letter).first->second, o.letter) << s.name << " --" << o.name;
      }
      if (o.letter && !is_own) {
        EXPECT_EQ(names.try_emplace(o.letter, o.name).first->second, o.name) << s.name << " -" << o.letter;
      }
    }
}

TEST(Arguments, HelpFitsOnAScreen) {
  for (const spec::Subcommand& s : spec::subcommands) {
    const std::string help = session::help_text(s);
    EXPECT_LT(std::count(help.begin(), help.end(), '\n'), 45) << s.name;
  }
}

// ---- corners of getopt_long(3)

TEST(Arguments, LongOptionsTakeTheirValueInBothWays) {
  EXPECT_EQ(options({"--execute=begin {}"}).script, "begin {}");
  EXPECT_EQ(options({"--execute", "begin {}"}).script, "begin {}");
  EXPECT_EQ(options({"--execute=", "x"}).script, "") << "an empty one";
  EXPECT_EQ(options({"--execute=a=b"}).script, "a=b") << "up to the first sign";
}

TEST(Arguments, LongOptionsMayBeAbbreviated) {
  EXPECT_TRUE(options({"--quie", "x"}).quiet);
  EXPECT_NE(mistake({"--no", "x"}).find("unknown option `--no`"), std::string::npos) << "--no-warnings, --no-feature, --notify…";
}

TEST(Arguments, ADashAloneIsStandardInput) {
  EXPECT_EQ(options({"-"}).file, "-");
  EXPECT_EQ(options({"-", "a"}).positional, std::vector<std::string>{"a"});
}

TEST(Arguments, ValuesMayLookLikeOptions) {
  EXPECT_EQ(options({"-e", "-q"}).script, "-q");
  EXPECT_EQ(options({"-e", "x", "-o", "-v"}).output_file, "-v");
}

TEST(Arguments, AnEmptyWordIsAWord) {
  const Options o = options({"-e", "x", "", "a"});
  EXPECT_EQ(o.positional, (std::vector<std::string>{"", "a"}));
  EXPECT_NE(mistake({""}).find("no script"), std::string::npos) << "but no file";
}

TEST(Arguments, TheLastOfTwoCounts) {
  EXPECT_EQ(options({"-e", "x", "-o", "a", "-o", "b"}).output_file, "b");
  auto parsed = parse({"-v", "-v", "-e", "x"});
  EXPECT_EQ(parsed->count(OptionId::verbose), 2u);
  EXPECT_EQ(parsed->value(OptionId::output), nullptr);
}

TEST(Arguments, ListsOfWordsAreCheckedOneByOne) {
  const Options o = options({"-e", "x", "-d", "ast,bpf"});
  EXPECT_TRUE(o.dump.ast && o.dump.bpf && !o.dump.ir && o.dump.any);
  EXPECT_NE(mistake({"-e", "x", "-d", "ast,bff"}).find("not `bff`; did you mean `bpf`?"), std::string::npos);
  EXPECT_NE(mistake({"-e", "x", "-d", "ast,"}).find("not ``"), std::string::npos);
}

TEST(Arguments, ParametersOfScripts) {
  const Options o = options({"-e", "x", "-D", "A=1", "-D", "B=", "-D", "C=a=b"});
  EXPECT_EQ(o.parameters, (std::vector<std::pair<std::string, std::string>>{{"A", "1"}, {"B", ""}, {"C", "a=b"}}));
  for (const char* wrong : {"A", "=1", ""}) EXPECT_EQ(mistake({"-e", "x", "-D", wrong}), "`-D` takes NAME=VALUE, not `" + std::string(wrong) + "`");
}

TEST(Arguments, NamedParametersOfTheScript) {
  const Options o = options({"-e", "x", "--", "--a=", "--b=c=d", "--", "---", "-x"});
  EXPECT_EQ(o.named, (std::vector<std::pair<std::string, std::string>>{{"a", ""}, {"b", "c=d"}, {"-", "true"}}));
  EXPECT_EQ(o.positional, (std::vector<std::string>{"--", "-x"}));
}

TEST(Arguments, WhatExcludesEachOther) {
  EXPECT_NE(mistake({"-e", "x", "--test", "--bench"}).find("cannot be combined"), std::string::npos);
  EXPECT_NE(mistake({"-e", "x", "--for", "f", "-p", "1"}).find("`--for` and `-p` exclude each other"), std::string::npos);
  EXPECT_NE(mistake({"-e", "x", "--for", "f"}).find("compiles for another host and runs nothing"), std::string::npos);
  EXPECT_EQ(mistake({"-e", "x", "--for", "f", "-d", "bpf"}), "");
  EXPECT_NE(mistake({"-e", "x", "-c", "  "}).find("`-c` needs a command"), std::string::npos);
}

TEST(Arguments, ACommandIsKeptAsItIs) {
  auto parsed = parse({"-a", "--", "ls", "-l", "--", "--color=x"}, "trace");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->behind, (std::vector<std::string>{"ls", "-l", "--", "--color=x"}));
  EXPECT_EQ(parsed->words_before, 0u);
  EXPECT_TRUE(parse({"-a", "--"}, "trace")->behind.empty());
}

} // namespace
