// Functions of one name, in all the ways of C++.
#include <string>
namespace ns {
__attribute__((noinline)) int add(int a, int b) { return a + b; }
__attribute__((noinline)) long add(long a, long b) { return a - b + 1; }
template<class T> __attribute__((noinline)) T add(T a) { return a + 2; }
struct Box {
  int n = 1;
  __attribute__((noinline)) int add(int b) const { return n + b; }
  __attribute__((noinline)) Box operator+(const Box& o) const { return {n + o.n}; }
};
} // namespace ns
namespace {
__attribute__((noinline)) int hidden(int a) { return a * 2; }
} // namespace
int main() {
  int total = ns::add(1, 2) + static_cast<int>(ns::add(1L, 2L)) + ns::add<short>(3) + ns::add<int>(4);
  ns::Box a, b;
  total += a.add(5) + (a + b).n + hidden(total);
  return total == 0;
}
