// Values as people and programs read them. A Printer turns records and maps into text (bpftrace's layout) or
// into JSON, one object a line; layouts of bytes are those of type/type.h, meanings those of ir::Action.
#pragma once

#include "ir/engine.h"
#include "ir/ir.h"
#include "symbol/frame_source.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace report {

// Names of addresses and frames; symbol/ implements it for the session, tests with a fixed table.
class Names {
public:
  virtual ~Names() = default;
  // "do_nanosleep+12" (or without offset); "0x…" where there is no name.
  virtual std::string kernel(uint64_t address, bool with_offset) = 0;
  virtual std::string user(uint32_t pid, uint64_t address, bool with_offset) = 0;
  // The function of an entry of a stack; its views live until the next call.
  virtual symbol::Frame frame(const symbol::RawFrame& raw) = 0;
  // "1f3e… + 0x1234": the build id of its file, and the offset in that; empty where the file is not known.
  virtual std::string file_place(const symbol::RawFrame& /*raw*/) { return {}; }
  // At this time (CLOCK_MONOTONIC, in ns; 0: now) a process showed this stack (0: none) of these words
  // (spec/stack_entry.h). Their names will be asked for, perhaps after the end of the process.
  virtual void seen(uint32_t /*pid*/, std::span<const uint64_t> /*words*/, uint64_t /*stack*/, uint64_t /*time*/) {}
  // "unified:/a/b": the paths of a control group in the hierarchies whose names match the filter.
  virtual std::string cgroup(uint64_t id, const std::string& filter);
};

struct Options {
  bool json = false;
  std::string cut_trailer = "..";
  uint64_t max_cat_bytes = 10240;
  int64_t boot_to_wall_ns = 0; // add to CLOCK_BOOTTIME for wall time
  int64_t monotonic_to_wall_ns = 0;
  int64_t tai_to_wall_ns = 0;
  // Fills bytes from the memory of a stopped program, for views.h; false: they are not there.
  std::function<bool(uint64_t address, std::span<std::byte> to)> memory = {};
  // How long commands of system() may still run, in ms; -1: no limit. They are ended then. Asked again when a signal arrives.
  std::function<int()> patience_ms = {};
  // Takes what print() of a value shows, in place of the printer; the bytes are as type/type.h lays them out.
  std::function<void(const type::Type& type, std::span<const std::byte> bytes)> take_value = {};
  // Takes records of a user's script beside acu's own (ir::Action::is_users), in place of the printer.
  std::function<void(const ir::Action& action, std::span<const std::byte> payload)> take_users = {};
};

// Where output goes. Written as a whole line or record at a time.
class Sink {
public:
  virtual ~Sink() = default;
  virtual void out(std::string_view text) = 0;     // results
  virtual void cut() {}                            // results so far are forgotten, where they went to a file
  virtual void message(std::string_view text) = 0; // errors, warnings of errorf/warnf
};

class Printer {
public:
  Printer(const ir::Program& program, ir::Engine& engine, Names& names, Sink& sink, Options options);
  ~Printer();

  // A record of kind printf, errorf, warnf, print_value, time, join, cat, system, packet; the other kinds are the
  // session's. `place` stands before messages, where it is known.
  void record(const ir::Action& action, std::span<const std::byte> payload, std::string_view place);
  // A whole map: sorted, `top` largest only (0: all), values divided by `div` (0: 1).
  void map(uint32_t map, const std::vector<ir::Entry>& entries, uint64_t top, uint64_t div);
  // The same as metrics (report/openmetrics.h) of this name, of the `top` largest keys.
  std::string metrics(uint32_t map, const std::vector<ir::Entry>& entries, uint64_t top, std::string_view name);
  // The value of one entry, as print(@m[key]) shows it.
  void entry(uint32_t map, const ir::Entry& entry);
  // See Names::seen. No stack: the process begins to run.
  void process_seen(uint32_t pid, uint64_t stack = 0, uint64_t time = 0);
  // JSON only: {"type": "attached_probes", "data": {"probes": n}}; {"type": "lost_events", …}.
  void attached(size_t probes);
  void lost(uint64_t events);

  // One value as text, as print() shows it.
  std::string text(const type::Type& type, std::span<const std::byte> bytes);
  // What a record of kind printf or print_value prints.
  std::string text(const ir::Action& action, std::span<const std::byte> payload);

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace report
