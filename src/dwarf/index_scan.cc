#include "dwarf/index_scan.h"

#include <algorithm>
#include <limits>

namespace dwarf {

using namespace index_format;

namespace {

constexpr size_t most_levels = 256; // entries nested deeper are left out
constexpr int most_references = 8;  // from one entry to what completes it
constexpr uint64_t open_entry = std::numeric_limits<uint64_t>::max();

bool is_flat_language(uint16_t language) {
  switch (language) {
  case DW_LANG_C:
  case DW_LANG_C89:
  case DW_LANG_C99:
  case DW_LANG_C11:
  case DW_LANG_C17:
  case DW_LANG_Mips_Assembler: return true;
  default: return false;
  }
}

NameKind kind_of(uint16_t tag) {
  switch (tag) {
  case DW_TAG_structure_type: return NameKind::structure;
  case DW_TAG_class_type:
  case DW_TAG_interface_type: return NameKind::class_;
  case DW_TAG_union_type: return NameKind::union_;
  case DW_TAG_enumeration_type: return NameKind::enumeration;
  case DW_TAG_typedef:
  case DW_TAG_template_alias: return NameKind::alias;
  case DW_TAG_base_type:
  case DW_TAG_unspecified_type: return NameKind::base_type;
  case DW_TAG_enumerator: return NameKind::enumerator;
  case DW_TAG_namespace:
  case DW_TAG_module: return NameKind::name_space;
  case DW_TAG_variable:
  case DW_TAG_constant: return NameKind::variable;
  default: return NameKind::function;
  }
}

} // namespace

void UnitScanner::begin(const Unit& unit, uint32_t file, uint32_t number) {
  unit_ = &unit;
  file_ = file;
  number_ = number;
  begin_ = unit.section.data();
  at_ = begin_ + unit.header->first_die;
  end_ = begin_ + unit.header->end;
  is_flat_ = is_flat_language(unit.language);
  levels_.clear();
  local_scopes_.clear();
  pending_.clear();
  if (shapes_.compile(unit.abbreviations, unit.encoding()))
    for (const Abbreviation& a : unit.abbreviations->all()) may_read(4 + 3 * uint64_t{a.spec_count});
}

bool UnitScanner::scan(const Unit& unit, uint32_t file, uint32_t number) {
  begin(unit, file, number);
  only_scopes_ = false;
  bool whole = read_entries();
  for (LocalScope& scope : local_scopes_) scope.end = std::min(scope.end, unit.header->end);
  for (const Pending& pending : pending_) follow(pending);
  return whole && part_.left_to_read > 0;
}

void UnitScanner::resolve(const Unit& unit, uint32_t file, std::span<const DeferredEntry> entries) {
  begin(unit, file, 0);
  only_scopes_ = true;
  read_entries();
  for (LocalScope& scope : local_scopes_) scope.end = std::min(scope.end, unit.header->end);
  uint64_t unit_offset = unit.header->offset;
  for (const DeferredEntry& d : entries)
    if (d.target > unit_offset) follow({d.entry, d.linkage, {DW_FORM_ref8, d.target - unit_offset}});
}

// The shape of the entry at `at`, which moves on to its values. nullptr: the end of what is below another
// (then `at` has moved), or damage.
const EntryShape* UnitScanner::read_shape(const std::byte*& at) const {
  auto byte = std::to_integer<uint64_t>(*at++);
  uint64_t code = byte & 0x7f;
  for (unsigned shift = 7; byte & 0x80; shift += 7) {
    if (at == end_ || shift > 63) return nullptr;
    byte = std::to_integer<uint64_t>(*at++);
    code |= (byte & 0x7f) << shift;
  }
  const EntryShape* shape = code ? shapes_.find(code) : nullptr;
  return shape && shape->readable ? shape : nullptr;
}

// One pass over the unit. False: it is damaged.
bool UnitScanner::read_entries() {
  while (at_ < end_ && part_.left_to_read > 0) {
    if (*at_ == std::byte{0}) {
      at_++;
      if (levels_.empty()) return true; // only padding can follow
      if (levels_.back().opened >= 0)
        local_scopes_[static_cast<size_t>(levels_.back().opened)].end = static_cast<uint64_t>(at_ - begin_);
      levels_.pop_back();
      if (levels_.empty()) return true;
      continue;
    }
    auto die = static_cast<uint64_t>(at_ - begin_);
    const EntryShape* shape = read_shape(at_);
    if (!shape) return false;
    bool is_read = shape->has_children || (shape->role != Role::other && shape->role != Role::member);
    at_ = is_read ? shapes_.read(*shape, begin_, at_, end_, slots_)
                  : shapes_.pass(*shape, begin_, at_, end_, slots_);
    if (!at_) return false;
    Below below = take(*shape, die);
    if (!shape->has_children) {
      if (levels_.empty()) return true;
    } else if (below.skip || levels_.size() >= most_levels) {
      if (!skip_children(*shape)) return false;
      if (levels_.empty()) return true;
    } else {
      levels_.push_back(below.level);
    }
  }
  return part_.left_to_read > 0;
}

bool UnitScanner::jump_to_sibling(const EntryShape& shape) {
  if (!shape.fills(slot_sibling)) return false;
  uint64_t to = slots_[slot_sibling], at = static_cast<uint64_t>(at_ - begin_) - unit_->header->offset;
  if (to <= at || to > unit_->header->end - unit_->header->offset) return false;
  at_ = begin_ + unit_->header->offset + to;
  return true;
}

// To behind all that is below the entry whose values end at `at_`.
bool UnitScanner::skip_children(const EntryShape& shape) {
  if (jump_to_sibling(shape)) return true;
  for (unsigned depth = 1; depth > 0 && at_ < end_;) {
    if (*at_ == std::byte{0}) {
      at_++;
      depth--;
      continue;
    }
    const EntryShape* inner = read_shape(at_);
    if (!inner) return false;
    at_ = inner->has_children ? shapes_.read(*inner, begin_, at_, end_, slots_)
                              : shapes_.pass(*inner, begin_, at_, end_, slots_);
    if (!at_) return false;
    if (inner->has_children && !jump_to_sibling(*inner)) depth++;
  }
  return true;
}

UnitScanner::Below UnitScanner::take(const EntryShape& shape, uint64_t die) {
  if (levels_.empty()) return take_unit(shape);
  if (levels_.back().only_enumerators) {
    if (shape.role == Role::enumerator) take_plain(shape, die);
    return {};
  }
  switch (shape.role) {
  case Role::function: return take_function(shape, die);
  case Role::variable: return take_variable(shape, die), Below();
  case Role::structure: return take_structure(shape, die);
  case Role::enumeration: return take_enumeration(shape, die);
  case Role::alias: return take_plain(shape, die), Below();
  case Role::name_space: return take_namespace(shape, die);
  case Role::block: return {!levels_.back().in_function, {levels_.back().scope, -1, true, false}};
  case Role::other:
  case Role::member:
  case Role::enumerator:
  case Role::unit: break;
  }
  return {};
}

UnitScanner::Below UnitScanner::take_unit(const EntryShape& shape) {
  return {shape.role != Role::unit, {-1, -1, false, false}};
}

ListedEntry UnitScanner::listed(NameKind kind, uint64_t die) const {
  ListedEntry entry;
  entry.unit = number_;
  entry.head = static_cast<uint8_t>(kind);
  entry.die = die - unit_->header->offset;
  return entry;
}

bool UnitScanner::add(ListedEntry entry, uint32_t scope, uint64_t linkage) {
  entry.scope = scope;
  if (!entry.name || (entry.is_repeated && !part_.seen.insert(key_of(entry)))) return false;
  part_.entries.add(entry);
  if (linkage)
    part_.linkages.push_back({linkage, entry.die, entry.unit, entry.name, entry.scope, entry.head});
  return true;
}

// Lists an entry that has just been read, now or when the whole unit is known.
bool UnitScanner::add_named(ListedEntry entry, const EntryShape& shape) {
  if (only_scopes_) return true;
  uint64_t linkage = shape.fills(slot_linkage) ? text_hash(shape.linkage_form, slots_[slot_linkage]) : 0;
  if (shape.fills(slot_name)) entry.name = name_number(shape.name_form, slots_[slot_name]);
  if (shape.fills(slot_reference)) {
    pending_.push_back({entry, linkage, {shape.reference_form, slots_[slot_reference]}});
    return true;
  }
  return add(entry, entry.name ? scope_number(levels_.back().scope) : 0, linkage);
}

UnitScanner::Below UnitScanner::take_function(const EntryShape& shape, uint64_t die) {
  if (is_declared(shape)) return {};
  ListedEntry entry = listed(NameKind::function, die);
  bool is_inlined =
      shape.fills(slot_inline) && (slots_[slot_inline] & 1); // DW_INL_inlined, …_declared_inlined
  if (shape.has_place) entry.head |= head_has_place;
  if (is_inlined) entry.head |= head_is_inlined;
  add_named(entry, shape);
  if (is_flat_ || !shape.has_children) return {};
  int32_t scope = open_scope(shape, die, scope_is_function);
  return {false, {scope, scope, true, false}};
}

void UnitScanner::take_variable(const EntryShape& shape, uint64_t die) {
  if (levels_.back().in_function || (is_declared(shape) && !shape.has_constant)) return;
  ListedEntry entry = listed(NameKind::variable, die);
  if (shape.has_place) entry.head |= head_has_place;
  if (shape.has_constant && !shape.has_place) { // the same in all units
    entry.is_repeated = true;
    entry.identity = shape.fills(slot_line) ? static_cast<uint32_t>(slots_[slot_line]) : 0;
  }
  add_named(entry, shape);
}

// Types with the same name that are not the same differ in one of these.
static uint32_t identity_of(const EntryShape& shape, const Slots& slots) {
  uint64_t line = shape.fills(slot_line) ? slots[slot_line] : 0,
           size = shape.fills(slot_size) ? slots[slot_size] : 0;
  return static_cast<uint32_t>(mix(line, size));
}

UnitScanner::Below UnitScanner::take_structure(const EntryShape& shape, uint64_t die) {
  if (!is_declared(shape)) {
    ListedEntry entry = listed(kind_of(shape.tag), die);
    entry.is_repeated = true;
    entry.identity = identity_of(shape, slots_);
    add_named(entry, shape);
  }
  if (is_flat_ || !shape.has_children) return {};
  int32_t scope = open_scope(shape, die, 0);
  return {false, {scope, scope, false, false}};
}

UnitScanner::Below UnitScanner::take_enumeration(const EntryShape& shape, uint64_t die) {
  if (is_declared(shape)) return {};
  ListedEntry entry = listed(NameKind::enumeration, die);
  entry.is_repeated = true;
  entry.identity = identity_of(shape, slots_);
  bool is_named = shape.fills(slot_name);
  bool is_new = add_named(entry, shape);
  if (only_scopes_ || !shape.has_children || (is_named && !is_new)) return {};
  bool is_class = shape.fills(slot_enum_class) && slots_[slot_enum_class] && is_named;
  int32_t scope = is_class ? open_scope(shape, die, 0) : levels_.back().scope;
  return {false, {scope, is_class ? scope : -1, false, true}};
}

void UnitScanner::take_plain(const EntryShape& shape, uint64_t die) {
  if (!shape.fills(slot_name) || is_declared(shape)) return;
  ListedEntry entry = listed(kind_of(shape.tag), die);
  entry.is_repeated = true;
  entry.identity = shape.fills(slot_constant) ? static_cast<uint32_t>(mix(slots_[slot_constant], 1))
                                              : identity_of(shape, slots_);
  add_named(entry, shape);
}

UnitScanner::Below UnitScanner::take_namespace(const EntryShape& shape, uint64_t die) {
  ListedEntry entry = listed(NameKind::name_space, die);
  entry.is_repeated = true;
  bool is_inline = shape.fills(slot_exported) && slots_[slot_exported];
  if (shape.fills(slot_name)) add_named(entry, shape);
  if (!shape.has_children) return {};
  int32_t scope =
      open_scope(shape, die, static_cast<uint8_t>(scope_is_namespace | (is_inline ? scope_is_inline : 0)));
  return {false, {scope, scope, levels_.back().in_function, false}};
}

int32_t UnitScanner::open_scope(const EntryShape& shape, uint64_t die, uint8_t flags) {
  local_scopes_.push_back({die,
                           open_entry,
                           levels_.back().scope,
                           flags,
                           shape.name_form,
                           shape.fills(slot_name) ? slots_[slot_name] : 0,
                           {}});
  if (shape.fills(slot_reference)) local_scopes_.back().to = {shape.reference_form, slots_[slot_reference]};
  return static_cast<int32_t>(local_scopes_.size() - 1);
}

// Of all scopes of the part; only those get a number that have something in them.
uint32_t UnitScanner::scope_number(int32_t local, size_t depth) {
  if (local < 0 || depth > 2 * most_levels) return 0;
  auto scope = static_cast<size_t>(local);
  if (local_scopes_[scope].known != UINT32_MAX) return local_scopes_[scope].known;
  local_scopes_[scope].known = 0; // if it should be its own parent
  const LocalScope s = local_scopes_[scope];
  uint32_t name = s.name_form ? name_number(s.name_form, s.name) : 0;
  int32_t parent = s.parent;
  if (s.to.form || (!s.name_form && !(s.flags & scope_is_namespace))) complete_scope(s, name, parent);
  return local_scopes_[scope].known = part_.scopes.add({name, scope_number(parent, depth + 1), s.flags});
}

// What other entries tell of a scope: of a function outside of its class, of the copy of a function, of a
// class that is in a type unit.
void UnitScanner::complete_scope(const LocalScope& scope, uint32_t& name, int32_t& parent) {
  std::optional<Die> die = read_die(*unit_, scope.begin);
  if (die && !name) {
    std::string_view told = name_of(*die);
    Attribute signature = told.empty() ? find_attribute(*die, DW_AT_signature) : Attribute();
    if (std::optional<Die> type = signature ? reference_of(*unit_, signature) : std::nullopt)
      told = name_of(*type);
    if (may_read(told.size())) name = part_.names.add(told);
  }
  Reference to = scope.to;
  uint64_t target = 0;
  for (int i = 0; i < most_references && to.form && is_here(to, target); i++) {
    const std::byte* at = begin_ + target;
    Slots slots;
    const EntryShape* shape = read_again(at, slots);
    if (!shape) return;
    to = shape->fills(slot_reference) ? Reference{shape->reference_form, slots[slot_reference]} : Reference();
    if (!to.form) parent = scope_around(target);
  }
}

// The innermost scope with a place in it; -1: none.
int32_t UnitScanner::scope_around(uint64_t die) const {
  auto after = std::upper_bound(local_scopes_.begin(), local_scopes_.end(), die,
                                [](uint64_t at, const LocalScope& s) { return at <= s.begin; });
  auto scope = static_cast<int32_t>(after - local_scopes_.begin()) - 1;
  while (scope >= 0 && local_scopes_[static_cast<size_t>(scope)].end <= die)
    scope = local_scopes_[static_cast<size_t>(scope)].parent;
  return scope;
}

bool UnitScanner::may_read(uint64_t bytes) {
  part_.left_to_read -= std::min(part_.left_to_read, bytes);
  return part_.left_to_read > 0;
}

uint32_t UnitScanner::name_number(uint16_t form, uint64_t value) {
  ByteSpan section;
  uint64_t offset = 0;
  if (!find_text(form, value, section, offset)) return 0;
  const char* place = reinterpret_cast<const char*>(section.data()) + offset;
  if (const uint64_t* known = known_names_.find(place)) return static_cast<uint32_t>(*known);
  std::string_view text = base::text_at(section, offset);
  if (!may_read(text.empty() ? section.size() - offset : text.size() + 1)) return 0;
  uint32_t name = part_.names.add(text);
  if (form != DW_FORM_string) known_names_.add(place, name);
  return name;
}

uint64_t UnitScanner::text_hash(uint16_t form, uint64_t value) {
  ByteSpan section;
  uint64_t offset = 0;
  if (!find_text(form, value, section, offset)) return 0;
  const char* place = reinterpret_cast<const char*>(section.data()) + offset;
  if (const uint64_t* known = known_hashes_.find(place)) return *known;
  std::string_view text = base::text_at(section, offset);
  if (!may_read(text.empty() ? section.size() - offset : text.size() + 1)) return 0;
  uint64_t hash = text.empty() ? 0 : hash_of_text(text);
  if (form != DW_FORM_string) known_hashes_.add(place, hash);
  return hash;
}

// Where a text lies; false: nowhere.
bool UnitScanner::find_text(uint16_t form, uint64_t value, ByteSpan& section, uint64_t& offset) const {
  offset = value;
  switch (form) {
  case DW_FORM_string: section = unit_->section.first(unit_->header->end); break;
  case DW_FORM_strp: section = unit_->own->str; break;
  case DW_FORM_line_strp: section = unit_->own->line_str; break;
  case DW_FORM_strp_sup:
  case DW_FORM_GNU_strp_alt: {
    DebugInfo* alternate = unit_->info->alternate();
    if (!alternate) return false;
    section = alternate->sections().str;
    break;
  }
  case DW_FORM_strx:
  case DW_FORM_strx1:
  case DW_FORM_strx2:
  case DW_FORM_strx3:
  case DW_FORM_strx4:
  case DW_FORM_GNU_str_index: {
    ByteSpan table = unit_->own->str_offsets;
    uint64_t size = unit_->encoding().offset_size, base = unit_->str_offsets_base;
    if (base > table.size() || value >= (table.size() - base) / size) return false;
    offset = base::Reader(table, base + value * size).number_of(static_cast<unsigned>(size));
    section = unit_->own->str;
    break;
  }
  default: return false;
  }
  return offset < section.size();
}

// Whether a reference leads to an entry of this unit, and to which.
bool UnitScanner::is_here(const Reference& to, uint64_t& target) const {
  const UnitHeader& header = *unit_->header;
  switch (to.form) {
  case DW_FORM_ref1:
  case DW_FORM_ref2:
  case DW_FORM_ref4:
  case DW_FORM_ref8:
  case DW_FORM_ref_udata:
    if (to.value >= header.end - header.offset) return false;
    target = header.offset + to.value;
    return target >= header.first_die;
  case DW_FORM_ref_addr:
    target = to.value;
    return !header.in_types && target >= header.first_die && target < header.end;
  default: return false;
  }
}

void UnitScanner::defer(const Pending& pending) {
  bool to_alternate = pending.to.form == DW_FORM_GNU_ref_alt || pending.to.form == DW_FORM_ref_sup4 ||
                      pending.to.form == DW_FORM_ref_sup8;
  if (!to_alternate && pending.to.form != DW_FORM_ref_addr) return; // it leads nowhere
  uint32_t file = to_alternate ? index_alternate : file_;
  part_.deferred.push_back({pending.entry, pending.linkage, file, pending.to.value});
}

// An entry that others refer to: by any number of them, so that its bytes count each time.
const EntryShape* UnitScanner::read_again(const std::byte* at, Slots& slots) {
  const std::byte* begin = at;
  const EntryShape* shape = *at == std::byte{0} ? nullptr : read_shape(at);
  const std::byte* end = shape ? shapes_.read(*shape, begin_, at, end_, slots) : nullptr;
  return end && may_read(static_cast<uint64_t>(end - begin)) ? shape : nullptr;
}

// Completes an entry from those that it refers to, the last of which tells its scope.
void UnitScanner::follow(Pending pending) {
  for (int i = 0; i < most_references; i++) {
    uint64_t target = 0;
    if (!is_here(pending.to, target)) return defer(pending);
    const std::byte* at = begin_ + target;
    Slots slots;
    const EntryShape* shape = read_again(at, slots);
    if (!shape) return;
    if (!pending.linkage && shape->fills(slot_linkage))
      pending.linkage = text_hash(shape->linkage_form, slots[slot_linkage]);
    if (!pending.entry.name && shape->fills(slot_name))
      pending.entry.name = name_number(shape->name_form, slots[slot_name]);
    if (!shape->fills(slot_reference)) {
      add(pending.entry, scope_number(scope_around(target)), pending.linkage);
      return;
    }
    pending.to = {shape->reference_form, slots[slot_reference]};
  }
}

} // namespace dwarf
