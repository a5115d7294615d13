// Sums over the call tree. Weights go from the samples to the nodes and up the tree, as children stand behind
// parents; for totals a function's node counts where none of its callers is the same function.
#include "profile/tables.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace profile {

SortBy sort_of(std::string_view word) {
  return word == "total" ? SortBy::total : word == "name" ? SortBy::name : SortBy::self;
}

namespace {

constexpr uint32_t nowhere = UINT32_MAX;

struct Weights {
  std::vector<uint64_t> self, total; // by node; self: what is charged to it
  std::vector<bool> ends;            // samples end there
  std::vector<uint32_t> inner;       // how far below the nearest sample ends
};

Weights weigh(const Profile& p) {
  Weights w;
  const std::vector<uint32_t> charged = charged_nodes(p);
  w.self.resize(p.nodes().size());
  w.total.resize(p.nodes().size());
  w.ends.resize(p.nodes().size());
  for (const Sample& s : p.samples()) {
    w.self[charged[s.node]] += s.weight;
    w.total[s.node] += s.weight;
    w.ends[s.node] = w.ends[s.node] || s.weight;
  }
  w.inner.resize(p.nodes().size(), nowhere);
  for (size_t n = p.nodes().size(); n-- > 1;) {
    const uint32_t parent = p.nodes()[n].parent;
    w.total[parent] += w.total[n];
    if (w.self[n] || w.ends[n]) w.inner[n] = 0;
    if (w.inner[n] != nowhere) w.inner[parent] = std::min(w.inner[parent], w.inner[n] + 1);
  }
  return w;
}

// Functions, or modules, in the order of their first nodes. `group_of` gives the number of a frame's group.
template<class GroupOf> std::vector<Row> sum_up(const Profile& p, size_t groups, GroupOf group_of) {
  Weights w = weigh(p);
  std::vector<Row> rows(groups);
  for (Row& row : rows) row.inner = nowhere;
  std::vector<std::vector<uint32_t>> children(p.nodes().size());
  for (uint32_t n = 1; n < p.nodes().size(); n++) children[p.nodes()[n].parent].push_back(n);
  std::vector<uint32_t> depth(groups); // how often a group is on the way from the root
  struct Step {
    uint32_t node;
    bool leaves;
  };
  std::vector<Step> steps = {{0, false}};
  while (!steps.empty()) {
    auto [node, leaves] = steps.back();
    steps.pop_back();
    size_t group = node ? group_of(p.nodes()[node].frame) : 0;
    if (leaves) {
      depth[group]--;
      continue;
    }
    if (node) {
      rows[group].self += w.self[node];
      rows[group].is_end |= w.ends[node];
      rows[group].inner = std::min(rows[group].inner, w.inner[node]);
      if (depth[group]++ == 0) rows[group].total += w.total[node];
      steps.push_back({node, true});
    }
    for (uint32_t child : children[node]) steps.push_back({child, false});
  }
  return rows;
}

// What took the same stands as in a stack, the innermost first: of a chain of calls those that are of interest.
void sort_rows(std::vector<Row>& rows, SortBy by) {
  std::erase_if(rows, [](const Row& r) { return r.total == 0; });
  std::ranges::sort(rows, [&](const Row& a, const Row& b) {
    auto key = [&](const Row& r) {
      return by == SortBy::self ? std::pair(r.self, r.total) : std::pair(r.total, r.self);
    };
    if (by != SortBy::name && key(a) != key(b)) return key(a) > key(b);
    if (by != SortBy::name && a.inner != b.inner) return a.inner < b.inner;
    return std::tie(a.name, a.where) < std::tie(b.name, b.where);
  });
}

// Inlined calls of a function are that function too.
struct Functions {
  std::vector<uint32_t> of_frame;
  std::vector<uint32_t> first; // frame of each
};

Functions functions(const Profile& p) {
  Functions out;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> index;
  for (uint32_t f = 0; f < p.frames().size(); f++) {
    const Frame& frame = p.frames()[f];
    auto [at, is_new] =
        index.try_emplace({frame.name, frame.module}, static_cast<uint32_t>(out.first.size()));
    if (is_new) out.first.push_back(f);
    out.of_frame.push_back(at->second);
  }
  return out;
}

bool is_function(const Profile& p, const Frame& f, const Row& row) {
  return p.name(f) == row.name && p.module(f) == row.where;
}

} // namespace

