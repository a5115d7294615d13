#include "why/moment.h"

#include "base/fd.h"
#include "base/print.h"
#include "session/script_maps.h"

#include <fcntl.h>
#include <string>

namespace why {

base::Result<std::vector<uint64_t>> count_for_a_moment(const Subject& subject, session::BuiltinScript counts, const session::Options& run, std::vector<std::string_view> maps) {
  counts.set_whose({.text = "true"}, {}, moment_ns);
  session::Runner runner({.aim = "measure", .script = std::move(counts), .functions_of = subject.pid}, session::Runner::Take(), subject.shared);
  ACU_CHECK(runner.compile());
  ACU_CHECK(runner.load(run));
  const base::Fd nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  session::Output output(nowhere.get(), session::Buffering::full, false);
  ACU_CHECK(runner.live(output));
  std::vector<uint64_t> out;
  for (std::string_view map : maps) {
    ACU_TRY(const uint64_t number, session::read_number(runner.program(), runner.backend().engine(), map));
    out.push_back(number);
  }
  return out;
}

base::Status check_cost(const Subject& subject, std::string_view what, double percent) {
  if (percent <= subject.max_cost) return {};
  return base::Error{base::Failure::unsupported, base::print("it %s so often that following it would take %.0f%% of a CPU (--max-cost)", std::string(what).c_str(), percent)};
}

} // namespace why
