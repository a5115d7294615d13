#include "heap/report.h"

#include "base/counted.h"
#include "base/text.h"
#include "heap/view.h"
#include "report/histogram.h"
#include "report/json.h"
#include "report/number.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <tuple>

namespace heap {

namespace {

using target::Chunk;
using target::Reach;

constexpr size_t max_rows = 20, max_places = 1000, max_steps = 24;
constexpr size_t max_found = 1 << 24; // of a text: bounds the memory of the answer

enum class Verb : uint8_t { count, list, summarize, explain };
constexpr std::string_view verbs[] = {"count", "list", "summarize", "explain"};

constexpr std::string_view states[] = {"used", "free", "cached", "malloc's", "unused"},
                           states_json[] = {"used", "free", "cached", "own", "top"};

std::string row(std::string_view name, uint64_t count, uint64_t bytes, std::string_view more = {}) {
  char text[128];
  std::snprintf(text, sizeof text, "%-10.*s %10lu %-6s %12s", static_cast<int>(name.size()), name.data(),
                count, base::unit_of(count, "block").c_str(), size_text(bytes).c_str());
  return text + (more.empty() ? std::string() : "  " + std::string(more)) + "\n";
}

struct Sum {
  uint64_t count = 0, bytes = 0, first = 0;
  void add(const Chunk& c) {
    if (!count) first = c.address;
    count++;
    bytes += c.size;
  }
};

template<class Key> std::vector<std::pair<Sum, Key>> largest(const std::map<Key, Sum>& groups) {
  std::vector<std::pair<Sum, Key>> out;
  for (auto& [key, sum] : groups) out.push_back({sum, key});
  std::stable_sort(out.begin(), out.end(), [](auto& a, auto& b) { return a.first.bytes > b.first.bytes; });
  if (out.size() > max_rows) out.resize(max_rows);
  return out;
}

// A JSON object or array under way.
class Json {
public:
  explicit Json(char open) : text_(1, open) {}
  Json& key(std::string_view name) {
    comma();
    text_ += "\"" + std::string(name) + "\": ";
    return *this;
  }
  Json& comma() {
    if (text_.back() != '{' && text_.back() != '[') text_ += ", ";
    return *this;
  }
  Json& raw(std::string_view value) { return text_ += value, *this; }
  Json& number(uint64_t n) { return raw(std::to_string(n)); }
  Json& text(std::string_view value) { return report::append_json(text_, value), *this; }
  std::string end(char close) { return text_ + close; }

private:
  std::string text_;
};

class Answer {
public:
  Answer(target::Target& target, target::Stacks& stacks, bool json)
      : view_(target, stacks), heap_(view_.heap()), json_(json) {}

  std::string heap(Verb verb) {
    switch (verb) {
    case Verb::count:
      return count_of([](size_t, const Chunk& c) { return c.state == Chunk::used; }, "used block");
    case Verb::list: return list_of([](size_t, const Chunk&) { return true; });
    case Verb::summarize: return summary();
    case Verb::explain: return holders();
    }
    return {};
  }

  std::string leaks(Verb verb) {
    const Reach& reach = view_.reach();
    auto is_leak = [&](size_t i, const Chunk&) { return reach.is_leak(heap_, i); };
    switch (verb) {
    case Verb::count: return count_of(is_leak, "unreachable block");
    case Verb::list: return list_of(is_leak);
    case Verb::summarize: return json_ ? leaks_json() : leaks_by_kind();
    case Verb::explain: return lost();
    }
    return {};
  }

  std::string references(uint64_t address, Verb verb) {
    const Chunk* c = heap_.find(address);
    if (verb == Verb::explain) return way_to(address);
    uint64_t begin = c ? c->address : address, end = c ? c->address + c->size : address + 1;
    const std::string to = c ? view_.chunk_text(*c) : hex(address);
    return places(target::find_references(view_.target(), begin, end), {"points to " + to, "point to " + to}, verb);
  }

  std::string text(std::string_view wanted, Verb verb) {
    const std::string text = base::quoted(wanted);
    return places(target::find_bytes(view_.target(), wanted, max_found), {"contains " + text, "contain " + text}, verb);
  }

private:
  // ------------------------------------------------------------------------------------- chunks, one by one

  std::string count_of(auto&& is_wanted, std::string_view what) {
    Sum sum;
    for (size_t i = 0; i < heap_.chunks.size(); i++)
      if (is_wanted(i, heap_.chunks[i])) sum.add(heap_.chunks[i]);
    if (json_)
      return Json('{').key("chunks").number(sum.count).key("bytes").number(sum.bytes).end('}') + "\n";
    return base::counted(sum.count, what) + ", " + size_text(sum.bytes) + "\n" + damage();
  }

