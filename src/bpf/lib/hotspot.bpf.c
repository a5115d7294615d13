/* Frames of Java in the kernel. They are among the native ones: compiled methods have no unwinding tables, so the walker asks here for each frame in
 * the JVM's code, both for its entry and for its caller. */
#include "language.h"
#include "rules.h"

#include "runtime/hotspot_walk.h"

/* As rules are: an entry holds the blob of an address only if both words belong together. */
inline_always int find_kept_blob(struct walk *w) {
  __u64 check;
  const struct walk_rule *kept = place_of(w, w->pc, &check);
  w->language_walk.hotspot.blob = kept->rule;
  return (kept->check ^ w->language_walk.hotspot.blob) == check;
}

inline_always void keep_blob(struct walk *w) {
  __u64 check;
  struct walk_rule *kept = place_of(w, w->pc, &check);
  kept->rule = w->language_walk.hotspot.blob;
  kept->check = check ^ kept->rule;
}

/* Visible, so that the verifier goes through it once. */
__attribute__((noinline)) int acu_hotspot_hop(__u64 slot) {
  __u32 key = slot;
  struct walk *w = map_lookup(acu_walks, &key);
  return w ? hotspot_hop(&w->language_walk.hotspot) : 1;
}

/* Reads the blob that pc is in. */
__attribute__((noinline)) int acu_hotspot_blob(__u64 slot) {
  struct language_turn t;
  if (!find_turn(slot, &t)) return 0;
  const struct hotspot_layout *l = &t.table->hotspot;
  struct hotspot_memory *m = &t.w->language_walk.hotspot;
  m->is_known = find_kept_blob(t.w);
  if (m->is_known && !hotspot_read_blob(l, m)) return 0;
  if (hotspot_find_heap(l, m)) return 0;
  for (int i = 0; i < HOTSPOT_MAX_HOPS; i++)
    if (acu_hotspot_hop(slot)) break;
  if (!m->is_known) return 0;
  hotspot_block(l, m);
  m->is_known = !hotspot_read_blob(l, m);
  if (m->is_known) keep_blob(t.w);
  return 0;
}

/* Sets w->object to the names of the frame that was read last; acu reads what else there is. */
__attribute__((noinline)) int acu_hotspot_object(__u64 slot) {
  struct language_turn t;
  if (!find_turn(slot, &t)) return 0;
  hotspot_describe(&t.table->hotspot, &t.w->language_walk, &t.w->object.object);
  return 0;
}

/* Reads the frame at pc. Apart from what calls it, so that each function needs little of the kernel's stack. */
__attribute__((noinline)) int acu_hotspot_read(__u64 slot) {
  struct language_turn t;
  if (!find_turn(slot, &t)) return 0;
  hotspot_frame(&t.table->hotspot, &t.w->language_walk);
  return 0;
}

/* Takes what is known of the frame at pc; 1: its blob is to be found. */
__attribute__((noinline)) int acu_hotspot_begin(__u64 slot) {
  struct language_turn t;
  if (!find_turn(slot, &t)) return 0;
  struct walk *w = t.w;
  struct hotspot_memory *m = &w->language_walk.hotspot;
  const struct hotspot_layout *l = &t.table->hotspot;
  m->pc = w->pc;
  m->sp = w->sp;
  m->bp = w->bp;
  m->is_exact = w->is_exact;
  m->r13 = w->stack.count ? 0 : w->registers[ARCH_R13];
  m->is_known = 0;
  m->next_pc = 0;
  w->language_walk.code = 0;
  return w->pc - l->interpreter_begin >= l->interpreter_end - l->interpreter_begin;
}

/* Puts the frame at pc behind the others, and finds its caller. */
__attribute__((noinline)) int acu_hotspot_frame(__u64 slot) {
  __u32 key = slot;
  struct walk *w = map_lookup(acu_walks, &key);
  if (!w) return 0;
  if (acu_hotspot_begin(slot)) acu_hotspot_blob(slot);
  acu_hotspot_read(slot);
  const struct language_walk *l = &w->language_walk;
  if (!l->code) {
    add_word(w, w->pc);
    return 0;
  }
  add_word(w, STACK_TAGGED << STACK_MARK_SHIFT | LANGUAGE_TAG_JAVA << STACK_TAG_SHIFT | language_entry(l));
  add_word(w, l->code);
  w->stack.mixed++;
  if (is_new_object(w)) {
    acu_hotspot_object(slot);
    acu_send_object(slot);
  }
  return 0;
}
