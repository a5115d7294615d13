// From the tree of a pattern to its table. First a nondeterministic automaton, in which repetitions are written out; then
// its sets of states become the states of the table (Rabin and Scott's subset construction). Bytes that no part of the
// pattern distinguishes share a column.
#include "lang/regex.h"

#include <algorithm>
#include <map>

namespace lang {

namespace {

using States = std::vector<uint32_t>; // ascending

struct Step {
  enum Kind : uint8_t { byte, split, begin, end, accept } kind = accept;
  ByteSet bytes;               // byte
  uint32_t next = 0, other = 0; // split has two ways
};

// Steps are made from the last to the first: each knows what follows it.
class StepMaker {
public:
  explicit StepMaker(const RegexTree& tree) : tree_(tree) { steps.push_back({.kind = Step::accept}); }
  uint32_t make(uint32_t node, uint32_t next) {
    const RegexNode& n = tree_.nodes[node];
    switch (n.kind) {
    case RegexNode::nothing: return next;
    case RegexNode::set: return add({.kind = Step::byte, .bytes = n.bytes, .next = next});
    case RegexNode::begin: return add({.kind = Step::begin, .next = next});
    case RegexNode::end: return add({.kind = Step::end, .next = next});
    case RegexNode::sequence:
      for (size_t i = n.children.size(); i-- > 0;) next = make(n.children[i], next);
      return next;
    case RegexNode::choice: {
      uint32_t all = make(n.children.back(), next);
      for (size_t i = n.children.size() - 1; i-- > 0;) all = add({.kind = Step::split, .next = make(n.children[i], next), .other = all});
      return all;
    }
    case RegexNode::repeat: return repeat(n, next);
    }
    return next;
  }
  bool is_too_large() const { return steps.size() > most_regex_steps; }
  std::vector<Step> steps;

private:
  uint32_t add(Step step) {
    if (is_too_large()) return 0;
    steps.push_back(step);
    return static_cast<uint32_t>(steps.size() - 1);
  }
  uint32_t repeat(const RegexNode& n, uint32_t next) {
    uint32_t at = next;
    if (n.max == endless) {
      at = add({.kind = Step::split, .other = next});
      const uint32_t inside = make(n.children[0], at);
      steps[at].next = inside;
    } else {
      for (uint32_t i = n.min; i < n.max && !is_too_large(); i++) at = add({.kind = Step::split, .next = make(n.children[0], at), .other = next});
    }
    for (uint32_t i = 0; i < n.min && !is_too_large(); i++) at = make(n.children[0], at);
    return at;
  }
  const RegexTree& tree_;
};

class TableMaker {
public:
  TableMaker(const std::vector<Step>& steps, uint32_t first) : steps_(steps) {
    find_columns();
    again_ = closure({first}, false, false);
    first_ = closure({first}, true, false);
  }

  // Nothing: it is too large.
  std::optional<Automaton> run() {
    out_.class_of = column_of_;
    out_.next.resize(Automaton::matches + 1);
    out_.start = state_of(first_, true);
    while (!open_.empty()) {
      const auto [states, row, is_start] = std::move(open_.back());
      open_.pop_back();
      if (out_.next.size() > most_regex_entries) return std::nullopt;
      out_.next[row] = has_accept(closure(states, is_start, true)) ? Automaton::matches : Automaton::fails;
      for (size_t column = 1; column < examples_.size(); column++) {
        const uint32_t target = state_of(after(states, examples_[column]), false); // may move out_.next
        out_.next[row + column] = target;
      }
    }
    return std::move(out_);
  }

private:
  // Column 0 is the end of the text.
  void find_columns() {
    std::map<std::vector<bool>, uint8_t> known;
    examples_.push_back(0);
    for (unsigned c = 1; c < 256; c++) {
      std::vector<bool> parts;
      for (const Step& s : steps_)
        if (s.kind == Step::byte) parts.push_back(s.bytes[c]);
      const auto [at, is_new] = known.try_emplace(std::move(parts), static_cast<uint8_t>(examples_.size()));
      if (is_new) examples_.push_back(static_cast<uint8_t>(c));
      column_of_[c] = at->second;
    }
  }

  // What is reached without reading a byte: bytes to read, `end`s to pass, and the accepting step.
  States closure(States open, bool at_begin, bool at_end) const {
    std::vector<bool> seen(steps_.size());
    States found;
    auto reach = [&](uint32_t s) {
      if (!seen[s]) seen[s] = true, open.push_back(s);
    };
    for (uint32_t s : open) seen[s] = true;
    while (!open.empty()) {
      const uint32_t s = open.back();
      open.pop_back();
      const Step& step = steps_[s];
      if (step.kind == Step::split) reach(step.next), reach(step.other);
      if (step.kind == Step::begin && at_begin) reach(step.next);
      if (step.kind == Step::end && at_end) reach(step.next);
      if (step.kind == Step::byte || step.kind == Step::end || step.kind == Step::accept) found.push_back(s);
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  // A match may begin at each byte.
  States after(const States& states, uint8_t byte) const {
    States reached = again_;
    for (uint32_t s : states)
      if (steps_[s].kind == Step::byte && steps_[s].bytes[byte]) reached.push_back(steps_[s].next);
    std::sort(reached.begin(), reached.end());
    reached.erase(std::unique(reached.begin(), reached.end()), reached.end());
    return closure(std::move(reached), false, false);
  }

  bool has_accept(const States& states) const { return !states.empty() && states.front() == 0; }

  // Its row. The first state of a text is one of its own: only there a `^` behind a `$` holds.
  uint32_t state_of(States states, bool is_start) {
    if (has_accept(states)) return Automaton::matches;
    if (states.empty()) return Automaton::fails;
    const auto row = static_cast<uint32_t>(out_.next.size());
    const auto [at, is_new] = rows_.try_emplace({is_start, states}, row);
    if (!is_new) return at->second;
    out_.next.resize(row + examples_.size());
    open_.push_back({std::move(states), row, is_start});
    return row;
  }

  struct Open {
    States states;
    uint32_t row;
    bool is_start;
  };
  const std::vector<Step>& steps_;
  std::array<uint8_t, 256> column_of_ = {};
  std::vector<uint8_t> examples_; // a byte of each column
  States first_, again_; // at the begin of the text, and behind it
  std::map<std::pair<bool, States>, uint32_t> rows_;
  std::vector<Open> open_;
  Automaton out_;
};

} // namespace

std::optional<Automaton> compile_regex(std::string_view pattern, RegexMistake& mistake) {
  const std::optional<RegexTree> tree = parse_regex(pattern, mistake);
  if (!tree) return std::nullopt;
  StepMaker maker(*tree);
  const uint32_t first = maker.make(tree->root, 0);
  std::optional<Automaton> made;
  if (!maker.is_too_large()) made = TableMaker(maker.steps, first).run();
  if (!made)
    mistake = {0, pattern.size(), "this pattern is too large: it needs more than " +
                   (maker.is_too_large() ? std::to_string(most_regex_steps) + " steps" : std::to_string(most_regex_entries) + " table entries"),
               "shorten repetitions such as {1,100}, or match several patterns one by one"};
  return made;
}

bool run(const Automaton& automaton, std::string_view text) {
  uint32_t state = automaton.start;
  for (size_t i = 0; state > Automaton::matches && i < text.size() && text[i]; i++)
    state = automaton.next[state + automaton.class_of[static_cast<unsigned char>(text[i])]];
  return (state > Automaton::matches ? automaton.next[state] : state) == Automaton::matches;
}

} // namespace lang
