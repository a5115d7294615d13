// A C++ program that counts its own calls: templates, lambdas, virtual calls, overloads, exceptions. Prints each name as
// source has it with its count and the sum of what the calls were given.
#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#define KEEP __attribute__((noinline, noclone))

static std::map<std::string, std::pair<long, long>> counts;
static void count(const char* name, long given) {
  auto& c = counts[name];
  c.first++;
  c.second += given;
}

namespace shapes {

struct Shape {
  virtual ~Shape() = default;
  virtual long area(int scale) const = 0;
};
struct Square final : Shape {
  explicit Square(int side) : side(side) {}
  KEEP long area(int scale) const override {
    count("shapes::Square::area(int) const", scale);
    return static_cast<long>(side) * side * scale;
  }
  int side;
};
struct Box final : Shape {
  Box(int width, int height) : width(width), height(height) {}
  KEEP long area(int scale) const override {
    count("shapes::Box::area(int) const", scale);
    return static_cast<long>(width) * height * scale;
  }
  int width, height;
};

template<class T> struct Bag {
  KEEP void put(T value) {
    count(sizeof(T) == 1 ? "shapes::Bag<char>::put(char)" : "shapes::Bag<long>::put(long)", static_cast<long>(value));
    values.push_back(value);
  }
  std::vector<T> values;
};

KEEP long weigh(long grams) {
  count("shapes::weigh(long)", grams);
  if (grams < 0) throw std::runtime_error("nothing weighs less than nothing");
  return grams / 1000;
}
KEEP long weigh(const char* name) {
  long length = static_cast<long>(std::string(name).size());
  count("shapes::weigh(char const*)", length);
  return length;
}

template<class F> KEEP long apply(F f, int n) { return f(n); }

} // namespace shapes

int main() {
  using namespace shapes;
  std::vector<std::unique_ptr<Shape>> all;
  for (int i = 1; i <= 30; i++)
    if (i % 3)
      all.push_back(std::make_unique<Square>(i));
    else
      all.push_back(std::make_unique<Box>(i, 2));
  Bag<long> areas;
  Bag<char> letters;
  long sum = 0;
  for (int round = 1; round <= 5; round++)
    for (auto& s : all) areas.put(s->area(round));
  for (char c : std::string("shapes")) letters.put(c);
  for (long grams : {500L, 2500L, -1L}) try {
      sum += weigh(grams);
    } catch (const std::runtime_error&) {
      sum--;
    }
  sum += weigh("needle");
  for (int i = 0; i < 7; i++)
    sum += apply(
        [&](int n) KEEP {
          count("main::{lambda(int)#1}::operator()(int) const", n);
          return n + sum % 2;
        },
        i);
  for (auto& [name, c] : counts) std::printf("%s\t%ld\t%ld\n", name.c_str(), c.first, c.second);
  return 0;
}
