// Objects of the standard library, sound ones and damaged ones. Built with libstdc++ and with libc++, it prints the same.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <forward_list>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>
using namespace std;
struct Order {
  int id;
  string who;
  vector<double> prices;
};
string text = "short", long_text(5000, 'x'), empty_text, strange = "a\"b\n";
vector<int> few = {17, 18, 19}, many(300, 1), none;
vector<bool> flags = {true, false, true};
vector<string> words = {"a", "b"};
vector<Order> orders = {{7, "seven", {1.5, 2}}};
map<int, string> names = {{1, "one"}, {2, "two"}, {3, "three"}};
map<string, vector<int>> lists = {{"odd", {1, 3}}, {"even", {2}}};
multimap<short, double> twice = {{1, 1.5}, {1, 2.5}};
set<long> numbers = {5, 3, 4};
unordered_map<string, int> ages = {{"ann", 30}};
unordered_set<int> hashed = {42};
list<int> queue_ = {4, 5, 6};
forward_list<int> ahead = {7, 8};
deque<long> both_ends;
unique_ptr<int> owned = make_unique<int>(5), nobody;
shared_ptr<int> shared1 = make_shared<int>(6), shared2 = shared1;
optional<int> maybe = 3, not_there;
optional<string> maybe_text = "yes";
variant<int, string, double> either = string("second");
tuple<int, string, double> three = {1, "x", 2.5};
array<int, 3> fixed = {1, 2, 3};
pair<int, string> two = {9, "nine"};
atomic<int> counter = 11;
chrono::milliseconds wait_ms{250};
string_view part_of = "viewed";
vector<vector<int>> matrix = {{1, 2}, {3}};
map<int, int> large;
string moved = "a text that is longer than fifteen", moved_to;
multiset<short> scores = {2, 1, 2};
unordered_multimap<int, char> marks = {{1, 'x'}};
unordered_multiset<string> tags = {"tag"};
struct Letters {
  char a, b;
  bool operator<(const Letters& o) const { return a < o.a; }
};
set<Letters> letters = {{'c', 'd'}, {'a', 'b'}}; // in nodes right behind a colour
map<char, Letters> by_letter = {{'k', {'v', 'w'}}};
map<string, long double> precise = {{"half", 0.5L}};
struct alignas(64) Line {
  int first;
};
struct Aligned {
  alignas(32) int first;
};
map<int, Line> lines = {{1, {2}}};
list<Line> listed_lines = {{3}};
unordered_map<int, Aligned> aligned_of = {{4, {5}}};
u16string wide = u"wide", wide_long = u"too wide for that";
wstring_view wider = L"w";
span<int> all = many, some = {few.data(), 2};
span<int, 2> both(few.data() + 1, 2);
int twice_of(int x) { return x * 2; }
struct Adder {
  int by;
  int operator()(int x) const { return x + by; }
};
struct LargeAdder {
  long by[9];
  int operator()(int x) const { return x + static_cast<int>(by[8]); }
};
function<int(int)> calls = twice_of, adds = Adder{1}, adds_large = LargeAdder{}, calls_none;
function<map<string, int>(int)> lambda = [](int) { return map<string, int>(); };
weak_ptr<int> watches = shared1, expired = make_shared<int>(1);
void close_it(int*) {}
unique_ptr<int, void (*)(int*)> closed = {nullptr, close_it};
tuple<less<int>, int, greater<int>> partly_empty = {less<int>(), 7, greater<int>()};
struct Throws {
  string text;
  explicit Throws(int n) { throw n; }
};
variant<int, Throws> no_value;
struct Block {
  long at, rest[49];
};
deque<Block> blocks;
deque<char> chars(5000, 'c');
array<string, 2> pieces = {"left", "right"};
atomic<int*> shown_at = nullptr;
int watched;
reference_wrapper<int> referred = watched;
vector<bool> many_flags(130, true);
forward_list<int> ahead_many(300, 2);
map<int, vector<string>> nested = {{1, {"a", "b"}}, {2, {}}};
optional<vector<int>> maybe_list = vector<int>{1};
list<int> moved_list = {1, 2};
vector<string> moved_words = {"x"};
alignas(8) char raw[9][64];
auto &lost_vector = *(vector<int>*)raw[0];
auto &lost_text = *(string*)raw[1];
auto &lost_map = *(map<int, int>*)raw[2];
auto &lost_deque = *(deque<long>*)raw[3];
auto &lost_list = *(list<int>*)raw[4];
auto &lost_hash = *(unordered_map<string, int>*)raw[5];
auto &lost_variant = *(variant<int, string, double>*)raw[6];
auto &lost_function = *(function<int(int)>*)raw[7];
auto &lost_ahead = *(forward_list<int>*)raw[8];
list<int> circle = {1, 2, 3};
forward_list<int> ahead_circle = {1, 2, 3};
map<int, int> torn, wound;
__attribute__((noinline)) void stop(const vector<int>& n, string s, map<int, string>* m) {
  asm volatile("" ::"r"(m), "r"(&s));
  if (n.size() == 3) abort();
}
int main() {
  for (long i = 0; i < 200; i++) both_ends.push_back(i);
  for (long i = -3; i < 0; i++) both_ends.push_front(i);
  for (int i = 0; i < 100000; i++) large[i] = i * 2;
  moved_to = std::move(moved);
  for (auto& r : raw)
    for (char& c : r) c = 0x7f;
  try {
    no_value.emplace<1>(1);
  } catch (int) {
  }
  for (long i = 0; i < 40; i++) blocks.push_back({i, {}});
  for (long i = 0; i < 3; i++) blocks.pop_front();
  for (int i = 0; i < 7; i++) torn[i] = wound[i] = i;
  auto taken_list = std::move(moved_list);
  auto taken_words = std::move(moved_words);
  shown_at = &watched;
  // A list that goes in a circle, and says that it has 1,000,000. Nodes begin with links, and the length is the third word.
  auto first = reinterpret_cast<size_t*>(&circle.front()) - 2;
  first[0] = first[1] = reinterpret_cast<size_t>(first);
  reinterpret_cast<size_t*>(&circle)[2] = 1000000;
  auto ahead_first = reinterpret_cast<size_t*>(&ahead_circle.front()) - 1;
  *reinterpret_cast<size_t*>(ahead_first[0]) = reinterpret_cast<size_t>(ahead_first);
  // Trees: a node whose links are nonsense, and one that is its own child. The first four words of a node that are
  // addresses are its links.
  for (auto tree : {&torn, &wound}) {
    auto node = reinterpret_cast<size_t*>((reinterpret_cast<size_t>(&tree->find(3)->first) - 25) & ~size_t{7});
    for (int i = 0; i < 4; i++)
      if (node[i] >> 40) node[i] = tree == &torn ? 0x7f7f7f7f7f7f7f7f : reinterpret_cast<size_t>(node);
  }
  stop(few, "given", &names);
}
