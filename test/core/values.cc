// Objects of the standard library, sound ones and such as are not.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <forward_list>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
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
alignas(8) char raw[8][64];
auto &lost_vector = *(vector<int>*)raw[0];
auto &lost_text = *(string*)raw[1];
auto &lost_map = *(map<int, int>*)raw[2];
auto &lost_deque = *(deque<long>*)raw[3];
auto &lost_list = *(list<int>*)raw[4];
auto &lost_hash = *(unordered_map<string, int>*)raw[5];
auto &lost_variant = *(variant<int, string, double>*)raw[6];
list<int> circle = {1, 2, 3};
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
  // A list that goes in a circle, and says that it has 1,000,000.
  auto words_of = (size_t*)&circle;
  ((size_t**)words_of[0])[0] = (size_t*)words_of[0];
  words_of[2] = 1000000;
  stop(few, "given", &names);
}
