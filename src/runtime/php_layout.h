/* Offsets of the fields of PHP's structures that lead from the executor to its frames, and from a frame to its names, in bytes. Plain C: tables of
 * processes hold one (runtime/language.h).
 *
 *   executor_globals -> current_execute_data -> prev_execute_data; a frame of PHP code that the evaluation function (execute_ex) was entered with
 *   has ZEND_CALL_TOP; frames of functions in C have no code of PHP
 *
 * A build with threads (ZTS) has executor_globals in each thread: a thread-local variable (_tsrm_ls_cache) leads to the thread's memory, and the
 * variable executor_globals_offset says where in it.
 *
 * Sources: Zend/zend_compile.h, zend_globals.h, zend_types.h, zend_generators.h, zend.h of PHP, by version (php_layouts.h). */
#pragma once

#include <linux/types.h>

enum {
  PHP_FRAME_BYTES = 64,     /* read of a frame; a power of two */
  PHP_OPLINE_BYTES = 32,    /* of an instruction, likewise */
  PHP_FUNCTION_BYTES = 256, /* of a function, at most, likewise */
  PHP_KIND = PHP_FUNCTION_BYTES - 8, /* behind it: what else belongs to its name */
  PHP_GENERATORS = 128,     /* that delegate to each other; a power of two */
};

/* Constants of PHP, the same in all versions; scripts/php_layouts.py compares them with the headers. */
enum {
  PHP_INTERNAL_FUNCTION = 1, /* types of functions: ZEND_INTERNAL_FUNCTION, ZEND_USER_FUNCTION, ZEND_EVAL_CODE */
  PHP_USER_FUNCTION = 2,
  PHP_EVALUATED_CODE = 4,
  PHP_CALL_TOP = 1 << 17,    /* ZEND_CALL_TOP, in the call info */
  PHP_OBJECT = 8,            /* IS_OBJECT, the lowest byte of the call info */
  PHP_INCLUDE_OR_EVAL = 73,  /* instructions */
  PHP_HANDLE_EXCEPTION = 149,
  PHP_EVAL = 1,              /* kinds of PHP_INCLUDE_OR_EVAL */
  PHP_INCLUDE = 2,
  PHP_INCLUDE_ONCE = 4,
  PHP_REQUIRE = 8,
  PHP_REQUIRE_ONCE = 16,
};

/* At PHP_KIND: the kind of include or eval that runs code without a name (0: it is the main script), or whether a method has an object. */
enum { PHP_KIND_MASK = 31, PHP_WITH_OBJECT = 32 };

/* How _tsrm_ls_cache is found from the thread pointer. */
enum {
  PHP_NO_THREADS,
  PHP_THREADS,           /* at thread_cache from it */
  PHP_THREADS_BY_MEMORY, /* the offset is in memory, at thread_cache from executor_globals_offset */
};

struct php_layout {
  __u16 version;          /* 0x0802: 8.2 */
  __u16 threads;          /* PHP_NO_THREADS, …; set by recognise_php() with the next one */
  __s32 thread_cache;
  __u16 current;          /* in executor_globals: current_execute_data */
  __u16 before_exception; /* in executor_globals: opline_before_exception */
  __u16 frame_opline;     /* in zend_execute_data */
  __u16 frame_function;
  __u16 frame_this;
  __u16 frame_call_info; /* This.u1.type_info */
  __u16 frame_previous;
  __u16 opline_size;
  __u16 opline_extended;
  __u16 opline_line;
  __u16 opline_code;   /* a byte */
  __u16 function_type; /* a byte; of both kinds of functions */
  __u16 function_name;
  __u16 function_scope;
  __u16 function_handler; /* of a function in C */
  __u16 function_count;   /* of a function in PHP, as those that follow: number of instructions */
  __u16 function_oplines;
  __u16 function_file;
  __u16 function_line;
  __u16 function_last_line;
  __u16 function_bytes; /* to be read of it, at most PHP_KIND */
  __u16 class_name;
  __u16 text_length;
  __u16 text_data;
  __u16 generator_frame;  /* in zend_generator: execute_data */
  __u16 generator_parent; /* node.parent: which one it delegates to */
  __u16 generator_fake;   /* execute_fake */
};

/* Of a walk: what was read last. */
struct php_memory {
  __u64 live_frame, live_opline; /* which frame the thread carries out which instruction of, if it is known better than in memory; 0: it is not */
  __u64 function;                /* that is in function_bytes */
  __u32 kind;                    /* of its name: see PHP_KIND */
  __u32 oldest;                  /* of `generators`: the last that is read */
  __u64 waiting;                 /* generators whose frames are still to be read */
  __u64 generator;               /* that the chain is followed from; 0: it is not followed */
  __u64 after;                   /* the frame behind those of the chain; 0: there is none */
  __u64 generators[PHP_GENERATORS];
  __u8 frame_bytes[PHP_FRAME_BYTES] __attribute__((aligned(8)));
  __u8 opline_bytes[PHP_OPLINE_BYTES] __attribute__((aligned(8)));
  __u8 function_bytes[PHP_FUNCTION_BYTES] __attribute__((aligned(8)));
};
