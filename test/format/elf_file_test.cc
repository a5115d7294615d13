// ELF files as a whole: what compilers and binutils make of a small program, sections that are compressed in
// each way, and files that were made or damaged to do harm.
#include "format/elf_file.h"

#include "base/text.h"
#include "elf_builder.h"
#include "format/decompress.h"
#include "scratch.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <libdeflate.h>
#include <lzma.h>
#include <unistd.h>
#include <zstd.h>

namespace format {
namespace {

using base::ByteSpan;

ByteSpan bytes(const std::string& text) { return std::as_bytes(std::span(text)); }
std::string text(ByteSpan bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

std::string zlib(const std::string& plain) {
  auto* z = libdeflate_alloc_compressor(6);
  std::string out(libdeflate_zlib_compress_bound(z, plain.size()), '\0');
  out.resize(libdeflate_zlib_compress(z, plain.data(), plain.size(), out.data(), out.size()));
  libdeflate_free_compressor(z);
  return out;
}

std::string zstd(const std::string& plain) {
  std::string out(ZSTD_compressBound(plain.size()), '\0');
  return out.substr(0, ZSTD_compress(out.data(), out.size(), plain.data(), plain.size(), 3));
}

std::string xz(const std::string& plain) {
  std::string out(lzma_stream_buffer_bound(plain.size()), '\0');
  size_t at = 0;
  lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const uint8_t*>(plain.data()),
                          plain.size(), reinterpret_cast<uint8_t*>(out.data()), &at, out.size());
  return out.substr(0, at);
}

std::string big_endian(uint64_t value) {
  std::string out;
  for (int shift = 56; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift);
  return out;
}

constexpr uint32_t zstd_kind = 2; // ELFCOMPRESS_ZSTD, which older headers lack

// All that ElfFile reads, in less than 4 KiB.
std::string full_file() {
  std::string info, line, str;
  for (int i = 0; i < 100; i++) info += "info", line += "line", str += "str";
  ElfBuilder inner;
  inner.add(".symtab", std::string(48, '\0'), SHT_SYMTAB);
  ElfBuilder b;
  b.add_build_id("0123456789abcdefghij");
  b.add(".debug_info", ElfBuilder::compression_header(ELFCOMPRESS_ZLIB, info.size()) + zlib(info),
        SHT_PROGBITS, SHF_COMPRESSED);
  b.add(".debug_line", ElfBuilder::compression_header(zstd_kind, line.size()) + zstd(line), SHT_PROGBITS,
        SHF_COMPRESSED);
  b.add(".zdebug_str", "ZLIB" + big_endian(str.size()) + zlib(str));
  b.add(".gnu_debuglink", std::string("a.debug\0", 8) + ElfBuilder::number<uint32_t>(0x12345678));
  b.add(".gnu_debugaltlink", std::string("../b.debug\0", 11) + "idididid");
  b.add(".gnu_debugdata", xz(inner.build()));
  return b.build();
}

// Asks for everything; the sum of what there is.
size_t look_everywhere(const ElfFile& file) {
  size_t seen = file.build_id().size();
  for (const ElfSection& s : file.elf().sections()) seen += file.section(s).size();
  for (const char* name : {".debug_info", ".debug_line", ".debug_str", ".debug_abbrev", ".symtab", ""})
    seen += file.section(name).size() + file.has_section(name);
  if (auto link = file.debug_link()) seen += link->name.size();
  if (auto link = file.debug_alt_link()) seen += link->path.size() + link->build_id.size();
  seen += file.shared_id().size();
  if (const ElfFile* packed = file.packed_symbols()) seen += packed->section(".symtab").size();
  return seen + file.problems().size();
}

TEST(ElfFile, EverySectionMadePlain) {
  std::string image = full_file();
  auto file = ElfFile::view(bytes(image));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(text(file->section(".debug_info")).substr(0, 8), "infoinfo");
  EXPECT_EQ(file->section(".debug_info").size(), 400u);
  EXPECT_EQ(file->section(".debug_line").size(), 400u);
  EXPECT_EQ(text(file->section(".debug_str")).substr(294), "strstr");
  EXPECT_EQ(file->section(".debug_str").data(), file->section(".debug_str").data()); // made once
  EXPECT_TRUE(file->has_section(".debug_str"));
  EXPECT_FALSE(file->has_section(".debug_abbrev"));
  EXPECT_TRUE(file->section(".debug_abbrev").empty());
  EXPECT_EQ(text(file->build_id()), "0123456789abcdefghij");
  ASSERT_TRUE(file->debug_link());
  EXPECT_EQ(file->debug_link()->name, "a.debug");
  EXPECT_EQ(file->debug_link()->crc, 0x12345678u);
  ASSERT_TRUE(file->debug_alt_link());
  EXPECT_EQ(file->debug_alt_link()->path, "../b.debug");
  EXPECT_EQ(text(file->debug_alt_link()->build_id), "idididid");
  ASSERT_NE(file->packed_symbols(), nullptr);
  EXPECT_EQ(file->packed_symbols()->section(".symtab").size(), 48u);
  EXPECT_EQ(file->packed_symbols()->packed_symbols(), nullptr);
  EXPECT_TRUE(file->problems().empty()) << file->problems()[0];
  ByteSpan info = file->section(".debug_info");
  ElfFile moved = std::move(*file);
  EXPECT_EQ(moved.section(".debug_info").data(), info.data());
}

TEST(ElfFile, CutAtEveryLength) {
  std::string image = full_file();
  ASSERT_LT(image.size(), 4096u);
  size_t whole = look_everywhere(*ElfFile::view(bytes(image))), read = 0;
  for (size_t size = 0; size <= image.size(); size++) {
    std::string cut = image.substr(0, size); // its end is the end of the memory
    auto file = ElfFile::view(bytes(cut));
    if (!file.ok()) continue;
    EXPECT_LE(look_everywhere(*file), whole + 10);
    read++;
  }
  EXPECT_GT(read, 1000u);
}

TEST(ElfFile, EveryByteDamaged) {
  std::string image = full_file();
  for (size_t at = 0; at < image.size(); at++) {
    for (int value : {0xff, image[at] ^ 1}) {
      std::string damaged = image;
      damaged[at] = static_cast<char>(value);
      if (auto file = ElfFile::view(bytes(damaged)); file.ok()) look_everywhere(*file);
    }
  }
}

// What decompresses to more than its input can mean is refused before memory is taken; so is what is no such
// format.
TEST(ElfFile, DishonestSizesAreRefused) {
  auto problem = [](uint32_t kind, uint64_t size, const std::string& packed) {
    ElfBuilder b;
    b.add(".debug_info", ElfBuilder::compression_header(kind, size) + packed, SHT_PROGBITS, SHF_COMPRESSED);
    auto file = ElfFile::of([&] {
      std::string image = b.build();
      return std::vector<std::byte>(bytes(image).begin(), bytes(image).end());
    }());
    EXPECT_TRUE(file->section(".debug_info").empty());
    EXPECT_TRUE(file->section(".debug_info").empty()); // told once
    EXPECT_EQ(file->problems().size(), 1u);
    return file->problems().empty() ? "" : file->problems()[0];
  };
  std::string ten(10, 'x');
  EXPECT_EQ(problem(ELFCOMPRESS_ZLIB, 11, zlib(ten)),
            "section .debug_info: its compressed bytes are damaged");
  EXPECT_EQ(problem(zstd_kind, 11, zstd(ten)), "section .debug_info: its compressed bytes are damaged");
  EXPECT_EQ(problem(zstd_kind, 9, zstd(ten)), "section .debug_info: its compressed bytes are damaged");
  EXPECT_EQ(problem(ELFCOMPRESS_ZLIB, 10, "garbage"),
            "section .debug_info: its compressed bytes are damaged");
  EXPECT_EQ(problem(ELFCOMPRESS_ZLIB, uint64_t{1} << 40, zlib(ten)),
            "section .debug_info: it would become unreasonably large (1099511627776 bytes)");
  EXPECT_EQ(problem(ELFCOMPRESS_ZLIB, ~uint64_t{0}, zlib(ten)),
            "section .debug_info: it would become unreasonably large (18446744073709551615 bytes)");
  EXPECT_EQ(problem(77, 10, ten), "section .debug_info: it is compressed in an unknown way (77)");
}

TEST(ElfFile, ManyBombsStayWithinTheFilesShare) {
  std::string zeros(4 << 20, '\0');
  ElfBuilder b;
  for (int i = 0; i < 200; i++)
    b.add(".debug_" + std::to_string(i),
          ElfBuilder::compression_header(zstd_kind, zeros.size()) + zstd(zeros), SHT_PROGBITS,
          SHF_COMPRESSED);
  std::string image = b.build();
  auto file = ElfFile::view(bytes(image));
  ASSERT_TRUE(file.ok());
  size_t made = 0;
  for (const ElfSection& s : file->elf().sections()) made += file->section(s).size();
  EXPECT_GE(made, zeros.size());
  EXPECT_LE(made, most_decompressed(image.size()) + image.size());
}

TEST(ElfFile, PackedBombIsRefused) {
  ElfBuilder b;
  b.add(".gnu_debugdata", xz(std::string(8 << 20, '\0')));
  std::string image = b.build();
  auto file = ElfFile::view(bytes(image));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->packed_symbols(), nullptr);
  ASSERT_EQ(file->problems().size(), 1u);
  EXPECT_EQ(file->problems()[0], "section .gnu_debugdata: it would become unreasonably large");
}

TEST(ElfFile, ZlibStreamsOneAfterTheOther) {
  std::string out(8, '\0');
  EXPECT_EQ(decompress_zlib(bytes(zlib("one ") + zlib("two ")), std::as_writable_bytes(std::span(out))), "");
  EXPECT_EQ(out, "one two ");
}

class Program : public ::testing::Test {
protected:
  static void SetUpTestSuite() {
    scratch = new Scratch;
    scratch->write(
        "a.c", "struct point { int x, y; }; struct point p = {1, 2};\n"
               "static int twice(int v) { return v * 2; }\nint main(void) { return twice(p.x) - p.y; }\n");
    ASSERT_TRUE(scratch->run("gcc -g -O1 -Wl,--build-id a.c -o a")) << scratch->log();
  }
  static void TearDownTestSuite() { delete scratch; }
  static ElfFile open(const std::string& name) {
    auto file = ElfFile::open(scratch->path(name));
    EXPECT_TRUE(file.ok()) << (file.ok() ? "" : file.error().message);
    return std::move(*file);
  }
  static Scratch* scratch;
};
Scratch* Program::scratch;

TEST_F(Program, BuildIdIsThatOfBinutils) {
  ASSERT_TRUE(scratch->run("readelf -n a | sed -n 's/.*Build ID: //p' | tr -d '\\n'"));
  ElfFile file = open("a");
  EXPECT_EQ(to_hex(file.build_id()), scratch->log());
  EXPECT_EQ(file.build_id().size(), 20u);
  EXPECT_NE(file.id().inode, 0u);
  // Also where only segments tell of the note.
  ASSERT_TRUE(scratch->run("cp a headless && printf '\\0\\0\\0\\0\\0\\0\\0\\0' | "
                           "dd of=headless bs=1 seek=40 conv=notrunc && printf '\\0\\0\\0\\0' | "
                           "dd of=headless bs=1 seek=60 conv=notrunc"))
      << scratch->log();
  ElfFile headless = open("headless");
  EXPECT_TRUE(headless.elf().sections().empty());
  EXPECT_EQ(to_hex(headless.build_id()), to_hex(file.build_id()));
  ASSERT_TRUE(scratch->run("gcc -Wl,--build-id=none a.c -o no_id")) << scratch->log();
  EXPECT_TRUE(open("no_id").build_id().empty());
}

TEST_F(Program, SectionsThatBinutilsCompressed) {
  ElfFile plain = open("a");
  ASSERT_FALSE(plain.section(".debug_info").empty());
  for (const char* kind : {"zlib", "zlib-gnu", "zstd"}) {
    std::string name = std::string("a.") + kind;
    ASSERT_TRUE(scratch->run(std::string("objcopy --compress-debug-sections=") + kind + " a " + name))
        << scratch->log();
    ElfFile packed = open(name);
    for (const ElfSection& s : plain.elf().sections()) {
      if (!s.name.starts_with(".debug_")) continue;
      EXPECT_TRUE(packed.has_section(s.name)) << kind << " " << s.name;
      EXPECT_EQ(text(packed.section(s.name)), text(plain.section(s))) << kind << " " << s.name;
    }
    EXPECT_TRUE(packed.problems().empty());
  }
}

TEST_F(Program, LinksToDebugFiles) {
  ASSERT_TRUE(scratch->run("eu-strip -f linked.debug -o linked a && cp a b && cp a c && dwz -m shared b c && "
                           "cp a d && cp a e && dwz --dwarf-5 -m shared5 d e"))
      << scratch->log();
  ElfFile linked = open("linked");
  EXPECT_FALSE(linked.has_section(".debug_info"));
  ASSERT_TRUE(linked.debug_link());
  EXPECT_EQ(linked.debug_link()->name, "linked.debug");
  std::string debug = scratch->read("linked.debug");
  EXPECT_EQ(linked.debug_link()->crc,
            libdeflate_crc32(0, debug.data(), debug.size()));
  // The debug file keeps headers of sections it has no bytes of.
  EXPECT_TRUE(open("linked.debug").section(".text").empty());
  EXPECT_FALSE(open("a").section(".text").empty());

  for (auto [name, shared] : {std::pair("b", "shared"), std::pair("d", "shared5")}) {
    ElfFile file = open(name), common = open(shared);
    auto link = file.debug_alt_link();
    ASSERT_TRUE(link) << name;
    EXPECT_EQ(link->path, shared);
    EXPECT_EQ(to_hex(link->build_id), to_hex(common.shared_id()));
    EXPECT_EQ(link->build_id.size(), 20u);
    EXPECT_FALSE(common.debug_alt_link());
  }
}

TEST_F(Program, PackedSymbols) {
  ASSERT_TRUE(scratch->run("objcopy --only-keep-debug a full && objcopy -S --keep-symbol=main full mini && "
                           "xz -k mini && objcopy -S --add-section .gnu_debugdata=mini.xz a packed"))
      << scratch->log();
  ElfFile file = open("packed");
  EXPECT_EQ(file.elf().section(".symtab"), nullptr);
  const ElfFile* packed = file.packed_symbols();
  ASSERT_NE(packed, nullptr);
  uint64_t at = 0, wanted = 0;
  auto find_main = [](const ElfFile& f, uint64_t& into) {
    f.elf().for_each_symbol(*f.elf().section(".symtab"), [&](const ElfSymbol& s) {
      if (s.name == "main") into = s.value;
    });
  };
  ASSERT_NE(packed->elf().section(".symtab"), nullptr);
  find_main(*packed, at);
  ElfFile whole = open("a");
  find_main(whole, wanted);
  EXPECT_EQ(at, wanted);
  EXPECT_NE(at, 0u);
}

// The n-th page cannot be read any more: whatever is asked for then, it is zero, and the file says so.
TEST_F(Program, CutWhileItIsRead) {
  constexpr size_t page = 4096;
  size_t size = scratch->read("a.zlib").size();
  ASSERT_GT(size, 2 * page);
  for (size_t pages = 0; pages * page < size; pages++) {
    ASSERT_TRUE(scratch->run("cp a.zlib cut")) << scratch->log();
    auto map = base::FileMap::open(scratch->path("cut"));
    ASSERT_TRUE(map.ok());
    auto before = pages % 2 ? std::optional(ElfFile::of(std::move(*map))) : std::nullopt;
    ASSERT_EQ(::truncate(scratch->path("cut").c_str(), static_cast<off_t>(pages * page)), 0);
    auto file = before ? std::move(*before) : ElfFile::of(std::move(*map));
    if (!file.ok()) continue;
    look_everywhere(*file);
    EXPECT_TRUE(file->damaged()) << pages;
  }
}

// As kernel modules are: names and addresses in debug sections are filled in, as the linker does it for a
// program.
TEST_F(Program, RelocatableFile) {
  for (const char* flags : {"", "-gz=zlib"}) {
    ASSERT_TRUE(scratch->run(std::string("gcc -g -O1 -ffunction-sections -c a.c -o a.o ") + flags))
        << scratch->log();
    ElfFile object = open("a.o"), linked = open("a");
    EXPECT_TRUE(object.elf().is_relocatable());
    // Each name in .debug_info stands where .debug_str has it: the file's first name is the producer's.
    ByteSpan offsets = object.section(".debug_info"),
             plain_offsets = object.elf().content(*object.elf().section(".debug_info"));
    ASSERT_GT(offsets.size(), 20u);
    uint32_t name = 0;
    std::memcpy(&name, offsets.data() + 13, 4); // unit header of DWARF 5: 12 bytes; abbreviation: 1
    EXPECT_TRUE(base::text_at(object.section(".debug_str"), name).starts_with("GNU C")) << name;
    EXPECT_FALSE(std::ranges::equal(offsets, plain_offsets));
    uint64_t main_at = 0;
    const ElfSection* code = object.elf().section(".text.main");
    ASSERT_NE(code, nullptr);
    object.elf().for_each_symbol(*object.elf().section(".symtab"), [&](const ElfSymbol& s) {
      if (s.name == "main") main_at = s.value;
    });
    EXPECT_EQ(main_at, code->address);
    EXPECT_EQ(object.elf().offset_of_address(main_at), code->offset);
    EXPECT_TRUE(object.problems().empty());
  }
}

TEST_F(Program, HugeFileIsOpenedAtOnce) {
  ASSERT_TRUE(scratch->run("cp a huge && truncate -s 4500M huge")) << scratch->log();
  ElfFile huge = open("huge"), plain = open("a");
  EXPECT_GT(huge.bytes().size(), uint64_t{4} << 30);
  EXPECT_EQ(to_hex(huge.build_id()), to_hex(plain.build_id()));
  EXPECT_EQ(text(huge.section(".debug_info")), text(plain.section(".debug_info")));
}

// As of a debug file of more than 4 GB: its headers stand at the end.
TEST_F(Program, HeadersBeyondFourGigabytes) {
  std::string image = scratch->read("a");
  constexpr uint64_t far = uint64_t{4300} << 20;
  uint64_t tables = 0;
  std::memcpy(&tables, image.data() + offsetof(Elf64_Ehdr, e_shoff), 8);
  {
    std::ofstream out(scratch->path("far"), std::ios::binary);
    std::string front = image;
    std::memcpy(front.data() + offsetof(Elf64_Ehdr, e_shoff), &far, 8);
    out << front.substr(0, tables);
    out.seekp(far);
    out << image.substr(tables);
  }
  ElfFile file = open("far"), plain = open("a");
  EXPECT_EQ(file.elf().sections().size(), plain.elf().sections().size());
  EXPECT_EQ(text(file.section(".debug_line")), text(plain.section(".debug_line")));
}

TEST(ElfFileOpen, SaysWhatIsWrong) {
  Scratch s;
  s.write("script", "#!/bin/sh\n");
  auto message = [&](const char* name) { return ElfFile::open(s.path(name)).error().message; };
  EXPECT_EQ(message("script"), s.path("script") + ": not an ELF file that can be read: it has no header");
  EXPECT_EQ(message("none"), "cannot open " + s.path("none") + ": No such file or directory");
}

} // namespace
} // namespace format
