// Makes the bytes of an index: the units are read in two runs, each with tables of its own, by a thread each;
// then the second run's tables are joined to the first one's, always in this order, and the result is
// written. Where the runs are cut depends on the files alone, so the bytes do not depend on the threads.
#include "dwarf/index_format.h"
#include "dwarf/index_scan.h"

#include <algorithm>
#include <cstring>
#include <thread>
#include <tuple>

namespace dwarf {
namespace {

using namespace index_format;

constexpr uint64_t small_file = 4 << 20;  // bytes of units: not worth a second run
constexpr size_t units_at_once = 64;      // loaded, before they are let go
constexpr size_t most_entries = 1u << 30; // numbers and offsets have 32 bits
constexpr uint64_t most_bytes = 0xf0000000u;

// One thread's own view of the files.
class Files {
public:
  explicit Files(std::span<const IndexFile> files) {
    for (const IndexFile& file : files)
      infos_.push_back(file.file ? std::make_unique<DebugInfo>(*file.file)
                                 : std::make_unique<DebugInfo>(file.sections));
    DebugInfo* alternate = infos_.size() > index_alternate ? infos_[index_alternate].get() : nullptr;
    for (auto& info : infos_)
      info->set_companions({.alternate = [alternate] { return alternate; }, .split = {}});
  }
  DebugInfo& at(size_t file) { return *infos_[file]; }
  size_t size() const { return infos_.size(); }

private:
  std::vector<std::unique_ptr<DebugInfo>> infos_;
};

struct UnitPlace {
  uint32_t file = 0;
  uint32_t number = 0; // in its file
  UnitHeader header;
};

std::vector<UnitPlace> all_units(Files& files) {
  std::vector<UnitPlace> out;
  for (uint32_t file = 0; file < files.size(); file++) {
    uint32_t number = 0;
    for (const UnitHeader& header : files.at(file).units()) out.push_back({file, number++, header});
  }
  return out;
}

// The number of units in the first of two runs.
size_t half_of(const std::vector<UnitPlace>& units) {
  uint64_t total = 0, sum = 0;
  for (const UnitPlace& unit : units) total += unit.header.end - unit.header.offset;
  if (total < small_file) return units.size();
  size_t i = 0;
  while (i < units.size() && sum < total / 2) sum += units[i].header.end - units[i].header.offset, i++;
  return i;
}

// Enough for any sane file: all its texts and abbreviations several times.
uint64_t reading_allowed(Files& files) {
  uint64_t bytes = 1 << 24;
  for (size_t i = 0; i < files.size(); i++) {
    const Sections& s = files.at(i).sections();
    bytes += 4 * (s.str.size() + s.line_str.size() + s.info.size() + s.types.size()) + 64 * s.abbrev.size();
  }
  return bytes;
}

void scan_units(std::span<const IndexFile> all_files, std::span<const UnitPlace> units, uint32_t first,
                IndexPart& part) {
  Files files(all_files);
  part.left_to_read = reading_allowed(files);
  UnitScanner scanner(part);
  for (uint32_t i = 0; i < units.size(); i++) {
    DebugInfo& info = files.at(units[i].file);
    const Unit* unit = part.left_to_read > 0 ? info.unit(units[i].number) : nullptr;
    if (!unit || !scanner.scan(*unit, units[i].file, first + i)) part.damaged++;
    if (unit && unit->split_id && !units[i].header.signature)
      part.split_ids.push_back({first + i, unit->split_id});
    info.count_bytes(units[i].header.end - units[i].header.offset);
    if (info.loaded_units() >= units_at_once) info.drop_units();
  }
}

// Entries whose names are in other units, once all units were read: each unit that has some is read again.
void resolve_deferred(std::span<const IndexFile> all_files, IndexPart& part) {
  if (part.deferred.empty()) return;
  Files files(all_files);
  UnitScanner scanner(part);
  for (int round = 0; round < 4 && !part.deferred.empty(); round++) {
    std::vector<DeferredEntry> entries;
    entries.swap(part.deferred);
    std::stable_sort(entries.begin(), entries.end(), [](const DeferredEntry& a, const DeferredEntry& b) {
      return std::pair(a.file, a.target) < std::pair(b.file, b.target);
    });
    for (size_t i = 0; i < entries.size();) {
      uint32_t file = entries[i].file;
      std::optional<size_t> number;
      if (file < files.size()) number = files.at(file).unit_of(entries[i].target);
      const Unit* unit = number && part.left_to_read > 0 ? files.at(file).unit(*number) : nullptr;
      size_t first = i++;
      if (!unit) continue;
      while (i < entries.size() && entries[i].file == file && entries[i].target < unit->header->end) i++;
      scanner.resolve(*unit, file, std::span(entries).subspan(first, i - first));
      files.at(file).count_bytes(unit->header->end - unit->header->offset);
      if (files.at(file).loaded_units() >= units_at_once) files.at(file).drop_units();
    }
  }
}

// Joins what the second run found to the first.
void join(IndexPart& to, const IndexPart& from) {
  std::vector<uint32_t> names(from.names.size()), scopes(from.scopes.size());
  for (uint32_t i = 0; i < names.size(); i++) names[i] = to.names.add(from.names.text(i));
  for (uint32_t i = 1; i < scopes.size(); i++) {
    ScopeRecord record = from.scopes.at(i);
    scopes[i] = to.scopes.add({names[record.name], scopes[record.parent], record.flags});
  }
  from.entries.each([&](ListedEntry entry) {
    entry.name = names[entry.name];
    entry.scope = scopes[entry.scope];
    if (!entry.is_repeated || to.seen.insert(key_of(entry))) to.entries.add(entry);
  });
  for (LinkageEntry linkage : from.linkages) {
    linkage.name = names[linkage.name];
    linkage.scope = scopes[linkage.scope];
    to.linkages.push_back(linkage);
  }
  for (DeferredEntry deferred : from.deferred) {
    deferred.entry.name = names[deferred.entry.name];
    to.deferred.push_back(deferred);
  }
  to.split_ids.insert(to.split_ids.end(), from.split_ids.begin(), from.split_ids.end());
  to.damaged += from.damaged;
}

// Writes the tables one after the other.
class Writer {
public:
  explicit Writer(size_t size_hint) {
    bytes_.reserve(size_hint);
    bytes_.resize(header_size);
  }
  void begin(Table table) {
    bytes_.resize((bytes_.size() + 7) / 8 * 8);
    table_ = table;
    begin_ = bytes_.size();
  }
  void end() {
    set<uint64_t>(24 + 16 * size_t{table_}, begin_);
    set<uint64_t>(32 + 16 * size_t{table_}, bytes_.size() - begin_);
  }
  template<class T> void put(T value) {
    auto* from = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), from, from + sizeof value);
  }
  void put(std::string_view text) {
    auto* from = reinterpret_cast<const std::byte*>(text.data());
    bytes_.insert(bytes_.end(), from, from + text.size());
  }
  // Room for bytes that are written later, through the result.
  std::byte* leave(size_t size) {
    bytes_.resize(bytes_.size() + size);
    return bytes_.data() + bytes_.size() - size;
  }
  template<class T> void set(size_t at, T value) { std::memcpy(bytes_.data() + at, &value, sizeof value); }
  std::vector<std::byte> take() { return std::move(bytes_); }

private:
  std::vector<std::byte> bytes_;
  Table table_ = units;
  size_t begin_ = 0;
};

