// Metrics in the OpenMetrics text format 1.0 (https://prometheus.io/docs/specs/om/open_metrics_spec/): the pieces of an exposition, and maps as
// families of them.
#pragma once

#include "report/map.h"

#include <string>
#include <string_view>

namespace report {

inline constexpr std::string_view openmetrics_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
inline constexpr std::string_view openmetrics_end = "# EOF\n";

// The lines before the samples of a family: `type` is "gauge", "counter", "summary" or "histogram". No unit: empty. Samples of a counter
// have the family's name and `_total`.
void append_family(std::string& out, std::string_view name, std::string_view type, std::string_view unit, std::string_view help);
// `NAME="VALUE"`, escaped; a comma stands before it if `out` does not end in `{`.
void append_label(std::string& out, std::string_view name, std::string_view value);
// What is left of a text where names of metrics and labels have letters, digits and `_`.
std::string metric_name(std::string_view text);

// Why a map is no metric, for a sentence ("its keys are stacks"); empty: it is one.
std::string_view not_a_metric(const ir::Map& map);
// Of numbers one family of this name, with a sample for each key, whose parts are labels:
//   count, sum of unsigned numbers    counter
//   other numbers, min, max           gauge
//   avg, stats                        summary: _count and _sum
//   hist, lhist                       histogram: the upper bounds are those of the buckets, which hold integers
// Of all else, a family for each part that is a number (NAME_PART, a gauge), and an info (NAME_info) with the others as labels:
//   tuples, records, structures       their members; those without a name are value0, value1, …
//   text, addresses, names            one part, `value`
// `request.top` limits the keys, `request.div` is not used.
void append_metrics(std::string& out, Context& context, const MapRequest& request, std::string_view name);

} // namespace report
