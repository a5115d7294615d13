// What functions were given, as the debug information of those that called them tells: the value that a
// register had when a function began (DW_OP_entry_value) is what the entry of the call at the return address
// says of it (DW_TAG_call_site_parameter), in the frame of the caller. Specification: DWARF 5, sections
// 2.5.1.7 and 3.4; before version 5 GNU's codes for the same.
//
// A call at the end of a function is a jump, after which the return address is still that of another call:
// what is told there holds only if it is proven that the function was called from there.
#include "dwarf/expression.h"
#include "dwarf/type_entry.h"
#include "probe/user_values_state.h"
#include "symbol/binary.h"

#include <algorithm>
#include <array>

namespace probe {

using namespace dwarf;

static constexpr size_t most_entries = 1 << 16; // below one function
static constexpr size_t most_followers = 256;   // functions that are reached by jumps at their ends

// Calls take(const Die&) for the calls in a function, also for those in what was inlined there, until it
// returns false.
template<class Take> static void for_each_call_site(const Die& function, Take take) {
  DieCursor cursor(function);
  cursor.next();
  for (size_t n = 0; n < most_entries && cursor.next(); n++) {
    uint16_t tag = cursor.die().tag();
    if (tag == DW_TAG_call_site || tag == DW_TAG_GNU_call_site) {
      if (!take(cursor.die())) return;
      cursor.skip_children();
    } else if (tag != DW_TAG_lexical_block && tag != DW_TAG_inlined_subroutine && tag != DW_TAG_try_block &&
               tag != DW_TAG_catch_block) {
      cursor.skip_children();
    }
  }
}

static Attribute either(const Die& die, uint16_t name, uint16_t older) {
  Attribute a = find_attribute(die, name);
  return a ? a : find_attribute(die, older);
}

static bool is_tail_call(const Die& site) {
  return either(site, DW_AT_call_tail_call, DW_AT_GNU_tail_call).number != 0;
}

static std::optional<Die> call_returning_to(const Die& function, uint64_t address) {
  std::optional<Die> out;
  for_each_call_site(function, [&](const Die& site) {
    bool is_older = site.tag() == DW_TAG_GNU_call_site;
    auto pc = address_of(*site.unit, find_attribute(site, is_older ? DW_AT_low_pc : DW_AT_call_return_pc));
    if (pc == address && !is_tail_call(site)) out = site;
    return !out;
  });
  return out;
}

// The function that a call names; nothing: it goes through a pointer.
static std::optional<Die> origin_of(const Die& site) {
  Attribute origin = either(site, DW_AT_call_origin, DW_AT_abstract_origin);
  return origin ? reference_of(*site.unit, origin) : std::nullopt;
}

// The entry that an entry completes, or itself.
static Die first_entry(Die die) {
  static constexpr int most_origins = 8;
  for (int i = 0; i < most_origins; i++) {
    Attribute origin = either(die, DW_AT_abstract_origin, DW_AT_specification);
    std::optional<Die> next = origin ? reference_of(*die.unit, origin) : std::nullopt;
    if (!next) break;
    die = *next;
  }
  return die;
}

static std::string_view linked_name(const Die& function) {
  std::string_view name = linkage_name_of(function);
  return name.empty() ? name_of(function) : name;
}

// Declarations mean what all files see under the name.
static bool is_same_function(const Die& a, const Die& b) {
  Die first = first_entry(a), second = first_entry(b);
  if (first.unit->info == second.unit->info && first.offset == second.offset &&
      first.unit->header->in_types == second.unit->header->in_types)
    return true;
  Die owner;
  bool is_declared = bool(find_attribute(first, DW_AT_declaration));
  bool is_visible = find_attribute(b, DW_AT_external, owner).number != 0;
  return is_declared && is_visible && linked_name(a) == linked_name(b);
}

static std::optional<ByteSpan> expression_of(const Die& die, uint16_t name, uint16_t older) {
  Attribute a = either(die, name, older);
  Location location = a ? location_of(die, a) : Location();
  return location.kind == Location::expression ? std::optional(location.bytes) : std::nullopt;
}

static bool has_entry_value(const Unit& unit, ByteSpan expression) {
  auto operations = read_expression(expression, unit.encoding());
  return operations &&
         std::ranges::any_of(*operations, [](const Operation& o) { return o.code == DW_OP_entry_value; });
}

// What a call gave in a register.
static std::optional<ByteSpan> given_in(const Die& site, uint64_t number) {
  std::optional<ByteSpan> out;
  for_each_child(site, [&](const Die& child) {
    bool is_one = child.tag() == DW_TAG_call_site_parameter || child.tag() == DW_TAG_GNU_call_site_parameter;
    auto place = is_one ? expression_of(child, DW_AT_location, DW_AT_location) : std::nullopt;
    auto operations = place ? read_expression(*place, child.unit->encoding()) : std::vector<Operation>();
    if (out || !operations || operations->size() != 1) return;
    const Operation& only = (*operations)[0];
    if (only.code == DW_OP_regx && only.first == number)
      out = expression_of(child, DW_AT_call_value, DW_AT_GNU_call_site_value);
  });
  return out;
}

// Steps that leave a number, of an expression without a place.
static MaybeSteps number_of(const StepSource& source, ByteSpan expression) {
  auto parts = translate_expression(source, expression);
  if (!parts) return std::move(parts.error());
  const ValuePart& part = (*parts)[0];
  bool is_number = part.kind == ValuePart::memory || part.kind == ValuePart::value;
  if (parts->size() != 1 || !is_number) return no_value("is optimised away here");
  return part.steps;
}

static bool are_known(const Steps& steps, uint32_t known) {
  return std::ranges::all_of(steps, [&](const Step& s) {
    if (s.op != Step::reg || s.value >= stopped_registers) return true;
    for (unsigned number = 0; number < 32; number++)
      if (place_of_register(number) == static_cast<uint64_t>(s.value)) return (known >> number & 1) != 0;
    return false;
  });
}

// ---- which frames are needed

bool UserValues::asks_callers(uint64_t address) {
  auto [at, is_new] = state_->asking.try_emplace(address, false);
  if (!is_new) return at->second;
  std::optional<CodeFunction> function = state_->code.function_at(address);
  if (!function) return false;
  auto asks = [&](const Die& die) {
    Attribute a = find_attribute(die, DW_AT_location);
    std::optional<ByteSpan> expression =
        a ? expression_at(*die.unit, location_of(die, a), address) : std::nullopt;
    return expression && has_entry_value(*die.unit, *expression);
  };
  for (const CodeScope& scope : state_->code.scopes_at(*function, address))
    at->second |= std::ranges::any_of(scope.entries, asks);
  return at->second;
}

const UserValues::CallSite& UserValues::call_site(const Event& caller) {
  auto [at, is_new] = state_->sites.try_emplace(caller.address);
  CallSite& out = at->second;
  if (!is_new) return out;
  std::optional<CodeFunction> function = state_->code.function_at(caller.address);
  std::optional<Die> site =
      function ? call_returning_to(function->die, caller.address + 1) : std::optional<Die>();
  if (!site) return out;
  out.is_known = true;
  for_each_child(*site, [&](const Die& child) {
    auto value = expression_of(child, DW_AT_call_value, DW_AT_GNU_call_site_value);
    out.asks_callers |= value && has_entry_value(*child.unit, *value);
  });
  auto target = expression_of(*site, DW_AT_call_target, DW_AT_GNU_call_site_target);
  if (origin_of(*site) || !target) return out;
  Spot spot{.event = &caller, .function = *function, .address = caller.address};
  auto steps = number_of(state_->source_at(&spot, *site->unit, &caller, std::nullopt), *target);
  // Callees have changed the others by now.
  constexpr uint32_t kept = 1 << 3 | 1 << 6 | 1 << 7 | 0xf << 12;
  if (steps && are_known(*steps, kept)) out.target = {Recipe::value, std::move(*steps), {}};
  return out;
}

// ---- whether it was the call

std::vector<Die> UserValues::State::functions_called(const Die& declaration) {
  std::vector<Die> out;
  if (find_attribute(declaration, DW_AT_low_pc) || find_attribute(declaration, DW_AT_ranges)) {
    out.push_back(declaration);
    return out;
  }
  for (const symbol::FunctionSymbol& f : sources.binary->find_functions(linked_name(declaration), false))
    if (auto function = code.function_at(f.address)) out.push_back(function->die);
  return out;
}

// Functions of other files are taken for such that do not lead back.
bool UserValues::State::may_follow_itself(const CodeFunction& of) {
  auto [at, is_new] = followers.try_emplace(of.entry, true);
  if (!is_new) return at->second;
  const Die& function = of.die;
  std::vector<Die> reached = {function};
  bool may = false;
  for (size_t i = 0; i < reached.size() && !may; i++) {
    for_each_call_site(Die(reached[i]), [&](const Die& site) {
      if (!is_tail_call(site)) return true;
      std::optional<Die> origin = origin_of(site);
      may = !origin || is_same_function(*origin, function) || reached.size() > most_followers;
      if (may) return false;
      for (const Die& next : functions_called(*origin))
        if (std::ranges::none_of(reached, [&](const Die& d) { return is_same_function(next, d); }))
          reached.push_back(next);
      return true;
    });
  }
  return at->second = may;
}

bool UserValues::State::is_call_of(const Die& site, const Caller& caller, const Event& callee,
                                   const CodeFunction& called) {
  if (std::optional<Die> origin = origin_of(site)) return is_same_function(*origin, called.die);
  return caller.called && *caller.called == called.entry + callee.bias.value_or(0);
}

// ---- the value

MaybeSteps UserValues::State::entry_value(const Spot& spot, uint64_t number) {
  auto none = [] {
    return no_value("is optimised away here; it is what the function was given, and the call that it was "
                    "given by does not tell");
  };
  const Event& callee = *spot.event;
  if (callee.callers.empty() || may_follow_itself(spot.function)) return none();
  const Caller& caller = callee.callers.front();
  Event event{.kind = Kind::frame};
  event.module = caller.module;
  event.bias = caller.bias;
  event.address = caller.address - 1;
  event.callers.assign(callee.callers.begin() + 1, callee.callers.end());
  MaybeSteps out = caller.values->state_->given_by(event, callee, spot.function, number);
  if (!out) return none();
  return out;
}

// Of the caller: what its call gave in a register, as steps of the callee.
MaybeSteps UserValues::State::given_by(const Event& caller, const Event& callee, const CodeFunction& called,
                                       uint64_t number) {
  auto none = [] { return no_value("is optimised away here"); };
  const Caller& from = callee.callers.front();
  std::optional<CodeFunction> function = code.function_at(caller.address);
  std::optional<Die> site = function ? call_returning_to(function->die, from.address) : std::optional<Die>();
  if (!site || !is_call_of(*site, from, callee, called)) return none();
  std::optional<ByteSpan> value = given_in(*site, number);
  if (!value) return none();
  Spot spot{.event = &caller, .function = *function, .address = caller.address};
  MaybeSteps out = number_of(source_at(&spot, *site->unit, &caller, std::nullopt), *value);
  if (!out || !are_known(*out, from.known)) return none();
  for (Step& s : *out)
    if (s.op == Step::reg) s.value += stopped_registers;
  return out;
}

} // namespace probe
