// What `acu top` shows on a terminal, as lines of text: everything but the terminal itself (screen.h). It
// takes what was gained in each interval and the keys that are pressed.
#pragma once

#include "flame/sampling.h"
#include "profile/tables.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tool {

// Characters as Unicode has them, and above these the others.
using Key = uint32_t;
enum OtherKey : Key {
  key_up = 0x110000,
  key_down,
  key_left,
  key_right,
  key_page_up,
  key_page_down,
  key_home,
  key_end,
  key_enter,
  key_escape,
  key_erase
};

struct ShownLine {
  std::string text; // as wide as the terminal at most
  bool is_head = false;
  spec::FrameKind kind = spec::FrameKind::user; // whose color it has
  bool is_chosen = false;
};

class TopView {
public:
  TopView(profile::SortBy by, uint64_t interval_ns) : by_(by), interval_ns_(interval_ns) {}
  void take(const flame::Look& look);
  // false: it is to end.
  bool press(Key key);
  std::vector<ShownLine> lines(size_t columns, size_t rows);

private:
  struct Item {
    profile::Row row;
    std::string_view heading; // instead of a row
    std::optional<uint32_t> thread;
  };
  // A function whose callers and callees are shown, or a thread whose functions are; nothing: all functions,
  // or all threads.
  struct Place {
    std::optional<profile::Row> function;
    std::optional<uint32_t> thread;
    bool is_threads = false;
    size_t chosen = 0;
    std::optional<profile::Row> followed; // is chosen wherever it comes to stand
  };

  void weigh();
  void make_items();
  void add_rows(std::string_view heading, std::vector<profile::Row> rows);
  void add_threads();
  bool fits(const profile::Row& row) const;
  void enter();
  void leave();
  void move(long by);
  void walk(long by);
  void follow_chosen();
  bool press_in_search(Key key);
  std::string state_line() const;
  std::string thread_name(uint32_t thread) const;
  ShownLine show(const Item& item, size_t columns) const;
  std::vector<ShownLine> help() const;

  profile::SortBy by_;
  uint64_t interval_ns_;
  profile::Profile* profile_ = nullptr;
  std::vector<profile::Gain> window_, all_, pending_; // all_: by sample; pending_: while nothing moves
  uint64_t passed_ns_ = 0, since_start_ns_ = 0, ran_ns_ = 0;
  std::string clock_, losses_;
  bool is_held_ = false, is_since_start_ = false, is_state_ = false, is_searching_ = false,
       shows_help_ = false;
  std::string search_;
  std::vector<Place> places_ = {{}};
  std::vector<Item> items_;
  size_t first_ = 0; // item on the first row
  size_t rows_ = 10; // for items
  uint64_t whole_ = 0;
};

// Lines of what was seen, lost, and taken: the last line of the screen, and of the command. `ran_ns`: for how long acu has run.
std::string sum_line(const profile::About& about, uint64_t ran_ns, const std::string& losses, bool is_short = false);

} // namespace tool
