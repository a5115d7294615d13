// Which functions of a program allocate and free: in the files that it maps or will map, each once, whatever it is called.
#include "flame/allocations.h"
#include "scratch.h"
#include "spec/allocation_functions.h"

#include <gtest/gtest.h>

#include <unistd.h>

namespace flame {
namespace {

using spec::AllocatorCalls;

std::string all_places(const Allocations& a) {
  std::string out;
  for (const lang::Insert& p : a.places) out += p.text + "\n";
  return out;
}
size_t count(const std::string& text, std::string_view part) {
  size_t out = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) out++;
  return out;
}
std::string notes(const Allocations& a) {
  std::string out;
  for (const std::string& n : a.notes) out += n + "\n";
  return out;
}

class AllocationsTest : public testing::Test {
protected:
  // A program of this source; `options`: of the compiler.
  std::string program(const std::string& name, const std::string& source, const std::string& options = "") {
    scratch.write(name + ".c", source);
    EXPECT_TRUE(scratch.run("gcc -O1 -fno-builtin -o " + name + " " + name + ".c " + options)) << scratch.log();
    return scratch.path(name);
  }
  Allocations find(const std::string& program, AllocatorCalls calls) {
    auto found = find_allocations(program, calls);
    EXPECT_TRUE(found.ok()) << found.error().message;
    return found.ok() ? std::move(*found) : Allocations();
  }
  Scratch scratch;
};

TEST_F(AllocationsTest, ThoseOfTheCLibraryThatAProgramWillMap) {
  const std::string file = program("plain", "int main(void) { return 0; }");
  const Allocations live = find(file, AllocatorCalls::live);
  EXPECT_EQ(count(all_places(live), "libc.so.6\":malloc"), 2u) << "entry and return: " << all_places(live);
  EXPECT_EQ(count(all_places(live), ":free"), 1u) << "the entry alone";
  EXPECT_NE(live.functions.find("TAKING("), std::string::npos);
  EXPECT_NE(live.functions.find("GIVING"), std::string::npos);
  const Allocations allocated = find(file, AllocatorCalls::allocated);
  EXPECT_EQ(count(all_places(allocated), "libc.so.6\":malloc"), 1u) << "entries alone";
  EXPECT_EQ(count(all_places(allocated), "uretprobe"), 0u);
  EXPECT_EQ(count(all_places(allocated), ":free"), 0u);
  const Allocations freed = find(file, AllocatorCalls::freed);
  EXPECT_EQ(count(all_places(freed), ":free"), 1u);
  EXPECT_NE(freed.functions.find("SIZE_IN_GLIBC"), std::string::npos) << "glibc's blocks tell their size";
  EXPECT_EQ(count(all_places(freed), ":calloc"), 0u);
}

// An allocator of the program itself is probed beside the C library's; what it lacks is said.
TEST_F(AllocationsTest, AnAllocatorOfTheProgram) {
  const std::string file = program("own", "char room[1 << 16]; long used; void *malloc(unsigned long n) { used += n; return room + used - n; } void free(void *p) { }\n"
                                          "int main(void) { free(malloc(5)); return 0; }");
  const Allocations a = find(file, AllocatorCalls::allocated);
  EXPECT_EQ(count(all_places(a), "own\":malloc"), 1u) << all_places(a);
  EXPECT_NE(notes(a).find("own has no symbols for calloc, realloc: what they allocate or free is not counted"), std::string::npos) << notes(a);
  const Allocations freed = find(file, AllocatorCalls::freed);
  EXPECT_NE(notes(freed).find("not counted: blocks freed by free without their sizes"), std::string::npos) << notes(freed);
}

TEST_F(AllocationsTest, AFunctionOfSeveralNamesIsProbedOnce) {
  const std::string file = program("aliases",
                                   "char room[1 << 16]; long used; void *malloc(unsigned long n) { used += n; return room + used - n; }\n"
                                   "void *je_malloc(unsigned long n) __attribute__((alias(\"malloc\"))); void *valloc(unsigned long n) __attribute__((alias(\"malloc\")));\n"
                                   "void free(void *p) { } void *calloc(unsigned long a, unsigned long b) { return malloc(a * b); } void *realloc(void *p, unsigned long n) { return malloc(n); }\n"
                                   "int main(void) { return 0; }");
  const std::string places = all_places(find(file, AllocatorCalls::allocated));
  EXPECT_EQ(count(places, "aliases\":malloc") + count(places, "aliases\":je_malloc") + count(places, "aliases\":valloc"), 1u) << places;
}

TEST_F(AllocationsTest, AProgramWithoutAnAllocator) {
  const std::string file = program("none", "void _start(void) { for (;;) ; }", "-nostdlib -static");
  for (AllocatorCalls calls : {AllocatorCalls::live, AllocatorCalls::allocated, AllocatorCalls::freed}) {
    auto found = find_allocations(file, calls);
    ASSERT_FALSE(found.ok());
    EXPECT_EQ(found.error().kind, base::Failure::nothing_matched);
    EXPECT_TRUE(found.error().message.starts_with("no malloc, calloc, realloc, free in `" + file + "`: it has mapped none")) << found.error().message;
    EXPECT_NE(found.error().message.find("hint: "), std::string::npos);
  }
}

TEST_F(AllocationsTest, ALibraryInAFolderThatTheProgramNames) {
  scratch.write("own.c", "void* _PyObject_GC_New(void* type) { return type; }");
  ASSERT_TRUE(scratch.run("mkdir -p inner && gcc -shared -fPIC -o inner/libown.so own.c")) << scratch.log();
  const std::string source = "void* _PyObject_GC_New(void*);\nint main(void) { return !_PyObject_GC_New(\"\"); }";
  const std::string near = program("near", source, "-Linner -lown -Wl,-rpath,'$ORIGIN/inner'");
  EXPECT_EQ(count(all_places(find(near, AllocatorCalls::objects)), "inner/libown.so\":_PyObject_GC_New"), 1u);
  const std::string far = program("far", source, "-Linner -lown");
  auto found = find_allocations(far, AllocatorCalls::objects);
  ASSERT_FALSE(found.ok());
  EXPECT_NE(found.error().message.find("no Python in"), std::string::npos) << found.error().message;
}

TEST_F(AllocationsTest, AScriptIsItsInterpreter) {
  const std::string file = program("interpreter", "char room[1 << 16]; void *malloc(unsigned long n) { return room; } void free(void *p) { } void *calloc(unsigned long a, unsigned long b) { return room; }\n"
                                                  "void *realloc(void *p, unsigned long n) { return room; } int main(void) { return 0; }");
  scratch.write("script", "#!" + file + " -x\nhello\n");
  scratch.write("script_of_script", "#! " + scratch.path("script") + "\n");
  scratch.write("by_env", "#!/usr/bin/env " + file + "\n");
  for (const char* name : {"script", "script_of_script", "by_env"})
    EXPECT_EQ(count(all_places(find(scratch.path(name), AllocatorCalls::allocated)), "interpreter\":malloc"), 1u) << name;
}

TEST_F(AllocationsTest, AScriptThatIsItsOwnInterpreterEnds) {
  scratch.write("self", "#!" + scratch.path("self") + "\n");
  EXPECT_FALSE(find_allocations(scratch.path("self"), AllocatorCalls::live).ok());
  EXPECT_FALSE(find_allocations(scratch.path("no such file"), AllocatorCalls::live).ok());
}

// `operator new` of an allocator may throw: while its return is probed like others that would end a program that catches.
TEST_F(AllocationsTest, OperatorNewIsProbedAtItsReturnInstructions) {
  scratch.write("cpp.cc", R"(#include <new>
char room[1 << 16];
unsigned long used;
extern "C" void* malloc(unsigned long n) noexcept { used += n; return room + used - n; }
extern "C" void free(void*) noexcept {}
extern "C" void* calloc(unsigned long a, unsigned long b) noexcept { return malloc(a * b); }
extern "C" void* realloc(void*, unsigned long n) noexcept { return malloc(n); }
void* operator new(unsigned long n) {
  if (n > sizeof room - used) throw std::bad_alloc();
  return malloc(n);
}
int main(int n, char**) {
  try { int* volatile p = new int(n); return *p; } catch (const std::bad_alloc&) { return 1; }
})");
  ASSERT_TRUE(scratch.run("g++ -O1 -fno-builtin -o cpp cpp.cc")) << scratch.log();
  const Allocations a = find(scratch.path("cpp"), AllocatorCalls::live);
  EXPECT_NE(notes(a).find("`operator new` of cpp is probed at its return instructions"), std::string::npos) << notes(a);
  EXPECT_NE(a.functions.find("@careful++"), std::string::npos) << a.functions << all_places(a);
  EXPECT_EQ(notes(find(scratch.path("cpp"), AllocatorCalls::allocated)).find("return instructions"), std::string::npos) << "entries alone are safe";
}

TEST_F(AllocationsTest, OfARunningProcess) {
  auto found = find_allocations(static_cast<int>(::getpid()), AllocatorCalls::allocated);
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_GE(count(all_places(*found), ":malloc"), 1u);
  auto gone = find_allocations(0x3ffffff, AllocatorCalls::allocated);
  ASSERT_FALSE(gone.ok());
  EXPECT_TRUE(gone.error().message.starts_with("no malloc, calloc, realloc, free in process 67108863: it has no readable files")) << gone.error().message;
}

TEST(CostOfFollowing, InPercentOfACpu) {
  constexpr uint64_t second = 1'000'000'000;
  EXPECT_EQ(cost_of_following(0, 0, 0, second), 0);
  EXPECT_DOUBLE_EQ(cost_of_following(second / spec::taking_ns / 100, 0, 0, second), 100.0 * static_cast<double>(second / spec::taking_ns / 100 * spec::taking_ns) / 1e9);
  EXPECT_GT(cost_of_following(1000, 0, 1000, second), cost_of_following(1000, 0, 0, second)) << "those at return instructions cost more";
  EXPECT_DOUBLE_EQ(cost_of_following(1000, 500, 0, second), 2 * cost_of_following(1000, 500, 0, 2 * second));
}

} // namespace
} // namespace flame
