// A script of acu's own (src/scripts) with what a command puts into it. See src/scripts/README.md.
#pragma once

#include "lang/parse.h"
#include "session/target_filter.h"

#include <concepts>
#include <string>
#include <string_view>
#include <vector>

namespace session {

struct BuiltinScript {
  std::string name; // of its file, without `.bt`
  std::string_view text;
  lang::Parts parts = {}; // with all that it may import

  BuiltinScript() = default;
  explicit BuiltinScript(std::string_view own_name);

  void set(std::string_view parameter, std::string_view value) { parts.parameters.emplace_back(parameter, value); }
  void set(std::string_view parameter, bool value) { set(parameter, std::string_view(value ? "true" : "false")); }
  void set(std::string_view parameter, std::unsigned_integral auto value) { set(parameter, std::string_view(std::to_string(value))); }
  // The body of a macro. `shown`: its name in messages, if a user wrote it; empty: internal.
  void set_expression(std::string_view macro, std::string text, std::string_view shown = {}) {
    parts.expressions.push_back({std::string(macro), std::move(text), std::string(shown.empty() ? macro : shown)});
  }
  // A file that it imports becomes this text.
  void set_import(std::string_view file, std::string text);
  // A user's script runs beside this one: its text becomes a file that this one imports, with C macros and maps of its own. An expression and the places of a
  // probe may be parts of it: they see the same maps; places may have a predicate.
  void set_users_script(std::string_view file, std::string text, std::string_view shown);
  void set_users_expression(std::string_view macro, std::string text, std::string_view shown) {
    parts.expressions.push_back({std::string(macro), std::move(text), std::string(shown), true});
  }
  void set_users_places(std::string_view probe, std::string places, std::string_view shown) {
    parts.places.push_back({std::string(probe), std::move(places), std::string(shown), true});
  }
  // What names of this script's maps begin with then: `read("flight.triggers")`.
  std::string own_maps() const { return name + "."; }
  // The target filter (`ours()` of whose.bt), the CPUs (`here()`), and the duration; 0: unlimited.
  void set_whose(const Condition& condition, const TargetFilter& filter, uint64_t duration_ns);
  // What scheduler.bt asks about the kernel, and the place of the probe `back`.
  void set_scheduler();
  // `shown`: as above.
  void set_places(std::string_view probe, std::string places, std::string_view shown = {}) {
    parts.places.push_back({std::string(probe), std::move(places), std::string(shown.empty() ? probe : shown)});
  }
};

// Probes of one kind as a list in the language; `kind` with its colon, or empty.
std::string listed(std::string_view kind, const std::vector<std::string>& places);
// A probe of a user function as a place: `uprobe:"/a path":"f"`, whatever the names are. `binary` may be empty: of the process itself.
std::string user_place(std::string_view provider, std::string_view binary, std::string_view function);

} // namespace session
