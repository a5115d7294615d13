// Both trees are put into one; the weights of each are summed up by function apart.
#include "profile/diff.h"

#include "profile/formats.h"
#include "profile/tables.h"
#include "report/json.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

namespace profile {

namespace {

// Calls `take` with the thread and node that a sample of `from` has in `to`.
template<class Take> void copy_into(Profile& to, const Profile& from, Take take) {
  std::vector<uint32_t> frames, nodes(1, 0), threads;
  for (const Frame& f : from.frames())
    frames.push_back(to.frame({to.text(from.name(f)), to.text(from.module(f)), f.kind, f.named}));
  for (size_t n = 1; n < from.nodes().size(); n++)
    nodes.push_back(to.node(nodes[from.nodes()[n].parent], frames[from.nodes()[n].frame]));
  for (const Thread& t : from.threads())
    threads.push_back(to.thread({0, 0, to.text(from.texts()[t.process]), to.text(from.texts()[t.name])}));
  for (const Sample& s : from.samples()) take(threads[s.thread], nodes[s.node], s);
}

int64_t scaled(uint64_t weight, double scale) { return std::llround(static_cast<double>(weight) * scale); }

std::string signed_amount(const About& about, int64_t change) {
  std::string out = change > 0 ? "+" : change < 0 ? "-" : "";
  return out.append(amount(about, static_cast<uint64_t>(std::llabs(change))));
}

} // namespace

base::Result<Difference> compare(const Profile& first, const Profile& second) {
  if (first.about.unit != second.about.unit ||
      (first.about.unit == "samples" && first.about.period_ns != second.about.period_ns))
    return base::Error{base::Failure::usage,
                       "the recordings cannot be compared: one counts " + first.about.unit + " every " +
                           std::to_string(first.about.period_ns) + " ns, the other " + second.about.unit +
                           " every " + std::to_string(second.about.period_ns) + " ns"};
  Difference out;
  out.profile.about = second.about;
  if (first.about.duration_ns && second.about.duration_ns)
    out.scale = static_cast<double>(second.about.duration_ns) / static_cast<double>(first.about.duration_ns);
  std::map<std::pair<uint32_t, uint32_t>, int64_t> changes; // by thread and node
  copy_into(out.profile, second, [&](uint32_t thread, uint32_t node, const Sample& s) {
    out.profile.add(thread, node, s.weight, s.count);
    out.after += s.weight;
    changes[{thread, node}] += static_cast<int64_t>(s.weight);
  });
  copy_into(out.profile, first, [&](uint32_t thread, uint32_t node, const Sample& s) {
    out.profile.add(thread, node, 0, 0);
    int64_t weight = scaled(s.weight, out.scale);
    out.before += static_cast<uint64_t>(weight);
    changes[{thread, node}] -= weight;
  });
  for (const Sample& s : out.profile.samples()) out.changes.push_back(changes[{s.thread, s.node}]);
  return out;
}

std::vector<Change> changes_of(const Difference& d) {
  const Profile& p = d.profile;
  std::map<std::pair<uint32_t, uint32_t>, Change> rows; // by name and module
  auto row = [&](const Frame& f) -> Change& {
    Change& r = rows[{f.name, f.module}];
    if (r.name.empty()) r.name = p.name(f), r.where = p.module(f);
    return r;
  };
  std::vector<uint32_t> functions;
  for (size_t i = 0; i < p.samples().size(); i++) {
    const Sample& s = p.samples()[i];
    if (!s.node) continue;
    Change& own = row(p.frame_of(s.node));
    own.self += d.changes[i];
    own.after += s.weight;
    own.before += static_cast<uint64_t>(static_cast<int64_t>(s.weight) - d.changes[i]);
    functions = p.stack(s.node);
    std::ranges::sort(functions, {},
                      [&](uint32_t f) { return std::pair(p.frames()[f].name, p.frames()[f].module); });
    for (size_t k = 0; k < functions.size(); k++) {
      const Frame& f = p.frames()[functions[k]];
      const bool is_again =
          k && p.frames()[functions[k - 1]].name == f.name && p.frames()[functions[k - 1]].module == f.module;
      if (!is_again) row(f).total += d.changes[i];
    }
  }
  std::vector<Change> out;
  for (auto& [key, r] : rows)
    if (r.self || r.total) out.push_back(std::move(r));
  std::ranges::sort(out, [](const Change& a, const Change& b) {
    auto key = [](const Change& c) { return std::pair(std::llabs(c.self), std::llabs(c.total)); };
    return key(a) != key(b) ? key(a) > key(b) : a.name < b.name;
  });
  return out;
}

std::string difference_text(const Difference& d, size_t top) {
  const About& about = d.profile.about;
  std::string out = "before " + amount(about, d.before);
  if (std::abs(d.scale - 1) > 0.001) {
    char text[64];
    std::snprintf(text, sizeof text, " (scaled by %.3f to the time of the second)", d.scale);
    out += text;
  }
  out.append(", after ").append(amount(about, d.after)).append(": ");
  out.append(signed_amount(about, static_cast<int64_t>(d.after) - static_cast<int64_t>(d.before)))
      .append("\n\n");
  out += "    before      after  self change total change  function\n";
  std::vector<Change> rows = changes_of(d);
  for (size_t i = 0; i < rows.size() && i < top; i++) {
    const Change& r = rows[i];
    char text[96];
    std::snprintf(text, sizeof text, "%10s %10s %12s %12s  ", amount(about, r.before).c_str(),
                  amount(about, r.after).c_str(), signed_amount(about, r.self).c_str(),
                  signed_amount(about, r.total).c_str());
    out.append(text).append(r.name);
    if (!r.where.empty()) out.append("  ").append(std::string_view(r.where).substr(r.where.rfind('/') + 1));
    out += '\n';
  }
  return out;
}

std::string difference_json(const Difference& d, size_t top) {
  std::string out = "{\"unit\":";
  report::append_json(out, d.profile.about.unit);
  out += ",\"before\":" + std::to_string(d.before);
  out += ",\"after\":" + std::to_string(d.after);
  out += ",\"functions\":[";
  std::vector<Change> rows = changes_of(d);
  for (size_t i = 0; i < rows.size() && i < top; i++) {
    const Change& r = rows[i];
    out += i ? ",{\"name\":" : "{\"name\":";
    report::append_json(out, r.name);
    out += ",\"where\":";
    report::append_json(out, r.where);
    out.append(",\"before\":")
        .append(std::to_string(r.before))
        .append(",\"after\":")
        .append(std::to_string(r.after));
    out.append(",\"self\":")
        .append(std::to_string(r.self))
        .append(",\"total\":")
        .append(std::to_string(r.total))
        .append("}");
  }
  return out + "]}\n";
}

std::string difference_page(const Difference& d) { return write_page(d.profile, d.changes); }

} // namespace profile
