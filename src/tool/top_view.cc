#include "tool/top_view.h"

#include "base/clock.h"
#include "base/text.h"
#include "profile/completeness.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cwchar>
#include <map>

namespace tool {

using profile::SortBy;

namespace {

constexpr size_t lines_above = 3, lines_below = 1;
constexpr size_t narrow = 60; // columns: below that only shares and names are shown

template<class... Values> std::string format(const char* form, Values... values) {
  char text[200];
  std::snprintf(text, sizeof text, form, values...);
  return text;
}

// A UTF-8 character and its width on the screen. An invalid one has width 1.
struct Glyph {
  size_t bytes = 1;
  size_t columns = 1;
  bool is_text = true;
};
Glyph glyph_at(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return {.is_text = first >= 0x20 && first != 0x7f};
  const size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || bytes > text.size()) return {.is_text = false};
  uint32_t code = first & (0x7fu >> bytes);
  for (size_t i = 1; i < bytes; i++) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0) != 0x80) return {.is_text = false};
    code = code << 6 | (next & 0x3f);
  }
  const int width = ::wcwidth(static_cast<wchar_t>(code));
  return {.bytes = bytes, .columns = width < 0 ? 1 : static_cast<size_t>(width), .is_text = code >= 0xa0};
}

// Cut to the columns, or filled up with blanks. Nothing in it moves the cursor.
std::string fit(std::string_view text, size_t columns, bool fills = false) {
  std::string out;
  size_t used = 0;
  while (!text.empty()) {
    const Glyph g = glyph_at(text);
    const bool ends = g.bytes >= text.size();
    if (used + g.columns > columns || (used + g.columns == columns && !ends)) {
      if (used < columns) out += "…", used++;
      break;
    }
    if (g.is_text)
      out.append(text.substr(0, g.bytes));
    else
      out += '?';
    used += g.columns;
    text.remove_prefix(g.bytes);
  }
  if (fills && used < columns) out.append(columns - used, ' ');
  return out;
}

// At the right of the columns.
std::string right(std::string_view text, size_t columns) {
  size_t used = 0;
  for (std::string_view rest = text; !rest.empty(); rest.remove_prefix(glyph_at(rest).bytes))
    used += glyph_at(rest).columns;
  return std::string(used < columns ? columns - used : 0, ' ').append(text);
}

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

std::string in_utf8(Key c) {
  std::string out;
  if (c < 0x80) return out + static_cast<char>(c);
  if (c >= 0x10000) out += static_cast<char>(0xf0 | c >> 18);
  if (c >= 0x800) out += static_cast<char>(c >= 0x10000 ? 0x80 | (c >> 12 & 0x3f) : 0xe0 | c >> 12);
  out += static_cast<char>(c >= 0x800 ? 0x80 | (c >> 6 & 0x3f) : 0xc0 | c >> 6);
  return out + static_cast<char>(0x80 | (c & 0x3f));
}

std::string_view sort_name(SortBy by) {
  return base::split(profile::sort_words, '|')[static_cast<size_t>(by)];
}

void add_up(std::vector<profile::Gain>& all, std::span<const profile::Gain> gains) {
  for (const profile::Gain& g : gains) {
    while (g.sample >= all.size()) all.push_back({.sample = static_cast<uint32_t>(all.size())});
    all[g.sample].weight += g.weight;
    all[g.sample].count += g.count;
  }
}

} // namespace

std::string sum_line(const profile::About& a, uint64_t ran_ns, const std::string& losses, bool is_short) {
  const auto percent = [](uint64_t ns, uint64_t of_ns) { return 100 * static_cast<double>(ns) / std::max(1.0, static_cast<double>(of_ns)); };
  const double own = percent(a.own_cpu_ns, ran_ns), probes = percent(a.kernel_ns, a.duration_ns);
  const char* unit = a.samples == 1 ? "sample" : "samples";
  const auto samples = static_cast<unsigned long long>(a.samples),
             memory = static_cast<unsigned long long>(a.own_memory >> 20);
  if (is_short)
    return format("%llu %s, %s; acu %.1f%%, %llu MiB", samples, unit, losses.c_str(), own + probes, memory);
  return format("%llu %s, %s; acu takes %.1f%% of a CPU, its probes %.1f%%, %llu MiB", samples, unit,
                losses.c_str(), own, probes, memory);
}

