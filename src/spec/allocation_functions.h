// The functions by which programs take and give back memory, for `acu flame alloc
// --leaks`: of glibc, jemalloc and tcmalloc, also where they are linked into the program.
//
// Functions that call one another count once: of a thread only the outermost call is followed, which is known by its
// stack pointer. What a call that never returned left behind is in nobody's way: its frame is gone, and the next call
// from there or farther out takes its place. A piece of memory is known by process and address, so that what a child
// of fork() gives back is not its parent's.
#pragma once

#include <cstdint>
#include <string_view>

namespace spec {

// The kinds `allocated` and `freed` probe entries only. `relays` is a condition for calls that glibc's allocator passes on to another
// function of this table; they are skipped, so that none counts twice.
struct AllocationFunctions {
  std::string_view names; // separated by blanks; those of C also with jemalloc's usual prefix
  std::string_view size;  // that is asked for; empty: memory is given back
  std::string_view at_entry, at_exit; // of the outermost call: macros of scripts/allocations.bt
  bool may_throw = false;
  std::string_view relays = {}; // "1": always
  bool frees = false;           // the block that its first argument points to; also of rows with a size
  std::string_view freed_size = {}; // what is known of its size in any allocator
};

inline constexpr std::string_view allocation_prefix = "je_";
// A file with the first of these has an allocator, and should have all.
inline constexpr std::string_view essential_allocation_functions = "malloc calloc realloc free";

inline constexpr AllocationFunctions allocation_functions[] = {
    {.names = "malloc valloc pvalloc mallocx", .size = "arg0", .at_exit = "KEEP_RESULT"},
    {.names = "_ZnwmRKSt9nothrow_t _ZnamRKSt9nothrow_t _ZnwmSt11align_val_tRKSt9nothrow_t _ZnamSt11align_val_tRKSt9nothrow_t",
     .size = "arg0",
     .at_exit = "KEEP_RESULT",
     .relays = "1"},
    {.names = "_Znwm _Znam _ZnwmSt11align_val_t _ZnamSt11align_val_t",
     .size = "arg0",
     .at_exit = "KEEP_RESULT",
     .may_throw = true,
     .relays = "1"},
    {.names = "calloc", .size = "arg0 * arg1", .at_exit = "KEEP_RESULT"},
    {.names = "aligned_alloc memalign", .size = "arg1", .at_exit = "KEEP_RESULT", .relays = "arg0 <= 16"},
    {.names = "posix_memalign", .size = "arg2", .at_exit = "KEEP_FILLED", .relays = "arg1 <= 16"},
    {.names = "realloc", .size = "arg1", .at_entry = "TAKE_OUT_OLD", .at_exit = "KEEP_RESIZED", .relays = "arg0 == 0 || arg1 == 0", .frees = true},
    {.names = "rallocx", .size = "arg1", .at_entry = "TAKE_OUT_OLD", .at_exit = "KEEP_RESIZED", .frees = true},
    {.names = "reallocarray", .size = "arg1 * arg2", .at_entry = "TAKE_OUT_OLD", .at_exit = "KEEP_RESIZED", .relays = "1"},
    {.names = "free cfree dallocx", .frees = true},
    {.names = "sdallocx", .frees = true, .freed_size = "arg1"},
    {.names = "_ZdlPvm _ZdaPvm _ZdlPvmSt11align_val_t _ZdaPvmSt11align_val_t", .relays = "1", .frees = true, .freed_size = "arg1"},
    {.names = "_ZdlPv _ZdaPv _ZdlPvRKSt9nothrow_t _ZdaPvRKSt9nothrow_t _ZdlPvSt11align_val_t _ZdaPvSt11align_val_t "
              "_ZdlPvSt11align_val_tRKSt9nothrow_t _ZdaPvSt11align_val_tRKSt9nothrow_t",
     .relays = "1",
     .frees = true},
};

// How long a program is held up by each call that is followed, measured with whole stacks (ns).
inline constexpr uint64_t taking_ns = 3000, giving_ns = 900;

} // namespace spec
