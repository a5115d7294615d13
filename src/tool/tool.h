// The subcommands of acu. Each takes what is after its name, as words or parsed by its options, and gives the exit status.
#pragma once

#include "base/result.h"
#include "session/arguments.h"
#include "session/options.h"
#include "spec/options.h"

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tool {

using Words = std::span<char* const>;

int run(Words words);
int list(const session::Arguments& arguments);
int bpftrace(Words words);
int dscript(const session::Arguments& arguments);
int convert(const session::Arguments& arguments);
int sym(const session::Arguments& arguments);
int modules(const session::Arguments& arguments);
int flame(const session::Arguments& arguments);
int record(Words words);
int flight(const session::Arguments& arguments);
int dump(const session::Arguments& arguments);
int top(const session::Arguments& arguments);
int report(const session::Arguments& arguments);
int timeline(const session::Arguments& arguments);
int diff(const session::Arguments& arguments);
int trace(const session::Arguments& arguments);
int slow(const session::Arguments& arguments);
int waits(const session::Arguments& arguments);
int why(const session::Arguments& arguments);
int graph(const session::Arguments& arguments);
int stat(const session::Arguments& arguments);
int core(Words words);
int snap(Words words);
int sql(const session::Arguments& arguments);
int export_maps(const session::Arguments& arguments);
int emit(const session::Arguments& arguments);
int tools(Words words);
int own_tool(Words words);
int mcp(const session::Arguments& arguments);
int api(const session::Arguments& arguments);
int serve(const session::Arguments& arguments);
int store(const session::Arguments& arguments);
int agent(const session::Arguments& arguments);
int collect(const session::Arguments& arguments);
int learn(const session::Arguments& arguments);
int policy(const session::Arguments& arguments);
int info(const session::Arguments& arguments);
int help(Words words);

// What each subcommand of spec/subcommands.h starts: one of both.
struct Command {
  std::string_view name;
  int (*parsed)(const session::Arguments&) = nullptr; // not called for --help
  int (*words)(Words) = nullptr;
  constexpr Command(std::string_view name_, int (*run)(const session::Arguments&)) : name(name_), parsed(run) {}
  constexpr Command(std::string_view name_, int (*run)(Words)) : name(name_), words(run) {}
};
constexpr Command commands[] = {
    {"run", run}, {"list", list}, {"bpftrace", bpftrace}, {"dscript", dscript}, {"convert", convert}, {"sym", sym}, {"modules", modules},
    {"flame", flame}, {"record", record}, {"flight", flight}, {"dump", dump}, {"top", top}, {"report", report}, {"timeline", timeline},
    {"diff", diff}, {"trace", trace}, {"slow", slow}, {"waits", waits}, {"why", why}, {"graph", graph}, {"stat", stat}, {"core", core},
    {"snap", snap}, {"sql", sql}, {"export", export_maps}, {"emit", emit}, {"tools", tools}, {"tool", own_tool}, {"mcp", mcp}, {"api", api}, {"serve", serve},
    {"store", store}, {"agent", agent}, {"collect", collect}, {"learn", learn}, {"policy", policy}, {"info", info}, {"help", help},
};
// The same for a tool, whose script is the text of -e.
int run(Words words, const session::ReadyTool& tool);
int core(Words words, const session::ReadyTool& tool);
int snap(Words words, const session::ReadyTool& tool);

// Writes to standard output or standard error.
void say(std::string_view text);
void complain(std::string_view text);
int version();
// Of the release, without the build.
std::string_view version_number();
// With the words after its name.
int run_command(const Command& command, Words words);
// Parses these words; prints what is wrong, or its help, or runs it.
int run_command(std::string_view subcommand, Words words, const std::function<int(const session::Arguments&)>& run);
// Prints a mistake in the command line; returns its exit status.
int refuse(std::string_view message);
// The same for a word that the subcommand does not take.
int refuse_word(std::string_view subcommand, std::string_view word);
// Prints why something failed; returns the exit status for it.
int fail(const base::Error& error);

// `acu` without anything, and `acu help`.
void show_overview(void (*to)(std::string_view));
// The reference manual as Markdown.
std::string reference();
// The manual page of a subcommand, or of acu, as man(7) has them.
std::string manual(const spec::Subcommand* subcommand);
// What a shell reads to complete command lines of acu; empty: it is not known.
std::string_view completion_script(std::string_view shell);
// Completions of the last of the words after `acu`.
std::vector<std::string> complete(std::span<const std::string_view> words);

} // namespace tool
