/* From the C frames of LuaJIT's interpreter to its Lua frames, one after the other, innermost first: what lj_debug_frame() and
 * debug_framepc() of lj_debug.c do, with each step checked. Plain C, for the walker in the kernel (bpf/lib/luajit.bpf.c). Whoever includes it
 * defines language_read (see python_walk.h).
 *
 * The native walk gives the stack pointers of the interpreter's C frames (evaluation_rsp). A turn does one frame:
 *
 *   enter    the state of the next C frame that is wanted, with its innermost frame
 *   settle   which C frame the next Lua frame belongs to
 *   frame    the function, and the link to its caller
 *
 * A frame counts only if its slot holds a function with a prototype, and where a link leads back into a Lua function, that address is in its
 * bytecode; else the walk ends as not readable. */
#pragma once

#include "runtime/language_copy.h"

#define LUAJIT_REFERENCE ((1ull << 47) - 1)

language_inline int luajit_fail(struct language_walk *w) {
  w->end = LANGUAGE_UNREADABLE;
  return 1;
}

/* Reads the function in the slot of the frame at `base`, and the prototype of a Lua function: 1; of a C function: 0;
 * -1: it is none; -2: there is no frame. */
language_inline int luajit_read_function(struct luajit_memory *m, __u64 base) {
  if (language_read(m->slots, 32, base - 32)) return -2;
  const __u64 slot = language_word(m->slots, 16);
  if (slot >> 47 != (~(__u64)LUAJIT_FUNCTION & 0x1ffff)) return -1;
  if (language_read(m->function, LUAJIT_FUNCTION_BYTES, slot & LUAJIT_REFERENCE)) return -1;
  if (m->function[LUAJIT_TYPE] != LUAJIT_FUNCTION) return -1;
  if (m->function[LUAJIT_FUNCTION_KIND]) return 0;
  if (language_read(m->proto, LUAJIT_PROTO_BYTES, language_word(m->function, LUAJIT_FUNCTION_PC) - LUAJIT_PROTO_BYTES)) return -1;
  return m->proto[LUAJIT_TYPE] == LUAJIT_PROTO ? 1 : -1;
}

/* The position that goes on at `pc`, of the function that was read last. */
language_inline __u64 luajit_position(const struct luajit_memory *m, __u64 pc) {
  const __u64 distance = pc - language_word(m->function, LUAJIT_FUNCTION_PC);
  const __u64 n = language_half(m->proto, LUAJIT_PROTO_INSTRUCTIONS);
  if (distance & 3 || distance > 4 * n) return LUAJIT_NO_POSITION;
  return distance ? (distance >> 2) - 1 : 0;
}

/* Reads the lua_State; 0: it is one. */
language_inline int luajit_read_state(struct language_walk *w, __u64 state) {
  struct luajit_memory *m = &w->luajit;
  w->thread = state;
  return !state || state & 7 || language_read(m->state, LUAJIT_STATE_BYTES, state) || m->state[LUAJIT_TYPE] != LUAJIT_THREAD ||
         !language_word(m->state, LUAJIT_STATE_GLOBAL);
}

language_inline int luajit_is_in_stack(const struct luajit_memory *m, __u64 slot) {
  return !(slot & 7) && slot > language_word(m->state, LUAJIT_STATE_STACK) + 8 && slot <= language_word(m->state, LUAJIT_STATE_TOP_LIMIT) + 1024;
}

/* Whether the frame at `base`, whose function was read, is the one that the interpreter is in: its register PC (rbx) is in the function's
 * bytecode, of which C functions have one instruction, or it is that of the frame's link, as in calls and returns. */
language_inline int luajit_fits(struct language_walk *w, __u64 base, int is_lua, __u64 pc) {
  struct luajit_memory *m = &w->luajit;
  m->is_passed = 0;
  w->frame = base;
  m->pc = pc;
  if (is_lua ? luajit_position(m, pc) != LUAJIT_NO_POSITION : pc - language_word(m->function, LUAJIT_FUNCTION_PC) <= 4) return 1;
  m->is_passed = is_lua; /* it is about to begin, or has ended */
  return language_word(m->slots, 24) == pc;
}

language_inline int luajit_holds(struct language_walk *w, __u64 base) {
  struct luajit_memory *m = &w->luajit;
  if (!luajit_is_in_stack(m, base)) return 0;
  const int is_lua = luajit_read_function(m, base);
  if (is_lua >= 0) return luajit_fits(w, base, is_lua, m->rbx);
  /* A result is in the slot of the function already. */
  m->is_passed = 1;
  w->frame = base;
  return is_lua == -1 && m->rbx && !(m->rbx & 3) && language_word(m->slots, 24) == m->rbx;
}

