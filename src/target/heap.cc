#include "target/heap.h"

#include <algorithm>
#include <cstring>

namespace target {

namespace {

constexpr uint64_t in_use_before = 1, is_mapped = 2, flags = 7; // low bits of a chunk's size
constexpr uint64_t header = 16, smallest = 32;
constexpr uint64_t cache_chunk = 0x290; // of tcache_perthread_struct: 64 counts of 2 bytes, 64 lists
constexpr uint64_t heap_alignment = 64 << 20;
constexpr size_t most_chunks = 1 << 28;

uint64_t word_at(const Window& area, uint64_t address) {
  uint64_t out = 0;
  if (area.holds(address, 8)) std::memcpy(&out, area.bytes + (address - area.begin), 8);
  return out;
}

// A stretch in which chunks lie one behind the other.
struct Region {
  Window area;
  uint64_t begin = 0, end = 0; // of the chunks
  uint64_t top = 0;            // the last chunk, with its header; 0: not found
};

class Finder {
public:
  explicit Finder(Target& target) : memory_(target.memory()), areas_(target.writable()) {}

  Heap run() {
    for (const Window& area : areas_) look_at(area);
    auto by_address = [](const Chunk& a, const Chunk& b) { return a.address < b.address; };
    if (!std::is_sorted(out_.chunks.begin(), out_.chunks.end(), by_address))
      std::sort(out_.chunks.begin(), out_.chunks.end(), by_address);
    mark_caches();
    mark_fast_lists();
    check_free();
    std::sort(out_.own.begin(), out_.own.end(), [](Range a, Range b) { return a.begin < b.begin; });
    return std::move(out_);
  }

private:
  void look_at(const Window& area) {
    if (word_at(area, area.begin) == 0 && word_at(area, area.begin + 8) == (cache_chunk | in_use_before)) {
      walk({area, area.begin, area.begin + area.size});
      return;
    }
    if (area.begin % heap_alignment == 0 && is_thread_heap(area)) return;
    look_for_mapped(area);
  }

  // struct _heap_info { malloc_state *arena; prev; size; mprotect_size; … }; behind it in the first heap of
  // an arena its malloc_state, and then the chunks.
  bool is_thread_heap(const Window& area) {
    uint64_t arena = word_at(area, area.begin), size = word_at(area, area.begin + 16);
    if (!arena || size % 4096 || size > area.size || size < 4096) return false;
    bool is_first = arena - area.begin < 0x100;
    for (uint64_t at = area.begin + 0x20; at < area.begin + 0xa00; at += 16) {
      uint64_t value = word_at(area, at + 8);
      bool may_be = is_first ? (value & ~flags) == cache_chunk && (value & 4)
                             : (value & 4) && (value & ~flags) >= smallest;
      if (!may_be) continue;
      Region r{area, at, area.begin + size};
      if (!fits(r)) continue;
      walk(r);
      return true;
    }
    return false;
  }

  // Chunks lead from the begin to the very end.
  static bool fits(const Region& r) {
    uint64_t at = r.begin;
    for (size_t n = 0; at < r.end && n < most_chunks; n++) {
      uint64_t size = word_at(r.area, at + 8) & ~flags;
      if (size < header || size > r.end - at) return false;
      at += size;
    }
    return at == r.end;
  }

  void walk(Region r) {
    out_.arenas++;
    out_.mapped_bytes += r.area.size;
    size_t first = out_.chunks.size();
    make_room(r.area.size);
    bool is_damaged = false;
    uint64_t at = r.begin;
    while (at + header <= r.end && out_.chunks.size() < most_chunks) {
      uint64_t value = word_at(r.area, at + 8), size = value & ~flags;
      if (size == 0 && at + header >= r.end) break; // fenceposts at the end of a heap
      Chunk* before = out_.chunks.size() > first ? &out_.chunks.back() : nullptr;
      if (size > r.end - at && is_cut_off(r.end)) break;
      if (size < header || size > r.end - at) {
        add_damage(at + header,
                   "says it is " + std::to_string(size) + " bytes long, of " + std::to_string(r.end - at) +
                       " that are left",
                   before);
        break;
      }
      // Whether a chunk is used stands in the next one, and so does its size if it is free.
      if (before && !(value & in_use_before)) {
        before->state = Chunk::freed;
        if (uint64_t said = word_at(r.area, at); said != before->size + 8 && !is_damaged)
          is_damaged = true, add_damage(at + header,
                                        "says that the free chunk in front of it is " + std::to_string(said) +
                                            " bytes long, not " + std::to_string(before->size + 8),
                                        before);
      }
      bool is_last = at + size >= r.end;
      // 16 bytes are a fence at the end of a heap that another one follows.
      out_.chunks.push_back({at + header, size - 8,
                             is_last          ? Chunk::top
                             : size == header ? Chunk::own
                                              : Chunk::used});
      at += size;
    }
    // What lies behind a chunk that is overwritten may be anything.
    out_.own.push_back({r.area.begin, at + header <= r.end ? at : r.area.begin + r.area.size});
    if (out_.chunks.size() > first && out_.chunks.back().state == Chunk::top) {
      out_.chunks.back().size -= 8;
      tops_.push_back(out_.chunks.back().address - header);
    }
  }

