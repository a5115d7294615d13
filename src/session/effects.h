// What records ask for, done in the order of their arrival: text is printed, maps are shown, cleared or
// zeroed, the session is asked to end.
//
// exit() is a point in the stream of records: what came before it is printed, what comes after it is not,
// until the `end` probes run.
#pragma once

#include "base/source.h"
#include "ir/engine.h"
#include "report/report.h"
#include "session/cleared_maps.h"

#include <functional>
#include <optional>
#include <vector>

namespace session {

class Effects {
public:
  // `source` may be nullptr: messages then have no location. `warnings`: print warnf().
  Effects(const ir::Program& program, ir::Engine& engine, report::Printer& printer, report::Sink& sink,
          const base::Source* source, bool warnings = true)
      : program_(program), engine_(engine), printer_(printer), sink_(sink), source_(source),
        warnings_(warnings), maps_(program, engine) {}

  // Takes all records that have arrived. Returns their number.
  size_t drain();
  // exit() was called, or an assertion failed.
  bool ended() const { return ended_; }
  // The exit status that the script asked for: the first one, so that `end` probes don't undo a failure.
  int status() const { return status_.value_or(0); }
  // Records count again: the `end` probes are about to run.
  void reopen() { ended_ = false; }
  // How many records were not handed out, because acu was interrupted and they would have taken too long.
  uint64_t dropped() const { return dropped_; }
  // Errors reported by the script: errorf(), assert().
  size_t errors() const { return errors_; }
  // Forgets exit() and its status: another test begins.
  void start_anew() {
    ended_ = false;
    status_.reset();
  }
  // What becomes of flame(): nothing before this is set.
  using Draw = std::function<base::Status(const ir::Action&, const std::vector<ir::Entry>&)>;
  void draw_with(Draw draw) { draw_ = std::move(draw); }
  // How the engine gives up what a map holds: see ClearedMaps.
  void take_maps_with(ClearedMaps::Take take) { maps_.take_with(std::move(take)); }
  // All maps that hold something, sorted by name. `separate`: a blank line comes first, if there are any.
  void print_maps(bool separate);

private:
  void take(std::span<const std::byte> record);
  void report_message(const ir::Action& action, std::span<const std::byte> payload, std::string_view severity);
  void print_map(const ir::Action& action, std::span<const std::byte> payload);
  void draw(const ir::Action& action);
  void print_entry(const ir::Action& action, std::span<const std::byte> payload);
  std::string_view place(const ir::Action& action);
  void end(int status);
  void tell(const base::Status& status);

  const ir::Program& program_;
  ir::Engine& engine_;
  report::Printer& printer_;
  report::Sink& sink_;
  const base::Source* source_;
  bool warnings_;
  ClearedMaps maps_;
  std::vector<std::string> places_; // by action, as they are asked for
  Draw draw_;
  bool ended_ = false;
  size_t errors_ = 0;
  uint64_t dropped_ = 0;
  std::optional<int> status_;
};

} // namespace session
