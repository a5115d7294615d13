#include "waits/waits.h"

#include "report/page.h"
#include "session/losses.h"
#include "session/run_times.h"
#include "waits/picture.h"

namespace waits {

base::Status Measuring::compile() {
  ACU_TRY(condition_, session::condition_of(options_.filter));
  session::BuiltinScript script("wait_graph");
  script.set("MIN_DURATION_NS", options_.min_duration_ns);
  script.set_whose(condition_, options_.filter, options_.duration_ns);
  script.set_scheduler();
  runner_.emplace(session::Measurement{.aim = "measure waits of",
                                       .script = std::move(script),
                                       .filter = options_.filter,
                                       .command = options_.command,
                                       .filters_itself = true,
                                       .follows_processes = true,
                                       .keeps_files = true,
                                       .keeps_contents = true,
                                       .languages = options_.languages,
                                       .take_runtime = [this](uint32_t pid, const language_table& table) { interpreter_locks_.add_to(*runner_, pid, table); }},
                  [this](const type::Type& type, std::span<const std::byte> bytes) { maker_->take(records_.read(type, bytes)); },
                  shared_);
  return runner_->compile();
}

base::Status Measuring::load(const session::Options& run) {
  ACU_CHECK(runner_->load(run));
  stacks_.emplace(runner_->backend().engine(), runner_->backend().walker() != nullptr, runner_->names().sources());
  names_.emplace(*stacks_, runner_->names(), interpreter_locks_);
  maker_.emplace(*stacks_, *names_, options_.function);
  return {};
}

void Measuring::locate(Graph& graph, const Findings& findings, size_t first) {
  for (size_t i = 0; i < findings.bottlenecks.size() && i < first; i++)
    for (const Share& s : findings.bottlenecks[i].activities) maker_->locate(graph, s.activity);
}

uint64_t Measuring::lost() {
  return session::lost_events(runner_->backend().engine().counters()) + maker_->dropped();
}

base::Result<int> find_waits(const Options& options) {
  session::Options run;
  run.quiet = true;
  run.pid = options.filter.pid;
  run.output_file = options.output;
  ACU_TRY(const std::unique_ptr<session::Output> output, session::Output::open(run));
  Measuring measuring(options);
  ACU_CHECK(measuring.compile());
  ACU_CHECK(measuring.load(run));
  session::RunTimes run_times;

  // Detached; all records were taken.
  ACU_CHECK(measuring.runner().live(*output, {run_times.in_pieces(measuring.runner().backend())}));
  Graph graph = measuring.graph();
  const Findings findings = find_bottlenecks(graph);
  measuring.locate(graph, findings, options.top);
  const Report report = {.graph = graph, .findings = findings, .what = measuring.what(), .min_ns = options.min_duration_ns, .lost = measuring.lost(), .top = options.top};
  output->out(options.json ? waits_json(report) : report::is_page(options.output) ? waits_page(report) : waits_text(report));
  output->flush();
  const uint64_t probes_ns = run_times.of_all_time(measuring.runner().backend().engine().counters().run_ns);
  if (!options.quiet && !options.json) output->message(session::own_costs(probes_ns) + "\n");
  ACU_CHECK(output->finish());
  return session::end_of(measuring.runner().child());
}

} // namespace waits
