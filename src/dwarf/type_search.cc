#include "dwarf/type_search.h"

namespace dwarf {

static NameKinds kinds_of_tag(uint16_t tag) {
  switch (tag) {
  case DW_TAG_structure_type: return kinds_of({NameKind::structure, NameKind::class_});
  case DW_TAG_union_type: return kinds_of({NameKind::union_});
  case DW_TAG_enumeration_type: return kinds_of({NameKind::enumeration});
  case DW_TAG_typedef: return kinds_of({NameKind::alias});
  case DW_TAG_base_type: return kinds_of({NameKind::base_type});
  }
  return 0;
}

std::optional<Die> die_of(const IndexedFiles& files, const IndexEntry& entry) {
  DebugInfo* info = entry.file < files.size() ? files[entry.file] : nullptr;
  return info ? info->die_at(entry.die_offset, entry.in_types) : std::nullopt;
}

static std::optional<Die> first(const Index& index, const IndexedFiles& files, std::string_view name,
                                NameKinds kinds) {
  std::optional<Die> found;
  if (kinds)
    index.find(name, kinds, [&](const IndexEntry& entry) {
      found = die_of(files, entry);
      return !found;
    });
  return found;
}

Types::Find search_types(const Index& index, IndexedFiles files) {
  return [&index, files = std::move(files)](uint16_t tag, std::string_view name) {
    NameKinds kinds = kinds_of_tag(tag);
    // What is called just so comes before what only ends so.
    std::optional<Die> found;
    if (!name.starts_with("::")) found = first(index, files, "::" + std::string(name), kinds);
    return found ? found : first(index, files, name, kinds);
  };
}

std::optional<Die> find_enumerator(const Index& index, const IndexedFiles& files, std::string_view name) {
  return first(index, files, name, kinds_of({NameKind::enumerator}));
}

} // namespace dwarf