  std::string list_of(auto&& is_wanted) {
    Json list('[');
    std::string out;
    for (size_t i = 0; i < heap_.chunks.size(); i++) {
      const Chunk& c = heap_.chunks[i];
      if (!is_wanted(i, c)) continue;
      const std::string type = c.state == Chunk::used ? view_.type_of(c) : std::string();
      if (json_) {
        Json one('{');
        one.key("address").text(hex(c.address)).key("size").number(c.size);
        one.key("state").text(states_json[c.state]);
        if (!type.empty()) one.key("type").text(type);
        list.comma().raw(one.end('}'));
        continue;
      }
      char text[96];
      std::snprintf(text, sizeof text, "%#14lx %12lu B  %s", c.address, c.size, states[c.state].data());
      out += text + (type.empty() ? "" : "  " + type) + "\n";
    }
    return json_ ? Json('{').key("chunks").raw(list.end(']')).end('}') + "\n" : out + damage();
  }

  // ----------------------------------------------------------------------------------------------- the heap

  std::string summary() {
    Sum by_state[5];
    std::map<uint64_t, Sum> by_size;
    std::map<std::string, Sum> by_type;
    uint64_t largest_free = 0;
    for (const Chunk& c : heap_.chunks) {
      by_state[c.state].add(c);
      if (c.state == Chunk::freed || c.state == Chunk::cached) largest_free = std::max(largest_free, c.size);
      if (c.state != Chunk::used) continue;
      by_size[c.size].add(c);
      if (const std::string& type = view_.type_of(c); !type.empty()) by_type[type].add(c);
    }
    if (json_) return heap_json(by_state, by_size, by_type, largest_free);
    std::string out =
        "heap       " + base::counted(heap_.arenas, "arena") + ", " + size_text(heap_.mapped_bytes) + " mapped\n";
    for (size_t i = 0; i < 5; i++) out += row(states[i], by_state[i].count, by_state[i].bytes);
    // What is free between used chunks cannot be given back, and serves only what is smaller than its pieces.
    const uint64_t pieces = by_state[Chunk::freed].count + by_state[Chunk::cached].count,
                   bytes = by_state[Chunk::freed].bytes + by_state[Chunk::cached].bytes;
    if (pieces) {
      char share[16];
      std::snprintf(share, sizeof share, "%.1f%%",
                    100.0 * static_cast<double>(bytes) /
                        static_cast<double>(bytes + by_state[Chunk::used].bytes));
      out += "fragmented " + std::string(share) + " of allocated memory is free, in " +
             base::counted(pieces, "block") + ", the largest of " + size_text(largest_free) + "\n";
    }
    out += "\nused, by size\n";
    append_sizes(out, by_size);
    out += "\nused, largest totals by size\n";
    for (auto& [sum, size] : largest(by_size))
      out += row("", sum.count, sum.bytes, size_text(size) + " each");
    if (!by_type.empty()) out += "\nused, by type (guessed from virtual tables)\n";
    for (auto& [sum, type] : largest(by_type)) out += row("", sum.count, sum.bytes, type);
    return out + damage();
  }

  static void append_sizes(std::string& out, const std::map<uint64_t, Sum>& by_size) {
    std::vector<report::Row> rows;
    for (auto& [size, sum] : by_size) {
      const uint64_t low = std::bit_floor(std::max<uint64_t>(size, 1));
      while (!rows.empty() && *rows.back().end < low) rows.push_back({rows.back().end, *rows.back().end * 2});
      if (rows.empty() || *rows.back().low != low) rows.push_back({low, report::Wide{low} * 2});
      rows.back().count += sum.count;
    }
    report::append_histogram(out, rows);
  }

  std::string heap_json(const Sum (&by_state)[5], const std::map<uint64_t, Sum>& by_size,
                        const std::map<std::string, Sum>& by_type, uint64_t largest_free) {
    Json out('{'), sizes('{'), types('{'), damaged('[');
    out.key("arenas").number(heap_.arenas).key("mapped").number(heap_.mapped_bytes);
    auto sum_json = [](const Sum& s) {
      return Json('{').key("chunks").number(s.count).key("bytes").number(s.bytes).end('}');
    };
    for (size_t i = 0; i < 5; i++) out.key(states_json[i]).raw(sum_json(by_state[i]));
    out.key("largest_free").number(largest_free);
    for (auto& [size, sum] : by_size) sizes.key(std::to_string(size)).number(sum.count);
    for (auto& [type, sum] : by_type) types.comma().text(type).raw(": " + sum_json(sum));
    for (const target::Damage& d : heap_.damage)
      damaged.comma().raw(Json('{').key("address").text(hex(d.chunk)).key("problem").text(d.what).end('}'));
    out.key("sizes").raw(sizes.end('}')).key("types").raw(types.end('}')).key("damage").raw(damaged.end(']'));
    return out.end('}') + "\n";
  }

