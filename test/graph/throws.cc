// Functions that exceptions pass through; with two words nothing is thrown.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace shop {
[[gnu::noipa]] void fail(int n) {
  if (n > 1) throw std::runtime_error("more than one");
}
[[gnu::noipa]] int order(int n) {
  fail(n);
  return n;
}
} // namespace shop

template <class T> [[gnu::noipa]] T twice(T n) {
  return n + n;
}

int main(int count, char**) {
  if (count == 3) return twice<long>(shop::order(1)) - 2;
  try {
    shop::order(count);
    shop::order(count + 1);
  } catch (const std::exception&) {
    std::puts("caught");
  }
}
