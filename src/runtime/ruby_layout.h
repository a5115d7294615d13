/* Offsets of the fields of CRuby's structures that lead from a thread to its frames, and from a frame to its names, in bytes. Plain C: tables of
 * processes hold one (runtime/language.h).
 *
 *   execution context -> cfp, control frames up to the end of vm_stack, innermost first -> iseq -> body: instructions, name, path, lines
 *   a frame of a function in C has no iseq: environment[-2] -> method entry -> definition -> its name, a number in the table of symbols
 *
 * A call of vm_exec (an activation) begins with a frame that has RUBY_FINISH. Fibers have contexts of their own.
 *
 * Sources: vm_core.h, iseq.h, method.h, symbol.h, internal/imemo.h, ruby/internal/core/rstring.h and rarray.h of Ruby, by version (ruby_layouts.h). */
#pragma once

#include <linux/types.h>

enum {
  RUBY_FRAME_BYTES = 64,       /* room for a frame; a power of two */
  RUBY_FRAME_READ = 40,        /* of a frame */
  RUBY_ENVIRONMENT_BYTES = 32, /* around ep: its words -2, -1 and 0, likewise */
  RUBY_BODY_BYTES = 256,       /* of a body of instructions, at most, likewise */
  RUBY_IS_IN_C = RUBY_BODY_BYTES - 8, /* behind it: whether a function in C was read */
  RUBY_TEXT_HEADER = 32,       /* of a string, in front of its text */
  RUBY_COMPILED_WORDS = 3,     /* that machine code of YJIT keeps on the stack: cfp, ec, sp of its caller */
  RUBY_COMPILED_MORE = 2,      /* and these in some calls */
  RUBY_COMPILED_READ = RUBY_COMPILED_WORDS + RUBY_COMPILED_MORE + 1,
};

/* Constants of Ruby, the same in all versions; scripts/ruby_layouts.py compares them with the headers. */
enum {
  RUBY_FINISH = 0x20, /* VM_FRAME_FLAG_FINISH, in environment[0] */
  RUBY_FRAME_KIND = 0x7fff0001,
  RUBY_C_FRAME = 0x55550001,
  RUBY_OBJECT_KIND = 0x1f, /* in the first word of objects */
  RUBY_STRING = 5,
  RUBY_ARRAY = 7,
  RUBY_INTERNAL_OBJECT = 0x1a, /* T_IMEMO */
  RUBY_INTERNAL_SHIFT = 12,    /* which one: 4 bits */
  RUBY_METHOD_ENTRY = 6,
  RUBY_METHOD_IN_C = 1, /* VM_METHOD_TYPE_CFUNC, the lowest 4 bits of a definition */
  RUBY_TEXT_IS_ELSEWHERE = 1 << 13, /* flags of strings and arrays: RSTRING_NOEMBED, RARRAY_EMBED_FLAG */
  RUBY_ARRAY_IS_EMBEDDED = 1 << 13,
  RUBY_TEXT_AT = 24, /* of a string that is elsewhere */
  RUBY_ARRAY_AT = 32,
  RUBY_EMBEDDED_AT = 16, /* elements of an array */
  RUBY_ID_SHIFT = 4,     /* of numbers of symbols: RUBY_ID_SCOPE_SHIFT */
  RUBY_IDS = 512,        /* names in an element of the table of symbols, two words each: ID_ENTRY_UNIT of symbol.c */
};

/* How the thread's execution context is found. */
enum {
  RUBY_BY_MODULE, /* `root` of the table is the loader's number of the library, whose thread-local memory has it at context_distance (3.0 and later) */
  RUBY_BY_OFFSET, /* it is at context_distance from the thread pointer: Ruby is in the executable itself */
  RUBY_IN_LIST,   /* `root` is ruby_current_vm_ptr, whose list of threads has its thread (before 3.0) */
};

struct ruby_layout {
  __u16 version;          /* 0x0301: 3.1 */
  __u16 context;          /* RUBY_BY_MODULE, …; set by recognise_ruby(), as the next two */
  __s32 context_distance;
  __s32 symbols;          /* from `root` of the table to the table of symbols; 0: not known */
  __u16 vm_threads;       /* in rb_vm_t: living_threads, a list of threads, whose node is at thread_node */
  __u16 thread_node;
  __u16 thread_id;        /* pthread_self() */
  __u16 thread_context;
  __u16 context_stack;    /* in rb_execution_context_t */
  __u16 context_stack_size; /* in words */
  __u16 context_frame;    /* cfp */
  __u16 frame_pc;         /* in rb_control_frame_t */
  __u16 frame_function;
  __u16 frame_environment;
  __u16 frame_bytes;
  __u16 function_body;    /* in rb_iseq_t */
  __u16 body_instructions; /* in struct rb_iseq_constant_body */
  __u16 body_count;
  __u16 body_path;        /* a string, or an array that begins with it */
  __u16 body_name;
  __u16 body_first_line;
  __u16 first_line_is_tagged; /* an Integer of Ruby */
  __u16 body_lines;
  __u16 body_lines_count;
  __u16 body_positions;
  __u16 body_bytes;       /* to be read of it, at most RUBY_BODY_BYTES */
  __u16 line_bytes;       /* of an entry of the table of lines, which begins with the line */
  __u16 method_definition; /* in rb_method_entry_t */
  __u16 definition_code;
  __u16 definition_name;
  __u16 symbols_ids;      /* in rb_symbols_t */
  __u16 last_operator;    /* greatest number of a symbol that is its own place in the table */
  __u16 text_length;      /* of an embedded string; 0: it is in the flags (RSTRING_EMBED_LEN_SHIFT) */
  __u16 text_heap_length;
  __u16 text_embedded;
};

/* Of a walk: what was read last. */
struct ruby_memory {
  __u64 last_frame; /* behind it there is none */
  __u64 first_thread; /* of the search: the list itself */
  __u64 function;   /* whose body is in body_bytes */
  __u64 body;
  __u64 definition; /* of a function in C; 0: the frame is Ruby's */
  __u64 name;       /* its number */
  __u8 frame_bytes[RUBY_FRAME_BYTES] __attribute__((aligned(8)));
  __u8 environment[RUBY_ENVIRONMENT_BYTES] __attribute__((aligned(8)));
  __u8 body_bytes[RUBY_BODY_BYTES] __attribute__((aligned(8)));
};
