/* Frames of PHP in the kernel. Its executor runs in one thread of a process. */
#include "language.h"

#include "runtime/php_walk.h"

static long php_frame(__u32 index, void *context) {
  struct language_turn *t = context;
  struct language_walk *l = &t->w->language_walk;
  if (php_turn(t->table, l)) return 1;
  if (!l->code) return 0;
  if (add_language_frame(t->w, LANGUAGE_TAG_PHP)) return 1;
  struct walk_object *record = new_object(t->w);
  if (!record) return 0;
  read_kernel(record->object.object, PHP_FUNCTION_BYTES, l->php.function_bytes);
  php_describe(&t->table->php, l, &record->object);
  send_object(record);
  return 0;
}

__attribute__((noinline)) int acu_php(__u64 slot) {
  __u32 key = slot;
  struct walk *w = map_lookup(acu_walks, &key);
  if (!w) return 0;
  struct language_turn t = {w, map_lookup(acu_languages, &w->language)};
  if (t.table && !php_begin(t.table, &w->language_walk)) loop(language_turns, php_frame, &t, 0);
  return 0;
}
