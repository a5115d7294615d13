// `acu timeline`: a recording of events as a page or a picture.
#include "base/output_file.h"
#include "base/print.h"
#include "profile/formats.h"
#include "session/arguments.h"
#include "timeline/maker.h"
#include "timeline/output.h"
#include "tool/range.h"
#include "tool/tool.h"

namespace tool {

using spec::OptionId;

static std::string output_of(const session::Arguments& arguments) {
  if (const std::string* output = arguments.value(OptionId::output)) return *output;
  std::string name = arguments.words[0];
  if (name.ends_with(".acu")) name.resize(name.size() - 4);
  return name + ".html";
}

static base::Result<recording::Reader> open(const std::string& path) {
  auto reader = recording::Reader::open(path);
  if (!reader.ok() && profile::read_profile(path).ok())
    return base::Error{base::Failure::usage, "`" + path + "` is a recording of samples, not of events\nhint: `acu report " + path + "` shows it; `acu record --flight` records events"};
  return reader;
}

static base::Status show(const session::Arguments& arguments) {
  if (arguments.words.size() != 1) return base::Error{base::Failure::usage, arguments.words.empty() ? "no recording (see `acu help timeline`)" : "only one recording can be shown at a time"};
  const std::string output = output_of(arguments);
  const bool is_picture = output.ends_with(".svg");
  if (!is_picture && !output.ends_with(".html") && !output.ends_with(".htm"))
    return base::Error{base::Failure::usage, "`-o " + output + "`: unknown format; give FILE.html or FILE.svg"};
  ACU_TRY(const profile::TimeRange range, read_range(arguments));
  ACU_CHECK(base::check_output(output));
  ACU_TRY(const recording::Reader reader, open(arguments.words[0]));
  ACU_TRY(timeline::Timeline t, timeline::make_timeline(reader));
  if (range.from.value_or(0) >= t.length) return base::Error{base::Failure::usage, "`--from`: the recording ends after " + base::print("%.3f s", static_cast<double>(t.length) / 1e9)};
  if (!range.is_whole()) timeline::keep_part(t, range.from.value_or(0), range.until.value_or(t.length));
  const std::string text = is_picture ? timeline::write_picture(t) : timeline::write_page(t);
  ACU_CHECK(base::write_file(output, text));
  if (arguments.has(OptionId::quiet)) return {};
  say(timeline::summary(t) + "\n" + timeline::state_line(t) + "\n");
  for (const std::string& note : t.about.notes) say("note: " + note + "\n");
  say("wrote " + output + (text.size() < 1'000'000 ? base::print(" (%zu kB)\n", text.size() / 1000) : base::print(" (%.1f MB)\n", static_cast<double>(text.size()) / 1e6)));
  return {};
}

int timeline(const session::Arguments& arguments) {
  auto shown = show(arguments);
  return shown.ok() ? 0 : fail(shown.error());
}

} // namespace tool
