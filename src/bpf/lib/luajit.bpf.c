/* Frames of LuaJIT in the kernel, and the way out of its machine code: traces have no unwinding tables, and parts of the interpreter have their
 * stack pointer elsewhere than its only entry in .eh_frame says. In both the interpreter's C frame is where the running state has it. */
#include "language.h"
#include "rules.h"

#include "runtime/luajit_walk.h"

/* Activations need turns of their own, so do C functions between Lua functions. */
enum { luajit_turns = 4 * LANGUAGE_MAX_FRAMES };

/* Sets w->object to the names of the frame that was read last. */
__attribute__((noinline)) int acu_luajit_object(__u64 slot) {
  struct language_turn t;
  if (!find_turn(slot, &t)) return 0;
  struct language_object *object = &t.w->object.object;
  const struct language_walk *l = &t.w->language_walk;
  read_kernel(object->object, LUAJIT_PROTO_BYTES, l->luajit.proto);
  luajit_describe(&l->luajit, object);
  return 0;
}

static long luajit_frame_turn(__u32 index, void *context) {
  struct language_turn *t = context;
  struct language_walk *l = &t->w->language_walk;
  if (luajit_turn(l)) return 1;
  if (l->luajit.is_closed) return add_closed_activation(t->w, LANGUAGE_TAG_LUA);
  return add_call(t->w, LANGUAGE_TAG_LUA, acu_luajit_object);
}

inline_always int has_table(struct walk *w) { return !find_rule(w) && w->rule.cfa != UNWIND_CFA_NO_TABLE; }

/* The C frame of the interpreter, above sp; 0: it is not known. The innermost frame has DISPATCH in r14; where other code was called, which may
 * have changed r14, what the thread had before is tried. */
inline_always __u64 find_cframe(struct walk *w, const struct luajit_layout *layout) {
  struct language_walk *l = &w->language_walk;
  l->luajit.dispatch = w->registers[ARCH_R14];
  __u64 cframe = luajit_cframe(layout, l, w->sp);
  if (cframe) {
    l->thread = l->luajit.dispatch;
    keep_thread(l);
  } else if (w->stack.count && find_kept_thread(l)) {
    l->luajit.dispatch = l->thread;
    cframe = luajit_cframe(layout, l, w->sp);
  }
  return cframe;
}

/* Before the frame at pc is added. Of machine code and of what leaves it, sp becomes that of the interpreter's C frame, which it runs on; a trace
 * is walked as the interpreter. Small functions within the interpreter have a return address of their own there. */
__attribute__((noinline)) int acu_luajit_frame(__u64 slot) {
  __u32 key = slot;
  struct walk *w = map_lookup(acu_walks, &key);
  if (!w) return 0;
  const struct language_table *table = element(acu_languages, w->language);
  if (!table || !table->luajit.global) return 0;
  const struct luajit_layout *layout = &table->luajit;
  struct language_walk *l = &w->language_walk;
  const __u64 begin = w->evaluation[0].begin, at = w->pc - begin - (w->is_exact ? 0 : 1);
  const int is_interpreter = at < w->evaluation[0].end - begin, leaves = at - layout->leave < layout->leave_bytes,
            is_innermost = !w->stack.count;
  if (is_interpreter ? !leaves && !is_innermost : has_table(w)) return 0;
  const __u64 cframe = find_cframe(w, layout);
  if (!cframe) return 0;
  if (is_interpreter) {
    if (leaves || cframe == w->sp + 8) w->sp = cframe;
    return 0;
  }
  if (!luajit_find_trace(layout, &l->luajit)) return 0;
  w->pc = begin + 1;
  w->sp = cframe;
  w->is_exact = 0;
  return 0;
}

__attribute__((noinline)) int acu_luajit(__u64 slot) {
  struct language_turn t;
  if (!find_turn(slot, &t)) return 0;
  const struct walk *w = t.w;
  struct language_walk *l = &t.w->language_walk;
  l->luajit.rdx = w->registers[ARCH_RDX];
  if (!l->luajit.jit_base) l->luajit.rbx = w->registers[ARCH_RBX];
  l->luajit.rbp = l->evaluation_rbp[0];
  l->evaluations = w->evaluations;
  luajit_begin(l);
  l->end = LANGUAGE_TOO_DEEP;
  loop(luajit_turns, luajit_frame_turn, &t, 0);
  return 0;
}
