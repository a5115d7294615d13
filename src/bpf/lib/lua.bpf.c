/* Frames of Lua in the kernel. */
#include "language.h"

#include "runtime/lua_walk.h"

enum { lua_turns = 4 * LANGUAGE_MAX_FRAMES };

static long lua_frame(__u32 index, void *context) {
  struct language_turn *t = context;
  struct language_walk *l = &t->w->language_walk;
  if (lua_turn(t->table, l)) return 1;
  if (l->lua.is_closed) {
    l->check = l->position = 0;
    l->is_first = 1;
    return add_language_frame(t->w, LANGUAGE_TAG_LUA);
  }
  if (!l->code) return 0;
  if (add_language_frame(t->w, LANGUAGE_TAG_LUA)) return 1;
  struct walk_object *record = new_object(t->w);
  if (!record) return 0;
  read_kernel(record->object.object, sizeof l->lua.proto, l->lua.proto);
  lua_describe(&t->table->lua, &l->lua, &record->object);
  send_object(record);
  return 0;
}

__attribute__((noinline)) int acu_lua(__u64 slot) {
  __u32 key = slot;
  struct walk *w = map_lookup(acu_walks, &key);
  if (!w) return 0;
  struct language_turn t = {w, map_lookup(acu_languages, &w->language)};
  if (!t.table) return 0;
  struct language_walk *l = &w->language_walk;
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
