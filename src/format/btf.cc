// The kernel's types, see btf.h. A BTF blob is a header, a section of type records and a section of NUL-ended
// names. A record is 12 bytes (name, info, size or type) and, by its kind, some words more; its id is its
// place in the order of records, so an id is found only by walking. Both directions are kept cheap:
//
// - name → id: the name is looked for in the string section as bytes; its offset is then looked for among all
// words
//   of the type section, 64 bytes at a time, and each hit is a type only if a record starts there;
// - id → record: a mark is kept for every 16th record. Marks are made as far as the walk has ever needed to
// come,
//   which for the types people name is a small part of the whole.
//
// Everything read is checked against its section; a record that does not fit ends the walk, and types behind
// it are taken not to be there. Specification: Documentation/bpf/btf.rst of the kernel; <linux/btf.h>.
#include "format/btf.h"

#include "base/fd.h"
#include "base/text.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

namespace format {

namespace {

constexpr uint32_t record_size = 12;
constexpr uint32_t mark_step = 16;
constexpr int max_depth = 32; // typedefs of typedefs, pointers to pointers: longer chains are malformed
constexpr uint32_t max_object = 1u << 30;

// Words behind a record, by kind: a fixed number of bytes and some for each of its `count` items.
struct Tail {
  uint8_t fixed, each;
};
constexpr Tail tails[] = {
    [int(BtfKind::none)] = {0, 0},        [int(BtfKind::integer)] = {4, 0},
    [int(BtfKind::pointer)] = {0, 0},     [int(BtfKind::array)] = {12, 0},
    [int(BtfKind::structure)] = {0, 12},  [int(BtfKind::union_)] = {0, 12},
    [int(BtfKind::enumeration)] = {0, 8}, [int(BtfKind::forward)] = {0, 0},
    [int(BtfKind::typedef_)] = {0, 0},    [int(BtfKind::volatile_)] = {0, 0},
    [int(BtfKind::const_)] = {0, 0},      [int(BtfKind::restrict_)] = {0, 0},
    [int(BtfKind::function)] = {0, 0},    [int(BtfKind::prototype)] = {0, 8},
    [int(BtfKind::variable)] = {4, 0},    [int(BtfKind::section)] = {0, 12},
    [int(BtfKind::floating)] = {0, 0},    [int(BtfKind::decl_tag)] = {4, 0},
    [int(BtfKind::type_tag)] = {0, 0},    [int(BtfKind::enumeration64)] = {0, 12},
};
constexpr uint32_t kind_count = std::size(tails);

struct Header {
  uint16_t magic;
  uint8_t version;
  uint8_t flags;
  uint32_t header_size;
  uint32_t types_at, types_size; // from the end of the header
  uint32_t names_at, names_size;
};

// Whether one of 16 words is `wanted`: compared four at a time, without a branch.
constexpr uint32_t block_words = 16;
bool block_has(const std::byte* at, uint32_t wanted) {
  using Words = uint32_t __attribute__((vector_size(16)));
  Words four[block_words / 4];
  std::memcpy(four, at, sizeof four);
  auto any = (four[0] == wanted) | (four[1] == wanted) | (four[2] == wanted) | (four[3] == wanted);
  uint64_t halves[2];
  std::memcpy(halves, &any, sizeof halves);
  return (halves[0] | halves[1]) != 0;
}

uint32_t bit(BtfKind kind) { return 1u << static_cast<int>(kind); }

bool is_modifier(BtfKind kind) {
  return kind == BtfKind::typedef_ || kind == BtfKind::volatile_ || kind == BtfKind::const_ ||
         kind == BtfKind::restrict_ || kind == BtfKind::type_tag;
}

} // namespace

// A type record, decoded.
struct Record {
  BtfKind kind = BtfKind::none;
  bool flag = false;  // structures: members may be bit-fields; enumerations: signed
  uint32_t name = 0;  // offset in the names
  uint32_t count = 0; // items behind it
  uint32_t value = 0; // size in bytes, or id of the type it stands on
  uint32_t tail = 0;  // offset of what is behind it
};

struct Btf::Data {
  std::vector<std::byte> bytes; // where the file could not be mapped
  const std::byte* mapped = nullptr;
  size_t mapped_size = 0;
  const std::byte* types = nullptr;
  uint32_t types_size = 0;
  std::string_view names;

