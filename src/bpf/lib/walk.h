/* What the walker in the kernel (unwind.bpf.c) and acu share: the maps that tell the walker what it needs to
 * know of files and processes, the memory in which a stack is walked, and what is sent. Plain C, little-endian.
 *
 * A process is a range of `acu_mappings`, sorted by address. A mapping of a file with tables leads to a range
 * of `acu_starts`, one for each 64 KiB of the file's addresses, and those to rows in `acu_rows`, whose rules
 * stand in `acu_rules` (unwind/rule.h). All are plain arrays that acu fills through mmap(2); what a process
 * entry leads to stays as it is for a while after the entry has changed, so that a walk that is under way ends
 * well. Processes are entries of the hash `acu_processes`, by their number as acu sees it. */
#pragma once

#include "unwind/rule.h"

enum {
  WALK_MOST_FRAMES = 512,
  WALK_STACK_BYTES = 16 << 10, /* copied out */
  WALK_WINDOW = 512,           /* of the stack are read at once; a page is a multiple of it */
  WALK_MOST_COPIES = 64,       /* of a process before it is known: what comes then is as those */
  WALK_KNOWN = 4096,           /* a power of two */
  WALK_MOST_MAPPINGS = 4096,   /* of a process */
  WALK_ROOM_ROWS = 4 << 20,
  WALK_ROOM_STARTS = 1 << 18,
  WALK_ROOM_MAPPINGS = 1 << 16,
  WALK_ROOM_PROCESSES = 1 << 14,
};

/* Entries of `acu_rows`: two rows each, the first in the low half. */

/* Of `acu_starts`: the rows of one page of a file. */
struct walk_page {
  __u32 first, count;
};

/* Of `acu_mappings`. An address of the file is pc + bias. */
struct walk_mapping {
  __u64 begin, end;
  __u64 bias;
  __u64 first_page; /* of the file's addresses, >> UNWIND_PAGE_BITS */
  __u32 pages;      /* 0: code without tables */
  __u32 starts;     /* where its pages begin in acu_starts */
};

struct walk_process {
  __u32 first, count; /* in acu_mappings; count 0: not known, and copied out `first` times */
};

/* How a walk ended: enum unwind_end, and what only the walker in the kernel has. */
enum {
  WALK_PROCESS_NOT_KNOWN = 32,
  WALK_CODE_NOT_KNOWN, /* no mapping of the process that is known holds it */
  WALK_NOT_HELD,       /* the rule is none that rows hold */
  WALK_UNFINISHED,     /* more frames than the walker may do */
  WALK_ENDS,
};

/* The last frame of a stack that does not end at the outermost one is no address but tells why. */
#define WALK_REASON 0xffffffffffffff00ull /* plus how the walk ended */

/* Entries of the per-CPU array `acu_walk_counts`: walks by end, then: */
enum {
  WALK_COUNT_COPIED = WALK_ENDS, /* walked outside */
  WALK_COUNT_RING_FULL,          /* a stack could not be sent: lost */
  WALK_COUNT_NO_ROOM,            /* more different stacks than are kept: lost */
  WALK_COUNT_NOT_COPIED,         /* not known, and could not be copied out either: by frame pointers */
  WALK_COUNTS,
};

/* Entries of the array `acu_walk_set`. */
enum {
  WALK_SET_TGID,      /* offset of tgid in struct task_struct; 0: processes are not followed in the kernel */
  WALK_SET_MOST,      /* of different stacks */
  WALK_SETTINGS,
};

/* Records of the ring `acu_walked`. */
enum { WALK_RECORD_STACK = 1, WALK_RECORD_COPY = 2 };

struct walk_stack {
  __u32 kind, pid;
  __u64 id;
  __u64 time; /* CLOCK_MONOTONIC, ns */
  __u64 count;
  __u64 frames[WALK_MOST_FRAMES + 1]; /* the innermost first */
};

struct walk_copy {
  __u32 kind, pid;
  __u64 id;
  __u64 time;
  __u64 bytes; /* of the stack */
  __u32 limit, why;
  __u64 seed;
  __u64 registers[17]; /* by DWARF's numbers, the last is rip */
  __u8 stack[WALK_STACK_BYTES];
};

/* One of a CPU's places to walk in (`acu_walks`). What stands in the first part is given. */
struct walk {
  __u64 busy;
  __u64 seed; /* what the hash begins with */
  __u32 pid;
  __u32 limit; /* frames that are wanted */
  __u64 slot;  /* which place it is */
  __u64 registers[17];

  __u64 pc, sp, bp;
  __u64 hash;
  __u32 first, mappings; /* of the process */
  __u32 mapping;         /* that held the last address */
  __u32 is_exact;        /* pc is where the code was interrupted, not where it returns to */
  __u32 is_blind;        /* nothing is known of the process: by frame pointers, whatever they are */
  __u32 end;
  __u64 window;          /* address of what was read */
  __u8 bytes[WALK_WINDOW];
  struct walk_stack stack;
};
