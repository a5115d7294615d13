#include "dwarf/name_tables.h"

#include "dwarf/index_name.h"

#include <algorithm>

namespace dwarf {
namespace {

// The question, and what was found so far: a mark for each unit.
class Marks {
public:
  Marks(DebugInfo& info, std::string_view last)
      : info_(info), last_(last), base_(without_template_arguments(last)), unit_(info.units().size(), none) {}

  bool is_wanted(std::string_view stored) const { return same_name(stored, last_); }
  // Of a name with its scopes.
  bool is_wanted_last(std::string_view stored) const {
    return stored.find(base_) != stored.npos && is_wanted(split_name(stored).back());
  }
  // The index of the unit whose header is at an offset; nothing: there is none, so the table is of another
  // file.
  std::optional<size_t> unit_at(uint64_t offset, bool in_types) {
    std::optional<size_t> unit = info_.unit_of(offset, in_types);
    if (!unit || info_.units()[*unit].offset != offset) return std::nullopt;
    return unit;
  }
  void cover(size_t unit) { unit_[unit] = std::max(unit_[unit], covered); }
  void find(size_t unit) {
    unit_[unit] = found;
    is_found_ = true;
  }
  std::optional<std::vector<size_t>> result() const {
    if (!is_found_) return std::nullopt;
    std::vector<size_t> out;
    for (size_t i = 0; i < unit_.size(); i++)
      if (unit_[i] != covered) out.push_back(i);
    return out;
  }

private:
  enum Mark : uint8_t { none, covered, found };
  DebugInfo& info_;
  std::string_view last_, base_;
  std::vector<Mark> unit_;
  bool is_found_ = false;
};

// One table of .debug_names; a linker may have put several behind each other.
class DebugNames {
public:
  DebugNames(ByteSpan section, DebugInfo& info) : section_(section), info_(info) {}

  // Reads the one at `offset`, which becomes that of the next one. False: it is damaged.
  bool read(uint64_t& offset, Marks& marks) {
    base::Reader r(section_, offset);
    uint64_t length = r.number<uint32_t>();
    if (length == 0xffffffff) offset_size_ = 8, length = r.number<uint64_t>();
    if (!r.ok() || length > section_.size() - r.at()) return false;
    offset = r.at() + length;
    table_ = section_.first(offset);
    return read_header(base::Reader(table_, r.at())) && read_units(marks) && read_abbreviations() &&
           read_names(marks);
  }

private:
  struct Form {
    uint64_t name, form; // DW_IDX_…
    int64_t constant;
  };
  struct Shape {
    uint64_t code;
    std::vector<Form> forms;
  };
  static constexpr uint64_t idx_compile_unit = 1, idx_type_unit = 2;

  bool read_header(base::Reader r) {
    uint16_t version = r.number<uint16_t>();
    r.skip(2);
    compile_units_ = r.number<uint32_t>();
    type_units_ = r.number<uint32_t>();
    foreign_units_ = r.number<uint32_t>();
    uint64_t buckets = r.number<uint32_t>();
    names_ = r.number<uint32_t>();
    uint64_t abbreviations = r.number<uint32_t>(), vendor = r.number<uint32_t>();
    units_at_ = r.at() + (vendor + 3) / 4 * 4;
    uint64_t buckets_at = units_at_ + (compile_units_ + type_units_) * offset_size_ + foreign_units_ * 8;
    texts_at_ = buckets_at + buckets * 4 + (buckets ? names_ * 4 : 0);
    entries_at_ = texts_at_ + names_ * offset_size_;
    abbreviations_at_ = entries_at_ + names_ * offset_size_;
    pool_at_ = abbreviations_at_ + abbreviations;
    return r.ok() && version == 5 && pool_at_ <= table_.size();
  }

  bool read_units(Marks& marks) {
    base::Reader r(table_, units_at_);
    for (uint64_t i = 0; i < compile_units_ + type_units_; i++) {
      std::optional<size_t> unit = marks.unit_at(r.number_of(offset_size_), false);
      if (!unit) return false;
      marks.cover(*unit);
      units_.push_back(*unit);
    }
    return r.ok();
  }

  bool read_abbreviations() {
    base::Reader r(table_.first(pool_at_), abbreviations_at_);
    while (r.ok()) {
      Shape shape{r.uleb128(), {}};
      if (shape.code == 0) return r.ok();
      r.uleb128(); // the tag
      for (;;) {
        Form form{r.uleb128(), r.uleb128(), 0};
        if (!r.ok()) return false;
        if (form.name == 0 && form.form == 0) break;
        if (form.form == DW_FORM_implicit_const) form.constant = r.sleb128();
        shape.forms.push_back(form);
      }
      shapes_.push_back(std::move(shape));
    }
    return false;
  }

  bool read_names(Marks& marks) {
    for (uint64_t i = 0; i < names_; i++) {
      uint64_t text = base::Reader(table_, texts_at_ + i * offset_size_).number_of(offset_size_);
      if (!marks.is_wanted(base::text_at(info_.sections().str, text))) continue;
      uint64_t entries = base::Reader(table_, entries_at_ + i * offset_size_).number_of(offset_size_);
      if (entries > table_.size() - pool_at_ ||
          !read_entries(base::Reader(table_, pool_at_ + entries), marks))
        return false;
    }
    return true;
  }

