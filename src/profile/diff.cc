// Both trees are put into one; the weights of each are summed up by function apart.
#include "profile/diff.h"

#include "base/rounded.h"
#include "profile/matching.h"
#include "profile/tables.h"

#include <algorithm>
#include <map>

namespace profile {

namespace {

// Calls `take` with the thread and node that a sample of `from`, which is A or B, has in `to`.
template<class Take> void copy_into(Profile& to, const Profile& from, const Matching& same, bool is_a, Take take) {
  std::vector<uint32_t> frames, nodes(1, 0), threads;
  for (const Frame& f : from.frames())
    frames.push_back(to.frame({to.text(function_of_copy(from.name(f))), to.text(is_a ? same.file_of_a(from.module(f)) : same.file_of_b(from.module(f))), f.kind, f.named}));
  for (size_t n = 1; n < from.nodes().size(); n++)
    nodes.push_back(to.node(nodes[from.nodes()[n].parent], frames[from.nodes()[n].frame]));
  for (const Thread& t : from.threads()) {
    // The thread that has its process's name has it in the other one, too.
    const std::string_view process = from.texts()[t.process], name = from.texts()[t.name];
    threads.push_back(to.thread({0, 0, to.text(same.process(process)), to.text(name == process ? same.process(name) : name)}));
  }
  for (const Sample& s : from.samples()) take(threads[s.thread], nodes[s.node], s);
}

int64_t scaled(uint64_t weight, double scale) { return base::rounded(static_cast<double>(weight) * scale); }

// What A is multiplied by.
double scale_of(const About& a, const About& b) {
  double out = 1;
  if (a.duration_ns && b.duration_ns) out = static_cast<double>(b.duration_ns) / static_cast<double>(a.duration_ns);
  if (a.period_ns && b.period_ns) out *= static_cast<double>(a.period_ns) / static_cast<double>(b.period_ns);
  return out;
}

Side side_of(const Profile& p, std::string file) {
  Side out = {std::move(file), p.about, p.total()};
  out.about.notes.clear();
  return out;
}

// CPU time as samples in one, as ns in the other.
bool are_both_cpu_time(const About& a, const About& b) {
  return is_cpu_time(a) && is_cpu_time(b) && (a.period_ns ? b.unit == "ns" : a.unit == "ns" && b.period_ns);
}

} // namespace

base::Result<Difference> compare(const Profile& first, const Profile& second, std::string a, std::string b) {
  const bool is_mixed = are_both_cpu_time(first.about, second.about);
  if (!is_mixed && (first.about.unit != second.about.unit || !first.about.period_ns != !second.about.period_ns)) {
    auto counts = [](const About& about) { return about.period_ns ? "CPU time" : about.unit; };
    return base::Error{base::Failure::usage, "the recordings cannot be compared: A counts " + counts(first.about) + ", B " + counts(second.about)};
  }
  Difference out;
  out.a = side_of(first, std::move(a)), out.b = side_of(second, std::move(b));
  out.profile.about = second.about;
  if (is_mixed) out.profile.about.unit = "ns", out.profile.about.period_ns = 0;
  const auto weight_of = [&](const Sample& s, const About& of) { return is_mixed && of.period_ns ? s.weight * of.period_ns : s.weight; };
  out.scale = scale_of(first.about, second.about);
  const Matching same(first, second);
  out.renamed = same.renamed();
  std::map<std::pair<uint32_t, uint32_t>, int64_t> changes; // by thread and node
  copy_into(out.profile, second, same, false, [&](uint32_t thread, uint32_t node, const Sample& s) {
    const uint64_t weight = weight_of(s, second.about);
    out.profile.add(thread, node, weight, s.count);
    out.after += weight;
    changes[{thread, node}] += static_cast<int64_t>(weight);
  });
  copy_into(out.profile, first, same, true, [&](uint32_t thread, uint32_t node, const Sample& s) {
    out.profile.add(thread, node, 0, 0);
    int64_t weight = scaled(weight_of(s, first.about), out.scale);
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
  const std::vector<uint32_t> charged = charged_nodes(p);
  for (size_t i = 0; i < p.samples().size(); i++) {
    const Sample& s = p.samples()[i];
    if (!s.node) continue;
    const auto before = static_cast<uint64_t>(static_cast<int64_t>(s.weight) - d.changes[i]);
    Change& own = row(p.frame_of(charged[s.node]));
    own.self += d.changes[i];
    own.after += s.weight;
    own.before += before;
    functions = p.stack(s.node);
    std::ranges::sort(functions, {},
                      [&](uint32_t f) { return std::pair(p.frames()[f].name, p.frames()[f].module); });
    for (size_t k = 0; k < functions.size(); k++) {
      const Frame& f = p.frames()[functions[k]];
      const bool is_again =
          k && p.frames()[functions[k - 1]].name == f.name && p.frames()[functions[k - 1]].module == f.module;
      if (is_again) continue;
      Change& r = row(f);
      r.total += d.changes[i];
      r.total_before += before;
      r.total_after += s.weight;
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

} // namespace profile
