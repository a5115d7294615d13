// Functions of libm that linked libraries name: the mathematics of SQLite and CLIPS, for queries and rules that use them. acu itself needs none, and to search and map
// one more library takes a tenth of a start. So these stand in for it, and load it when one is called.
#include <cfenv>
#include <dlfcn.h>
#include <limits>

namespace {

// Nothing: the C library of this host is damaged.
void* find(const char* name) {
  static void* const library = ::dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
  return library ? ::dlsym(library, name) : nullptr;
}

template<class... Numbers> double call(void* function, Numbers... numbers) {
  return function ? reinterpret_cast<double (*)(Numbers...)>(function)(numbers...) : std::numeric_limits<double>::quiet_NaN();
}

} // namespace

#define OF_ONE(name) \
  extern "C" double name(double x) { \
    static void* const found = find(#name); \
    return call(found, x); \
  }
#define OF_TWO(name) \
  extern "C" double name(double x, double y) { \
    static void* const found = find(#name); \
    return call(found, x, y); \
  }

OF_ONE(acos)
OF_ONE(acosh)
OF_ONE(asin)
OF_ONE(asinh)
OF_ONE(atan)
OF_ONE(atanh)
OF_ONE(cos)
OF_ONE(cosh)
OF_ONE(exp)
OF_ONE(floor)
OF_ONE(log)
OF_ONE(sin)
OF_ONE(sinh)
OF_ONE(sqrt)
OF_ONE(tan)
OF_ONE(tanh)
OF_ONE(trunc)
OF_TWO(atan2)
OF_TWO(fmod)
OF_TWO(pow)

// std::from_chars rounds to the nearest while it reads; nothing here ever rounds otherwise.
extern "C" int fegetround() { return FE_TONEAREST; }
extern "C" int fesetround(int mode) { return mode != FE_TONEAREST; }
