// What UserValues knows, and the steps that its questions have in common. For use by user_values*.cc.
#pragma once

#include "probe/probe.h"
#include "probe/user_values_abi.h"
#include "probe/user_values_code.h"
#include "probe/user_values_parts.h"

namespace probe {

// Where values are asked for.
struct Spot {
  const Event* event = nullptr;
  CodeFunction function;
  uint64_t address = 0;
  std::optional<dwarf::Die> inlined; // of a probe on a call that was inlined: that call
  // What has the parameters.
  const dwarf::Die& body() const { return inlined ? *inlined : function.die; }
  bool at_entry = false;     // registers and stack are as the caller left them
  bool after_return = false; // the function is over
  bool is_clone = false;     // a copy that the compiler made, which may be given other arguments
};

struct UserValues::State {
  explicit State(UserSources given) : sources(std::move(given)), code(sources) {}

  UserSources sources;
  Code code;
  std::unordered_map<std::string, const type::Type*> structures; // of parameters, by names and types
  std::optional<std::string> hint;                               // of the sources, once asked for
  std::unordered_map<uint64_t, bool> asking;                     // asks_callers, by address
  std::unordered_map<uint64_t, CallSite> sites;                  // by the address they return to
  std::unordered_map<uint64_t, bool> followers;                  // may_follow_itself, by the first instruction

  // Nothing: no debug information covers the code; `otherwise` tells so.
  std::optional<Spot> spot_of(const Event& event, UserValue& otherwise);
  UserValue nothing_known();

  // An entry's name and type; `unit` gets the one that the location belongs to.
  UserValue describe(const dwarf::Die& die, dwarf::Variable& variable, const dwarf::Unit*& unit);
  // A variable or parameter where the spot is.
  void take_constant(UserValue& out, const dwarf::Location& location);
  UserValue value_at(const Spot& spot, const dwarf::Die& die);
  UserValue parameter(const Spot& spot, std::span<const dwarf::Die> all, size_t index);
  base::Result<std::vector<ValuePart>> passed_parts(const Spot& spot, std::span<const dwarf::Die> all,
                                                    size_t index);
  UserValue parameter_at_entry(const Spot& spot, std::span<const dwarf::Die> all, size_t index);
  UserValue global(const Event* event, const dwarf::Die& die, std::optional<uint64_t> bias);

  // What a register had when the function began, as its caller's debug information tells.
  MaybeSteps entry_value(const Spot& spot, uint64_t number);
  MaybeSteps given_by(const Event& caller, const Event& callee, const CodeFunction& called, uint64_t number);
  bool is_call_of(const dwarf::Die& site, const Caller& caller, const Event& callee,
                  const CodeFunction& called);
  // The function may come to run again by calls at the ends of functions, which leave no trace.
  bool may_follow_itself(const CodeFunction& function);
  std::vector<dwarf::Die> functions_called(const dwarf::Die& declaration);

  // What expressions may ask for at a spot; no spot: outside of functions.
  StepSource source_at(const Spot* spot, const dwarf::Unit& unit, const Event* event,
                       std::optional<uint64_t> bias);
  MaybeSteps cfa_at(const Spot& spot);
  MaybeSteps frame_base_at(const Spot& spot);
  MaybeSteps address_of(uint64_t address, const Event* event, std::optional<uint64_t> bias);
  MaybeSteps thread_variable(const Event* event, std::optional<uint64_t> bias);
  // The place is one the caller filled: above the frame.
  bool is_on_callers_stack(const Spot& spot, const ValuePart& part);
  // "f+18"
  std::string place_name(const Spot& spot, uint64_t address);
  // ", but from f+18 to f+40": where a list knows better; empty: nowhere.
  std::string available(const Spot& spot, const dwarf::Unit& unit, const dwarf::Location& location,
                        const type::Type& type);

  std::vector<dwarf::Die> find_globals(std::string_view name, bool& is_only_declared);
  std::string name_of_global(const dwarf::Die& die);
};

// Fills in what a recipe could be made of, or why not.
void take_parts(UserValue& to, const base::Result<std::vector<ValuePart>>& parts);

} // namespace probe
