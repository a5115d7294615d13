#include "dwarf/frame_rules.h"

#include <vector>

namespace dwarf {

// Rules that are put aside while others hold; compilers nest them once.
static constexpr size_t most_remembered = 64;

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

// One of the two tables.
struct Table {
  ByteSpan bytes;
  uint64_t address = 0; // of its first byte
  bool is_eh = false;
  const FrameTables* all = nullptr;
};

// An entry of a table: an FDE, or the CIE that several of them share.
struct Entry {
  bool is_cie = false;
  uint64_t end = 0;    // one past it
  uint64_t cie = 0;    // of an FDE: where its CIE is
  uint64_t fields = 0; // where what follows begins
};

struct Cie {
  uint8_t encoding = pe_absolute, address_size = 8;
  bool has_sizes = false; // entries tell how long what is added to them is
  bool is_signal = false;
  uint64_t code_factor = 1;
  int64_t data_factor = 1;
  ByteSpan program;
};

struct Fde {
  uint64_t begin = 0, end = 0;
  ByteSpan program;
};

} // namespace

static std::optional<Entry> read_entry(const Table& table, uint64_t at) {
  base::Reader r(table.bytes, at);
  uint64_t length = r.number<uint32_t>();
  bool is_long = length == 0xffffffff;
  if (is_long) length = r.number<uint64_t>();
  if (!r.ok() || length == 0 || length > table.bytes.size() - r.at()) return std::nullopt;
  Entry out{.end = r.at() + length};
  uint64_t id_at = r.at(), id = r.number_of(is_long && !table.is_eh ? 8 : 4);
  uint64_t cie_id = table.is_eh ? 0 : is_long ? UINT64_MAX : 0xffffffff;
  out.is_cie = id == cie_id;
  if (!out.is_cie) out.cie = table.is_eh ? id_at - id : id;
  out.fields = r.at();
  return r.ok() && r.at() <= out.end ? std::optional(out) : std::nullopt;
}

