/* Language frames in the kernel: `acu_language` is called behind the walk of native frames (unwind.bpf.c) where one of them runs the evaluation
 * function of a runtime that acu has a table of. It puts the frames of the thread's language behind the native ones; acu puts them in their
 * places (runtime/splice.h). The names of a code object that is new in its process are sent with it, as processes end and objects are freed.
 *
 * Compiled by clang when acu is built. Needs bpf_loop (Linux 5.17). */
#include "helpers.h"

int acu_python(__u64 slot);
int acu_php(__u64 slot);
int acu_luajit(__u64 slot);
int acu_perl(__u64 slot);
int acu_lua(__u64 slot);

/* Of the walk in that slot. Visible, so that the verifier goes through it once. */
__attribute__((noinline)) int acu_language(__u64 slot) {
  __u32 key = slot;
  struct walk *w = map_lookup(acu_walks, &key);
  if (!w) return 0;
  const struct language_table *table = map_lookup(acu_languages, &w->language);
  if (!table) return 0;
  w->language_walk.end = LANGUAGE_NO_THREAD;
  switch (table->kind) {
  case LANGUAGE_PYTHON: acu_python(slot); break;
  case LANGUAGE_PHP: acu_php(slot); break;
  case LANGUAGE_LUAJIT: acu_luajit(slot); break;
  case LANGUAGE_PERL: acu_perl(slot); break;
  case LANGUAGE_LUA: acu_lua(slot); break;
  }
  const __u32 end = w->language_walk.end;
  if (end < LANGUAGE_ENDS) count(WALK_COUNT_LANGUAGE + end);
  return 0;
}
