// `acu dump`: a flight recorder writes its file now.
#include "recorder/dump_requests.h"
#include "session/arguments.h"
#include "tool/tool.h"

namespace tool {

namespace {

base::Result<int> choose_recorder(const std::vector<std::string>& words) {
  if (words.size() > 1) return base::usage_error("`" + words[1] + "`: one recorder can be asked at a time");
  if (!words.empty()) return session::read_pid("acu dump", words[0]);
  const std::vector<int> running = recorder::running_recorders();
  if (running.size() == 1) return running[0];
  if (running.empty()) return base::Error{base::Failure::runtime, "no flight recorder runs\nhint: acu record --flight starts one"};
  std::string all;
  for (int pid : running) all.append(all.empty() ? "" : ", ").append(std::to_string(pid));
  return base::usage_error("several flight recorders run: " + all + "\nhint: name one: acu dump " + std::to_string(running[0]));
}

} // namespace

int dump(const session::Arguments& arguments) {
  auto pid = choose_recorder(arguments.words);
  if (!pid.ok()) return fail(pid.error());
  auto path = recorder::request_dump(*pid);
  if (!path.ok()) return fail(path.error());
  say(*path + "\n");
  return 0;
}

} // namespace tool
