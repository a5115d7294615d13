#include "tool/screen.h"

#include "session/signals.h"

#include <clocale>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define NCURSES_NOMACROS
#include <curses.h>

// term.h would make macros of short words.
extern "C" {
int setupterm(const char* type, int fd, int* error);
char* tigetstr(const char* name);
}

namespace tool {

namespace {

constexpr int deadly[] = {SIGQUIT, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};

// Pairs of colors by kind; 0: the terminal's own.
short pair_of(spec::FrameKind kind) { return spec::row_of(kind).terminal_color < 0 ? 0 : static_cast<short>(1 + static_cast<short>(kind)); }

// For handlers of signals: how the terminal was, and what brings it back.
termios before;
char leaving[64];
size_t leaving_bytes = 0;

void restore() {
  if (::write(STDOUT_FILENO, leaving, leaving_bytes) < 0) {
  }
  ::tcsetattr(STDIN_FILENO, TCSANOW, &before);
}

void restore_and_die(int signal) {
  restore();
  ::raise(signal); // its handler is the default one again
}

void remember_leaving() {
  leaving_bytes = 0;
  for (const char* name : {"sgr0", "cnorm", "rmcup", "rmkx"}) {
    const char* text = ::tigetstr(name);
    if (!text || text == reinterpret_cast<char*>(-1)) continue;
    const size_t size = std::strlen(text);
    if (leaving_bytes + size > sizeof leaving) continue;
    std::memcpy(leaving + leaving_bytes, text, size);
    leaving_bytes += size;
  }
}

void set_handlers(bool on) {
  struct sigaction action = {};
  action.sa_handler = on ? restore_and_die : SIG_DFL;
  action.sa_flags = on ? static_cast<int>(SA_RESETHAND) | SA_NODEFER : 0;
  for (int signal : deadly) ::sigaction(signal, &action, nullptr);
  session::signals::set_last_act(on ? restore : nullptr);
}

bool wants_colors() {
  const char* none = std::getenv("NO_COLOR"); // no-color.org
  const char* own = std::getenv("ACU_COLOR");
  return !(none && *none) && !(own && std::strcmp(own, "never") == 0);
}

SCREEN* terminal = nullptr;

} // namespace

// A terminal that cannot move its cursor (TERM=dumb) is not used as a screen.
bool Screen::is_possible() {
  int error = 0;
  return ::isatty(STDIN_FILENO) && ::isatty(STDOUT_FILENO) &&
         ::setupterm(nullptr, STDOUT_FILENO, &error) == OK && ::tigetstr("cup");
}

std::unique_ptr<Screen> Screen::open() {
  if (!is_possible() || ::tcgetattr(STDIN_FILENO, &before) != 0) return nullptr;
  // Names are UTF-8, whatever the language of messages is.
  const char* locale = std::setlocale(LC_CTYPE, "");
  if (!locale || MB_CUR_MAX == 1) std::setlocale(LC_CTYPE, "C.UTF-8");
  remember_leaving();
  terminal = ::newterm(nullptr, stdout, stdin);
  if (!terminal) return nullptr;
  std::unique_ptr<Screen> out(new Screen);
  set_handlers(true);
  ::cbreak();
  ::noecho();
  ::nonl();
  ::nodelay(stdscr, TRUE);
  ::keypad(stdscr, TRUE);
  ::set_escdelay(25); // ms: an Esc that no more follows is the key
  ::curs_set(0);
  out->choose_colors();
  out->fit();
  return out;
}

Screen::~Screen() {
  ::endwin();
  ::delscreen(terminal);
  set_handlers(false);
  ::tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
}

void Screen::choose_colors() {
  has_colors_ = wants_colors() && ::has_colors();
  if (!has_colors_) return;
  ::start_color();
  ::use_default_colors();
  for (const spec::FrameKindRow& row : spec::frame_kinds)
    if (const short pair = pair_of(row.kind)) ::init_pair(pair, row.terminal_color, -1);
}

void Screen::fit() {
  winsize size = {};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || !size.ws_row || !size.ws_col) return;
  if (::is_term_resized(size.ws_row, size.ws_col)) {
    ::resizeterm(size.ws_row, size.ws_col);
    ::clearok(curscr, TRUE);
  }
}

size_t Screen::columns() const { return static_cast<size_t>(::getmaxx(stdscr)); }
size_t Screen::rows() const { return static_cast<size_t>(::getmaxy(stdscr)); }

void Screen::draw(std::span<const ShownLine> lines) {
  ::werase(stdscr);
  for (size_t i = 0; i < lines.size(); i++) {
    attr_t look = lines[i].is_head ? A_BOLD : A_NORMAL;
    if (lines[i].is_chosen) look |= A_REVERSE;
    ::wattr_set(stdscr, look, has_colors_ ? pair_of(lines[i].kind) : 0, nullptr);
    ::wmove(stdscr, static_cast<int>(i), 0);
    ::waddstr(stdscr, lines[i].text.c_str());
  }
  ::wattr_set(stdscr, A_NORMAL, 0, nullptr);
  ::wrefresh(stdscr);
}

std::optional<Key> Screen::key() {
  wint_t c = 0;
  const int kind = ::wget_wch(stdscr, &c);
  if (kind == ERR) return {};
  if (kind != KEY_CODE_YES) {
    if (c == '\r' || c == '\n') return key_enter;
    if (c == 27) return key_escape;
    if (c == 127 || c == 8) return key_erase;
    return static_cast<Key>(c);
  }
  switch (c) {
  case KEY_UP: return key_up;
  case KEY_DOWN: return key_down;
  case KEY_LEFT: return key_left;
  case KEY_RIGHT: return key_right;
  case KEY_PPAGE: return key_page_up;
  case KEY_NPAGE: return key_page_down;
  case KEY_HOME: return key_home;
  case KEY_END: return key_end;
  case KEY_ENTER: return key_enter;
  case KEY_BACKSPACE: return key_erase;
  default: return Key{0};
  }
}

} // namespace tool
