// The same for C++: classes, templates, references, namespaces, lambdas, virtual calls.
#include <cstdio>
#include <string>

#define NOINLINE __attribute__((noinline, noclone, noipa))

volatile int sink;

namespace ns {
enum class Mode : short { off, on = 3 };
struct Base {
  int base_number = 11;
  virtual ~Base() = default;
  NOINLINE virtual int weight(int n) {
    sink = n;
    return n + base_number;
  }
};
template<class T, int N> struct Box {
  T items[N];
  int used = 0;
  NOINLINE void put(const T& item) {
    sink = used;
    items[used++ % N] = item;
  }
};
class Derived : public Base {
public:
  Mode mode = Mode::on;
  Box<Box<short, 2>, 3> nested;
  static int instances;
  NOINLINE int weight(int n) override {
    sink = n;
    return n * own_;
  }

private:
  int own_ = 4;
};
int Derived::instances = 77;
namespace {
int anonymous = 5; // nobody else sees it
}
NOINLINE int by_reference(const Derived& d, Mode m, Box<int, 4>* box) {
  anonymous++;
  sink = static_cast<int>(m);
  return d.base_number + box->used + anonymous;
}
NOINLINE int overloaded(int n) { return sink = n; }
NOINLINE int overloaded(const char* s) { return sink = s[0]; }
} // namespace ns

template<class F> NOINLINE int call(F&& f, int n) { return f(n); }

int main() {
  ns::Derived d;
  ns::Box<int, 4> box;
  box.put(42);
  box.put(43);
  ns::Base* b = &d;
  b->weight(6);
  ns::by_reference(d, ns::Mode::on, &box);
  ns::overloaded(9);
  const char* text = "x";
  sink = *static_cast<const char* volatile&>(text); // a page that nobody touched yet can't be read by a probe
  ns::overloaded(text);
  int captured = 100;
  auto adder = [captured](int n) NOINLINE { return sink = captured + n; };
  call(adder, 1);
  std::printf("%d\n", sink);
}
