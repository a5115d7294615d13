// Functions' parameters, results and local variables. Where things are in memory at all is in
// user_values_places.cc, globals are in user_values_globals.cc.
#include "probe/user_values.h"

#include "dwarf/scopes.h"
#include "dwarf/type_entry.h"
#include "dwarf/type_text.h"
#include "probe/uprobe.h"
#include "probe/user_values_state.h"
#include "symbol/binary.h"

#include <algorithm>

namespace probe {

using namespace dwarf;

UserValues::UserValues(UserSources sources) : state_(new State(std::move(sources))) {}
UserValues::~UserValues() = default;

UserSources sources_of(symbol::Binary& binary, type::Table& table) {
  UserSources out;
  out.binary = &binary;
  out.file = &binary.file();
  out.info = binary.debug_info();
  const symbol::DebugFile& found = binary.debug_file();
  if (found.debug.file) out.debug = &*found.debug.file;
  out.types = binary.types(table);
  out.table = &table;
  out.index = [&binary](std::string_view name) { return binary.index_for(name); };
  out.indexed_files = [&binary] { return &binary.indexed_files(); };
  out.hint = [&binary] { return binary.debug_hint(); };
  return out;
}

UserValues& Machine::user_values(symbol::Binary& binary) {
  std::unique_ptr<UserValues>& values = user_values_[&binary];
  if (!values) values = std::make_unique<UserValues>(sources_of(binary, types_));
  return *values;
}

// ---- where an event is

UserValue UserValues::State::nothing_known() {
  UserValue out{.kind = UserValue::no_debug_info};
  if (!sources.info && !hint) hint = sources.hint ? sources.hint() : "there is no debug information";
  out.reason = sources.info ? "no debug information covers the code there" : *hint;
  return out;
}

// Names that gcc gives to copies of functions whose arguments it changed.
static bool is_clone_name(std::string_view name) {
  for (std::string_view mark : {".isra.", ".constprop.", ".part."})
    if (name.find(mark) != std::string_view::npos) return true;
  return false;
}

// The outermost call of a function that was inlined around an address.
static std::optional<Die> inlined_call_around(const Die& within, uint64_t address, std::string_view name) {
  std::optional<Die> out;
  for_each_child(within, [&](const Die& child) {
    bool is_call = child.tag() == DW_TAG_inlined_subroutine;
    if (out || (!is_call && child.tag() != DW_TAG_lexical_block)) return;
    std::vector<AddressRange> ranges = ranges_of(child);
    if (std::ranges::none_of(ranges, [&](const AddressRange& r) { return r.holds(address); })) return;
    if (is_call && function_names(child).name == name)
      out = child;
    else
      out = inlined_call_around(child, address, name);
  });
  return out;
}

// Of the scopes around an address those that one frame sees: of the function itself without what was inlined
// into it, or of an inlined call without what was inlined there. Probes on code see all.
static void keep_own_scopes(std::vector<CodeScope>& scopes, const Event& event) {
  if (event.kind != Kind::frame && event.kind != Kind::fault) return;
  size_t first = 0;
  if (event.is_inlined)
    while (first + 1 < scopes.size() &&
           !(first && scopes[first].origin && name_of(*scopes[first].origin) == event.function))
      first++;
  for (size_t i = first + 1; i < scopes.size(); i++)
    if (scopes[i].origin && event.kind == Kind::frame) return scopes.resize(i);
}

std::optional<Spot> UserValues::State::spot_of(const Event& event, UserValue& otherwise) {
  otherwise = nothing_known();
  if (!sources.info || !sources.types) return std::nullopt;
  // Of a return it does not matter at which instruction: it may be another function's.
  const uint64_t address = event.at_return_instruction ? event.function_address : event.address;
  std::optional<CodeFunction> function = code.function_at(address);
  if (!function) return std::nullopt;
  Spot out{.event = &event, .function = *function, .address = address};
  uint64_t begin = event.function_address ? event.function_address : event.address;
  out.after_return = event.kind == Kind::uretprobe;
  if (event.is_inlined && event.kind == Kind::frame) {
    out.inlined = inlined_call_around(function->die, event.address, event.function);
    return out;
  }
  if (event.is_inlined) {
    out.inlined = inlined_call(function->die, event.address, event.function);
    return out;
  }
  out.at_entry = !out.after_return && event.at_entry && begin == function->entry;
  // DW_CC_nocall: the compiler calls it in a way of its own.
  Attribute convention = find_attribute(function->die, DW_AT_calling_convention);
  out.is_clone =
      is_clone_name(event.function) || convention.number == 3 || !follows_abi(function->die.unit->language);
  return out;
}

// ---- parameters

static bool is_reference_type(const Place& place) {
  std::optional<Die> die = skip_modifiers(die_at(place));
  return die && (die->tag() == DW_TAG_reference_type || die->tag() == DW_TAG_rvalue_reference_type);
}

UserValue UserValues::State::describe(const Die& die, Variable& variable, const Unit*& unit) {
  variable = sources.types->variable(die);
  unit = die.unit;
  if (variable.location.kind == Location::none && die.tag() == DW_TAG_variable) {
    Die owner; // what is static is told of the function as a whole
    Attribute location = find_attribute(die, DW_AT_location, owner);
    if (location) variable.location = location_of(owner, location), unit = owner.unit;
  }
  UserValue out{.kind = UserValue::without_value, .name = variable.name, .type = variable.type};
  out.type_place = variable.type_place;
  out.is_artificial = variable.is_artificial;
  out.is_reference = is_reference_type(variable.type_place);
  return out;
}

void take_parts(UserValue& to, const base::Result<std::vector<ValuePart>>& parts) {
  to.kind = UserValue::without_value;
  to.recipe = {};
  if (!parts) {
    to.reason = parts.error().message;
  } else if (!to.type) {
    to.reason = "has no type that values can have";
  } else {
    MadeRecipe made = make_recipe(*parts, *to.type);
    to.reason = std::move(made.reason);
    if (made.recipe.kind != Recipe::none) to.kind = UserValue::found;
    to.recipe = std::move(made.recipe);
  }
}

static std::optional<Die> declared_type(const Die& die) {
  Die owner;
  Attribute type = find_attribute(die, DW_AT_type, owner);
  return type ? reference_of(*owner.unit, type) : std::nullopt;
}

// Constructors of gcc have entries for parameters that this one of its instances is not given.
static bool is_given(const Die& function, const Die& parameter) {
  bool is_instance = bool(find_attribute(function, DW_AT_abstract_origin));
  bool is_own = !is_instance || find_attribute(parameter, DW_AT_abstract_origin);
  if (is_own && name_of(parameter) != "__in_chrg") return true;
  Die owner;
  bool is_artificial = find_attribute(parameter, DW_AT_artificial, owner).number != 0;
  return !is_artificial || name_of(parameter) == "this";
}

// Where the ABI has a parameter at the function's entry.
base::Result<std::vector<ValuePart>> UserValues::State::passed_parts(const Spot& spot,
                                                                     std::span<const Die> all, size_t index) {
  const Die& function = spot.function.die;
  if (spot.is_clone) return no_value("was optimised away");
  if (!is_given(function, all[index])) return no_value("is not passed to this instance of the function");
  Arguments arguments([&] { return cfa_at(spot); }, *sources.types, declared_type(function));
  for (size_t i = 0; i < index; i++)
    if (is_given(function, all[i])) (void)arguments.next(declared_type(all[i]));
  return arguments.next(declared_type(all[index]));
}

// What the ABI puts on the stack is there. Else what the list of locations says comes first, but a single
// place in the frame holds only once the function has stored its argument there: until then it is where the
// ABI has it.
UserValue UserValues::State::parameter_at_entry(const Spot& spot, std::span<const Die> all, size_t index) {
  const Die& die = all[index];
  Variable variable;
  const Unit* unit;
  UserValue out = describe(die, variable, unit), passed = out;
  const Location& location = variable.location;
  if (location.kind == Location::constant) return value_at(spot, die);
  base::Result<std::vector<ValuePart>> by_abi = passed_parts(spot, all, index);
  take_parts(passed, by_abi);
  bool is_on_stack = by_abi && by_abi->size() == 1 && (*by_abi)[0].in_frame;
  std::optional<ByteSpan> expression;
  if (!(passed && is_on_stack))
    expression = expression_at(*unit, location, spot.address, spot.function.entry);
  if (!expression) {
    if (!passed && out.type && spot.is_clone) passed.reason += available(spot, *unit, location, *out.type);
    return passed;
  }
  auto told = translate_expression(source_at(&spot, *unit, spot.event, std::nullopt), *expression);
  bool is_later =
      location.kind == Location::expression && told && std::ranges::any_of(*told, [&](const ValuePart& part) {
        return part.in_frame && !is_on_callers_stack(spot, part);
      });
  if (is_later && !passed && spot.is_clone)
    passed.reason = "has no place yet: it is stored by " + place_name(spot, code.prologue_end(spot.function));
  if (is_later) return passed;
  take_parts(out, told);
  return out || !passed ? out : passed;
}

size_t UserValues::parameter_count(const Event& event) {
  UserValue otherwise;
  std::optional<Spot> spot = state_->spot_of(event, otherwise);
  return spot ? parameters_of(spot->body()).all.size() : 0;
}

bool UserValues::is_variadic(const Event& event) {
  UserValue otherwise;
  std::optional<Spot> spot = state_->spot_of(event, otherwise);
  return spot && parameters_of(spot->body()).is_variadic;
}

UserValue UserValues::State::parameter(const Spot& spot, std::span<const Die> all, size_t index) {
  if (spot.at_entry) return parameter_at_entry(spot, all, index);
  if (!spot.after_return) return value_at(spot, all[index]);
  Variable variable;
  const Unit* unit;
  UserValue out = describe(all[index], variable, unit);
  out.reason = "is gone when the function has returned: entry(…) keeps what it was";
  return out;
}

UserValue UserValues::parameter(const Event& event, size_t index) {
  UserValue out;
  std::optional<Spot> spot = state_->spot_of(event, out);
  if (!spot) return out;
  Parameters parameters = parameters_of(spot->body());
  if (index >= parameters.all.size()) return {};
  return state_->parameter(*spot, parameters.all, index);
}

UserValue UserValues::parameter(const Event& event, std::string_view name) {
  UserValue out;
  std::optional<Spot> spot = state_->spot_of(event, out);
  if (!spot) return out;
  Parameters parameters = parameters_of(spot->body());
  for (size_t i = 0; i < parameters.all.size(); i++)
    if (name_of(parameters.all[i]) == name) return state_->parameter(*spot, parameters.all, i);
  return {};
}

const type::Type* UserValues::parameters(const Event& event) {
  UserValue otherwise;
  std::optional<Spot> spot = state_->spot_of(event, otherwise);
  if (!spot) return nullptr;
  std::vector<type::Field> fields;
  std::string key;
  uint64_t size = 0;
  uint32_t alignment = 1;
  for (const Die& die : parameters_of(spot->body()).all) {
    Variable variable = state_->sources.types->variable(die);
    const type::Type* type = variable.type;
    if (variable.name.empty() || !type || !type->has_size || type->align == 0) continue;
    size = (size + type->align - 1) / type->align * type->align;
    if (size + type->size > UINT32_MAX / 2) break;
    fields.push_back({.name = variable.name, .type = type, .offset = static_cast<uint32_t>(size)});
    size += type->size;
    alignment = std::max(alignment, type->align);
    key += std::string(variable.name) + ' ' + std::to_string(reinterpret_cast<uintptr_t>(type)) + ' ';
  }
  if (fields.empty()) return nullptr;
  auto [at, is_new] = state_->structures.try_emplace(key);
  size = (size + alignment - 1) / alignment * alignment;
  if (is_new)
    at->second =
        state_->sources.table->structure("args", false, static_cast<uint32_t>(size), alignment, fields);
  return at->second;
}

// What assemblers write of a function: it may give back something. decltype(nullptr), which is a type, has a name.
static bool is_unspecified(const Die& type) { return type.tag() == DW_TAG_unspecified_type && name_of(type).empty(); }

std::vector<std::string> UserValues::describe(const Event& event, bool with_result) {
  std::vector<std::string> out;
  UserValue otherwise;
  std::optional<Spot> spot = state_->spot_of(event, otherwise);
  if (!spot) return out;
  auto text = [&](const Die& die, std::string_view name) {
    std::optional<Die> type = declared_type(die);
    if (type && is_unspecified(*type)) return name.empty() ? std::string("uint64") : "uint64 " + std::string(name);
    return type_text(*state_->sources.types, type ? &*type : nullptr, std::string(name));
  };
  if (with_result) out.push_back(text(spot->function.die, {}));
  Parameters parameters = parameters_of(spot->body());
  for (const Die& die : parameters.all) out.push_back(text(die, name_of(die)));
  if (parameters.is_variadic) out.push_back("...");
  return out;
}

UserValue UserValues::result(const Event& event) {
  UserValue out;
  std::optional<Spot> spot = state_->spot_of(event, out);
  if (!spot) return out;
  std::optional<Die> type = declared_type(spot->function.die);
  if (!type || is_unspecified(*type)) return {};
  out = UserValue{
      .kind = UserValue::without_value, .name = "retval", .type = state_->sources.types->type(*type)};
  out.type_place = place_of(*type);
  out.is_reference = is_reference_type(out.type_place);
  if (!spot->after_return) {
    out.reason = "is there only when the function returns";
  } else if (!follows_abi(spot->function.die.unit->language) && out.type && !out.type->is_scalar()) {
    out.reason = "is given back in a way that only the compiler of its language knows";
  } else {
    take_parts(out, result_parts(type, *state_->sources.types));
  }
  return out;
}

// ---- local variables

UserValue UserValues::local(const Event& event, std::string_view name) {
  UserValue out;
  std::optional<Spot> spot = state_->spot_of(event, out);
  if (!spot) return out;
  std::vector<CodeScope> scopes = state_->code.scopes_at(spot->function, spot->address);
  keep_own_scopes(scopes, event);
  std::vector<Die> parameters;
  out = {};
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); scope++) {
    for (const Die& die : scope->entries) {
      if (name_of(die) != name || out) continue;
      if (find_attribute(die, DW_AT_declaration)) return global(&event, name);
      bool is_own = scope + 1 == scopes.rend() && die.tag() == DW_TAG_formal_parameter;
      if (is_own && parameters.empty()) parameters = parameters_of(spot->body()).all;
      auto at = std::ranges::find_if(parameters, [&](const Die& p) { return p.offset == die.offset; });
      if (is_own && at != parameters.end())
        out = state_->parameter(*spot, parameters, static_cast<size_t>(at - parameters.begin()));
      else
        out = state_->value_at(*spot, die);
    }
    if (out.kind != UserValue::missing) return out;
    if (!scope->origin) continue;
    for_each_child(*scope->origin, [&](const Die& child) { // what nothing was left of
      bool is_one = child.tag() == DW_TAG_variable || child.tag() == DW_TAG_formal_parameter;
      if (is_one && out.kind == UserValue::missing && name_of(child) == name)
        out = state_->value_at(*spot, child);
    });
    if (out.kind != UserValue::missing) return out;
  }
  return out;
}

std::vector<std::string_view> UserValues::functions_at(uint64_t address) {
  std::vector<std::string_view> out;
  if (!state_->sources.info) return out;
  std::optional<CodeFunction> function = state_->code.function_at(address);
  if (!function) return out;
  std::vector<CodeScope> scopes = state_->code.scopes_at(*function, address);
  for (size_t i = scopes.size(); i-- > 1;)
    if (scopes[i].origin) out.push_back(name_of(*scopes[i].origin));
  out.push_back(name_of(function->die));
  return out;
}

std::vector<std::string_view> UserValues::locals(const Event& event) {
  std::vector<std::string_view> out;
  UserValue otherwise;
  std::optional<Spot> spot = state_->spot_of(event, otherwise);
  if (!spot) return out;
  std::vector<CodeScope> scopes = state_->code.scopes_at(spot->function, spot->address);
  keep_own_scopes(scopes, event);
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); scope++)
    for (const Die& die : scope->entries) {
      std::string_view name = name_of(die);
      if (!name.empty() && std::ranges::find(out, name) == out.end()) out.push_back(name);
    }
  return out;
}

} // namespace probe
