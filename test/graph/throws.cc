// A function that exceptions pass through, and one that is reached only by a jump.
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

int main(int count, char**) {
  try {
    shop::order(count);
    shop::order(count + 1);
  } catch (const std::exception&) {
    std::puts("caught");
  }
}