// ---- what is shown

void TopView::take(const flame::Look& look) {
  profile_ = &look.profile;
  is_state_ = look.is_state;
  losses_ = look.losses;
  ran_ns_ = look.ran_ns;
  since_start_ns_ = look.profile.about.duration_ns;
  add_up(pending_, look.gains);
  if (is_held_) return;
  if (is_state_) all_.clear(), pending_.clear(), add_up(pending_, look.gains);
  add_up(all_, std::exchange(pending_, {}));
  window_.assign(look.gains.begin(), look.gains.end());
  passed_ns_ = look.passed_ns;
  clock_ = base::time_of_day();
  make_items();
}

// The rows of the selected thread, if any.
void TopView::weigh() {
  std::span<const profile::Gain> from = is_since_start_ ? std::span<const profile::Gain>(all_) : window_;
  std::optional<uint32_t> thread;
  for (const Place& p : places_)
    if (p.thread) thread = p.thread;
  std::vector<profile::Gain> gains;
  for (const profile::Gain& g : from)
    if (!thread || profile_->samples()[g.sample].thread == *thread) gains.push_back(g);
  profile_->weigh_anew(gains);
  whole_ = profile_->total();
}

bool TopView::fits(const profile::Row& row) const {
  if (search_.empty()) return true;
  const std::string wanted = lower(search_);
  return lower(row.name).find(wanted) != std::string::npos ||
         lower(row.where).find(wanted) != std::string::npos;
}

void TopView::add_rows(std::string_view heading, std::vector<profile::Row> rows) {
  if (!heading.empty()) items_.push_back({.row = {}, .heading = heading, .thread = {}});
  for (profile::Row& row : rows)
    if (fits(row)) items_.push_back({.row = std::move(row), .heading = {}, .thread = {}});
}

std::string TopView::thread_name(uint32_t thread) const {
  const profile::Thread& t = profile_->threads()[thread];
  std::string out(profile_->texts()[t.name]);
  if (t.tid) out += " " + std::to_string(t.tid);
  return out;
}

void TopView::add_threads() {
  std::map<uint32_t, uint64_t> sums;
  for (const profile::Sample& s : profile_->samples())
    if (s.weight) sums[s.thread] += s.weight;
  for (auto [thread, sum] : sums) {
    const profile::Thread& t = profile_->threads()[thread];
    profile::Row row = {.name = thread_name(thread),
                        .where = std::string(profile_->texts()[t.process]),
                        .self = sum,
                        .total = sum};
    if (t.pid) row.where += " " + std::to_string(t.pid);
    if (fits(row)) items_.push_back({.row = std::move(row), .heading = {}, .thread = thread});
  }
  std::ranges::stable_sort(items_, [&](const Item& a, const Item& b) {
    return by_ == SortBy::name ? a.row.name < b.row.name : a.row.total > b.row.total;
  });
}

void TopView::make_items() {
  items_.clear();
  if (!profile_) return;
  weigh();
  const Place& here = places_.back();
  if (here.is_threads) {
    add_threads();
  } else if (here.function) {
    add_rows("called by", profile::callers_of(*profile_, *here.function));
    add_rows("calls", profile::callees_of(*profile_, *here.function));
  } else {
    add_rows({}, profile::functions_of(*profile_, by_));
  }
  follow_chosen();
  move(0);
}

// Rows come and go; the selected one stays selected while it exists.
void TopView::follow_chosen() {
  Place& here = places_.back();
  if (!here.followed) return;
  auto distance = [&](size_t i) { return i > here.chosen ? i - here.chosen : here.chosen - i; };
  std::optional<size_t> nearest;
  for (size_t i = 0; i < items_.size(); i++) {
    const Item& item = items_[i];
    if (!item.heading.empty() || item.row.name != here.followed->name ||
        item.row.where != here.followed->where)
      continue;
    if (!nearest || distance(i) < distance(*nearest)) nearest = i;
  }
  if (nearest) here.chosen = *nearest;
}

// ---- what is pressed

