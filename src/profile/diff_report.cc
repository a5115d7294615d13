// A comparison as text for a terminal, as JSON, and as a page.
#include "base/counted.h"
#include "base/text.h"
#include "base/utf8.h"
#include "profile/diff.h"
#include "profile/formats.h"
#include "profile/tables.h"
#include "report/json.h"
#include "report/number.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace profile {

namespace {

constexpr size_t most_named = 10; // of what only one has, of files
constexpr double least_scale = 0.001; // what is less is not worth a word

std::string format(const char* form, auto... values) {
  char text[160];
  std::snprintf(text, sizeof text, form, values...);
  return text;
}

std::string signed_amount(const About& about, int64_t change) {
  std::string out = change > 0 ? "+" : change < 0 ? "-" : "";
  return out.append(amount(about, static_cast<uint64_t>(std::llabs(change))));
}

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// "A  before.acu: CPU of process 17 (app), 9.98 s, 988 samples: 9.88 s"
std::string line_of(char name, const Side& s) {
  const About& a = s.about;
  std::string out = format("%c  ", name) + base::printable(s.file.empty() ? "(no file)" : s.file) + ": " + base::printable(a.title);
  if (!a.what.empty()) out.append(" of ").append(base::printable(a.what));
  if (!a.host.empty()) out.append(", on ").append(base::printable(a.host));
  if (a.duration_ns) out += format(", %.2f s", static_cast<double>(a.duration_ns) / 1e9);
  out.append(", ").append(report::grouped(a.samples)).append(" ").append(base::unit_of(a.samples, "sample"));
  return out + ": " + amount(a, s.total) + (a.unit == "samples" || a.unit == "ns" || a.unit == "bytes" ? "" : " " + a.unit);
}

// How the two were made comparable.
std::string scale_line(const Difference& d) {
  const About &a = d.a.about, &b = d.b.about;
  if (!a.duration_ns || !b.duration_ns) {
    const char* which = a.duration_ns ? "B" : b.duration_ns ? "A" : "A and B";
    const std::string why = format("the duration of %s is not known", which);
    return std::abs(d.scale - 1) < least_scale ? "not scaled: " + why : format("A is scaled by %.3f to B's sampling; ", d.scale) + why;
  }
  if (std::abs(d.scale - 1) < least_scale) return "not scaled: both have the same duration";
  std::string out = format("A is scaled by %.3f: B is %.3f times as long", d.scale, static_cast<double>(b.duration_ns) / static_cast<double>(a.duration_ns));
  if (a.period_ns && b.period_ns && a.period_ns != b.period_ns) out += format("; B was sampled every %.2f ms, A every %.2f ms", static_cast<double>(b.period_ns) / 1e6, static_cast<double>(a.period_ns) / 1e6);
  return out;
}

std::vector<std::string> head_lines(const Difference& d) {
  std::vector<std::string> out = {line_of('A', d.a), line_of('B', d.b), scale_line(d)};
  for (size_t i = 0; i < d.renamed.size() && i < most_named; i++) out.push_back("treated as the same file: A " + d.renamed[i].first + ", B " + d.renamed[i].second);
  if (d.renamed.size() > most_named) out.push_back("and " + base::counted(d.renamed.size() - most_named, "more file") + " with different paths");
  return out;
}

// Functions that only one of the two has, the largest first.
void append_only(std::string& out, const Difference& d, const std::vector<Change>& rows, bool is_a) {
  auto weight = [&](const Change& c) { return is_a ? c.total_before : c.total_after; };
  std::vector<const Change*> found;
  for (const Change& c : rows)
    if (is_a ? c.is_only_in_a() : c.is_only_in_b()) found.push_back(&c);
  if (found.empty()) return;
  std::ranges::stable_sort(found, [&](const Change* x, const Change* y) { return weight(*x) > weight(*y); });
  out += is_a ? "\nonly in A (including callees)\n" : "\nonly in B (including callees)\n";
  for (size_t i = 0; i < found.size() && i < most_named; i++) {
    out.append(base::right(amount(d.profile.about, weight(*found[i])), 10)).append("  ").append(found[i]->name);
    if (!found[i]->where.empty()) out.append("  ").append(last_part(found[i]->where));
    out += '\n';
  }
  if (found.size() > most_named) out += format("%10s  %s\n", "", base::counted(found.size() - most_named, "more function").c_str());
}

void append_side(std::string& out, std::string_view name, const Side& s) {
  out.append("\"").append(name).append("\":{\"file\":");
  report::append_json(out, s.file);
  for (auto [key, text] : {std::pair("title", &s.about.title), std::pair("what", &s.about.what), std::pair("host", &s.about.host)}) {
    out.append(",\"").append(key).append("\":");
    report::append_json(out, *text);
  }
  const std::pair<const char*, uint64_t> numbers[] = {
      {"duration_ns", s.about.duration_ns}, {"period_ns", s.about.period_ns}, {"samples", s.about.samples}, {"total", s.total}};
  for (auto [key, number] : numbers) out.append(",\"").append(key).append("\":").append(std::to_string(number));
  out += "},";
}

void append_change(std::string& out, const Change& c) {
  out += "{\"name\":";
  report::append_json(out, c.name);
  out += ",\"where\":";
  report::append_json(out, c.where);
  out.append(",\"in\":").append(c.is_only_in_a() ? "\"A\"" : c.is_only_in_b() ? "\"B\"" : "\"both\"");
  const std::pair<const char*, int64_t> numbers[] = {{"before", static_cast<int64_t>(c.before)},
                                                     {"after", static_cast<int64_t>(c.after)},
                                                     {"self", c.self},
                                                     {"total", c.total},
                                                     {"total_before", static_cast<int64_t>(c.total_before)},
                                                     {"total_after", static_cast<int64_t>(c.total_after)}};
  for (auto [key, number] : numbers) out.append(",\"").append(key).append("\":").append(std::to_string(number));
  out += '}';
}

// By node: whether B has a sample there or in what is called from there.
std::vector<bool> nodes_of_b(const Profile& p) {
  std::vector<bool> out(p.nodes().size());
  out[0] = true; // the root
  for (const Sample& s : p.samples())
    if (s.weight) out[s.node] = true;
  for (size_t n = out.size(); n-- > 1;)
    if (out[n]) out[p.nodes()[n].parent] = true;
  return out;
}

} // namespace

