// The tables of tables.h as text for a terminal, and as JSON.
#include "base/counted.h"
#include "base/text.h"
#include "base/utf8.h"
#include "profile/tables.h"
#include "report/json.h"
#include "report/number.h"

#include <array>
#include <cstdio>

namespace profile {

namespace {

constexpr size_t most_neighbours = 5;
constexpr size_t functions_with_neighbours = 3;
constexpr size_t most_processes = 10;

std::string format(const char* form, auto... values) {
  char text[160];
  std::snprintf(text, sizeof text, form, values...);
  return text;
}

// Rounded first: no unit shows as many of it as the next one is.
std::string seconds(double ns) {
  if (ns < 999.5) return format("%.0f ns", ns);
  if (ns < 999.5e3) return format("%.0f µs", ns / 1e3);
  if (ns < 999.95e6) return format("%.1f ms", ns / 1e6);
  return format("%.2f s", ns / 1e9);
}
std::string seconds(uint64_t ns) { return seconds(static_cast<double>(ns)); }

std::string bytes(uint64_t n) {
  constexpr std::array units = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(n);
  size_t unit = 0;
  for (; value >= (unit ? 1023.95 : 1024) && unit + 1 < units.size(); unit++) value /= 1024;
  return format(unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
}

// "1.2 MiB/s"; empty where weights are no bytes, or the time is not known.
std::string rate(const About& about, uint64_t weight) {
  if (about.unit != "bytes" || !about.duration_ns) return {};
  return bytes(static_cast<uint64_t>(static_cast<double>(weight) * 1e9 / static_cast<double>(about.duration_ns))) + "/s";
}

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('/') + 1); }

void append_row(std::string& out, const About& about, const Row& row, uint64_t whole, bool with_self) {
  if (with_self) out.append(base::right(percent(row.self, whole), 7)).append(base::right(amount(about, row.self), 11)).append(" ");
  out.append(base::right(percent(row.total, whole), 7)).append(base::right(amount(about, row.total), 11)).append("  ");
  if (const std::string each = rate(about, row.total); !each.empty()) out.append(base::right(each, 11)).append("  ");
  out += row.name;
  out += spec::row_of(row.kind).remark;
  if (!row.where.empty()) out.append("  ").append(last_part(row.where));
  out += '\n';
}

void append_neighbours(std::string& out, const Profile& p, const Row& f, uint64_t whole) {
  out.append("\n")
      .append(f.name)
      .append(": ")
      .append(percent(f.total, whole))
      .append(" including callees\n");
  for (bool callers : {true, false}) {
    std::vector<Row> rows = callers ? callers_of(p, f) : callees_of(p, f);
    if (rows.empty()) continue;
    if (rows.size() > most_neighbours) rows.resize(most_neighbours);
    out += callers ? "  called by\n" : "  calls\n";
    for (const Row& row : rows) out += "  ", append_row(out, p.about, row, whole, false);
  }
}

void append_json_rows(std::string& out, std::string_view name, const std::vector<Row>& rows, size_t top) {
  out.append("\"").append(name).append("\":[");
  for (size_t i = 0; i < rows.size() && i < top; i++) {
    const Row& r = rows[i];
    out += i ? ",{\"name\":" : "{\"name\":";
    report::append_json(out, r.name);
    out += ",\"where\":";
    report::append_json(out, r.where);
    out.append(",\"kind\":\"").append(spec::row_of(r.kind).name).append("\"");
    out += ",\"self\":" + std::to_string(r.self) + ",\"total\":" + std::to_string(r.total) + "}";
  }
  out += "]";
}

} // namespace

std::string percent(uint64_t part, uint64_t whole) {
  return whole ? format("%.1f%%", 100 * static_cast<double>(part) / static_cast<double>(whole)) : "–";
}

std::string amount(const About& about, uint64_t weight) {
  if (about.period_ns) return seconds(static_cast<double>(weight) * static_cast<double>(about.period_ns));
  if (about.unit == "ns") return seconds(weight);
  return about.unit == "bytes" ? bytes(weight) : report::grouped(weight);
}

