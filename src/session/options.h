// What `acu run` was asked to do.
#pragma once

#include "base/result.h"
#include "dlang/translate_options.h"
#include "runtime/splice.h"
#include "session/arguments.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace probe {
class StoppedProgram;
}

namespace session {

enum class Buffering : uint8_t { line, full, none };
enum class EngineKind : uint8_t { kernel, eval };

// Stages to print.
struct Dumps {
  bool any = false, ast = false, ir = false, bpf = false, verifier = false;
};

// A tool that acu brings: its users have not written its text, and need not read it.
struct ReadyTool {
  std::string name;      // empty: it is none
  std::string example;   // how it is run
  size_t parameters = 0; // words that it takes
};

struct Options {
  ReadyTool tool;
  std::string script; // the text itself (-e, of several the lines), or
  bool has_script = false;
  std::string script_name = "stdin"; // of that text, in messages
  std::string file; // where it stands; "-" is standard input
  std::vector<std::string> positional;
  std::vector<std::pair<std::string, std::string>> named;
  std::string command;     // -c
  int pid = -1;            // -p
  std::string container, cgroup; // --container, --cgroup; at most one
  std::string output_file; // empty: standard output
  std::string notify_attached;
  std::vector<std::string> include_dirs, include_files;
  std::vector<std::pair<std::string, std::string>> parameters; // -D, of #param
  bool notifies = false;
  bool json = false;
  bool quiet = false;
  bool verbose = false;
  bool unsafe = false;
  bool read_only = false; // as lang::CheckOptions has it
  bool warnings = true;
  bool report_faults = false; // -k
  bool counts_failed_reads = true; // and tells how many there were
  bool list = false;
  bool dry_run = false;
  bool test = false;
  bool bench = false;
  bool help = false;
  bool as_bpftrace = false;  // called by that name: exit statuses and output that only differ in form are those of bpftrace
  std::string probe_filter;  // only probes whose names this regular expression matches (--probe-filter); empty: all
  std::string traceable_functions; // file with those functions of the kernel that can be probed; empty: the kernel's own list
  std::vector<std::string> debug_folders; // --debuginfo
  runtime::Show languages = runtime::Show::folded; // --lang
  Buffering buffering = Buffering::line;
  EngineKind engine = EngineKind::kernel;
  Dumps dump;
  bool is_trial = false;         // with `still`: run it, but tell nothing but mistakes of the script
  probe::StoppedProgram* stopped = nullptr; // the stopped program, of scripts without events; outlives the run
  std::vector<std::string> without; // abilities of the kernel (--no-feature)
  std::optional<dlang::TranslateOptions> d_script; // the script is in D
  std::optional<double> max_cost; // percent of the host's CPUs that probes may take (--max-cost); none: no limit
  std::string host_file; // of a saved host to compile for (--for); empty: this one
};

// The tool that the script belongs to, if any.
void be_tool(Options& options, const ReadyTool& tool);
// Takes the options in; the first word is the script's file unless -e or -l says otherwise. Neither script
// nor file is a mistake only where one is needed (not with -l and -h).
base::Result<Options> read_options(const Arguments& arguments);

} // namespace session