  // Record mark_step * i + 1 starts at marks[i]. The walk has come to record `next_id` at `next_at`.
  std::vector<uint32_t> marks;
  uint32_t next_id = 1, next_at = 0;

  struct Found {
    std::string name;
    uint32_t kinds, id;
    uint32_t at; // where the name stands; 0: nowhere
  };
  std::vector<Found> found; // answers given before

  ~Data() {
    if (mapped) munmap(const_cast<std::byte*>(mapped), mapped_size);
  }
  base::Status take(const std::byte* at, size_t size);
  uint32_t word(uint32_t at) const {
    uint32_t w;
    std::memcpy(&w, types + at, 4);
    return w;
  }
  std::string_view name(uint32_t at) const;
  bool step(uint32_t& at) const;
  void walk_to(uint32_t at, uint32_t id);
  uint32_t id_at(uint32_t at);
  std::optional<Record> record(uint32_t id);
  std::optional<Record> record_at(uint32_t at) const;
  std::optional<uint32_t> name_offset(std::string_view name, uint32_t from, size_t to = ~size_t{0}) const;
  uint32_t find_kinds(std::string_view name, uint32_t kinds);
  uint32_t find_named(uint32_t name, uint32_t kinds);
  uint32_t skip_modifiers(uint32_t id, type::Space* space = nullptr);
};

base::Status Btf::Data::take(const std::byte* at, size_t size) {
  Header h;
  if (size < sizeof h) return base::Error{base::Failure::runtime, "type information is cut short"};
  std::memcpy(&h, at, sizeof h);
  if (h.magic != 0xeb9f) return base::Error{base::Failure::runtime, "this is not type information (BTF)"};
  uint64_t types_begin = uint64_t{h.header_size} + h.types_at,
           names_begin = uint64_t{h.header_size} + h.names_at;
  if (h.version != 1 || h.header_size < sizeof h || types_begin % 4 != 0 ||
      types_begin + h.types_size > size || names_begin + h.names_size > size || h.names_size == 0)
    return base::Error{base::Failure::runtime, "the header of the type information is wrong"};
  types = at + types_begin;
  types_size = h.types_size / 4 * 4;
  names = {reinterpret_cast<const char*>(at + names_begin), h.names_size};
  return {};
}

std::string_view Btf::Data::name(uint32_t at) const {
  if (at >= names.size()) return {};
  std::string_view rest = names.substr(at);
  return rest.substr(0, rest.find('\0'));
}

// Moves on to the next record; false if the one at `at` is malformed or there is none.
bool Btf::Data::step(uint32_t& at) const {
  if (types_size - at < record_size) return false;
  uint32_t info = word(at + 4), kind = info >> 24 & 31;
  if (kind == 0 || kind >= kind_count) return false;
  uint32_t size = record_size + tails[kind].fixed + tails[kind].each * (info & 0xffff);
  if (size > types_size - at) return false;
  at += size;
  return true;
}

// Walks on until the marks reach the offset and the id.
void Btf::Data::walk_to(uint32_t at, uint32_t id) {
  while (next_at <= at || next_id <= id) {
    if (next_at >= types_size) return;
    uint32_t here = next_at;
    if (!step(next_at)) {
      next_at = types_size = here; // the rest is malformed: as if it were not there
      return;
    }
    if (next_id++ % mark_step == 1) marks.push_back(here);
  }
}

// Id of the record that starts at this offset; 0 if none does.
uint32_t Btf::Data::id_at(uint32_t at) {
  walk_to(at, 0);
  if (at >= next_at) return 0;
  auto mark = std::upper_bound(marks.begin(), marks.end(), at) - 1;
  uint32_t id = static_cast<uint32_t>(mark - marks.begin()) * mark_step + 1;
  uint32_t here = *mark;
  for (; here < at; id++)
    if (!step(here)) return 0;
  return here == at ? id : 0;
}

std::optional<Record> Btf::Data::record_at(uint32_t at) const {
  uint32_t info = word(at + 4);
  return Record{.kind = static_cast<BtfKind>(info >> 24 & 31),
                .flag = (info >> 31) != 0,
                .name = word(at),
                .count = info & 0xffff,
                .value = word(at + 8),
                .tail = at + record_size};
}

std::optional<Record> Btf::Data::record(uint32_t id) {
  if (id == 0) return std::nullopt;
  walk_to(0, id);
  if (id >= next_id) return std::nullopt;
  uint32_t at = marks[(id - 1) / mark_step];
  for (uint32_t left = (id - 1) % mark_step; left > 0; left--)
    if (!step(at)) return std::nullopt;
  return record_at(at);
}

// Where the whole name stands in the names, looking from `from` to `to`.
std::optional<uint32_t> Btf::Data::name_offset(std::string_view wanted, uint32_t from, size_t to) const {
  to = std::min(to, names.size());
  if (wanted.empty() || wanted.find('\0') != wanted.npos || from >= to) return std::nullopt;
  std::string needle;
  needle.reserve(wanted.size() + 2);
  needle.append(1, '\0').append(wanted).append(1, '\0');
  const void* hit = memmem(names.data() + from, to - from, needle.data(), needle.size());
  if (!hit) return std::nullopt;
  return static_cast<uint32_t>(static_cast<const char*>(hit) - names.data() + 1);
}

// Id of the first type whose name stands at this offset and which is of one of these kinds; 0 if none is.
uint32_t Btf::Data::find_named(uint32_t wanted, uint32_t kinds) {
  const uint32_t words = types_size / 4;
  for (uint32_t w = 0; w < words; w += block_words) {
    uint32_t n = std::min(block_words, words - w);
    if (n == block_words && !block_has(types + w * 4, wanted)) continue;
    for (uint32_t i = 0; i < n; i++) {
      uint32_t at = (w + i) * 4;
      if (word(at) != wanted || types_size - at < record_size) continue;
      if (!(kinds >> (word(at + 4) >> 24 & 31) & 1)) continue;
      if (uint32_t id = id_at(at)) return id;
    }
  }
  return 0;
}

uint32_t Btf::Data::find_kinds(std::string_view wanted, uint32_t kinds) {
  for (const Found& f : found)
    if (f.kinds == kinds && f.name == wanted) return f.id;
  uint32_t id = 0;
  std::optional<uint32_t> at;
  // Names that begin alike often stand together: what is near one that was found needs no search of all.
  constexpr uint32_t near = 32 << 10, alike = 8;
  for (const Found& f : found)
    if (!id && f.at && f.name.size() > alike && wanted.starts_with(f.name.substr(0, alike)))
      if ((at = name_offset(wanted, f.at - std::min(f.at, near), f.at + near))) id = find_named(*at, kinds);
  // Names are normally there once; only one that is not of the wanted kind costs another search.
  for (uint32_t from = 0; !id && (at = name_offset(wanted, from)); from = *at) id = find_named(*at, kinds);
  found.push_back({std::string(wanted), kinds, id, at.value_or(0)});
  return id;
}

// What a type stands for behind typedefs, const, … . `space` is what a tag says of the memory: the user's, or that a pointer
// is the same for all CPUs and points to none of their copies.
uint32_t Btf::Data::skip_modifiers(uint32_t id, type::Space* space) {
  for (int depth = 0; depth < max_depth; depth++) {
    auto r = record(id);
    if (!r || !is_modifier(r->kind)) return id;
    if (space && r->kind == BtfKind::type_tag && name(r->name) == "user") *space = type::Space::user;
    if (space && r->kind == BtfKind::type_tag && name(r->name) == "percpu") *space = type::Space::none;
    id = r->value;
  }
  return 0;
}

// ------------------------------------------------------------------------------------------------ opening

Btf::Btf() : data_(std::make_unique<Data>()) {}
Btf::~Btf() = default;

base::Result<std::unique_ptr<Btf>> Btf::open(const std::string& path) {
  base::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return base::errno_error("cannot open " + path, errno);
  struct stat info {};
  if (fstat(fd.get(), &info) != 0) return base::errno_error("cannot read " + path, errno);
  auto size = static_cast<size_t>(info.st_size);
  if (size == 0) return base::Error{base::Failure::runtime, path + " is empty"};
  // Linux 6.16 and later map the kernel's own pages, which costs no memory; others have to be read.
  std::unique_ptr<Btf> btf(new Btf);
  Data& d = *btf->data_;
  if (void* at = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0); at != MAP_FAILED) {
    d.mapped = static_cast<const std::byte*>(at);
    d.mapped_size = size;
    if (auto status = d.take(d.mapped, size); !status.ok()) return std::move(status.error()).with(path);
    return btf;
  }
  std::vector<std::byte> bytes(size);
  size_t got = 0;
  while (got < size) {
    ssize_t n = ::read(fd.get(), bytes.data() + got, size - got);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return base::errno_error("cannot read " + path, errno);
    if (n == 0) break;
    got += static_cast<size_t>(n);
  }
  bytes.resize(got);
  auto parsed = parse(std::move(bytes));
  if (!parsed.ok()) return std::move(parsed.error()).with(path);
  return parsed;
}