std::string difference_text(const Difference& d, size_t top) {
  const About& about = d.profile.about;
  std::string out;
  for (const std::string& line : head_lines(d)) out += line + "\n";
  out.append("\nbefore ").append(amount(about, d.before)).append(", after ").append(amount(about, d.after)).append(": ");
  out.append(signed_amount(about, static_cast<int64_t>(d.after) - static_cast<int64_t>(d.before))).append("\n\n");
  out += "  A before    B after  self change total change  function\n";
  const std::vector<Change> rows = changes_of(d);
  for (size_t i = 0; i < rows.size() && i < top; i++) {
    const Change& r = rows[i];
    out.append(base::right(amount(about, r.before), 10)).append(base::right(amount(about, r.after), 11));
    out.append(base::right(signed_amount(about, r.self), 13)).append(base::right(signed_amount(about, r.total), 13)).append("  ").append(r.name);
    if (!r.where.empty()) out.append("  ").append(last_part(r.where));
    out += r.is_only_in_a() ? "  (only in A)\n" : r.is_only_in_b() ? "  (only in B)\n" : "\n";
  }
  append_only(out, d, rows, true);
  append_only(out, d, rows, false);
  return out;
}

std::string difference_json(const Difference& d, size_t top) {
  std::string out = "{\"unit\":";
  report::append_json(out, d.profile.about.unit);
  out += ",";
  append_side(out, "a", d.a);
  append_side(out, "b", d.b);
  out += format("\"scale\":%.9g,\"before\":%llu,\"after\":%llu,\"functions\":[", d.scale, static_cast<unsigned long long>(d.before),
                static_cast<unsigned long long>(d.after));
  std::vector<Change> rows = changes_of(d);
  for (size_t i = 0; i < rows.size() && i < top; i++) {
    if (i) out += ',';
    append_change(out, rows[i]);
  }
  return out + "]}\n";
}

std::string difference_page(const Difference& d) {
  const Profile& from = d.profile;
  Profile p;
  const std::vector<bool> is_in_b = nodes_of_b(from);
  const uint32_t note = p.frame({p.text("[only in A]"), 0, FrameKind::note});
  std::vector<uint32_t> nodes(from.nodes().size());
  for (size_t n = 1; n < nodes.size(); n++) {
    const Frame& f = from.frame_of(static_cast<uint32_t>(n));
    const uint32_t parent = from.nodes()[n].parent;
    const bool vanishes = !is_in_b[n] && is_in_b[parent];
    nodes[n] = p.node(vanishes ? p.node(nodes[parent], note) : nodes[parent], p.frame({p.text(from.name(f)), p.text(from.module(f)), f.kind, f.named}));
  }
  std::vector<int64_t> changes;
  uint64_t vanished = 0;
  for (size_t i = 0; i < from.samples().size(); i++) {
    const Sample& s = from.samples()[i];
    const Thread& t = from.threads()[s.thread];
    const uint64_t weight = is_in_b[s.node] ? s.weight : static_cast<uint64_t>(-d.changes[i]);
    vanished += is_in_b[s.node] ? 0 : weight;
    p.add(p.thread({0, 0, p.text(from.texts()[t.process]), p.text(from.texts()[t.name])}), nodes[s.node], weight, s.count);
    changes.push_back(d.changes[i]);
  }
  p.about = from.about;
  p.about.title += ", compared";
  p.about.what = "A " + d.a.file + " and B " + d.b.file;
  p.about.notes = head_lines(d);
  if (vanished)
    p.about.notes.push_back("above [only in A]: stacks that B does not have, as wide as in A: " + amount(p.about, vanished) + ", included in all sums");
  p.about.notes.insert(p.about.notes.end(), d.profile.about.notes.begin(), d.profile.about.notes.end());
  return write_page(p, changes);
}

} // namespace profile
