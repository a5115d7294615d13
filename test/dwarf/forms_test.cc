// Forms, abbreviations, headers of units and lists of ranges, as bytes written here; damaged and cut files.
#include "dwarf/compiled.h"
#include "dwarf/look_everywhere.h"

#include <gtest/gtest.h>

namespace dwarf {
namespace {

using Bytes = std::vector<std::byte>;

// Little-endian numbers one after another.
class Writer {
public:
  Writer& u8(uint64_t n) { return number(n, 1); }
  Writer& u16(uint64_t n) { return number(n, 2); }
  Writer& u32(uint64_t n) { return number(n, 4); }
  Writer& u64(uint64_t n) { return number(n, 8); }
  Writer& text(std::string_view s) {
    for (char c : s) u8(static_cast<uint8_t>(c));
    return u8(0);
  }
  Writer& list(std::initializer_list<uint8_t> numbers) {
    for (uint8_t n : numbers) u8(n);
    return *this;
  }
  Bytes bytes;

private:
  Writer& number(uint64_t n, int size) {
    for (int i = 0; i < size; i++) bytes.push_back(static_cast<std::byte>(n >> (8 * i)));
    return *this;
  }
};

TEST(Forms, Leb128) {
  Bytes bytes = Writer().list({0x02, 0xff, 0x00, 0x80, 0x01, 0x7f, 0x80, 0x7f, 0xff, 0x00}).bytes;
  base::Reader r(bytes);
  EXPECT_EQ(r.uleb128(), 2u);
  EXPECT_EQ(r.uleb128(), 127u);
  EXPECT_EQ(r.uleb128(), 128u);
  EXPECT_EQ(r.sleb128(), -1);
  EXPECT_EQ(r.sleb128(), -128);
  EXPECT_EQ(r.sleb128(), 127);
  EXPECT_TRUE(r.ok());
  EXPECT_EQ(r.uleb128(), 0u);
  EXPECT_FALSE(r.ok());
  Bytes largest = Writer().list({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}).bytes;
  EXPECT_EQ(base::Reader(largest).uleb128(), UINT64_MAX);
  Bytes longer(300, std::byte{0x80}); // never ends
  base::Reader endless(longer);
  EXPECT_EQ(endless.uleb128(), 0u);
  EXPECT_FALSE(endless.ok());
  Bytes smallest = Writer().list({0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f}).bytes;
  EXPECT_EQ(base::Reader(smallest).sleb128(), INT64_MIN);
}

struct FormCase {
  uint16_t form;
  Bytes bytes;
  uint64_t number;
  size_t block = 0;
};

// Each form is read to its end, skipped to the same end, and refused when a byte is missing.
TEST(Forms, ReadAndSkipped) {
  Bytes five = Writer().list({1, 2, 3, 4, 5}).bytes;
  auto sized = [&](Writer w) {
    w.bytes.insert(w.bytes.end(), five.begin(), five.end());
    return w.bytes;
  };
  const FormCase cases[] = {
      {DW_FORM_addr, Writer().u64(0x1122334455667788).bytes, 0x1122334455667788},
      {DW_FORM_block1, sized(Writer().u8(5)), 5, 5},
      {DW_FORM_block2, sized(Writer().u16(5)), 5, 5},
      {DW_FORM_block4, sized(Writer().u32(5)), 5, 5},
      {DW_FORM_block, sized(Writer().u8(5)), 5, 5},
      {DW_FORM_exprloc, sized(Writer().list({0x85, 0x00})), 5, 5},
      {DW_FORM_data1, Writer().u8(0xfe).bytes, 0xfe},
      {DW_FORM_data2, Writer().u16(0xfffe).bytes, 0xfffe},
      {DW_FORM_data4, Writer().u32(0xfffffffe).bytes, 0xfffffffe},
      {DW_FORM_data8, Writer().u64(77).bytes, 77},
      {DW_FORM_data16, Writer().u64(1).u64(2).bytes, 16, 16},
      {DW_FORM_string, Writer().text("ab").bytes, 0, 2},
      {DW_FORM_flag, Writer().u8(1).bytes, 1},
      {DW_FORM_sdata, Writer().u8(0x7f).bytes, UINT64_MAX},
      {DW_FORM_udata, Writer().list({0x80, 0x01}).bytes, 128},
      {DW_FORM_strp, Writer().u32(9).bytes, 9},
      {DW_FORM_line_strp, Writer().u32(9).bytes, 9},
      {DW_FORM_sec_offset, Writer().u32(9).bytes, 9},
      {DW_FORM_ref_addr, Writer().u32(9).bytes, 9},
      {DW_FORM_ref1, Writer().u8(9).bytes, 9},
      {DW_FORM_ref2, Writer().u16(9).bytes, 9},
      {DW_FORM_ref4, Writer().u32(9).bytes, 9},
      {DW_FORM_ref8, Writer().u64(9).bytes, 9},
      {DW_FORM_ref_udata, Writer().u8(9).bytes, 9},
      {DW_FORM_ref_sig8, Writer().u64(9).bytes, 9},
      {DW_FORM_ref_sup4, Writer().u32(9).bytes, 9},
      {DW_FORM_ref_sup8, Writer().u64(9).bytes, 9},
      {DW_FORM_strp_sup, Writer().u32(9).bytes, 9},
      {DW_FORM_strx, Writer().u8(9).bytes, 9},
      {DW_FORM_strx1, Writer().u8(9).bytes, 9},
      {DW_FORM_strx2, Writer().u16(9).bytes, 9},
      {DW_FORM_strx3, Writer().list({9, 0, 1}).bytes, 0x10009},
      {DW_FORM_strx4, Writer().u32(9).bytes, 9},
      {DW_FORM_addrx, Writer().u8(9).bytes, 9},
      {DW_FORM_addrx1, Writer().u8(9).bytes, 9},
      {DW_FORM_addrx2, Writer().u16(9).bytes, 9},
      {DW_FORM_addrx3, Writer().list({9, 0, 1}).bytes, 0x10009},
      {DW_FORM_addrx4, Writer().u32(9).bytes, 9},
      {DW_FORM_loclistx, Writer().u8(9).bytes, 9},
      {DW_FORM_rnglistx, Writer().u8(9).bytes, 9},
      {DW_FORM_GNU_addr_index, Writer().u8(9).bytes, 9},
      {DW_FORM_GNU_str_index, Writer().u8(9).bytes, 9},
      {DW_FORM_GNU_ref_alt, Writer().u32(9).bytes, 9},
      {DW_FORM_GNU_strp_alt, Writer().u32(9).bytes, 9},
      {DW_FORM_LLVM_addrx_offset, Writer().u8(9).u32(4).bytes, 9, 4},
      {DW_FORM_indirect, Writer().u8(DW_FORM_data2).u16(9).bytes, 9},
  };
  Encoding encoding{5, 8, 4};
  for (const FormCase& c : cases) {
    SCOPED_TRACE(c.form);
    base::Reader r(c.bytes);
    Attribute a;
    ASSERT_TRUE(read_form(r, encoding, {DW_AT_name, c.form, 0}, a));
    EXPECT_EQ(a.number, c.number);
    EXPECT_EQ(a.block.size(), c.block);
    EXPECT_EQ(r.at(), c.bytes.size());
    EXPECT_NE(a.form, DW_FORM_indirect);
    EXPECT_EQ(skip_form(c.bytes.data(), c.bytes.data() + c.bytes.size(), encoding, c.form), &*c.bytes.end());
    base::Reader cut(base::ByteSpan(c.bytes).first(c.bytes.size() - 1));
    EXPECT_FALSE(read_form(cut, encoding, {DW_AT_name, c.form, 0}, a));
    EXPECT_EQ(skip_form(c.bytes.data(), c.bytes.data() + c.bytes.size() - 1, encoding, c.form), nullptr);
  }
}

TEST(Forms, WithoutBytes) {
  Attribute a;
  base::Reader r({});
  ASSERT_TRUE(read_form(r, {5, 8, 4}, {DW_AT_external, DW_FORM_flag_present, 0}, a));
  EXPECT_EQ(a.number, 1u);
  ASSERT_TRUE(read_form(r, {5, 8, 4}, {DW_AT_decl_file, DW_FORM_implicit_const, -3}, a));
  EXPECT_EQ(signed_of(a), -3);
}

TEST(Forms, SizesFollowTheUnit) {
  Bytes bytes = Writer().u64(9).u64(1).bytes;
  auto size = [&](Encoding e, uint16_t form) {
    return skip_form(bytes.data(), bytes.data() + bytes.size(), e, form) - bytes.data();
  };
  EXPECT_EQ(size({5, 8, 8}, DW_FORM_strp), 8);
  EXPECT_EQ(size({5, 4, 4}, DW_FORM_addr), 4);
  EXPECT_EQ(size({2, 8, 4}, DW_FORM_ref_addr), 8); // as large as an address until version 3
  EXPECT_EQ(size({3, 8, 4}, DW_FORM_ref_addr), 4);
  EXPECT_EQ(skip_form(bytes.data(), bytes.data() + bytes.size(), {5, 8, 4}, 0x7f), nullptr);
}

TEST(Forms, IndirectThroughItselfIsRefused) {
  Bytes bytes = Writer().u8(DW_FORM_indirect).u8(DW_FORM_data1).u8(1).bytes;
  base::Reader r(bytes);
  Attribute a;
  EXPECT_FALSE(read_form(r, {5, 8, 4}, {DW_AT_name, DW_FORM_indirect, 0}, a));
}

TEST(Forms, SignedConstants) {
  EXPECT_EQ(signed_of({DW_AT_const_value, DW_FORM_data1, 0xff}), -1);
  EXPECT_EQ(signed_of({DW_AT_const_value, DW_FORM_data2, 0x7fff}), 0x7fff);
  EXPECT_EQ(signed_of({DW_AT_const_value, DW_FORM_data4, 0x80000000}), INT32_MIN);
  EXPECT_EQ(unsigned_of({DW_AT_const_value, DW_FORM_data1, 0xff}), 0xffu);
  EXPECT_EQ(unsigned_of({DW_AT_const_value, DW_FORM_strp, 1}), std::nullopt);
}

TEST(Abbreviations, DenseAndSparseCodes) {
  Bytes bytes =
      Writer()
          .list({1, DW_TAG_compile_unit, 1, DW_AT_name, DW_FORM_strp, DW_AT_low_pc, DW_FORM_addr, 0, 0})
          .list({2, DW_TAG_base_type, 0, DW_AT_byte_size, DW_FORM_data1, 0, 0})
          .list({9, DW_TAG_member, 0, DW_AT_sibling, DW_FORM_ref4, DW_AT_name, DW_FORM_string, 0, 0})
          .list({5, DW_TAG_label, 0, DW_AT_decl_file, DW_FORM_implicit_const, 0x7e, 0, 0, 0})
          .bytes;
  auto table = Abbreviations::read(bytes, 0);
  ASSERT_EQ(table.all().size(), 4u);
  const Abbreviation* unit = table.find(1);
  ASSERT_NE(unit, nullptr);
  EXPECT_TRUE(unit->has_children);
  EXPECT_TRUE(unit->has_fixed_size);
  EXPECT_EQ(unit->offsets, 1);
  EXPECT_EQ(unit->addresses, 1);
  EXPECT_EQ(table.specs(*unit).size(), 2u);
  ASSERT_NE(table.find(9), nullptr);
  EXPECT_TRUE(table.find(9)->has_sibling);
  EXPECT_FALSE(table.find(9)->has_fixed_size);
  ASSERT_NE(table.find(5), nullptr);
  EXPECT_EQ(table.specs(*table.find(5))[0].constant, -2);
  for (uint64_t none : {uint64_t{0}, uint64_t{3}, uint64_t{6}, uint64_t{10}, UINT64_MAX})
    EXPECT_EQ(table.find(none), nullptr) << none;
  EXPECT_EQ(Abbreviations::read(bytes, 0, 1).all().size(), 1u);
  for (size_t size = 0; size < bytes.size(); size++)
    EXPECT_LE(Abbreviations::read(base::ByteSpan(bytes).first(size), 0).all().size(), 4u);
  EXPECT_TRUE(Abbreviations::read(bytes, 1000).all().empty());
}

TEST(UnitHeaders, AllVersions) {
  Bytes v4 = Writer().u32(9).u16(4).u32(0x30).u8(8).list({1, 0}).bytes;
  auto h = read_unit_header(v4, 0, false, false);
  ASSERT_TRUE(h);
  EXPECT_EQ(h->end, 13u);
  EXPECT_EQ(h->first_die, 11u);
  EXPECT_EQ(h->abbrev_offset, 0x30u);
  EXPECT_EQ(h->kind, DW_UT_compile);
  Bytes v5 =
      Writer().u32(21).u16(5).u8(DW_UT_skeleton).u8(8).u32(0x30).u64(0xabcdef).list({1, 0, 0, 0, 0}).bytes;
  h = read_unit_header(v5, 0, false, false);
  ASSERT_TRUE(h);
  EXPECT_EQ(h->signature, 0xabcdefu);
  EXPECT_EQ(h->first_die, 20u);
  Bytes wide = Writer().u32(0xffffffff).u64(29).u16(4).u64(0x30).u8(8).u64(77).u64(25).u8(1).u8(0).bytes;
  h = read_unit_header(wide, 0, true, false);
  ASSERT_TRUE(h);
  EXPECT_EQ(h->encoding.offset_size, 8);
  EXPECT_EQ(h->signature, 77u);
  EXPECT_EQ(h->type_offset, 25u);
  EXPECT_TRUE(h->is_type_unit());
  Bytes future = Writer().u32(4).u16(6).u16(0).bytes;
  h = read_unit_header(future, 0, false, false);
  ASSERT_TRUE(h); // to be passed over
  EXPECT_EQ(h->encoding.version, 0);
  EXPECT_EQ(h->end, 8u);
  for (size_t size = 0; size < v5.size(); size++)
    EXPECT_FALSE(read_unit_header(base::ByteSpan(v5).first(size), 0, false, false)) << size;
}

// Every kind of entry of .debug_rnglists, one unit with its addresses.
TEST(Ranges, EveryKindOfEntry) {
  Writer info, abbrev, lists, addr;
  abbrev.list({1, DW_TAG_compile_unit, 0, DW_AT_low_pc, DW_FORM_addrx, DW_AT_addr_base, DW_FORM_sec_offset,
               DW_AT_rnglists_base, DW_FORM_sec_offset, DW_AT_ranges, DW_FORM_rnglistx, 0, 0, 0});
  // DW_AT_addr_base is 0x73 and DW_AT_rnglists_base 0x74: one byte each.
  info.u32(8 + 10).u16(5).u8(DW_UT_compile).u8(8).u32(0).list({1, 0}).u32(8).u32(12).u8(0);
  info.bytes[0] = static_cast<std::byte>(info.bytes.size() - 4);
  addr.u32(20).u16(5).u8(8).u8(0).u64(0x1000).u64(0x2000);
  lists.u32(0).u16(5).u8(8).u8(0).u32(1).u32(4);
  lists.list({DW_RLE_offset_pair, 0x10, 0x20});
  lists.list({DW_RLE_base_addressx, 1, DW_RLE_offset_pair, 0x10, 0x20});
  lists.list({DW_RLE_startx_length, 0, 0x08});
  lists.list({DW_RLE_startx_endx, 0, 1});
  lists.u8(DW_RLE_base_address).u64(0x5000).list({DW_RLE_offset_pair, 0, 1});
  lists.u8(DW_RLE_start_end).u64(0x6000).u64(0x6010);
  lists.u8(DW_RLE_start_length).u64(0x7000).u8(0x20);
  lists.u8(DW_RLE_start_length).u64(0).u8(0x20); // dropped by the linker
  lists.u8(DW_RLE_start_end).u64(0x10).u64(0x10);
  lists.u8(DW_RLE_end_of_list).u8(DW_RLE_start_length).u64(0x9000).u8(1);
  Sections sections;
  sections.info = info.bytes;
  sections.abbrev = abbrev.bytes;
  sections.rnglists = lists.bytes;
  sections.addr = addr.bytes;
  DebugInfo debug(sections);
  const Unit* unit = debug.unit(0);
  ASSERT_NE(unit, nullptr);
  EXPECT_EQ(unit->low_pc, 0x1000u);
  std::vector<std::pair<uint64_t, uint64_t>> found,
      expected = {{0x1010, 0x1020}, {0x2010, 0x2020}, {0x1000, 0x1008}, {0x1000, 0x2000},
                  {0x5000, 0x5001}, {0x6000, 0x6010}, {0x7000, 0x7020}};
  for (AddressRange range : ranges_of(*unit_die(*unit))) found.push_back({range.begin, range.end});
  EXPECT_EQ(found, expected);
  // Where ranges overlap, the inner one of another unit would have it; of one unit all is one unit's.
  UnitRanges all(debug);
  EXPECT_EQ(all.find(0x1fff), 0u);
  EXPECT_EQ(all.find(0x7020), std::nullopt);
  for (size_t i = 1; i < all.all().size(); i++) EXPECT_GE(all.all()[i].begin, all.all()[i - 1].end);
}

const char small_c[] = R"(
static inline __attribute__((always_inline)) int twice(int a) { return a * 2; }
struct pair { int a; struct pair* next; };
int sum(struct pair* p) {
  int total = 0;
  for (; p; p = p->next) if (p->a > 3) total += twice(p->a);
  return total;
}
)";

class DamagedFiles : public testing::TestWithParam<const char*> {};

TEST_P(DamagedFiles, DoNoHarm) {
  samples::Folder folder;
  std::string source = folder.write("small.c", small_c), output = folder.file("small.so");
  std::string command =
      "cd " + folder.file("") + " && gcc -O2 -shared -nostdlib " + GetParam() + " small.c -o small.so";
  ASSERT_EQ(std::system(command.c_str()), 0);
  auto file = format::ElfFile::open(output);
  ASSERT_TRUE(file.ok());
  Sections whole = sections_of(*file, true);
  ASSERT_FALSE(whole.info.empty());
  size_t seen = samples::Look(whole).everywhere();
  EXPECT_GT(seen, 0u);
  // Each section cut at every length; copied, so that tools that watch memory see what is read behind the
  // end.
  for (ByteSpan Sections::*part : {&Sections::info, &Sections::abbrev, &Sections::line, &Sections::rnglists,
                                   &Sections::ranges, &Sections::aranges, &Sections::str, &Sections::line_str,
                                   &Sections::addr, &Sections::str_offsets, &Sections::types}) {
    for (size_t size = 0; size < std::min<size_t>((whole.*part).size(), 4096); size++) {
      Bytes copy((whole.*part).begin(), (whole.*part).begin() + static_cast<ptrdiff_t>(size));
      copy.shrink_to_fit();
      Sections cut = whole;
      cut.*part = copy;
      (void)samples::Look(cut).everywhere();
    }
  }
  // Some bytes changed, mostly in the small sections, where it matters.
  uint64_t state = 88172645463325252;
  auto random = [&] { return state ^= state << 13, state ^= state >> 7, state ^= state << 17; };
  for (int round = 0; round < 1000; round++) {
    Sections damaged = whole;
    std::vector<Bytes> copies;
    for (ByteSpan Sections::*part :
         {&Sections::info, &Sections::abbrev, &Sections::line, &Sections::rnglists, &Sections::aranges}) {
      Bytes copy((whole.*part).begin(), (whole.*part).end());
      for (uint64_t n = random() % 4; n > 0 && !copy.empty(); n--)
        copy[random() % copy.size()] = std::byte(random());
      copies.push_back(std::move(copy));
      damaged.*part = copies.back();
    }
    (void)samples::Look(damaged).everywhere();
  }
}

INSTANTIATE_TEST_SUITE_P(Gcc, DamagedFiles,
                         testing::Values("-gdwarf-4", "-gdwarf-5", "-gdwarf-5 -gdwarf64",
                                         "-gdwarf-5 -gsplit-dwarf", "-gdwarf-4 -fdebug-types-section"));

} // namespace
} // namespace dwarf
