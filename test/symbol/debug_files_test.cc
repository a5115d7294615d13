// Separate debug files in all the places where they may be, in a root folder of our own; and in each place
// files that do not fit: of another build, unreadable, no files at all.
#include "symbol/debug_files.h"

#include "base/text.h"
#include "format/elf_builder.h"
#include "scratch.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace symbol {
namespace {

using Source = DebugFile::Source;

// A root with /bin/prog, stripped; its debug information is in prog.debug beside the root. `other.debug` is
// that of another build. no_id/…: the same without build-ids.
class DebugFiles : public ::testing::Test {
protected:
  static void SetUpTestSuite() {
    samples = new Scratch;
    samples->write("a.c", "int twice(int v) { return v * 2; }\nint main(void) { return twice(0); }\n");
    samples->write("b.c",
                   "int thrice(int v) { return v * 3 + 1; }\nint main(void) { return thrice(-1) * 2; }\n");
    ASSERT_TRUE(samples->run(
        "mkdir no_id; for id in . no_id; do flag=--build-id; [ $id = no_id ] && flag=--build-id=none;"
        "gcc -g -Wl,$flag a.c -o $id/whole && gcc -g -Wl,$flag b.c -o $id/other && "
        "(cd $id && eu-strip -f prog.debug -o prog whole && eu-strip -f other.debug -o x other && "
        "objcopy -R .gnu_debuglink prog unlinked) || exit 1; done"))
        << samples->log();
    auto file = format::ElfFile::open(samples->path("prog"));
    ASSERT_TRUE(file.ok()) << file.error().message;
    hex = format::to_hex(file->build_id());
    by_id = "usr/lib/debug/.build-id/" + hex.substr(0, 2) + "/" + hex.substr(2) + ".debug";
  }
  static void TearDownTestSuite() { delete samples; }

  void SetUp() override { put("prog", "bin/prog"); }
  // Copies a sample into the root.
  void put(const std::string& sample, const std::string& place) {
    ASSERT_TRUE(root.run("mkdir -p $(dirname " + place + ") && cp " + samples->path(sample) + " " + place))
        << root.log();
  }
  DebugFile find(DebugSearch search = {}) {
    search.root = root.folder();
    auto module = format::ElfFile::open("/bin/prog", search.root);
    EXPECT_TRUE(module.ok());
    return find_debug_file(*module, "/bin/prog", search);
  }
  // What stood in the way at a place.
  static std::string problem(const DebugFile& found, const std::string& path) {
    for (const TriedPlace& t : found.debug.tried)
      if (t.path == path) return t.problem;
    return "not tried";
  }

