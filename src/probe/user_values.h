// Values of traced programs as their debug information describes them: parameters and results of functions,
// local variables, globals, thread-locals; each as type and recipe for one event, or with the reason why
// there is no recipe. Nothing is read before it is asked for: the unit of the function that an event is in,
// and of it the one function; of globals the one that is named.
//
// Shapes of recipes: a scalar of at most 8 bytes is a `value` (extended by its sign) or an `address`; a
// structure or array that is in registers is `pieces` also where it is one piece; everything in memory is an
// `address`.
#pragma once

#include "dwarf/index.h"
#include "dwarf/type_search.h"
#include "dwarf/types.h"
#include "probe/recipe.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace symbol {
class Binary;
}

namespace probe {

struct Event;

struct UserValue {
  enum Kind : uint8_t {
    found,         // `type` and `recipe` are there
    missing,       // nothing is called so
    without_value, // it is declared, but here it is nowhere (optimised away, in a register that probes do not
                   // see, …): `reason`
    ambiguous,     // several are called so: `reason` tells which
    no_debug_info, // of the file, or of the code the event is in
  };
  Kind kind = missing;
  std::string_view name;
  const type::Type* type =
      nullptr;                // of C++ references: the pointer. nullptr: void, or nothing that has values
  dwarf::Place type_place;    // as declared, for dwarf::type_text()
  bool is_artificial = false; // `this`, …
  bool is_reference = false;  // of C++
  Recipe recipe;
  // A sentence without full stop and without the name: "is optimised away here; it is in place from
  // ngx_http_run+12 to +40". Also of `found` ones that are there in part only: "8 of its 16 bytes are in
  // xmm0".
  std::string reason;
  explicit operator bool() const { return kind == found; }
};

// What the values of one file are read from. What is pointed to outlives the UserValues.
struct UserSources {
  symbol::Binary* binary = nullptr;       // as Event::module
  const format::ElfFile* file = nullptr;  // the program or library itself
  const format::ElfFile* debug = nullptr; // its debug file; nullptr: that is `file`
  dwarf::DebugInfo* info = nullptr;       // opened with_locations; nullptr: there is none
  dwarf::Types* types = nullptr;          // over `table`
  type::Table* table = nullptr;
  // An index that knows this name (perhaps not others) and its files, asked for when a global is; nullptr:
  // there is none.
  std::function<const dwarf::Index*(std::string_view name)> index;
  std::function<const dwarf::IndexedFiles*()> indexed_files;
  std::function<std::string()> hint; // why there is no debug information, and what would help
};
UserSources sources_of(symbol::Binary& binary, type::Table& table);

// Of one file; Machine::user_values() makes and keeps it.
class UserValues {
public:
  explicit UserValues(UserSources sources);
  ~UserValues();
  UserValues(const UserValues&) = delete;

  // Of the function that the event is in, in order, also those that have no name (""). `index` counts from 0.
  // At the function's entry (also at an instruction that stands for it) as the caller passed them; elsewhere
  // where they are then. In return probes they have types but no recipe: entry(…) is what scripts want.
  size_t parameter_count(const Event& event);
  UserValue parameter(const Event& event, size_t index);
  UserValue parameter(const Event& event, std::string_view name);
  bool is_variadic(const Event& event);
  // All of them as one structure with a member for each that has a name and a type, for Event::args; nullptr:
  // there are none. Events whose parameters have the same names and types have the same structure.
  const type::Type* parameters(const Event& event);
  // "const char * path", one text each, as declared; the first is the result's type if `with_result`.
  std::vector<std::string> describe(const Event& event, bool with_result = false);

  // What the function returned, for return probes. A function without result is `missing`.
  UserValue result(const Event& event);

  // A variable or parameter that is visible where the event is: of the innermost scope first, also of calls
  // that were inlined there. Variables that live in static memory are found too.
  UserValue local(const Event& event, std::string_view name);
  // The functions whose code is at an address: those inlined there, innermost first, and at last the one that
  // the code is of, by the names that the source has for them. Empty: no debug information tells.
  std::vector<std::string_view> functions_at(uint64_t address);
  // The names of all of them, innermost first, each once.
  std::vector<std::string_view> locals(const Event& event);

  // A global, a static variable of a file or function (`file.c::name`, `function::name`), a static member
  // (`ns::Class::name`) or a thread-local. `event`: where it is asked for; one whose binary is another file,
  // or that is no user probe, can tell where a main program is, but not a library. `bias`: what the loader
  // added, where that is known.
  UserValue global(const Event* event, std::string_view name, std::optional<uint64_t> bias = std::nullopt);
  // Whether there is a variable of this name, anywhere.
  bool has_global(std::string_view name);

  // Where a symbol of a file is, as a pointer to an unsigned number of its size (of 8 bytes where numbers
  // have no such size). Works without debug information. `event`, `bias`: as above.
  static UserValue symbol(symbol::Binary& binary, type::Table& table, const Event* event,
                          std::string_view name, std::optional<uint64_t> bias = std::nullopt);

  // Whether anything that is visible at an address is told by what a register had when the function began,
  // which only callers know (Event::callers).
  bool asks_callers(uint64_t address);
  // What debug information tells of the call that returns to an address.
  struct CallSite {
    bool is_known = false;
    bool asks_callers = false; // what it was given depends on the callers of its function in turn
    Recipe target;             // of a call through a pointer: the pointer; `none`: not told
  };
  const CallSite& call_site(const Event& caller);

  // The file is a program; else a library, of which processes have several or none.
  bool is_program() const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace probe
