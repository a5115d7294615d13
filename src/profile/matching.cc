// A path that is in both recordings stands for itself, unless build ids show that files were moved. The other files are
// grouped by the last part of their paths, without a version; one of another name that has the build id of one in the group
// belongs to it. Within a group, files match by build id, then by as many parts at the end of their paths as possible. The rest
// of a group is one file only if nothing in it matched.
#include "profile/matching.h"

#include "base/text.h"

#include <algorithm>
#include <array>
#include <set>

namespace profile {

namespace {

constexpr std::string_view made_code = "perf.map"; // code made by a process: the number in the file's name is the process's

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

// Paths by what tells them apart: their last parts, or with 0 their build ids. What two of them have in common is left out.
std::map<std::string, std::string> by_mark(const Paths& paths, size_t parts) {
  std::map<std::string, std::string> out;
  for (const auto& [path, build_id] : paths)
    if (const auto [at, is_new] = out.try_emplace(parts ? tail(path, parts) : build_id, path); !is_new) at->second.clear();
  std::erase_if(out, [](const auto& one) { return one.first.empty() || one.second.empty(); });
  return out;
}

std::set<std::string> build_ids_of(const Paths& paths) {
  std::set<std::string> out;
  for (const auto& [path, build_id] : paths)
    if (!build_id.empty()) out.insert(build_id);
  return out;
}

} // namespace

struct Matching::Group {
  Paths a, b;
  bool has_match = false; // some of its files are in both recordings
};

std::string without_version(std::string_view name) {
  constexpr std::string_view deleted = " (deleted)", library = ".so", map = ".map";
  if (name.ends_with(deleted)) name.remove_suffix(deleted.size());
  if (name.starts_with("perf-") && name.ends_with(map)) return std::string(made_code);
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

// If nothing tells which files match, all have one path: the first of B.
void Matching::join(Group& g) {
  constexpr size_t most_parts = 16;
  const auto match = [&](size_t parts) {
    const auto b = by_mark(g.b, parts);
    for (const auto& [mark, path] : by_mark(g.a, parts)) {
      const auto found = b.find(mark);
      if (found == b.end()) continue;
      files_of_a_[path] = found->second;
      g.a.erase(path), g.b.erase(found->second);
      g.has_match = true;
    }
  };
  match(0);
  for (size_t parts = most_parts; parts; parts--) match(parts);
  if (g.has_match || g.a.empty() || g.b.empty()) return;
  const std::string shown = g.b.begin()->first;
  for (const auto& [path, id] : g.a) files_of_a_[path] = shown;
  for (const auto& [path, id] : g.b) files_of_b_[path] = shown;
}

Matching::Matching(const Profile& a, const Profile& b) {
  const Paths in_a = files_of(a), in_b = files_of(b);
  const std::set<std::string> ids_of_a = build_ids_of(in_a), ids_of_b = build_ids_of(in_b);
  const auto is_in_both = [&](const std::string& path) {
    const auto before = in_a.find(path), after = in_b.find(path);
    if (before == in_a.end() || after == in_b.end() || tail(path, 1).substr(1) == made_code) return false;
    return before->second == after->second || (!ids_of_b.contains(before->second) && !ids_of_a.contains(after->second));
  };
  std::map<std::string, Group> groups;
  std::map<std::string, std::string> group_of_id;
  for (const auto& [path, id] : in_b) {
    Group& group = groups[tail(path, 1)];
    if (is_in_both(path)) {
      group.has_match = true;
      continue;
    }
    group.b.emplace(path, id);
    if (!id.empty()) group_of_id[id] = tail(path, 1);
  }
  for (const auto& [path, id] : in_a) {
    if (is_in_both(path)) continue;
    const auto known = group_of_id.find(id);
    groups[known == group_of_id.end() ? tail(path, 1) : known->second].a.emplace(path, id);
  }
  for (auto& [name, group] : groups) join(group);
  for (const auto& [path, id] : in_a)
    if (file_of_a(path) != path) renamed_.emplace_back(path, file_of_a(path));
  const std::set<std::string> ran_a = processes_of_samples(a), ran_b = processes_of_samples(b);
  if (ran_a.size() == 1 && ran_b.size() == 1) processes_[*ran_a.begin()] = *ran_b.begin();
}

std::string_view Matching::in(const Names& names, std::string_view name) {
  const auto at = names.find(name);
  return at == names.end() ? name : std::string_view(at->second);
}

} // namespace profile
