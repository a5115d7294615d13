/* Offsets of the fields of PHP's structures that lead from the executor to its frames, and from a frame to its names, in bytes. Plain C: tables of
 * processes hold one (runtime/language.h).
 *
 *   executor_globals -> current_execute_data -> prev_execute_data; a frame that the evaluation function (execute_ex) was entered with has
 *   ZEND_CALL_TOP; frames of functions in C have no code of PHP
 *
 * Sources: Zend/zend_compile.h, zend_globals.h, zend_types.h, zend.h of PHP, by version (php_layouts.h). */
#pragma once

#include <linux/types.h>

enum {
  PHP_FRAME_BYTES = 64,     /* read of a frame; a power of two */
  PHP_FUNCTION_BYTES = 256, /* read of a function, at most; a power of two */
  PHP_INTERNAL_FUNCTION = 1, /* types of functions: ZEND_INTERNAL_FUNCTION, ZEND_USER_FUNCTION, ZEND_EVAL_CODE */
  PHP_USER_FUNCTION = 2,
  PHP_EVALUATED_CODE = 4,
};

struct php_layout {
  __u16 version;        /* 0x0802: 8.2 */
  __u16 current;        /* in executor_globals: current_execute_data */
  __u16 frame_opline;   /* in zend_execute_data */
  __u16 frame_function;
  __u16 frame_call_info; /* This.u1.type_info */
  __u16 frame_previous;
  __u16 opline_line;
  __u16 function_type; /* a byte; of both kinds of functions */
  __u16 function_name;
  __u16 function_scope;
  __u16 function_handler; /* of a function in C */
  __u16 function_file;    /* of a function in PHP, as the next one */
  __u16 function_line;
  __u16 function_bytes; /* to be read of it, less than PHP_FUNCTION_BYTES */
  __u16 class_name;
  __u16 text_length;
  __u16 text_data;
  __u32 top; /* ZEND_CALL_TOP */
};

/* Of a walk: what was read last. */
struct php_memory {
  __u8 frame_bytes[PHP_FRAME_BYTES] __attribute__((aligned(8)));
  __u8 function_bytes[PHP_FUNCTION_BYTES] __attribute__((aligned(8)));
};
