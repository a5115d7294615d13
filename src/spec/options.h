// Subcommands and their command-line options. The command-line parser, help texts, manual pages and completions are made from the table in
// subcommands.h. To add an option, add its id here and a row to the list of its command (…_options.h), and handle it in session/options.cc.
#pragma once

#include "base/text_table.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace spec {

enum class OptionId : uint8_t {
  execute,
  list,
  command,
  pid,
  output,
  format,
  quiet,
  verbose,
  buffering,
  faults,
  unsafe,
  no_warnings,
  include_dir,
  include_file,
  parameter,
  dry_run,
  test,
  bench,
  info,
  notify_attached,
  probe_filter,
  traceable_functions,
  foreign,
  dump,
  no_feature,
  usdt_file_activation,
  engine,
  json,
  elf_file,
  kernel,
  standard_input,
  names,
  user,
  cgroup,
  all,
  frequency,
  kind,
  event,
  duration,
  sort,
  top,
  function,
  weight,
  leaks,
  waker,
  max_cost,
  lang,
  no_inlines,
  mangled,
  debuginfo,
  debuginfod,
  sysroot,
  no_stop,
  max_pause,
  flame,
  min_duration,
  rules,
  measure,
  causes,
  data,
  fails_only,
  times,
  descriptors,
  stacks,
  histograms,
  counts,
  split,
  from,
  until,
  interval,
  rounds,
  include_acu,
  repeats,
  cpus,
  by_cpu,
  separator,
  csv,
  frames,
  async,
  exact,
  thread,
  container,
  comm,
  filter,
  path,
  depth,
  all_returns,
  clock_times,
  relative_times,
  follow,
  for_host,
  save,
  flight,
  streams,
  when,
  before,
  after,
  cool_down,
  when_pressure,
  when_memory,
  memory,
  files,
  files_size,
  input,
  tables,
  audit,
  verbs,
  read_only,
  clause,
  script_file,
  provider,
  module,
  set_option,
  zero_probes,
  destructive,
  compile_only,
  ignored,
  preprocess,
  undefine,
  flow,
  to,
  target_version,
  support,
  core,
  redact,
  listen,
  store,
  keep,
  max_size,
  token_file,
  spool,
  agents,
  keep_fine,
  sample,
  users,
  add_user,
  role,
  login_time,
  tls_cert,
  tls_key,
  tls_ca,
  push,
  help,
  version,
};

struct Option {
  OptionId id;
  char letter = 0;           // 0: no short form
  std::string_view name;     // empty: no long form
  std::string_view argument; // its name in help; empty: takes none
  bool optional = false;     // the argument may be omitted (then only `--name=ARGUMENT` gives one)
  std::string_view allowed;  // words it accepts, separated by '|'; empty: any text
  bool several = false;      // a list separated by ','
  std::string_view doc;
};
using OptionTable = base::TextTable<Option, &Option::name, &Option::argument, &Option::allowed, &Option::doc>;

struct Subcommand {
  std::string_view name;
  std::string_view usage; // the synopsis after the name
  std::string_view doc;
  OptionTable options;
  std::string_view example; // complete command lines, one per line
};

// The row with this name, or nullptr.
const Subcommand* find_subcommand(std::string_view name);

} // namespace spec