// The next row that is no heading.
void TopView::move(long by) {
  size_t& chosen = places_.back().chosen;
  const long last = static_cast<long>(items_.size()) - 1;
  const long to = std::clamp(static_cast<long>(chosen) + by, 0L, std::max(last, 0L));
  // A heading is passed, or, where no row is behind it, not reached.
  for (const long step : by < 0 ? std::array{-1L, 1L} : std::array{1L, -1L})
    for (long at = to; at >= 0 && at <= last; at += step)
      if (items_[static_cast<size_t>(at)].heading.empty()) return void(chosen = static_cast<size_t>(at));
  chosen = std::min(chosen, static_cast<size_t>(std::max(last, 0L)));
}

void TopView::enter() {
  const size_t chosen = places_.back().chosen;
  if (chosen >= items_.size() || !items_[chosen].heading.empty()) return;
  const Item& item = items_[chosen];
  Place next;
  if (item.thread)
    next.thread = item.thread;
  else
    next.function = item.row;
  places_.push_back(std::move(next));
  search_.clear();
  first_ = 0;
  make_items();
}

void TopView::leave() {
  if (!search_.empty())
    search_.clear();
  else if (places_.size() > 1)
    places_.pop_back();
  make_items();
}

bool TopView::press_in_search(Key key) {
  if (key == key_enter || key == key_escape) {
    if (key == key_escape) search_.clear();
    is_searching_ = false;
  } else if (key == key_erase) {
    while (!search_.empty() && (search_.back() & 0xc0) == 0x80) search_.pop_back();
    if (!search_.empty()) search_.pop_back();
  } else if (key >= 0x20 && key < key_up) {
    search_ += in_utf8(key);
  }
  places_.back().chosen = first_ = 0;
  places_.back().followed.reset();
  make_items();
  return true;
}

// A row selected with the keys is followed; the first row is not.
void TopView::walk(long by) {
  move(by);
  Place& here = places_.back();
  here.followed.reset();
  if (here.chosen > 0 && here.chosen < items_.size()) here.followed = items_[here.chosen].row;
}

bool TopView::press(Key key) {
  if (is_searching_) return press_in_search(key);
  if (shows_help_ && key != 'q') return shows_help_ = false, true;
  const long page = static_cast<long>(rows_ > 1 ? rows_ - 1 : 1);
  switch (key) {
  case 'q': return false;
  case ' ': is_held_ = !is_held_; break;
  case '/': is_searching_ = true, search_.clear(); break;
  case 'h':
  case '?': shows_help_ = true; break;
  case 's': by_ = static_cast<SortBy>((static_cast<size_t>(by_) + 1) % 3), make_items(); break;
  case 'a': is_since_start_ = !is_since_start_, make_items(); break;
  case 't': {
    const bool to_threads = !places_.back().is_threads;
    places_ = {{.function = {}, .thread = {}, .is_threads = to_threads, .chosen = 0, .followed = {}}};
    make_items();
    break;
  }
  case key_enter:
  case key_right: enter(); break;
  case key_left:
  case key_escape:
  case key_erase: leave(); break;
  case 'k':
  case key_up: walk(-1); break;
  case 'j':
  case key_down: walk(1); break;
  case key_page_up: walk(-page); break;
  case key_page_down: walk(page); break;
  case key_home: walk(-static_cast<long>(items_.size())); break;
  case key_end: walk(static_cast<long>(items_.size())); break;
  default: break;
  }
  return true;
}

// ---- how it looks

std::string TopView::state_line() const {
  if (is_searching_) return "search: " + search_ + "_";
  std::string out = profile_ ? profile::amount(profile_->about, whole_) : "nothing yet";
  if (profile_ && profile_->about.unit != "ns" && profile_->about.unit != "bytes" &&
      !profile_->about.period_ns)
    out += " " + profile_->about.unit;
  if (is_state_)
    out += " now";
  else
    out += format(is_since_start_ ? " since the start, %.0f s" : " in %.1f s",
                  static_cast<double>(is_since_start_ ? since_start_ns_
                                      : profile_      ? passed_ns_
                                                      : interval_ns_) /
                      1e9);
  for (const Place& p : places_)
    if (p.thread) out += " > " + thread_name(*p.thread);
  if (const auto& f = places_.back().function) out += " > " + f->name;
  if (places_.back().is_threads) out += " by thread";
  if (!search_.empty()) out += " /" + search_;
  return out;
}

