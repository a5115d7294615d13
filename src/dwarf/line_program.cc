#include "dwarf/line_program.h"

namespace dwarf {

// A unit has some thousand files at most.
static constexpr size_t most_files = 1 << 18, most_formats = 64;

// Directories and files as lists of names (versions 2 to 4).
static bool read_old_names(base::Reader& r, const Unit& unit, LineProgram& out) {
  out.folders.push_back(unit.folder);
  while (r.ok() && out.folders.size() < most_files) {
    std::string_view name = r.text();
    if (name.empty()) break;
    out.folders.push_back(name);
  }
  out.files.push_back({}); // numbers begin with 1
  while (r.ok() && out.files.size() < most_files) {
    LineFile file;
    file.name = r.text();
    if (file.name.empty()) break;
    file.folder = r.uleb128();
    r.uleb128(); // when it was changed
    r.uleb128(); // its size
    out.files.push_back(file);
  }
  return r.ok();
}

// One list of version 5, in which each entry has the parts that a list of formats tells; `take(file)`.
template<class Take>
static bool read_entries(base::Reader& r, const Unit& unit, const Encoding& encoding, Take take) {
  unsigned format_count = r.number<uint8_t>();
  AttributeSpec formats[most_formats];
  if (format_count > most_formats) return false;
  for (unsigned i = 0; i < format_count; i++) {
    formats[i].name = static_cast<uint16_t>(std::min<uint64_t>(r.uleb128(), UINT16_MAX));
    formats[i].form = static_cast<uint16_t>(std::min<uint64_t>(r.uleb128(), UINT16_MAX));
  }
  uint64_t count = r.uleb128();
  if (!r.ok() || count > most_files || (format_count == 0 && count > 0)) return false;
  for (uint64_t i = 0; i < count; i++) {
    LineFile file;
    for (unsigned part = 0; part < format_count; part++) {
      Attribute value;
      if (!read_form(r, encoding, formats[part], value)) return false;
      if (formats[part].name == DW_LNCT_path) file.name = text_of(unit, value).value_or("");
      if (formats[part].name == DW_LNCT_directory_index) file.folder = value.number;
    }
    take(file);
  }
  return true;
}

static bool read_names(base::Reader& r, const Unit& unit, const Encoding& encoding, LineProgram& out) {
  return read_entries(r, unit, encoding,
                      [&](const LineFile& folder) { out.folders.push_back(folder.name); }) &&
         read_entries(r, unit, encoding, [&](const LineFile& file) { out.files.push_back(file); });
}

// What stands between the length of the header and the names.
static bool read_numbers(base::Reader& r, LineProgram& out) {
  out.min_instruction = r.number<uint8_t>();
  if (out.version >= 4) out.max_operations = r.number<uint8_t>();
  out.is_statement = r.number<uint8_t>() != 0;
  out.line_base = static_cast<int8_t>(r.number<uint8_t>());
  out.line_range = r.number<uint8_t>();
  out.opcode_base = r.number<uint8_t>();
  if (out.opcode_base == 0 || out.line_range == 0) return false;
  out.operand_counts = r.bytes(out.opcode_base - 1u);
  return r.ok();
}

std::optional<LineProgram> read_line_program(const Unit& unit) {
  if (!unit.line_offset) return std::nullopt;
  LineProgram out;
  Encoding encoding = unit.encoding();
  base::Reader whole(unit.own->line, *unit.line_offset);
  uint64_t length = whole.number<uint32_t>();
  encoding.offset_size = length == 0xffffffff ? 8 : 4;
  if (encoding.offset_size == 8) length = whole.number<uint64_t>();
  ByteSpan bytes = whole.bytes(length);
  base::Reader r(bytes);
  out.version = r.number<uint16_t>();
  if (!whole.ok() || out.version < 2 || out.version > 5) return std::nullopt;
  out.address_size = encoding.address_size;
  if (out.version >= 5) {
    out.address_size = r.number<uint8_t>();
    r.skip(1); // size of segment selectors
  }
  uint64_t header_size = r.number_of(encoding.offset_size), program_at = r.at() + header_size;
  out.relocatable = unit.own->relocatable;
  if (!r.ok() || header_size > bytes.size() - r.at() || !read_numbers(r, out)) return std::nullopt;
  out.program = bytes.subspan(program_at);
  // Lines are worth having also when the names are damaged.
  bool has_names = out.version >= 5 ? read_names(r, unit, encoding, out) : read_old_names(r, unit, out);
  if (!has_names && out.files.empty()) return std::nullopt;
  return out;
}

std::string LineProgram::path(uint64_t file) const {
  if (file >= files.size() || files[file].name.empty()) return {};
  auto join = [](std::string_view folder, const std::string& name) {
    return folder.empty() || name.starts_with('/') ? name : std::string(folder) + "/" + name;
  };
  std::string out(files[file].name);
  uint64_t folder = files[file].folder;
  if (folder < folders.size()) out = join(folders[folder], out);
  return folder > 0 && !folders.empty() ? join(folders[0], out) : out;
}

} // namespace dwarf
