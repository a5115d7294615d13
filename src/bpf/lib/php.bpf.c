/* Frames of PHP in the kernel.
 *
 * Code that PHP compiled at run time (opcache.jit) has no tables, so native frames mostly end there. As PHP's frames are looked for only where
 * the evaluation function is met, such stacks have none. */
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

/* Sets w->object to the names of the frame that was read last. */
__attribute__((noinline)) int acu_php_object(__u64 slot) {
  struct language_turn t;
  if (!find_turn(slot, &t)) return 0;
  struct language_object *object = &t.w->object.object;
  const struct language_walk *l = &t.w->language_walk;
  read_kernel(object->object, PHP_FUNCTION_BYTES, l->php.function_bytes);
  php_describe(&t.table->php, l, object);
  return 0;
}

static long php_frame(__u32 index, void *context) {
  struct language_turn *t = context;
  return php_turn(t->table, &t->w->language_walk) ? 1 : add_call(t->w, LANGUAGE_TAG_PHP, acu_php_object);
}

__attribute__((noinline)) int acu_php(__u64 slot) {
  struct language_turn t;
  if (!find_turn(slot, &t)) return 0;
  struct language_walk *l = &t.w->language_walk;
  if (t.table->php.executor >= PHP_THREADS && !find_thread_pointer(l)) return 0;
  find_live_opline(t.w);
  if (!php_begin(t.table, l)) loop(php_turns, php_frame, &t, 0);
  return 0;
}
