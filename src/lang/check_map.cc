// What is known of a map only once every use of it was seen: how it is kept, whether it has keys, whether it is used
// at all. Mistakes about its types name both places, since either can be the wrong one.
#include "lang/checker.h"

#include <algorithm>

namespace lang {

using type::Kind;
using namespace spec;

// Something whose use the configuration key `unstable_…` allows, warns of or forbids; told once.
void Checker::use_unstable(std::string_view key, Range where, std::string_view what) {
  const std::string& policy = program_.config.text(key);
  if (policy == "enable" || !tells()) return;
  if (std::find(told_unstable_.begin(), told_unstable_.end(), key) != told_unstable_.end()) return;
  told_unstable_.push_back(key);
  if (policy == "error")
    error(tag::unstable, where, std::string(what) + " may still change, and " + std::string(key) + " forbids it",
          "config = { " + std::string(key) + " = enable }");
  else
    warning(tag::unstable, where, std::string(what) + " may still change",
            "config = { " + std::string(key) + " = enable } says that this is fine");
}

void Checker::conflict(std::string_view tag, Range where, std::string message, std::string hint, Range other,
                       std::string note) {
  if (tells()) diagnostics_.error(tag, where, std::move(message), std::move(hint), other, std::move(note));
}

// Aggregations have a value on each CPU: a declaration that says otherwise is a mistake, except for maps without
// keys, of which the declaration tells nothing.
void Checker::check_storage(Map& m) {
  bool shared = m.storage == Storage::hash || m.storage == Storage::lruhash;
  if (!shared || options_.shares_aggregations || !m.value || !m.value->is_aggregation() || !m.key) return;
  std::string fitting = "percpu" + std::string(name_of(m.storage));
  conflict(tag::bad_map_use, m.where,
           "`@" + std::string(m.name) + "` is declared as " + std::string(name_of(m.storage)) +
               ", but values of type " + text(m.value) + " are kept for each CPU",
           "declare it as " + fitting, m.value_where, "the value is assigned here");
}

void Checker::finish_map(Map& m) {
  std::string name = "@" + std::string(m.name);
  if (m.declared && !m.used && !left_out_.empty()) return; // a block that is left out may use it
  if (m.declared && !m.used) return warning(tag::unused, m.where, "map `" + name + "` is declared and never used");
  if (m.declared) use_unstable("unstable_map_decl", m.where, "declaring maps");
  if (m.scalar_use && m.keyed_use) {
    conflict(tag::bad_map_use, m.where, "map `" + name + "` is used both with and without a key",
             "a map either always has a key or never", m.key_where, "it has a key here");
  } else if (!m.value && m.assigned && !diagnostics_.has_errors()) {
    error(tag::unknown_map, m.where, "map `" + name + "` is only given values whose type is never told",
          "assign a value of a known type somewhere: `" + name + (m.key ? "[key]" : "") + " = …`");
  } else if (only_left_out_.contains(&m) && !blocks_are_missing_) {
    error(tag::unknown_map, m.where, "map `" + name + "` is given values only in probes or branches that are left out here, and their type is not known",
          "assign a value of that type in some probe: `" + name + (m.key ? "[key]" : "") + " = …`");
  } else if (!m.value && !m.assigned && !blocks_are_missing_) {
    error(tag::unknown_map, m.where, "map `" + name + "` is never assigned a value",
          "assign to it in some probe: `" + name + (m.key ? "[key]" : "") + " = …`");
  }
  check_storage(m);
  // A declaration for one value a CPU is taken at its word where that changes nothing but the cost.
  bool percpu = m.storage == Storage::percpuhash || m.storage == Storage::percpulruhash;
  m.only_adds &= m.value && m.value->is(Kind::integer) && (!m.declared || percpu);
  m.tid_only &= m.value && m.key && !m.declared && m.value->is_scalar() && (m.value->size == 8 || m.value->is(Kind::integer));
}

} // namespace lang