  // What each variable, stack and thread leads to, by the shortest way.
  std::string holders() {
    const Reach& reach = view_.reach();
    std::vector<uint32_t> roots(heap_.chunks.size());
    std::map<uint32_t, Sum> by_first;
    Sum lost;
    for (uint32_t i : reach.order) {
      const uint32_t holder = reach.steps[i].holder;
      roots[i] = holder == Reach::root ? i : roots[holder];
      by_first[roots[i]].add(heap_.chunks[i]);
    }
    for (size_t i = 0; i < heap_.chunks.size(); i++)
      if (reach.is_leak(heap_, i)) lost.add(heap_.chunks[i]);
    std::map<View::Root, Sum> by_root;
    for (auto& [first, sum] : by_first) {
      Sum& to = by_root[view_.root_of(reach.steps[first])];
      to.count += sum.count, to.bytes += sum.bytes;
    }
    if (lost.count) by_root[{"unreachable", ""}] = lost;
    std::string out = "held, by the shortest path from a variable, else from a stack\n";
    Json list('[');
    for (auto& [sum, root] : largest(by_root)) {
      out += row("", sum.count, sum.bytes, root.name + (root.module.empty() ? "" : " in " + root.module));
      Json one('{');
      one.key("by").text(root.name).key("module").text(root.module);
      one.key("chunks").number(sum.count).key("bytes").number(sum.bytes);
      list.comma().raw(one.end('}'));
    }
    return json_ ? Json('{').key("holders").raw(list.end(']')).end('}') + "\n" : out + damage();
  }

  // Where malloc's own words are overwritten, of each heap the first place; and what lies in front of it.
  std::string damage() {
    std::string out;
    for (const target::Damage& d : heap_.damage) {
      out += "\nDAMAGED    the block at " + hex(d.chunk) + " " + d.what + ": it is overwritten\n";
      std::byte bytes[16];
      if (view_.target().memory().read(d.chunk - sizeof bytes, bytes) == target::Missing::none)
        out += "           16 bytes before it: " + printable(bytes) + "\n";
      const Chunk *chunk = heap_.find(d.chunk), *before = d.neighbour ? heap_.find(d.neighbour) : nullptr;
      if (before) out += "           likely by a write past the end of " + view_.chunk_text(*before);
      const bool is_free = chunk && chunk->state == Chunk::freed;
      out += before && is_free ? ", or by a write to this block after it was freed\n" : before ? "\n" : "";
    }
    return out;
  }
  static std::string printable(std::span<const std::byte> bytes) {
    std::string hexadecimal, text;
    for (std::byte b : bytes) {
      char two[4];
      std::snprintf(two, sizeof two, "%02x ", static_cast<unsigned>(b));
      hexadecimal += two;
      const char c = static_cast<char>(b);
      text += c >= ' ' && c <= '~' ? c : '.';
    }
    return hexadecimal + " " + text;
  }

  // --------------------------------------------------------------------------------------------------- leaks

  std::string leaks_by_kind() {
    const Reach& reach = view_.reach();
    std::map<std::pair<uint64_t, std::string>, Sum> groups;
    Sum all;
    for (size_t i = 0; i < heap_.chunks.size(); i++) {
      const Chunk& c = heap_.chunks[i];
      if (!reach.is_leak(heap_, i)) continue;
      all.add(c);
      groups[{c.size, view_.type_of(c)}].add(c);
    }
    std::string out = base::counted(all.count, "unreachable block") + " of " + std::to_string(heap_.chunks.size()) +
                      ", " + size_text(all.bytes) + "\n";
    for (auto& [sum, what] : largest(groups))
      out += row("", sum.count, sum.bytes,
                 size_text(what.first) + " each" + (what.second.empty() ? "" : ", " + what.second) +
                     ", such as " + hex(sum.first));
    return out + damage();
  }

