/* From calls of luaV_execute to the frames of Lua, one after the other, innermost first. Plain C, for the walker in the kernel
 * (bpf/lib/lua.bpf.c). Whoever includes it defines language_read (see python_walk.h), and lua_find_state(), which calls lua_read_state(). The
 * native walk gives the CFA of each luaV_execute (evaluation_rsp) and its rbp. */
#pragma once

#include "runtime/language_copy.h"

/* Sets `thread` to the lua_State of the activation `wanted`, and reads it; 0: it is one. */
static int lua_find_state(const struct language_table *t, struct language_walk *w);

language_inline int lua_read_state(const struct language_table *t, struct language_walk *w) {
  const struct lua_layout *l = &t->lua;
  struct lua_memory *m = &w->lua;
  const __u32 at = m->wanted & (LANGUAGE_MAX_EVALUATIONS - 1);
  w->thread = l->state_is_in_rbp ? w->evaluation_rbp[at] : 0;
  if (!l->state_is_in_rbp) {
    const __u64 cfa = w->evaluation_rsp[at];
    __u64 address = 0;
    if (!cfa || language_read(&address, 8, cfa - 8)) return 1;
    address -= t->evaluation[0].begin;
    /* What is found is kept in memory: so the verifier sees one turn like the other. */
    for (int i = 0; i < LUA_MAX_SITES; i++)
      if (i < l->sites && address == (__u64)(__s64)l->site[i].address) w->thread = cfa + l->site[i].slot;
    if (!w->thread || language_read(&w->thread, 8, w->thread)) return 1;
  }
  return !w->thread || w->thread & 7 || language_read(m->state, LUA_STATE_READ, w->thread) || m->state[LUA_TYPE] != LUA_THREAD ||
         !language_word(m->state, l->state_global);
}

language_inline int lua_enter(const struct language_table *t, struct language_walk *w) {
  struct lua_memory *m = &w->lua;
  if (m->activation >= w->evaluations) {
    w->end = LANGUAGE_COMPLETE;
    return 1;
  }
  m->is_entered = m->is_empty = m->is_top = w->opens = 1;
  m->is_inside = 0;
  m->wanted = m->activation;
  m->call = lua_find_state(t, w) ? 0 : language_word(m->state, t->lua.state_call);
  return 0;
}

/* Reads the function of the call; 1: it is a Lua function, with its prototype; -1: it cannot be read. */
language_inline int lua_read_call(const struct lua_layout *l, struct language_walk *w) {
  struct lua_memory *m = &w->lua;
  if (language_read(m->call_info, l->call_bytes & 127, m->call)) return -1;
  if (language_read(m->slot, 16, language_word(m->call_info, l->call_function))) return -1;
  if (m->slot[8] != l->closure_tag) return 0;
  if (language_read(m->closure, LUA_CLOSURE_READ, language_word(m->slot, 0)) || m->closure[LUA_TYPE] != l->closure_type) return -1;
  if (l->closure_is_c && m->closure[l->closure_is_c & 63]) return 0;
  const __u64 size = l->proto_bytes == 128 ? 128 : l->proto_bytes & 127;
  w->code = language_word(m->closure, l->closure_proto);
  if (language_read(m->proto, size, w->code) || m->proto[LUA_TYPE] != l->proto_type) return -1;
  return 1;
}

language_inline __u64 lua_position(const struct lua_layout *l, const struct lua_memory *m, __u64 pc) {
  const __u64 distance = pc - language_word(m->proto, l->proto_code), n = language_half(m->proto, l->proto_instructions);
  if (distance & 3 || !distance || distance > 4 * n) return LUA_NO_POSITION;
  return (distance >> 2) - 1;
}

/* Where the function of the call that was read is. While luaV_execute itself runs, 5.1 and 5.4 have it in a register only. */
language_inline __u64 lua_find_position(const struct lua_layout *l, const struct language_walk *w) {
  const struct lua_memory *m = &w->lua;
  __u64 position;
  if (m->is_top && m->activation == 0 && w->evaluation_is != LANGUAGE_CALLS && (l->version == 501 || l->version == 504)) {
    for (int i = 0; i < 6; i++) {
      position = lua_position(l, m, m->registers[i]);
      if (position != LUA_NO_POSITION) return position;
    }
    return LUA_NO_POSITION;
  }
  return lua_position(l, m, m->is_top && l->state_pc ? language_word(m->state, l->state_pc) : language_word(m->call_info, l->call_pc));
}

