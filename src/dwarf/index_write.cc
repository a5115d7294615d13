#include "dwarf/index_write.h"

#include <algorithm>
#include <cstring>
#include <tuple>

namespace dwarf {
namespace {

using namespace index_format;

constexpr size_t most_entries = 1u << 30;
constexpr uint64_t most_bytes = 0xf0000000u; // of texts, and of postings

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

base::Result<std::vector<std::byte>> write_index(const IndexPart& part, const std::vector<UnitPlace>& units) {
  return IndexWriter(part, units).write();
}

} // namespace dwarf
