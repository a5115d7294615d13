/* Frames of PHP in the kernel.
 *
 * Code that PHP compiled at run time (opcache.jit) has no tables, so native frames may end there. Language frames are looked for if the evaluation
 * function was met before. */
#include "language.h"

#include "runtime/php_walk.h"

/* Turns of the loop: two for each generator that delegates. */
enum { php_turns = 2 * LANGUAGE_MAX_FRAMES + 128 };

/* Between calls the evaluation function has the frame and the instruction in registers (Zend/zend_execute.c: ZEND_VM_FP_GLOBAL_REG,
 * ZEND_VM_IP_GLOBAL_REG). In memory the instruction is the last one that might have failed. */
inline_always void find_live_opline(struct walk *w) {
  struct php_memory *php = &w->language_walk.php;
  const __u64 at = w->registers[ARCH_RIP];
  const struct language_code *hot = &w->evaluation[0], *cold = &w->evaluation[1];
  const int is_live = at - hot->begin < hot->end - hot->begin || at - cold->begin < cold->end - cold->begin;
  php->live_frame = is_live ? w->registers[ARCH_R14] : 0;
  php->live_opline = w->registers[ARCH_R15];
}

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
  if (!t.table || (t.table->php.threads && !find_thread_pointer(&w->language_walk))) return 0;
  find_live_opline(w);
  if (!php_begin(t.table, &w->language_walk)) loop(php_turns, php_frame, &t, 0);
  return 0;
}
