/* Language runtimes, as walkers see them: one table per process, the entries that a walk gives, and what is read of the objects behind
 * them. Shared by the walkers in the kernel (bpf/lib/language.h) and acu. Plain C, little-endian.
 *
 * A language frame is a tagged entry of the stack (spec/stack_entry.h):
 *
 *   word 0: 0xac | tag | check (23 bits) | first (1 bit) | position (24 bits)
 *   word 1: address of the code object; 0: the activation runs none (only of Lua, and alone in its activation)
 *
 * `position` is where the function is, in the runtime's own units (CPython: instructions of 2 bytes). `first` marks the innermost frame
 * of an activation, which is one call of the evaluation function. `check` is a hash of fields that identify the code object: objects are
 * freed and their addresses are used again, so a name belongs to process, address and check together. */
#pragma once

#include "runtime/hotspot_layout.h"
#include "runtime/lua_layout.h"
#include "runtime/luajit_layout.h"
#include "runtime/node_layout.h"
#include "runtime/perl_layout.h"
#include "runtime/php_layout.h"
#include "runtime/python_layout.h"
#include "runtime/ruby_layout.h"

#define LANGUAGE_POSITION_BITS 24
#define LANGUAGE_FIRST (1ull << LANGUAGE_POSITION_BITS)
#define LANGUAGE_CHECK_SHIFT (LANGUAGE_POSITION_BITS + 1)
#define LANGUAGE_CHECK_MASK 0x7fffffull
#define LANGUAGE_POSITION_MASK (LANGUAGE_FIRST - 1)

/* Kinds of runtimes: rows of runtime/runtimes.cc. */
enum {
  LANGUAGE_NONE,
  LANGUAGE_PYTHON,
  LANGUAGE_PHP,
  LANGUAGE_PERL,
  LANGUAGE_LUAJIT,
  LANGUAGE_LUA,
  LANGUAGE_JAVA,
  LANGUAGE_RUBY,
  LANGUAGE_NODE,
  LANGUAGE_KINDS,
};

enum {
  LANGUAGE_MAX_FRAMES = 500,    /* of a stack */
  LANGUAGE_MAX_EVALUATIONS = 512, /* of a stack; a power of two */
  LANGUAGE_MAX_THREADS = 4096,  /* of a process, in a search for the thread's state */
  LANGUAGE_MAX_TABLES = 4096,   /* of processes; entry 0 is none */
  LANGUAGE_KEPT_THREADS = 4096, /* whose state was found; a power of two */
  LANGUAGE_SENT = 16384,        /* code objects that are known to have been sent; a power of two */
  LANGUAGE_CODE_RANGES = 2,
};

/* Code of the evaluation function, as the process has it mapped; compilers split it in a hot and a cold part. */
struct language_code {
  __u64 begin, end;
};

/* Entry of `acu_languages`. */
struct language_table {
  __u32 kind; /* LANGUAGE_… */
  __u32 root_bytes; /* of the variable `root` */
  struct language_code evaluation[LANGUAGE_CODE_RANGES];
  struct language_code nested; /* of a function that goes on with an activation in another call of the evaluation function; 0 to 0: none does */
  __u64 root; /* a variable of the runtime from which its threads are found; CPython: _PyRuntime, PHP: executor_globals */
  union {
    struct python_layout python;
    struct php_layout php;
    struct luajit_layout luajit;
    struct perl_layout perl;
    struct lua_layout lua;
    struct hotspot_layout hotspot;
    struct ruby_layout ruby;
    struct node_layout node;
  };
};

/* Why a walk of language frames ended. */
enum {
  LANGUAGE_COMPLETE,
  LANGUAGE_NO_THREAD,  /* the runtime does not know the thread */
  LANGUAGE_UNREADABLE, /* memory that a frame leads to is not there */
  LANGUAGE_TOO_DEEP,   /* more than LANGUAGE_MAX_FRAMES */
  LANGUAGE_ENDS,
};

/* What the innermost evaluation frame does. */
enum {
  LANGUAGE_CALLS,       /* it has called other code */
  LANGUAGE_RUNS,        /* it is the innermost frame of the stack: registers are its own */
  LANGUAGE_INTERRUPTED, /* by a handler of signals */
};

/* What is read of a code object and of what it leads to, as the runtime has it in memory; what could not be read is 0. */
enum { LANGUAGE_OBJECT_BYTES = 256, LANGUAGE_NAME_BYTES = 320, LANGUAGE_FILE_BYTES = 384, LANGUAGE_LINES_BYTES = 1024 };
struct language_object {
  __u64 address;
  __u32 check;
  __u32 table; /* index in `acu_languages` */
  __u8 object[LANGUAGE_OBJECT_BYTES];
  __u8 name[LANGUAGE_NAME_BYTES];
  __u8 file[LANGUAGE_FILE_BYTES];
  __u8 lines[LANGUAGE_LINES_BYTES];
};

/* What a walk knows between two frames. */
struct language_walk {
  __u64 thread_pointer; /* of the thread (fs base), which is what pthread_self() returns */
  __u64 thread;         /* the runtime's state of the thread */
  __u64 frame;          /* the next frame */
  __u64 code;           /* of the frame that was read last: address of its code object; 0: it is no call */
  __u64 position;       /* in it */
  __u32 check;
  __u32 is_first;       /* the frame that was read last is the innermost of its activation */
  __u32 opens;          /* the next one is */
  __u32 end;            /* LANGUAGE_…, after the last turn */
  __u32 evaluations;    /* frames of the evaluation function, with rbp and rsp in them */
  __u32 evaluation_is;  /* the innermost one: LANGUAGE_CALLS, … */
  __u64 evaluation_rbp[LANGUAGE_MAX_EVALUATIONS];
  __u64 evaluation_rsp[LANGUAGE_MAX_EVALUATIONS]; /* Lua: the CFA instead; 0: not known */
  union {
    struct python_memory python;
    struct php_memory php;
    struct luajit_memory luajit;
    struct perl_memory perl;
    struct lua_memory lua;
    struct hotspot_memory hotspot;
    struct ruby_memory ruby;
    struct node_memory node;
  };
};

#define language_inline static inline __attribute__((always_inline))

/* A word or half a word of what was read into an array, whose size is a power of two: whatever the offset, it is inside. */
#define language_word(bytes, offset) language_word_at((bytes) + ((offset) & (sizeof(bytes) - 8)))
#define language_half(bytes, offset) language_half_at((bytes) + ((offset) & (sizeof(bytes) - 4)))

language_inline __u64 language_word_at(const __u8 *at) {
  __u64 word;
  __builtin_memcpy(&word, __builtin_assume_aligned(at, 8), 8);
  return word;
}
language_inline __u32 language_half_at(const __u8 *at) {
  __u32 half;
  __builtin_memcpy(&half, __builtin_assume_aligned(at, 4), 4);
  return half;
}

language_inline __u64 language_mix(__u64 hash, __u64 word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
  return hash ^ hash >> 32;
}

/* The first word of the entry for the frame that was read last, without mark and tag. */
language_inline __u64 language_entry(const struct language_walk *w) {
  return (__u64)w->check << LANGUAGE_CHECK_SHIFT | (w->is_first ? LANGUAGE_FIRST : 0) | (w->position & LANGUAGE_POSITION_MASK);
}
