#include "profile/slices.h"

#include "base/counted.h"
#include "profile/completeness.h"
#include "profile/tables.h"

#include <algorithm>
#include <cstdio>

namespace profile {

static std::string in_seconds(uint64_t ns) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g s", static_cast<double>(ns) / 1e9);
  return text;
}

base::Status keep_part(Profile& p, const TimeRange& range, Part part) {
  if (!p.slice_ns)
    return base::usage_error(
        "the recording has no time slices\nhint: acu record --split 1s");
  const uint64_t ends =
      std::max(p.about.duration_ns, p.slices.empty() ? 0 : p.slices.back().number * p.slice_ns + 1);
  const uint64_t count = (ends + p.slice_ns - 1) / p.slice_ns;
  const uint64_t first = range.from.value_or(0) / p.slice_ns;
  uint64_t last = range.until ? (*range.until + p.slice_ns - 1) / p.slice_ns : count;
  last = std::min(last, count);
  if (first >= last)
    return base::usage_error("`--from`: the recording is only " + in_seconds(ends) + " long, not " +
                 in_seconds(range.from.value_or(0)));
  const uint64_t from = first * p.slice_ns, until = std::min(last * p.slice_ns, ends);

  p.about.incomplete.clear();
  std::string header = header_text(p.about, p.total());
  std::vector<Gain> gains;
  size_t merged = 0;
  for (const Slice& s : p.slices) {
    if ((part == Part::inside) != range.holds(s, p.slice_ns)) continue;
    gains.insert(gains.end(), s.gains.begin(), s.gains.end());
    merged += s.span > 1;
  }
  p.weigh_anew(gains);
  p.drop_weightless();

  // How whole the stacks are and what acu took is known of the whole recording only.
  About& a = p.about;
  const size_t line = header.find('\n') + 1;
  header = header.substr(line, header.find('\n', line) - line);
  a.notes.insert(a.notes.begin(), "the whole recording, " + in_seconds(ends) + ": " + header);
  if (merged)
    a.notes.insert(a.notes.begin(), base::counted(merged, "slice") + " of this range " + std::string(base::was_or_were(merged)) +
                                        " read late and may include events before or after it");
  a.what += part == Part::inside ? ", from " : ", except from ";
  a.what += in_seconds(from) + " until " + in_seconds(until);
  a.duration_ns = part == Part::inside ? until - from : ends - (until - from);
  a.start_ns += part == Part::inside ? from : 0;
  a.samples = a.complete = a.frames = a.frames_named = a.own_cpu_ns = a.own_memory = a.kernel_ns = 0;
  for (const Sample& s : p.samples()) a.samples += s.count;
  a.incomplete = why_incomplete(p);
  return {};
}

} // namespace profile
