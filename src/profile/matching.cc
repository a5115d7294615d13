// Files are grouped by the last part of their paths, without a version; one of another name that has the build id of one in
// the group belongs to it. Where a recording has several of a group, they are told apart by build ids, or by as many parts of
// their paths as that takes, if the other recording has the same ones; else the group is one.
#include "profile/matching.h"

#include "base/text.h"

#include <algorithm>
#include <array>
#include <set>

namespace profile {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Removes "-1.2", "-v1.2.3" or "3.11" from the end; a number alone is no version.
std::string_view without_trailing_version(std::string_view name) {
  const size_t last = name.find_last_not_of("0123456789.");
  size_t begin = last == name.npos ? 0 : last + 1;
  while (begin < name.size() && name[begin] == '.') begin++;
  const std::string_view version = name.substr(begin);
  if (version.find('.') == version.npos || version.back() == '.' || begin == 0) return name;
  if (name[begin - 1] == 'v' && begin > 1 && !std::isalnum(static_cast<unsigned char>(name[begin - 2]))) begin--;
  while (begin > 1 && std::string_view("-_.").find(name[begin - 1]) != std::string_view::npos) begin--;
  return name.substr(0, begin);
}

// The last parts of a path, each without its version.
std::string tail(std::string_view path, size_t parts) {
  std::string out;
  for (; parts && !path.empty(); parts--) {
    const size_t slash = path.rfind('/');
    out.insert(0, "/" + without_version(path.substr(slash == path.npos ? 0 : slash + 1)));
    path = path.substr(0, slash == path.npos ? 0 : slash);
  }
  return out;
}

using Paths = std::map<std::string, std::string>; // with their build ids, or what is known instead

Paths files_of(const Profile& p) {
  Paths out;
  for (const Frame& f : p.frames()) {
    if (!f.module) continue;
    const auto known = p.build_ids.find(f.module);
    out.emplace(p.module(f), known == p.build_ids.end() ? std::string() : known->second);
  }
  return out;
}

std::set<std::string> processes_of_samples(const Profile& p) {
  std::set<std::string> out;
  for (const Sample& s : p.samples()) out.emplace(p.texts()[p.threads()[s.thread].process]);
  return out;
}

// Paths by what tells them apart: their last parts, or with 0 their build ids. Empty: two have the same, or one has none.
std::map<std::string, std::string> by_mark(const Paths& paths, size_t parts) {
  std::map<std::string, std::string> out;
  for (const auto& [path, build_id] : paths) {
    const std::string mark = parts ? tail(path, parts) : build_id;
    if (mark.empty() || !out.emplace(mark, path).second) return {};
  }
  return out;
}

} // namespace

struct Matching::Group {
  Paths a, b;
};

std::string without_version(std::string_view name) {
  constexpr std::string_view deleted = " (deleted)", library = ".so", map = ".map";
  if (name.ends_with(deleted)) name.remove_suffix(deleted.size());
  if (name.starts_with("perf-") && name.ends_with(map)) return "perf.map"; // code made by a process, by its number
  const size_t so = name.rfind(library);
  const bool is_library = so != name.npos && std::ranges::all_of(name.substr(so + library.size()), [](char c) { return is_digit(c) || c == '.'; });
  if (!is_library) return std::string(without_trailing_version(name));
  return std::string(without_trailing_version(name.substr(0, so))).append(library);
}

// Whether what follows belongs to a mark: a number where it ends with a point. ".coldStart" is a name of its own.
static bool ends_mark(std::string_view mark, std::string_view rest) {
  if (mark.ends_with(' ')) return true;
  return mark.ends_with('.') ? !rest.empty() && is_digit(rest[0]) : rest.empty() || rest[0] == '.' || rest[0] == ' ';
}

std::string_view function_of_copy(std::string_view name) {
  constexpr std::array<std::string_view, 7> marks = {" [clone ", ".constprop.", ".isra.", ".part.", ".cold", ".llvm.", ".lto_priv."};
  size_t end = name.size();
  for (std::string_view mark : marks)
    for (size_t at = 1; (at = name.find(mark, at)) < end; at++)
      if (ends_mark(mark, name.substr(at + mark.size()))) end = at;
  // A mark within a name, such as that of a parameter, is none.
  const bool is_copy = end == name.size() || name[end] == ' ' || name.find_first_of(" ()<>,:", end) == name.npos;
  return is_copy ? name.substr(0, end) : name;
}

// All of a group that cannot be told apart have one path: the first of B, or of A.
void Matching::join(const Group& g) {
  constexpr size_t most_parts = 16;
  for (size_t parts = 0; parts <= most_parts; parts++) {
    const auto a = by_mark(g.a, parts), b = by_mark(g.b, parts);
    const auto same = [](const auto& x, const auto& y) { return x.first == y.first; };
    if (a.empty() || !std::ranges::equal(a, b, same)) continue;
    for (const auto& [mark, path] : a) files_[path] = b.at(mark);
    return;
  }
  const std::string shown = g.b.empty() ? g.a.begin()->first : g.b.begin()->first;
  for (const Paths* paths : {&g.a, &g.b})
    for (const auto& [path, id] : *paths) files_[path] = shown;
}

Matching::Matching(const Profile& a, const Profile& b) {
  const Paths in_a = files_of(a), in_b = files_of(b);
  std::map<std::string, Group> groups;
  std::map<std::string, std::string> group_of_id;
  for (const auto& [path, id] : in_b) {
    groups[tail(path, 1)].b.emplace(path, id);
    if (!id.empty()) group_of_id[id] = tail(path, 1);
  }
  for (const auto& [path, id] : in_a) {
    const auto known = group_of_id.find(id);
    groups[known == group_of_id.end() ? tail(path, 1) : known->second].a.emplace(path, id);
  }
  for (const auto& [name, group] : groups) {
    join(group);
    for (const auto& [path, id] : group.a)
      if (files_[path] != path) renamed_.emplace_back(path, files_[path]);
  }
  const std::set<std::string> ran_a = processes_of_samples(a), ran_b = processes_of_samples(b);
  if (ran_a.size() == 1 && ran_b.size() == 1) processes_[*ran_a.begin()] = *ran_b.begin();
}

std::string_view Matching::file(std::string_view path) const {
  const auto at = files_.find(path);
  return at == files_.end() ? path : std::string_view(at->second);
}

std::string_view Matching::process(std::string_view name) const {
  const auto at = processes_.find(name);
  return at == processes_.end() ? name : std::string_view(at->second);
}

} // namespace profile
