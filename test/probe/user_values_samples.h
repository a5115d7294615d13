// Programs whose variables tests look at.
#pragma once

namespace samples {

inline constexpr char values_c[] = R"(
#include <stdlib.h>
#include <stdbool.h>
struct point { int x, y; };
struct pair { long a; char b; short c; };
struct big { long a, b, c, d; };
struct mixed { double d; long n; };
struct bits { unsigned a : 3; int b : 7; unsigned c : 22; long d : 33; };
enum color { red, green = 5, blue = -3 };
union either { int i; char bytes[4]; };
int counter = 5;
static int hidden = 6;
int table[4] = { 10, 20, 30, 40 };
struct big whole = { 1, 2, 3, 4 };
__thread int of_thread = 7;
static __thread long more_of_thread = 8;
const char *words[] = { "one", "two" };
static volatile long sink;
__attribute__((noinline)) void use(long n) { sink += n; }
__attribute__((noinline)) void use_pointer(const void *p) { __asm__ volatile("" : : "r"(p) : "memory"); }
static inline __attribute__((always_inline)) long squares(int from, long upto) {
  long total = 0;
  for (int at = from; at < upto; at++) { total += at * at; use(total); }
  return total;
}
__attribute__((noinline)) int scalars(char c, unsigned char uc, short s, int i, long l, _Bool b, char *p, int seventh,
                                      signed char eighth) {
  int local = c + uc;
  use(local);
  local += s + i;
  use(l);
  use(b);
  use_pointer(p);
  local += seventh * eighth;
  use(local);
  return local;
}
__attribute__((noinline)) long structures(struct point p, struct big g, struct pair q, int after, union either e,
                                          struct bits f) {
  long sum = p.x + p.y;
  use(sum);
  sum += g.a + g.d + q.a;
  use(sum + q.b);
  use(after + e.i + f.b);
  return sum + f.d;
}
__attribute__((noinline)) double floats(double d, int i, float f, struct mixed m, long last) {
  double r = d * i + f;
  use(i);
  use((long)m.d + m.n);
  use(last);
  return r + m.n;
}
__attribute__((noinline)) long long_way(int n, enum color k, __int128 wide, struct point *to) {
  struct point own = { n, n * 2 };
  long sum = squares(1, n);
  static int calls = 3;
  calls++;
  for (int i = 0; i < n; i++) {
    int doubled = i * 2;
    if (doubled > 4) {
      long n = doubled * 100L;
      use(n);
      sum += n;
    }
    use(doubled + k);
    own.x += doubled;
    use_pointer(&own);
  }
  to->x = own.x;
  use((long)(wide >> 64) + (long)wide);
  return sum + squares(2, 4);
}
static __attribute__((noinline)) int partly(int used, int unused, struct point *by) { use(used); return by->x + used; }
__attribute__((noinline)) struct point make_point(int x) { struct point p = { x, -x }; use(x); return p; }
__attribute__((noinline)) struct big make_big(long x) { struct big b = { x, x + 1, x + 2, x + 3 }; use(x); return b; }
__attribute__((noinline)) struct mixed make_mixed(long x) { struct mixed m = { 1.5, x }; use(x); return m; }
__attribute__((noinline)) signed char make_char(int x) { use(x); return (signed char)x; }
__attribute__((noinline)) _Bool make_bool(int x) { use(x); return x > 3; }
__attribute__((noinline)) double make_double(int x) { use(x); return x; }
__attribute__((noinline)) enum color make_color(int x) { use(x); return x ? blue : red; }
__attribute__((noinline)) __int128 make_wide(long x) { use(x); return ((__int128)x << 64) | 77; }
__attribute__((noinline)) int recursive(int depth) {
  volatile int here = depth * 11;
  int below = depth > 0 ? recursive(depth - 1) : 0;
  use(here + below);
  return here + below;
}
int main(int argc, char **argv) {
  struct point p = { -3, 4 };
  struct big g = { 100, 200, 300, 400 };
  struct pair q = { 55, 'q', -9 };
  union either e = { .i = 0x41424344 };
  struct bits f = { 5, -6, 12345, -7 };
  struct mixed m = { 2.5, 99 };
  for (int round = 0; round < 2; round++) {
    counter += scalars(-5, 250, -300, 70000 + round, -1L << 40, true, (char *)words[1], 777, -8);
    counter += (int)structures(p, g, q, 66, e, f);
    counter += (int)floats(0.5, 3, 1.25f, m, 12345678901L);
    counter += (int)long_way(5, blue, ((__int128)3 << 64) | 9, &p);
    counter += partly(argc + 4, 5, &p) + recursive(3);
    counter += make_point(7).y + (int)make_big(9).c + (int)make_mixed(8).n + make_char(-4) + make_bool(4);
    counter += (int)make_double(6) + make_color(1) + (int)make_wide(5);
    hidden += counter + of_thread + (int)more_of_thread + table[round] + (int)whole.b;
  }
  use(hidden);
  return 0;
}
)";

