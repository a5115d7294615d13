// A sampler ends by itself after an hour and is started anew: what it knows of processes and stacks does not grow for ever.
#include "web/samplers.h"

#include "base/clock.h"
#include "base/text.h"
#include "monitor/sampler.h"

#include <ctime>

namespace web {

namespace {
constexpr uint64_t second = 1'000'000'000;
constexpr double hour = 3600;
} // namespace

Samplers::Samplers(const std::string& store, Print print) : print_(std::move(print)) {
  auto add = [&](std::string_view kind) {
    agent::Plan plan;
    plan.words = {"serve", "--sample=" + std::string(kind), "--store=" + store, "--max-duration=1h"};
    plan.limit_seconds = hour + 120;
    plan.max_output = 64 << 10;
    samplers_.push_back({.kind = std::string(kind), .plan = std::move(plan)});
  };
  add(monitor::host_sampler);
  for (const monitor::StoredKind& kind : monitor::stored_kinds) add(kind.name);
}

void Samplers::has_ended(Sampler& s) {
  const agent::Finished finished = s.call->take();
  s.call.reset();
  const bool has_failed = finished.exit_status != 0;
  s.failures = has_failed ? s.failures + 1 : 0;
  if (!has_failed) s.printed.clear();
  restarts_++;
  // 1, 2, 4, … seconds, up to a minute.
  s.next_ns = base::clock_ns() + (has_failed ? std::min<uint64_t>(uint64_t{1} << std::min<uint64_t>(s.failures - 1, 6), 60) * second : 0);
}

void Samplers::pass_on(Sampler& s, const std::string& messages) {
  constexpr std::string_view own_name = "acu serve: ";
  for (std::string_view line : base::split(messages, '\n')) {
    if (line.starts_with(own_name)) line.remove_prefix(own_name.size());
    if (base::trim(line).empty()) continue;
    if (s.failures && s.printed.contains(line)) continue; // it fails again
    s.printed.emplace(line);
    print_("sampler " + s.kind + ": " + std::string(line));
  }
}

void Samplers::advance() {
  const uint64_t now = base::clock_ns();
  for (Sampler& s : samplers_) {
    if (s.call) {
      s.call->advance(now);
      pass_on(s, s.call->new_messages());
      if (s.call->has_ended()) has_ended(s);
    }
    if (s.call || now < s.next_ns) continue;
    auto started = agent::Call::start(s.plan);
    if (started.ok())
      s.call.emplace(std::move(*started));
    else
      s.next_ns = now + 10 * second;
  }
}

void Samplers::stop(uint64_t longest_ns) {
  const uint64_t begin = base::clock_ns();
  for (Sampler& s : samplers_)
    if (s.call) s.call->cancel(begin);
  for (bool runs = true; runs && base::clock_ns() - begin < longest_ns;) {
    runs = false;
    for (Sampler& s : samplers_) {
      if (!s.call) continue;
      s.call->advance(base::clock_ns());
      pass_on(s, s.call->new_messages());
      if (s.call->has_ended())
        s.call.reset();
      else
        runs = true;
    }
    const timespec moment = {0, 20'000'000};
    if (runs) ::nanosleep(&moment, nullptr);
  }
  for (Sampler& s : samplers_)
    if (s.call) print_("sampler " + s.kind + ": killed, as it did not end in time: what it recorded last is missing"), s.call.reset();
}

} // namespace web