  static Scratch* samples;
  static std::string hex, by_id;
  Scratch root;
};
Scratch* DebugFiles::samples;
std::string DebugFiles::hex, DebugFiles::by_id;

TEST_F(DebugFiles, InTheModuleItself) {
  put("whole", "bin/prog");
  DebugFile found = find();
  EXPECT_EQ(found.source, Source::module);
  EXPECT_TRUE(found.has_dwarf);
  EXPECT_FALSE(found.debug.file);
}

TEST_F(DebugFiles, NowhereTellsWhereItLooked) {
  DebugFile found = find();
  EXPECT_EQ(found.source, Source::none);
  EXPECT_FALSE(found.has_dwarf);
  EXPECT_EQ(problem(found, "/" + by_id), "No such file or directory");
  EXPECT_EQ(problem(found, "/bin/.debug/prog.debug"), "No such file or directory");
  EXPECT_EQ(problem(found, "/usr/lib/debug/usr/bin/prog.debug"), "No such file or directory");
  EXPECT_TRUE(std::ranges::all_of(found.debug.tried, &TriedPlace::is_missing));
  EXPECT_EQ(summary(found.debug.tried), "");
}

TEST_F(DebugFiles, ByBuildIdInTheRootOfTheProgram) {
  put("prog.debug", by_id);
  DebugFile found = find();
  EXPECT_EQ(found.source, Source::build_id);
  ASSERT_TRUE(found.debug.file);
  EXPECT_TRUE(found.has_dwarf);
  EXPECT_EQ(found.debug.path, "/" + by_id);
  EXPECT_EQ(found.debug.root, root.folder());
  EXPECT_FALSE(found.debug.file->section(".debug_info").empty());
}

TEST_F(DebugFiles, AnAbsoluteLinkStaysInTheRoot) {
  put("prog.debug", "opt/prog.debug");
  ASSERT_TRUE(root.run("mkdir -p $(dirname " + by_id + ") && ln -s /opt/prog.debug " + by_id)) << root.log();
  EXPECT_EQ(find().source, Source::build_id);
}

TEST_F(DebugFiles, ByLinkInEachPlace) {
  for (const char* place : {"bin/prog.debug", "bin/.debug/prog.debug", "usr/lib/debug/bin/prog.debug",
                            "usr/lib/debug/usr/bin/prog.debug"}) {
    put("prog.debug", place);
    DebugFile found = find();
    EXPECT_EQ(found.source, Source::debug_link) << place;
    EXPECT_EQ(found.debug.path, std::string("/") + place);
    ASSERT_TRUE(root.run(std::string("rm ") + place));
  }
}

// Called by a symbolic link, or from the folder it is in.
TEST_F(DebugFiles, BesideTheRealFile) {
  put("prog.debug", "bin/prog.debug");
  ASSERT_TRUE(root.run("mkdir links && ln -s ../bin/prog links/called"));
  auto module = format::ElfFile::open(root.path("links/called"));
  ASSERT_TRUE(module.ok());
  EXPECT_EQ(find_debug_file(*module, root.path("links/called"), {}).debug.path, root.path("bin/prog.debug"));
}

TEST_F(DebugFiles, WithoutLinkByNameAndBuildId) {
  put("unlinked", "bin/prog");
  put("prog.debug", "usr/lib/debug/bin/prog");
  EXPECT_EQ(find().source, Source::name);
  put("other.debug", "usr/lib/debug/bin/prog");
  EXPECT_EQ(find().source, Source::none);
}

TEST_F(DebugFiles, OfAnotherBuildIsRefusedAndTheNextTaken) {
  put("other.debug", by_id);
  DebugFile none = find();
  EXPECT_EQ(none.source, Source::none);
  EXPECT_TRUE(problem(none, "/" + by_id).ends_with(", not " + hex + ": it is of another build"))
      << problem(none, "/" + by_id);
  EXPECT_EQ(summary(none.debug.tried), "/" + by_id + ": " + problem(none, "/" + by_id));
  put("prog.debug", "bin/.debug/prog.debug");
  DebugFile found = find();
  EXPECT_EQ(found.source, Source::debug_link);
  EXPECT_EQ(found.debug.path, "/bin/.debug/prog.debug");
  EXPECT_TRUE(problem(found, "/" + by_id).starts_with("its build-id is "));
}

TEST_F(DebugFiles, WithoutBuildIdsTheCrcDecides) {
  put("no_id/prog", "bin/prog");
  put("no_id/prog.debug", "bin/prog.debug");
  DebugFile found = find();
  EXPECT_EQ(found.source, Source::debug_link);
  EXPECT_TRUE(found.has_dwarf);
  put("no_id/other.debug", "bin/prog.debug");
  found = find();
  EXPECT_EQ(found.source, Source::none);
  EXPECT_EQ(problem(found, "/bin/prog.debug"),
            "its CRC is not the one that the link asks for: it is of another build");
  put("no_id/prog.debug", "bin/prog.debug");
  ASSERT_TRUE(root.run("truncate -s 4500M bin/prog.debug"));
  EXPECT_EQ(problem(find(), "/bin/prog.debug"),
            "it has no build-id, and is too large (4500 MiB) to check its CRC");
}

TEST_F(DebugFiles, HugeWithBuildIdIsTakenAtOnce) {
  put("prog.debug", by_id);
  ASSERT_TRUE(root.run("truncate -s 4500M " + by_id));
  DebugFile found = find();
  EXPECT_EQ(found.source, Source::build_id);
  EXPECT_FALSE(found.debug.file->section(".debug_line").empty());
}

TEST_F(DebugFiles, WithNothingToTellNoFileIsTaken) {
  put("no_id/unlinked", "bin/prog");
  put("no_id/prog.debug", "bin/prog.debug");
  EXPECT_EQ(problem(find(), "/bin/prog.debug"),
            "there is neither a build-id nor a CRC to tell whether it fits");
  // Said by the user, it must at least have the same code.
  DebugSearch given = {.folders = {samples->path("no_id/prog.debug")}};
  EXPECT_EQ(find(given).source, Source::folder);
  given.folders = {samples->path("no_id/other.debug")};
  EXPECT_EQ(problem(find(given), samples->path("no_id/other.debug")),
            "its code has another address or size: it is of another build");
}

TEST_F(DebugFiles, WhatIsNoDebugFile) {
  auto said = [&](const std::string& command) {
    EXPECT_TRUE(root.run("mkdir -p $(dirname " + by_id + ") && rm -rf " + by_id + " && " + command))
        << root.log();
    DebugFile found = find();
    EXPECT_EQ(found.source, Source::none) << command;
    return problem(found, "/" + by_id);
  };
  EXPECT_EQ(said("mkfifo " + by_id), "it is a pipe, not a regular file");
  EXPECT_EQ(said("mkdir " + by_id), "it is a folder, not a regular file");
  EXPECT_EQ(said(": > " + by_id), "not an ELF file that can be read: it has no header");
  EXPECT_EQ(said("echo text > " + by_id), "not an ELF file that can be read: it has no header");
  EXPECT_EQ(said("ln -s /nowhere " + by_id), "No such file or directory");
  EXPECT_EQ(said("ln -s $(basename " + by_id + ") " + by_id), "Too many levels of symbolic links");
  EXPECT_EQ(said("cp bin/prog " + by_id), "it has neither debug information nor symbols");
  EXPECT_EQ(said("ln bin/prog " + by_id), "it is the file itself");
}

TEST_F(DebugFiles, PermissionDenied) {
  put("prog.debug", by_id);
  ASSERT_TRUE(root.run("chmod 755 . && chmod 000 " + by_id));
  bool is_root = ::geteuid() == 0;
  ASSERT_EQ(is_root ? ::seteuid(65534) : 0, 0);
  DebugFile found = find();
  ASSERT_EQ(is_root ? ::seteuid(0) : 0, 0);
  EXPECT_EQ(found.source, Source::none);
  EXPECT_EQ(problem(found, "/" + by_id), "Permission denied");
  EXPECT_EQ(summary(found.debug.tried), "/" + by_id + ": Permission denied");
}

TEST_F(DebugFiles, FoldersOfTheUserComeFirst) {
  put("prog.debug", by_id);
  Scratch given;
  for (const std::string& place :
       {by_id, ".build-id/" + hex.substr(0, 2) + "/" + hex.substr(2) + ".debug", std::string("prog.debug"),
        std::string("prog"), std::string("usr/lib/debug/bin/prog"), std::string("bin/prog.debug"),
        std::string("usr/bin/prog")}) {
    ASSERT_TRUE(
        given.run("mkdir -p $(dirname " + place + ") && cp " + samples->path("prog.debug") + " " + place));
    DebugFile found = find({.folders = {"/nowhere", given.folder()}});
    EXPECT_EQ(found.source, Source::folder) << place;
    EXPECT_EQ(found.debug.path, given.path(place));
    EXPECT_EQ(found.debug.root, "");
    EXPECT_EQ(summary(found.debug.tried), "/nowhere: No such file or directory");
    ASSERT_TRUE(given.run("rm " + place));
  }
  EXPECT_EQ(find({.folders = {given.folder()}}).source, Source::build_id);
}

TEST_F(DebugFiles, SymbolsAloneAreTheLastResort) {
  ASSERT_TRUE(samples->run("strip -g -o symbols whole")) << samples->log();
  put("symbols", by_id);
  DebugFile found = find();
  EXPECT_EQ(found.source, Source::build_id);
  EXPECT_FALSE(found.has_dwarf);
  EXPECT_FALSE(found.debug.file->section(".symtab").empty());
  put("prog.debug", "bin/prog.debug");
  found = find();
  EXPECT_EQ(found.source, Source::debug_link);
  EXPECT_TRUE(found.has_dwarf);
}

TEST_F(DebugFiles, SharedFileOfDwz) {
  ASSERT_TRUE(samples->run(
      "cp whole one && cp whole two && dwz -m shared -M /usr/lib/debug/.dwz/shared one two && "
      "cp whole one5 && cp whole two5 && dwz --dwarf-5 -m shared5 -M ../far/shared5 one5 two5 && "
      "cp other one6 && cp other two6 && dwz -m shared6 one6 two6"))
      << samples->log();
  put("one", "bin/prog");
  DebugFile found = find();
  EXPECT_EQ(found.source, Source::module);
  EXPECT_TRUE(found.has_alt_link);
  EXPECT_FALSE(found.alt.file);
  ASSERT_FALSE(found.alt.tried.empty());
  EXPECT_EQ(found.alt.tried[0].problem, "No such file or directory");

  put("shared6", "usr/lib/debug/.dwz/shared");
  found = find();
  EXPECT_FALSE(found.alt.file);
  EXPECT_TRUE(found.alt.tried[0].problem.ends_with("it is of another build")) << found.alt.tried[0].problem;

  put("shared", "usr/lib/debug/.dwz/shared");
  found = find();
  ASSERT_TRUE(found.alt.file);
  EXPECT_EQ(found.alt.path, "/usr/lib/debug/.dwz/shared");
  EXPECT_EQ(found.alt.root, root.folder());
  EXPECT_FALSE(found.alt.file->section(".debug_str").empty());

  // Relative to where the file with the link really is; in a folder of the user.
  put("one5", "opt/files/prog.debug");
  put("prog", "bin/prog");
  ASSERT_TRUE(root.run("mkdir -p $(dirname " + by_id + ") && ln -s /opt/files/prog.debug " + by_id));
  EXPECT_FALSE(find().alt.file);
  put("shared5", "opt/far/shared5");
  found = find();
  EXPECT_EQ(found.source, Source::build_id);
  ASSERT_TRUE(found.alt.file);
  EXPECT_EQ(found.alt.path, "/opt/files/../far/shared5");
  ASSERT_TRUE(root.run("mkdir given && mv opt/far/shared5 given"));
  EXPECT_EQ(find({.folders = {root.path("given")}}).alt.path, root.path("given/shared5"));
}

TEST_F(DebugFiles, FromServersOnlyWhenAsked) {
  Scratch servers;
  ASSERT_TRUE(servers.run("mkdir -p cache buildid/" + hex + " && cp " + samples->path("prog.debug") +
                          " buildid/" + hex + "/debuginfo"));
  ::setenv("DEBUGINFOD_URLS", ("file://" + servers.folder()).c_str(), 1);
  ::setenv("DEBUGINFOD_CACHE_PATH", servers.path("cache").c_str(), 1);
  EXPECT_EQ(find().source, Source::none);
  DebugFile found = find({.download = true});
  EXPECT_EQ(found.source, Source::download) << summary(found.debug.tried);
  EXPECT_TRUE(found.has_dwarf);
  EXPECT_TRUE(found.debug.path.starts_with(servers.path("cache"))) << found.debug.path;
  ASSERT_TRUE(servers.run("rm -r cache buildid"));
  found = find({.download = true});
  EXPECT_EQ(found.source, Source::none);
  EXPECT_EQ(problem(found, "debuginfod"), "the servers have no such file");
  ::unsetenv("DEBUGINFOD_URLS");
  found = find({.download = true});
  EXPECT_EQ(problem(found, "debuginfod"),
            "DEBUGINFOD_URLS names no server to ask; set it to that of the distribution");
  ::unsetenv("DEBUGINFOD_CACHE_PATH");
}

TEST_F(DebugFiles, SplitUnits) {
  ASSERT_TRUE(samples->run(
      "mkdir -p obj && gcc -gdwarf-4 -gsplit-dwarf -c a.c -o obj/a.o && gcc -gdwarf-4 obj/a.o -o split && "
      "dwp -e split -o split.dwp"))
      << samples->log();
  std::string module = samples->path("split");
  DebugFile none;
  FoundFile package = find_dwp(module, none, {});
  ASSERT_TRUE(package.file);
  EXPECT_EQ(package.path, module + ".dwp");
  EXPECT_FALSE(package.file->section(".debug_info.dwo").empty());
  ASSERT_TRUE(samples->run("mv split.dwp obj"));
  EXPECT_FALSE(find_dwp(module, none, {}).file);
  EXPECT_EQ(find_dwp(module, none, {.folders = {samples->path("obj")}}).path, samples->path("obj/split.dwp"));
  // That of a separate debug file stands beside that.
  ASSERT_TRUE(samples->run("mv obj/split.dwp obj/split.debug.dwp"));
  none.debug.path = samples->path("obj/split.debug");
  EXPECT_EQ(find_dwp(module, none, {}).path, samples->path("obj/split.debug.dwp"));

  auto place = [&](const char* name, const std::string& folder, const DebugSearch& search = {}) {
    return find_dwo(name, folder, module, search).path;
  };
  std::string dwo = samples->path("obj/a.dwo");
  EXPECT_EQ(place("obj/a.dwo", samples->folder()), dwo);
  EXPECT_EQ(place("a.dwo", "obj"), dwo);       // relative to the module
  EXPECT_EQ(place("obj/a.dwo", "/gone"), dwo); // beside the module
  EXPECT_EQ(place(dwo.c_str(), "/gone"), dwo); // absolute
  EXPECT_EQ(place("x/a.dwo", "/gone"), "");
  EXPECT_EQ(place("x/a.dwo", "/gone", {.folders = {samples->path("obj")}}), dwo);
  EXPECT_EQ(place("", ""), "");
  ASSERT_TRUE(samples->run("cp whole a.dwo"));
  FoundFile wrong = find_dwo("a.dwo", samples->folder(), module, {});
  EXPECT_FALSE(wrong.file);
  EXPECT_EQ(summary(wrong.tried), samples->path("a.dwo") + ": it has no split units");
}

TEST(KernelDebugFile, ByItsBuildId) {
  auto notes = base::read_file("/sys/kernel/notes");
  if (!notes.ok()) GTEST_SKIP() << notes.error().message;
  base::ByteSpan id = format::build_id_in_notes(std::as_bytes(std::span(*notes)), 4);
  if (id.empty()) GTEST_SKIP() << "this kernel has no build-id";
  Scratch s;
  for (bool is_right : {false, true}) {
    std::string text(reinterpret_cast<const char*>(id.data()), id.size());
    if (!is_right) text[0] ^= 1;
    ElfBuilder vmlinux;
    vmlinux.add_build_id(text);
    vmlinux.add(".debug_info", "some");
    s.write("vmlinux", vmlinux.build());
    DebugFile found = find_kernel_debug_file({.folders = {s.path("vmlinux")}});
    EXPECT_EQ(found.source == Source::folder, is_right);
  }
}

} // namespace
} // namespace symbol
