/* Frames of Perl in the kernel. With threads each thread has an interpreter of its own, the value of a key of pthreads. */
#include "language.h"

#include "runtime/perl_walk.h"

/* Contexts are calls, evals, loops and blocks. */
enum { perl_turns = 16 * LANGUAGE_MAX_FRAMES };

static long perl_block(__u32 index, void *context) {
  return perl_search_turn(&(*(struct walk **)context)->language_walk, index);
}

/* Of a Perl with threads. */
inline_always int find_values(struct walk *w) {
  struct language_walk *l = &w->language_walk;
  if (!find_thread_pointer(l)) return 1;
  if (find_kept_thread(l) && !perl_is_block(l, l->thread)) return 0;
  l->end = LANGUAGE_NO_THREAD;
  loop(PERL_DESCRIPTOR_BYTES / 8, perl_block, &w, 0);
  if (l->end != LANGUAGE_COMPLETE) return 1;
  keep_thread(l);
  return 0;
}

/* Sets w->object to the names of the frame that was read last. */
__attribute__((noinline)) int acu_perl_object(__u64 slot) {
  struct language_turn t;
  if (!find_turn(slot, &t)) return 0;
  struct language_object *object = &t.w->object.object;
  const struct language_walk *l = &t.w->language_walk;
  perl_describe(&t.table->perl, l, object);
  return 0;
}

/* One turn. It takes much of the stack: it is no part of perl_call, which has called it before it calls others. */
__attribute__((noinline)) int acu_perl_turn(__u64 slot) {
  struct language_turn t;
  return find_turn(slot, &t) ? perl_turn(t.table, &t.w->language_walk) : 1;
}

static long perl_call(__u32 index, void *context) {
  struct walk *w = *(struct walk **)context;
  return acu_perl_turn(w->slot) ? 1 : add_call(w, LANGUAGE_TAG_PERL, acu_perl_object);
}

__attribute__((noinline)) int acu_perl(__u64 slot) {
  struct language_turn t;
  if (!find_turn(slot, &t)) return 0;
  struct walk *w = t.w;
  struct language_walk *l = &w->language_walk;
  if (t.table->perl.has_threads && find_values(w)) return 0;
  if (perl_find_interpreter(t.table, l) || perl_begin(t.table, l)) return 0;
  if (loop(perl_turns, perl_call, &w, 0) == perl_turns) l->end = LANGUAGE_TOO_DEEP;
  return 0;
}