/* The same where the interpreter has called a function in C, with its base in rbp: rbx is as it was, or the function saved it first. */
language_inline int luajit_holds_call(struct language_walk *w, __u64 base, __u64 rsp) {
  enum { most = 6 }; /* registers that functions save */
  struct luajit_memory *m = &w->luajit;
  const int is_lua = luajit_read_function(m, base);
  if (is_lua < 0) return 0;
  if (luajit_fits(w, base, is_lua, m->rbx)) return 1;
  if (!language_read(m->native, 8 * most, rsp - 8 - 8 * most))
    for (int i = most - 1; i >= 0; i--)
      if (luajit_fits(w, base, is_lua, language_word(m->native, 8 * i))) return 1;
  m->is_passed = 0;
  return !is_lua;
}

/* The C frame of the state that runs, if `dispatch` is the interpreter's register of that name, and the frame is not far above `rsp`; 0: it is
 * not. */
language_inline __u64 luajit_cframe(const struct luajit_layout *l, struct language_walk *w, __u64 rsp) {
  const __u64 largest = 8192; /* from there on: a trace's own, and those of functions that it has called */
  const __u64 dispatch = w->luajit.dispatch;
  if (!dispatch || dispatch & 7 || language_read(&w->thread, 8, dispatch + l->state) || luajit_read_state(w, w->thread)) return 0;
  if (language_word(w->luajit.state, LUAJIT_STATE_GLOBAL) != w->luajit.dispatch + l->global) return 0;
  const __u64 cframe = language_word(w->luajit.state, LUAJIT_STATE_CFRAME) & ~(__u64)LUAJIT_CFRAME_FLAGS;
  return cframe & 7 || cframe < rsp || cframe - rsp > largest ? 0 : cframe;
}

/* Sets `rbx` to where the trace that runs begins; 0: it is not there. */
language_inline int luajit_find_start(const struct luajit_layout *l, struct luajit_memory *m) {
  __s32 number = 0;
  if (language_read(&number, 4, m->dispatch + l->trace_number) || number <= 0 || language_read(&m->rbx, 8, m->dispatch + l->traces)) return 0;
  if (language_read(&m->rbx, 8, m->rbx + 8 * (__u64)number) || language_read(&m->rbx, 8, m->rbx + LUAJIT_TRACE_START)) return 0;
  m->rbx += 4;
  return 1;
}

/* Sets `jit_base` if a trace runs, and where it begins; 0: none does. */
language_inline int luajit_find_trace(const struct luajit_layout *l, struct luajit_memory *m) {
  if (language_read(&m->jit_base, 8, m->dispatch + l->jit_base)) m->jit_base = 0;
  if (!m->jit_base || !luajit_find_start(l, m)) m->rbx = 0;
  return m->jit_base != 0;
}

/* Sets the innermost frame of the innermost state. The interpreter keeps its base in rdx, and stores it in the state before it calls what may
 * need it; before other calls it puts it in rbp. Else rbp is the state, or anything. */
language_inline int luajit_find_innermost(struct language_walk *w) {
  struct luajit_memory *m = &w->luajit;
  const __u64 base = language_word(m->state, LUAJIT_STATE_BASE);
  if (w->evaluation_is == LANGUAGE_INTERRUPTED) return 0;
  if (w->evaluation_is == LANGUAGE_RUNS) return luajit_holds(w, m->rdx) || luajit_holds(w, m->rbp) || luajit_holds(w, base);
  if (m->rbp != w->thread && luajit_is_in_stack(m, m->rbp)) return luajit_holds_call(w, m->rbp, w->evaluation_rsp[0]);
  w->frame = base;
  return 1;
}

/* Enters the state of the next activation. */
language_inline int luajit_enter(struct language_walk *w) {
  struct luajit_memory *m = &w->luajit;
  if (m->activation >= w->evaluations) {
    w->end = LANGUAGE_COMPLETE;
    return 1;
  }
  m->entered = m->activation;
  m->is_entered = 1;
  m->is_settled = m->is_wanted = m->is_passed = m->must_hold = 0;
  m->cframe = 0;
  m->pc = 0;
  __u64 state = 0;
  if (language_read(&state, 8, w->evaluation_rsp[m->activation & (LANGUAGE_MAX_EVALUATIONS - 1)] + LUAJIT_CFRAME_STATE)) return 0;
  if (luajit_read_state(w, state)) return 0;
  w->frame = language_word(m->state, LUAJIT_STATE_BASE);
  if (m->activation == 0) {
    if (m->jit_base)
      w->frame = m->jit_base, m->pc = m->rbx;
    else if (!luajit_find_innermost(w))
      return luajit_fail(w);
  }
  m->cframe = language_word(m->state, LUAJIT_STATE_CFRAME) & ~(__u64)LUAJIT_CFRAME_FLAGS;
  return 0;
}

/* Behind the last frame of an activation. */
language_inline void luajit_close(struct luajit_memory *m) {
  if (!m->is_wanted) return;
  m->is_closed = m->is_empty;
  m->is_wanted = 0;
  m->activation++;
}

/* Behind the last frame of a state. */
language_inline void luajit_leave(struct luajit_memory *m) {
  luajit_close(m);
  m->is_entered = 0;
  if (m->activation != m->entered) return;
  m->is_closed = 1;
  m->activation++;
}