ShownLine TopView::show(const Item& item, size_t columns) const {
  if (!item.heading.empty()) return {.text = fit(item.heading, columns), .is_head = true};
  const profile::Row& row = item.row;
  std::string text;
  // Of callers and callees, as of threads, only one number is known.
  const bool has_self = !places_.back().is_threads && !places_.back().function;
  if (has_self) text += right(profile::percent(row.self, whole_), 6) + " ";
  text += right(profile::percent(row.total, whole_), 6) + " ";
  if (columns >= narrow)
    text +=
        right(profile::amount(profile_->about, has_self && by_ != SortBy::total ? row.self : row.total), 10) +
        " ";
  const size_t rest = columns > text.size() + 1 ? columns - text.size() - 1 : 0;
  const size_t where = columns >= narrow && !row.where.empty() ? std::min<size_t>(rest / 3, 24) : 0;
  std::string name = row.name;
  if (columns >= narrow) name += spec::row_of(row.kind).remark;
  text += " " + fit(name, rest - where, where > 0);
  if (where) text += " " + fit(last_part(row.where), where - 1);
  return {.text = fit(text, columns), .kind = row.kind};
}

std::vector<ShownLine> TopView::help() const {
  std::vector<ShownLine> out;
  for (std::string_view line :
       {"up, down   choose a row (also PgUp, PgDn, Home, End)",
        "Enter      callers and callees; for a thread, its functions", "left, Esc  back",
        "t          threads, or functions", "s          sort by self, total, name",
        "a          since the start, or the last interval", "/          filter by name",
        "space      pause, or resume", "q          quit", "", "any key    continue"})
    out.push_back({.text = std::string(line)});
  return out;
}

std::vector<ShownLine> TopView::lines(size_t columns, size_t rows) {
  const std::string incomplete = profile_ ? profile::why_incomplete(*profile_) : "";
  const size_t above = lines_above + !incomplete.empty();
  rows_ = rows > above + lines_below ? rows - above - lines_below : 1;
  std::vector<ShownLine> out;
  if (!incomplete.empty()) out.push_back({.text = fit(incomplete, columns), .kind = spec::FrameKind::note});
  std::string title = profile_ ? profile_->about.title + " of " + profile_->about.what : "acu top";
  const std::string right = is_held_ ? "[held]" : clock_;
  const size_t room = columns > right.size() + 1 ? columns - right.size() : 0;
  out.push_back({.text = fit(title, room ? room - 1 : columns, room > 0) + (room ? " " + right : ""),
                 .is_head = true});
  out.push_back({.text = fit(state_line(), columns)});
  const bool has_self = !places_.back().is_threads && !places_.back().function;
  std::string head = has_self ? "  self  total " : " total ";
  if (columns >= narrow) head += format("%10s ", has_self && by_ != SortBy::total ? "self" : "total");
  head += places_.back().is_threads ? " thread" : " function";
  if (has_self) head += ", by " + std::string(sort_name(by_));
  out.push_back({.text = fit(head, columns, true), .is_head = true});

  if (shows_help_) {
    for (ShownLine& line : help())
      if (out.size() + lines_below < rows) out.push_back({.text = fit(line.text, columns)});
  } else {
    const size_t chosen = places_.back().chosen;
    first_ = std::min(first_, chosen);
    if (chosen >= first_ + rows_) first_ = chosen + 1 - rows_;
    if (chosen == 1 && !items_.empty() && !items_[0].heading.empty()) first_ = 0;
    for (size_t i = first_; i < items_.size() && i < first_ + rows_; i++) {
      out.push_back(show(items_[i], columns));
      out.back().is_chosen = i == chosen;
      if (i == chosen) out.back().text = fit(out.back().text, columns, true);
    }
    if (items_.empty() && profile_)
      out.push_back(
          {.text = fit(search_.empty() ? "  nothing happened" : "  no name matches", columns),
           .kind = spec::FrameKind::note});
  }
  out.resize(std::max<size_t>(rows, above + lines_below) - lines_below);
  std::string last = profile_ ? sum_line(profile_->about, ran_ns_, losses_, columns < narrow)
                              : "waiting for the first interval; h: help, q: quit";
  out.push_back({.text = fit(last, columns), .is_head = true});
  if (out.size() > rows) out.resize(rows);
  return out;
}

} // namespace tool
