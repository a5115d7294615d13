// How a thread-local variable of a process is found, for any of its threads: what acu learns of a process once, and programs in the kernel follow in
// each event. Specification: "ELF Handling for Thread-Local Storage" (variant II), "Thread-Local Storage Descriptors for IA32 and AMD64/EM64T".
#pragma once

#include <cstdint>

namespace spec {

// `place` is an address where the loader of the process writes. It may not have written yet: then the word there is 0, or leads nowhere.
struct ThreadVariable {
  enum How : uint64_t {
    fixed = 1,     // `offset` from the thread's base: a variable of the program itself
    by_distance,   // the word at `place` is the distance from the thread's base (model initial-exec)
    by_module,     // the word at `place` is the number of the module, in whose block `offset` is (general dynamic)
    by_descriptor, // the word at `place` is the argument of a descriptor: negative, it is the distance from the thread's base; else it leads to the
                   // module's number and the offset in its block (TLSDESC)
  };
  uint64_t how = fixed;
  uint64_t place = 0;
  int64_t offset = 0;
  uint64_t entry_bytes = 16; // of a thread's table of modules: 16 in glibc, whose size is a word of the entry before the first; 8 in musl, where it is the first word
};

} // namespace spec
