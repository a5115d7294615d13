/* From a thread of CPython to its frames, one after the other, innermost first. Plain C, for the walker in the kernel (bpf/lib/python.bpf.c)
 * and for walks of core dumps and snapshots (runtime/stopped.cc). Whoever includes it defines before
 *
 *   language_read(to, size, from)   copies bytes of the target's memory; 0: all of them were copied
 *
 * The state of a walk is in memory that the verifier of the kernel knows the size of: each offset of a table is masked, so that no table
 * leads out of it. Nothing here loops: callers bound the number of turns, as the lists that are followed belong to
 * the target and may be damaged. */
#pragma once

#include "runtime/language_copy.h"

/* The thread state of the thread with this thread pointer, if it is one; 0: it is. */
language_inline int python_is_thread(const struct python_layout *l, __u64 thread, __u64 thread_pointer) {
  __u64 id = 0;
  return language_read(&id, 8, thread + l->thread_id) || id != thread_pointer;
}

/* Begins the search for the thread state. */
language_inline int python_search(const struct language_table *t, struct language_walk *w) {
  w->thread = 0;
  w->end = LANGUAGE_NO_THREAD;
  return language_read(&w->python.interpreter, 8, t->root + t->python.interpreters_head) != 0;
}

/* A turn of the search; 1: it is over, and `end` is LANGUAGE_COMPLETE if the thread was found. */
language_inline int python_search_turn(const struct language_table *t, struct language_walk *w) {
  const struct python_layout *l = &t->python;
  if (!w->thread) {
    if (!w->python.interpreter) return 1;
    if (language_read(&w->thread, 8, w->python.interpreter + l->threads_head)) return 1;
    if (language_read(&w->python.interpreter, 8, w->python.interpreter + l->interpreter_next)) w->python.interpreter = 0;
    return 0;
  }
  if (!python_is_thread(l, w->thread, w->thread_pointer)) {
    w->end = LANGUAGE_COMPLETE;
    return 1;
  }
  return language_read(&w->thread, 8, w->thread + l->thread_next) != 0;
}

/* Sets `frame` to the innermost frame of `thread`. */
language_inline int python_begin(const struct language_table *t, struct language_walk *w) {
  const struct python_layout *l = &t->python;
  w->opens = 1;
  w->python.window_bytes = 0;
  w->end = LANGUAGE_UNREADABLE;
  if (language_read(&w->frame, 8, w->thread + l->thread_frame)) return 1;
  if (l->cframe_frame != PYTHON_NO_FIELD && w->frame) return language_read(&w->frame, 8, w->frame + l->cframe_frame) != 0;
  return 0;
}

/* What identifies the code object that was read. */
language_inline __u32 python_check(const struct python_layout *l, const struct language_walk *w) {
  __u64 hash = language_mix(language_word(w->python.code_bytes, l->code_size), language_half(w->python.code_bytes, l->code_first_line));
  hash = language_mix(hash, language_word(w->python.code_bytes, l->code_file));
  hash = language_mix(hash, language_word(w->python.code_bytes, l->code_name));
  return hash & LANGUAGE_CHECK_MASK;
}

/* Reads what is around the next frame, and sets where in `bytes` that is. A read costs 100 ns however little it reads, and callers are below
 * their callees: as much as is in the frame's page up to its end is read with it. */
language_inline int python_read_frame(const struct python_layout *l, struct language_walk *w, __u64 *at) {
  const __u64 page = 4096, size = l->frame_bytes & (PYTHON_FRAME_BYTES - 1), end = w->frame + size;
  *at = w->frame - w->python.window;
  if (*at < w->python.window_bytes && *at + size <= w->python.window_bytes) return 0;
  __u64 from = w->frame & ~(page - 1), bytes = PYTHON_WINDOW;
  if (l->boundary == PYTHON_EACH_FRAME || w->frame & 7 || end - from > page) {
    from = w->frame;
    bytes = size;
  } else if (end - from > PYTHON_WINDOW) {
    from = end - PYTHON_WINDOW;
  }
  w->python.window_bytes = 0;
  if (bytes == PYTHON_WINDOW ? language_read(w->python.bytes, PYTHON_WINDOW, from) : language_read(w->python.bytes, bytes & (PYTHON_FRAME_BYTES - 1), from))
    return 1;
  w->python.window = from;
  w->python.window_bytes = bytes;
  *at = w->frame - from;
  return 0;
}

/* Reads a frame, and goes on to its caller; 1: there is none, and `end` is why. */
language_inline int python_turn(const struct language_table *t, struct language_walk *w) {
  const struct python_layout *l = &t->python;
  w->code = 0;
  if (!w->frame) {
    w->end = LANGUAGE_COMPLETE;
    return 1;
  }
  __u64 at;
  if (python_read_frame(l, w, &at)) return 1;
  const __u8 owner = w->python.bytes[(at + l->frame_owner) & (PYTHON_WINDOW - 1)];
  w->frame = language_word(w->python.bytes, at + l->frame_previous);
  if (l->boundary == PYTHON_SHIM && owner >= l->shim_owner) {
    w->opens = 1;
    return 0;
  }
  const __u64 code = language_word(w->python.bytes, at + l->frame_code) & ~(__u64)l->code_mask;
  if (language_read(w->python.code_bytes, l->code_bytes & (PYTHON_CODE_BYTES - 1), code)) return 1;
  w->code = code;
  w->check = python_check(l, w);
  w->position = l->position_is_pointer ? (language_word(w->python.bytes, at + l->frame_position) - code - l->code_instructions) >> 1
                                       : ((__u64)language_half(w->python.bytes, at + l->frame_position) << l->position_shift) >> 1;
  w->is_first = w->opens;
  w->opens = l->boundary == PYTHON_EACH_FRAME || (l->boundary == PYTHON_ENTRY_FLAG && owner);
  return 0;
}

/* The strings of the code object that was read last. */
language_inline void python_describe(const struct python_layout *l, const struct language_walk *w, struct language_object *object) {
  language_copy(object->name, LANGUAGE_NAME_BYTES, language_word(w->python.code_bytes, l->code_name));
  language_copy(object->file, LANGUAGE_FILE_BYTES, language_word(w->python.code_bytes, l->code_file));
  language_copy(object->lines, LANGUAGE_LINES_BYTES, language_word(w->python.code_bytes, l->code_lines));
}
