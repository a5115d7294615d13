/* Where V8, the JavaScript engine of Node.js, keeps what leads from a frame to its function, in bytes. Plain C: tables of processes hold one
 * (runtime/language.h).
 *
 *   frame -> JSFunction -> SharedFunctionInfo -> Script
 *   frame of the interpreter (Ignition) -> offset in the bytecode
 *   pc in compiled code (Sparkplug, Maglev, TurboFan) -> Code -> tables of bytecode offsets, deoptimization data (node_code.cc)
 *
 * All code that V8 makes, and its builtins, keep rbp as a frame pointer. Objects are referred to by their address plus 1 (tagged); small integers
 * (Smi) are in the upper half of a word, and have a 0 in the lowest bit. Offsets here are from the address without the tag.
 *
 * Sources: src/execution/frame-constants.h, frames.cc; src/objects/shared-function-info.h, script.h, scope-info.tq, code.h of V8. */
#pragma once

#include <linux/types.h>

enum {
  NODE_FRAME_BYTES = 56,   /* read of a frame, from its lowest slot on */
  NODE_SHARED_BYTES = 64,  /* read of a SharedFunctionInfo; a power of two */
  NODE_TEXT_BYTES = 32,    /* read of the code around pc, likewise */
  NODE_TEXT_BEFORE = 24,   /* of those, before pc */
  NODE_RETURNS = 2,        /* places that return to the interpreter's frames */
  NODE_NO_POSITION = 0xffffff,
  NODE_PAGE = 1 << 18,     /* heaps consist of pages of that size */
};

/* Slots of a frame, from rbp. */
enum { NODE_SLOT_OFFSET = -40, NODE_SLOT_FUNCTION = -16, NODE_SLOT_CONTEXT = -8, NODE_SLOT_RBP = 0, NODE_SLOT_RETURN = 8 };

/* Bytes of language_object::object. */
enum {
  NODE_OBJECT_SHARED = 0,  /* 8: SharedFunctionInfo, tagged */
  NODE_OBJECT_CHECK = 8,   /* 4: of the function */
  NODE_OBJECT_IS_CODE = 12,
  NODE_OBJECT_IS_EXACT = 13, /* pc is where the code was interrupted */
  NODE_OBJECT_HAS_NAME = 14,
};

/* Fields of objects that have the same place in all versions. */
enum { NODE_MAP_TYPE = 12, NODE_SCRIPT_NAME = 16, NODE_SCRIPT_ID = 64, NODE_TEXT_ACTUAL = 16, NODE_SCOPE_FLAGS = 8, NODE_SCOPE_LOCALS = 24 };
/* How strings are kept: bits of their type. */
enum { NODE_STRING_MASK = 7, NODE_STRING_THIN = 5, NODE_STRING_TYPES = 0x80 };

/* In a ScopeInfo with these flags and so many variables in contexts: whether the function has a name there, and where. Names of many variables are in a
 * table of their own. */
enum { NODE_SCOPE_INLINED_NAMES = 75, NODE_SCOPE_SAVED_CLASS = 1 << 10, NODE_SCOPE_NAME = 3 << 12, NODE_SCOPE_INFERRED = 1 << 14 };
#define NODE_SCOPE_HAS_NAME(flags) ((flags) & NODE_SCOPE_NAME)
#define NODE_SCOPE_NAME_AT(names, flags, locals) \
  ((names) + 8 * (locals) + ((locals) < NODE_SCOPE_INLINED_NAMES ? 8 * (locals) : 8) + ((flags) & NODE_SCOPE_SAVED_CLASS ? 8 : 0))

struct node_layout {
  __u64 root_word;                   /* the first 8 bytes of the variable `root` of the table, Bytecodes::kBytecodeSizes */
  __u64 return_text;                 /* the code where calls of the interpreter's handlers return to */
  __u16 returns[NODE_RETURNS];       /* the lowest 12 bits of its addresses */
  __u16 version;                     /* of V8: 1130 is 11.3 */
  __u16 row;                         /* in node_layouts.h */
  __u16 function_shared;             /* JSFunction */
  __u16 shared_data, shared_other_data; /* SharedFunctionInfo: bytecode, code, or the number of a builtin in either */
  __u16 shared_name, shared_script, shared_counts, shared_literal; /* the last two: numbers of parameters, of the function in its script */
  __u16 scope_names;                 /* ScopeInfo: names of variables in contexts */
  __u16 scope_flags_shift;           /* flags are a small integer, or plain */
  __u16 bytecode_data;               /* BytecodeArray: the bytecode */
};

/* Of a walk: the frame that is looked at, and what was read last. */
struct node_memory {
  __u64 pc, sp, bp;
  __u64 is_exact;
  __u64 next_pc, next_sp; /* of the caller, of code that has made no frame; 0: it has one */
  __u64 next_bp;
  __u64 shared;           /* of the function, tagged; 0: the code is of none */
  __u64 script, word;
  __u32 function_check, is_code;
  __u64 top[2];
  __u8 slots[NODE_FRAME_BYTES + 8] __attribute__((aligned(8)));
  __u8 shared_bytes[NODE_SHARED_BYTES] __attribute__((aligned(8)));
  __u8 text[NODE_TEXT_BYTES] __attribute__((aligned(8)));
};