std::string header_text(const About& a, uint64_t total) {
  std::string out = a.incomplete.empty() ? "" : base::printable(a.incomplete) + "\n";
  out += base::printable(a.title);
  if (!a.what.empty()) out.append(" of ").append(base::printable(a.what));
  if (a.duration_ns) out.append(", ").append(seconds(a.duration_ns));
  if (!a.host.empty()) out.append(", on ").append(base::printable(a.host));
  out.append("\nsamples ").append(report::grouped(a.samples));
  const bool is_count = !a.period_ns && a.unit == "samples";
  const bool says_unit = a.unit == "samples" || a.unit == "ns" || a.unit == "bytes";
  if (!is_count)
    out.append(" (")
        .append(amount(a, total))
        .append(says_unit ? "" : " ")
        .append(says_unit ? "" : a.unit)
        .append(rate(a, total).empty() ? "" : ", " + rate(a, total))
        .append(")");
  out.append(", lost ").append(report::grouped(a.lost));
  if (a.complete || (a.own_memory && a.samples))
    out.append(" · stacks complete ").append(percent(a.complete, a.samples));
  if (a.frames) out.append(" · frames named ").append(percent(a.frames_named, a.frames));
  out += '\n';
  if (a.own_memory) {
    out.append("acu itself: ")
        .append(seconds(a.own_cpu_ns))
        .append(" of CPU time, ")
        .append(seconds(a.kernel_ns));
    out.append(" in probes in the kernel, ").append(bytes(a.own_memory)).append(" of memory\n");
  }
  for (const std::string& note : a.notes) out.append(base::printable(note)).append("\n");
  return out;
}

std::string top_text(const Profile& p, const ReportOptions& options) {
  uint64_t whole = p.total();
  std::vector<Row> rows = functions_of(p, options.by);
  std::string out = "   self       self   total      total  ";
  out += rate(p.about, 0).empty() ? "function\n" : " per second  function\n";
  for (size_t i = 0; i < rows.size() && i < options.top; i++) append_row(out, p.about, rows[i], whole, true);
  if (rows.size() > options.top) out += format("%38s %s\n", "", base::counted(rows.size() - options.top, "more function").c_str());
  return out;
}

std::string report_text(const Profile& p, const ReportOptions& options) {
  uint64_t whole = p.total();
  std::string out = header_text(p.about, whole) + "\n" + top_text(p, options);
  std::vector<Row> rows = functions_of(p, options.by);
  size_t shown = 0;
  for (const Row& f : rows) {
    bool is_wanted = options.function.empty() ? shown < functions_with_neighbours && !spec::is_note(f.kind)
                                              : base::glob_match(options.function, f.name);
    if (!is_wanted) continue;
    shown++;
    append_neighbours(out, p, f, whole);
  }
  out += "\nprocesses\n";
  std::vector<Row> processes = processes_of(p);
  for (size_t i = 0; i < processes.size() && i < most_processes; i++)
    append_row(out, p.about, processes[i], whole, false);
  if (processes.size() > most_processes)
    out += format("%19s %zu more\n", "", processes.size() - most_processes);
  out += "\nmodules (self, including callees)\n";
  std::vector<Row> modules = modules_of(p);
  for (size_t i = 0; i < modules.size() && i < most_processes; i++)
    append_row(out, p.about, modules[i], whole, true);
  return out;
}

std::string report_json(const Profile& p, const ReportOptions& options) {
  const About& a = p.about;
  std::string out = "{\"title\":";
  report::append_json(out, a.title);
  out += ",\"what\":";
  report::append_json(out, a.what);
  out += ",\"unit\":";
  report::append_json(out, a.unit);
  out += ",\"incomplete\":";
  report::append_json(out, a.incomplete);
  out += ",\"total\":" + std::to_string(p.total());
  const std::pair<const char*, uint64_t> numbers[] = {
      {"period_ns", a.period_ns},       {"duration_ns", a.duration_ns},
      {"samples", a.samples},           {"lost", a.lost},
      {"complete", a.complete},         {"frames", a.frames},
      {"frames_named", a.frames_named}, {"own_cpu_ns", a.own_cpu_ns},
      {"own_kernel_ns", a.kernel_ns},   {"own_memory", a.own_memory}};
  for (auto [name, value] : numbers)
    out.append(",\"").append(name).append("\":").append(std::to_string(value));
  out += ",";
  append_json_rows(out, "functions", functions_of(p, options.by), options.top);
  out += ",";
  append_json_rows(out, "processes", processes_of(p), options.top);
  out += ",";
  append_json_rows(out, "modules", modules_of(p), options.top);
  return out + "}\n";
}

} // namespace profile
