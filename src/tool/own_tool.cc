// `acu tool add|remove|new|test`: tools that users write.
#include "agent/call.h"
#include "base/counted.h"
#include "base/fd.h"
#include "base/output_file.h"
#include "base/text.h"
#include "session/arguments.h"
#include "tool/own_tools.h"
#include "tool/tool.h"
#include "tool/tool_header.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace tool {

namespace {

namespace fs = std::filesystem;
using spec::OptionId;

// The mark that a child prints once its probes are attached: the duration counts from then on.
constexpr std::string_view attached_mark = "\"attached_probes\"";

// A script of the command line, or the name of a tool.
struct Subject {
  std::string text;
  std::vector<std::string> words; // run it
  ToolHeader header;
};

base::Result<Subject> read_file_subject(const std::string& path) {
  Subject out;
  std::error_code failed;
  if (fs::exists(path, failed) && !fs::is_regular_file(path, failed)) return base::usage_error(path + ": no regular file");
  ACU_TRY(out.text, base::read_file(path));
  auto header = read_header(out.text);
  if (!header.ok()) return base::usage_error(path + ": " + header.error().message);
  out.header = std::move(*header);
  const std::string stem = fs::path(path).stem();
  if (fs::path(path).extension() != ".bt") return base::usage_error(path + ": the file of a tool is called NAME.bt");
  if (stem != out.header.name) return base::usage_error(path + ": the header is that of `" + out.header.name + "`, not of `" + stem + "`");
  if (!is_tool_name(stem)) return base::usage_error(path + ": the name of a tool has letters, digits, - and _");
  out.words = out.header.is_stopped ? std::vector<std::string>{"core"} : std::vector<std::string>{"run"};
  return out;
}

// Whether the compiler and the kernel accept the script. What this user may not try is not known.
base::Status check_script(const std::string& path, const Subject& subject) {
  if (subject.header.is_stopped) return {}; // needs a program to compile for
  agent::Plan plan;
  plan.words = {"run", "--dry-run", "--quiet", path};
  plan.limit_seconds = 60, plan.max_output = 64 << 10;
  ACU_TRY(const agent::Finished done, agent::run_to_end(plan));
  const auto permission = static_cast<int>(base::Failure::permission), unsupported = static_cast<int>(base::Failure::unsupported), nothing = static_cast<int>(base::Failure::nothing_matched);
  if (done.exit_status == permission || done.exit_status == unsupported || done.exit_status == nothing) {
    complain("WARNING: " + path + " could not be tried on this host:\n" + done.messages);
    return {};
  }
  return done.exit_status == 0 ? base::Status() : base::Error{static_cast<base::Failure>(done.exit_status == 2 ? 2 : 1), path + ": the script does not run:\n" + std::string(base::trim(done.messages))};
}

base::Status add_file(const std::string& path, const std::string& folder) {
  ACU_TRY(const Subject subject, read_file_subject(path));
  const std::string& name = subject.header.name;
  if (spec::find_subcommand(name)) return base::usage_error(path + ": `" + name + "` is a command of acu; choose another name");
  for (const Script& built_in : all_scripts())
    if (built_in.name == name) return base::usage_error(path + ": `" + name + "` is a built-in tool; choose another name");
  ACU_CHECK(check_script(path, subject));
  const std::string to = folder + "/" + name + ".bt";
  const bool is_there = fs::exists(to);
  ACU_CHECK(base::write_file(to, subject.text));
  ::chmod(to.c_str(), 0644);
  say((is_there ? "replaced " : "added ") + name + ": " + subject.header.summary + "\n");
  return {};
}

base::Status add(const std::string& from) {
  ACU_TRY(const std::string folder, own_folder());
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) return base::errno_error("cannot make the folder `" + folder + "`", failed.value());
  if (!fs::is_directory(from, failed)) return add_file(from, folder);
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(from, failed))
    if (entry.path().extension() == ".bt") files.push_back(entry.path());
  if (failed) return base::errno_error("cannot read `" + from + "`", failed.value());
  if (files.empty()) return base::Error{base::Failure::nothing_matched, "no files *.bt in `" + from + "`"};
  std::sort(files.begin(), files.end());
  base::Status first; // those that are good are added in any case
  for (const std::string& file : files)
    if (auto added = add_file(file, folder); !added.ok()) {
      complain("ERROR: " + added.error().message + "\n");
      first = base::Error{added.error().kind, "not all tools of `" + from + "` were added"};
    }
  return first;
}

base::Status remove(const std::string& name) {
  ACU_TRY(const std::string folder, own_folder());
  const std::string path = folder + "/" + name + ".bt";
  if (!is_tool_name(name) || !fs::exists(path)) return base::Error{base::Failure::nothing_matched, "there is no tool `" + name + "` in " + folder};
  if (::unlink(path.c_str()) != 0) return base::errno_error("cannot remove `" + path + "`", errno);
  say("removed " + name + "\n");
  return {};
}

constexpr std::string_view skeleton = R"bt(#!/usr/bin/env -S acu run
// NAME: reads that take long, with a histogram of all of them. (Replace this sentence, and what follows.)
//
//   acu run NAME.bt
//   acu run NAME.bt -- --min-us=1000        only reads that take at least so long
//
//   TIME(ms)   PID     COMM             LATENCY(us)
//   1204       4021    bash                   20112
//   @us:
//   [16, 32)              12 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
//
// Needs nothing but tracepoints. Reads from terminals wait for people.

begin { printf("%-10s %-7s %-16s %s\n", "TIME(ms)", "PID", "COMM", "LATENCY(us)"); }

tracepoint:syscalls:sys_enter_read { @start[tid] = nsecs; }

