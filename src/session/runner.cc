#include "session/runner.h"

#include "session/script_maps.h"

namespace session {

Runner::Runner(Measurement what, Take take) : what_(std::move(what)), take_(std::move(take)) {}

base::Status Runner::compile() {
  ACU_TRY(targets_, watch_targets(what_.filter));
  source_.emplace(what_.script.name, std::string(what_.script.text));
  const Own own = {.aim = what_.aim, .command = what_.command, .pid = what_.functions_of, .is_silent = what_.is_silent};
  return compile_own(compiled_, *source_, own, child_, what_.script.parts);
}

base::Status Runner::load(const Options& options) {
  options_ = options;
  options_.pid = what_.filter.pid;
  options_.quiet = true; // of probes that were attached
  KernelOptions kernel = kernel_options(compiled_, *source_, child_);
  kernel.verbose = options_.verbose;
  kernel.pid = what_.probes_command ? static_cast<int>(child_->pid()) : what_.functions_of;
  LoadReport loaded;
  ACU_TRY(backend_, make_kernel_backend(compiled_.program, kernel, loaded));
  return {};
}

base::Status Runner::live(Output& output, std::vector<Regular*> regulars) {
  report::Options how = report_options(compiled_.tree->config, false);
  if (take_) how.take_value = take_;
  if (what_.keeps_files) names_.users().keep_files();
  printer_.emplace(compiled_.program, backend_->engine(), names_, output, how);
  effects_.emplace(compiled_.program, backend_->engine(), *printer_, output, &*source_);
  if (what_.follows_processes) {
    watch_.emplace(names_.users());
    if (child_ || what_.filter.pid >= 0) watch_->only(child_ ? child_->pid() : what_.filter.pid);
    if (backend_->walker()) unwinding_.emplace(*backend_->walker(), names_.users(), *watch_, *compiled_.machine);
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
                     .watch = watch_ ? &*watch_ : nullptr,
                     .unwinding = unwinding_ ? &*unwinding_ : nullptr,
                     .regulars = std::move(regulars),
                     .records_may_wait = what_.records_may_wait,
                     .print_maps_on_exit = false});
  ACU_CHECK(session::live(*life_));
  compiled_.machine->store_facts();
  return {};
}

void Runner::unload() {
  life_.reset();
  unwinding_.reset();
  watch_.reset();
  effects_.reset();
  printer_.reset();
  backend_.reset();
}

base::Result<std::vector<ir::Entry>> Runner::read(std::string_view map) {
  const std::optional<uint32_t> index = find_map(compiled_.program, map);
  if (!index) return std::vector<ir::Entry>();
  return backend_->engine().read_map(*index);
}

} // namespace session