language_inline __u32 lua_check(const struct lua_layout *l, const struct lua_memory *m) {
  __u64 hash = language_mix(language_word(m->proto, l->proto_file), language_half(m->proto, l->proto_first_line));
  hash = language_mix(hash, language_half(m->proto, l->proto_instructions));
  return language_mix(hash, language_word(m->proto, l->proto_lines)) & LANGUAGE_CHECK_MASK;
}

/* Behind the last frame of a luaV_execute: the next one of the same state goes on. Calls of a coroutine that was resumed have none any more,
 * until it returns to them: they go with the last one. */
language_inline void lua_cross(const struct language_table *t, struct language_walk *w) {
  struct lua_memory *m = &w->lua;
  const __u64 state = w->thread;
  m->wanted = m->activation + 1;
  if (m->wanted < w->evaluations && !lua_find_state(t, w) && w->thread == state) {
    m->activation++;
    w->opens = 1;
  }
  w->thread = state;
}

/* Reads a call, and goes on to its caller; 1: there is none, and `end` is why. `is_closed`: instead an activation without frames ended. */
language_inline int lua_turn(const struct language_table *t, struct language_walk *w) {
  const struct lua_layout *l = &t->lua;
  struct lua_memory *m = &w->lua;
  w->code = 0;
  m->is_closed = 0;
  if (!m->is_entered) return lua_enter(t, w);
  const __u64 first = l->call_previous ? w->thread + l->state_first_call : language_word(m->state, l->state_first_call);
  if (!m->call || m->call == first) {
    m->is_closed = m->is_empty;
    m->is_entered = 0;
    m->activation++;
    return 0;
  }
  const int is_lua = lua_read_call(l, w);
  if (is_lua < 0) {
    w->end = LANGUAGE_UNREADABLE;
    return 1;
  }
  const __u64 call = m->call;
  m->call = l->call_previous ? language_word(m->call_info, l->call_previous) : call - l->call_bytes;
  if (is_lua) {
    w->position = lua_find_position(l, w);
    if (w->position == LUA_NO_POSITION && !m->is_top) {
      w->code = 0;
      w->end = LANGUAGE_UNREADABLE;
      return 1;
    }
  } else {
    w->code = 0;
  }
  m->is_top = 0;
  if (!l->call_previous) {
    /* 5.1: the call before belongs to the same luaV_execute if this one's instruction is a plain call. */
    __u32 instruction = 0;
    if (m->is_inside) {
      const int is_read = is_lua && !language_read(&instruction, 4, language_word(m->call_info, l->call_pc) - 4);
      const __u32 operation = instruction & 63;
      if (!is_read || (operation != LUA_CALL && operation != LUA_TAIL_CALL)) lua_cross(t, w);
    }
    m->is_inside = is_lua;
  }
  if (!is_lua) return 0;
  w->check = lua_check(l, m);
  w->is_first = w->opens;
  w->opens = m->is_empty = 0;
  if (l->call_previous) {
    const __u32 status = language_half(m->call_info, l->call_status & ~3) >> 8 * (l->call_status & 3) & 0xffff;
    if (l->is_fresh ? status & l->is_fresh : !(status & l->continues)) lua_cross(t, w);
  }
  return 0;
}

/* What names the prototype that was read last. */
language_inline void lua_describe(const struct lua_layout *l, const struct lua_memory *m, struct language_object *object) {
  language_copy(object->name, LANGUAGE_NAME_BYTES, language_word(m->proto, l->proto_file));
  language_copy(object->lines, LANGUAGE_LINES_BYTES, language_word(m->proto, l->proto_lines));
  if (l->proto_absolute_count) language_copy(object->file, LANGUAGE_FILE_BYTES, language_word(m->proto, l->proto_absolute_lines));
}

language_inline void lua_begin(struct language_walk *w) {
  w->lua.activation = 0;
  w->lua.is_entered = 0;
}
