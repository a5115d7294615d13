#include "session/runner.h"

#include "session/script_maps.h"

namespace session {

void Shared::follow(std::optional<pid_t> only) {
  const bool is_new = !watch_;
  if (is_new) watch_.emplace(names.users());
  if (is_new && only) watch_->only(*only);
  if (!is_new && watch_->only() && (!only || *watch_->only() != static_cast<uint32_t>(*only))) watch_->all();
}

void Shared::take_walker(Backend& backend) {
  if (!walker_) walker_ = backend.shared_walker();
}

void Shared::walk(probe::Machine& machine) {
  if (!unwinding_ && walker_ && watch_) unwinding_.emplace(*walker_->walker, names.users(), names.codes(), *watch_, machine);
}

void Shared::release() {
  unwinding_.reset();
  watch_.reset();
  walker_.reset();
}

Runner::Runner(Measurement what, Take take, std::shared_ptr<Shared> shared)
    : what_(std::move(what)), take_(std::move(take)), shared_(std::move(shared)) {}

base::Status Runner::compile() {
  ACU_TRY(targets_, watch_targets(what_.filter));
  source_.emplace(what_.script.name, std::string(what_.script.text));
  const Own own = {.aim = what_.aim,
                   .command = what_.command,
                   .pid = what_.functions_of,
                   .container = what_.filter.container,
                   .is_silent = what_.is_silent,
                   .may_end_programs = what_.may_end_programs,
                   .filters_itself = what_.filters_itself};
  ACU_CHECK(compile_own(compiled_, *source_, own, child_, what_.script.parts));
  if (what_.overwrites)
    for (ir::Action& a : compiled_.program.actions) a.overwrites = what_.overwrites(a);
  return {};
}

base::Status Runner::load(const Options& options) {
  KernelOptions kernel = kernel_options(compiled_, *source_, child_);
  kernel.ring_pages = what_.ring_pages;
  kernel.flight_bytes = what_.flight_bytes;
  kernel.verbose = options.verbose;
  kernel.pieces = bpf::rarely_cut;
  kernel.pid = what_.probes_command ? static_cast<int>(child_->pid()) : what_.functions_of >= 0 ? what_.filter.pid : -1;
  if (what_.follows_processes) kernel.walker = shared_->walker();
  LoadReport loaded;
  ACU_TRY(std::unique_ptr<Backend> backend, make_kernel_backend(compiled_.program, kernel, loaded));
  load_into(std::move(backend), options);
  return {};
}

void Runner::load_into(std::unique_ptr<Backend> backend, const Options& options) {
  backend_ = std::move(backend);
  if (what_.follows_processes) shared_->take_walker(*backend_);
  options_ = options;
  options_.pid = what_.filter.pid;
  options_.quiet = true; // of probes that were attached
}

base::Status Runner::start(Output& output, std::vector<Regular*> regulars) {
  report::Options how = report_options(compiled_.tree->config, false);
  if (take_) how.take_value = take_;
  how.take_users = what_.take_users;
  if (what_.keeps_files) names().users().keep_files();
  if (what_.keeps_contents) names().users().keep_contents();
  names().codes().set_show(what_.languages);
  printer_.emplace(compiled_.program, backend_->engine(), names(), output, how);
  effects_.emplace(compiled_.program, backend_->engine(), *printer_, output, &*source_);
  if (what_.follows_processes) {
    std::optional<pid_t> only;
    if (child_ || what_.filter.pid >= 0) only = child_ ? child_->pid() : what_.filter.pid;
    shared_->follow(only);
    shared_->walk(*compiled_.machine);
    if (shared_->unwinding()) shared_->unwinding()->tell_runtimes(this, what_.take_runtime);
    if (reads_thread_contexts(compiled_.program)) contexts_.emplace(compiled_.program, backend_->engine(), names().users(), *shared_->watch());
  }
  life_.emplace(Life{.program = compiled_.program,
                     .options = options_,
                     .source = &*source_,
                     .backend = *backend_,
                     .effects = *effects_,
                     .printer = *printer_,
                     .output = output,
                     .child = child_ ? &*child_ : nullptr,
                     .target_fd = targets_.empty() ? -1 : targets_.front().get(),
                     .more_targets = std::span(targets_).subspan(targets_.empty() ? 0 : 1),
                     .watch = what_.follows_processes ? shared_->watch() : nullptr,
                     .unwinding = what_.follows_processes ? shared_->unwinding() : nullptr,
                     .contexts = contexts_ ? &*contexts_ : nullptr,
                     .regulars = std::move(regulars),
                     .records_may_wait = what_.records_may_wait,
                     .print_maps_on_exit = false,
                     .refused = what_.refused,
                     .cancelled = &is_cancelled_});
  groups_.emplace(compiled_.program, backend_->engine(), names());
  if (groups_->is_needed()) {
    base::Status known = groups_->begin();
    if (!known.ok()) return outcome_ = std::move(known);
    life_->regulars.push_back(groups_->regular(nullptr));
  }
  base::Result<bool> started = session::start(*life_);
  if (!started.ok()) {
    backend_->detach();
    return outcome_ = std::move(started.error());
  }
  has_more_ = *started;
  return {};
}

void Runner::run(std::span<Runner* const> runners) {
  auto finish = [](Runner& r, base::Status why) {
    r.has_more_ = false;
    base::Status finished = session::finish(*r.life_);
    r.outcome_ = why.ok() ? std::move(finished) : std::move(why);
    r.compiled_.machine->store_facts();
  };
  std::vector<Runner*> waiting;
  std::vector<Life*> lives;
  for (Runner* r : runners) {
    if (!r->life_ || !r->outcome_.ok()) continue;
    if (!r->has_more_) {
      finish(*r, {});
      continue;
    }
    waiting.push_back(r);
    lives.push_back(&*r->life_);
  }
  wait_for_events(lives, [&](size_t index, base::Status why) { finish(*waiting[index], std::move(why)); });
}

base::Status Runner::live(Output& output, std::vector<Regular*> regulars) {
  ACU_CHECK(start(output, std::move(regulars)));
  Runner* const one[] = {this};
  run(one);
  return outcome_;
}

void Runner::unload() {
  if (shared_->unwinding()) shared_->unwinding()->tell_runtimes(this, {});
  life_.reset();
  contexts_.reset();
  groups_.reset();
  effects_.reset();
  printer_.reset();
  if (shared_.use_count() == 1) shared_->release();
  backend_.reset();
}

base::Result<std::vector<ir::Entry>> Runner::read(std::string_view map) {
  const std::optional<uint32_t> index = find_map(compiled_.program, map);
  if (!index) return std::vector<ir::Entry>();
  return backend_->engine().read_map(*index);
}

} // namespace session
