// A load whose stacks have C++ names.
#include <unistd.h>

#define KEPT __attribute__((noinline))

namespace shop {
volatile int sum;

template<class T> struct Basket {
  KEPT void add(T what, const char* name) {
#if defined(__x86_64__)
    long result = 39; // getpid
    __asm__ volatile("syscall" : "+a"(result) : : "rcx", "r11", "memory");
#else
    register long x8 __asm__("x8") = 172;
    register long x0 __asm__("x0");
    __asm__ volatile("svc 0" : "=r"(x0) : "r"(x8) : "memory");
#endif
    sum = static_cast<int>(what) + name[0];
  }
};

KEPT void fill(unsigned long n) {
  Basket<int> basket;
  for (unsigned long i = 0; i < n; i++) basket.add(static_cast<int>(i), "x");
  sum = sum + 1;
}
} // namespace shop

int main() {
  shop::fill(2);
  usleep(100000);
  return shop::sum = 0;
}
