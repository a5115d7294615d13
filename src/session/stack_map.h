// Maps whose keys hold stacks: as samples for a profile, and as flame graphs that a script asks for.
#pragma once

#include "ir/engine.h"
#include "profile/naming.h"
#include "report/names.h"
#include "report/report.h"

#include <string>
#include <unordered_map>

namespace session {

// The number that a field of an entry's key begins with, of at most 8 bytes.
uint64_t number_in(const ir::Entry& entry, const type::Field& field);

// Of all CPUs: the weight, and how often there was one.
void add_values(const ir::Map& map, const ir::Entry& entry, profile::RawSample& to);

// Takes each stack once.
struct StackReader {
  ir::Engine& engine;
  bool has_walker; // user stacks are walked by tables: they are whole, or say why not
  profile::RawRecording out;
  std::unordered_map<uint64_t, uint32_t> known; // by id

  // Its index in out.stacks. pid: its process; 0: the kernel.
  uint32_t take(uint64_t id, uint32_t pid, const type::Type& type);
};

// What flame() asks for: writes a file, and gives its name. Failure: it cannot be written.
struct FlameRequest {
  const ir::Action& action;
  const std::vector<ir::Entry>& entries;
  uint64_t duration_ns; // since the probes were attached
};
base::Result<std::string> write_flame(const FlameRequest& request, const ir::Program& program, StackReader stacks,
                                      report::Printer& printer, symbol::FrameSources& sources);

} // namespace session
