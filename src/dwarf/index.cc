#include "dwarf/index.h"

#include "base/text.h"
#include "dwarf/index_format.h"
#include "dwarf/index_name.h"

#include <algorithm>
#include <cstring>

namespace dwarf {

using namespace index_format;

namespace {

constexpr int most_scopes = 512; // nested

uint64_t load64(ByteSpan table, uint64_t at) { return base::Reader(table, at).number<uint64_t>(); }

std::string_view name_of_nameless(uint32_t flags) {
  return flags & scope_is_namespace ? "(anonymous namespace)" : "(anonymous)";
}

} // namespace

struct Index::Query {
  std::vector<std::string_view> parts; // the last one is that of the name
  bool is_whole = false;               // no more scopes than these
};

base::Result<Index> Index::open(ByteSpan bytes) {
  auto bad = [](std::string why) { return base::Error{base::Failure::runtime, "index of names: " + why}; };
  if (bytes.size() < header_size || std::memcmp(bytes.data(), magic.data(), magic.size()) != 0)
    return bad("these bytes are none");
  base::Reader r(bytes, magic.size());
  if (r.number<uint32_t>() != version) return bad("another version");
  Index index;
  index.bucket_bits_ = r.number<uint32_t>();
  index.damaged_ = r.number<uint32_t>();
  r.skip(4);
  ByteSpan* const tables[table_count] = {&index.units_, &index.signatures_, &index.scopes_, &index.buckets_,
                                         &index.names_, &index.linkage_,    &index.texts_,  &index.postings_};
  for (ByteSpan* table : tables) {
    uint64_t offset = r.number<uint64_t>(), size = r.number<uint64_t>();
    *table = base::slice(bytes, offset, size);
    if (table->size() != size || offset % 8) return bad("it is cut off");
  }
  bool fits = index.bucket_bits_ >= 1 && index.bucket_bits_ <= 24 && index.units_.size() % unit_size == 0 &&
              index.signatures_.size() % signature_size == 0 && index.scopes_.size() % scope_size == 0 &&
              index.buckets_.size() == ((size_t{1} << index.bucket_bits_) + 1) * 4 &&
              index.names_.size() % name_size == 0 && index.names_.size() >= name_size &&
              index.linkage_.size() % linkage_size == 0 && index.linkage_.size() >= linkage_size;
  if (!fits) return bad("a table has a wrong size");
  return index;
}

uint32_t Index::number(ByteSpan table, uint64_t at) const {
  uint32_t value = 0;
  if (at + 4 <= table.size()) std::memcpy(&value, table.data() + at, 4);
  return value;
}

std::string_view Index::name_text(uint32_t name) const {
  uint64_t at = uint64_t{name} * name_size + 4;
  if (at + name_size >= names_.size()) return {};
  uint32_t begin = number(names_, at), end = number(names_, at + name_size);
  if (begin > end || end > texts_.size()) return {};
  return {reinterpret_cast<const char*>(texts_.data()) + begin, end - begin};
}

// False: it is the outermost, or damaged.
bool Index::scope_at(uint32_t scope, uint32_t& name, uint32_t& parent, uint32_t& flags) const {
  uint64_t at = uint64_t{scope} * scope_size;
  if (scope == 0 || at + scope_size > scopes_.size()) return false;
  name = number(scopes_, at);
  parent = number(scopes_, at + 4);
  flags = number(scopes_, at + 8);
  return parent < scope;
}

std::optional<Index::Unit> Index::unit(uint32_t index) const {
  uint64_t at = uint64_t{index} * unit_size;
  if (at >= units_.size()) return std::nullopt;
  base::Reader r(units_, at);
  Unit unit;
  unit.offset = r.number<uint64_t>();
  unit.id = r.number<uint64_t>();
  unit.file = r.number<uint32_t>();
  unit.kind = r.number<uint8_t>();
  unit.in_types = r.number<uint8_t>() != 0;
  return unit;
}

std::optional<Index::Unit> Index::unit_of_signature(uint64_t signature) const {
  uint64_t from = 0, to = signatures_.size() / signature_size;
  while (from < to) {
    uint64_t middle = (from + to) / 2;
    if (load64(signatures_, middle * signature_size) < signature)
      from = middle + 1;
    else
      to = middle;
  }
  if (from >= signatures_.size() / signature_size || load64(signatures_, from * signature_size) != signature)
    return std::nullopt;
  return unit(number(signatures_, from * signature_size + 8));
}

// Entries in a range of postings; of the linkage ones (name is UINT32_MAX) each has its name. False: `take`
// stopped it.
bool Index::each_posting(uint64_t from, uint64_t to, uint32_t name, const Take& take) const {
  if (from > to || to > postings_.size()) return true;
  base::Reader r(postings_.first(to), from);
  while (r.at() < to) {
    auto head = r.number<uint8_t>();
    IndexEntry entry;
    entry.kind = static_cast<NameKind>(head & head_kind);
    entry.has_place = head & head_has_place;
    entry.is_inlined = head & head_is_inlined;
    entry.unit = static_cast<uint32_t>(r.uleb128());
    uint64_t die = r.uleb128();
    entry.scope = head & head_has_scope ? static_cast<uint32_t>(r.uleb128()) : 0;
    entry.name = name == UINT32_MAX ? static_cast<uint32_t>(r.uleb128()) : name;
    std::optional<Unit> in = unit(entry.unit);
    if (!r.ok() || !in || entry.kind > NameKind::name_space) return true;
    entry.file = in->file;
    entry.in_types = in->in_types;
    entry.unit_offset = in->offset;
    entry.die_offset = in->offset + die;
    if (!take(entry)) return false;
  }
  return true;
}

bool Index::each_of_name(uint32_t name, const Take& take) const {
  uint64_t at = uint64_t{name} * name_size + 8;
  if (at + name_size >= names_.size() + 4) return true;
  return each_posting(number(names_, at), number(names_, at + name_size), name, take);
}

// Whether the scopes around an entry are those of the query. Nameless and inline namespaces may be left out.
bool Index::matches(const Query& query, const IndexEntry& entry) const {
  uint32_t scope = entry.scope, name = 0, parent = 0, flags = 0;
  size_t left = query.parts.size() - 1;
  for (int i = 0; i < most_scopes; i++) {
    if (left == 0 && !query.is_whole) return true;
    bool is_scope = scope_at(scope, name, parent, flags);
    if (!is_scope) return left == 0;
    std::string_view stored = name_text(name);
    std::string_view wanted = left > 0 ? query.parts[left - 1] : std::string_view();
    if (left > 0 && (stored.empty() ? wanted == name_of_nameless(flags) : same_name(stored, wanted)))
      left--;
    else if (!stored.empty() && !(flags & scope_is_inline))
      return false;
    scope = parent;
  }
  return false;
}

void Index::find(std::string_view name, NameKinds kinds, const Take& take) const {
  Query query;
  query.is_whole = name.starts_with("::");
  if (query.is_whole) name.remove_prefix(2);
  query.parts = split_name(name);
  for (std::string_view& part : query.parts) part = base::trim(part);
  std::string_view last = query.parts.back() = without_parameters(query.parts.back());
  if (last.empty()) return;
  uint32_t hash = hash_of_name(last);
  uint64_t bucket = hash >> (32 - bucket_bits_);
  auto end = static_cast<uint32_t>(std::min<uint64_t>(number(buckets_, bucket * 4 + 4), name_count()));
  for (uint32_t i = number(buckets_, bucket * 4); i < end; i++) {
    if (number(names_, uint64_t{i} * name_size) != hash || !same_name(name_text(i), last)) continue;
    bool more = each_of_name(i, [&](const IndexEntry& entry) {
      if (!(kinds >> static_cast<unsigned>(entry.kind) & 1) || !matches(query, entry)) return true;
      return take(entry);
    });
    if (!more) return;
  }
}

std::vector<IndexEntry> Index::find(std::string_view name, NameKinds kinds, size_t most) const {
  std::vector<IndexEntry> out;
  find(name, kinds, [&](const IndexEntry& entry) { return out.push_back(entry), out.size() < most; });
  return out;
}

void Index::find_linkage(std::string_view name, const Take& take) const {
  uint64_t hash = hash_of_text(name), count = linkage_.size() / linkage_size - 1;
  auto hash_at = [&](uint64_t i) {
    return uint64_t{number(linkage_, i * linkage_size + 4)} << 32 | number(linkage_, i * linkage_size);
  };
  uint64_t from = 0, to = count;
  while (from < to) {
    uint64_t middle = (from + to) / 2;
    if (hash_at(middle) < hash)
      from = middle + 1;
    else
      to = middle;
  }
  if (from >= count || hash_at(from) != hash) return;
  uint64_t at = from * linkage_size + 8;
  each_posting(number(linkage_, at), number(linkage_, at + linkage_size), UINT32_MAX, take);
}

std::vector<IndexEntry> Index::find_linkage(std::string_view name, size_t most) const {
  std::vector<IndexEntry> out;
  find_linkage(name, [&](const IndexEntry& entry) { return out.push_back(entry), out.size() < most; });
  return out;
}

void Index::list(std::string_view pattern, NameKinds kinds, const Take& take) const {
  bool is_full = pattern.find("::") != pattern.npos;
  std::string_view last = is_full ? split_name(pattern).back() : pattern;
  for (uint32_t i = 0; i < name_count(); i++) {
    if (!base::glob_match(last, name_text(i))) continue;
    bool more = each_of_name(i, [&](const IndexEntry& entry) {
      if (!(kinds >> static_cast<unsigned>(entry.kind) & 1)) return true;
      return is_full && !base::glob_match(pattern, full_name(entry)) ? true : take(entry);
    });
    if (!more) return;
  }
}

std::string Index::full_name(const IndexEntry& entry) const {
  std::vector<std::string_view> parts = {name(entry)};
  uint32_t scope = entry.scope, name = 0, parent = 0, flags = 0;
  for (int i = 0; i < most_scopes && scope_at(scope, name, parent, flags); i++) {
    std::string_view text = name_text(name);
    parts.push_back(text.empty() ? name_of_nameless(flags) : text);
    scope = parent;
  }
  std::string out;
  for (size_t i = parts.size(); i-- > 0;) out.append(parts[i]).append(i ? "::" : "");
  return out;
}

} // namespace dwarf