  // Before the chunks of a region come: to grow by and by would copy them again and again.
  void make_room(uint64_t bytes) {
    constexpr uint64_t usual_chunk = 64, most = 1 << 26;
    const size_t have = out_.chunks.size(), wanted = have + std::min(bytes / usual_chunk, most);
    if (wanted > out_.chunks.capacity()) out_.chunks.reserve(std::max(wanted, 2 * have));
  }

  void add_damage(uint64_t chunk, std::string what, const Chunk* before) {
    out_.damage.push_back({chunk, std::move(what), before ? before->address : 0});
  }

  // Blocks with a mapping of their own: { 0, size | 2 }. The kernel may have joined several.
  void look_for_mapped(const Window& area) {
    for (uint64_t at = area.begin; at + 4096 <= area.begin + area.size;) {
      uint64_t value = word_at(area, at + 8), size = value & ~flags;
      bool is_one = word_at(area, at) == 0 && (value & flags) == is_mapped && size % 4096 == 0 &&
                    size >= 4096 && size <= area.begin + area.size - at;
      if (!is_one) return;
      out_.own.push_back({at, at + size});
      out_.chunks.push_back({at + header, size - header, Chunk::used, true});
      out_.mapped_bytes += size;
      at += size;
    }
  }

  Chunk* chunk_of(uint64_t address) {
    auto at = std::lower_bound(out_.chunks.begin(), out_.chunks.end(), address,
                               [](const Chunk& c, uint64_t a) { return c.address < a; });
    return at != out_.chunks.end() && at->address == address ? &*at : nullptr;
  }

  const Window* area_of(uint64_t address) const {
    auto after = std::upper_bound(areas_.begin(), areas_.end(), address,
                                  [](uint64_t a, const Window& w) { return a < w.begin; });
    return after != areas_.begin() && std::prev(after)->holds(address, 8) ? &*std::prev(after) : nullptr;
  }
  uint64_t load(uint64_t address) const {
    const Window* area = area_of(address);
    return area ? word_at(*area, address) : 0;
  }

  // The chunks of a list, if it is one: `wanted` of them (0: any number), all of one size.
  bool follow(uint64_t head, size_t wanted, uint64_t size, bool is_fast, std::vector<Chunk*>& to) {
    for (bool is_safe : {true, false}) { // links are hidden since 2.32
      std::vector<Chunk*> found;
      uint64_t at = head;
      while (at && found.size() < (wanted ? wanted : 1 << 20)) {
        Chunk* c = chunk_of(is_fast ? at + header : at);
        if (!c || c->is_mapped || c->size != size) break;
        found.push_back(c);
        uint64_t next = load(c->address);
        at = is_safe ? next ^ c->address >> 12 : next;
      }
      if (at == 0 && (!wanted || found.size() == wanted)) {
        to.insert(to.end(), found.begin(), found.end());
        return true;
      }
    }
    return false;
  }

  void mark_caches() {
    std::vector<Chunk*> caches;
    for (Chunk& c : out_.chunks)
      if (c.size == cache_chunk - 8 && c.state == Chunk::used) caches.push_back(&c);
    for (Chunk* cache : caches) {
      const Window* area = area_of(cache->address);
      if (!area || !area->holds(cache->address, 640)) continue;
      std::vector<Chunk*> found;
      bool is_cache = true;
      for (uint64_t i = 0; i < 64 && is_cache; i++) {
        uint64_t count = load(cache->address + 2 * i) & 0xffff,
                 head = word_at(*area, cache->address + 128 + 8 * i);
        if (!count != !head || count > 1 << 12) is_cache = false;
        if (is_cache && count) is_cache = follow(head, count, (i + 2) * 16 - 8, false, found);
      }
      if (!is_cache) continue;
      cache->state = Chunk::own;
      for (Chunk* c : found) c->state = Chunk::cached;
    }
  }