size_t leb_size(uint64_t number) {
  size_t size = 1;
  while (number >>= 7) size++;
  return size;
}

std::byte* put_leb(std::byte* at, uint64_t number) {
  for (; number >= 0x80; number >>= 7) *at++ = static_cast<std::byte>(number | 0x80);
  *at++ = static_cast<std::byte>(number);
  return at;
}

template<class Entry> size_t posting_size(const Entry& e) {
  return 1 + leb_size(e.unit) + leb_size(e.die) + (e.scope ? leb_size(e.scope) : 0);
}

template<class Entry> std::byte* put_posting(std::byte* at, const Entry& e) {
  *at++ = static_cast<std::byte>(e.head | (e.scope ? head_has_scope : 0));
  at = put_leb(at, e.unit);
  at = put_leb(at, e.die);
  return e.scope ? put_leb(at, e.scope) : at;
}

class IndexWriter {
public:
  IndexWriter(const IndexPart& part, const std::vector<UnitPlace>& all_units)
      : part_(part), units_(all_units), out_(part.names.size() * 40 + part.entries.size() * 8) {}

  base::Result<std::vector<std::byte>> write() {
    order_names();
    measure();
    if (total_postings_ > most_bytes || total_text_ > most_bytes || part_.entries.size() > most_entries)
      return base::Error{base::Failure::unsupported, "there are more names than an index can hold"};
    write_units();
    write_scopes();
    write_names();
    write_linkage();
    write_texts();
    write_postings();
    for (size_t i = 0; i < magic.size(); i++) out_.set<char>(i, magic[i]);
    out_.set<uint32_t>(8, Index::version);
    out_.set<uint32_t>(12, bucket_bits_);
    out_.set<uint32_t>(16, part_.damaged);
    return out_.take();
  }

private:
  void order_names();
  void measure();
  void write_units();
  void write_scopes();
  void write_names();
  void write_linkage();
  void write_texts();
  void write_postings();

