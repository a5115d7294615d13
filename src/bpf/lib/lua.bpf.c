/* Frames of Lua in the kernel. */
#include "language.h"

#include "runtime/lua_walk.h"

/* Of the walk in that slot; visible, so that the verifier goes through it once. */
__attribute__((noinline)) int acu_lua_state(__u64 slot) {
  struct language_turn t;
  return find_turn(slot, &t) ? lua_read_state(t.table, &t.w->language_walk) : 1;
}

inline_always int lua_find_state(const struct language_table *table, struct language_walk *l) {
  return acu_lua_state(((struct walk *)((__u8 *)l - __builtin_offsetof(struct walk, language_walk)))->slot);
}

enum { lua_turns = 4 * LANGUAGE_MAX_FRAMES };

/* Sets w->object to the names of the frame that was read last. */
__attribute__((noinline)) int acu_lua_object(__u64 slot) {
  struct language_turn t;
  if (!find_turn(slot, &t)) return 0;
  struct language_object *object = &t.w->object.object;
  const struct language_walk *l = &t.w->language_walk;
  read_kernel(object->object, sizeof l->lua.proto, l->lua.proto);
  lua_describe(&t.table->lua, &l->lua, object);
  return 0;
}

static long lua_frame(__u32 index, void *context) {
  struct language_turn *t = context;
  struct language_walk *l = &t->w->language_walk;
  if (lua_turn(t->table, l)) return 1;
  if (l->lua.is_closed) return add_closed_activation(t->w, LANGUAGE_TAG_LUA);
  return add_call(t->w, LANGUAGE_TAG_LUA, acu_lua_object);
}

__attribute__((noinline)) int acu_lua(__u64 slot) {
  struct language_turn t;
  if (!find_turn(slot, &t)) return 0;
  const struct walk *w = t.w;
  struct language_walk *l = &t.w->language_walk;
  l->evaluations = w->evaluations;
  l->lua.registers[0] = w->registers[ARCH_RBX];
  l->lua.registers[1] = w->registers[ARCH_R13];
  l->lua.registers[2] = w->registers[ARCH_R14];
  l->lua.registers[3] = w->registers[ARCH_R12];
  l->lua.registers[4] = w->registers[ARCH_R15];
  l->lua.registers[5] = w->registers[ARCH_RBP];
  lua_begin(l);
  l->end = LANGUAGE_TOO_DEEP;
  loop(lua_turns, lua_frame, &t, 0);
  return 0;
}
