// Where a file was loaded, from its mappings: by the layouts of GNU ld, lld and gold, of several executable
// segments, and of mappings that were split, cover more than their segment, or have other rights.
#include "format/load_bias.h"

#include <elf.h>
#include <gtest/gtest.h>

using namespace format;

static constexpr uint64_t moved = 0x555500000000;

static ElfSegment load(uint32_t flags, uint64_t offset, uint64_t address, uint64_t size) {
  return {.type = PT_LOAD,
          .flags = flags,
          .offset = offset,
          .address = address,
          .file_size = size,
          .memory_size = size};
}
// Whole pages, as the kernel maps a segment.
static MappedPages pages_of(const ElfSegment& s, std::optional<bool> may_be_executed) {
  constexpr uint64_t page = 0x1000;
  const uint64_t begin = s.address / page * page, end = (s.address + s.file_size + page - 1) / page * page;
  return {moved + begin, moved + end, s.offset / page * page, may_be_executed};
}
static void expect_all(const std::vector<ElfSegment>& segments) {
  std::vector<MappedPages> known, unknown;
  for (const ElfSegment& s : segments) {
    if (s.type != PT_LOAD) continue;
    known.push_back(pages_of(s, (s.flags & PF_X) != 0));
    unknown.push_back(pages_of(s, std::nullopt));
  }
  for (const MappedPages& pages : known)
    EXPECT_EQ(bias_of(segments, pages, known), moved) << std::hex << pages.begin;
  for (const MappedPages& pages : unknown)
    EXPECT_EQ(bias_of(segments, pages, unknown), moved) << std::hex << pages.begin;
}

static const std::vector<ElfSegment> of_gnu_ld = {
    load(PF_R, 0, 0, 0xdb0), load(PF_R | PF_X, 0x1000, 0x1000, 0x2169), load(PF_R, 0x4000, 0x4000, 0x60a),
    load(PF_R | PF_W, 0x4d90, 0x5d90, 0x330)};
static const std::vector<ElfSegment> of_lld = {
    load(PF_R, 0, 0, 0x72c), load(PF_R | PF_X, 0x730, 0x1730, 0x200), load(PF_R | PF_W, 0x930, 0x2930, 0x1d8),
    load(PF_R | PF_W, 0xb20, 0x3b20, 0x88)};
static const std::vector<ElfSegment> of_gold = {load(PF_R | PF_X, 0, 0, 0x34f0),
                                                load(PF_R | PF_W, 0x3d80, 0x4d80, 0x348)};
// Two pieces of code in one page of the file, which both are mapped from.
static const std::vector<ElfSegment> of_two_codes = {
    load(PF_R, 0, 0, 0x500), load(PF_R | PF_X, 0x500, 0x1500, 0x200),
    load(PF_R | PF_X, 0x700, 0x12700, 0x200), load(PF_R | PF_W, 0x900, 0x13900, 0x100)};

TEST(LoadBias, LayoutsOfLinkers) {
  for (const auto* segments : {&of_gnu_ld, &of_lld, &of_gold, &of_two_codes}) expect_all(*segments);
}

TEST(LoadBias, CodeAloneIsEnough) {
  EXPECT_EQ(bias_of(of_gnu_ld, pages_of(of_gnu_ld[1], true)), moved);
  EXPECT_EQ(bias_of(of_lld, pages_of(of_lld[1], true)), moved);
  EXPECT_EQ(bias_of(of_gold, pages_of(of_gold[0], true)), moved);
}

TEST(LoadBias, OtherMappingsDecide) {
  const std::vector<MappedPages> code = {pages_of(of_two_codes[1], true), pages_of(of_two_codes[2], true)};
  EXPECT_EQ(possible_biases(of_two_codes, code[1]).size(), 2u);
  for (const MappedPages& pages : code) EXPECT_EQ(bias_of(of_two_codes, pages, code), moved);
  // A second copy of the file in the same process does not confuse.
  std::vector<MappedPages> twice = code;
  for (MappedPages pages : code)
    twice.push_back({pages.begin + 0x40000000, pages.end + 0x40000000, pages.offset, true});
  EXPECT_EQ(bias_of(of_two_codes, twice[1], twice), moved);
  EXPECT_EQ(bias_of(of_two_codes, twice[3], twice), moved + 0x40000000);
}

TEST(LoadBias, SplitLargerAndOtherRights) {
  // mprotect() of one page in the middle.
  EXPECT_EQ(bias_of(of_gnu_ld, {moved + 0x2000, moved + 0x3000, 0x2000, true}), moved);
  // The first mapping of a library keeps the room for all.
  EXPECT_EQ(bias_of(of_gold, {moved, moved + 0x6000, 0, true}), moved);
  // A program whose readable memory may be executed (READ_IMPLIES_EXEC).
  std::vector<MappedPages> all;
  for (const ElfSegment& s : of_lld) all.push_back(pages_of(s, true));
  EXPECT_EQ(bias_of(of_lld, all[1], all), moved);
  EXPECT_EQ(bias_of(of_gnu_ld, {moved + 0x4000, moved + 0x5000, 0x4000, true}), moved); // no code is there
}

TEST(LoadBias, SegmentsShareAPage) {
  EXPECT_EQ(segments_of_page(of_lld, 0x93a).size(), 4u);
  EXPECT_EQ(segments_of_page(of_gnu_ld, 0x1004).size(), 1u);
  EXPECT_TRUE(segments_of_page(of_gnu_ld, 0x6000).empty());
}

TEST(LoadBias, WhatDoesNotFit) {
  EXPECT_FALSE(bias_of(of_lld, {moved, moved + 0x1000, 0x1000, true})); // behind the end
  EXPECT_FALSE(bias_of({}, {moved, moved + 0x1000, 0, true}));
  // Numbers of a damaged file: no more than an answer is expected.
  (void)bias_of(std::vector{load(PF_R | PF_X, ~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0})},
                {moved, moved - 1, ~uint64_t{0xfff}, true});
}
