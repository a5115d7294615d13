// The heap of glibc's malloc in a stopped program, chunk by chunk: of all arenas and of blocks that
// have a mapping of their own. Nothing but the memory is needed: heaps are known by how they begin, arenas by
// the pointers to their last chunk, the threads' caches by their shape.
//
// Specification: malloc/malloc.c and malloc/arena.c of glibc 2.26 to 2.41 on x86-64 (struct malloc_chunk,
// struct malloc_state, struct _heap_info, tcache_perthread_struct; "safe linking" since 2.32).
#pragma once

#include "target/target.h"

#include <cstdint>
#include <string>
#include <vector>

namespace target {

struct Chunk {
  uint64_t address = 0;   // that malloc() gave
  uint64_t size : 56 = 0; // bytes that may be used
  enum State : uint8_t {
    used,
    freed,  // in a list of its arena
    cached, // freed, and kept by a thread or in a fast list
    own,    // malloc's: a thread's cache
    top,    // not given out yet
  } state : 7 = used;
  bool is_mapped : 1 = false; // it has a mapping of its own
};
static_assert(sizeof(Chunk) == 16); // heaps have tens of millions

// What malloc wrote around a chunk and is not as it must be.
struct Damage {
  uint64_t chunk = 0;     // the address that malloc() gave
  std::string what;       // "says it is 4096 bytes long, of 16 that are left"
  uint64_t neighbour = 0; // the chunk in front of it, beyond whose end something was likely written; 0: none
};

struct Range {
  uint64_t begin = 0, end = 0;
};

struct Heap {
  std::vector<Chunk> chunks; // by address
  size_t arenas = 0;
  uint64_t mapped_bytes = 0;  // of all heaps and blocks
  std::vector<Damage> damage; // of each heap the first
  std::vector<Range> own; // chunks and what malloc keeps about them: nothing there leads anywhere; by address
  // The chunk that holds an address; nullptr: none does.
  const Chunk* find(uint64_t address) const;
};

Heap find_heap(Target& target);

// Where words of the program's memory have an address within a chunk (or any range).
std::vector<uint64_t> find_references(Target& target, uint64_t begin, uint64_t end);

// Where these bytes stand in memory that can be written; at most `most` places.
std::vector<uint64_t> find_bytes(Target& target, std::string_view bytes, size_t most);

} // namespace target
