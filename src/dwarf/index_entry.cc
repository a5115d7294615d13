#include "dwarf/index_entry.h"

#include <cstring>
#include <optional>

namespace dwarf {
namespace {

Role role_of(uint16_t tag) {
  switch (tag) {
  case DW_TAG_subprogram:
  case DW_TAG_entry_point: return Role::function;
  case DW_TAG_member: return Role::member;
  case DW_TAG_variable:
  case DW_TAG_constant: return Role::variable;
  case DW_TAG_structure_type:
  case DW_TAG_class_type:
  case DW_TAG_union_type:
  case DW_TAG_interface_type: return Role::structure;
  case DW_TAG_enumeration_type: return Role::enumeration;
  case DW_TAG_enumerator: return Role::enumerator;
  case DW_TAG_typedef:
  case DW_TAG_template_alias:
  case DW_TAG_unspecified_type:
  case DW_TAG_base_type: return Role::alias;
  case DW_TAG_namespace:
  case DW_TAG_module: return Role::name_space;
  case DW_TAG_lexical_block:
  case DW_TAG_inlined_subroutine:
  case DW_TAG_try_block:
  case DW_TAG_catch_block:
  case DW_TAG_with_stmt: return Role::block;
  case DW_TAG_compile_unit:
  case DW_TAG_partial_unit:
  case DW_TAG_type_unit:
  case DW_TAG_skeleton_unit: return Role::unit;
  default: return Role::other;
  }
}

constexpr uint16_t bits(std::initializer_list<Slot> slots) {
  unsigned out = 0;
  for (Slot slot : slots) out |= 1u << slot;
  return static_cast<uint16_t>(out);
}

// What is read of entries of a role.
constexpr uint16_t wanted_slots(Role role) {
  switch (role) {
  case Role::function: return bits({slot_name, slot_linkage, slot_reference, slot_declaration, slot_inline});
  case Role::variable:
    return bits({slot_name, slot_linkage, slot_reference, slot_declaration, slot_line, slot_constant});
  case Role::structure:
    return bits({slot_name, slot_reference, slot_declaration, slot_line, slot_size, slot_signature});
  case Role::enumeration:
    return bits(
        {slot_name, slot_reference, slot_declaration, slot_line, slot_size, slot_enum_class, slot_signature});
  case Role::member: return bits({slot_name, slot_linkage});
  case Role::enumerator: return bits({slot_name, slot_constant});
  case Role::alias: return bits({slot_name, slot_declaration, slot_line, slot_size});
  case Role::name_space: return bits({slot_name, slot_exported, slot_reference});
  case Role::other:
  case Role::block:
  case Role::unit: break;
  }
  return 0;
}

std::optional<Slot> slot_of(uint16_t attribute) {
  switch (attribute) {
  case DW_AT_sibling: return slot_sibling;
  case DW_AT_name: return slot_name;
  case DW_AT_linkage_name:
  case DW_AT_MIPS_linkage_name: return slot_linkage;
  case DW_AT_specification:
  case DW_AT_abstract_origin:
  case DW_AT_extension: return slot_reference;
  case DW_AT_declaration: return slot_declaration;
  case DW_AT_inline: return slot_inline;
  case DW_AT_enum_class: return slot_enum_class;
  case DW_AT_export_symbols: return slot_exported;
  case DW_AT_decl_line: return slot_line;
  case DW_AT_byte_size: return slot_size;
  case DW_AT_const_value: return slot_constant;
  case DW_AT_signature: return slot_signature;
  default: return {};
  }
}

// The size of numbers of a form; 0: another form.
unsigned number_size(uint16_t form, const Encoding& e) {
  switch (form) {
  case DW_FORM_data1:
  case DW_FORM_ref1:
  case DW_FORM_flag:
  case DW_FORM_strx1:
  case DW_FORM_addrx1: return 1;
  case DW_FORM_data2:
  case DW_FORM_ref2:
  case DW_FORM_strx2:
  case DW_FORM_addrx2: return 2;
  case DW_FORM_strx3:
  case DW_FORM_addrx3: return 3;
  case DW_FORM_data4:
  case DW_FORM_ref4:
  case DW_FORM_ref_sup4:
  case DW_FORM_strx4:
  case DW_FORM_addrx4: return 4;
  case DW_FORM_data8:
  case DW_FORM_ref8:
  case DW_FORM_ref_sup8:
  case DW_FORM_ref_sig8: return 8;
  case DW_FORM_strp:
  case DW_FORM_line_strp:
  case DW_FORM_strp_sup:
  case DW_FORM_sec_offset:
  case DW_FORM_GNU_ref_alt:
  case DW_FORM_GNU_strp_alt: return e.offset_size;
  case DW_FORM_ref_addr: return e.version <= 2 ? e.address_size : e.offset_size;
  case DW_FORM_addr: return e.address_size;
  default: return 0;
  }
}

bool is_leb(uint16_t form) {
  switch (form) {
  case DW_FORM_sdata:
  case DW_FORM_udata:
  case DW_FORM_ref_udata:
  case DW_FORM_strx:
  case DW_FORM_addrx:
  case DW_FORM_loclistx:
  case DW_FORM_rnglistx:
  case DW_FORM_GNU_addr_index:
  case DW_FORM_GNU_str_index: return true;
  default: return false;
  }
}

bool is_place(uint16_t attribute) {
  return attribute == DW_AT_low_pc || attribute == DW_AT_ranges || attribute == DW_AT_location ||
         attribute == DW_AT_entry_pc;
}

const std::byte* pass_leb(const std::byte* at, const std::byte* end) {
  while (at < end)
    if ((std::to_integer<unsigned>(*at++) & 0x80) == 0) return at;
  return nullptr;
}

// Siblings are places of the unit; other forms are not used, and would be no use.
bool is_local(uint16_t form) {
  return form == DW_FORM_ref1 || form == DW_FORM_ref2 || form == DW_FORM_ref4 || form == DW_FORM_ref8 ||
         form == DW_FORM_ref_udata;
}

const std::byte* read_leb(const std::byte* at, const std::byte* end, uint64_t& value,
                          bool is_signed = false) {
  value = 0;
  for (unsigned shift = 0; at < end; shift += 7) {
    auto byte = std::to_integer<uint64_t>(*at++);
    if (shift < 64) value |= (byte & 0x7f) << shift;
    if (byte & 0x80) continue;
    if (is_signed && (byte & 0x40) && shift < 57) value |= ~uint64_t{0} << (shift + 7);
    return at;
  }
  return nullptr;
}

const std::byte* skip_bytes(const std::byte* at, const std::byte* end, uint64_t size) {
  return static_cast<uint64_t>(end - at) < size ? nullptr : at + size;
}

uint64_t load_number(const std::byte* at, unsigned size) {
  uint64_t value = 0;
  switch (size) { // by constant sizes: each is one instruction
  case 1: std::memcpy(&value, at, 1); break;
  case 2: std::memcpy(&value, at, 2); break;
  case 3: std::memcpy(&value, at, 3); break;
  case 4: std::memcpy(&value, at, 4); break;
  default: std::memcpy(&value, at, 8); break;
  }
  return value;
}

} // namespace

bool EntryShapes::compile(const std::shared_ptr<const Abbreviations>& table, const Encoding& encoding) {
  bool same = encoding.version == encoding_.version && encoding.address_size == encoding_.address_size &&
              encoding.offset_size == encoding_.offset_size;
  if (table == table_ && same) return false;
  table_ = table;
  encoding_ = encoding;
  shapes_.clear();
  steps_.clear();
  constants_.clear();
  dense_ = 0;
  for (const Abbreviation& a : table->all()) {
    if (a.code == dense_ + 1 && dense_ == shapes_.size()) dense_++;
    shapes_.push_back(compile_one(a));
  }
  return true;
}

const EntryShape* EntryShapes::search(uint64_t code) const {
  if (!table_) return nullptr;
  const Abbreviation* a = table_->find(code);
  return a ? &shapes_[static_cast<size_t>(a - table_->all().data())] : nullptr;
}

EntryShape EntryShapes::compile_one(const Abbreviation& a) {
  EntryShape shape;
  shape.tag = a.tag;
  shape.role = role_of(a.tag);
  shape.has_children = a.has_children;
  shape.first_step = static_cast<uint32_t>(steps_.size());
  shape.readable = true;
  uint32_t skipped = 0;
  bool specification = false; // it matters more than an origin beside it: it tells the scope
  for (const AttributeSpec& spec : table_->specs(a)) specification |= spec.name == DW_AT_specification;
  for (AttributeSpec spec : table_->specs(a)) {
    if (specification && spec.name == DW_AT_abstract_origin) spec.name = 0;
    if (!add_steps(shape, spec, skipped)) {
      shape.readable = false;
      break;
    }
  }
  bool fixed = true;
  uint64_t size = skipped;
  for (size_t i = shape.first_step; i < steps_.size(); i++) {
    const Step& step = steps_[i];
    fixed &=
        step.action == Action::skip || step.action == Action::load || step.action == Action::load_constant;
    if (step.action != Action::load_constant) size += step.number;
    if (step.action == Action::load) size += step.size;
  }
  if (fixed && size < 1u << 30) shape.fixed_size = static_cast<int32_t>(size);
  flush(skipped);
  steps_.push_back({Action::done, slot_count, 0, 0});
  return shape;
}

void EntryShapes::flush(uint32_t& skipped) {
  if (skipped) steps_.push_back({Action::skip, slot_count, 0, skipped});
  skipped = 0;
}

bool EntryShapes::add_steps(EntryShape& shape, const AttributeSpec& spec, uint32_t& skipped) {
  if (is_place(spec.name)) shape.has_place = true;
  if (spec.name == DW_AT_const_value) shape.has_constant = true;
  std::optional<Slot> slot = slot_of(spec.name);
  if (slot && !(wanted_slots(shape.role) >> *slot & 1)) slot.reset();
  if (spec.name == DW_AT_sibling && shape.has_children && is_local(spec.form)) slot = slot_sibling;
  if (slot && shape.fills(*slot)) slot.reset(); // said twice

  auto add = [&](Action action, unsigned size = 0) {
    steps_.push_back({action, slot.value_or(slot_count), static_cast<uint16_t>(size), skipped});
    skipped = 0;
  };
  auto fill = [&] {
    shape.has = static_cast<uint16_t>(shape.has | 1u << *slot);
    if (*slot == slot_name) shape.name_form = spec.form;
    if (*slot == slot_linkage) shape.linkage_form = spec.form;
    if (*slot == slot_reference) shape.reference_form = spec.form;
  };
  if (skipped > 1u << 24) flush(skipped);
  if (unsigned size = number_size(spec.form, encoding_)) {
    if (size > 4 && size != 8) return false;
    if (slot)
      fill(), add(Action::load, size);
    else
      skipped += size;
    return true;
  }
  if (is_leb(spec.form)) {
    if (slot) fill();
    add(slot ? Action::load_leb : Action::leb, spec.form == DW_FORM_sdata ? signed_leb : 0);
    return true;
  }
  switch (spec.form) {
  case DW_FORM_flag_present:
  case DW_FORM_implicit_const:
    if (!slot) return true;
    fill();
    flush(skipped);
    steps_.push_back({Action::load_constant, *slot, 0, static_cast<uint32_t>(constants_.size())});
    constants_.push_back(spec.form == DW_FORM_flag_present ? 1 : static_cast<uint64_t>(spec.constant));
    return true;
  case DW_FORM_string:
    if (slot) fill();
    add(slot ? Action::load_string : Action::string);
    return true;
  case DW_FORM_data16: skipped += 16; return true;
  case DW_FORM_block1: add(Action::block1); return true;
  case DW_FORM_block2: add(Action::block2); return true;
  case DW_FORM_block4: add(Action::block4); return true;
  case DW_FORM_block:
  case DW_FORM_exprloc: add(Action::block); return true;
  case DW_FORM_LLVM_addrx_offset:
    add(Action::leb);
    skipped += 4;
    return true;
  case DW_FORM_indirect: add(Action::indirect); return true;
  default: return false;
  }
}

const std::byte* EntryShapes::read(const EntryShape& shape, const std::byte* begin, const std::byte* at,
                                   const std::byte* end, Slots& slots) const {
  for (const Step* step = &steps_[shape.first_step]; step->action != Action::done; step++) {
    if (step->action == Action::load_constant) {
      slots[step->slot] = constants_[step->number];
      continue;
    }
    at = skip_bytes(at, end, step->number);
    if (!at) return nullptr;
    uint64_t size = 0;
    switch (step->action) {
    case Action::load:
      if (end - at < step->size) return nullptr;
      slots[step->slot] = load_number(at, step->size);
      at += step->size;
      break;
    case Action::load_leb: at = read_leb(at, end, slots[step->slot], step->size == signed_leb); break;
    case Action::leb: at = pass_leb(at, end); break;
    case Action::load_string: slots[step->slot] = static_cast<uint64_t>(at - begin); [[fallthrough]];
    case Action::string: {
      auto zero = static_cast<const std::byte*>(std::memchr(at, 0, static_cast<size_t>(end - at)));
      at = zero ? zero + 1 : nullptr;
      break;
    }
    case Action::block1:
    case Action::block2:
    case Action::block4: {
      unsigned width = step->action == Action::block1 ? 1 : step->action == Action::block2 ? 2 : 4;
      if (end - at < static_cast<ptrdiff_t>(width)) return nullptr;
      size = load_number(at, width);
      at = skip_bytes(at + width, end, size);
      break;
    }
    case Action::block:
      at = read_leb(at, end, size);
      if (at) at = skip_bytes(at, end, size);
      break;
    case Action::indirect: {
      uint64_t form = 0;
      at = read_leb(at, end, form);
      if (at)
        at = form > 0xffff || form == DW_FORM_indirect || form == DW_FORM_implicit_const
                 ? nullptr
                 : skip_form(at, end, encoding_, static_cast<uint16_t>(form));
      break;
    }
    case Action::skip:
    case Action::load_constant:
    case Action::done: break;
    }
    if (!at) return nullptr;
  }
  return at;
}

} // namespace dwarf
