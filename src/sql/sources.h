// The tables, each declared beside the function that reads it.
#pragma once

#include "sql/table.h"

namespace sql {

extern const Table blocks, bpf_programs, cgroups, cpu_samples, disks, files, mappings, modules, offcpu, probes, processes, sockets, symbols, syscalls, threads, variables;
extern const Table recording_about, recording_samples, recording_slices; // of a recording
extern const Table core_blocks, core_modules, core_threads, core_variables; // of a core dump

} // namespace sql
