/* Frames of LuaJIT in the kernel, and the way out of its machine code: traces have no unwinding tables, and parts of the interpreter have their
 * stack pointer elsewhere than its only entry in .eh_frame says. In both the interpreter's C frame is where the running state has it. */
#include "language.h"

#include "runtime/luajit_walk.h"

/* Activations need turns of their own, so do C functions between Lua functions. */
enum { luajit_turns = 4 * LANGUAGE_MAX_FRAMES, largest_machine_frame = 8192, far_pages = 16 };

static long luajit_frame_turn(__u32 index, void *context) {
  struct language_turn *t = context;
  struct language_walk *l = &t->w->language_walk;
  if (luajit_turn(l)) return 1;
  if (l->luajit.is_closed) {
    l->check = l->position = 0;
    l->is_first = 1;
    return add_language_frame(t->w, LANGUAGE_TAG_LUA);
  }
  if (!l->code) return 0;
  if (add_language_frame(t->w, LANGUAGE_TAG_LUA)) return 1;
  struct walk_object *record = new_object(t->w);
  if (!record) return 0;
  read_kernel(record->object.object, LUAJIT_PROTO_BYTES, l->luajit.proto);
  luajit_describe(&l->luajit, &record->object);
  send_object(record);
  return 0;
}

__attribute__((noinline)) int acu_luajit(__u64 slot) {
  __u32 key = slot;
  struct walk *w = map_lookup(acu_walks, &key);
  if (!w) return 0;
  struct language_turn t = {w, map_lookup(acu_languages, &w->language)};
  if (!t.table) return 0;
  struct language_walk *l = &w->language_walk;
  l->luajit.rdx = w->registers[ARCH_RDX];
  l->luajit.rbx = w->registers[ARCH_RBX];
  l->luajit.rbp = l->evaluation_rbp;
  l->evaluations = w->evaluations;
  l->luajit.jit_base = 0;
  luajit_begin(l);
  l->end = LANGUAGE_TOO_DEEP;
  loop(luajit_turns, luajit_frame_turn, &t, 0);
  return 0;
}
