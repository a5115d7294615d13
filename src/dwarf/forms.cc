#include "dwarf/forms.h"

namespace dwarf {

static bool read_block(base::Reader& r, uint64_t size, Attribute& out) {
  out.block = r.bytes(size);
  out.number = size;
  return r.ok();
}

static bool read_plain(base::Reader& r, const Encoding& encoding, const AttributeSpec& spec, Attribute& out) {
  auto number = [&](uint64_t value) { return out.number = value, r.ok(); };
  switch (out.form) {
  case DW_FORM_flag_present: return number(1);
  case DW_FORM_implicit_const: return number(static_cast<uint64_t>(spec.constant));
  case DW_FORM_data1:
  case DW_FORM_ref1:
  case DW_FORM_flag:
  case DW_FORM_strx1:
  case DW_FORM_addrx1: return number(r.number<uint8_t>());
  case DW_FORM_data2:
  case DW_FORM_ref2:
  case DW_FORM_strx2:
  case DW_FORM_addrx2: return number(r.number<uint16_t>());
  case DW_FORM_strx3:
  case DW_FORM_addrx3: return number(r.number_of(3));
  case DW_FORM_data4:
  case DW_FORM_ref4:
  case DW_FORM_ref_sup4:
  case DW_FORM_strx4:
  case DW_FORM_addrx4: return number(r.number<uint32_t>());
  case DW_FORM_data8:
  case DW_FORM_ref8:
  case DW_FORM_ref_sup8:
  case DW_FORM_ref_sig8: return number(r.number<uint64_t>());
  case DW_FORM_sdata: return number(static_cast<uint64_t>(r.sleb128()));
  case DW_FORM_udata:
  case DW_FORM_ref_udata:
  case DW_FORM_strx:
  case DW_FORM_addrx:
  case DW_FORM_loclistx:
  case DW_FORM_rnglistx:
  case DW_FORM_GNU_addr_index:
  case DW_FORM_GNU_str_index: return number(r.uleb128());
  case DW_FORM_strp:
  case DW_FORM_line_strp:
  case DW_FORM_strp_sup:
  case DW_FORM_GNU_strp_alt:
  case DW_FORM_GNU_ref_alt:
  case DW_FORM_sec_offset: return number(r.number_of(encoding.offset_size));
  case DW_FORM_ref_addr:
    return number(r.number_of(encoding.version <= 2 ? encoding.address_size : encoding.offset_size));
  case DW_FORM_addr: return number(r.number_of(encoding.address_size));
  case DW_FORM_LLVM_addrx_offset: {
    uint64_t index = r.uleb128();
    out.block = r.bytes(4); // to be added to the address of the index
    return number(index);
  }
  case DW_FORM_data16: return read_block(r, 16, out);
  case DW_FORM_block1: return read_block(r, r.number<uint8_t>(), out);
  case DW_FORM_block2: return read_block(r, r.number<uint16_t>(), out);
  case DW_FORM_block4: return read_block(r, r.number<uint32_t>(), out);
  case DW_FORM_block:
  case DW_FORM_exprloc: return read_block(r, r.uleb128(), out);
  case DW_FORM_string: {
    std::string_view text = r.text();
    out.block = std::as_bytes(std::span(text));
    return r.ok();
  }
  }
  return false;
}

bool read_form(base::Reader& r, const Encoding& encoding, const AttributeSpec& spec, Attribute& out) {
  out.name = spec.name;
  out.form = spec.form;
  out.number = 0;
  out.block = {};
  if (out.form == DW_FORM_indirect) {
    uint64_t form = r.uleb128();
    if (form == DW_FORM_indirect || form == DW_FORM_implicit_const || form > UINT16_MAX) return false;
    out.form = static_cast<uint16_t>(form);
  }
  return read_plain(r, encoding, spec, out);
}

static const std::byte* skip_leb128(const std::byte* at, const std::byte* end) {
  while (at < end)
    if ((*at++ & std::byte{0x80}) == std::byte{0}) return at;
  return nullptr;
}

static const std::byte* skip_bytes(const std::byte* at, const std::byte* end, uint64_t size) {
  return size <= static_cast<uint64_t>(end - at) ? at + size : nullptr;
}

const std::byte* skip_form(const std::byte* at, const std::byte* end, const Encoding& encoding,
                           uint16_t form) {
  auto skip = [&](uint64_t size) { return skip_bytes(at, end, size); };
  switch (form) {
  case DW_FORM_flag_present:
  case DW_FORM_implicit_const: return at;
  case DW_FORM_data1:
  case DW_FORM_ref1:
  case DW_FORM_flag:
  case DW_FORM_strx1:
  case DW_FORM_addrx1: return skip(1);
  case DW_FORM_data2:
  case DW_FORM_ref2:
  case DW_FORM_strx2:
  case DW_FORM_addrx2: return skip(2);
  case DW_FORM_strx3:
  case DW_FORM_addrx3: return skip(3);
  case DW_FORM_data4:
  case DW_FORM_ref4:
  case DW_FORM_ref_sup4:
  case DW_FORM_strx4:
  case DW_FORM_addrx4: return skip(4);
  case DW_FORM_data8:
  case DW_FORM_ref8:
  case DW_FORM_ref_sup8:
  case DW_FORM_ref_sig8: return skip(8);
  case DW_FORM_strp:
  case DW_FORM_line_strp:
  case DW_FORM_strp_sup:
  case DW_FORM_GNU_strp_alt:
  case DW_FORM_GNU_ref_alt:
  case DW_FORM_sec_offset: return skip(encoding.offset_size);
  case DW_FORM_addr: return skip(encoding.address_size);
  case DW_FORM_exprloc:
    if (at < end && static_cast<uint8_t>(*at) < 0x80) return skip(1 + static_cast<uint64_t>(*at));
    break;
  case DW_FORM_sdata:
  case DW_FORM_udata:
  case DW_FORM_ref_udata:
  case DW_FORM_strx:
  case DW_FORM_addrx:
  case DW_FORM_loclistx:
  case DW_FORM_rnglistx: return skip_leb128(at, end);
  }
  base::Reader r({at, end}); // the rarer ones
  Attribute ignored;
  return read_form(r, encoding, {0, form, 0}, ignored) ? at + r.at() : nullptr;
}

const std::byte* skip_attributes(const std::byte* at, const std::byte* end, const Encoding& encoding,
                                 const Abbreviations& table, const Abbreviation& a) {
  if (a.has_fixed_size)
    return skip_bytes(at, end,
                      a.bytes + uint64_t{a.offsets} * encoding.offset_size +
                          uint64_t{a.addresses} * encoding.address_size);
  for (const AttributeSpec& spec : table.specs(a)) {
    at = skip_form(at, end, encoding, spec.form);
    if (!at) return nullptr;
  }
  return at;
}

} // namespace dwarf
