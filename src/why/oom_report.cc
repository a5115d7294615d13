#include "why/oom_report.h"

#include "base/text.h"
#include "proc/text.h"

namespace why {

namespace {

// What follows `name`, up to a separator; empty: the line does not have it.
std::string_view value_after(std::string_view line, std::string_view name, std::string_view separators) {
  const size_t at = line.find(name);
  if (at == line.npos) return {};
  const std::string_view rest = line.substr(at + name.size());
  return rest.substr(0, std::min(rest.find_first_of(separators), rest.size()));
}

uint64_t kilobytes_after(std::string_view line, std::string_view name) { return proc::decimal(value_after(line, name, "kK, ")).value_or(0) * 1024; }

} // namespace

void OomReports::add(std::string_view line) {
  if (line.find(" invoked oom-killer: ") != line.npos) { // a report begins
    current_ = {};
    columns_.clear();
  } else if (line.starts_with("memory: usage ")) {
    current_.limit = kilobytes_after(line, ", limit ");
  } else if (line.starts_with("oom-kill:")) {
    const std::string_view group = value_after(line, ",oom_memcg=", ",");
    current_.cgroup = group.empty() ? "/" : std::string(group);
  } else if (line.starts_with("[ ") && line.find(" rss ") != line.npos && line.find(" name") != line.npos) {
    // "[  pid  ]   uid  tgid total_vm      rss … name"
    columns_.clear();
    const std::vector<std::string_view> names = proc::words_of(line.substr(line.find(']') + 1));
    for (size_t i = 0; i < names.size(); i++) columns_[i] = names[i];
  } else if (!columns_.empty() && line.starts_with("[")) {
    add_row(line);
  } else if (const size_t killed = line.find("Killed process "); killed != line.npos) {
    OomKill kill = current_;
    kill.victim = proc::decimal(value_after(line, "Killed process ", " ,")).value_or(0);
    const size_t open = line.find('(', killed), close = line.find(") total-vm:", killed), end = close == line.npos ? line.find("),", killed) : close;
    if (open != line.npos && end != line.npos && end > open) kill.name = line.substr(open + 1, end - open - 1);
    kill.rss = kilobytes_after(line, "anon-rss:") + kilobytes_after(line, "file-rss:") + kilobytes_after(line, "shmem-rss:");
    // Before Linux 5.0 only this line says whose memory it was, but not the group's name.
    if (kill.cgroup.empty()) kill.cgroup = line.starts_with("Memory cgroup") ? std::string() : "/";
    if (kill.cgroup == "/") kill.limit = 0;
    if (kill.victim) kills_.push_back(std::move(kill));
  }
}

// "[   1234]     0  1234    12345     6789 … python3"; names may have spaces.
void OomReports::add_row(std::string_view line) {
  const size_t close = line.find(']');
  const uint64_t pid = proc::decimal(base::trim(line.substr(1, close == line.npos ? 0 : close - 1))).value_or(0);
  if (!pid) return columns_.clear(); // another list
  const std::vector<std::string_view> words = proc::words_of(line.substr(close + 1));
  if (words.size() < columns_.size()) return;
  uint64_t rss = 0;
  for (const auto& [place, name] : columns_)
    if (name == "rss") rss = proc::decimal(words[place]).value_or(0) * page_size_;
  if (rss <= current_.largest_rss) return;
  const std::string_view name = words[columns_.rbegin()->first];
  current_.largest_rss = rss;
  current_.largest_pid = pid;
  current_.largest = base::trim(line.substr(static_cast<size_t>(name.data() - line.data())));
}

} // namespace why
