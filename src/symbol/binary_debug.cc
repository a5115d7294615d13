// What the debug information of a binary knows, see binary.h.
#include "symbol/binary_parts.h"
#include "symbol/package_of_file.h"

#include <algorithm>

namespace symbol {

const DebugFile& Binary::debug_file() {
  if (!debug_file_) debug_file_ = find_debug_file(*file_, place_.path, place_.search);
  return *debug_file_;
}

Binary::Debug* Binary::debug() {
  if (debug_ || std::exchange(debug_tried_, true)) return debug_.get();
  const DebugFile& found = debug_file();
  const format::ElfFile* file = found.source == DebugFile::Source::module ? &*file_ : nullptr;
  if (!file && found.debug.file) file = &*found.debug.file;
  if (file && found.has_dwarf) debug_ = std::make_unique<Debug>(*file, found, place_.path, place_.search);
  return debug_.get();
}

dwarf::DebugInfo* Binary::debug_info() { return debug() ? &debug_->family().info() : nullptr; }

const format::ElfFile* Binary::info_file() { return debug() ? &debug_->file : nullptr; }

const dwarf::IndexedFiles& Binary::indexed_files() {
  static const dwarf::IndexedFiles none;
  return debug() ? debug_->family().infos() : none;
}

const dwarf::Index* Binary::index() {
  if (!debug()) return nullptr;
  if (!std::exchange(debug_->index_tried, true))
    if (auto made = DebugIndex::open(debug_->files(), Cache::of_user()); made.ok())
      debug_->index = std::move(*made);
  return debug_->index ? &debug_->index->index() : nullptr;
}

const dwarf::Index* Binary::index_for(std::string_view name) {
  if (!debug()) return nullptr;
  if (debug_->index_tried) return index();
  if (auto known = debug_->parts.find(name); known != debug_->parts.end()) return &known->second.index();
  auto made = DebugIndex::open_for(name, debug_->files(), Cache::of_user());
  if (!made.ok()) return index();
  if (made->is_whole()) {
    debug_->index_tried = true;
    debug_->index = std::move(*made);
    return index();
  }
  return &debug_->parts.emplace(name, std::move(*made)).first->second.index();
}

std::vector<dwarf::Die> Binary::find_entries(std::string_view name, dwarf::NameKinds kinds) {
  std::vector<dwarf::Die> out;
  auto look = [&](const dwarf::Index* index) {
    if (!index) return;
    index->find(name, kinds, [&](const dwarf::IndexEntry& entry) {
      if (auto die = dwarf::die_of(indexed_files(), entry)) out.push_back(*die);
      return out.size() < 1000;
    });
  };
  look(index_for(name));
  if (out.empty() && debug() && !debug_->index_tried) look(index()); // a part may lack it
  return out;
}

bool Binary::has_inlined_calls(std::string_view name) {
  const dwarf::Index* index = index_for(name);
  bool found = false;
  auto look = [&](const dwarf::IndexEntry& entry) {
    found |= entry.is_inlined;
    return !found;
  };
  if (!index) return false;
  index->find(name, dwarf::kinds_of({dwarf::NameKind::function}), look);
  if (!found) index->find_linkage(name, look);
  return found;
}

dwarf::Types* Binary::types(type::Table& table) {
  if (!debug()) return nullptr;
  if (!debug_->types) {
    auto find = [this](uint16_t tag, std::string_view name) -> std::optional<dwarf::Die> {
      const dwarf::Index* index = index_for(name);
      if (!index) return std::nullopt;
      auto found = dwarf::search_types(*index, indexed_files())(tag, name);
      if (found || debug_->index_tried) return found;
      return this->index() ? dwarf::search_types(*this->index(), indexed_files())(tag, name) : std::nullopt;
    };
    debug_->types = std::make_unique<dwarf::Types>(table, type::Space::user, find);
  }
  return debug_->types.get();
}

// ---- functions by address

const std::vector<Binary::Debug::Code>& Binary::Debug::code_of(size_t index, const dwarf::Unit& unit) {
  auto [at, is_new] = code.try_emplace(index);
  if (!is_new) return at->second;
  dwarf::DieCursor cursor(unit);
  std::vector<dwarf::AddressRange> ranges;
  while (cursor.next()) {
    uint16_t tag = cursor.die().tag();
    if (tag == dwarf::DW_TAG_subprogram) {
      ranges.clear();
      dwarf::CodeAttributes attributes;
      if (auto end = dwarf::for_each_attribute(cursor.die(), [&](const dwarf::Attribute& a) {
            attributes.take(a);
            return true;
          }))
        cursor.set_end(*end);
      dwarf::append_ranges(unit, attributes, ranges);
      for (const dwarf::AddressRange& r : ranges) at->second.push_back({r.begin, r.end, cursor.die().offset});
    }
    // Functions inside functions are rare (lambdas' classes), but they are there.
    bool is_leaf = tag == dwarf::DW_TAG_enumeration_type || tag == dwarf::DW_TAG_variable;
    if (is_leaf) cursor.skip_children();
  }
  std::sort(at->second.begin(), at->second.end(),
            [](const Code& a, const Code& b) { return a.begin < b.begin; });
  return at->second;
}

std::optional<dwarf::Die> Binary::function_entry(uint64_t address) {
  if (!debug()) return std::nullopt;
  dwarf::DebugInfo& info = debug_->family().info();
  if (!debug_->ranges) debug_->ranges.emplace(info);
  auto index = debug_->ranges->find(address);
  const dwarf::Unit* unit = index ? info.unit(*index) : nullptr;
  if (unit && unit->is_skeleton()) unit = info.split_unit(*unit);
  if (!unit) return std::nullopt;
  const std::vector<Debug::Code>& code = debug_->code_of(*index, *unit);
  auto after = std::upper_bound(code.begin(), code.end(), address,
                                [](uint64_t a, const Debug::Code& c) { return a < c.begin; });
  if (after == code.begin() || address >= std::prev(after)->end) return std::nullopt;
  return dwarf::read_die(*unit, std::prev(after)->die);
}

std::string Binary::debug_hint() {
  const DebugFile& found = debug_file();
  if (std::string why = summary(found.debug.tried); !why.empty()) return why;
  std::string id = format::to_hex(file_->build_id());
  std::string package = package_of_file(place_.path);
  std::string out = package.empty()
                        ? "install its debug symbols, in a package whose name ends with -dbgsym or -dbg"
                        : "install " + package + "-dbgsym or " + package + "-dbg";
  if (id.size() > 2)
    out += ", or put its debug file to /usr/lib/debug/.build-id/" + id.substr(0, 2) + "/" + id.substr(2) +
           ".debug";
  return out;
}

} // namespace symbol
