// What is made from the tables: manual pages, the reference, completions, and the list of tools.
#include "said.h"
#include "spec/subcommands.h"
#include "tool/scripts.h"

#include "base/text.h"
#include "spec/builtins.h"
#include "spec/config.h"
#include "spec/probes.h"
#include "spec/profile_kinds.h"

#include <gtest/gtest.h>

namespace tool {
namespace {

std::vector<std::string> completed(std::vector<std::string_view> words) { return complete(words); }
bool has(const std::vector<std::string>& all, std::string_view one) { return std::ranges::find(all, one) != all.end(); }
std::string shown(std::initializer_list<std::string_view> words) {
  said.clear();
  std::vector<std::string> copies(words.begin(), words.end());
  std::vector<char*> pointers;
  for (std::string& w : copies) pointers.push_back(w.data());
  EXPECT_EQ(tools(pointers), 0) << complained;
  return said;
}

// ---- manual pages, see man(7)

// What roff makes of a page would be hidden or misplaced: requests that are none, and letters that it does not know.
void check_roff(const std::string& page, std::string_view name) {
  constexpr std::string_view requests[] = {".TH", ".SH", ".TP", ".EX", ".EE", ".br"};
  for (std::string_view line : base::split(page, '\n')) {
    const std::string_view first = line.substr(0, line.find(' '));
    if (line.starts_with(".")) {
      EXPECT_TRUE(base::is_one_of(requests, first)) << name << ": " << line;
    }
    EXPECT_FALSE(line.starts_with("'")) << name << ": " << line;
    for (char c : line) EXPECT_TRUE(static_cast<unsigned char>(c) < 0x80 && c >= ' ') << name << ": " << line;
    // Each backslash begins an escape that is known.
    for (size_t at = line.find('\\'); at != line.npos; at = line.find('\\', at + 2))
      EXPECT_TRUE(std::string_view("-e&f[").find(line[std::min(at + 1, line.size() - 1)]) != std::string_view::npos) << name << ": " << line;
  }
}

TEST(Manual, PagesAreRoff) {
  check_roff(manual(nullptr), "acu");
  for (const spec::Subcommand& s : spec::subcommands) check_roff(manual(&s), s.name);
}

TEST(Manual, EachOptionIsExplained) {
  for (const spec::Subcommand& s : spec::subcommands) {
    const std::string page = manual(&s);
    EXPECT_TRUE(page.starts_with(".TH acu\\-" + std::string(s.name)) || page.starts_with(".TH ACU")) << page.substr(0, 40);
    for (const spec::Option& o : s.options) {
      std::string name;
      for (char c : "--" + std::string(o.name)) name.append(c == '-' ? "\\" : "").append(1, c);
      if (!o.name.empty()) {
        EXPECT_NE(page.find("\\fB" + name + "\\fR"), std::string::npos) << s.name << " " << o.name;
      }
      EXPECT_FALSE(o.doc.empty()) << s.name << " " << o.name;
    }
  }
}

TEST(Manual, TheOverviewHasEachSubcommandAndTool) {
  const std::string page = manual(nullptr);
  for (const spec::Subcommand& s : spec::subcommands) EXPECT_NE(page.find("acu\\-" + std::string(s.name) + "\\fR(1)"), std::string::npos) << s.name;
}

// ---- the reference

TEST(Reference, HasEachRowOfTheTables) {
  const std::string text = reference();
  for (const spec::Builtin& b : spec::builtins) EXPECT_NE(text.find("\n### " + std::string(b.name) + "\n"), std::string::npos) << std::string_view(b.name);
  for (const spec::ProbeKind& p : spec::probe_kinds) EXPECT_NE(text.find("\n## " + std::string(p.name) + "\n"), std::string::npos) << p.name;
  for (const spec::ConfigKey& k : spec::config_keys) EXPECT_NE(text.find("\n| `" + std::string(k.name) + "` |"), std::string::npos) << k.name;
  for (const spec::Subcommand& s : spec::subcommands) EXPECT_NE(text.find("\n## acu " + std::string(s.name) + "\n"), std::string::npos) << s.name;
}

// Bars that are not escaped would end a cell.
TEST(Reference, TablesHaveTheirColumns) {
  size_t columns = 0;
  const std::string text = reference();
  for (std::string_view line : base::split(text, '\n')) {
    if (!line.starts_with("|")) {
      columns = 0;
      continue;
    }
    size_t bars = 0;
    for (size_t i = 0; i < line.size(); i++) bars += line[i] == '|' && (i == 0 || line[i - 1] != '\\');
    if (columns) {
      EXPECT_EQ(bars, columns) << line;
    }
    columns = bars;
  }
}

// ---- completion

TEST(Complete, SubcommandsAndToolsFirst) {
  const std::vector<std::string> all = completed({""});
  for (const spec::Subcommand& s : spec::subcommands) EXPECT_TRUE(has(all, s.name)) << s.name;
  EXPECT_TRUE(has(completed({"opens"}), "opensnoop"));
  EXPECT_FALSE(has(completed({"opens"}), "flame"));
  EXPECT_TRUE(completed({}).empty());
}

TEST(Complete, OptionsOfTheSubcommand) {
  const std::vector<std::string> all = completed({"trace", "-"});
  for (const spec::Option& o : spec::find_subcommand("trace")->options)
    if (!o.name.empty()) {
      EXPECT_TRUE(has(all, "--" + std::string(o.name))) << o.name;
    }
  EXPECT_EQ(completed({"trace", "--min-dur"}), std::vector<std::string>{"--min-duration"});
  EXPECT_TRUE(completed({"nothing", "-"}).empty());
}

TEST(Complete, WordsThatAnOptionAllows) {
  EXPECT_EQ(completed({"trace", "--sort", "e"}), std::vector<std::string>{"errors"});
  EXPECT_EQ(completed({"trace", "--sort=e"}), std::vector<std::string>{"--sort=errors"});
  EXPECT_TRUE(completed({"trace", "--sort=zzz"}).empty());
  EXPECT_TRUE(completed({"trace", "--nothing=e"}).empty());
}

TEST(Complete, BehindACommaTheRestStays) {
  EXPECT_EQ(completed({"trace", "-e", "read,pipe2"}), std::vector<std::string>{"read,pipe2"});
  EXPECT_TRUE(has(completed({"trace", "-e", "read,%"}), "read,%file"));
  const std::string own = std::to_string(::getpid());
  EXPECT_TRUE(has(completed({"trace", "-p", "1," + own}), "1," + own)) << "this process is there";
}

TEST(Complete, NothingWithinACommand) {
  EXPECT_TRUE(completed({"trace", "--", "ls", "-"}).empty());
  EXPECT_TRUE(completed({"trace", "-a", "--", ""}).empty());
  EXPECT_FALSE(completed({"trace", "--"}).empty()) << "it may become an option";
}

TEST(Complete, KindsOfRecordings) {
  const std::vector<std::string> all = completed({"flame", ""});
  for (const spec::ProfileKind& k : spec::profile_kinds) EXPECT_TRUE(has(all, k.name)) << k.name;
  EXPECT_TRUE(has(completed({"list", "trace"}), "tracepoint:"));
}

TEST(Complete, ScriptsForShells) {
  for (std::string_view shell : {"bash", "zsh", "fish"}) EXPECT_NE(completion_script(shell).find("help complete --"), std::string_view::npos) << shell;
  EXPECT_TRUE(completion_script("csh").empty());
  EXPECT_TRUE(completion_script("").empty());
}

// ---- tools

TEST(Tools, EachIsExplainedByItsComment) {
  for (const Script& s : all_scripts()) {
    if (!find_script(s.name)) continue; // a library
    const std::string text = shown({s.name});
    EXPECT_NE(text.find(s.name), std::string::npos) << s.name;
    EXPECT_EQ(text.find("//"), text.find("://") == text.npos ? text.npos : text.find("//")) << s.name << ": slashes of comments are left out";
    EXPECT_EQ(text.find("tools/" + std::string(s.name) + ".bt"), text.npos) << s.name << ": it is called by its name";
  }
  EXPECT_EQ(find_script("libstdcxx"), nullptr);
  EXPECT_EQ(find_script(""), nullptr);
}

TEST(Tools, TheListHasEach) {
  const std::string all = shown({});
  for (const Script& s : all_scripts())
    if (find_script(s.name) && s.name != "survey") { // which `make run` runs
      EXPECT_NE(all.find("\n  " + std::string(s.name) + " "), std::string::npos) << s.name;
    }
}

TEST(Tools, NamesAreNotDoubled) {
  std::set<std::string_view> seen;
  for (const Script& s : all_scripts()) {
    EXPECT_TRUE(seen.insert(s.name).second) << s.name;
    EXPECT_EQ(spec::find_subcommand(s.name), nullptr) << s.name << " would never be run";
  }
}

TEST(Tools, UnknownOnesGetTheNearest) {
  EXPECT_EQ(refusal("tools", {"opensnop"}), "there is no tool `opensnop`; did you mean `opensnoop`?");
  EXPECT_EQ(refusal("tools", {"zzzzzzzzzzzz"}), "there is no tool `zzzzzzzzzzzz` (`acu tools` lists them)");
}

TEST(Help, UnknownTopicsGetTheNearest) {
  EXPECT_EQ(refusal("help", {"flme"}), "there is no subcommand `flme`; did you mean `flame`?");
  EXPECT_EQ(refusal("help", {"man", "flme"}), "there is no subcommand `flme`; did you mean `flame`?");
  EXPECT_EQ(refusal("help", {"completion", "bsh"}), "there is no completion for the shell `bsh`; did you mean `bash`?");
}

} // namespace
} // namespace tool
