// `acu emit`: a script as source of another framework.
#include "base/output_file.h"
#include "base/text.h"
#include "emit/targets.h"
#include "probe/stopped_program.h"
#include "session/arguments.h"
#include "session/compile.h"
#include "session/script.h"
#include "target/core_target.h"
#include "tool/scripts.h"
#include "tool/tool.h"

#include <cerrno>
#include <sys/stat.h>

namespace tool {

using spec::OptionId;

namespace {

std::string target_names() {
  std::string out;
  for (const emit::Target* t : emit::targets()) out += (out.empty() ? "" : ", ") + std::string(t->name);
  return out;
}

base::Result<const emit::Target*> read_target(const session::Arguments& arguments) {
  const std::string_view name = arguments.text(OptionId::to);
  if (name.empty()) return base::usage_error("`--to` is missing: one of " + target_names());
  if (const emit::Target* target = emit::find_target(name)) return target;
  return base::usage_error("`" + std::string(name) + "` is no framework that scripts can be written for: one of " + target_names());
}

// "0.17", "0.17.1" or "17"; 0: the target has no versions.
base::Result<int> read_version(const session::Arguments& arguments, const emit::Target& target) {
  const std::string* given = arguments.value(OptionId::target_version);
  if (!given) return target.last_version;
  if (!target.last_version) return base::usage_error("`--target-version`: " + std::string(target.title) + " is written the same for all versions");
  std::string_view text = *given;
  if (text.starts_with("0.")) text.remove_prefix(2);
  const auto number = base::parse_integer(text.substr(0, text.find('.')));
  const int first = target.first_version, last = target.last_version;
  if (!number || *number < static_cast<uint64_t>(first) || *number > static_cast<uint64_t>(last))
    return base::usage_error("`--target-version " + *given + "`: scripts can be written for " + std::string(target.title) + " 0." + std::to_string(first) + " to 0." +
                 std::to_string(last));
  return static_cast<int>(*number);
}

std::string short_name(const base::Source& source) {
  std::string_view name = source.name();
  name.remove_prefix(std::min(name.rfind('/') + 1, name.size()));
  name = name.substr(0, name.rfind('.'));
  return name.empty() || name == "stdin" ? "script" : std::string(name);
}

session::CompileOptions compile_options(const session::Options& options) {
  session::CompileOptions out;
  out.positional = options.positional;
  out.named = options.named;
  out.include_dirs = options.include_dirs;
  out.include_files = options.include_files;
  out.parts.parameters = options.parameters;
  // Nothing runs here: what changes a system, the framework refuses without its own option. Return probes are then those of functions,
  // which frameworks have, not of their return instructions.
  out.unsafe = true;
  out.pid = options.pid;
  return out;
}

base::Status check_parameters(const session::Compiled& compiled, const session::Options& options, const base::Source& source) {
  std::vector<std::string_view> known;
  for (const lang::NamedParameter& p : compiled.checked.parameters) known.push_back(p.name);
  for (const auto& [name, value] : options.named) {
    if (base::is_one_of(known, name)) continue;
    const std::string_view near = base::nearest(name, known);
    return base::usage_error(source.name() + " has no parameter `--" + name + "`" + (near.empty() ? "" : "; did you mean `--" + std::string(near) + "`?"));
  }
  return {};
}

base::Status write_one(const std::string& path, const emit::File& file) {
  ACU_CHECK(base::write_file(path, file.text));
  struct stat about = {};
  if (file.is_executable && ::stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode)) ::chmod(path.c_str(), 0755); // not /dev/null's mode
  return {};
}

// One file goes to standard output or `path`; several go to the folder `path`.
base::Status write_files(const std::vector<emit::File>& files, const emit::Target& target, const std::string& path) {
  if (files.size() == 1) {
    if (!path.empty()) return write_one(path, files[0]);
    say(files[0].text);
    return {};
  }
  if (path.empty()) return base::usage_error(std::string(target.title) + " needs several files: name a folder for them, `-o DIR`");
  if (::mkdir(path.c_str(), 0777) != 0 && errno != EEXIST) return base::errno_error("cannot make the folder `" + path + "`", errno);
  for (const emit::File& f : files) ACU_CHECK(write_one(path + "/" + f.name, f));
  return {};
}

struct Static { // what a script for a core dump is checked with
  std::unique_ptr<target::Target> target;
  std::unique_ptr<target::Stacks> stacks;
  std::unique_ptr<probe::StoppedProgram> stopped;
};

base::Status open_core(const session::Arguments& arguments, const emit::Target& target, Static& to) {
  const std::string* file = arguments.value(OptionId::core);
  if (!file) return {};
  if (!target.stopped) return base::usage_error("`--core`: " + std::string(target.title) + " has no scripts for core dumps");
  auto opened = target::open_core(*file, {});
  if (!opened.ok()) return std::move(opened.error());
  to.target = std::move(*opened);
  to.stacks = std::make_unique<target::Stacks>(*to.target);
  to.stopped = std::make_unique<probe::StoppedProgram>(*to.target, *to.stacks);
  return {};
}

base::Status emit_script(const session::Arguments& arguments) {
  ACU_TRY(const emit::Target* target, read_target(arguments));
  ACU_TRY(const int version, read_version(arguments, *target));
  ACU_TRY(session::Options options, session::read_options(arguments));
  take_tool(options);
  ACU_TRY(base::Source source, session::read_script(options));
  Static still;
  ACU_CHECK(open_core(arguments, *target, still));
  session::CompileOptions compiling = compile_options(options);
  compiling.stopped = still.stopped.get();
  compiling.in_kernel = !still.stopped;
  base::Diagnostics diagnostics;
  session::Compiled compiled;
  const bool is_checked = session::parse(compiled, source, compiling, diagnostics) && session::check(compiled, compiling, diagnostics);
  std::vector<emit::File> files;
  if (is_checked) {
    ACU_CHECK(check_parameters(compiled, options, source));
    const emit::Job job = {.program = *compiled.tree,
                           .machine = *compiled.machine,
                           .source = source,
                           .name = short_name(source),
                           .parameters = compiled.checked.parameters,
                           .named = options.named,
                           .version = version,
                           .diagnostics = diagnostics};
    files = emit::emit_program(job, *compiled.tree, *target);
  }
  complain(diagnostics.render(source, options.warnings));
  if (!compiled.environment_mistake.empty()) return base::usage_error(compiled.environment_mistake);
  // A script that is right, but not for this framework, differs from one with mistakes.
  if (diagnostics.has_errors()) return base::Error{is_checked ? base::Failure::unsupported : session::failure_of(diagnostics), {}};
  return write_files(files, *target, options.output_file);
}

} // namespace

int emit(const session::Arguments& arguments) {
  if (arguments.has(OptionId::support)) return say(emit::support_table()), 0;
  const base::Status done = emit_script(arguments);
  if (done.ok()) return 0;
  if (done.error().message.empty()) return static_cast<int>(done.error().kind);
  return fail(done.error());
}

} // namespace tool
