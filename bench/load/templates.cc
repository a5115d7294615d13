// A C++ program with many templates, for addresses that lie in inlined calls: containers and algorithms of the library
// over several types. It loads the libraries of its command line, says its number, and waits for the end of its input.
#include <algorithm>
#include <cstdio>
#include <deque>
#include <dlfcn.h>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <unistd.h>
#include <unordered_map>
#include <variant>
#include <vector>

namespace {

template<int N> struct Tagged {
  long value = N;
  std::string name = "tag";
  bool operator<(const Tagged& o) const { return value != o.value ? value < o.value : name < o.name; }
  bool operator==(const Tagged& o) const { return value == o.value && name == o.name; }
};

template<int N> struct Hash {
  size_t operator()(const Tagged<N>& t) const { return std::hash<long>()(t.value) ^ std::hash<std::string>()(t.name); }
};

template<class T> long as_number(const T& x) {
  if constexpr (std::is_arithmetic_v<T>)
    return static_cast<long>(x);
  else if constexpr (std::is_same_v<T, std::string>)
    return static_cast<long>(x.size());
  else
    return x.value;
}

template<class T, class Make> long containers(Make make, int count) {
  std::vector<T> list;
  for (int i = 0; i < count; i++) list.push_back(make(i));
  std::sort(list.begin(), list.end());
  std::stable_sort(list.rbegin(), list.rend());
  std::partial_sort(list.begin(), list.begin() + count / 2, list.end());
  std::nth_element(list.begin(), list.begin() + count / 3, list.end());
  std::set<T> set(list.begin(), list.end());
  std::map<T, std::vector<T>> map;
  std::deque<T> deque;
  std::list<T> linked;
  for (const T& x : list) {
    map[x].push_back(x);
    deque.push_front(x);
    linked.push_back(x);
  }
  linked.sort();
  linked.unique();
  std::rotate(deque.begin(), deque.begin() + count / 4, deque.end());
  std::make_heap(list.begin(), list.end());
  std::pop_heap(list.begin(), list.end());
  long sum = std::accumulate(list.begin(), list.end(), 0L, [](long s, const T& x) { return s + as_number(x); });
  std::function<long(const T&)> f = [&map](const T& x) { return static_cast<long>(map.count(x)); };
  for (const T& x : deque) sum += f(x);
  std::optional<T> first = set.empty() ? std::nullopt : std::optional<T>(*set.begin());
  std::variant<std::monostate, T> either;
  if (first) either = *first;
  auto shared = std::make_shared<std::vector<T>>(list);
  return sum + static_cast<long>(either.index() + shared->size());
}

template<int N> long with_tags(int count) {
  std::unordered_map<Tagged<N>, long, Hash<N>> counts;
  for (int i = 0; i < count; i++) counts[{i % (N + 2), std::to_string(i % 7)}]++;
  long sum = containers<Tagged<N>>([](int i) { return Tagged<N>{i % 17, std::to_string(i)}; }, count);
  for (auto& [tag, n] : counts) sum += n * tag.value;
  return sum;
}

template<int... N> long all_tags(std::integer_sequence<int, N...>, int count) { return (with_tags<N>(count) + ...); }

long text(int count) {
  std::regex word("([a-z]+)([0-9]*)");
  std::ostringstream out;
  for (int i = 0; i < count; i++) out << "word" << i << ' ';
  std::string all = out.str();
  long sum = 0;
  for (std::sregex_iterator it(all.begin(), all.end(), word), end; it != end; ++it) sum += it->length(2);
  return sum;
}

} // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; i++)
    if (!dlopen(argv[i], RTLD_NOW)) return std::fprintf(stderr, "%s\n", dlerror()), 1;
  std::mt19937 random(1);
  int count = 20;
  long sum = all_tags(std::make_integer_sequence<int, 12>(), count) + text(count);
  sum += containers<int>([&](int) { return static_cast<int>(random()); }, count);
  sum += containers<double>([&](int i) { return i / 3.0; }, count);
  sum += containers<std::string>([&](int i) { return std::to_string(i); }, count);
  std::printf("%d %ld\n", static_cast<int>(getpid()), sum);
  std::fflush(stdout);
  char byte;
  while (read(STDIN_FILENO, &byte, 1) > 0) {
  }
}