base::Result<std::unique_ptr<Btf>> Btf::parse(std::vector<std::byte> bytes) {
  std::unique_ptr<Btf> btf(new Btf);
  Data& d = *btf->data_;
  d.bytes = std::move(bytes);
  ACU_CHECK(d.take(d.bytes.data(), d.bytes.size()));
  return btf;
}

base::Result<std::unique_ptr<Btf>> Btf::open_split(const std::string& path, const Btf& kernel) {
  ACU_TRY(std::string bytes, base::read_file(path));
  auto parsed = parse_split(std::as_bytes(std::span(bytes)), kernel);
  if (!parsed.ok()) return std::move(parsed.error()).with(path);
  return parsed;
}

// One after the other, the sections of both are those of one file.
base::Result<std::unique_ptr<Btf>> Btf::parse_split(std::span<const std::byte> bytes, const Btf& kernel) {
  Data part;
  ACU_CHECK(part.take(bytes.data(), bytes.size()));
  const Data& base = *kernel.data_;
  if (uint64_t{base.types_size} + part.types_size + base.names.size() + part.names.size() > max_object)
    return base::Error{base::Failure::runtime, "the type information is too large"};
  Header h{.magic = 0xeb9f,
           .version = 1,
           .flags = 0,
           .header_size = sizeof h,
           .types_at = 0,
           .types_size = base.types_size + part.types_size,
           .names_at = base.types_size + part.types_size,
           .names_size = static_cast<uint32_t>(base.names.size() + part.names.size())};
  std::vector<std::byte> all(sizeof h + h.types_size + h.names_size);
  std::byte* to = all.data();
  auto add = [&](const void* from, size_t size) {
    std::memcpy(to, from, size);
    to += size;
  };
  add(&h, sizeof h);
  add(base.types, base.types_size);
  add(part.types, part.types_size);
  add(base.names.data(), base.names.size());
  add(part.names.data(), part.names.size());
  return parse(std::move(all));
}

