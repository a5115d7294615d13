#include "dwarf/frame_entries.h"

#include "dwarf/frame_program.h"

namespace dwarf {

namespace {

enum : uint8_t { // DW_EH_PE_…: how addresses are written
  pe_absolute = 0x00,
  pe_uleb128 = 0x01,
  pe_data2 = 0x02,
  pe_data4 = 0x03,
  pe_data8 = 0x04,
  pe_sleb128 = 0x09,
  pe_signed2 = 0x0a,
  pe_signed4 = 0x0b,
  pe_signed8 = 0x0c,
  pe_from_here = 0x10,
  pe_from_text = 0x20,
  pe_from_data = 0x30,
  pe_indirect = 0x80,
  pe_omitted = 0xff,
};

} // namespace

// What an FDE and a CIE begin with.
struct FrameEntries::Entry {
  bool is_cie = false, is_terminator = false;
  uint64_t begin = 0, end = 0; // places in the table
  uint64_t cie = 0;            // of an FDE: where its CIE is
  uint64_t fields = 0;         // where what follows begins
};

std::optional<uint64_t> read_frame_address(const FrameTable& table, base::Reader& r, uint8_t encoding,
                                           uint8_t address_size) {
  if (encoding == pe_omitted || (encoding & pe_indirect)) return std::nullopt;
  uint64_t here = table.address + r.at(), value = 0;
  switch (encoding & 0x0f) {
  case pe_absolute: value = r.number_of(address_size); break;
  case pe_uleb128: value = r.uleb128(); break;
  case pe_data2: value = r.number<uint16_t>(); break;
  case pe_data4: value = r.number<uint32_t>(); break;
  case pe_data8:
  case pe_signed8: value = r.number<uint64_t>(); break;
  case pe_sleb128: value = static_cast<uint64_t>(r.sleb128()); break;
  case pe_signed2: value = static_cast<uint64_t>(static_cast<int16_t>(r.number<uint16_t>())); break;
  case pe_signed4: value = static_cast<uint64_t>(static_cast<int32_t>(r.number<uint32_t>())); break;
  default: return std::nullopt;
  }
  switch (encoding & 0x70) {
  case 0: break;
  case pe_from_here: value += here; break;
  case pe_from_text: value += table.all->text_address; break;
  case pe_from_data: value += table.all->data_address; break;
  default: return std::nullopt;
  }
  return r.ok() ? std::optional(value) : std::nullopt;
}

FrameEntries::FrameEntries(const FrameTables& tables, bool is_eh)
    : table_{is_eh ? tables.eh_frame : tables.debug_frame, is_eh ? tables.eh_frame_address : 0, is_eh,
             &tables},
      is_open_ended_(is_eh && tables.is_open_ended) {}

std::optional<FrameEntries::Entry> FrameEntries::read_entry(uint64_t at) const {
  base::Reader r(table_.bytes, at);
  Entry out{.begin = at};
  uint64_t length = r.number<uint32_t>();
  bool is_long = length == 0xffffffff;
  if (is_long) length = r.number<uint64_t>();
  if (!r.ok() || length > table_.bytes.size() - r.at()) return std::nullopt;
  out.end = r.at() + length;
  out.is_terminator = length == 0;
  if (out.is_terminator) return out;
  uint64_t id_at = r.at(), id = r.number_of(is_long && !table_.is_eh ? 8 : 4);
  uint64_t cie_id = table_.is_eh ? 0 : is_long ? UINT64_MAX : 0xffffffff;
  out.is_cie = id == cie_id;
  if (!out.is_cie) out.cie = table_.is_eh ? id_at - id : id;
  out.fields = r.at();
  return r.ok() && r.at() <= out.end ? std::optional(out) : std::nullopt;
}

// What letters of the augmentation say after the length of their data; false: one is not known.
bool FrameEntries::read_augmentation(base::Reader& r, std::string_view letters, FrameCie& out) const {
  for (char letter : letters) {
    switch (letter) {
    case 'R': out.encoding = r.number<uint8_t>(); break;
    case 'L': r.number<uint8_t>(); break;
    case 'P': {
      auto encoding = r.number<uint8_t>();
      auto direct = static_cast<uint8_t>(encoding & ~pe_indirect);
      if (encoding != pe_omitted && !read_frame_address(table_, r, direct, out.address_size)) return false;
      break;
    }
    case 'S': out.is_signal = true; break;
    case 'B':
    case 'G': break; // of arm64: return addresses are signed, memory is tagged
    default: return false;
    }
  }
  return r.ok();
}

std::optional<FrameCie> FrameEntries::read_cie(uint64_t place) const {
  std::optional<Entry> entry = read_entry(place);
  if (!entry || !entry->is_cie) return std::nullopt;
  FrameCie out;
  base::Reader r(table_.bytes.first(entry->end), entry->fields);
  auto version = r.number<uint8_t>();
  std::string_view letters = r.text();
  if (letters == "eh") r.number<uint64_t>(); // of the oldest gcc: a pointer to its tables
  if (version == 4) {
    out.address_size = r.number<uint8_t>();
    if (r.number<uint8_t>() != 0) return std::nullopt; // with segments
  }
  if (version != 1 && version != 3 && version != 4) return std::nullopt;
  out.code_factor = r.uleb128();
  out.data_factor = r.sleb128();
  out.return_register = version == 1 ? r.number<uint8_t>() : r.uleb128();
  if (letters.starts_with("z")) {
    out.has_sizes = true;
    uint64_t size = r.uleb128(), from = r.at();
    if (!read_augmentation(r, letters.substr(1), out) || r.at() - from > size) return std::nullopt;
    r = base::Reader(table_.bytes.first(entry->end), from);
    r.skip(size);
  } else if (!letters.empty() && letters != "eh") {
    return std::nullopt;
  }
  if (!r.ok()) return std::nullopt;
  out.program = table_.bytes.subspan(r.at(), entry->end - r.at());
  return out;
}

const FrameCie* FrameEntries::cie_at(uint64_t place) {
  if (place == last_place_) return last_;
  auto [at, is_new] = cies_.try_emplace(place);
  if (is_new) {
    std::optional<FrameCie>& cie = at->second = read_cie(place);
    std::optional<FrameRow> initial = cie ? FrameProgram(table_).run_initial(*cie) : std::nullopt;
    if (initial)
      cie->initial = std::make_shared<const FrameRow>(*initial);
    else
      cie.reset();
  }
  last_place_ = place;
  return last_ = at->second ? &*at->second : nullptr;
}

std::optional<FrameFde> FrameEntries::read_fde(const Entry& entry) {
  const FrameCie* cie = cie_at(entry.cie);
  if (!cie) return std::nullopt;
  base::Reader r(table_.bytes.first(entry.end), entry.fields);
  auto begin = read_frame_address(table_, r, cie->encoding, cie->address_size);
  auto size = read_frame_address(table_, r, cie->encoding & 0x0f, cie->address_size);
  if (!begin || !size || *begin + *size < *begin) return std::nullopt;
  if (cie->has_sizes) r.skip(r.uleb128());
  if (!r.ok()) return std::nullopt;
  return FrameFde{*begin, *begin + *size, entry.begin, cie, table_.bytes.subspan(r.at(), entry.end - r.at())};
}

std::optional<FrameFde> FrameEntries::next() {
  while (at_ < table_.bytes.size()) {
    std::optional<Entry> entry = read_entry(at_);
    if (!entry || (entry->is_terminator && is_open_ended_)) {
      damaged_ += !entry;
      at_ = table_.bytes.size();
      break;
    }
    at_ = entry->end; // linkers may leave terminators of what they put together
    if (entry->is_terminator || entry->is_cie) continue;
    if (std::optional<FrameFde> fde = read_fde(*entry)) return fde;
    damaged_++;
  }
  return std::nullopt;
}

std::optional<FrameFde> FrameEntries::at(uint64_t place) {
  std::optional<Entry> entry = read_entry(place);
  if (!entry || entry->is_cie || entry->is_terminator) return std::nullopt;
  return read_fde(*entry);
}

std::optional<uint64_t> search_frame_header(const FrameTables& tables, uint64_t address) {
  base::Reader r(tables.eh_frame_hdr);
  FrameTable table{tables.eh_frame_hdr, tables.eh_frame_hdr_address, true, &tables};
  auto version = r.number<uint8_t>(), pointer = r.number<uint8_t>(), counts = r.number<uint8_t>(),
       rows = r.number<uint8_t>();
  if (version != 1 || rows != (pe_from_data | pe_signed4)) return std::nullopt;
  read_frame_address(table, r, pointer, 8);
  std::optional<uint64_t> count = read_frame_address(table, r, counts, 8);
  if (!count || *count == 0 || *count > (tables.eh_frame_hdr.size() - r.at()) / 8) return std::nullopt;
  auto number = [&](uint64_t row, uint64_t column) { // both count from the header
    base::Reader cell(tables.eh_frame_hdr, r.at() + row * 8 + column * 4);
    return tables.eh_frame_hdr_address + static_cast<uint64_t>(static_cast<int32_t>(cell.number<uint32_t>()));
  };
  uint64_t low = 0, high = *count; // the last row that begins at or before the address
  while (high - low > 1) {
    uint64_t middle = low + (high - low) / 2;
    (number(middle, 0) <= address ? low : high) = middle;
  }
  uint64_t at = number(low, 1);
  return at < tables.eh_frame_address ? std::nullopt : std::optional(at - tables.eh_frame_address);
}

} // namespace dwarf
