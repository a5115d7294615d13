// What the kernel's log says of processes that it killed for lack of memory (mm/oom_kill.c). Reports of all kernels since 4.19 are read, by the names in them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace why {

struct OomKill {
  uint64_t victim = 0;
  std::string name, cgroup; // "/": the host's memory
  uint64_t limit = 0, rss = 0;                  // bytes; limit 0: not in the log
  std::string largest;                          // process with most memory of those in the report; empty: it has no list
  uint64_t largest_pid = 0, largest_rss = 0;
};

class OomReports {
public:
  explicit OomReports(uint64_t page_size) : page_size_(page_size) {}
  // A line of the log, without its time.
  void add(std::string_view line);
  const std::vector<OomKill>& kills() const { return kills_; }

private:
  void add_row(std::string_view line);

  uint64_t page_size_;
  std::map<size_t, std::string> columns_; // of the list of processes, by their place
  OomKill current_;
  std::vector<OomKill> kills_;
};

} // namespace why
