// Numbers of floating point in all the places where a value can be.
#include <cmath>
#include <cstdio>
#include <cstdlib>

struct Price {
  int id;
  float low;
  double high;
  long double exact;
  double quarters[4];
};

float g_float = 1.1f;
double g_double = 3.14159265358979, g_zero = -0.0, g_inf = INFINITY, g_nan = NAN, g_denormal = 4.9e-324;
double g_large = 1.7976931348623157e308, g_negative = -2.75, g_whole = 1e15;
long double g_long = 0.1L;
Price g_price = {7, 1.5f, 2.25, 0.1L, {0.25, 0.5, 0.75, 1}};
Price* g_prices = &g_price;

// Leaves its arguments in xmm0 and xmm1.
__attribute__((noinline, noclone)) double crash(double x, float y, volatile int* nowhere) {
  *nowhere = 1;
  return x + y;
}

__attribute__((noinline, noclone)) double in_memory(double x, float y) {
  volatile double local = x * 2 + y;
  return crash(local, y, nullptr) + local;
}

int main(int argc, char**) { std::printf("%f\n", in_memory(argc * 1.25, 0.1f)); }
