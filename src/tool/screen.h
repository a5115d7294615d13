// A terminal whose whole screen is used (ncurses). However the process ends, but by SIGKILL, the terminal is
// as it was.
#pragma once

#include "tool/top_view.h"

#include <memory>
#include <span>

namespace tool {

class Screen {
public:
  // Standard input and output are a terminal, of a type that is known.
  static bool is_possible();
  // nullptr: it is not.
  static std::unique_ptr<Screen> open();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  // As large as the terminal now is.
  void fit();
  size_t columns() const;
  size_t rows() const;
  void draw(std::span<const ShownLine> lines);
  // What was pressed and not asked for yet.
  std::optional<Key> key();

private:
  Screen() = default;
  void choose_colors();
  bool has_colors_ = false;
};

} // namespace tool