  std::string leaks_json() {
    const Reach& reach = view_.reach();
    Json list('[');
    Sum all;
    for (size_t i = 0; i < heap_.chunks.size(); i++) {
      const Chunk& c = heap_.chunks[i];
      if (!reach.is_leak(heap_, i)) continue;
      all.add(c);
      list.comma().raw(Json('{').key("address").text(hex(c.address)).key("size").number(c.size).end('}'));
    }
    Json out('{');
    out.key("leaks").number(all.count).key("bytes").number(all.bytes).key("chunks").raw(list.end(']'));
    return out.end('}') + "\n";
  }

  // A lost list is one loss: what hangs on it is counted with its first.
  std::string lost() {
    const std::vector<target::Lost> found = target::find_lost(view_.target(), heap_, view_.reach());
    Json list('[');
    std::map<std::tuple<uint64_t, uint64_t, std::string>, Sum> groups; // chunks that hang on it, size, type
    for (const target::Lost& l : found) {
      const Chunk& c = heap_.chunks[l.chunk];
      list.comma().raw(Json('{')
                           .key("address")
                           .text(hex(c.address))
                           .key("chunks")
                           .number(l.chunks)
                           .key("bytes")
                           .number(l.bytes)
                           .end('}'));
      Sum& sum = groups[{l.chunks - 1, c.size, view_.type_of(c)}];
      if (!sum.count) sum.first = c.address;
      sum.count++, sum.bytes += l.bytes;
    }
    if (json_) return Json('{').key("losses").raw(list.end(']')).end('}') + "\n";
    std::string out = base::counted(found.size(), "leak root") + ": unreachable blocks that no other unreachable block points to\n";
    for (auto& [sum, what] : largest(groups)) {
      const auto& [others, size, type] = what;
      out += row("", sum.count, sum.bytes,
                 size_text(size) + (type.empty() ? "" : ", " + type) +
                     (others ? ", and " + std::to_string(others) + " more reachable only from each" : "") +
                     ", such as " + hex(sum.first));
    }
    return out + damage();
  }

  // ------------------------------------------------------------------------------------------------- places

  // What a place does, and what several do.
  struct Predicate {
    std::string one, several;
  };
  std::string places(const std::vector<uint64_t>& found, const Predicate& what, Verb verb) {
    if (json_ && verb != Verb::count) {
      Json list('[');
      for (uint64_t at : found)
        list.comma().raw(Json('{').key("address").text(hex(at)).key("in").text(view_.place(at)).end('}'));
      return Json('{').key("places").raw(list.end(']')).end('}') + "\n";
    }
    if (json_) return Json('{').key("places").number(found.size()).end('}') + "\n";
    std::string out = base::counted(found.size(), "location") + " " + (found.size() == 1 ? what.one : what.several) + "\n";
    if (verb == Verb::summarize) {
      std::map<std::string, Sum> groups;
      for (uint64_t at : found) groups[group_of(at)].add({at, 8});
      for (auto& [sum, group] : largest(groups))
        out += "  " + base::counted(sum.count, "location") + " in " + group + ", such as " + hex(sum.first) + "\n";
    }
    for (size_t i = 0; i < found.size() && i < max_places; i++) {
      if (verb == Verb::list) out += "  " + hex(found[i]) + "  " + view_.place(found[i]) + "\n";
      if (verb == Verb::explain) out += "\n" + way_to(found[i]);
    }
    if (found.size() > max_places && (verb == Verb::list || verb == Verb::explain)) out += "  … " + report::grouped(found.size() - max_places) + " more\n";
    return out;
  }

  std::string group_of(uint64_t address) {
    if (const Chunk* c = heap_.find(address))
      return std::string(c->state == Chunk::used ? "" : "free ") + "blocks of " + view_.kind_of(*c);
    View::Root root = view_.root_of({Reach::root, 0, address});
    return root.name + (root.module.empty() ? "" : " in " + root.module);
  }

