#include "session/options.h"

#include "base/text.h"

#include <climits>

namespace session {

using spec::OptionId;

// Stages of bpftrace's compiler map to those of acu that show the same thing.
static void take_stages(Dumps& to, std::string_view value) {
  for (std::string_view stage : base::split(value, ',')) {
    bool all = stage == "all" || stage == "d"; // -dd
    to.any = true;
    to.ast |= all || stage == "ast";
    to.ir |= all || stage == "ir" || stage == "codegen" || stage == "codegen-opt";
    to.bpf |= all || stage == "bpf" || stage == "dis";
    to.verifier |= all || stage == "libbpf" || stage == "verifier";
  }
}

// Folders are separated as in PATH. `+` before one asks bpftrace to check files by their sum, which is always done here.
static void take_folders(std::vector<std::string>& to, std::string_view value) {
  for (std::string_view folder : base::split(value, ':')) {
    if (folder.starts_with('+')) folder.remove_prefix(1);
    if (!folder.empty()) to.emplace_back(folder);
  }
}

static base::Status take(Options& to, OptionId id, const std::string& value) {
  switch (id) {
  case OptionId::execute:
    to.script += (to.has_script ? "\n" : "") + value;
    to.has_script = true;
    break;
  case OptionId::list: to.list = true; break;
  case OptionId::command:
    if (base::trim(value).empty()) return base::Error{base::Failure::usage, "`-c` needs a command"};
    to.command = value;
    break;
  case OptionId::pid: {
    ACU_TRY(to.pid, read_pid("-p", value));
    break;
  }
  case OptionId::container: to.container = value; break;
  case OptionId::cgroup: to.cgroup = value; break;
  case OptionId::output: to.output_file = value; break;
  case OptionId::format: to.json = value == "json"; break;
  case OptionId::quiet: to.quiet = true; break;
  case OptionId::verbose: to.verbose = true; break;
  case OptionId::buffering:
    to.buffering = value == "full" ? Buffering::full : value == "none" ? Buffering::none : Buffering::line;
    break;
  case OptionId::faults: to.report_faults = true; break;
  case OptionId::unsafe: to.unsafe = true; break;
  case OptionId::read_only: to.read_only = true; break;
  case OptionId::no_warnings: to.warnings = false; break;
  case OptionId::include_dir: to.include_dirs.push_back(value); break;
  case OptionId::include_file: to.include_files.push_back(value); break;
  case OptionId::parameter: {
    const size_t sign = value.find('=');
    if (sign == 0 || sign == value.npos) return base::Error{base::Failure::usage, "`-D` takes NAME=VALUE, not `" + value + "`"};
    to.parameters.emplace_back(value.substr(0, sign), value.substr(sign + 1));
    break;
  }
  case OptionId::dry_run: to.dry_run = true; break;
  case OptionId::test: to.test = true; break;
  case OptionId::bench: to.bench = true; break;
  case OptionId::notify_attached: to.notify_attached = value, to.notifies = true; break;
  case OptionId::probe_filter: to.probe_filter = value; break;
  case OptionId::traceable_functions: to.traceable_functions = value; break;
  case OptionId::debuginfo: take_folders(to.debug_folders, value); break;
  case OptionId::lang: to.languages = runtime::show_of(value); break;
  case OptionId::dump: take_stages(to.dump, value); break;
  case OptionId::no_feature:
    for (std::string_view word : base::split(value, ',')) to.without.emplace_back(word);
    break;
  case OptionId::for_host: to.host_file = value; break;
  case OptionId::usdt_file_activation: break;
  case OptionId::max_cost: {
    ACU_TRY(to.max_cost, read_percent("--max-cost", value));
    break;
  }
  case OptionId::engine: to.engine = value == "eval" ? EngineKind::eval : EngineKind::kernel; break;
  case OptionId::help: to.help = true; break;
  case OptionId::foreign:
  case OptionId::info:
  case OptionId::json:
  case OptionId::version:
  case OptionId::elf_file:
  case OptionId::kernel:
  case OptionId::standard_input:
  case OptionId::names:
  case OptionId::user:
  case OptionId::all:
  case OptionId::frequency:
  case OptionId::kind:
  case OptionId::event:
  case OptionId::duration:
  case OptionId::sort:
  case OptionId::top:
  case OptionId::function:
  case OptionId::weight:
  case OptionId::leaks:
  case OptionId::waker:
  case OptionId::no_inlines:
  case OptionId::mangled:
  case OptionId::sysroot:
  case OptionId::no_stop:
  case OptionId::max_pause:
  case OptionId::flame:
  case OptionId::min_duration:
  case OptionId::rules:
  case OptionId::measure:
  case OptionId::causes:
  case OptionId::data:
  case OptionId::fails_only:
  case OptionId::times:
  case OptionId::descriptors:
  case OptionId::stacks:
  case OptionId::histograms:
  case OptionId::counts:
  case OptionId::split:
  case OptionId::from:
  case OptionId::until:
  case OptionId::interval:
  case OptionId::rounds:
  case OptionId::include_acu:
  case OptionId::repeats:
  case OptionId::cpus:
  case OptionId::by_cpu:
  case OptionId::separator:
  case OptionId::csv:
  case OptionId::flight:
  case OptionId::streams:
  case OptionId::when:
  case OptionId::before:
  case OptionId::after:
  case OptionId::cool_down:
  case OptionId::when_pressure:
  case OptionId::when_memory:
  case OptionId::memory:
  case OptionId::files:
  case OptionId::files_size:
  case OptionId::frames:
  case OptionId::async:
  case OptionId::exact:
  case OptionId::thread:
  case OptionId::comm:
  case OptionId::filter:
  case OptionId::path:
  case OptionId::depth:
  case OptionId::all_returns:
  case OptionId::clock_times:
  case OptionId::relative_times:
  case OptionId::follow:
  case OptionId::save:
  case OptionId::input:
  case OptionId::audit:
  case OptionId::verbs:
  case OptionId::tables:
  case OptionId::clause:
  case OptionId::script_file:
  case OptionId::provider:
  case OptionId::module:
  case OptionId::set_option:
  case OptionId::zero_probes:
  case OptionId::destructive:
  case OptionId::compile_only:
  case OptionId::ignored:
  case OptionId::preprocess:
  case OptionId::undefine:
  case OptionId::flow:
  case OptionId::to:
  case OptionId::target_version:
  case OptionId::support:
  case OptionId::core:
  case OptionId::listen:
  case OptionId::store:
  case OptionId::keep:
  case OptionId::max_size:
  case OptionId::token_file:
  case OptionId::spool:
  case OptionId::agents:
  case OptionId::keep_fine:
  case OptionId::users:
  case OptionId::add_user:
  case OptionId::role:
  case OptionId::login_time:
  case OptionId::tls_cert:
  case OptionId::tls_key:
  case OptionId::tls_ca:
  case OptionId::push:
  case OptionId::sample:
  case OptionId::redact:
  case OptionId::debuginfod: break; // the tool looks at these itself
  }
  return {};
}

void be_tool(Options& options, const ReadyTool& tool) {
  options.tool = tool;
  if (!tool.name.empty()) options.script_name = tool.name + ".bt";
}

// For another host scripts are only compiled. Programs and their files are those of this one.
static base::Status check_host(const Options& o) {
  const std::string_view process = o.pid >= 0 ? "-p" : !o.command.empty() ? "-c" : !o.container.empty() ? "--container" : !o.cgroup.empty() ? "--cgroup" : "";
  if (!process.empty())
    return base::Error{base::Failure::usage, "`--for` and `" + std::string(process) +
                                                 "` exclude each other: processes are those of this host"};
  const bool only_compiles = o.list || o.help || (o.dump.any && !o.dump.verifier);
  if (!only_compiles)
    return base::Error{base::Failure::usage,
                       "`--for` compiles for another host and runs nothing: add `--dump ast`, `--dump ir` or `--dump bpf`"};
  return {};
}

base::Result<Options> read_options(const Arguments& arguments) {
  Options out;
  for (const Given& g : arguments.options) ACU_CHECK(take(out, g.id, g.value));
  out.positional = arguments.words;
  out.named = arguments.named;
  if (!out.has_script && !out.positional.empty()) {
    out.file = out.positional.front();
    out.positional.erase(out.positional.begin());
  }
  if (!out.command.empty() && out.pid >= 0)
    return base::Error{base::Failure::usage, "`-c` and `-p` cannot be combined"};
  if ((out.pid >= 0) + !out.command.empty() + !out.container.empty() + !out.cgroup.empty() > 1)
    return base::Error{base::Failure::usage, "`-c`, `-p`, `--cgroup` and `--container` cannot be combined"};
  if (!out.host_file.empty()) ACU_CHECK(check_host(out));
  if (out.test && out.bench)
    return base::Error{base::Failure::usage, "`--test` and `--bench` cannot be combined"};
  if (!out.has_script && out.file.empty() && !out.list && !out.help)
    return base::Error{base::Failure::usage,
                       "no script: give a file, `-` for standard input, or `-e SCRIPT`"};
  return out;
}

} // namespace session