// An address as `encoding` says.
static std::optional<uint64_t> read_address(const Table& table, base::Reader& r, uint8_t encoding,
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

// What letters of the augmentation say after the length of their data; false: one is not known.
static bool read_augmentation(const Table& table, base::Reader& r, std::string_view letters, Cie& out) {
  for (char letter : letters) {
    switch (letter) {
    case 'R': out.encoding = r.number<uint8_t>(); break;
    case 'L': r.number<uint8_t>(); break;
    case 'P': {
      auto encoding = static_cast<uint8_t>(r.number<uint8_t>() & ~pe_indirect);
      if (!read_address(table, r, encoding, out.address_size)) return false;
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

static std::optional<Cie> read_cie(const Table& table, uint64_t at) {
  std::optional<Entry> entry = read_entry(table, at);
  if (!entry || !entry->is_cie) return std::nullopt;
  Cie out;
  base::Reader r(table.bytes.first(entry->end), entry->fields);
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
  if (version == 1)
    r.number<uint8_t>();
  else
    r.uleb128(); // the register with the return address
  if (letters.starts_with("z")) {
    out.has_sizes = true;
    uint64_t size = r.uleb128(), from = r.at();
    if (!read_augmentation(table, r, letters.substr(1), out) || r.at() > from + size) return std::nullopt;
    r = base::Reader(table.bytes.first(entry->end), from);
    r.skip(size);
  } else if (!letters.empty() && letters != "eh") {
    return std::nullopt;
  }
  if (!r.ok()) return std::nullopt;
  out.program = table.bytes.subspan(r.at(), entry->end - r.at());
  return out;
}

static std::optional<Fde> read_fde(const Table& table, const Entry& entry, const Cie& cie) {
  base::Reader r(table.bytes.first(entry.end), entry.fields);
  auto begin = read_address(table, r, cie.encoding, cie.address_size);
  auto size = read_address(table, r, cie.encoding & 0x0f, cie.address_size);
  if (!begin || !size) return std::nullopt;
  if (cie.has_sizes) r.skip(r.uleb128());
  if (!r.ok()) return std::nullopt;
  return Fde{*begin, *begin + *size, table.bytes.subspan(r.at(), entry.end - r.at())};
}

namespace {

// Runs the instructions of a table up to an address; keeps what they say of the CFA.
class Program {
public:
  Program(const Table& table, const Cie& cie, uint64_t begin, uint64_t wanted)
      : table_(table), cie_(cie), address_(begin), wanted_(wanted) {}
  // False: damaged, or not known.
  bool run(ByteSpan instructions);
  CfaRule rule;
  bool has_rule = false;

private:
  bool step(base::Reader& r);
  bool step_of_cfa(base::Reader& r, uint8_t code);
  bool advance(uint64_t units) {
    address_ += units * cie_.code_factor;
    is_done_ = address_ > wanted_;
    return true;
  }
  int64_t factored(int64_t value) const {
    return static_cast<int64_t>(static_cast<uint64_t>(value) * static_cast<uint64_t>(cie_.data_factor));
  }
  void set(uint64_t reg, int64_t offset) {
    rule.is_expression = false;
    rule.reg = reg;
    rule.offset = offset;
    has_rule = true;
  }

  const Table& table_;
  const Cie& cie_;
  uint64_t address_, wanted_;
  bool is_done_ = false;
  std::vector<CfaRule> remembered_;
};

} // namespace

bool Program::run(ByteSpan instructions) {
  base::Reader r(instructions);
  while (!is_done_ && r.at() < instructions.size())
    if (!step(r) || !r.ok()) return false;
  return true;
}

bool Program::step(base::Reader& r) {
  auto code = r.number<uint8_t>();
  switch (code >> 6) {
  case 1: return advance(code & 63); // advance_loc
  case 2: r.uleb128(); return true;  // offset
  case 3: return true;               // restore
  }
  switch (code) {
  case 0x01: { // set_loc
    auto to = read_address(table_, r, cie_.encoding, cie_.address_size);
    if (to) address_ = *to, is_done_ = address_ > wanted_;
    return to.has_value();
  }
  case 0x02: return advance(r.number<uint8_t>());
  case 0x03: return advance(r.number<uint16_t>());
  case 0x04: return advance(r.number<uint32_t>());
  case 0x1d: return advance(r.number<uint64_t>());
  case 0x00: // nop
  case 0x2d: // of arm64: the return address is signed from here on
    return true;
  case 0x06: // restore_extended, undefined, same_value, GNU_args_size
  case 0x07:
  case 0x08:
  case 0x2e: r.uleb128(); return true;
  case 0x05: // offset_extended, register, …_sf, val_offset…
  case 0x09:
  case 0x11:
  case 0x14:
  case 0x15:
  case 0x2f: r.uleb128(), r.uleb128(); return true;
  case 0x10: // expression, val_expression
  case 0x16: r.uleb128(), r.skip(r.uleb128()); return true;
  }
  return step_of_cfa(r, code);
}

bool Program::step_of_cfa(base::Reader& r, uint8_t code) {
  uint64_t reg;
  switch (code) {
  case 0x0a: // remember_state
    if (remembered_.size() >= most_remembered) return false;
    remembered_.push_back(rule);
    return true;
  case 0x0b: // restore_state
    if (remembered_.empty()) return false;
    rule = remembered_.back();
    remembered_.pop_back();
    return true;
  case 0x0c: reg = r.uleb128(), set(reg, static_cast<int64_t>(r.uleb128())); return true;
  case 0x0d: set(r.uleb128(), rule.offset); return true;
  case 0x0e: set(rule.reg, static_cast<int64_t>(r.uleb128())); return true;
  case 0x0f:
    rule.expression = r.bytes(r.uleb128());
    rule.is_expression = has_rule = true;
    return true;
  case 0x12: reg = r.uleb128(), set(reg, factored(r.sleb128())); return true;
  case 0x13: set(rule.reg, factored(r.sleb128())); return true;
  }
  return false;
}

// ---- finding the entry

static std::optional<CfaRule> rule_in(const Table& table, const Cie& cie, const Fde& fde, uint64_t address) {
  Program program(table, cie, fde.begin, address);
  Program initial(table, cie, 0, UINT64_MAX);
  if (!initial.run(cie.program)) return std::nullopt;
  program.rule = initial.rule;
  program.has_rule = initial.has_rule;
  if (!program.run(fde.program) || !program.has_rule) return std::nullopt;
  program.rule.begin = fde.begin;
  program.rule.end = fde.end;
  program.rule.is_signal = cie.is_signal;
  return program.rule;
}

// Goes over all entries.
static std::optional<CfaRule> search_all(const Table& table, uint64_t address) {
  std::optional<Cie> cie;
  uint64_t cie_at = UINT64_MAX;
  for (uint64_t at = 0; at < table.bytes.size();) {
    std::optional<Entry> entry = read_entry(table, at);
    if (!entry) return std::nullopt;
    at = entry->end;
    if (entry->is_cie) continue;
    if (entry->cie != cie_at) cie = read_cie(table, cie_at = entry->cie);
    if (!cie) continue;
    std::optional<Fde> fde = read_fde(table, *entry, *cie);
    if (fde && fde->begin <= address && address < fde->end) return rule_in(table, *cie, *fde, address);
  }
  return std::nullopt;
}

// Where the search table says that the entry for an address is; nothing: it is none that we read.
static std::optional<uint64_t> search_in_header(const FrameTables& tables, uint64_t address) {
  base::Reader r(tables.eh_frame_hdr);
  Table table{tables.eh_frame_hdr, tables.eh_frame_hdr_address, true, &tables};
  auto version = r.number<uint8_t>(), pointer = r.number<uint8_t>(), counts = r.number<uint8_t>(),
       rows = r.number<uint8_t>();
  if (version != 1 || rows != (pe_from_data | pe_signed4)) return std::nullopt;
  read_address(table, r, pointer, 8);
  std::optional<uint64_t> count = read_address(table, r, counts, 8);
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

static std::optional<CfaRule> rule_of_entry(const Table& table, uint64_t at, uint64_t address) {
  std::optional<Entry> entry = read_entry(table, at);
  if (!entry || entry->is_cie) return std::nullopt;
  std::optional<Cie> cie = read_cie(table, entry->cie);
  std::optional<Fde> fde = cie ? read_fde(table, *entry, *cie) : std::nullopt;
  if (!fde || address < fde->begin || address >= fde->end) return std::nullopt;
  return rule_in(table, *cie, *fde, address);
}

std::optional<CfaRule> cfa_rule_at(const FrameTables& tables, uint64_t address) {
  Table eh{tables.eh_frame, tables.eh_frame_address, true, &tables};
  Table debug{tables.debug_frame, 0, false, &tables};
  if (std::optional<uint64_t> at = search_in_header(tables, address)) {
    if (std::optional<CfaRule> rule = rule_of_entry(eh, *at, address)) return rule;
  } else if (std::optional<CfaRule> rule = search_all(eh, address)) {
    return rule;
  }
  return search_all(debug, address);
}

FrameTables frame_tables_of(const format::ElfFile& file, const format::ElfFile* debug) {
  FrameTables out;
  auto address = [&](std::string_view name) {
    const format::ElfSection* section = file.elf().section(name);
    return section ? section->address : 0;
  };
  out.eh_frame = file.section(".eh_frame");
  out.eh_frame_hdr = file.section(".eh_frame_hdr");
  out.debug_frame = file.section(".debug_frame");
  if (out.debug_frame.empty() && debug) out.debug_frame = debug->section(".debug_frame");
  out.eh_frame_address = address(".eh_frame");
  out.eh_frame_hdr_address = address(".eh_frame_hdr");
  out.text_address = address(".text");
  out.data_address = address(".got");
  return out;
}

} // namespace dwarf
