// JSON (RFC 8259) in the order of its text: each value is asked for by what it should be, and what nobody asks for is
// skipped. After the first mistake all values are empty, and `ok` is false.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace profile {

class JsonReader {
public:
  explicit JsonReader(std::string_view text) : text_(text) {}
  bool ok() const { return ok_; }
  // Nothing but blanks follows.
  bool is_at_end();

  // Calls `take` with the name of each member; it reads the value, or leaves it.
  template<class Take> void object(Take take) {
    list('{', '}', [&] {
      const std::string name = text();
      expect(':');
      value([&] { take(std::string_view(name)); });
    });
  }
  // Calls `take` for each element, likewise.
  template<class Take> void array(Take take) {
    list('[', ']', [&] { value(take); });
  }
  std::string text();
  double number();
  void skip();

private:
  void fail() { ok_ = false, at_ = text_.size(); }
  char next(); // behind blanks; 0: there is none
  void expect(char c);
  void skip_text();
  std::string escaped();
  template<class Take> void value(Take take) {
    next();
    const size_t begin = at_;
    take();
    if (ok_ && at_ == begin) skip();
  }
  template<class Item> void list(char open, char close, Item item) {
    expect(open);
    bool is_first = true;
    while (ok_ && next() != close) {
      if (!is_first) expect(',');
      is_first = false;
      if (ok_) item();
    }
    expect(close);
  }

  std::string_view text_;
  size_t at_ = 0;
  bool ok_ = true;
};

} // namespace profile
