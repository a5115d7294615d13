// Names of C++ and Rust, and names that were made to hurt.
#include "symbol/demangle.h"

#include <chrono>
#include <cxxabi.h>
#include <gtest/gtest.h>

namespace symbol {
namespace {

TEST(Demangle, Cpp) {
  EXPECT_EQ(demangle("_ZN1A1fEi"), "A::f(int)");
  EXPECT_EQ(demangle("_ZSt4sortIPiEvT_S1_"), "void std::sort<int*>(int*, int*)");
  EXPECT_EQ(demangle("_ZN1A1fEv.cold"), "A::f() [clone .cold]");
  EXPECT_EQ(demangle("_ZZ4mainENKUliE_clEi"), "main::{lambda(int)#1}::operator()(int) const");
}

TEST(Demangle, Rust) {
  EXPECT_EQ(demangle("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE"), "core::fmt::Write::write_fmt");
  EXPECT_EQ(demangle("_RNvNtCs1234_7mycrate3foo3bar"), "mycrate::foo::bar");
  EXPECT_EQ(demangle("_RNvMCs1_5crateNtB2_3Foo3new"), "<crate::Foo>::new");
}

TEST(Demangle, OtherNamesAreNone) {
  for (const char* name :
       {"", "_", "_Z", "_R", "main", "_Zzz", "_ZN", "_ZN1A1fEi extra", "__libc_start_main", "_RNvX"})
    EXPECT_EQ(demangle(name), "") << name;
}

// The same text as the C++ library's own function gives, for names with parts that refer back.
TEST(Demangle, AgreesWithTheLibrary) {
  for (const char* name :
       {"_ZNSt6vectorIiSaIiEE17_M_realloc_insertIJiEEEvN9__gnu_cxx17__normal_iteratorIPiS1_EEDpOT_",
        "_ZNKSt8functionIFvRKSsEEclES1_", "_ZN3fooIXadL_Z3barvEEEC2Ev",
        "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_M_createERmm"}) {
    int status = 0;
    char* text = abi::__cxa_demangle(name, nullptr, nullptr, &status);
    ASSERT_NE(text, nullptr) << name;
    EXPECT_EQ(demangle(name), text);
    std::free(text);
  }
}

// "S_" and the like refer to parts before: each of these pairs holds the one before twice.
std::string doubling(int times) {
  auto reference = [](int n) {
    constexpr const char* digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    std::string text;
    for (int v = n - 1; n > 0 && v >= 0; v = v / 36 - 1) {
      text.insert(text.begin(), digits[v % 36]);
      if (v < 36) break;
    }
    return "S" + text + "_";
  };
  std::string name = "_Z1fSt4pairIiiE"; // S_ is the template, S0_ this pair
  for (int i = 0; i < times; i++) name += "S_I" + reference(i + 1) + reference(i + 1) + "E";
  return name;
}

TEST(Demangle, TextsThatGrowWithoutEndAreGivenUp) {
  EXPECT_EQ(demangle(doubling(1)),
            "f(std::pair<int, int>, std::pair<std::pair<int, int>, std::pair<int, int> >)");
  auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(demangle(doubling(30)), "");                                 // 10^10 bytes
  EXPECT_EQ(demangle("_Z1f" + std::string(30000, 'P') + "i"), "");       // very deep
  EXPECT_EQ(demangle("_Z1f" + std::string(100000, 'i')), "");            // very long
  EXPECT_EQ(demangle("_RC2__RNvICscr2_2FHFFFFFFFGFFFFFC3_FFFe0ew"), ""); // 10^9 lifetimes
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
}

TEST(Demangle, CutAtEveryLength) {
  std::string name =
      "_ZNSt6vectorIiSaIiEE17_M_realloc_insertIJiEEEvN9__gnu_cxx17__normal_iteratorIPiS1_EEDpOT_";
  for (size_t i = 0; i < name.size(); i++)
    EXPECT_EQ(demangle(name.substr(0, i)).find('\0'), std::string::npos);
}

} // namespace
} // namespace symbol
