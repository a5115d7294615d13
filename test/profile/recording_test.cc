// acu's own file: everything is kept, and behind zlib's checksum no byte is trusted either.
#include "profile/formats.h"
#include "profile/kinds_in_files.h"
#include "profile/slices.h"
#include "profile/tables.h"
#include "profiles.h"

#include <gtest/gtest.h>

#include <cstring>
#include <libdeflate.h>

namespace profile {
namespace {

constexpr size_t head = 8 + 8; // magic with the form, size

std::string unpacked(const std::string& file) {
  uint64_t size = 0;
  std::memcpy(&size, file.data() + 8, sizeof size);
  std::string body(size, '\0');
  auto* z = libdeflate_alloc_decompressor();
  EXPECT_EQ(libdeflate_zlib_decompress(z, file.data() + head, file.size() - head, body.data(), size, nullptr), LIBDEFLATE_SUCCESS);
  libdeflate_free_decompressor(z);
  return body;
}
// A file with this body, whose checksum is right.
std::string packed(char form, const std::string& body) {
  auto* z = libdeflate_alloc_compressor(1);
  std::string out(libdeflate_zlib_compress_bound(z, body.size()), '\0');
  out.resize(libdeflate_zlib_compress(z, body.data(), body.size(), out.data(), out.size()));
  libdeflate_free_compressor(z);
  const uint64_t size = body.size();
  return std::string("ACUPROF") + form + std::string(reinterpret_cast<const char*>(&size), sizeof size) + out;
}

const Link request = {"0123456789abcdef0123456789abcdef", "fedcba9876543210"};

Profile sample(const Link& link = request) {
  Profile p;
  p.about = {.title = "Waiting", .unit = "ns", .what = "process 17", .host = "web1", .version = "1.2", .start_ns = 1'700'000'000'000'000'000, .duration_ns = 4000,
             .period_ns = 0, .samples = 9, .lost = 2, .complete = 8, .frames = 20, .frames_named = 19, .own_cpu_ns = 5, .own_memory = 6, .kernel_ns = 7,
             .notes = {"one note", "a second, with ü"}, .incomplete = {}};
  add(p, {{"main"}, {"work", "/lib/w.so"}, {"helper", "/lib/w.so", FrameKind::inlined}}, 5, 2);
  add(p, {{"main"}, {"vfs_read", "[kernel]", FrameKind::kernel}, {"[waiting]", "", FrameKind::note}}, ~uint64_t{0} >> 1, ~uint64_t{0} >> 2);
  add(p, {{"x+0x1", "/lib/w.so", FrameKind::user, false}, {"handler", "/srv/x", FrameKind::test}}, 1, 1, {.thread = "größe", .pid = ~0u, .tid = ~0u});
  add(p, {{"main"}, {"work", "/lib/w.so"}}, 4, 4, {.request = link});
  p.build_ids[p.text("/lib/w.so")] = "00ff12";
  return p;
}
Profile sliced() {
  Profile p = sample();
  p.slice_ns = 1000;
  p.add_slice(0, 1, {{0, 1, 1}, {2, 1, 1}});
  p.add_slice(2, 2, {{1, ~uint64_t{0} >> 1, 1}});
  p.add_slice(~uint64_t{0} >> 20, 1, {{0, 4, 1}});
  return p;
}

TEST(Recording, EverythingIsKept) {
  for (bool is_sliced : {false, true}) {
    Profile p = is_sliced ? sliced() : sample();
    auto q = read_recording(write_recording(p));
    ASSERT_TRUE(q.ok()) << q.error().message;
    EXPECT_EQ(lines_of(*q), lines_of(p));
    EXPECT_EQ(q->build_ids, p.build_ids);
    EXPECT_EQ(q->about.notes, p.about.notes);
    EXPECT_EQ(header_text(q->about, q->total()), header_text(p.about, p.total()));
    EXPECT_EQ(q->about.start_ns, p.about.start_ns);
    EXPECT_EQ(q->about.version, "1.2");
    // Written again it is the same, byte by byte.
    EXPECT_EQ(write_recording(*q), write_recording(p));
  }
}

TEST(Recording, NothingAtAll) {
  Profile nothing;
  auto q = read_recording(write_recording(nothing));
  ASSERT_TRUE(q.ok()) << q.error().message;
  EXPECT_EQ(q->samples().size(), 0u);
  EXPECT_EQ(write_recording(*q), write_recording(nothing));
  EXPECT_NE(report_text(*q, {}).find("samples 0, lost 0"), std::string::npos);
}

// Form 2 has no spans, and older ones of each form no build ids.
TEST(Recording, OlderForms) {
  Profile p = sample({});
  p.build_ids.clear();
  p.slice_ns = 1; // which, its spans and numbers are one byte each
  p.add_slice(3, 1, {{0, 5, 2}});
  std::string body = unpacked(write_recording(p));
  const std::string slices("\x01\x01\x03\x01\x01\x00\x05\x02", 8); // length, how many, number, span, gains, sample, weight, count
  ASSERT_TRUE(body.ends_with(slices));
  body.erase(body.size() - 5, 1); // the span
  auto q = read_recording(packed('2', body));
  ASSERT_TRUE(q.ok()) << q.error().message;
  ASSERT_EQ(q->slices.size(), 1u);
  EXPECT_EQ(q->slices[0].span, 1u);
  EXPECT_EQ(q->slices[0].gains[0].weight, 5u);
  EXPECT_EQ(lines_of(*q), lines_of(p));
}

// A byte of the body that is another one: refused, or read as something that all reports can show.
TEST(Recording, AnyByteMayBeDamaged) {
  for (bool is_sliced : {false, true}) {
    const Profile p = is_sliced ? sliced() : sample();
    const std::string file = write_recording(p), body = unpacked(file);
    for (size_t i = 0; i < body.size(); i++)
      for (int value : {0, 1, 5, 0x7f, 0x80, 0xff}) {
        std::string other = body;
        other[i] = static_cast<char>(value);
        auto q = read_recording(packed(file[7], other));
        if (!q.ok()) continue;
        report_text(*q, {}), report_json(*q, {}), write_svg(*q);
        if (is_sliced && q->slice_ns) (void)keep_part(*q, {.from = 1, .until = 3000});
      }
  }
}

TEST(Recording, ACutBodyIsRefused) {
  const std::string file = write_recording(sliced()), body = unpacked(file);
  for (size_t size = 0; size < body.size(); size++) {
    auto q = read_recording(packed('3', body.substr(0, size)));
    const bool is_older = q.ok() && q->links().size() == 1; // they end before build ids, or before links
    EXPECT_TRUE(!q.ok() || is_older) << size << " of " << body.size();
  }
}

TEST(Recording, SizesAreNotBelieved) {
  std::string file = write_recording(sample());
  for (uint64_t size : {uint64_t{0}, uint64_t{1}, uint64_t{1} << 29, uint64_t{1} << 40, ~uint64_t{0}}) {
    std::string other = file;
    std::memcpy(other.data() + 8, &size, sizeof size);
    auto q = read_recording(other);
    ASSERT_FALSE(q.ok()) << size;
    EXPECT_TRUE(q.error().message.starts_with("the recording is damaged: ")) << q.error().message;
  }
}

TEST(Recording, MessagesNameWhatIsWrong) {
  auto message = [](const std::string& file) {
    auto q = read_recording(file);
    return q.ok() ? "read" : q.error().message;
  };
  EXPECT_EQ(message("ACUPROF"), "the recording is damaged: it is truncated");
  EXPECT_EQ(message("ACUPROF1\1"), "the recording is damaged: it is truncated");
  EXPECT_EQ(message("ACUPROF4"), "the recording has format version 4, of a newer acu; this acu reads versions 1 to 3");
  Profile p;
  add(p, {{"f", "", static_cast<FrameKind>(spec::frame_kinds.size() - 1)}}, 1);
  std::string body = unpacked(write_recording(p));
  // The last frame's kind: of a newer acu.
  const std::string number(1, static_cast<char>(number_of_kind({.kind = p.frames().back().kind})));
  const size_t at = body.rfind(std::string(1, static_cast<char>(p.frames().back().name)) + '\0' + number);
  ASSERT_NE(at, body.npos);
  body[at + 2] = 0x78;
  EXPECT_EQ(message(packed('1', body)), "the recording is damaged: it has a kind of frame that this acu does not know");
}

} // namespace
} // namespace profile