std::vector<Row> functions_of(const Profile& p, SortBy by) {
  Functions known = functions(p);
  std::vector<Row> rows =
      sum_up(p, known.first.size(), [&](uint32_t frame) { return known.of_frame[frame]; });
  for (size_t i = 0; i < rows.size(); i++) {
    const Frame& f = p.frames()[known.first[i]];
    rows[i].name = p.name(f);
    rows[i].where = p.module(f);
    rows[i].kind = f.kind;
  }
  std::erase_if(rows,
                [](const Row& r) { return spec::is_note(r.kind) && !r.self && !r.is_end; }); // why a stack ends
  sort_rows(rows, by);
  return rows;
}

std::vector<Row> modules_of(const Profile& p) {
  std::vector<Row> rows =
      sum_up(p, p.texts().size(), [&](uint32_t frame) { return p.frames()[frame].module; });
  for (size_t i = 0; i < rows.size(); i++) rows[i].name = i ? p.texts()[i] : "(no file)";
  sort_rows(rows, SortBy::self);
  return rows;
}

std::vector<Row> processes_of(const Profile& p) {
  std::map<std::pair<uint32_t, uint32_t>, Row> rows;
  for (const Sample& s : p.samples()) {
    const Thread& t = p.threads()[s.thread];
    Row& row = rows[{t.pid, t.process}];
    row.name = p.texts()[t.process];
    row.where = t.pid ? std::to_string(t.pid) : "";
    row.self = row.total += s.weight;
  }
  std::vector<Row> out;
  for (auto& [key, row] : rows) out.push_back(std::move(row));
  sort_rows(out, SortBy::total);
  return out;
}

// In a recursion the two stand next to each other several times in a stack, which counts once.
static std::vector<Row> neighbours(const Profile& p, const Row& function, bool callers) {
  const Weights w = weigh(p);
  const Functions known = functions(p);
  std::vector<bool> is_it(p.frames().size()); // by frame: it is the function
  for (size_t f = 1; f < is_it.size(); f++) is_it[f] = is_function(p, p.frames()[f], function);
  // The neighbour at a call from a node's parent to the node; `nowhere`: it is no such call.
  auto neighbour = [&](uint32_t n) {
    const uint32_t outer = p.nodes()[p.nodes()[n].parent].frame, inner = p.nodes()[n].frame;
    const bool fits = p.nodes()[n].parent && is_it[callers ? inner : outer] && !is_it[callers ? outer : inner];
    return fits ? known.of_frame[callers ? outer : inner] : nowhere;
  };
  std::map<uint32_t, Row> rows;
  for (uint32_t n = 1; n < p.nodes().size(); n++) {
    const uint32_t group = neighbour(n);
    if (group == nowhere) continue;
    uint32_t above = p.nodes()[n].parent;
    while (above && neighbour(above) != group) above = p.nodes()[above].parent;
    if (!above) rows[group].total += w.total[n];
  }
  std::vector<Row> out;
  for (auto& [group, row] : rows) {
    const Frame& f = p.frames()[known.first[group]];
    row.name = p.name(f), row.where = p.module(f), row.kind = f.kind;
    out.push_back(std::move(row));
  }
  sort_rows(out, SortBy::total);
  return out;
}

std::vector<Row> callers_of(const Profile& p, const Row& function) { return neighbours(p, function, true); }
std::vector<Row> callees_of(const Profile& p, const Row& function) { return neighbours(p, function, false); }

} // namespace profile
