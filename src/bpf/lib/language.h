/* Language frames in the kernel. Where a native frame runs the evaluation function of a runtime that acu has a table of, the walker (unwind.bpf.c)
 * calls the function of the runtime, acu_NAME in NAME.bpf.c, behind its walk of native frames. It puts the frames of the thread's language behind
 * the native ones, with add_call() for each; acu puts them in their places (runtime/splice.h). The names of a code object that is new in its
 * process are sent with it, as processes end and objects are freed.
 *
 * Needs bpf_loop (Linux 5.17). */
#pragma once

#include "helpers.h"

#define language_read(to, size, from) read_user(to, size, (const void *)(from))

/* Turns of a loop over frames: some are no calls. */
enum { language_turns = LANGUAGE_MAX_FRAMES + 64 };

/* Between turns of a loop. */
struct language_turn {
  struct walk *w;
  struct language_table *table;
};

/* Of the walk in that slot; 0: there is none. */
inline_always int find_turn(__u64 slot, struct language_turn *t) {
  __u32 key = slot;
  t->w = map_lookup(acu_walks, &key);
  if (!t->w) return 0;
  t->table = element(acu_languages, t->w->language);
  return t->table != 0;
}

/* Where the state of the thread is kept, and the check of it. */
inline_always struct walk_thread *kept_thread(__u64 *check) {
  *check = mix(0, get_current_pid_tgid());
  return &acu_language_threads[*check & (LANGUAGE_KEPT_THREADS - 1)];
}

/* Sets `thread` to what was kept for this thread; 0: nothing was. Whether it still is must be asked of the runtime. */
inline_always int find_kept_thread(struct language_walk *l) {
  __u64 check;
  const struct walk_thread *kept = kept_thread(&check);
  l->thread = kept->thread;
  return (kept->check ^ l->thread) == check;
}

inline_always void keep_thread(struct language_walk *l) {
  __u64 check;
  struct walk_thread *kept = kept_thread(&check);
  kept->thread = l->thread;
  kept->check = check ^ l->thread;
}

/* Sets `thread_pointer`; 0: it is not known where the kernel keeps it. */
inline_always int find_thread_pointer(struct language_walk *l) {
  if (!acu_walk_set[WALK_SET_THREAD_POINTER]) return 0;
  l->thread_pointer = 0;
  read_kernel(&l->thread_pointer, 8, (void *)(get_current_task() + acu_walk_set[WALK_SET_THREAD_POINTER] - 1));
  return 1;
}

/* Where it is kept whether the names of the code object that was read last were sent, and the value of that. */
inline_always __u64 *kept_object(const struct walk *w, __u64 *key) {
  *key = mix(mix(w->pid, w->language_walk.code), w->language_walk.check) | 1;
  return &acu_language_sent[(*key >> 32) & (LANGUAGE_SENT - 1)];
}

inline_always int is_new_object(const struct walk *w) {
  __u64 key;
  return *kept_object(w, &key) != key;
}

/* Sends w->object, the names of the code object that was read last (language.bpf.c). */
int acu_send_object(__u64 slot);

/* Puts the frame that was read last behind the others; 1: there are too many, or more are not wanted. */
inline_always int add_language_frame(struct walk *w, __u64 tag) {
  const __u64 frames = (w->stack.count - w->stack.native) / 2;
  if (frames >= LANGUAGE_MAX_FRAMES || frames >= w->limit) {
    w->language_walk.end = w->limit < LANGUAGE_MAX_FRAMES ? LANGUAGE_COMPLETE : LANGUAGE_TOO_DEEP;
    return 1;
  }
  add_word(w, STACK_TAGGED << STACK_MARK_SHIFT | tag << STACK_TAG_SHIFT | language_entry(&w->language_walk));
  add_word(w, w->language_walk.code);
  return 0;
}

/* The frame that was read last, if it is a call; 1: as above. If its names are new they are sent, when `describe` has set w->object. */
inline_always int add_call(struct walk *w, __u64 tag, int (*describe)(__u64 slot)) {
  if (!w->language_walk.code) return 0;
  if (add_language_frame(w, tag)) return 1;
  if (!is_new_object(w)) return 0;
  describe(w->slot);
  acu_send_object(w->slot);
  return 0;
}

/* An activation that runs no function of the language. */
inline_always int add_closed_activation(struct walk *w, __u64 tag) {
  struct language_walk *l = &w->language_walk;
  l->check = l->position = 0;
  l->is_first = 1;
  return add_language_frame(w, tag);
}
