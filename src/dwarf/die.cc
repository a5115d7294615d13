// Entries and what their attributes mean.
#include "dwarf/debug_info.h"

namespace dwarf {

// How often an entry may say that another one completes it.
static constexpr int most_origins = 8;

std::optional<Die> read_die(const Unit& unit, uint64_t offset) {
  if (offset < unit.header->first_die || offset >= unit.header->end) return std::nullopt;
  base::Reader r(unit.section.first(unit.header->end), offset);
  uint64_t code = r.uleb128();
  if (!r.ok() || code == 0) return std::nullopt;
  const Abbreviation* a = unit.abbreviations->find(code);
  if (!a) return std::nullopt;
  return Die{&unit, offset, a, r.at()};
}

Attribute find_attribute(const Die& die, uint16_t name) {
  Attribute out;
  for_each_attribute(die, [&](const Attribute& a) {
    if (a.name == name) out = a;
    return a.name != name;
  });
  return out;
}

Attribute find_attribute(const Die& die, uint16_t name, Die& owner) {
  owner = die;
  for (int i = 0; i < most_origins; i++) {
    Attribute found, origin;
    for_each_attribute(owner, [&](const Attribute& a) {
      if (a.name == name) found = a;
      if (a.name == DW_AT_abstract_origin || a.name == DW_AT_specification) origin = a;
      return a.name != name;
    });
    if (found || !origin) return found;
    std::optional<Die> next = reference_of(*owner.unit, origin);
    if (!next) return {};
    owner = *next;
  }
  return {};
}

static std::optional<std::string_view> text_in(ByteSpan section, uint64_t offset) {
  if (offset >= section.size()) return std::nullopt;
  return base::text_at(section, offset);
}

// The number at `index` of a table; nothing beyond its end.
static std::optional<uint64_t> entry_of(ByteSpan table, uint64_t base, uint64_t index, unsigned size) {
  if (base > table.size() || index >= (table.size() - base) / size) return std::nullopt;
  return base::Reader(table, base + index * size).number_of(size);
}

std::optional<std::string_view> text_of(const Unit& unit, const Attribute& a) {
  switch (a.form) {
  case DW_FORM_string: return std::string_view(reinterpret_cast<const char*>(a.block.data()), a.block.size());
  case DW_FORM_strp: return text_in(unit.own->str, a.number);
  case DW_FORM_line_strp: return text_in(unit.own->line_str, a.number);
  case DW_FORM_strp_sup:
  case DW_FORM_GNU_strp_alt: {
    DebugInfo* alternate = unit.info->alternate();
    return alternate ? text_in(alternate->sections().str, a.number) : std::nullopt;
  }
  case DW_FORM_strx:
  case DW_FORM_strx1:
  case DW_FORM_strx2:
  case DW_FORM_strx3:
  case DW_FORM_strx4:
  case DW_FORM_GNU_str_index: {
    auto offset =
        entry_of(unit.own->str_offsets, unit.str_offsets_base, a.number, unit.encoding().offset_size);
    return offset ? text_in(unit.own->str, *offset) : std::nullopt;
  }
  }
  return std::nullopt;
}

std::optional<uint64_t> indexed_address(const Unit& unit, uint64_t index) {
  return entry_of(unit.main->addr, unit.addr_base, index, unit.encoding().address_size);
}

std::optional<uint64_t> address_of(const Unit& unit, const Attribute& a) {
  switch (a.form) {
  case DW_FORM_addr: return a.number;
  case DW_FORM_addrx:
  case DW_FORM_addrx1:
  case DW_FORM_addrx2:
  case DW_FORM_addrx3:
  case DW_FORM_addrx4:
  case DW_FORM_GNU_addr_index: return indexed_address(unit, a.number);
  case DW_FORM_LLVM_addrx_offset: {
    std::optional<uint64_t> address = indexed_address(unit, a.number);
    if (address) *address += base::Reader(a.block).number<uint32_t>();
    return address;
  }
  }
  return std::nullopt;
}

// Bits of a constant of fixed size; 64 of the others.
static unsigned bits_of(uint16_t form) {
  switch (form) {
  case DW_FORM_data1:
  case DW_FORM_flag: return 8;
  case DW_FORM_data2: return 16;
  case DW_FORM_data4: return 32;
  case DW_FORM_data8:
  case DW_FORM_sdata:
  case DW_FORM_udata:
  case DW_FORM_implicit_const:
  case DW_FORM_flag_present: return 64;
  }
  return 0;
}

std::optional<uint64_t> unsigned_of(const Attribute& a) {
  return bits_of(a.form) ? std::optional(a.number) : std::nullopt;
}

std::optional<int64_t> signed_of(const Attribute& a) {
  unsigned bits = bits_of(a.form);
  if (!bits) return std::nullopt;
  return static_cast<int64_t>(a.number << (64 - bits)) >> (64 - bits);
}

std::optional<Die> reference_of(const Unit& unit, const Attribute& a) {
  switch (a.form) {
  case DW_FORM_ref1:
  case DW_FORM_ref2:
  case DW_FORM_ref4:
  case DW_FORM_ref8:
  case DW_FORM_ref_udata:
    if (a.number >= unit.header->end - unit.header->offset) return std::nullopt;
    return read_die(unit, unit.header->offset + a.number);
  case DW_FORM_ref_addr:
    if (!unit.header->in_types && a.number >= unit.header->first_die && a.number < unit.header->end)
      return read_die(unit, a.number);
    return unit.info->die_at(a.number);
  case DW_FORM_ref_sig8: return unit.info->type_of_signature(a.number);
  case DW_FORM_ref_sup4:
  case DW_FORM_ref_sup8:
  case DW_FORM_GNU_ref_alt: {
    DebugInfo* alternate = unit.info->alternate();
    return alternate ? alternate->die_at(a.number) : std::nullopt;
  }
  }
  return std::nullopt;
}

std::string_view name_of(const Die& die) {
  Die owner;
  Attribute name = find_attribute(die, DW_AT_name, owner);
  return name ? text_of(*owner.unit, name).value_or("") : std::string_view();
}

std::string_view linkage_name_of(const Die& die) {
  Die owner;
  Attribute name = find_attribute(die, DW_AT_linkage_name, owner);
  if (!name) name = find_attribute(die, DW_AT_MIPS_linkage_name, owner);
  return name ? text_of(*owner.unit, name).value_or("") : std::string_view();
}

DieCursor::DieCursor(const Unit& unit, uint64_t offset)
    : begin_(unit.section.data()), last_(begin_ + unit.header->end), die_{&unit}, at_(offset) {}

// Where the present entry says that the next one on its level is, if it does and that can be.
std::optional<uint64_t> DieCursor::sibling() const {
  const Unit& unit = *die_.unit;
  uint64_t to;
  if (unit.abbreviations->specs(*die_.abbreviation).back().is_sibling4()) { // as gcc writes it
    to = unit.header->offset + base::Reader(unit.section, end_ - 4).number<uint32_t>();
  } else {
    Attribute sibling = find_attribute(die_, DW_AT_sibling);
    to = sibling.form == DW_FORM_ref_addr ? sibling.number : unit.header->offset + sibling.number;
  }
  return to > end_ && to < unit.header->end ? std::optional(to) : std::nullopt;
}

// Goes to the end of what is below the present entry, whose values end at `at_`.
bool DieCursor::leave_children() {
  const Unit& unit = *die_.unit;
  if (die_.abbreviation->has_sibling)
    if (std::optional<uint64_t> next = sibling()) return at_ = *next, true;
  for (unsigned inside = 1; inside > 0;) {
    base::Reader r(unit.section.first(unit.header->end), at_);
    uint64_t code = r.uleb128();
    if (!r.ok()) return false;
    at_ = r.at();
    if (code == 0) {
      inside--;
      continue;
    }
    const Abbreviation* a = unit.abbreviations->find(code);
    const std::byte* end =
        a ? skip_attributes(begin_ + at_, last_, unit.encoding(), *unit.abbreviations, *a) : nullptr;
    if (!end) return false;
    at_ = static_cast<uint64_t>(end - begin_);
    if (a->has_children) inside++;
  }
  return true;
}

// To behind the present entry, and inside it unless that is not wanted; false where it all ends.
bool DieCursor::leave_values() {
  const Unit& unit = *die_.unit;
  if (!end_) {
    const std::byte* end = skip_attributes(begin_ + die_.values, last_, unit.encoding(), *unit.abbreviations,
                                           *die_.abbreviation);
    if (!end) return false;
    end_ = static_cast<uint64_t>(end - begin_);
  }
  at_ = end_;
  if (!die_.abbreviation->has_children) return depth_ > 0;
  if (skip_) return leave_children() && depth_ > 0;
  depth_++;
  return true;
}

bool DieCursor::next() {
  bool more = die_.abbreviation ? leave_values() : !started_;
  started_ = true;
  skip_ = false;
  end_ = 0;
  die_.abbreviation = nullptr;
  for (const Unit& unit = *die_.unit; more && at_ < unit.header->end; at_++) {
    if (begin_[at_] != std::byte{0}) {
      if (std::optional<Die> die = read_die(unit, at_)) die_ = *die;
      break;
    }
    if (depth_ <= 1) break; // the end of what is below the first entry
    depth_--;
  }
  return die_.abbreviation != nullptr;
}

} // namespace dwarf
