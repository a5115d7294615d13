#include "budget/trap_cost.h"

#include "base/clock.h"
#include "bpf/syscall.h"
#include "session/steps.h"
#include "symbol/binary.h"
#include "symbol/instructions.h"

#include <algorithm>
#include <cstdio>
#include <link.h>
#include <sys/utsname.h>
#include <unistd.h>

// The kernel emulates the first instruction of the one, as it does for most functions, and steps over that of the other.
extern "C" void acu_probed_emulated();
extern "C" void acu_probed_stepped();
asm(".text\n"
    ".type acu_probed_emulated, @function\nacu_probed_emulated: push %rbp\npop %rbp\nret\n.size acu_probed_emulated, . - acu_probed_emulated\n"
    ".type acu_probed_stepped, @function\nacu_probed_stepped: mov %rdi, %rax\nret\n.size acu_probed_stepped, . - acu_probed_stepped\n");

namespace budget {

namespace {

using Sample = void (*)();

constexpr double typical_emulated_ns = 600, typical_stepped_ns = 6000;
constexpr int calls = 500, rounds = 4;

// Of the quickest round, which nothing disturbed: ns.
double call_time(Sample sample) {
  double best = 1e9;
  for (int round = 0; round < rounds; round++) {
    const uint64_t start = base::clock_ns();
    for (int i = 0; i < calls; i++) sample();
    best = std::min(best, static_cast<double>(base::clock_ns() - start) / calls);
  }
  return best;
}

uint64_t address_in_file(Sample sample) {
  uintptr_t bias = 0; // of the program, which comes first
  ::dl_iterate_phdr([](dl_phdr_info* info, size_t, void* to) { return *static_cast<uintptr_t*>(to) = info->dlpi_addr, 1; }, &bias);
  return reinterpret_cast<uintptr_t>(sample) - bias;
}

std::string place_of(Sample sample) {
  char text[100];
  std::snprintf(text, sizeof text, "uprobe:/proc/%d/exe:%#lx", ::getpid(), address_in_file(sample));
  return text;
}

base::Result<double> measure(Sample sample) {
  base::Source source("trap", place_of(sample) + " { @++ }\n");
  session::Compiled compiled;
  std::optional<session::Child> none;
  ACU_CHECK(session::compile_own(compiled, source, {.aim = "measure the cost of probes", .command = {}, .pid = ::getpid()}, none));
  session::KernelOptions options = session::kernel_options(compiled, source, none);
  options.pid = ::getpid();
  session::LoadReport report;
  ACU_TRY(std::unique_ptr<session::Backend> backend, session::make_kernel_backend(compiled.program, options, report));
  const double bare = call_time(sample);
  ACU_CHECK(backend->attach(0, {}));
  const double probed = call_time(sample);
  // To measure run times takes time itself, which is no part of the call.
  const base::Fd measuring = bpf::measure_run_times();
  call_time(sample);
  const session::RunCosts costs = backend->run_costs();
  backend->detach();
  if (!costs.runs) return base::Error{base::Failure::runtime, "the probe was not hit"};
  return probed - bare - static_cast<double>(costs.ns) / static_cast<double>(costs.runs);
}

double cost_of(Sample sample, double typical_ns) {
  const base::Result<double> found = measure(sample);
  return found.ok() && *found > 0 ? *found : typical_ns;
}

double stepped_ns() {
  static const double cost = cost_of(acu_probed_stepped, typical_stepped_ns);
  return cost;
}

// Kernel functions have other traps, which are no dearer than emulation.
bool is_stepped(const probe::Event& event, bool with_nops) {
  constexpr uint64_t longest_instruction = 15;
  return event.module && !symbol::is_emulated(event.module->code_at(event.address, longest_instruction), with_nops);
}

} // namespace

std::string place_in_acu() { return place_of(acu_probed_emulated); }

double emulated_trap_ns() {
  static const double cost = cost_of(acu_probed_emulated, typical_emulated_ns);
  return cost;
}

double trap_cost_ns(const ir::Program& program) {
  struct utsname kernel = {};
  ::uname(&kernel);
  const bool with_nops = symbol::emulates_nops(kernel.release);
  size_t places = 0, stepped = 0;
  for (const ir::Probe& p : program.probes)
    if (p.context == probe::Context::registers)
      for (const uint32_t event : p.events) places++, stepped += is_stepped(program.events[event], with_nops);
  if (!places) return 0;
  const double share = static_cast<double>(stepped) / static_cast<double>(places);
  return (stepped < places ? (1 - share) * emulated_trap_ns() : 0) + (stepped ? share * stepped_ns() : 0);
}

} // namespace budget
