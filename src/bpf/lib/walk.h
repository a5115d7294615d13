/* What the walker in the kernel (unwind.bpf.c) and acu share: the maps that tell the walker what it needs to
 * know of files and processes, the memory in which a stack is walked, and what is sent. Plain C, little-endian.
 *
 * A process is a range of `acu_mappings`, sorted by address. A mapping of a file with tables leads to a range
 * of `acu_starts`, one for each 64 KiB of the file's addresses, and those to rows in `acu_rows`, whose rules
 * stand in `acu_rules` (unwind/rule.h). All are plain arrays that acu fills through mmap(2); what a process
 * entry leads to stays as it is for a while after the entry has changed, so that a walk that is under way ends
 * well. Processes are entries of the hash `acu_processes`, by their number as acu sees it.
 *
 * A process of a language runtime has a table in `acu_languages` (runtime/language.h); then the frames of its language follow those of machine
 * code.
 *
 * Rules that were found are kept in `acu_walk_rules`, by address and list of mappings, as most frames of a stack were
 * in the one before. Whole walks are kept in `acu_walk_repeats` (repeat.h). */
#pragma once

#include "runtime/language.h"
#include "spec/stack_entry.h"
#include "unwind/rule.h"

enum {
  WALK_MOST_FRAMES = 512,
  WALK_WORDS = WALK_MOST_FRAMES + 1 + 2 * (int)LANGUAGE_MAX_FRAMES, /* of a stack: native frames, why they end, language frames */
  WALK_STACK_BYTES = 16 << 10, /* copied out */
  WALK_WINDOW = 512,           /* of the stack are read at once; a page is a multiple of it */
  WALK_MOST_COPIES = 64,       /* of a process before it is known: what comes then is as those */
  WALK_KNOWN = 4096,           /* a power of two */
  WALK_RULES = 8192,           /* a power of two */
  WALK_REPEATS = 16,           /* of a place to walk in; a power of two */
  WALK_REPEAT_WINDOWS = 2,     /* a power of two */
  WALK_WINDOW_WORDS = 32,      /* that are used of a window; a power of two */
  WALK_MOST_MAPPINGS = 4096,   /* of a process */
  WALK_MOST_RETURNS = 64,      /* of a thread: the kernel probes no more at a time */
  WALK_ROOM_ROWS = 6 << 20,
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
  __u64 list;         /* the number of this list of mappings; no other ever has it */
  __u32 language;     /* in acu_languages; 0: no language runtime */
  __u32 reserved;
};

/* Of `acu_walk_rules`. All CPUs write there, and a walk may interrupt another: an entry holds the rule for an address only if
 * rule and check were written by the same walk, as then check ^ rule is the hash of list and address. */
struct walk_rule {
  __u64 check, rule;
};

/* What a walk read at once, and which words of it were used. */
struct walk_window {
  __u64 address;
  __u64 words;
  struct {
    __u64 at, value;
  } word[WALK_WINDOW_WORDS];
};

/* A complete walk of machine code, by what it began with and what it read. */
struct walk_repeat {
  __u64 begun; /* hash of what it began with */
  __u64 id;    /* of the stack */
  __u64 windows; /* 0: it was seen once */
  struct walk_window window[WALK_REPEAT_WINDOWS];
};

/* Of `acu_walk_repeats`: those of one of a CPU's places to walk in, by `begun`. */
struct walk_repeats {
  struct walk_repeat of[WALK_REPEATS];
};

/* How a walk ended, as the end of a stack tells (STACK_END plus this): enum unwind_end, and what only the walker in the
 * kernel has. */
enum {
  WALK_PROCESS_NOT_KNOWN = 32,
  WALK_CODE_NOT_KNOWN, /* no mapping of the process that is known holds it */
  WALK_NOT_HELD,       /* the rule is none that rows hold */
  WALK_UNFINISHED,     /* more frames than the walker may do */
  /* There is no user stack any more, by right: */
  WALK_EXITING,   /* the thread ends, it has no memory */
  WALK_EXECUTING, /* it has the memory of the next program, which has not begun */
  WALK_ENDS,
};

/* Entries of the per-CPU array `acu_walk_counts`: walks by end, then: */
enum {
  WALK_COUNT_COPIED = WALK_ENDS, /* walked outside */
  WALK_COUNT_RING_FULL,          /* a stack could not be sent: lost */
  WALK_COUNT_NO_ROOM,            /* more different stacks than are kept: lost */
  WALK_COUNT_NOT_COPIED,         /* not known, and could not be copied out either: by frame pointers */
  WALK_COUNT_OBJECT_LOST,        /* names of a language frame could not be sent */
  WALK_COUNT_LANGUAGE,           /* walks of language frames, by end: LANGUAGE_ENDS entries */
  WALK_COUNTS = WALK_COUNT_LANGUAGE + (int)LANGUAGE_ENDS,
};

enum { WALK_NOT_READ = 1 };

