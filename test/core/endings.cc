// A program that ends in the way that its argument names.
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

struct BrokenOrder : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct Secret {
  int number;
};
volatile int sink;
__attribute__((noipa)) static int dive(int n) {
  volatile char here[500];
  here[0] = static_cast<char>(n);
  return dive(n + 1) + here[0];
}
__attribute__((noipa)) static void climb(const volatile char* p) {
  for (;; p++) sink = *p; // up to the end of the stack
}
int main(int, char** arguments) {
  const std::string how = arguments[1];
  if (how == "free twice") {
    void* volatile block = std::malloc(24);
    std::free(block);
    std::free(block);
  }
  if (how == "assert") assert(how.empty() && "nothing to do");
  if (how == "at") return std::vector<int>().at(5);
  if (how == "derived") throw BrokenOrder("order 17 has no lines");
  if (how == "long") throw std::logic_error(std::string(200, 'x'));
  if (how == "plain") throw Secret{7};
  if (how == "int") throw 7;
  if (how == "in a thread") std::thread([] { throw BrokenOrder("order 18 has no lines"); }).join();
  if (how == "caught, then aborts") {
    try {
      throw BrokenOrder("order 19 has no lines");
    } catch (const std::exception&) {
    }
  }
  if (how == "overflow") return dive(0);
  if (how == "overflow in a thread") std::thread([] { sink = dive(0); }).join();
  if (how == "above the stack") climb(reinterpret_cast<const volatile char*>(&how));
  std::abort();
}