  // From a root to the chunk that holds an address.
  std::string way_to(uint64_t address) {
    const Chunk* c = heap_.find(address);
    if (!c) {
      const target::Window w = view_.target().memory().window(address);
      const std::string place = w.bytes ? view_.place(address) : "";
      if (!w.bytes && !json_)
        return hex(address) + " is in no block: the memory there " + std::string(to_string(w.why)) + "\n";
      return json_ ? Json('{').key("in").text(place).end('}') + "\n"
                   : hex(address) + " is in no block" + (place.empty() ? "" : ": it is in " + place) + "\n";
    }
    const Reach& reach = view_.reach();
    std::vector<uint32_t> way; // chunks, from the one that a root leads to
    uint32_t at = static_cast<uint32_t>(c - heap_.chunks.data());
    for (; at < heap_.chunks.size() && reach.steps[at].holder != Reach::nothing; at = reach.steps[at].holder)
      way.push_back(at);
    std::reverse(way.begin(), way.end());
    std::vector<std::string> steps;
    for (size_t i = 0; i < way.size(); i++) {
      if (way.size() > max_steps && i == max_steps / 2) {
        steps.push_back("… " + std::to_string(way.size() - max_steps) + " more …");
        i = way.size() - max_steps / 2;
      }
      steps.push_back(step_text(reach.steps[way[i]]));
    }
    if (json_) {
      Json list('[');
      for (const std::string& s : steps) list.comma().text(s);
      Json out('{');
      out.key("chunk").text(hex(c->address)).key("size").number(c->size);
      out.key("state").text(states_json[c->state]).key("length").number(way.size());
      return out.key("way").raw(list.end(']')).end('}') + "\n";
    }
    std::string out = hex(address) + " is in " + view_.chunk_text(*c) + ", at +" +
                      std::to_string(address - c->address) + ", which is " + std::string(states[c->state]);
    if (c->state != Chunk::used) return out + "\n";
    if (way.empty()) return out + ", unreachable\n";
    out += ", held by\n";
    for (const std::string& s : steps) out += "  " + s + "\n";
    return out;
  }
  std::string step_text(const Reach::Step& step) {
    if (step.holder != Reach::root) return view_.place(step.word);
    const View::Root root = view_.root_of(step);
    if (step.thread) return root.name;
    return root.module.empty() ? root.name + ", " + hex(step.word) : view_.place(step.word);
  }

  View view_;
  const target::Heap& heap_;
  bool json_;
};

} // namespace

std::string heap_totals(target::Target& target, bool json) {
  const target::Heap heap = target::find_heap(target);
  Sum used, rest;
  for (const Chunk& c : heap.chunks) (c.state == Chunk::used ? used : rest).add(c);
  if (json) {
    Json out('{');
    out.key("arenas")
        .number(heap.arenas)
        .key("mapped")
        .number(heap.mapped_bytes)
        .key("used_chunks")
        .number(used.count);
    out.key("used").number(used.bytes);
    if (!heap.damage.empty()) out.key("damaged").text(hex(heap.damage[0].chunk));
    return out.end('}');
  }
  if (heap.chunks.empty()) return {};
  std::string out = "\nheap      " + base::counted(heap.arenas, "arena") + ", " + size_text(heap.mapped_bytes) +
                    " mapped: " + base::counted(used.count, "block") +
                    " used (" + size_text(used.bytes) + "), " + size_text(rest.bytes) + " unused\n";
  if (!heap.damage.empty())
    out += "          DAMAGED: the block at " + hex(heap.damage[0].chunk) + " " + heap.damage[0].what +
           " (run `heap` for details)\n";
  return out;
}

bool is_heap_question(std::string_view word) {
  return word == "heap" || word == "leaks" || word == "refs" || word == "find";
}

base::Result<std::string> answer_heap(target::Target& target, target::Stacks& stacks,
                                      std::span<const std::string> words, bool json) {
  auto usage = [](std::string message) { return base::Error{base::Failure::usage, std::move(message)}; };
  const std::string& question = words[0];
  const bool has_object = question == "refs" || question == "find";
  const size_t least = has_object ? 2 : 1;
  if (words.size() < least)
    return usage(question == "refs" ? "`refs` takes an address: acu core FILE refs 0x7f01"
                                    : "`find` takes a text: acu core FILE find TEXT");
  Verb verb = has_object ? Verb::list : Verb::summarize;
  if (words.size() > least) {
    auto at = std::find(std::begin(verbs), std::end(verbs), words[least]);
    if (at == std::end(verbs) || words.size() > least + 1)
      return usage("after " + base::quoted(question) + " comes count, list, summarize or explain, not " +
                   base::quoted(words[at == std::end(verbs) ? least : least + 1]));
    verb = static_cast<Verb>(at - std::begin(verbs));
  }
  std::optional<uint64_t> address;
  if (question == "refs") {
    address = base::parse_integer(words[1].starts_with("0x") ? words[1] : "0x" + words[1]);
    if (!address) return usage("`refs` takes an address, not " + base::quoted(words[1]));
  }
  Answer answer(target, stacks, json);
  if (question == "heap") return answer.heap(verb);
  if (question == "leaks") return answer.leaks(verb);
  if (question == "find") return answer.text(words[1], verb);
  return answer.references(*address, verb);
}

} // namespace heap
