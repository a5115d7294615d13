/* Frames of CPython in the kernel. The state of a thread is found by its thread pointer in the runtime's list, once: then it is kept, and only
 * checked. */
#include "language.h"

#include "runtime/python_walk.h"

static long python_thread(__u32 index, void *context) {
  struct language_turn *t = context;
  return python_search_turn(t->table, &t->w->language_walk);
}

inline_always int find_thread(struct language_turn *t) {
  struct language_walk *l = &t->w->language_walk;
  if (!find_thread_pointer(l)) return 1;
  if (find_kept_thread(l) && !python_is_thread(&t->table->python, l->thread, l->thread_pointer)) return 0;
  if (python_search(t->table, l)) return 1;
  loop(LANGUAGE_MAX_THREADS, python_thread, t, 0);
  if (l->end != LANGUAGE_COMPLETE) return 1;
  keep_thread(l);
  return 0;
}

/* Sets w->object to the names of the frame that was read last. */
__attribute__((noinline)) int acu_python_object(__u64 slot) {
  struct language_turn t;
  if (!find_turn(slot, &t)) return 0;
  struct language_object *object = &t.w->object.object;
  const struct language_walk *l = &t.w->language_walk;
  read_kernel(object->object, PYTHON_CODE_BYTES, l->python.code_bytes);
  python_describe(&t.table->python, l, object);
  return 0;
}

static long python_frame(__u32 index, void *context) {
  struct language_turn *t = context;
  struct language_walk *l = &t->w->language_walk;
  if (python_turn(t->table, l)) return 1;
  return add_call(t->w, LANGUAGE_TAG_PYTHON, acu_python_object);
}

__attribute__((noinline)) int acu_python(__u64 slot) {
  struct language_turn t;
  if (find_turn(slot, &t) && !find_thread(&t) && !python_begin(t.table, &t.w->language_walk)) loop(language_turns, python_frame, &t, 0);
  return 0;
}
