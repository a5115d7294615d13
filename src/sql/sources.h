// The tables, each declared beside the function that reads it.
#pragma once

#include "sql/table.h"

namespace sql {

extern const Table bpf_programs, cgroups, disks, files, mappings, modules, probes, processes, sockets, threads;

} // namespace sql
