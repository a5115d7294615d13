// The syntax of patterns: a recursive-descent parser.
#include "lang/regex.h"

#include <algorithm>

namespace lang {

namespace {

constexpr uint32_t most_nested = 100;

ByteSet range(unsigned first, unsigned last) {
  ByteSet set;
  for (unsigned c = first; c <= last; c++) set.set(c);
  return set;
}
ByteSet some_of(std::string_view text) {
  ByteSet set;
  for (unsigned char c : text) set.set(c);
  return set;
}

const ByteSet digits = range('0', '9'), lower = range('a', 'z'), upper = range('A', 'Z'), letters = lower | upper,
              words = letters | digits | some_of("_"), spaces = some_of(" \t\n\v\f\r"), graphic = range('!', '~');

// The classes of a bracket: [[:alpha:]].
const struct {
  std::string_view name;
  ByteSet bytes;
} classes[] = {
    {"alpha", letters}, {"digit", digits}, {"alnum", letters | digits}, {"upper", upper}, {"lower", lower},
    {"space", spaces}, {"blank", some_of(" \t")}, {"punct", graphic & ~(letters | digits)}, {"graph", graphic},
    {"print", graphic | some_of(" ")}, {"cntrl", range(1, 31) | range(127, 127)}, {"xdigit", digits | range('a', 'f') | range('A', 'F')},
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

class RegexParser {
public:
  RegexParser(std::string_view pattern, RegexMistake& mistake) : text_(pattern), mistake_(mistake) {}

  std::optional<RegexTree> run() {
    if (text_.starts_with("(?i)")) ignores_case_ = true, at_ = 4;
    const uint32_t root = parse_choice();
    if (!failed_ && at_ < text_.size()) fail(at_, at_ + 1, "`)` has no `(` before it", "a `)` of the text is written \\\\)");
    if (failed_) return std::nullopt;
    tree_.root = root;
    return std::move(tree_);
  }

private:
  bool at(char c) const { return at_ < text_.size() && text_[at_] == c; }
  bool accept(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  void fail(size_t begin, size_t end, std::string message, std::string hint = {}) {
    if (!failed_) mistake_ = {begin, std::min(end, text_.size()), std::move(message), std::move(hint)};
    failed_ = true;
    at_ = text_.size();
  }
  uint32_t add(RegexNode node) {
    tree_.nodes.push_back(std::move(node));
    return static_cast<uint32_t>(tree_.nodes.size() - 1);
  }
  uint32_t add_set(ByteSet bytes) {
    if (ignores_case_)
      for (unsigned c = 'a'; c <= 'z'; c++)
        if (bytes[c] || bytes[c - 32]) bytes.set(c), bytes.set(c - 32);
    return add({.kind = RegexNode::set, .bytes = bytes});
  }

  // choice    := sequence { '|' sequence }
  uint32_t parse_choice() {
    std::vector<uint32_t> parts{parse_sequence()};
    while (accept("|")) parts.push_back(parse_sequence());
    return parts.size() == 1 ? parts[0] : add({.kind = RegexNode::choice, .children = std::move(parts)});
  }

  // sequence  := { atom [ repeat ] }
  uint32_t parse_sequence() {
    std::vector<uint32_t> parts;
    while (at_ < text_.size() && !at('|') && !at(')')) {
      const uint32_t atom = parse_atom();
      parts.push_back(parse_repeat(atom));
    }
    if (parts.size() == 1) return parts[0];
    return add({.kind = RegexNode::sequence, .children = std::move(parts)});
  }

  // repeat    := '*' | '+' | '?' | '{' n [ ',' [ m ] ] '}' | '{' ',' m '}'
  uint32_t parse_repeat(uint32_t atom) {
    const size_t begin = at_;
    uint32_t min = 0, max = endless;
    if (!take_repeat(min, max)) return atom;
    const RegexNode::Kind kind = tree_.nodes[atom].kind;
    if (kind == RegexNode::begin || kind == RegexNode::end) fail(begin, at_, "there is nothing here that can be repeated");
    if (max < min) fail(begin, at_, "the most comes before the least here");
    if (min > most_repeats || (max != endless && max > most_repeats))
      fail(begin, at_, "more than " + std::to_string(most_repeats) + " repetitions are not supported");
    const size_t second = at_;
    if (uint32_t a, b; !failed_ && take_repeat(a, b))
      fail(second, at_, "a repetition can't be repeated", "nothing is captured, so no repetition is lazy or possessive; group it: (a*)+");
    return add({.kind = RegexNode::repeat, .children = {atom}, .min = min, .max = max});
  }

  bool take_repeat(uint32_t& min, uint32_t& max) {
    min = 0, max = endless;
    if (accept("*")) return true;
    if (accept("+")) return min = 1, true;
    if (accept("?")) return max = 1, true;
    const size_t begin = at_;
    if (!accept("{")) return false;
    const bool has_min = take_number(min), has_comma = accept(",");
    const bool has_max = has_comma && take_number(max);
    if (!has_comma) max = min;
    if ((has_min || has_max) && accept("}")) return true;
    at_ = begin; // an ordinary `{`
    return false;
  }

  bool take_number(uint32_t& n) {
    const size_t begin = at_;
    uint32_t value = 0;
    while (at_ < text_.size() && is_digit(text_[at_])) value = std::min(value * 10 + static_cast<uint32_t>(text_[at_++] - '0'), most_repeats + 1);
    if (at_ > begin) n = value;
    return at_ > begin;
  }

  // atom      := '(' [ '?:' ] choice ')' | '[' … ']' | '.' | '^' | '$' | escape | byte
  uint32_t parse_atom() {
    const size_t begin = at_;
    if (accept("(")) return parse_group(begin);
    if (accept("[")) return parse_bracket(begin);
    if (accept(".")) return add_set(range(1, 255));
    if (accept("^")) return add({.kind = RegexNode::begin});
    if (accept("$")) return add({.kind = RegexNode::end});
    if (at('\\')) return add_set(take_escape());
    if (uint32_t min, max; take_repeat(min, max)) {
      fail(begin, at_, "there is nothing before it that can be repeated", "a `" + std::string(text_.substr(begin, 1)) + "` of the text is written \\\\" + text_[begin]);
      return 0;
    }
    return add_set(some_of(text_.substr(at_++, 1)));
  }

  uint32_t parse_group(size_t begin) {
    if (at('?') && !accept("?:"))
      fail(begin, at_ + 2, "groups that begin with `(?` are not supported, but for (?:…)", "(?i) is known as the begin of the pattern");
    if (++nested_ > most_nested) fail(begin, at_, "more than " + std::to_string(most_nested) + " groups in each other are not supported");
    const uint32_t inside = failed_ ? 0 : parse_choice();
    nested_--;
    if (!accept(")")) fail(begin, begin + 1, "this `(` is not closed", "a `(` of the text is written \\\\(");
    // A repetition or an anchor in a group may be repeated.
    return failed_ ? 0 : add({.kind = RegexNode::sequence, .children = {inside}});
  }

  // escape    := '\' ( 'd' | 'w' | 's' | 'D' | 'W' | 'S' | 'n' | 't' | 'r' | 'f' | 'v' | 'x' hex hex | punctuation )
  ByteSet take_escape() {
    const size_t begin = at_++;
    if (at_ == text_.size()) return fail(begin, at_, "the pattern ends in a backslash"), ByteSet();
    const char c = text_[at_++];
    switch (c) {
    case 'd': return digits;
    case 'w': return words;
    case 's': return spaces;
    case 'D': return ~digits;
    case 'W': return ~words;
    case 'S': return ~spaces;
    case 'n': return some_of("\n");
    case 't': return some_of("\t");
    case 'r': return some_of("\r");
    case 'f': return some_of("\f");
    case 'v': return some_of("\v");
    case 'x': return take_hex_byte(begin);
    default: break;
    }
    if (graphic[static_cast<unsigned char>(c)] && !words[static_cast<unsigned char>(c)]) return some_of({&c, 1});
    const std::string escape = "`\\" + std::string(1, c) + "`";
    if (is_digit(c)) fail(begin, at_, "references to groups such as " + escape + " are not supported");
    else if (c == 'b' || c == 'B') fail(begin, at_, "word boundaries are not supported", "(^|\\\\W)word(\\\\W|$) finds a whole word");
    else fail(begin, at_, "unknown escape " + escape, "known are \\\\d \\\\w \\\\s \\\\D \\\\W \\\\S \\\\n \\\\t \\\\r \\\\f \\\\v \\\\xHH, and \\\\ before punctuation");
    return {};
  }

  ByteSet take_hex_byte(size_t begin) {
    unsigned value = 0, n = 0;
    for (; n < 2 && at_ < text_.size() && classes[std::size(classes) - 1].bytes[static_cast<unsigned char>(text_[at_])]; n++, at_++)
      value = value * 16 + static_cast<unsigned>(is_digit(text_[at_]) ? text_[at_] - '0' : (text_[at_] | 32) - 'a' + 10);
    if (n < 2 || value == 0) fail(begin, at_, "\\x needs two hexadecimal digits, and text has no byte 0");
    return range(value, value);
  }

  // bracket   := '[' [ '^' ] [ ']' ] { '[:' name ':]' | escape | byte [ '-' ( escape | byte ) ] } ']'
  uint32_t parse_bracket(size_t begin) {
    const bool is_negated = accept("^");
    ByteSet bytes;
    for (bool is_first = true; !failed_; is_first = false) {
      if (at_ == text_.size()) return fail(begin, begin + 1, "this `[` is not closed", "a `[` of the text is written \\\\["), 0;
      if (!is_first && accept("]")) break;
      bytes |= take_member();
    }
    if (ignores_case_ && is_negated) // before it is turned round: no case of a letter that is named
      for (unsigned c = 'a'; c <= 'z'; c++)
        if (bytes[c] || bytes[c - 32]) bytes.set(c), bytes.set(c - 32);
    return add_set(is_negated ? ~bytes : bytes);
  }

  ByteSet take_member() {
    const size_t begin = at_;
    if (accept("[:")) {
      const size_t end = text_.find(":]", at_);
      const std::string_view name = end == text_.npos ? text_.substr(at_) : text_.substr(at_, end - at_);
      at_ = std::min(at_ + name.size() + 2, text_.size());
      for (const auto& c : classes)
        if (c.name == name) return c.bytes;
      return fail(begin, at_, "there is no class `[:" + std::string(name) + ":]`", "known are alpha, digit, alnum, upper, lower, space, blank, punct, graph, print, cntrl, xdigit"), ByteSet();
    }
    const ByteSet first = take_member_byte();
    const bool is_range = at('-') && at_ + 1 < text_.size() && text_[at_ + 1] != ']';
    if (failed_ || !is_range) return first;
    at_++;
    const ByteSet last = take_member_byte();
    if (failed_) return first;
    if (first.count() != 1 || last.count() != 1) return fail(begin, at_, "a range goes from one byte to another"), first;
    if (first._Find_first() > last._Find_first()) return fail(begin, at_, "this range ends before it begins"), first;
    return range(static_cast<unsigned>(first._Find_first()), static_cast<unsigned>(last._Find_first()));
  }
  ByteSet take_member_byte() { return at('\\') ? take_escape() : some_of(text_.substr(at_++, 1)); }

  std::string_view text_;
  RegexMistake& mistake_;
  RegexTree tree_;
  size_t at_ = 0;
  uint32_t nested_ = 0;
  bool failed_ = false, ignores_case_ = false;
};

} // namespace

std::optional<RegexTree> parse_regex(std::string_view pattern, RegexMistake& mistake) { return RegexParser(pattern, mistake).run(); }

} // namespace lang
