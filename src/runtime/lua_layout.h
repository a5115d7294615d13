/* Offsets of the fields of Lua's structures (5.1 to 5.4, as lua.org has it) that lead from a thread to its frames, and from a frame to its
 * names, in bytes. Plain C: tables of processes hold one (runtime/language.h).
 *
 * A call of luaV_execute(L, …) is an activation. L has a list of calls (CallInfo), the innermost first; those of Lua functions tell which of
 * them luaV_execute has begun with. Where luaV_execute keeps L depends on the compiler: in rbp, or its callers have L in a known place.
 *
 * Sources: lobject.h, lstate.h, lfunc.h, ldebug.c by version. */
#pragma once

#include <linux/types.h>

enum {
  LUA_TYPE = 8, /* of objects: a byte */
  LUA_THREAD = 8,
  LUA_STATE_READ = 96,
  LUA_CLOSURE_READ = 40,
  LUA_MAX_SITES = 16,
  LUA_TEXT_SHORT = 4,       /* type of a short string, from 5.3 on */
  LUA_TEXT_SHORT_LENGTH = 11,
  LUA_TEXT_LENGTH = 16,
  LUA_TEXT = 24,
  LUA_CALL = 28, /* instructions of 5.1 that go on in the same luaV_execute: OP_CALL, OP_TAILCALL */
  LUA_TAIL_CALL = 29,
  LUA_NO_POSITION = 0xffffff,
};

struct lua_layout {
  __u16 version; /* 501 */
  __u16 state_global;
  __u16 state_call;       /* the innermost call */
  __u16 state_first_call; /* the outermost one, which is no function; 5.1: its address */
  __u16 state_pc;         /* of the innermost call; 0: the call has it */
  __u16 call_bytes;
  __u16 call_function; /* address of the stack slot that holds the function */
  __u16 call_previous; /* 0: it is in front of this one */
  __u16 call_pc;
  __u16 call_status;
  __u16 is_fresh;  /* bit of call_status: luaV_execute began with it */
  __u16 continues; /* or it did not */
  __u16 closure_tag; /* of a slot with a Lua function: the byte at 8 */
  __u16 closure_type;
  __u16 closure_is_c; /* 0: the type tells */
  __u16 closure_proto;
  __u16 proto_type;
  __u16 proto_instructions; /* their number */
  __u16 proto_code;
  __u16 proto_lines;
  __u16 proto_absolute_count; /* 0: lines are numbers; else distances, with some lines in full */
  __u16 proto_absolute_lines;
  __u16 proto_file;
  __u16 proto_first_line;
  __u16 proto_bytes;
  __u16 state_is_in_rbp;
  __u16 sites; /* calls of luaV_execute */
  struct {
    __s32 address; /* to which it returns, from the begin of luaV_execute on */
    __s32 slot;    /* where L is then, from the CFA of luaV_execute on */
  } site[LUA_MAX_SITES];
};

/* Of a walk. */
struct lua_memory {
  __u64 call;
  __u64 registers[6]; /* of the innermost frame: those that may hold where luaV_execute is */
  __u32 activation;
  __u32 wanted; /* activation whose state is read */
  __u32 is_entered;
  __u32 is_empty;
  __u32 is_closed;  /* an activation without Lua frames has just ended */
  __u32 is_top;     /* no call of this state was met yet */
  __u32 is_inside;  /* 5.1: a Lua function was met before */
  __u8 state[128] __attribute__((aligned(8)));
  __u8 call_info[128] __attribute__((aligned(8)));
  __u8 slot[16] __attribute__((aligned(8)));
  __u8 closure[64] __attribute__((aligned(8)));
  __u8 proto[128] __attribute__((aligned(8)));
};
