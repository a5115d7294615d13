#include "snapshot/tasks.h"

#include "base/counted.h"
#include "base/text.h"
#include "report/json.h"
#include "report/number.h"
#include "report/target_names.h"
#include "snapshot/line.h"

#include <algorithm>
#include <map>

namespace snapshot {

namespace {

using runtime::AsyncTask;

constexpr size_t max_names = 8, max_groups = 100; // that are printed

class Tasks {
public:
  Tasks(probe::StoppedProgram& stopped, const runtime::AsyncTasks& found)
      : target_(stopped.target()), names_(target_, stopped.stacks()), found_(found), awaited_(found.all.size()) {
    for (size_t t = 0; t < found.all.size(); t++)
      for (const size_t waiter : found.all[t].awaited_by) awaited_[waiter].push_back(t);
    group();
  }

  std::string text() {
    std::string out = base::printable(target_.title()) + ": " + number_of(found_.all.size(), "asyncio task") + "\n";
    if (!found_.problem.empty()) out += "problem   " + found_.problem + "\n";
    if (found_.unreadable) out += "problem   " + number_of(found_.unreadable, "task") + " could not be read\n";
    for (size_t i = 0; i < std::min(groups_.size(), max_groups); i++) append_group(out, groups_[i]);
    if (groups_.size() > max_groups)
      out += "\n" + number_of(groups_.size() - max_groups, "more stack") + " of tasks omitted (--json shows all)\n";
    return out;
  }

  std::string json() {
    std::string out = "{\"target\": ";
    report::append_json(out, target_.title());
    out += ", \"pid\": " + std::to_string(target_.pid()) + ", \"tasks\": [";
    for (const Group& group : groups_) append_json(out, group);
    out += "]";
    if (!found_.problem.empty()) out += ", \"problem\": ", report::append_json(out, found_.problem);
    if (found_.unreadable) out += ", \"unreadable\": " + std::to_string(found_.unreadable);
    return out + "}\n";
  }

private:
  // Tasks with one chain: their own coroutines, and those of the tasks that wait for them.
  struct Group {
    std::vector<size_t> tasks;
    std::vector<size_t> chain; // the first task; a task that waits for it; one that waits for that …
  };

  static std::string number_of(uint64_t n, std::string_view unit) { return report::grouped(n) + " " + base::unit_of(n, unit); }

  void group() {
    std::map<std::vector<uint64_t>, size_t> known;
    std::vector<size_t> by_name(found_.all.size()); // Task-9 before Task-10
    for (size_t t = 0; t < by_name.size(); t++) by_name[t] = t;
    std::ranges::stable_sort(by_name, {}, [&](size_t t) { return std::pair(found_.all[t].name.size(), std::string_view(found_.all[t].name)); });
    for (const size_t t : by_name) {
      const std::vector<size_t> chain = chain_of(t);
      const AsyncTask& task = found_.all[t];
      std::vector<uint64_t> key = {task.state, awaited_[t].size(), std::hash<std::string>()(task.waits_for)};
      for (const size_t link : chain) {
        key.push_back(found_.all[link].words.size());
        key.insert(key.end(), found_.all[link].words.begin(), found_.all[link].words.end());
      }
      const auto [at, is_new] = known.try_emplace(std::move(key), groups_.size());
      if (is_new) groups_.push_back({.tasks = {}, .chain = chain});
      groups_[at->second].tasks.push_back(t);
    }
    // Those that others wait for come before these.
    std::ranges::stable_sort(groups_, std::greater(), [](const Group& g) { return std::pair(g.tasks.size(), g.chain.size()); });
  }

  // Up to the task that none waits for.
  std::vector<size_t> chain_of(size_t task) const {
    std::vector<size_t> out;
    while (std::ranges::find(out, task) == out.end()) {
      out.push_back(task);
      if (found_.all[task].awaited_by.empty()) break;
      task = found_.all[task].awaited_by[0];
    }
    return out;
  }

  std::string name_of(size_t task) const {
    const AsyncTask& t = found_.all[task];
    return t.name.empty() ? "at " + hex(t.address) : base::printable(t.name);
  }

