// Globals, statics of files and functions, static members and thread-locals, by name.
#include "dwarf/type_entry.h"
#include "probe/user_values_state.h"
#include "symbol/binary.h"

#include <algorithm>

namespace probe {

using namespace dwarf;

static constexpr size_t most_candidates = 256;
static constexpr int most_steps_of_a_function = 1 << 16; // entries gone through for a static variable
static constexpr size_t most_told = 4;

// "src/core/nginx.c" is called by "nginx.c" and "core/nginx.c".
static bool is_file(std::string_view path, std::string_view name) {
  if (!path.ends_with(name)) return false;
  return path.size() == name.size() || path[path.size() - name.size() - 1] == '/';
}

static bool is_definition(const Die& die) {
  if (die.tag() != DW_TAG_variable && die.tag() != DW_TAG_member && die.tag() != DW_TAG_constant)
    return false;
  Die owner;
  return find_attribute(die, DW_AT_location) || find_attribute(die, DW_AT_const_value, owner);
}

// Static variables of a function, also of blocks inside of it.
static void add_statics(std::vector<Die>& to, const Die& function, std::string_view name) {
  DieCursor cursor(function);
  int steps = 0;
  for (bool more = cursor.next() && cursor.next(); more && steps++ < most_steps_of_a_function;
       more = cursor.next()) {
    const Die& die = cursor.die();
    if (die.tag() == DW_TAG_inlined_subroutine) cursor.skip_children();
    if (die.tag() != DW_TAG_variable || to.size() >= most_candidates) continue;
    Location location = location_of(die, find_attribute(die, DW_AT_location));
    if (location.kind != Location::expression || name_of(die) != name) continue;
    auto operation = static_cast<uint8_t>(location.bytes[0]);
    // DW_OP_addr, addrx, GNU_addr_index, or the constants before form_tls_address.
    bool is_static = operation == 0x03 || operation == 0xa1 || operation == 0xfb || operation == 0x0e ||
                     operation == 0x0c || operation == 0xa2 || operation == 0xfc;
    if (is_static) to.push_back(die);
  }
}

std::vector<Die> UserValues::State::find_globals(std::string_view name, bool& is_only_declared) {
  std::vector<Die> out;
  is_only_declared = false;
  size_t separator = name.rfind("::");
  bool is_qualified = separator != std::string_view::npos && separator > 0;
  std::string_view last = is_qualified ? name.substr(separator + 2) : name;
  std::string_view qualifier = is_qualified ? name.substr(0, separator) : std::string_view();
  const dwarf::Index* index = sources.index ? sources.index(last) : nullptr;
  const IndexedFiles* files = index && sources.indexed_files ? sources.indexed_files() : nullptr;
  if (!files) return out;
  bool has_declaration = false;
  auto find = [&](std::string_view wanted, std::string_view file) {
    index->find(wanted, kinds_of({NameKind::variable}), [&](const IndexEntry& entry) {
      std::optional<Die> die = die_of(*files, entry);
      if (!die || (!file.empty() && !is_file(die->unit->name, file))) return true;
      if (is_definition(*die))
        out.push_back(*die);
      else
        has_declaration = true;
      return out.size() < most_candidates;
    });
  };
  // What is called just so comes before what only ends so.
  if (!name.starts_with("::")) find("::" + std::string(name), {});
  if (out.empty()) find(name, {});
  if (out.empty() && is_qualified && qualifier.find('.') != std::string_view::npos) find(last, qualifier);
  if (out.empty() && is_qualified) {
    const dwarf::Index* functions = sources.index(qualifier.substr(qualifier.rfind("::") + 1));
    std::string_view function = qualifier, file;
    size_t inner = qualifier.find("::"); // "file.c::function::name"
    if (inner != std::string_view::npos && qualifier.substr(0, inner).find('.') != std::string_view::npos)
      file = qualifier.substr(0, inner), function = qualifier.substr(inner + 2);
    if (functions)
      functions->find(function, kinds_of({NameKind::function}), [&](const IndexEntry& entry) {
        std::optional<Die> die = die_of(*files, entry);
        if (die && (file.empty() || is_file(die->unit->name, file))) add_statics(out, *die, last);
        return out.size() < most_candidates;
      });
  }
  is_only_declared = out.empty() && has_declaration;
  return out;
}

std::string UserValues::State::name_of_global(const Die& die) {
  std::string name = sources.types->full_name(die);
  std::string_view unit = die.unit->name;
  size_t slash = unit.rfind('/');
  return std::string(slash == std::string_view::npos ? unit : unit.substr(slash + 1)) + "::" + name;
}

UserValue UserValues::State::global(const Event* event, const Die& die, std::optional<uint64_t> bias) {
  Variable variable;
  const Unit* unit;
  UserValue out = describe(die, variable, unit);
  const Location& location = variable.location;
  if (!out.type) {
    out.reason = "has no type that values can have";
  } else if (location.kind == Location::constant) {
    take_constant(out, location);
  } else if (location.kind == Location::expression) {
    take_parts(out, translate_expression(source_at(nullptr, *unit, event, bias), location.bytes));
  } else {
    out.reason = "is optimised away";
  }
  return out;
}

// Entries of one variable in several units have one place.
static bool same_place(const UserValue& a, const UserValue& b) {
  return a && b && a.recipe == b.recipe && (a.type == b.type || (a.type->size == b.type->size));
}

UserValue UserValues::global(const Event* event, std::string_view name, std::optional<uint64_t> bias) {
  State& state = *state_;
  if (!state.sources.info || !state.sources.types || !state.sources.file) return state.nothing_known();
  bool is_only_declared;
  std::vector<Die> found = state.find_globals(name, is_only_declared);
  UserValue out;
  if (is_only_declared) {
    out.kind = UserValue::without_value;
    out.reason = "is only declared here: another program or library has it";
    return out;
  }
  std::vector<std::string> names;
  for (const Die& die : found) {
    UserValue value = state.global(event, die, bias);
    if (!out && (value || out.kind == UserValue::missing)) {
      out = std::move(value);
      names = {state.name_of_global(die)};
    } else if (value && !same_place(out, value)) {
      names.push_back(state.name_of_global(die));
    }
  }
  if (names.size() < 2) return out;
  out.kind = UserValue::ambiguous;
  out.recipe = {};
  out.reason = "is the name of several: ";
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  for (size_t i = 0; i < names.size() && i < most_told; i++) out.reason += (i ? ", " : "") + names[i];
  if (names.size() > most_told) out.reason += ", …";
  return out;
}

bool UserValues::has_global(std::string_view name) {
  bool is_only_declared = false;
  return !state_->find_globals(name, is_only_declared).empty() || is_only_declared;
}

UserValue UserValues::symbol(symbol::Binary& binary, type::Table& table, const Event* event,
                             std::string_view name, std::optional<uint64_t> bias) {
  UserValue out{.kind = UserValue::missing, .name = name};
  std::optional<symbol::SymbolPlace> found = binary.find_symbol(name);
  if (!found) return out;
  out.kind = UserValue::without_value;
  if (found->is_of_threads) {
    out.reason = "is a variable that each thread has of its own: `&target." + std::string(name) +
                 "` is where this one's is";
    return out;
  }
  UserSources sources;
  sources.binary = &binary;
  sources.file = &binary.file();
  MaybeSteps steps = State(std::move(sources)).address_of(found->address, event, bias);
  if (!steps) {
    out.reason = std::move(steps.error().message);
    return out;
  }
  bool is_number = found->size == 1 || found->size == 2 || found->size == 4;
  out.kind = UserValue::found;
  out.type = table.pointer(table.integer(is_number ? static_cast<uint32_t>(found->size) : 8, false),
                           type::Space::user);
  out.recipe = {.kind = Recipe::value, .steps = std::move(*steps), .pieces_of = {}};
  return out;
}

} // namespace probe