/* Words of the only entry of `acu_walk_set`. */
enum {
  WALK_SET_TGID,      /* offset of tgid in struct task_struct; 0: processes are not followed in the kernel */
  /* Offsets plus 1, all or none of them given (watch/task_members.cc): where the kernel keeps the return addresses of
   * functions whose return is probed. */
  WALK_SET_UTASK,          /* task_struct.utask */
  WALK_SET_MM,             /* task_struct.mm */
  WALK_SET_XOL,            /* mm_struct.uprobes_state.xol_area */
  WALK_SET_TRAMPOLINE,     /* xol_area.vaddr: the trampoline, with copies of probed instructions behind it */
  WALK_SET_RETURNS,        /* uprobe_task.return_instances */
  WALK_SET_STEPPED,        /* uprobe_task.vaddr: the instruction whose copy is carried out */
  WALK_SET_RETURN_NEXT,    /* return_instance.next */
  WALK_SET_RETURN_STACK,   /* return_instance.stack: where the return address was */
  WALK_SET_RETURN_ADDRESS, /* return_instance.orig_ret_vaddr */
  WALK_SET_THREAD_POINTER, /* task_struct.thread.fsbase; by itself */
  WALK_SET_CHANGES,        /* of entries of acu_processes so far: 1 and more */
  WALK_SETTINGS,
};

/* Records of the ring `acu_walked`. */
enum { WALK_RECORD_STACK = 1, WALK_RECORD_COPY = 2, WALK_RECORD_OBJECT = 3 };

struct walk_stack {
  __u32 kind, pid;
  __u64 id;
  __u64 time; /* CLOCK_MONOTONIC, ns */
  __u64 count;  /* of words */
  __u32 native; /* of those the first: native frames and why they end; language frames are behind them */
  __u32 is_cut; /* more native frames were not asked for */
  __u32 language; /* of the process, in acu_languages */
  __u32 mixed;    /* of the native frames: entries of Java and JavaScript, of two words */
  __u64 words[WALK_WORDS]; /* of entries (spec/stack_entry.h), the innermost first */
};

/* What names a language frame whose code object was not seen in the process before. */
struct walk_object {
  __u32 kind, pid;
  __u64 time;
  struct language_object object;
};

/* Of `acu_language_threads`, as walk_rule: the state of the thread whose hash is check ^ thread. */
struct walk_thread {
  __u64 check, thread;
};

/* Where a return address was, and what it was. */
struct walk_return {
  __u64 slot, address;
};

struct walk_copy {
  __u32 kind, pid;
  __u64 id;
  __u64 time;
  __u64 bytes;   /* of the stack */
  __u64 missing; /* of those the first so many could not be read */
  __u32 limit, why;
  __u64 seed;
  __u64 registers[ARCH_REGISTERS]; /* by DWARF's numbers, the last is rip */
  __u64 trampoline;    /* stands in the copy at each slot of `kept` */
  __u64 kept_count;
  struct walk_return kept[WALK_MOST_RETURNS];
  __u8 stack[WALK_STACK_BYTES];
};

/* One of a CPU's places to walk in (`acu_walks`). What stands in the first part is given. */
struct walk {
  __u64 busy;
  __u64 seed; /* what the hash begins with */
  __u32 pid;
  __u32 limit; /* frames that are wanted */
  __u64 slot;  /* which place it is */
  __u64 registers[ARCH_REGISTERS];
  __u64 syscall; /* that the thread is in; negative: none */
  __u64 utask;   /* task_struct.utask; WALK_NOT_READ: the program could not read it */

  __u64 pc, sp, bp;
  __u64 hash;
  /* Of the process, as find_process() found it: when there were so many changes. */
  __u64 changes;
  __u32 found_pid;
  __u32 first, mappings; /* 0 mappings: it is not known, and was copied out `first` times */
  __u64 list;            /* hash of its number */
  __u32 mapping;         /* that held the last address */
  __u32 is_exact;        /* pc is where the code was interrupted, not where it returns to */
  __u32 is_blind;        /* nothing is known of the process: by frame pointers, whatever they are */
  __u32 is_done;         /* what there is to know of the stack was sent already */
  __u32 end;
  __u32 language;        /* of the process: in acu_languages */
  __u32 evaluations;     /* frames of the evaluation function */
  __u32 is_luajit;       /* the process runs it */
  __u32 is_lua;
  __u64 java_begin, java_bytes; /* code of a JVM */
  __u32 is_ruby, is_node;
  __u32 awaits_cfa;      /* sp of the next frame is the CFA of an evaluation frame of Lua */
  struct language_code evaluation[LANGUAGE_CODE_RANGES];
  struct language_walk language_walk;
  struct walk_object object; /* that is sent */
  union {
    struct unwind_rule rule; /* for the frame that is walked */
    __u64 rule_word;
  };
  __u64 window;          /* address of what was read */
  __u64 wanted;          /* of what is to be read, or whose mapping is looked for */
  struct walk_repeat repeat; /* what is to be kept of this walk; more windows or words than it has place for: nothing */
  __u8 bytes[WALK_WINDOW];
  /* Functions whose return is probed; nothing: there is none. */
  __u64 trampoline;            /* what stands in the place of their return addresses */
  __u64 returns;               /* the kernel's list of them, as it is in `kept` */
  __u64 kept_count, kept_next; /* the first that may be met yet */
  struct walk_return kept[WALK_MOST_RETURNS];
  struct walk_stack stack;
};