  const IndexPart& part_;
  const std::vector<UnitPlace>& units_;
  Writer out_;
  uint32_t bucket_bits_ = 1;
  std::vector<uint32_t> hashes_;   // by number of a name
  std::vector<uint32_t> order_;    // numbers of names as they will be
  std::vector<uint32_t> place_of_; // the other way
  std::vector<uint64_t> sizes_;    // bytes of postings, by number of a name
  std::vector<uint32_t> linkage_order_;
  uint64_t total_postings_ = 0, total_text_ = 0;
};

void IndexWriter::order_names() {
  auto count = static_cast<uint32_t>(part_.names.size());
  while (bucket_bits_ < 24 && (count >> bucket_bits_) > 4) bucket_bits_++;
  hashes_.resize(count);
  std::vector<uint32_t> begins((size_t{1} << bucket_bits_) + 1);
  for (uint32_t name = 0; name < count; name++) {
    hashes_[name] = hash_of_name(part_.names.text(name));
    begins[(hashes_[name] >> (32 - bucket_bits_)) + 1]++;
    total_text_ += part_.names.text(name).size();
  }
  for (size_t i = 1; i < begins.size(); i++) begins[i] += begins[i - 1];
  std::vector<uint32_t> at(begins.begin(), begins.end() - 1);
  order_.resize(count);
  for (uint32_t name = 0; name < count; name++) order_[at[hashes_[name] >> (32 - bucket_bits_)]++] = name;
  for (size_t i = 0; i + 1 < begins.size(); i++)
    std::sort(order_.begin() + begins[i], order_.begin() + begins[i + 1], [&](uint32_t a, uint32_t b) {
      return hashes_[a] != hashes_[b] ? hashes_[a] < hashes_[b] : part_.names.text(a) < part_.names.text(b);
    });
  place_of_.resize(count);
  for (uint32_t i = 0; i < count; i++) place_of_[order_[i]] = i;
}

void IndexWriter::measure() {
  sizes_.assign(part_.names.size(), 0);
  part_.entries.each([&](const ListedEntry& e) { sizes_[e.name] += posting_size(e); });
  for (uint64_t size : sizes_) total_postings_ += size;
  for (const LinkageEntry& e : part_.linkages)
    total_postings_ += posting_size(e) + leb_size(place_of_[e.name]);
  linkage_order_.resize(part_.linkages.size());
  for (uint32_t i = 0; i < linkage_order_.size(); i++) linkage_order_[i] = i;
  std::sort(linkage_order_.begin(), linkage_order_.end(), [&](uint32_t a, uint32_t b) {
    const LinkageEntry &x = part_.linkages[a], &y = part_.linkages[b];
    return std::tuple(x.hash, x.unit, x.die) < std::tuple(y.hash, y.unit, y.die);
  });
}

void IndexWriter::write_units() {
  std::vector<std::pair<uint64_t, uint32_t>> by_signature;
  size_t next_id = 0;
  out_.begin(units);
  for (uint32_t i = 0; i < units_.size(); i++) {
    const UnitHeader& header = units_[i].header;
    uint64_t id = header.signature;
    if (header.is_type_unit()) by_signature.push_back({id, i});
    if (next_id < part_.split_ids.size() && part_.split_ids[next_id].first == i)
      id = part_.split_ids[next_id++].second;
    out_.put(header.offset);
    out_.put(id);
    out_.put(units_[i].file);
    out_.put(header.kind);
    out_.put(static_cast<uint8_t>(header.in_types));
    out_.put(uint16_t{0});
  }
  out_.end();
  std::sort(by_signature.begin(), by_signature.end());
  out_.begin(signatures);
  for (auto [signature, unit] : by_signature) {
    out_.put(signature);
    out_.put(uint64_t{unit});
  }
  out_.end();
}

