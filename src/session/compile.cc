#include "session/compile.h"

#include "base/heap_growth.h"
#include "bpf/features.h"
#include "bpf/kernel_calls.h"
#include "dlang/lower.h"
#include "format/btf.h"
#include "ir/join_returns.h"
#include "lang/expand_macro.h"
#include "session/pid_filter.h"
#include "spec/diagnostics.h"
#include "symbol/binaries.h"

#include <algorithm>

namespace session {

// What the compilation of a byte of text takes in the heap, for texts that are not short.
static void expect_text(size_t bytes) {
  constexpr size_t is_long = 8 << 10, heap_of_byte = 256;
  if (bytes >= is_long) base::grow_heap(heap_of_byte * bytes);
}

bool parse(Compiled& to, base::Source& source, const CompileOptions& options,
           base::Diagnostics& diagnostics) {
  expect_text(source.text().size());
  if (options.d_script) {
    dlang::Translated translated = dlang::translate(source, *options.d_script, diagnostics);
    to.tree = std::move(translated.program);
    to.d_plan = std::move(translated.plan);
  } else {
    to.tree = lang::parse(source,
                          {.positional = options.positional,
                           .include_dirs = options.include_dirs,
                           .include_files = options.include_files,
                           .parts = options.parts,
                           .host = options.features ? &options.features->host() : nullptr},
                          diagnostics);
  }
  if (diagnostics.has_errors()) return false;
  lang::expand_macros(*to.tree, diagnostics);
  if (diagnostics.has_errors()) return false;
  to.environment_mistake = to.tree->config.read_environment();
  return to.environment_mistake.empty();
}

bool check(Compiled& to, const CompileOptions& options, base::Diagnostics& diagnostics) {
  const bpf::Features& features = options.features ? *options.features : bpf::features();
  to.features = &features;
  to.machine = std::make_unique<probe::Machine>(to.tree->types, features.host(), options.pid);
  to.machine->stopped = options.stopped;
  to.machine->debug_folders = options.debug_folders;
  to.machine->traceable_functions = options.traceable_functions;
  to.machine->may_end_programs = to.machine->may_probe_any_file = options.unsafe;
  to.machine->sees_inlined_calls = to.tree->config.text("symbol_source") != "symbol_table";
  if (!options.container.empty()) to.machine->binaries().look_in_container(options.container);
  lang::CheckOptions check = {.positional = options.positional,
                              .named = options.named,
                              .unsafe = options.unsafe || (to.d_plan && to.d_plan->destructive),
                              .read_only = options.read_only,
                              .accepts_old_scripts = options.accepts_old_scripts,
                              .needs_events = options.needs_events,
                              .has_cpid = options.has_command,
                              .in_kernel = options.in_kernel,
                              .allows_recursion = !options.in_kernel,
                              .calls_loops = options.stopped == nullptr,
                              .shares_aggregations = options.shares_aggregations,
                              .wants_probe = options.wants_probe,
                              .runs_tests = options.test,
                              .runs_benches = options.bench,
                              .kfunc_allowed = bpf::may_call};
  if (options.in_kernel)
    check.tells_events = [&features](const probe::Event& event) { return bpf::tells_events(features, event); };
  to.checked = lang::check(*to.tree, *to.machine, check, diagnostics);
  return to.checked.ok && !diagnostics.has_errors();
}

// One attachment for entry and return, where the kernel has such.
static void join_returns(Compiled& to, ir::Joined whose, bpf::Feature feature) {
  if (!ir::has_returns_to_join(to.program, whose) || !to.features->has(feature)) return;
  format::Btf* btf = to.machine->btf();
  uint32_t is_return = btf ? btf->find("bpf_session_is_return", format::BtfKind::function) : 0;
  if (is_return) ir::join_returns(to.program, whose, is_return);
}

bool lower(Compiled& to, const CompileOptions& options, base::Diagnostics& diagnostics) {
  ir::LowerOptions lowering = options.lower;
  lowering.calls_loops = options.stopped == nullptr;
  to.program = ir::lower(*to.tree, *to.machine, lowering, diagnostics);
  if (diagnostics.has_errors()) return false;
  if (options.pid >= 0 && !options.filters_itself) filter_by_pid(to.program, options.pid, *to.features);
  if (options.groups && !options.filters_itself) filter_by_group(to.program, to.tree->types, *options.groups);
  if (options.optimize) ir::optimize(to.program);
  // What is true of one side alone has been made use of.
  if (options.in_kernel) join_returns(to, ir::Joined::user, bpf::Feature::uprobe_session);
  if (options.in_kernel) join_returns(to, ir::Joined::kernel, bpf::Feature::kprobe_session);
  to.ok = true;
  return true;
}

Compiled compile(base::Source& source, const CompileOptions& options, base::Diagnostics& diagnostics) {
  Compiled out;
  if (parse(out, source, options, diagnostics) && check(out, options, diagnostics))
    lower(out, options, diagnostics);
  return out;
}

base::Failure failure_of(const base::Diagnostics& diagnostics) {
  bool all_missing = diagnostics.has_errors();
  for (const base::Diagnostic& d : diagnostics.all()) {
    if (d.tag == spec::tag::denied) return base::Failure::permission;
    all_missing &= d.severity == base::Severity::warning || d.tag == spec::tag::no_such_probe;
  }
  return all_missing ? base::Failure::nothing_matched : base::Failure::usage;
}

} // namespace session
