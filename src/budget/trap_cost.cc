#include "budget/trap_cost.h"

#include "base/clock.h"
#include "bpf/syscall.h"
#include "session/steps.h"

#include <algorithm>
#include <cstdio>
#include <link.h>
#include <unistd.h>

// The kernel emulates its first instruction, as it does for most functions.
extern "C" void acu_probed_sample();
asm(".text\n.type acu_probed_sample, @function\nacu_probed_sample: push %rbp\npop %rbp\nret\n.size acu_probed_sample, . - acu_probed_sample\n");

namespace budget {

namespace {

constexpr double typical_ns = 600;
constexpr int calls = 500, rounds = 4;

// Of the quickest round, which nothing disturbed: ns.
double call_time() {
  double best = 1e9;
  for (int round = 0; round < rounds; round++) {
    const uint64_t start = base::clock_ns();
    for (int i = 0; i < calls; i++) acu_probed_sample();
    best = std::min(best, static_cast<double>(base::clock_ns() - start) / calls);
  }
  return best;
}

uint64_t address_in_file() {
  uintptr_t bias = 0; // of the program, which comes first
  ::dl_iterate_phdr([](dl_phdr_info* info, size_t, void* to) { return *static_cast<uintptr_t*>(to) = info->dlpi_addr, 1; }, &bias);
  return reinterpret_cast<uintptr_t>(&acu_probed_sample) - bias;
}

base::Result<double> measure() {
  base::Source source("trap", place_in_acu() + " { @++ }\n");
  session::Compiled compiled;
  std::optional<session::Child> none;
  ACU_CHECK(session::compile_own(compiled, source, {.aim = "measure the cost of probes", .command = {}, .pid = ::getpid()}, none));
  session::KernelOptions options = session::kernel_options(compiled, source, none);
  options.pid = ::getpid();
  session::LoadReport report;
  ACU_TRY(std::unique_ptr<session::Backend> backend, session::make_kernel_backend(compiled.program, options, report));
  const double bare = call_time();
  ACU_CHECK(backend->attach(0, {}));
  const double probed = call_time();
  // To measure run times takes time itself, which is no part of the call.
  const base::Fd measuring = bpf::measure_run_times();
  call_time();
  const session::RunCosts costs = backend->run_costs();
  backend->detach();
  if (!costs.runs) return base::Error{base::Failure::runtime, "the probe was not hit"};
  return probed - bare - static_cast<double>(costs.ns) / static_cast<double>(costs.runs);
}

} // namespace

std::string place_in_acu() {
  char text[100];
  std::snprintf(text, sizeof text, "uprobe:/proc/%d/exe:%#lx", ::getpid(), address_in_file());
  return text;
}

double trap_cost_ns() {
  static const double cost = [] {
    const base::Result<double> found = measure();
    return found.ok() && *found > 0 ? *found : typical_ns;
  }();
  return cost;
}

} // namespace budget
