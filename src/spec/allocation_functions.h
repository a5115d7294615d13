// The functions by which programs take and give back memory, and the blocks that follow them (`acu flame alloc
// --leaks`): of glibc, jemalloc and tcmalloc, also where they are linked into the program.
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
  std::string_view at_entry, at_exit; // of the outermost call
  bool may_throw = false;
  std::string_view relays = {}; // "1": always
  bool frees = false;           // the block that its first argument points to; also of rows with a size
  std::string_view freed_size = {}; // what is known of its size in any allocator
};

inline constexpr std::string_view allocation_prefix = "je_";
// A file with the first of these has an allocator, and should have all.
inline constexpr std::string_view essential_allocation_functions = "malloc calloc realloc free";

// The words in capitals are replaced by those of a row, FUNCTIONS by what was found of its names. At the end of a call
// its return address is off the stack.
inline constexpr std::string_view taking_blocks = R"(
uprobe:FUNCTIONS {
  $sp = reg("sp");
  if (!has_key(@in, tid) || $sp >= @in[tid].0) {
    @taken++;
    @in[tid] = ($sp, (uint64)(SIZE), ustack, (uint64)arg0);
    ENTRY
  }
}
uretprobe:FUNCTIONS {
  if (has_key(@in, tid)) {
    $in = @in[tid];
    if (reg("sp") == $in.0 + 8) {
      delete(@in, tid);
      EXIT
    }
  }
}
)";
inline constexpr std::string_view giving_block = R"(
uprobe:FUNCTIONS {
  @given++;
  $piece = (pid, (uint64)arg0);
  if (has_key(@live, $piece)) {
    @freed += @live[$piece].4;
    delete(@live, $piece);
  }
}
)";

// The size of a block is in the header before it: chunk_size of glibc's malloc, whose last three bits are flags. A header that cannot be
// read makes a size that no program can ask for, as failing calls of malloc have; such sizes do not count.
inline constexpr std::string_view size_in_glibc = "(*(uint64*)uptr((uint64)arg0 - 8) & 0xfffffffffffffff8) - 8";

inline constexpr std::string_view sampled_block = R"(
uprobe:FUNCTIONS /@each && (CONDITION) && (FILTER)/ {
  $size = (uint64)(SIZE);
  if ($size < 0x400000000000) {
    $times = stands_for(scaled($size));
    if ($times) { @[pid, tid, pcomm, comm, (uint64)0, ustack] = stats($times) }
  }
}
)";

inline constexpr std::string_view keep_result =
    "if (retval) { @live[pid, (uint64)retval] = (tid, pcomm, comm, $in.2, $in.1); @allocated += $in.1; @blocks++ }";
inline constexpr std::string_view keep_filled =
    "if (!(int32)retval) { @live[pid, *(uint64*)uptr($in.3)] = (tid, pcomm, comm, $in.2, $in.1); @allocated += $in.1; @blocks++ }";
// The old piece goes at once: its address may be another's before this call is back. If the call fails it returns; asked
// for 0 bytes it is gone also if nothing comes back.
inline constexpr std::string_view take_out_old = R"(if (has_key(@before, tid)) { delete(@before, tid) }
    $piece = (pid, (uint64)arg0);
    if (has_key(@live, $piece)) {
      @before[tid] = @live[$piece];
      @freed += @live[$piece].4;
      delete(@live, $piece);
    })";
inline constexpr std::string_view keep_resized = R"(if (retval) {
        @live[pid, (uint64)retval] = (tid, pcomm, comm, $in.2, $in.1);
        @allocated += $in.1;
        @blocks++;
      } else if ($in.1 && has_key(@before, tid)) {
        @live[pid, $in.3] = @before[tid];
        @freed -= @before[tid].4;
      })";

inline constexpr AllocationFunctions allocation_functions[] = {
    {.names = "malloc valloc pvalloc mallocx", .size = "arg0", .at_exit = keep_result},
    {.names = "_ZnwmRKSt9nothrow_t _ZnamRKSt9nothrow_t _ZnwmSt11align_val_tRKSt9nothrow_t _ZnamSt11align_val_tRKSt9nothrow_t",
     .size = "arg0",
     .at_exit = keep_result,
     .relays = "1"},
    {.names = "_Znwm _Znam _ZnwmSt11align_val_t _ZnamSt11align_val_t",
     .size = "arg0",
     .at_exit = keep_result,
     .may_throw = true,
     .relays = "1"},
    {.names = "calloc", .size = "arg0 * arg1", .at_exit = keep_result},
    {.names = "aligned_alloc memalign", .size = "arg1", .at_exit = keep_result, .relays = "arg0 <= 16"},
    {.names = "posix_memalign", .size = "arg2", .at_exit = keep_filled, .relays = "arg1 <= 16"},
    {.names = "realloc", .size = "arg1", .at_entry = take_out_old, .at_exit = keep_resized, .relays = "arg0 == 0 || arg1 == 0", .frees = true},
    {.names = "rallocx", .size = "arg1", .at_entry = take_out_old, .at_exit = keep_resized, .frees = true},
    {.names = "reallocarray", .size = "arg1 * arg2", .at_entry = take_out_old, .at_exit = keep_resized, .relays = "1"},
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
