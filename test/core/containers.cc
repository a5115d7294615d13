// One of each container of the library, with elements whose sums are known.
#include <cstdio>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <unistd.h>
#include <vector>
struct Order { int id; std::string who; };
std::vector<Order> orders;
std::map<long, long> nothing;
std::vector<long> numbers;
std::string shortText = "short", longText(100, 'x');
std::map<long, long> ages;
std::unordered_map<long, long> hashed;
std::list<int> queue;
std::deque<long> window;
std::shared_ptr<Order> shared, other;
int main() {
  for (int i = 0; i < 300; i++) { orders.push_back({i, "who" + std::to_string(i)}); numbers.push_back(i); ages[i * 7] = i; hashed[i] = i; queue.push_back(i); window.push_back(i); }
  for (int i = 0; i < 50; i++) window.pop_front();
  shared = other = std::make_shared<Order>(Order{7, "shared"});
  puts("ready"); fflush(stdout);
  for (;;) pause();
}