  // All entries of a name.
  bool read_entries(base::Reader r, Marks& marks) {
    Encoding encoding;
    encoding.version = 5;
    encoding.offset_size = static_cast<uint8_t>(offset_size_);
    for (;;) {
      uint64_t code = r.uleb128();
      if (!r.ok()) return false;
      if (code == 0) return true;
      auto shape =
          std::find_if(shapes_.begin(), shapes_.end(), [&](const Shape& s) { return s.code == code; });
      if (shape == shapes_.end()) return false;
      std::optional<uint64_t> compile_unit, type_unit;
      for (const Form& f : shape->forms) {
        Attribute value;
        AttributeSpec spec{static_cast<uint16_t>(f.name), static_cast<uint16_t>(f.form), f.constant};
        if (f.form > UINT16_MAX || !read_form(r, encoding, spec, value)) return false;
        if (f.name == idx_compile_unit) compile_unit = value.number;
        if (f.name == idx_type_unit) type_unit = value.number;
      }
      if (type_unit && *type_unit >= type_units_) { // one of a split file
        if (*type_unit - type_units_ >= foreign_units_) return false;
        continue;
      }
      uint64_t unit = type_unit ? compile_units_ + *type_unit : compile_unit.value_or(0);
      if (unit >= units_.size()) return false;
      marks.find(units_[unit]);
    }
  }

  ByteSpan section_, table_;
  DebugInfo& info_;
  unsigned offset_size_ = 4;
  uint64_t compile_units_ = 0, type_units_ = 0, foreign_units_ = 0, names_ = 0; // how many
  uint64_t units_at_ = 0, texts_at_ = 0, entries_at_ = 0, abbreviations_at_ = 0, pool_at_ = 0;
  std::vector<size_t> units_;
  std::vector<Shape> shapes_;
};

class GdbIndex {
public:
  explicit GdbIndex(ByteSpan section) : section_(section) {}

  bool read(Marks& marks) {
    base::Reader r(section_);
    uint32_t version = r.number<uint32_t>();
    uint64_t units = r.number<uint32_t>(), types = r.number<uint32_t>(), addresses = r.number<uint32_t>();
    uint64_t symbols = r.number<uint32_t>();
    if (version >= 9) r.skip(4); // the place of the name of main
    pool_ = r.number<uint32_t>();
    if (!r.ok() || version < 7 || version > 9) return false;
    if (units > types || types > addresses || symbols > pool_ || pool_ > section_.size()) return false;
    return read_units(units, types, 16, false, marks) && read_units(types, addresses, 24, true, marks) &&
           read_symbols(symbols, version >= 9 ? pool_at_end_of_symbols(symbols) : pool_, marks);
  }

private:
  // Version 9 may have a table of shortcuts between the symbols and the pool; it has no symbol in it.
  uint64_t pool_at_end_of_symbols(uint64_t symbols) const {
    uint64_t shortcuts = base::Reader(section_, 20).number<uint32_t>();
    return shortcuts >= symbols && shortcuts <= pool_ ? shortcuts : pool_;
  }

  bool read_units(uint64_t from, uint64_t to, uint64_t size, bool are_types, Marks& marks) {
    if (from > to || to > section_.size()) return false;
    for (uint64_t at = from; at + size <= to; at += size) {
      uint64_t offset = base::Reader(section_, at).number<uint64_t>();
      std::optional<size_t> unit = marks.unit_at(offset, are_types);
      if (!unit && are_types)
        unit = marks.unit_at(offset, false); // from version 5 of DWARF they are among the others
      if (!unit) return false;
      marks.cover(*unit);
      units_.push_back(*unit);
    }
    return true;
  }

  bool read_symbols(uint64_t from, uint64_t to, Marks& marks) {
    for (uint64_t at = from; at + 8 <= to; at += 8) {
      base::Reader r(section_, at);
      uint64_t name = r.number<uint32_t>(), list = r.number<uint32_t>();
      if (name == 0 && list == 0) continue; // an empty slot
      if (!marks.is_wanted_last(base::text_at(section_, pool_ + name))) continue;
      base::Reader entries(section_, pool_ + list);
      uint64_t count = entries.number<uint32_t>();
      for (uint64_t i = 0; i < count; i++) {
        uint64_t unit = entries.number<uint32_t>() & 0xffffff;
        if (!entries.ok() || unit >= units_.size()) return false;
        marks.find(units_[unit]);
      }
    }
    return true;
  }

  ByteSpan section_;
  uint64_t pool_ = 0;
  std::vector<size_t> units_;
};

} // namespace

std::optional<std::vector<size_t>> units_with(DebugInfo& info, std::string_view name) {
  const Sections& sections = info.sections();
  Marks marks(info, without_parameters(split_name(name).back()));
  for (uint64_t at = 0; at < sections.names.size();)
    if (!DebugNames(sections.names, info).read(at, marks)) return std::nullopt;
  if (sections.names.empty() && !GdbIndex(sections.gdb_index).read(marks)) return std::nullopt;
  return marks.result();
}

} // namespace dwarf
