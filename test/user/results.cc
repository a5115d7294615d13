// Uses much of the C and C++ libraries and checks every result: `results N` rounds, after a line of input. Prints "right", or what
// is wrong.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

static int wrong = 0;

static void check(bool is_right, const char* what, int round) {
  if (is_right || wrong++ > 5) return;
  std::fputs("wrong: ", stdout);
  std::fputs(what, stdout);
  std::fputs(round % 2 ? " (odd)\n" : " (even)\n", stdout);
}

static void use_text(int i) {
  char text[300], copy[300];
  size_t length = static_cast<size_t>(i % 250) + 1;
  std::memset(text, 'a' + i % 20, length);
  text[length] = 0;
  check(std::strlen(text) == length, "strlen", i);
  std::memcpy(copy, text, length + 1);
  check(std::memcmp(text, copy, length + 1) == 0, "memcmp", i);
  check(std::strcmp(text, copy) == 0, "strcmp", i);
  copy[length / 2] = 'z';
  check(std::strchr(copy, 'z') == copy + length / 2, "strchr", i);
  check(std::strrchr(copy, 'z') == copy + length / 2, "strrchr", i);
  check(std::memchr(copy, 'z', length) == copy + length / 2, "memchr", i);
  check(std::strstr(copy, "z") == copy + length / 2, "strstr", i);
  check(std::strspn(text, "abcdefghijklmnopqrstuvwxyz") == length, "strspn", i);
  std::memmove(copy + 1, copy, length - 1);
  check(copy[1] == copy[0] || length == 1 || copy[0] == 'z', "memmove", i);
}

static void use_numbers(int i) {
  char text[100];
  std::snprintf(text, sizeof text, "%d %.2f %s %x", i, i / 4.0, "abc", i);
  int a = 0;
  unsigned x = 0;
  double d = 0;
  char word[10] = "";
  check(std::sscanf(text, "%d %lf %9s %x", &a, &d, word, &x) == 4, "sscanf", i);
  check(a == i && d == i / 4.0 && x == static_cast<unsigned>(i) && !std::strcmp(word, "abc"), "printf, scanf",
        i);
  check(std::strtol("-123", nullptr, 10) == -123 && std::strtod("2.5", nullptr) == 2.5, "strtol, strtod", i);
  check(std::lround(std::sqrt(static_cast<double>(i) * i)) == i, "sqrt", i);
  check(std::fabs(std::exp(std::log(i + 1.0)) - (i + 1)) < 1e-6 * (i + 1), "exp, log", i);
  time_t t = i * 86400L;
  struct tm parts;
  check(gmtime_r(&t, &parts) && timegm(&parts) == t, "gmtime, timegm", i);
}

static void use_containers(int i) {
  std::vector<int> numbers;
  for (int k = 0; k < 50; k++) numbers.push_back((k * 37 + i) % 50);
  std::sort(numbers.begin(), numbers.end());
  check(std::is_sorted(numbers.begin(), numbers.end()) && numbers.size() == 50, "sort", i);
  auto by_value = [](const void* a, const void* b) {
    return *static_cast<const int*>(b) - *static_cast<const int*>(a);
  };
  std::qsort(numbers.data(), numbers.size(), sizeof(int), by_value);
  check(numbers[0] == 49 && numbers[49] == 0, "qsort", i);
  std::map<std::string, int> names;
  for (int k = 0; k < 20; k++) names["name" + std::to_string(k * i % 20)] += k;
  int total = 0;
  for (auto& [name, value] : names) total += value;
  check(total == 190, "map", i);
  std::ostringstream out;
  out << i << ' ' << 1.5 << ' ' << "text";
  check(out.str() == std::to_string(i) + " 1.5 text", "ostringstream", i);
  bool caught = false;
  try {
    (void)numbers.at(50);
  } catch (const std::out_of_range&) {
    caught = true;
  }
  check(caught, "exception", i);
}

int main(int argc, char** argv) {
  int rounds = argc > 1 ? std::atoi(argv[1]) : 1;
  std::puts("ready");
  std::fflush(stdout);
  if (std::getchar() == EOF) return 2;
  for (int i = 0; i < rounds; i++) {
    use_text(i);
    use_numbers(i);
    use_containers(i);
  }
  if (!wrong) std::puts("right");
  return wrong != 0;
}