void IndexWriter::write_scopes() {
  out_.begin(scopes);
  for (uint32_t i = 0; i < part_.scopes.size(); i++) {
    const ScopeRecord& scope = part_.scopes.at(i);
    out_.put(place_of_[scope.name]);
    out_.put(scope.parent);
    out_.put(uint32_t{scope.flags});
  }
  out_.end();
}

void IndexWriter::write_names() {
  out_.begin(buckets);
  uint32_t name = 0, count = static_cast<uint32_t>(order_.size());
  for (uint32_t bucket = 0; bucket < 1u << bucket_bits_; bucket++) {
    while (name < count && hashes_[order_[name]] >> (32 - bucket_bits_) < bucket) name++;
    out_.put(name);
  }
  out_.put(count);
  out_.end();
  out_.begin(names);
  uint64_t text = 0, posting = 0;
  for (uint32_t i : order_) {
    out_.put(hashes_[i]);
    out_.put(static_cast<uint32_t>(text));
    out_.put(static_cast<uint32_t>(posting));
    text += part_.names.text(i).size();
    posting += sizes_[i];
  }
  out_.put(UINT32_MAX);
  out_.put(static_cast<uint32_t>(text));
  out_.put(static_cast<uint32_t>(posting));
  out_.end();
}

void IndexWriter::write_linkage() {
  uint64_t posting = 0;
  for (uint64_t size : sizes_) posting += size;
  out_.begin(linkage);
  for (size_t i = 0; i < linkage_order_.size(); i++) {
    const LinkageEntry& e = part_.linkages[linkage_order_[i]];
    if (i == 0 || part_.linkages[linkage_order_[i - 1]].hash != e.hash) {
      out_.put(static_cast<uint32_t>(e.hash));
      out_.put(static_cast<uint32_t>(e.hash >> 32));
      out_.put(static_cast<uint32_t>(posting));
    }
    posting += posting_size(e) + leb_size(place_of_[e.name]);
  }
  out_.put(UINT64_MAX);
  out_.put(static_cast<uint32_t>(posting));
  out_.end();
}

void IndexWriter::write_texts() {
  out_.begin(texts);
  for (uint32_t i : order_) out_.put(part_.names.text(i));
  out_.end();
}

void IndexWriter::write_postings() {
  std::vector<uint32_t> at(part_.names.size());
  uint64_t sum = 0;
  for (uint32_t i : order_) {
    at[i] = static_cast<uint32_t>(sum);
    sum += sizes_[i];
  }
  out_.begin(postings);
  std::byte* begin = out_.leave(total_postings_);
  part_.entries.each([&](const ListedEntry& e) {
    at[e.name] = static_cast<uint32_t>(put_posting(begin + at[e.name], e) - begin);
  });
  std::byte* end = begin + sum;
  for (uint32_t i : linkage_order_) {
    const LinkageEntry& e = part_.linkages[i];
    end = put_leb(put_posting(end, e), place_of_[e.name]);
  }
  out_.end();
}

} // namespace

base::Result<std::vector<std::byte>> build_index(std::span<const IndexFile> all_files, unsigned threads) {
  Files files(all_files);
  std::vector<UnitPlace> units = all_units(files);
  if (units.empty())
    return base::Error{base::Failure::nothing_matched, "there is no debug information (.debug_info)"};
  size_t half = half_of(units);
  std::span<const UnitPlace> first = std::span(units).first(half), second = std::span(units).subspan(half);
  IndexPart part, other;
  {
    auto scan_second = [&] { scan_units(all_files, second, static_cast<uint32_t>(half), other); };
    std::thread helper;
    if (threads > 1 && !second.empty()) helper = std::thread(scan_second);
    scan_units(all_files, first, 0, part);
    if (helper.joinable())
      helper.join();
    else if (!second.empty())
      scan_second();
  }
  if (!second.empty()) join(part, other);
  resolve_deferred(all_files, part);
  return IndexWriter(part, units).write();
}

} // namespace dwarf
