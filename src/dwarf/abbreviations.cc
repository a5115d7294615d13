#include "dwarf/abbreviations.h"

#include <algorithm>

namespace dwarf {

// Real tables have some thousands at most, also those of programs optimised as a whole.
static constexpr size_t most_abbreviations = 1 << 17, most_specs = 1 << 20;

namespace {

struct Size {
  bool fixed = true;
  uint8_t bytes = 0, offsets = 0, addresses = 0;
};

} // namespace

// What a value of a form takes, as far as it does not depend on the value.
static Size size_of(uint16_t form) {
  switch (form) {
  case DW_FORM_flag_present:
  case DW_FORM_implicit_const: return {true, 0};
  case DW_FORM_data1:
  case DW_FORM_ref1:
  case DW_FORM_flag:
  case DW_FORM_strx1:
  case DW_FORM_addrx1: return {true, 1};
  case DW_FORM_data2:
  case DW_FORM_ref2:
  case DW_FORM_strx2:
  case DW_FORM_addrx2: return {true, 2};
  case DW_FORM_strx3:
  case DW_FORM_addrx3: return {true, 3};
  case DW_FORM_data4:
  case DW_FORM_ref4:
  case DW_FORM_ref_sup4:
  case DW_FORM_strx4:
  case DW_FORM_addrx4: return {true, 4};
  case DW_FORM_data8:
  case DW_FORM_ref8:
  case DW_FORM_ref_sup8:
  case DW_FORM_ref_sig8: return {true, 8};
  case DW_FORM_data16: return {true, 16};
  case DW_FORM_strp:
  case DW_FORM_line_strp:
  case DW_FORM_strp_sup:
  case DW_FORM_GNU_strp_alt:
  case DW_FORM_GNU_ref_alt:
  case DW_FORM_sec_offset: return {true, 0, 1};
  case DW_FORM_addr: return {true, 0, 0, 1};
  }
  return {false};
}

static void add_size(Abbreviation& a, uint16_t form) {
  Size size = size_of(form);
  a.has_fixed_size &= size.fixed && a.bytes < 1000 && a.offsets < 200 && a.addresses < 200;
  if (!a.has_fixed_size) return;
  a.bytes = static_cast<uint16_t>(a.bytes + size.bytes);
  a.offsets = static_cast<uint8_t>(a.offsets + size.offsets);
  a.addresses = static_cast<uint8_t>(a.addresses + size.addresses);
}

// One abbreviation with its specs; false at the end of the table.
static bool read_one(base::Reader& r, Abbreviation& a, std::vector<AttributeSpec>& specs) {
  a.code = r.uleb128();
  if (a.code == 0) return false;
  uint64_t tag = r.uleb128();
  a.tag = static_cast<uint16_t>(tag);
  a.has_children = r.number<uint8_t>() != 0;
  a.has_fixed_size = true;
  a.first_spec = static_cast<uint32_t>(specs.size());
  while (r.ok() && tag <= UINT16_MAX) {
    uint64_t name = r.uleb128(), form = r.uleb128();
    if (!r.ok() || name > UINT16_MAX || form > UINT16_MAX || specs.size() >= most_specs) return false;
    if (name == 0 && form == 0) {
      a.spec_count = static_cast<uint32_t>(specs.size() - a.first_spec);
      return true;
    }
    AttributeSpec spec{static_cast<uint16_t>(name), static_cast<uint16_t>(form), 0};
    if (form == DW_FORM_implicit_const) spec.constant = r.sleb128();
    a.has_sibling |= name == DW_AT_sibling;
    add_size(a, spec.form);
    specs.push_back(spec);
  }
  return false;
}

Abbreviations Abbreviations::read(ByteSpan section, uint64_t offset, uint64_t until) {
  Abbreviations out;
  base::Reader r(section, offset);
  while (r.ok() && out.list_.size() < most_abbreviations) {
    Abbreviation a;
    if (!read_one(r, a, out.specs_)) break;
    if (out.dense_ == out.list_.size() && a.code == out.dense_ + 1) out.dense_++;
    out.list_.push_back(a);
    if (a.code == until) break;
  }
  auto by_code = [](const Abbreviation& a, const Abbreviation& b) { return a.code < b.code; };
  std::stable_sort(out.list_.begin() + static_cast<ptrdiff_t>(out.dense_), out.list_.end(), by_code);
  return out;
}

const Abbreviation* Abbreviations::search(uint64_t code) const {
  auto from = list_.begin() + static_cast<ptrdiff_t>(dense_);
  auto found = std::lower_bound(from, list_.end(), code,
                                [](const Abbreviation& a, uint64_t wanted) { return a.code < wanted; });
  return found != list_.end() && found->code == code ? &*found : nullptr;
}

} // namespace dwarf
