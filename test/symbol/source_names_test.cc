// Names of C++ as scripts write them, against what the demangler says.
#include "symbol/source_names.h"

#include <gtest/gtest.h>

namespace symbol {
namespace {

bool matches(std::string_view written, std::string_view demangled) {
  return SourceName(written).matches(demangled);
}

TEST(SourceNames, Parts) {
  auto parts = [](std::string_view text) {
    SourceParts p = split_source_name(text);
    return std::string(p.name) + "|" + std::string(p.parameters);
  };
  EXPECT_EQ(parts("f(int)"), "f|(int)");
  EXPECT_EQ(parts("ns::A::f(int, char const*) const"), "ns::A::f|(int, char const*) const");
  EXPECT_EQ(parts("int ns::f<int>(int)"), "ns::f<int>|(int)");
  EXPECT_EQ(parts("std::vector<int, std::allocator<int> > make<int>(unsigned long)"),
            "make<int>|(unsigned long)");
  EXPECT_EQ(parts("(anonymous namespace)::f(int)"), "(anonymous namespace)::f|(int)");
  EXPECT_EQ(parts("A::operator()(int) const"), "A::operator()|(int) const");
  EXPECT_EQ(parts("A::operator<(A const&)"), "A::operator<|(A const&)");
  EXPECT_EQ(parts("std::ostream& operator<< <char>(std::ostream&, char)"),
            "operator<< <char>|(std::ostream&, char)");
  EXPECT_EQ(parts("operator new(unsigned long)"), "operator new|(unsigned long)");
  EXPECT_EQ(parts("A::operator bool() const"), "A::operator bool|() const");
  EXPECT_EQ(parts("main::{lambda(int)#1}::operator()(int) const"),
            "main::{lambda(int)#1}::operator()|(int) const");
  EXPECT_EQ(parts("plain"), "plain|");
  EXPECT_EQ(parts("f(int) [clone .cold]"), "f|(int) [clone .cold]");
  EXPECT_EQ(parts("void g<void (*)(int)>(void (*)(int))"), "g<void (*)(int)>|(void (*)(int))");
  for (std::string_view broken :
       {"", "(", ")", "<", "operator", "operator(", "f(((", ")))(", "a<b", " ", "f() "})
    (void)parts(broken);
}

TEST(SourceNames, AllOverloadsAndInstances) {
  EXPECT_TRUE(matches("ns::f", "ns::f(int)"));
  EXPECT_TRUE(matches("ns::f", "ns::f()"));
  EXPECT_TRUE(matches("ns::f", "int ns::f<int>(int)"));
  EXPECT_TRUE(matches("::ns::f", "ns::f()"));
  EXPECT_TRUE(matches("ns::f<int>", "int ns::f<int>(int)"));
  EXPECT_FALSE(matches("ns::f<long>", "int ns::f<int>(int)"));
  EXPECT_FALSE(matches("f", "ns::f(int)"));
  EXPECT_FALSE(matches("ns::f", "ns::ff(int)"));
  EXPECT_FALSE(matches("ns::f", "ns::f::g(int)"));
  EXPECT_TRUE(matches("A<int>::f", "A<int>::f()"));
  EXPECT_TRUE(matches("plain", "plain"));
}

TEST(SourceNames, OneOfThem) {
  EXPECT_TRUE(matches("ns::f(int, char const*)", "ns::f(int, char const*)"));
  EXPECT_TRUE(matches("ns::f(int,char const*)", "ns::f(int, char const*)"));
  EXPECT_TRUE(matches("ns::f( int , char const * )", "ns::f(int, char const*)"));
  EXPECT_FALSE(matches("ns::f(int)", "ns::f(int, char const*)"));
  EXPECT_TRUE(matches("f<int>(int)", "int f<int>(int)"));
  EXPECT_TRUE(matches("A::f(unsigned long) const", "A::f(unsigned long) const"));
  EXPECT_FALSE(matches("A::f(unsigned long)", "A::f(unsigned long) const"));
}

TEST(SourceNames, Wildcards) {
  EXPECT_TRUE(matches("ns::*", "ns::f(int)"));
  EXPECT_TRUE(matches("*::f", "int ns::f(int)"));
  EXPECT_TRUE(matches("ns::?", "ns::f(int)"));
  EXPECT_FALSE(matches("ns::*", "other::f(ns::A)"));
  EXPECT_TRUE(matches("ns::f*(int)", "ns::f(int)"));
  EXPECT_FALSE(matches("ns::f*(int)", "ns::f(long)"));
}

TEST(SourceNames, Operators) {
  EXPECT_TRUE(matches("A::operator+", "A::operator+(A const&)"));
  EXPECT_TRUE(matches("A::operator*", "A::operator*(A const&)"));
  EXPECT_FALSE(matches("A::operator*", "A::operator+(A const&)"));
  EXPECT_TRUE(matches("operator new", "operator new(unsigned long)"));
  EXPECT_TRUE(matches("operator new[]", "operator new[](unsigned long)"));
  EXPECT_FALSE(matches("operator new", "operator new[](unsigned long)"));
}

TEST(SourceNames, QuickLook) {
  EXPECT_TRUE(SourceName("ns::f").may_match("_ZN2ns1fEi"));
  EXPECT_FALSE(SourceName("ns::name").may_match("_ZN2ns1fEi"));
  EXPECT_TRUE(SourceName("A::operator+").may_match("_ZN1AplERKS_"));
  EXPECT_TRUE(SourceName("std::string::string").may_match("_ZNSsC1Ev"));
  EXPECT_TRUE(SourceName("A::~A").may_match("_ZN1AD1Ev"));
}

} // namespace
} // namespace symbol
