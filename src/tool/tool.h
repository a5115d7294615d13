// The subcommands of acu. Each takes the words after its name and gives the exit status.
#pragma once

#include "base/result.h"
#include "session/options.h"
#include "spec/options.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tool {

using Words = std::span<char* const>;

int run(Words words);
int list(Words words);
int bpftrace(Words words);
int dscript(Words words);
int convert(Words words);
int sym(Words words);
int modules(Words words);
int flame(Words words);
int record(Words words);
int flight(Words words);
int dump(Words words);
int top(Words words);
int report(Words words);
int timeline(Words words);
int diff(Words words);
int trace(Words words);
int slow(Words words);
int waits(Words words);
int why(Words words);
int graph(Words words);
int stat(Words words);
int core(Words words);
int snap(Words words);
int sql(Words words);
int emit(Words words);
int tools(Words words);
int own_tool(Words words);
int mcp(Words words);
int api(Words words);
int serve(Words words);
int store(Words words);
int agent(Words words);
int collect(Words words);
int learn(Words words);
int policy(Words words);
int info(Words words);
int help(Words words);
// What each subcommand of spec/options.h starts.
struct Command {
  std::string_view name;
  int (*run)(Words);
};
constexpr Command commands[] = {
    {"run", run}, {"list", list}, {"bpftrace", bpftrace}, {"dscript", dscript}, {"convert", convert}, {"sym", sym}, {"modules", modules}, {"flame", flame}, {"record", record}, {"flight", flight}, {"dump", dump},
    {"top", top},   {"report", report}, {"timeline", timeline}, {"diff", diff}, {"trace", trace},     {"slow", slow},   {"waits", waits}, {"why", why}, {"graph", graph},
    {"stat", stat}, {"core", core},     {"snap", snap}, {"sql", sql}, {"emit", emit}, {"tools", tools}, {"tool", own_tool}, {"mcp", mcp}, {"api", api}, {"serve", serve}, {"store", store}, {"agent", agent}, {"collect", collect}, {"learn", learn}, {"policy", policy}, {"info", info}, {"help", help},
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
// Prints a mistake in the command line; returns its exit status.
int refuse(std::string_view message);
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
