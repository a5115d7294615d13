#include "why/rule_text.h"

#include "base/text.h"
#include "base/utf8.h"

#include <algorithm>
#include <array>
#include <vector>

namespace why {

namespace {

constexpr size_t max_bytes = 1 << 20;
constexpr size_t max_depth = 100; // CLIPS parses expressions recursively
constexpr std::array<std::string_view, 4> constructs = {"defrule", "deffunction", "deftemplate", "defglobal"};
constexpr std::array<std::string_view, 6> groups = {"and", "or", "not", "exists", "forall", "logical"}; // of patterns
constexpr std::array<std::string_view, 2> others = {"test", "declare"};                                // that are no patterns

struct Open {
  std::string_view word; // behind the parenthesis
  size_t line = 0;
};

class Scanner {
public:
  Scanner(std::string_view text, std::string_view name, KnownNames& known) : text_(text), name_(name), known_(known) {}

  base::Status scan() {
    if (text_.size() > max_bytes) return failure(1, "the file is larger than 1 MiB");
    ACU_CHECK(check_bytes());
    while (at_ < text_.size()) ACU_CHECK(take());
    if (open_.empty()) return {};
    return failure(open_.front().line, "this parenthesis is never closed");
  }

private:
  base::Error failure(size_t line, const std::string& why) const {
    return {base::Failure::usage, std::string(name_) + ":" + std::to_string(line) + ": " + why};
  }

  base::Status check_bytes() const {
    size_t line = 1;
    for (std::string_view rest = text_; !rest.empty();) {
      const size_t length = base::utf8_length(rest);
      const auto byte = static_cast<unsigned char>(rest.front());
      const bool is_space = byte == '\n' || byte == '\t' || byte == '\r';
      if (!length || (byte < ' ' && !is_space) || byte == 0x7f) return failure(line, "not a text: it has " + base::printable(rest.substr(0, 1)));
      line += byte == '\n';
      rest.remove_prefix(length);
    }
    return {};
  }

  base::Status take() {
    const char c = text_[at_];
    if (c == '\n') line_++;
    if (c == ';') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == '"') {
      return take_string();
    } else if (c == '(') {
      return take_open();
    } else if (c == ')') {
      if (open_.empty()) return failure(line_, "`)` without `(`");
      open_.pop_back();
      at_++;
    } else if (is_delimiter(c)) {
      at_++;
    } else {
      const std::string_view word = take_word();
      if (open_.empty()) return failure(line_, "expected `(`, found " + base::quoted(word));
      if (word == "=>" && open_.size() == 1) is_action_ = true;
    }
    return {};
  }

  base::Status take_string() {
    const size_t begin = line_;
    for (at_++; at_ < text_.size() && text_[at_] != '"'; at_++) {
      line_ += text_[at_] == '\n';
      if (text_[at_] == '\\') at_++;
    }
    if (at_ >= text_.size()) return failure(begin, "this string is never closed");
    at_++;
    return {};
  }

  base::Status take_open() {
    at_++;
    const Open opened = {take_word(), line_};
    if (open_.size() == max_depth) return failure(line_, "nested deeper than " + std::to_string(max_depth) + " parentheses");
    open_.push_back(opened);
    if (open_.size() == 1) return take_construct(opened);
    if (construct_ == "deffunction" && opened.word == defined_) return failure(line_, "function " + base::quoted(defined_) + " calls itself");
    return check_template(opened);
  }

  base::Status take_construct(const Open& opened) {
    if (!base::is_one_of(constructs, opened.word)) {
      return failure(line_, base::quoted(opened.word) + " is not allowed here; rule files have defrule, deffunction, deftemplate and defglobal");
    }
    construct_ = opened.word;
    is_action_ = false;
    defined_ = {};
    if (construct_ == "defglobal") return {};
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) at_++;
    defined_ = take_word();
    if (defined_.empty()) return failure(line_, base::quoted(construct_) + " without a name");
    const auto [found, is_new] = known_.defined.emplace(std::string(construct_) + " " + std::string(defined_), name_);
    if (!is_new) return failure(line_, std::string(construct_) + " " + base::quoted(defined_) + " is already defined in " + found->second);
    if (construct_ == "deftemplate") known_.templates.emplace(defined_);
    return {};
  }

  // CLIPS takes an unknown name for a template that needs no declaration; the rule would never fire.
  base::Status check_template(const Open& opened) const {
    const std::string_view parent = open_[open_.size() - 2].word;
    const bool is_asserted = parent == "assert";
    // Between the rule and a pattern are groups only; in a test, `not` is a function.
    const auto is_group = [](const Open& o) { return base::is_one_of(groups, o.word); };
    const bool is_pattern = construct_ == "defrule" && !is_action_ && std::all_of(open_.begin() + 1, open_.end() - 1, is_group);
    if (!is_asserted && (!is_pattern || base::is_one_of(groups, opened.word) || base::is_one_of(others, opened.word))) return {};
    if (known_.templates.contains(opened.word)) return {};
    std::string why = "there is no kind of fact " + base::quoted(opened.word);
    const std::vector<std::string_view> names(known_.templates.begin(), known_.templates.end());
    if (auto nearest = base::nearest(opened.word, names); !nearest.empty()) why += "; did you mean " + base::quoted(nearest) + "?";
    return failure(opened.line, why);
  }

  static bool is_delimiter(char c) { return std::string_view(" \t\r\n()&|~<\";").find(c) != std::string_view::npos; }

  std::string_view take_word() {
    const size_t begin = at_;
    while (at_ < text_.size() && !is_delimiter(text_[at_])) at_++;
    return text_.substr(begin, at_ - begin);
  }

  std::string_view text_, name_;
  KnownNames& known_;
  size_t at_ = 0, line_ = 1;
  std::vector<Open> open_;
  std::string_view construct_, defined_;
  bool is_action_ = false; // behind the => of a rule
};

} // namespace

base::Status check_rule_text(std::string_view text, std::string_view name, KnownNames& known) { return Scanner(text, name, known).scan(); }

} // namespace why
