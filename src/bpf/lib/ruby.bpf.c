/* Frames of CRuby in the kernel, and the way out of the machine code that it makes of functions (YJIT). */
#include "language.h"
#include "rules.h"

#include "runtime/ruby_walk.h"

static long ruby_thread(__u32 index, void *context) {
  struct language_turn *t = context;
  return ruby_search_turn(t->table, &t->w->language_walk);
}

/* In the list of versions before 3.0, once: then the thread is kept, and only checked. */
inline_always int find_listed_thread(struct language_turn *t) {
  struct language_walk *l = &t->w->language_walk;
  if (find_kept_thread(l) && !ruby_is_thread(&t->table->ruby, l)) return 0;
  if (ruby_search(t->table, l)) return 1;
  loop(LANGUAGE_MAX_THREADS, ruby_thread, t, 0);
  if (l->end != LANGUAGE_COMPLETE) return 1;
  keep_thread(l);
  return 0;
}

/* Before the frame at pc is added: code that YJIT made has no unwinding tables, and is walked as the evaluation function, whose place it takes. */
__attribute__((noinline)) int acu_ruby_frame(__u64 slot) {
  __u32 key = slot;
  struct walk *w = map_lookup(acu_walks, &key);
  if (!w || find_rule(w) || w->rule.cfa != UNWIND_CFA_NO_TABLE) return 0;
  __u64 *words = (__u64 *)w->language_walk.ruby.body_bytes; /* nothing was read there yet */
  if (read_user(words, 8 * RUBY_COMPILED_READ, (void *)w->sp)) return 0;
  const __u32 count = ruby_compiled_words(w->evaluation[0].begin, words);
  if (!count) return 0;
  w->pc = w->evaluation[0].begin + 1;
  w->sp += 8 * count;
  w->is_exact = 0;
  return 0;
}

/* Sets w->object to the names of the frame that was read last. */
__attribute__((noinline)) int acu_ruby_object(__u64 slot) {
  struct language_turn t;
  if (!find_turn(slot, &t)) return 0;
  struct language_object *object = &t.w->object.object;
  const struct language_walk *l = &t.w->language_walk;
  read_kernel(object->object, RUBY_BODY_BYTES, l->ruby.body_bytes);
  ruby_describe(t.table, l, object);
  return 0;
}

static long ruby_frame(__u32 index, void *context) {
  struct language_turn *t = context;
  return ruby_turn(t->table, &t->w->language_walk) ? 1 : add_call(t->w, LANGUAGE_TAG_RUBY, acu_ruby_object);
}

/* Turns of the loop: some frames are no calls. */
enum { ruby_turns = 2 * LANGUAGE_MAX_FRAMES };

__attribute__((noinline)) int acu_ruby(__u64 slot) {
  struct language_turn t;
  if (!find_turn(slot, &t)) return 0;
  struct language_walk *l = &t.w->language_walk;
  if (!find_thread_pointer(l)) return 0;
  if (t.table->ruby.context == RUBY_IN_LIST ? find_listed_thread(&t) : ruby_find_context(t.table, l)) return 0;
  if (!ruby_begin(t.table, l) && loop(ruby_turns, ruby_frame, &t, 0) == ruby_turns) l->end = LANGUAGE_TOO_DEEP;
  return 0;
}
