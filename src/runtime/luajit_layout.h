/* Structures of LuaJIT 2.1 on x86-64, built with 64-bit references (LJ_GC64, the default since 2.1; two stack slots for a frame), in bytes.
 * Plain C: tables of processes hold one (runtime/language.h).
 *
 * The interpreter is one block of assembler (vm_x64.dasc), with a C frame of fixed layout. Each of its C frames is an activation: its
 * lua_State is in the frame, and the frames of that state belong to it down to the next one whose type says that C code called Lua.
 *
 * Sources: src/lj_obj.h, lj_frame.h, lj_debug.c, vm_x64.dasc of LuaJIT; the same in OpenResty's fork. luajit.cc checks in the code of each file
 * those that can be seen there. */
#pragma once

#include <linux/types.h>

enum {
  /* The interpreter's C frame, from its stack pointer (CFRAME_OFS_…) */
  LUAJIT_CFRAME_RESULTS = 8, /* an int; negative: no Lua frame belongs to this C frame yet, and L->top was so far from L->stack */
  LUAJIT_CFRAME_STATE = 16,
  LUAJIT_CFRAME_PC = 24,
  LUAJIT_CFRAME_PREVIOUS = 32, /* of the same state; the two lowest bits are flags */
  LUAJIT_CFRAME_RBP = 64,
  LUAJIT_CFRAME_RETURN = 72,
  LUAJIT_CFRAME_BYTES = 80,
  LUAJIT_CFRAME_FLAGS = 3,
  /* lua_State; nextgc, marked, and the type in a byte are the head of all objects */
  LUAJIT_TYPE = 9,
  LUAJIT_STATE_GLOBAL = 16,
  LUAJIT_STATE_BASE = 32,
  LUAJIT_STATE_TOP_LIMIT = 48, /* maxstack: a few slots behind it are in use sometimes */
  LUAJIT_STATE_STACK = 56,
  LUAJIT_STATE_CFRAME = 80,
  LUAJIT_STATE_BYTES = 96,
  /* GCfunc */
  LUAJIT_FUNCTION_KIND = 10, /* a byte; 0: Lua, else C */
  LUAJIT_FUNCTION_PC = 32,   /* the first instruction, which is behind the prototype */
  LUAJIT_FUNCTION_BYTES = 40,
  /* GCproto */
  LUAJIT_PROTO_INSTRUCTIONS = 12, /* their number */
  LUAJIT_PROTO_FILE = 64,
  LUAJIT_PROTO_FIRST_LINE = 72,
  LUAJIT_PROTO_LINES = 76, /* their number */
  LUAJIT_PROTO_LINE_TABLE = 80,
  LUAJIT_PROTO_BYTES = 104,
  /* GCstr */
  LUAJIT_TEXT_LENGTH = 20,
  LUAJIT_TEXT = 24,
  /* GCtrace */
  LUAJIT_TRACE_START = 72, /* address of the instruction that it begins with */
  /* Types of objects */
  LUAJIT_THREAD = 6,
  LUAJIT_PROTO = 7,
  LUAJIT_FUNCTION = 8,
  /* Types of frames: the lowest three bits of the slot before the base */
  LUAJIT_FRAME_LUA = 0, /* of four: the slot is the address where the caller goes on */
  LUAJIT_FRAME_C = 1,   /* the others: the rest is the distance to the caller's base */
  LUAJIT_FRAME_CONTINUATION = 2,
  LUAJIT_FRAME_VARIADIC = 3,
  LUAJIT_FRAME_C_PROTECTED = 5,
  LUAJIT_FRAME_TYPES = 7,
  LUAJIT_CALLBACK = 1, /* a continuation: C code has called a callback of the FFI */
  LUAJIT_NO_POSITION = 0xffffff,
};

/* Offsets from the interpreter's register DISPATCH (r14), which differ between versions; read from the interpreter's code. */
struct luajit_layout {
  __s32 global;   /* of global_State: negative */
  __s32 state;    /* in memory: the lua_State that runs (cur_L) */
  __s32 jit_base; /* in memory: the base when the running trace was entered; 0: none runs */
  __s32 trace_number; /* in memory: an int, of the running trace (vmstate) */
  __s32 traces;   /* in memory: the array of traces */
  __u32 leave, leave_bytes; /* code that leaves traces, on a stack pointer of its own: from the interpreter's begin on */
};

/* Of a walk: registers of the innermost evaluation frame, then what a turn leaves for the next one. */
struct luajit_memory {
  __u64 rdx, rbx, rbp;
  __u64 dispatch;    /* the interpreter's register of that name */
  __u64 jit_base;    /* of the trace that the innermost activation runs; 0: none */
  __u64 cframe;      /* of the activation that the next frame belongs to; 0: there is none */
  __u64 previous;    /* the C frame behind it */
  __u64 pc;          /* where the next frame goes on; 0: its C frame has it, or it is not known */
  __u32 activation;  /* the one that is wanted next */
  __u32 entered;     /* what `activation` was when the walk entered this state */
  __u32 is_entered;  /* the walk is in the stack of a state */
  __u32 is_settled;  /* `cframe` is the next frame's */
  __u32 is_wanted;   /* `cframe` is that of the activation */
  __u32 is_empty;    /* it has had no Lua frame */
  __u32 is_closed;   /* an activation without Lua frames has just ended */
  __u32 is_passed;   /* the function of the next frame is no call */
  __u32 must_hold;   /* the next frame is a Lua function, and pc is in it */
  __u8 state[128] __attribute__((aligned(8)));
  __u8 native[64] __attribute__((aligned(8)));
  __u8 slots[32] __attribute__((aligned(8)));
  __u8 function[64] __attribute__((aligned(8)));
  __u8 proto[128] __attribute__((aligned(8)));
};
