/* Frames of JavaScript in the kernel. They are among the native ones, and all keep a frame pointer: only the entry of a frame is made here, and the
 * caller found of code that was interrupted before it had made its frame, or after. Code of V8 is what no table of unwinding tells of. */
#include "language.h"
#include "rules.h"

#include "runtime/node_walk.h"

/* Is there code of V8 at the address, as w->pc has it? */
inline_always int is_made_by_v8(struct walk *w) { return !find_rule(w) && w->rule.cfa == UNWIND_CFA_NO_TABLE; }

/* Sets the caller of code that was interrupted without a frame: its return address is at the stack pointer, or above the rbp that it has just put there.
 * What else is there are values of JavaScript, which are no addresses of code. */
__attribute__((noinline)) int acu_node_leaf(__u64 slot) {
  struct language_turn t;
  if (!find_turn(slot, &t)) return 0;
  struct walk *w = t.w;
  struct node_memory *m = &w->language_walk.node;
  if (language_read(m->top, 16, m->sp)) return 0;
  const int has_pushed = m->top[0] == m->bp;
  m->next_pc = has_pushed ? m->top[1] : m->top[0];
  m->next_sp = m->sp + (has_pushed ? 16 : 8);
  m->next_bp = m->bp;
  w->pc = m->next_pc;
  w->is_exact = 0;
  if (!is_made_by_v8(w)) m->next_pc = 0;
  w->pc = m->pc;
  w->is_exact = 1;
  return 0;
}

__attribute__((noinline)) int acu_node_read(__u64 slot) {
  struct language_turn t;
  if (!find_turn(slot, &t)) return 0;
  node_frame(&t.table->node, &t.w->language_walk);
  return 0;
}

/* Sets w->object to the names of the frame that was read last; acu reads what else there is. */
__attribute__((noinline)) int acu_node_object(__u64 slot) {
  struct language_turn t;
  if (!find_turn(slot, &t)) return 0;
  node_describe(&t.table->node, &t.w->language_walk, &t.w->object.object);
  return 0;
}

/* Puts the frame at pc behind the others; 0: it is none of V8's. */
__attribute__((noinline)) int acu_node_frame(__u64 slot) {
  __u32 key = slot;
  struct walk *w = map_lookup(acu_walks, &key);
  if (!w) return 0;
  struct node_memory *m = &w->language_walk.node;
  m->next_pc = 0;
  if (!is_made_by_v8(w)) return 0;
  m->pc = w->pc;
  m->sp = w->sp;
  m->bp = w->bp;
  m->is_exact = w->is_exact;
  if (w->is_exact) acu_node_leaf(slot);
  acu_node_read(slot);
  const struct language_walk *l = &w->language_walk;
  add_word(w, STACK_TAGGED << STACK_MARK_SHIFT | LANGUAGE_TAG_NODE << STACK_TAG_SHIFT | language_entry(l));
  add_word(w, l->code);
  w->stack.mixed++;
  if (l->check && is_new_object(w)) {
    acu_node_object(slot);
    acu_send_object(slot);
  }
  return 1;
}