/* Whether the next Lua frame belongs to `cframe`; a C frame that only runs C code has none. */
language_inline int luajit_settle(struct language_walk *w) {
  struct luajit_memory *m = &w->luajit;
  if (language_read(m->native, LUAJIT_CFRAME_PREVIOUS + 8, m->cframe)) return luajit_fail(w);
  m->previous = language_word(m->native, LUAJIT_CFRAME_PREVIOUS) & ~(__u64)LUAJIT_CFRAME_FLAGS;
  m->is_wanted = m->cframe == w->evaluation_rsp[m->activation & (LANGUAGE_MAX_EVALUATIONS - 1)];
  m->is_empty = w->opens = 1;
  const __s32 results = language_half(m->native, LUAJIT_CFRAME_RESULTS);
  if (results < 0 && w->frame - 8 < language_word(m->state, LUAJIT_STATE_STACK) - (__s64)results) {
    luajit_close(m);
    m->cframe = m->previous;
    return 0;
  }
  if (!m->pc) m->pc = language_word(m->native, LUAJIT_CFRAME_PC);
  m->is_settled = 1;
  return 0;
}

/* What identifies the prototype that was read. */
language_inline __u32 luajit_check(const struct luajit_memory *m) {
  __u64 hash = language_mix(language_word(m->proto, LUAJIT_PROTO_FILE), language_word(m->proto, LUAJIT_PROTO_FIRST_LINE));
  hash = language_mix(hash, language_half(m->proto, LUAJIT_PROTO_INSTRUCTIONS));
  return language_mix(hash, language_word(m->proto, LUAJIT_PROTO_LINE_TABLE)) & LANGUAGE_CHECK_MASK;
}

/* From the frame whose slots were read to its caller. */
language_inline int luajit_to_caller(struct language_walk *w) {
  struct luajit_memory *m = &w->luajit;
  const __u64 link = language_word(m->slots, 24), distance = link & ~(__u64)LUAJIT_FRAME_TYPES;
  m->is_passed = m->must_hold = 0;
  m->pc = 0;
  if (!(link & 3)) {
    __u32 call = 0;
    if (language_read(&call, 4, link - 4)) return luajit_fail(w);
    w->frame -= 8 * (2 + (__u64)(call >> 8 & 0xff));
    m->pc = link;
    m->must_hold = 1;
    return 0;
  }
  if (!distance || distance > w->frame) return luajit_fail(w);
  w->frame -= distance;
  __u32 type = link & LUAJIT_FRAME_TYPES;
  if (type == LUAJIT_FRAME_CONTINUATION) {
    if (language_word(m->slots, 0) == LUAJIT_CALLBACK)
      type = LUAJIT_FRAME_C;
    else
      m->pc = language_word(m->slots, 8);
  }
  if (type == LUAJIT_FRAME_C || type == LUAJIT_FRAME_C_PROTECTED) {
    luajit_close(m);
    m->cframe = m->previous;
    m->is_settled = 0;
  }
  m->is_passed = type == LUAJIT_FRAME_VARIADIC;
  return 0;
}

/* Reads a frame, and goes on to its caller; 1: there is none, and `end` is why. `is_closed`: instead an activation without frames ended. */
language_inline int luajit_turn(struct language_walk *w) {
  struct luajit_memory *m = &w->luajit;
  w->code = 0;
  m->is_closed = 0;
  if (!m->is_entered) return luajit_enter(w);
  if (!m->cframe || w->frame <= language_word(m->state, LUAJIT_STATE_STACK) + 16) {
    luajit_leave(m);
    return 0;
  }
  if (!m->is_settled) return luajit_settle(w);
  const int is_lua = luajit_read_function(m, w->frame);
  /* The lowest frame, and those that stand for errors, hold the state itself. */
  if (is_lua == -2 || (is_lua < 0 && !m->is_passed && language_word(m->slots, 16) >> 47 != (~(__u64)LUAJIT_THREAD & 0x1ffff))) return luajit_fail(w);
  if (is_lua == 1 && !m->is_passed) {
    w->position = luajit_position(m, m->pc);
    if (m->must_hold && w->position == LUAJIT_NO_POSITION) return luajit_fail(w);
    if (m->is_wanted) {
      w->code = language_word(m->function, LUAJIT_FUNCTION_PC) - LUAJIT_PROTO_BYTES;
      w->check = luajit_check(m);
      w->is_first = w->opens;
      w->opens = m->is_empty = 0;
    }
  } else if (m->must_hold && is_lua != 1) {
    return luajit_fail(w);
  }
  return luajit_to_caller(w);
}

/* The chunk's name and the lines of the prototype that was read last. */
language_inline void luajit_describe(const struct luajit_memory *m, struct language_object *object) {
  language_copy(object->name, LANGUAGE_NAME_BYTES, language_word(m->proto, LUAJIT_PROTO_FILE));
  language_copy(object->lines, LANGUAGE_LINES_BYTES, language_word(m->proto, LUAJIT_PROTO_LINE_TABLE));
}

language_inline void luajit_begin(struct language_walk *w) {
  w->luajit.activation = 0;
  w->luajit.is_entered = 0;
}
