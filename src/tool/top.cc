// `acu top`: the top functions, refreshed every second. On a terminal a screen (top_view.h, screen.h), elsewhere
// tables.
#include "base/clock.h"
#include "base/text.h"
#include "profile/completeness.h"
#include "profile/tables.h"
#include "session/output.h"
#include "tool/sampled.h"
#include "tool/screen.h"
#include "tool/standard_output.h"
#include "tool/tool.h"
#include "tool/top_view.h"

#include <unistd.h>

namespace tool {

using spec::OptionId;

namespace {

struct TopRequest {
  flame::SamplingOptions sampling;
  profile::ReportOptions report;
  uint64_t interval_ns = 1'000'000'000;
  uint64_t rounds = 0; // 0: until something else ends it
  bool json = false;
};

base::Result<TopRequest> read_request(const session::Arguments& arguments) {
  TopRequest out;
  ACU_TRY(out.sampling, read_sampling(arguments));
  if (const std::string* text = arguments.value(OptionId::interval)) {
    ACU_TRY(out.interval_ns, session::read_time("--interval", *text));
    if (out.interval_ns < 100'000'000)
      return base::Error{base::Failure::usage,
                         "`--interval` takes a time of at least 100ms, not `" + *text + "`"};
  }
  if (const std::string* text = arguments.value(OptionId::rounds)) {
    ACU_TRY(out.rounds, session::read_count("--count", *text, 1'000'000'000));
  }
  if (const std::string* text = arguments.value(OptionId::top)) {
    ACU_TRY(out.report.top, session::read_count("--top", *text, 1'000'000));
  }
  if (const std::string* by = arguments.value(OptionId::sort)) out.report.by = profile::sort_of(*by);
  out.json = arguments.has(OptionId::json);
  return out;
}

struct Top {
  explicit Top(const TopRequest& r) : request(r), view(r.report.by, r.interval_ns) {}

  bool print(const flame::Look& look);
  bool look(const flame::Look& look);
  bool input();
  void draw();

  const TopRequest& request;
  TopView view;
  std::unique_ptr<Screen> screen;
  bool has_terminal = false, is_over = false;
  uint64_t rounds = 0;
  std::string losses = "0 lost";
};

// A table, or an object. false: nobody reads it, or it cannot be written.
bool Top::print(const flame::Look& look) {
  profile::Profile& p = look.profile;
  p.weigh_anew(look.gains);
  const profile::About about = p.about;
  // Rates are those of the interval.
  p.about.duration_ns = look.passed_ns;
  p.about.samples = 0;
  for (const profile::Gain& g : look.gains) p.about.samples += g.count;
  p.about.incomplete = profile::why_incomplete(p);
  std::string out = p.about.incomplete.empty() || request.json ? "" : p.about.incomplete + "\n";
  if (request.json) {
    out = profile::report_json(p, request.report);
  } else {
    char passed[32];
    std::snprintf(passed, sizeof passed, "%.2f s", static_cast<double>(look.passed_ns) / 1e9);
    out += base::time_of_day() + "  " + p.about.title + " of " + p.about.what + ", " + passed + ": " +
           profile::amount(p.about, p.total());
    if (!p.about.period_ns && p.about.unit != "ns" && p.about.unit != "bytes") out += " " + p.about.unit;
    out += ", " + look.losses + "\n" + profile::top_text(p, request.report) + "\n";
  }
  p.about = about;
  say(out);
  return !has_lost_output();
}

bool Top::look(const flame::Look& look) {
  losses = look.losses;
  if (is_over) return false;
  rounds++;
  if (screen) {
    view.take(look);
    draw();
  } else if (!has_terminal &&
             (!look.gains.empty() || rounds == 1 || look.passed_ns >= request.interval_ns / 2)) {
    is_over = !print(look);
  }
  is_over |= request.rounds && rounds >= request.rounds;
  return !is_over;
}

bool Top::input() {
  if (!screen) return true;
  screen->fit();
  while (auto key = screen->key())
    if (!view.press(*key)) return false;
  draw();
  return true;
}

void Top::draw() { screen->draw(view.lines(screen->columns(), screen->rows())); }

int show(const TopRequest& request) {
  Top top(request);
  flame::Viewer viewer;
  viewer.period_ns = request.interval_ns;
  if (!request.json) {
    top.has_terminal = Screen::is_possible();
    if (!top.has_terminal && ::isatty(STDIN_FILENO) && ::isatty(STDOUT_FILENO) && !request.sampling.quiet)
      complain("NOTE: unknown terminal type (TERM); printing tables instead\n");
  }
  viewer.has_terminal = top.has_terminal;
  if (top.has_terminal) {
    viewer.input_fd = STDIN_FILENO;
    viewer.begin = [&] {
      top.screen = Screen::open();
      if (top.screen) top.draw();
    };
    viewer.input = [&] { return top.input(); };
    viewer.end = [&] { top.screen.reset(); };
  }
  viewer.look = [&](const flame::Look& look) { return top.look(look); };
  auto recording = flame::watch(request.sampling, viewer);
  top.screen.reset();
  if (!recording.ok()) return fail(recording.error());
  if (!request.sampling.quiet) {
    const profile::About& about = recording->profile.about;
    for (const std::string& note : about.notes) complain(note + "\n");
    complain(sum_line(about, recording->ran_ns, top.losses) + "\n");
  }
  return top.is_over ? 0 : recording->command_status;
}

} // namespace

int top(const session::Arguments& arguments) {
  auto request = read_request(arguments);
  return request.ok() ? show(*request) : fail(request.error());
}

} // namespace tool
