#include "session/heap_report.h"

#include "base/text.h"
#include "report/json.h"
#include "report/target_names.h"
#include "target/heap.h"

#include <algorithm>
#include <cstdio>
#include <map>

namespace session {

namespace {

using target::Chunk;

constexpr size_t most_rows = 20, most_places = 1000;

std::string hex(uint64_t n) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%lx", n);
  return text;
}

std::string size_text(uint64_t bytes) {
  char text[32];
  if (bytes < 10000)
    std::snprintf(text, sizeof text, "%lu B", bytes);
  else if (bytes < 10'000'000)
    std::snprintf(text, sizeof text, "%.1f KB", static_cast<double>(bytes) / 1024);
  else
    std::snprintf(text, sizeof text, "%.1f MB", static_cast<double>(bytes) / (1 << 20));
  return text;
}

std::string row(std::string_view name, uint64_t count, uint64_t bytes, std::string_view more = {}) {
  char text[128];
  std::snprintf(text, sizeof text, "%-10.*s %10lu chunks %12s", static_cast<int>(name.size()), name.data(),
                count, size_text(bytes).c_str());
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

class Answer {
public:
  Answer(target::Target& target, target::Stacks& stacks, bool json)
      : target_(target), names_(target, stacks), heap_(target::find_heap(target)), json_(json) {}

  std::string heap() {
    Sum by_state[5];
    std::map<uint64_t, Sum> by_size;
    std::map<std::string, Sum> by_type;
    for (const Chunk& c : heap_.chunks) {
      by_state[c.state].add(c);
      if (c.state != Chunk::used) continue;
      by_size[c.size].add(c);
      if (std::string type = type_of(c); !type.empty()) by_type[type].add(c);
    }
    if (json_) return heap_json(by_state, by_size);
    std::string out = "heap       " + std::to_string(heap_.arenas) +
                      (heap_.arenas == 1 ? " arena, " : " arenas, ") + size_text(heap_.mapped_bytes) +
                      " mapped\n";
    static constexpr std::string_view names[] = {"used", "free", "cached", "malloc's", "unused"};
    for (size_t i = 0; i < 5; i++) out += row(names[i], by_state[i].count, by_state[i].bytes);
    out += "\nused, by size\n";
    for (auto& [sum, size] : largest(by_size))
      out += row("", sum.count, sum.bytes, size_text(size) + " each");
    if (!by_type.empty()) out += "\nused, by type (guessed by their virtual tables)\n";
    for (auto& [sum, type] : largest(by_type)) out += row("", sum.count, sum.bytes, type);
    return out + problems();
  }

  std::string leaks() {
    std::vector<uint32_t> found = target::find_leaks(target_, heap_);
    std::map<std::pair<uint64_t, std::string>, Sum> groups;
    uint64_t bytes = 0;
    for (uint32_t i : found) {
      const Chunk& c = heap_.chunks[i];
      groups[{c.size, type_of(c)}].add(c);
      bytes += c.size;
    }
    if (json_) {
      std::string out = "{\"leaks\": " + std::to_string(found.size()) +
                        ", \"bytes\": " + std::to_string(bytes) + ", \"chunks\": [";
      for (uint32_t i : found)
        out += (out.back() == '[' ? "" : ", ") + std::string("{\"address\": \"") +
               hex(heap_.chunks[i].address) + "\", \"size\": " + std::to_string(heap_.chunks[i].size) + "}";
      return out + "]}\n";
    }
    std::string out = std::to_string(found.size()) + (found.size() == 1 ? " chunk" : " chunks") + " of " +
                      std::to_string(heap_.chunks.size()) + " that nothing leads to, " + size_text(bytes) +
                      "\n";
    for (auto& [sum, what] : largest(groups))
      out += row("", sum.count, sum.bytes,
                 size_text(what.first) + " each" + (what.second.empty() ? "" : ", " + what.second) +
                     ", such as " + hex(sum.first));
    return out + problems();
  }

  std::string references(uint64_t address) {
    const Chunk* c = heap_.find(address);
    uint64_t begin = c ? c->address : address, end = c ? c->address + c->size : address + 1;
    std::string what = c ? "the chunk at " + hex(begin) + " (" + size_text(c->size) + ")" : hex(address);
    return places(target::find_references(target_, begin, end), "lead to " + what);
  }

  std::string text(std::string_view wanted) {
    return places(target::find_bytes(target_, wanted, most_places), "have " + base::quoted(wanted));
  }

private:
  // What C++ made: its first word leads to the table of its class.
  std::string type_of(const Chunk& c) {
    uint64_t table = c.size >= 8 ? target_.memory().word(c.address).value_or(0) : 0;
    auto [at, is_new] = types_.try_emplace(table);
    if (is_new && table && target_.module_at(table)) {
      std::string name = names_.data_at(table);
      constexpr std::string_view before = "vtable for ";
      if (name.starts_with(before)) at->second = name.substr(before.size(), name.rfind('+') - before.size());
    }
    return at->second;
  }

  template<class Key> static std::vector<std::pair<Sum, Key>> largest(const std::map<Key, Sum>& groups) {
    std::vector<std::pair<Sum, Key>> out;
    for (auto& [key, sum] : groups) out.push_back({sum, key});
    std::stable_sort(out.begin(), out.end(), [](auto& a, auto& b) { return a.first.bytes > b.first.bytes; });
    if (out.size() > most_rows) out.resize(most_rows);
    return out;
  }

  std::string places(const std::vector<uint64_t>& found, const std::string& what) {
    if (json_) {
      std::string out = "{\"places\": [";
      for (uint64_t at : found) {
        out += (out.back() == '[' ? "" : ", ") + std::string("{\"address\": \"") + hex(at) + "\", \"in\": ";
        report::append_json(out, place(at));
        out += "}";
      }
      return out + "]}\n";
    }
    std::string out =
        std::to_string(found.size()) + (found.size() == 1 ? " place " : " places ") + what + "\n";
    for (size_t i = 0; i < found.size() && i < most_places; i++)
      out += "  " + hex(found[i]) + "  " + place(found[i]) + "\n";
    return out;
  }

  // "chunk 0x55… of 48 B +8", "counter+0 in /usr/bin/x", "stack of thread 17"
  std::string place(uint64_t address) {
    if (const Chunk* c = heap_.find(address))
      return std::string(c->state == Chunk::used ? "chunk " : "free chunk ") + hex(c->address) + " of " +
             size_text(c->size) + ", +" + std::to_string(address - c->address);
    if (const target::Module* m = target_.module_at(address)) {
      std::string name = names_.data_at(address);
      return (name.empty() ? "" : name + " in ") + m->path;
    }
    for (const target::Thread& t : target_.threads()) {
      target::Window w = target_.memory().window(t.registers[target::register_sp]);
      if (w.bytes && w.holds(address, 1)) return "stack of thread " + std::to_string(t.id);
    }
    return "";
  }

  std::string heap_json(const Sum (&by_state)[5], const std::map<uint64_t, Sum>& by_size) {
    static constexpr std::string_view names[] = {"used", "free", "cached", "own", "top"};
    std::string out = "{\"arenas\": " + std::to_string(heap_.arenas) +
                      ", \"mapped\": " + std::to_string(heap_.mapped_bytes);
    for (size_t i = 0; i < 5; i++)
      out += ", \"" + std::string(names[i]) + "\": {\"chunks\": " + std::to_string(by_state[i].count) +
             ", \"bytes\": " + std::to_string(by_state[i].bytes) + "}";
    out += ", \"sizes\": {";
    for (auto& [size, sum] : by_size)
      out += (out.back() == '{' ? "\"" : ", \"") + std::to_string(size) + "\": " + std::to_string(sum.count);
    return out + "}}\n";
  }

  std::string problems() const {
    std::string out;
    for (const std::string& p : heap_.problems) out += "\nproblem    " + p + "\n";
    return out;
  }

  target::Target& target_;
  report::TargetNames names_;
  target::Heap heap_;
  bool json_;
  std::map<uint64_t, std::string> types_; // by address of the virtual table
};

} // namespace

bool is_heap_question(std::string_view word) {
  return word == "heap" || word == "leaks" || word == "refs" || word == "find";
}

base::Result<std::string> answer_heap(target::Target& target, target::Stacks& stacks,
                                      std::span<const std::string> words, bool json) {
  const std::string& question = words[0];
  bool has_object = question == "refs" || question == "find";
  if (words.size() != (has_object ? 2u : 1u))
    return base::Error{base::Failure::usage,
                       question == "refs"   ? "`refs` takes an address: acu core FILE refs 0x7f01"
                       : question == "find" ? "`find` takes a text: acu core FILE find TEXT"
                                            : base::quoted(question) + " takes nothing more"};
  Answer answer(target, stacks, json);
  if (question == "heap") return answer.heap();
  if (question == "leaks") return answer.leaks();
  if (question == "find") return answer.text(words[1]);
  auto address = base::parse_integer(words[1].starts_with("0x") ? words[1] : "0x" + words[1]);
  if (!address)
    return base::Error{base::Failure::usage, "`refs` takes an address, not " + base::quoted(words[1])};
  return answer.references(*address);
}

} // namespace session