  // struct malloc_state has the fast lists at 16 and the last chunk at 96.
  void mark_fast_lists() {
    constexpr uint64_t lists_at = 16, top_at = 96;
    for (uint64_t top : tops_)
      for (const Window& area : areas_) {
        if (area.size > 4 << 20 && area.begin % heap_alignment) continue; // a heap, not what manages it
        uint64_t most = area.begin % heap_alignment ? area.size : std::min<uint64_t>(area.size, 4096);
        for (uint64_t at = area.begin; at + 8 <= area.begin + most; at += 8)
          if (word_at(area, at) == top) mark_lists_at(at - top_at + lists_at), add_state(at - top_at);
      }
  }
  // The lists of an arena are words with addresses of chunks: what is in front of a free one is not held by
  // them. Of the 127 lists behind the address of the last chunk most are empty, and lead to themselves.
  void add_state(uint64_t state) {
    constexpr uint64_t lists = 112, count = 127, bytes = 2200;
    const Window* area = area_of(state);
    if (!area || !area->holds(state, bytes)) return;
    size_t empty = 0;
    for (uint64_t at = state + lists; at < state + lists + 16 * count; at += 16)
      empty += word_at(*area, at) == at - 16 && word_at(*area, at + 8) == at - 16;
    if (empty >= count / 4) out_.own.push_back({state, state + bytes});
  }

  // A free chunk is in a list both ways; one of which the next chunk says that it is free and that is in no
  // list was written to.
  void check_free() {
    if (!out_.damage.empty()) return;
    for (const Chunk& c : out_.chunks) {
      if (c.state != Chunk::freed) continue;
      uint64_t self = c.address - header, next = load(c.address), last = load(c.address + 8);
      if (is_cut_off(next) || is_cut_off(last)) continue;
      if (area_of(next) && area_of(last) && load(next + 24) == self && load(last + 16) == self) continue;
      const Chunk* before = &c == out_.chunks.data() ? nullptr : &c - 1;
      add_damage(c.address, "is free, and its links to other free chunks do not fit", before);
      return;
    }
  }
  void mark_lists_at(uint64_t lists) {
    for (uint64_t i = 0; i < 10; i++) {
      std::vector<Chunk*> found;
      if (uint64_t head = load(lists + 8 * i); head && follow(head, 0, (i + 2) * 16 - 8, true, found))
        for (Chunk* c : found) c->state = Chunk::cached;
    }
  }

  bool is_cut_off(uint64_t address) const { return memory_.window(address).why == Missing::truncated; }

  Memory& memory_;
  std::vector<Window> areas_;
  std::vector<uint64_t> tops_;
  Heap out_;
};

} // namespace

const Chunk* Heap::find(uint64_t address) const {
  auto after = std::upper_bound(chunks.begin(), chunks.end(), address,
                                [](uint64_t a, const Chunk& c) { return a < c.address; });
  if (after == chunks.begin() || address - std::prev(after)->address >= std::prev(after)->size)
    return nullptr;
  return &*std::prev(after);
}

Heap find_heap(Target& target) { return Finder(target).run(); }

std::vector<uint64_t> find_references(Target& target, uint64_t begin, uint64_t end) {
  std::vector<uint64_t> out;
  for (const Window& area : target.writable())
    for (uint64_t at = (area.begin + 7) / 8 * 8; at + 8 <= area.begin + area.size; at += 8) {
      uint64_t value;
      std::memcpy(&value, area.bytes + (at - area.begin), 8);
      if (value >= begin && value < end) out.push_back(at);
    }
  return out;
}

std::vector<uint64_t> find_bytes(Target& target, std::string_view bytes, size_t most) {
  std::vector<uint64_t> out;
  if (bytes.empty()) return out;
  for (const Window& area : target.writable()) {
    std::string_view text(reinterpret_cast<const char*>(area.bytes), area.size);
    for (size_t at = text.find(bytes); at != text.npos && out.size() < most; at = text.find(bytes, at + 1))
      out.push_back(area.begin + at);
  }
  return out;
}

} // namespace target