inline constexpr char values_cc[] = R"(
#include <cstdint>
#include <cstdlib>
volatile long sink;
__attribute__((noinline)) void use(long n) { sink = sink + n; }
namespace shop {
static int opened = 4;
namespace { int secret = 44; }
struct Base { int id = 1; virtual ~Base() {} virtual long price(int amount) = 0; };
struct Named { const char *name = "n"; static int count; };
int Named::count = 12;
class Item : public Base, public Named {
public:
  explicit Item(int cost) : cost_(cost), flag_(9) { use(cost); }
  __attribute__((noinline)) long price(int amount) override {
    long total = cost_ * long(amount);
    use(total);
    return total + opened;
  }
  __attribute__((noinline)) Item &again(const Item &other, bool twice) {
    int before = cost_;
    cost_ += other.cost_ * (twice ? 2 : 1);
    use(before);
    return *this;
  }
  static const int limit = 9;
private:
  int cost_;
  unsigned flag_ : 4;
};
struct Moved { // not to be passed in registers
  long a, b;
  Moved(long x) : a(x), b(x * 2) {}
  Moved(const Moved &o) : a(o.a + 1), b(o.b) {}
  ~Moved() { use(a); }
};
struct Small { int a; short b; };
struct Empty {};
template<class T, int N> struct Box {
  T values[N];
  __attribute__((noinline)) T sum(T start) const {
    T total = start;
    for (const T &v : values) { total += v; use(long(total)); }
    return total;
  }
};
template<class F> __attribute__((noinline)) long apply(F f, int n) { long r = f(n); use(r); return r; }
__attribute__((noinline)) long take(Moved m, Small s, Empty, int last, int &&gone) { use(m.a + s.b); use(last); return gone; }
__attribute__((noinline)) Moved make(long x) { use(x); return Moved(x); }
struct Virtual : virtual Named { __attribute__((noinline)) Virtual(int v) : v_(v) { use(v); } int v_; };
struct Lower : Virtual { __attribute__((noinline)) Lower(int v) : Virtual(v + 1) { use(v_); } };
enum class Size : uint8_t { small = 3, large = 200 };
__attribute__((noinline)) int sized(Size s, long Base::*, int (Item::*)(int), std::nullptr_t, int end) { use(long(s)); use(end); return end; }
}
int main() {
  shop::Item one(3), two(5);
  shop::Box<int, 3> box{{1, 2, 3}};
  shop::Box<long, 2> longs{{10, 20}};
  int captured = 17;
  shop::Base *base = &one;
  for (int i = 0; i < 2; i++) {
    use(base->price(4 + i));
    use(one.again(two, i == 1).price(2));
    use(box.sum(100) + longs.sum(1000));
    use(shop::apply([&captured, i](int n) { captured += n; use(captured); return captured * 2L + i; }, 6));
    use(shop::take(shop::Moved(31), shop::Small{8, -9}, {}, 1234, i + 5));
    use(shop::make(21).b);
    shop::Lower lower(70);
    use(lower.v_ + shop::secret + shop::Named::count);
    use(shop::sized(shop::Size::large, nullptr, nullptr, nullptr, 4321));
  }
  return 0;
}
)";

} // namespace samples
