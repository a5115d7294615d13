#include "base/markup.h"
#include "report/page.h"
#include "waits/picture.h"

namespace waits {

std::string waits_page(const Report& report) {
  return report::page("acu waits: " + report.what, "<h1>Waits of " + base::markup(report.what) + "</h1>\n<h2>Who waits for what</h2>\n" + flow_svg(report) + "<h2>Threads</h2>\n" +
                                                       timeline_svg(report.graph) + "<h2>Report</h2>\n<pre>" + base::markup(waits_text(report)) + "</pre>\n");
}

} // namespace waits
