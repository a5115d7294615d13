// One line of /proc/PID/stat or /proc/PID/task/TID/stat (proc_pid_stat(5)).
#pragma once

#include "proc/text.h"

#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace proc {

constexpr uint64_t kernel_thread_flag = 0x00200000; // PF_KTHREAD of include/linux/sched.h

// Numbers of fields in proc_pid_stat(5), from 1.
namespace stat_fields {
enum StatField : size_t { state_field = 3, parent = 4, flags = 9, minor_faults = 10, major_faults = 12, user_time = 14, system_time = 15, nice_field = 19, thread_count = 20, start = 22,
                          virtual_bytes = 23, resident_pages = 24, last_cpu = 39, policy_field = 41 };
}
using stat_fields::StatField;

// One line of /proc/PID/stat. The name may hold blanks and parentheses.
class ProcessStat {
public:
  explicit ProcessStat(std::string text) : text_(std::move(text)) {
    const size_t open = text_.find('('), close = text_.rfind(')');
    if (open == text_.npos || close == text_.npos || close < open) return;
    name_ = std::string_view(text_).substr(open + 1, close - open - 1);
    words_ = words_of(std::string_view(text_).substr(close + 1));
  }
  ProcessStat(const ProcessStat&) = delete;
  ProcessStat& operator=(const ProcessStat&) = delete;
  bool is_valid() const { return words_.size() >= stat_fields::policy_field - 2; }
  std::string name() const { return std::string(name_); }
  std::string_view word(StatField field) const { return words_[field - 3]; }
  int64_t number(StatField field) const {
    const std::string_view text = word(field);
    return text.starts_with('-') ? -static_cast<int64_t>(decimal(text.substr(1)).value_or(0)) : static_cast<int64_t>(decimal(text).value_or(0));
  }
  double seconds(StatField field) const { return static_cast<double>(number(field)) / static_cast<double>(::sysconf(_SC_CLK_TCK)); }

private:
  std::string text_;
  std::string_view name_;
  std::vector<std::string_view> words_;
};

} // namespace proc
