/* Offsets of the fields of Perl's structures that lead from an interpreter to its calls, and from a call to its names, in bytes. As
 * python_layout.h.
 *
 *   interpreter -> current stack (PERL_SI) -> context stack: an array of PERL_CONTEXT, one for each call, eval, loop and block
 *               -> the stack that was current before, where C code has begun another one
 *
 * A context has the statement (COP) at which its caller is; the interpreter has the one that runs. A statement has its line and its file.
 *
 * Sources: intrpvar.h, cop.h, cv.h, gv.h, hv.h and sv.h of Perl, by version (perl_layouts.h). */
#pragma once

#include <linux/types.h>

enum {
  PERL_CONTEXT_BYTES = 128,  /* read of a context, at most */
  PERL_STATEMENT_BYTES = 64, /* of a statement, always */
  PERL_CODE_BYTES = 128,     /* of the body of a sub */
  PERL_STACK_BYTES = 64,     /* of a stack */
};

/* Types of contexts (cx_type, low 4 bits), and flags of them above. */
enum {
  PERL_CX_NULL = 0, /* a sort block */
  PERL_CX_SUB = 9,
  PERL_CX_FORMAT = 10,
  PERL_CX_EVAL = 11,
  PERL_CX_DEFER = 13,
  PERL_CX_TYPE = 15,
  PERL_CX_REGEX = 0x80,      /* of a sub: code in a regular expression, within the sub that it is in (CXp_SUB_RE_FAKE) */
  PERL_CX_EVAL_TEXT = 0x20,  /* of an eval: of a text (CXp_REAL) */
  PERL_CX_EVAL_BLOCK = 0x40, /* of an eval: of a block (CXp_EVALBLOCK) */
  PERL_CX_TRY = 0x80,        /* of an eval: `try`, which is no call */
};

struct perl_layout {
  __u16 version; /* 0x0524: 5.36 */
  __u8 has_threads; /* an interpreter is the value of a key of pthreads; else its fields are variables */
  __u8 aux_in_body; /* a stash's own fields follow its body; else its buckets */
  __s32 current_stack; /* in the interpreter; without threads in bytes from PL_curstackinfo, as the next one */
  __s32 current_statement;
  __u16 stack_bytes; /* to be read of a stack, at most PERL_STACK_BYTES */
  __u16 stack_contexts;
  __u16 stack_previous;
  __u16 stack_top; /* an int: the index of the innermost context; -1: there is none */
  __u16 context_bytes; /* all of it, at most PERL_CONTEXT_BYTES */
  __u16 context_statement;
  __u16 context_return; /* of a sub, format or eval: the operation to go on with; 0: C code has called it */
  __u16 context_code;   /* of a sub or format */
  __u16 context_name;   /* of an eval: the name of the file if it loads one */
  __u16 statement_line;
  __u16 statement_file; /* a text; without threads a glob */
  __u16 statement_sequence; /* a number that each statement has of its own */
  __u16 value_body;    /* in the head of any value: its body */
  __u16 value_pointer; /* likewise: what its type has there */
  __u16 code_bytes;    /* to be read of the body of a sub, at most PERL_CODE_BYTES */
  __u16 code_stash;
  __u16 code_name; /* a glob, or the name (code_is_named) */
  __u16 code_flags;
  __u16 glob_name; /* in its body */
  __u16 glob_stash;
  __u16 glob_effective; /* where value_pointer of its head leads to: the glob that it is an alias of */
  __u16 stash_max;  /* in its body: buckets - 1 */
  __u16 stash_aux;  /* in its body, if aux_in_body */
  __u16 aux_name;
  __u16 aux_names; /* not 0: aux_name leads to a list of names */
  __u16 key_length;
  __u16 key_text;
  __u32 code_is_named; /* flags */
  __u32 code_is_lexical;
};

/* Of a walk: what was read last, and what comes next. */
struct perl_memory {
  __u64 interpreter;
  __u64 contexts;  /* of the stack that is walked */
  __u64 previous;  /* stack; 0: it is the outermost */
  __u64 statement; /* that the next call is at */
  __u32 index;     /* of the next context, plus 1; 0: there is none */
  __u32 top;       /* where the stack's contexts began, likewise */
  __u32 last;      /* of the frame that was read last, likewise; 0: it is of another stack */
  __u32 from_c;    /* the frame that was read last, of this stack, has nothing to return to */
  __u32 kind;      /* PERL_FRAME_… of the frame that was read last */
  __u32 is_over;
  __u8 context_bytes[PERL_CONTEXT_BYTES] __attribute__((aligned(8)));
  __u8 statement_bytes[PERL_STATEMENT_BYTES] __attribute__((aligned(8)));
  __u8 code_bytes[PERL_CODE_BYTES] __attribute__((aligned(8)));
  __u8 stack_bytes[PERL_STACK_BYTES] __attribute__((aligned(8)));
};
