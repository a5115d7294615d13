// The instruments, each made by one function; see measurement.h.
#pragma once

#include "why/measurement.h"

namespace why {

std::unique_ptr<Instrument> make_profile_instrument(const Subject& subject);
std::unique_ptr<Instrument> make_system_instrument(const Subject& subject);
std::unique_ptr<Instrument> make_processes_instrument(const Subject& subject);
std::unique_ptr<Instrument> make_cgroups_instrument(const Subject& subject);
std::unique_ptr<Instrument> make_syscalls_instrument(const Subject& subject);
std::unique_ptr<Instrument> make_births_instrument(const Subject& subject);
std::unique_ptr<Instrument> make_interrupts_instrument(const Subject& subject);
std::unique_ptr<Instrument> make_block_io_instrument(const Subject& subject);
std::unique_ptr<Instrument> make_kernel_log_instrument(const Subject& subject);
std::unique_ptr<Instrument> make_wait_instrument(const Subject& subject);
std::unique_ptr<Instrument> make_files_instrument(const Subject& subject);
std::unique_ptr<Instrument> make_connections_instrument(const Subject& subject);
std::unique_ptr<Instrument> make_snapshot_instrument(const Subject& subject);
std::unique_ptr<Instrument> make_page_faults_instrument(const Subject& subject);
std::unique_ptr<Instrument> make_timers_instrument(const Subject& subject);
std::unique_ptr<Instrument> make_signals_instrument(const Subject& subject);
std::unique_ptr<Instrument> make_packets_instrument(const Subject& subject);
std::unique_ptr<Instrument> make_allocations_instrument(const Subject& subject);
std::unique_ptr<Instrument> make_heap_instrument(const Subject& subject);
std::unique_ptr<Instrument> make_exceptions_instrument(const Subject& subject);
std::unique_ptr<Instrument> make_collectors_instrument(const Subject& subject);
std::unique_ptr<Instrument> make_crashes_instrument(const Subject& subject);

} // namespace why