// ------------------------------------------------------------------------------------------------ finding

uint32_t Btf::find(std::string_view name, BtfKind kind) { return data_->find_kinds(name, bit(kind)); }

uint32_t Btf::find(std::string_view name, std::initializer_list<BtfKind> kinds) {
  uint32_t set = 0;
  for (BtfKind kind : kinds) set |= bit(kind);
  return data_->find_kinds(name, set);
}

bool Btf::has_name(std::string_view name) { return data_->name_offset(name, 0).has_value(); }

bool Btf::is_tagged(uint32_t id, std::string_view tag) {
  auto wanted = data_->name_offset(tag, 0);
  if (!wanted || !id) return false;
  for (uint32_t at = 0; at + record_size <= data_->types_size; at += 4) {
    if (data_->word(at) != *wanted || data_->word(at + 8) != id) continue;
    if ((data_->word(at + 4) >> 24 & 31) == static_cast<uint32_t>(BtfKind::decl_tag) && data_->id_at(at)) return true;
  }
  return false;
}

std::vector<std::string_view> Btf::names(std::string_view prefix) {
  std::vector<std::string_view> out;
  std::string needle = std::string(1, '\0') + std::string(prefix);
  std::string_view all = data_->names;
  for (size_t at = 0; at < all.size();) {
    const void* hit = memmem(all.data() + at, all.size() - at, needle.data(), needle.size());
    if (!hit) break;
    at = static_cast<size_t>(static_cast<const char*>(hit) - all.data()) + 1;
    out.push_back(data_->name(static_cast<uint32_t>(at)));
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<Btf::Parameter> Btf::parameters(uint32_t id) {
  Data& d = *data_;
  std::optional<Record> r;
  for (int depth = 0;; depth++) {
    r = d.record(id);
    if (!r || depth > max_depth) return {};
    if (r->kind == BtfKind::prototype) break;
    if (!is_modifier(r->kind) && r->kind != BtfKind::pointer && r->kind != BtfKind::function) return {};
    id = r->value;
  }
  std::vector<Parameter> out;
  for (uint32_t i = 0; i < r->count; i++)
    out.push_back({d.name(d.word(r->tail + i * 8)), d.word(r->tail + i * 8 + 4)});
  return out;
}

std::optional<std::pair<uint32_t, int64_t>> Btf::find_enumerator(std::string_view name) {
  Data& d = *data_;
  d.walk_to(d.types_size, 0); // enumerators are behind their record: all records have to be visited
  for (auto wanted = d.name_offset(name, 0); wanted; wanted = d.name_offset(name, *wanted)) {
    uint32_t id = 1;
    for (uint32_t at = 0; at < d.types_size; id++) {
      Record r = *d.record_at(at);
      if (r.kind == BtfKind::enumeration || r.kind == BtfKind::enumeration64) {
        uint32_t each = tails[static_cast<int>(r.kind)].each;
        for (uint32_t i = 0; i < r.count; i++)
          if (d.word(r.tail + i * each) == *wanted) return std::pair{id, enumerators(id)[i].value};
      }
      if (!d.step(at)) break;
    }
  }
  return std::nullopt;
}

// --------------------------------------------------------------------------------------------------- raw

std::optional<Btf::Raw> Btf::raw(uint32_t id) {
  Data& d = *data_;
  auto r = d.record(id);
  if (!r) return std::nullopt;
  Raw out = {r->kind, r->flag, d.name(r->name), r->value, 0};
  if (r->kind == BtfKind::array) out.type = d.word(r->tail), out.count = d.word(r->tail + 8);
  return out;
}

std::vector<Btf::RawMember> Btf::raw_members(uint32_t id) {
  Data& d = *data_;
  auto r = d.record(id);
  std::vector<RawMember> out;
  if (!r || (r->kind != BtfKind::structure && r->kind != BtfKind::union_)) return out;
  for (uint32_t i = 0; i < r->count; i++) {
    uint32_t at = r->tail + i * 12;
    out.push_back({d.name(d.word(at)), d.word(at + 4), r->flag ? d.word(at + 8) >> 24 : 0});
  }
  return out;
}

std::vector<uint32_t> Btf::all(BtfKind kind) {
  Data& d = *data_;
  d.walk_to(d.types_size, 0);
  std::vector<uint32_t> out;
  uint32_t id = 1;
  for (uint32_t at = 0; at < d.types_size; id++) {
    Record r = *d.record_at(at);
    if (r.kind == kind && r.name) out.push_back(id);
    if (!d.step(at)) break;
  }
  return out;
}

// ------------------------------------------------------------------------------------------------ types

namespace {

// Numbers of other widths than a register's (__int128, __float128) are kept as their bytes.
const type::Type* number_type(type::Table& table, uint32_t size, bool is_signed) {
  if (size == 1 || size == 2 || size == 4 || size == 8) return table.integer(size, is_signed);
  if (size == 0 || size > 64) return nullptr;
  return table.array(table.integer(1, false), size);
}

} // namespace

const type::Type* Btf::integer_type(type::Table& table, uint32_t id) {
  Data& d = *data_;
  Record r = *d.record(id);
  uint32_t encoding = d.word(r.tail) >> 24 & 15;
  std::string_view name = d.name(r.name);
  if (r.value == 1 && (encoding & 4 || name == "_Bool" || name == "bool")) return table.boolean();
  if (r.value == 1 && (encoding & 2 || name == "char")) return table.character();
  return number_type(table, r.value, encoding & 1);
}

const type::Type* Btf::array_type(type::Table& table, uint32_t id, type::Space space, int depth) {
  Data& d = *data_;
  Record r = *d.record(id);
  uint32_t count = d.word(r.tail + 8);
  const type::Type* element = convert(table, d.word(r.tail), space, depth + 1);
  if (!element || uint64_t{element->size} * count > max_object) return nullptr;
  if (element->is_char && count > 0) return table.string(count);
  return table.array(element, count);
}

// nullptr: void, a function, or something malformed.
const type::Type* Btf::convert(type::Table& table, uint32_t id, type::Space space, int depth) {
  Data& d = *data_;
  if (depth > max_depth) return nullptr;
  id = d.skip_modifiers(id);
  auto r = d.record(id);
  if (!r) return nullptr;
  switch (r->kind) {
  case BtfKind::integer: return integer_type(table, id);
  case BtfKind::floating: return r->value == 4 || r->value == 8 ? table.floating(r->value) : number_type(table, r->value, false);
  case BtfKind::pointer: {
    type::Space tagged = space;
    uint32_t to = d.skip_modifiers(r->value, &tagged);
    return table.pointer(convert(table, to, space, depth + 1), tagged);
  }
  case BtfKind::array: return array_type(table, id, space, depth);
  case BtfKind::structure:
  case BtfKind::union_:
    if (r->value > max_object) return nullptr;
    return table.structure(d.name(r->name), r->kind == BtfKind::union_, r->value, this, id);
  case BtfKind::enumeration:
  case BtfKind::enumeration64:
    if (r->value != 1 && r->value != 2 && r->value != 4 && r->value != 8) return nullptr;
    return table.enumeration(d.name(r->name), r->value, r->flag, this, id);
  default: return nullptr;
  }
}

const type::Type* Btf::type(type::Table& table, uint32_t id, type::Space space) {
  return convert(table, id, space, 0);
}

// A bit-field as the storage unit it is read from: one of its declared type at a multiple of that type's
// size, or, in packed structures where it would cross two of those, 8 bytes from the byte it begins in.
static type::Field place_bits(type::Table& table, type::Field field, uint32_t bit_at, uint32_t bits) {
  uint32_t unit = field.type->size * 8;
  field.bit_size = static_cast<uint16_t>(bits);
  field.offset = bit_at / unit * field.type->size;
  field.bit_offset = static_cast<uint16_t>(bit_at % unit);
  if (field.bit_offset + bits > unit) {
    field.type = table.integer(8, field.type->is_signed);
    field.offset = bit_at / 8;
    field.bit_offset = bit_at % 8;
  }
  return field;
}

// Member `index` of a structure; none if it has no value, or would reach out of its structure.
std::optional<type::Field> Btf::decode_member(type::Table& table, uint32_t id, uint32_t index) {
  Data& d = *data_;
  Record r = *d.record(id);
  uint32_t at = r.tail + index * 12, where = d.word(at + 8), bits = r.flag ? where >> 24 : 0;
  if (r.flag) where &= 0xffffff;
  uint32_t of = d.skip_modifiers(d.word(at + 4));
  type::Field field{.name = d.name(d.word(at)), .type = type(table, of), .offset = where / 8};
  if (!field.type || (uint64_t{where} + 7) / 8 + (bits ? 0 : field.type->size) > r.value) return std::nullopt;
  if (auto integer = d.record(of); integer && integer->kind == BtfKind::integer && !bits) {
    uint32_t data = d.word(integer->tail), declared = data & 0xff; // the older way to write bit-fields
    if (where % 8 != 0 ||
        (declared != 0 && declared < field.type->size * 8 && field.type != table.boolean())) {
      bits = declared;
      where += data >> 16 & 0xff;
    }
  }
  if (!bits) return field;
  if (!field.type->is_integer() || bits > field.type->size * 8) return std::nullopt;
  return place_bits(table, field, where, bits);
}

std::vector<type::Field> Btf::fields(type::Table& table, uint32_t id) {
  auto r = data_->record(id);
  if (!r || (r->kind != BtfKind::structure && r->kind != BtfKind::union_)) return {};
  std::vector<type::Field> out;
  out.reserve(r->count);
  for (uint32_t i = 0; i < r->count; i++)
    if (auto field = decode_member(table, id, i)) out.push_back(*field);
  return out;
}

std::optional<type::Field> Btf::field(type::Table& table, uint32_t id, std::string_view name) {
  auto found = member(table, id, name);
  return found ? std::optional(found->field) : std::nullopt;
}

uint32_t Btf::pointee(uint32_t id) {
  auto r = data_->record(data_->skip_modifiers(id));
  return r && r->kind == BtfKind::pointer ? data_->skip_modifiers(r->value) : 0;
}

std::optional<Btf::Member> Btf::member(type::Table& table, uint32_t id, std::string_view name, int depth) {
  Data& d = *data_;
  id = d.skip_modifiers(id);
  auto r = d.record(id);
  if (!r || depth > max_depth || (r->kind != BtfKind::structure && r->kind != BtfKind::union_))
    return std::nullopt;
  for (uint32_t i = 0; i < r->count; i++) {
    uint32_t at = r->tail + i * 12, of = d.word(at + 4);
    std::string_view here = d.name(d.word(at));
    if (here == name && !name.empty()) {
      auto field = decode_member(table, id, i);
      return field ? std::optional(Member{*field, of}) : std::nullopt;
    }
    if (!here.empty()) continue;
    auto inner = member(table, of, name, depth + 1);
    if (!inner) continue;
    uint32_t where = d.word(at + 8);
    inner->field.offset += (r->flag ? where & 0xffffff : where) / 8;
    return inner;
  }
  return std::nullopt;
}

std::vector<type::Enumerator> Btf::enumerators(uint32_t id) {
  Data& d = *data_;
  auto r = d.record(id);
  std::vector<type::Enumerator> out;
  if (!r) return out;
  for (uint32_t i = 0; i < r->count; i++) {
    if (r->kind == BtfKind::enumeration) {
      uint32_t at = r->tail + i * 8, value = d.word(at + 4);
      out.push_back({d.name(d.word(at)), r->flag ? int64_t{static_cast<int32_t>(value)} : int64_t{value}});
    } else if (r->kind == BtfKind::enumeration64) {
      uint32_t at = r->tail + i * 12;
      uint64_t value = d.word(at + 4) | uint64_t{d.word(at + 8)} << 32;
      out.push_back({d.name(d.word(at)), static_cast<int64_t>(value)});
    }
  }
  return out;
}

} // namespace format
