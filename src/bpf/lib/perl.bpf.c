/* Frames of Perl in the kernel. With threads each thread has an interpreter of its own, the value of a key of pthreads. */
#include "language.h"

#include "runtime/perl_walk.h"

/* Contexts are calls, evals, loops and blocks. */
enum { perl_turns = 16 * LANGUAGE_MAX_FRAMES };

static long perl_block(__u32 index, void *context) {
  struct language_turn *t = context;
  return perl_search_turn(&t->w->language_walk, index);
}

inline_always int find_values(struct language_turn *t) {
  struct language_walk *l = &t->w->language_walk;
  if (!t->table->perl.has_threads) return 0;
  if (!find_thread_pointer(l)) return 1;
  if (find_kept_thread(l) && !perl_is_block(l, l->thread)) return 0;
  l->end = LANGUAGE_NO_THREAD;
  loop(PERL_DESCRIPTOR_BYTES / 8, perl_block, t, 0);
  if (l->end != LANGUAGE_COMPLETE) return 1;
  keep_thread(l);
  return 0;
}

static long perl_call(__u32 index, void *context) {
  struct language_turn *t = context;
  struct language_walk *l = &t->w->language_walk;
  if (perl_turn(t->table, l)) return 1;
  if (!l->code) return 0;
  if (add_language_frame(t->w, LANGUAGE_TAG_PERL)) return 1;
  struct walk_object *record = new_object(t->w);
  if (!record) return 0;
  perl_describe(&t->table->perl, l, &record->object);
  send_object(record);
  return 0;
}

__attribute__((noinline)) int acu_perl(__u64 slot) {
  __u32 key = slot;
  struct walk *w = map_lookup(acu_walks, &key);
  if (!w) return 0;
  struct language_turn t = {w, map_lookup(acu_languages, &w->language)};
  if (!t.table || find_values(&t) || perl_find_interpreter(t.table, &w->language_walk) || perl_begin(t.table, &w->language_walk)) return 0;
  if (loop(perl_turns, perl_call, &t, 0) == perl_turns) w->language_walk.end = LANGUAGE_TOO_DEEP;
  return 0;
}