tracepoint:syscalls:sys_exit_read /@start[tid]/ {
  $us = (nsecs - @start[tid]) / 1000;
  delete(@start, tid);
  @us = hist($us);
  if ($us >= getopt("min-us", 10000, "minimum latency in microseconds")) {
    printf("%-10d %-7d %-16s %11d\n", elapsed / 1000000, pid, comm, $us);
  }
}

end { clear(@start); }
)bt";

base::Status make_new(const std::string& name) {
  if (!is_tool_name(name)) return base::usage_error("`" + name + "`: the name of a tool has letters, digits, - and _");
  if (spec::find_subcommand(name) || find_script(name)) return base::usage_error("there is a tool or command `" + name + "` already");
  const std::string path = name + ".bt";
  std::string text(skeleton);
  base::replace_all(text, "NAME", name);
  const base::AsResultOwner as_owner;
  const base::Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755));
  if (!file.valid()) return base::errno_error("cannot make `" + path + "`", errno);
  if (const int error = base::write_all(file.get(), text)) return base::errno_error("cannot write `" + path + "`", error);
  say("wrote " + path + "\nnext: acu tool test ./" + path + ", then acu tool add ./" + path + "\n");
  return {};
}

// What the output lacks of what the header promises, or has beyond it; empty: nothing.
std::vector<std::string> compare(const ToolHeader& header, std::string_view output) {
  std::vector<std::string> wrong, unknown;
  const auto names = [](const std::vector<Column>& columns) {
    std::string out;
    for (const Column& c : columns) out += " " + c.name + (c.unit.empty() ? "" : "(" + c.unit + ")");
    return out;
  };
  bool has_headings = header.columns.empty();
  for (std::string_view line : base::split(output, '\n')) {
    if (const std::vector<Column> found = read_headings(line); !found.empty()) has_headings |= names(found) == names(header.columns);
    if (!line.starts_with('@')) continue;
    std::string name(line.substr(0, line.find_first_of("[: ")));
    const bool is_shown = std::any_of(header.maps.begin(), header.maps.end(), [&](const ShownMap& m) { return m.name == name; });
    if (!is_shown && std::find(unknown.begin(), unknown.end(), name) == unknown.end()) unknown.push_back(std::move(name));
  }
  if (!has_headings) wrong.push_back("the header shows the columns" + names(header.columns) + "; the output has no such line");
  for (const std::string& name : unknown) wrong.push_back("the output has the map " + name + ", which the header does not show");
  return wrong;
}

base::Status test(const std::string& what, double seconds) {
  Subject subject;
  const Script* known = find_script(what);
  if (known) {
    auto header = read_header(known->text);
    if (!header.ok()) return base::usage_error(what + ": " + header.error().message);
    subject.header = std::move(*header);
    subject.words = {what};
  } else {
    ACU_TRY(subject, read_file_subject(what));
    subject.words.push_back(what);
  }
  if (subject.header.is_stopped) {
    say(subject.header.name + ": header ok; it reads stopped programs: `acu core FILE " + what + "` runs it\n");
    return {};
  }
  agent::Plan plan;
  plan.words = subject.words;
  plan.words.insert(plan.words.begin() + 1, "--notify-attached=" + std::string(attached_mark));
  for (std::string_view word : base::split(subject.header.examples[0], ' '))
    if (!word.empty()) plan.words.emplace_back(word);
  plan.seconds = seconds, plan.limit_seconds = seconds + 60, plan.max_output = 8 << 20;
  ACU_TRY(const agent::Finished done, agent::run_to_end(plan));
  if (done.outcome == agent::Outcome::failed) return base::Error{static_cast<base::Failure>(std::clamp(done.exit_status, 1, 5)), what + ": the example failed:\n" + std::string(base::trim(done.messages))};
  if (done.outcome == agent::Outcome::time_limit) return base::Error{base::Failure::runtime, what + ": the example did not end within a minute"};
  if (const std::vector<std::string> wrong = compare(subject.header, done.output); !wrong.empty()) {
    std::string text;
    for (const std::string& one : wrong) text += "\n  " + one;
    return base::Error{base::Failure::runtime, what + ": header and output differ:" + text};
  }
  const auto lines = std::count(done.output.begin(), done.output.end(), '\n') - 1; // without the mark
  say(subject.header.name + ": ok, " + base::counted(static_cast<uint64_t>(std::max<int64_t>(lines, 0)), "line") + (subject.header.columns.empty() ? "" : " with the columns of its header") + "\n");
  return {};
}

} // namespace

static int manage(const session::Arguments& arguments, Words words) {
  const std::vector<std::string>& given = arguments.words;
  constexpr std::string_view verbs[] = {"add", "remove", "new", "test"};
  if (given.empty() || !base::is_one_of(verbs, given[0])) return tools(words);
  if (given.size() != 2) return refuse("`acu tool " + given[0] + "` takes one " + (given[0] == "add" ? "file or folder" : given[0] == "test" ? "file or name" : "name"));
  double seconds = 3;
  if (const std::string* text = arguments.value(OptionId::duration)) {
    auto ns = session::read_time("--duration", *text);
    if (!ns.ok()) return fail(ns.error());
    seconds = static_cast<double>(*ns) / 1e9;
  }
  const base::Status done = given[0] == "add" ? add(given[1]) : given[0] == "remove" ? remove(given[1]) : given[0] == "new" ? make_new(given[1]) : test(given[1], seconds);
  return done.ok() ? 0 : fail(done.error());
}

int own_tool(Words words) {
  return run_command("tool", words, [&](const session::Arguments& arguments) { return manage(arguments, words); });
}

} // namespace tool