  std::string state_of(size_t task) const {
    const AsyncTask& t = found_.all[task];
    switch (t.state) {
    case AsyncTask::running: return "running";
    case AsyncTask::ready: return "ready to run";
    case AsyncTask::created: return "not started yet";
    case AsyncTask::waiting: break;
    }
    if (awaited_[task].size() == 1) return "waiting for task " + name_of(awaited_[task][0]);
    if (!awaited_[task].empty()) return "waiting for " + number_of(awaited_[task].size(), "task");
    return "waiting for a " + (t.waits_for.empty() ? "future" : t.waits_for);
  }

  std::string state_of(const Group& group) const {
    const std::string first = state_of(group.tasks[0]);
    const bool is_one = std::ranges::all_of(group.tasks, [&](size_t t) { return state_of(t) == first; });
    return is_one ? first : "waiting for a task each";
  }

  // The coroutines of a task, innermost first.
  std::vector<Line> lines_of(size_t task, size_t first_number) {
    std::vector<Line> out;
    const std::span<const uint64_t> words = found_.all[task].words;
    for (size_t i = 0; i + 1 < words.size(); i += 2) out.push_back(language_line(names_.language_frame(words.subspan(i, 2)), first_number + i / 2));
    return out;
  }

  void append_group(std::string& out, const Group& group) {
    const size_t count = group.tasks.size();
    out += count == 1 ? "\ntask " : "\n" + number_of(count, "task") + " ";
    for (size_t i = 0; i < std::min(count, max_names); i++) out += (i ? ", " : "") + name_of(group.tasks[i]);
    out += (count > max_names ? ", …: " : ": ") + state_of(group) + "\n";
    size_t number = 0;
    for (size_t i = 0; i < group.chain.size(); i++) {
      if (i) out += "      awaited by " + awaiters_of(group, i) + "\n";
      for (const Line& line : lines_of(group.chain[i], number)) append_line(out, line), number++;
    }
  }

  // "Task-1", "Task-1 and 2 more"; tasks of a group may be awaited by different tasks, which have equal chains.
  std::string awaiters_of(const Group& group, size_t link) const {
    const size_t others = found_.all[group.chain[link - 1]].awaited_by.size() - 1;
    std::string out = name_of(group.chain[link]);
    const bool is_one = std::ranges::all_of(group.tasks, [&](size_t t) {
      const std::vector<size_t> chain = chain_of(t);
      return chain.size() > link && chain[link] == group.chain[link];
    });
    if (!is_one) return out + ", …";
    return others ? out + " and " + report::grouped(others) + " more" : out;
  }

  void append_json(std::string& out, const Group& group) {
    if (out.back() != '[') out += ", ";
    out += "{\"names\": [";
    for (const size_t t : group.tasks) {
      if (out.back() != '[') out += ", ";
      report::append_json(out, name_of(t));
    }
    out += "], \"state\": ";
    report::append_json(out, state_of(group));
    out += ", \"frames\": [";
    for (const Line& line : lines_of(group.chain[0], 0)) append_line_json(out, line);
    out += "], \"awaited_by\": [";
    for (size_t i = 1; i < group.chain.size(); i++) {
      out += i > 1 ? ", {\"name\": " : "{\"name\": ";
      report::append_json(out, name_of(group.chain[i]));
      out += ", \"frames\": [";
      for (const Line& line : lines_of(group.chain[i], 0)) append_line_json(out, line);
      out += "]}";
    }
    out += "]}";
  }

  target::Target& target_;
  report::TargetNames names_;
  const runtime::AsyncTasks& found_;
  std::vector<std::vector<size_t>> awaited_; // by each task
  std::vector<Group> groups_;                // the largest first
};

} // namespace

base::Result<std::string> describe_tasks(probe::StoppedProgram& stopped, bool as_json) {
  const auto found = stopped.stacks().tasks();
  const std::string title(stopped.target().title());
  if (!found) return base::Error{base::Failure::nothing_matched, title + " has no asyncio tasks: it runs no version of CPython that is supported"};
  if (found->all.empty() && !found->problem.empty())
    return base::Error{base::Failure::nothing_matched, title + " has no asyncio tasks: " + found->problem};
  Tasks tasks(stopped, *found);
  return as_json ? tasks.json() : tasks.text();
}

} // namespace snapshot
