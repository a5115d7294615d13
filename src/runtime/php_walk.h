/* From PHP's executor to its frames, innermost first, as python_walk.h. A position is a line.
 *
 * Functions are copied (closures, inherited methods, traits), so what stands for one is the address of its instructions; of a function in C, of its
 * code. Its name also depends on how it was called: code of a file by which kind of include, a method with or without an object. */
#pragma once

#include "runtime/language_copy.h"

/* Sets `thread` to the executor's variables; 1: the thread has none. */
language_inline int php_find_executor(const struct language_table *t, struct language_walk *w) {
  const struct php_layout *l = &t->php;
  const __u64 place = t->root + (__s64)l->executor_distance;
  w->end = LANGUAGE_NO_THREAD;
  w->thread = t->root;
  if (l->executor == PHP_AT_ROOT) return 0;
  if (l->executor == PHP_BY_POINTER) return language_read(&w->thread, 8, place) || !w->thread;
  /* By way of `frame`, which is not known yet: little is left of the stack in the kernel. */
  w->frame = (__s64)l->executor_distance;
  if (l->executor == PHP_THREADS_BY_MEMORY && language_read(&w->frame, 8, place)) return 1;
  if (language_read(&w->thread, 8, w->thread_pointer + w->frame) || !w->thread || language_read(&w->frame, 8, t->root)) return 1;
  w->thread += w->frame;
  return 0;
}

/* Sets `frame` to the innermost frame. `live_frame` and `live_opline` are set by the caller, in builds with threads `thread_pointer`, too. */
language_inline int php_begin(const struct language_table *t, struct language_walk *w) {
  if (php_find_executor(t, w)) return 1;
  w->opens = 1;
  w->end = LANGUAGE_UNREADABLE;
  w->php.function = w->php.generator = w->php.after = w->php.frameless = 0;
  return language_read(&w->frame, 8, w->thread + t->php.current) != 0;
}

language_inline __u8 php_function_type(const struct php_layout *l, const struct language_walk *w) {
  return w->php.function_bytes[l->function_type & (PHP_FUNCTION_BYTES - 1)];
}

language_inline __u8 php_opline_code(const struct php_layout *l, const struct language_walk *w) {
  return w->php.opline_bytes[l->opline_code & (PHP_OPLINE_BYTES - 1)];
}

/* Reads the function of a frame; 1: it is not there. Functions in C are shorter, and may be the last thing that is mapped. */
language_inline int php_read_function(const struct php_layout *l, struct language_walk *w, __u64 function) {
  if (function == w->php.function) return 0;
  w->php.function = 0;
  if (language_read(w->php.function_bytes, l->function_bytes & (PHP_FUNCTION_BYTES - 1), function) &&
      (language_read(w->php.function_bytes, (l->function_handler + 8) & (PHP_FUNCTION_BYTES - 1), function) ||
       php_function_type(l, w) != PHP_INTERNAL_FUNCTION))
    return 1;
  w->php.function = function;
  return 0;
}

/* By which kind of include or eval the code of a frame without a name runs, as its caller's instruction tells; 0: by none. */
language_inline __u32 php_include_kind(const struct php_layout *l, struct language_walk *w, __u64 caller) {
  __u64 function = 0, opline = 0;
  __u8 type = 0;
  if (!caller || language_read(&function, 8, caller + l->frame_function) || !function || language_read(&type, 1, function + l->function_type) ||
      type == PHP_INTERNAL_FUNCTION || language_read(&opline, 8, caller + l->frame_opline) ||
      language_read(w->php.opline_bytes, PHP_OPLINE_BYTES, opline) || php_opline_code(l, w) != PHP_INCLUDE_OR_EVAL)
    return 0;
  return language_half(w->php.opline_bytes, l->opline_extended) & PHP_KIND_MASK;
}

/* The line that a frame of PHP code is at, as PHP's own backtraces have it; 0: not known. */
language_inline __u32 php_line(const struct php_layout *l, struct language_walk *w, __u64 frame) {
  __u64 opline = language_word(w->php.frame_bytes, l->frame_opline);
  if (frame == w->php.live_frame) {
    const __u64 at = w->php.live_opline - language_word(w->php.function_bytes, l->function_oplines);
    if (at < (__u64)language_half(w->php.function_bytes, l->function_count) * l->opline_size) opline = w->php.live_opline;
  }
  if (language_read(w->php.opline_bytes, PHP_OPLINE_BYTES, opline)) return 0;
  if (php_opline_code(l, w) == PHP_HANDLE_EXCEPTION) {
    if (language_read(&opline, 8, w->thread + l->before_exception)) return 0;
    if (!opline) return language_half(w->php.function_bytes, l->function_last_line);
    if (language_read(w->php.opline_bytes, PHP_OPLINE_BYTES, opline)) return 0;
  }
  return language_half(w->php.opline_bytes, l->opline_line);
}

/* From PHP 8.4 on some functions in C are called without a frame: reads that one in the place of the function of a frame whose instruction was
 * read; 0: it is none. */
language_inline int php_read_frameless(const struct language_table *t, struct language_walk *w) {
  const struct php_layout *l = &t->php;
  __u64 functions = 0, function = 0;
  if (!l->frameless || (__u8)(php_opline_code(l, w) - PHP_FRAMELESS_CALL) >= PHP_FRAMELESS_CALLS) return 0;
  const __u64 index = language_half(w->php.opline_bytes, l->opline_extended);
  return !language_read(&functions, 8, t->root + (__s64)l->frameless) && !language_read(&function, 8, functions + 8 * index) &&
         !php_read_function(l, w, function) && php_function_type(l, w) == PHP_INTERNAL_FUNCTION;
}

/* What identifies the function that was read, and its name. */
language_inline __u32 php_check(const struct php_layout *l, const struct language_walk *w) {
  __u64 hash = language_mix(language_word(w->php.function_bytes, l->function_name), language_word(w->php.function_bytes, l->function_scope));
  hash = language_mix(hash, w->php.kind);
  if (php_function_type(l, w) != PHP_INTERNAL_FUNCTION) {
    hash = language_mix(hash, language_word(w->php.function_bytes, l->function_file));
    hash = language_mix(hash, language_word(w->php.function_bytes, l->function_line)); /* and the last line */
    hash = language_mix(hash, language_half(w->php.function_bytes, l->function_count));
  }
  return hash & LANGUAGE_CHECK_MASK;
}

/* A generator that delegates (yield from) does not call the one it delegates to. What runs is the last of such a chain, and its caller is a frame
 * without a function within the first. From there the chain is followed to its end, then the frames of all but the last are read in the other
 * order, a turn for each; of a chain longer than PHP_GENERATORS the outermost are left out. These frames have no activations of their own. */
language_inline void php_enter_generators(const struct php_layout *l, struct language_walk *w, __u64 frame) {
  const __u64 generator = language_word(w->php.frame_bytes, l->frame_this);
  if ((language_half(w->php.frame_bytes, l->frame_call_info) & 0xff) != PHP_OBJECT || frame != generator + l->generator_fake) return;
  w->php.generator = generator;
  w->php.after = w->frame;
  w->php.waiting = 0;
  w->opens = 0;
}

/* Sets `frame` to that of the next generator of the chain, or to the caller of the first. */
language_inline void php_next_generator(const struct php_layout *l, struct language_walk *w) {
  if (w->php.waiting > w->php.oldest) {
    w->php.waiting--;
    const __u64 generator = w->php.generators[w->php.waiting & (PHP_GENERATORS - 1)];
    if (!language_read(&w->frame, 8, generator + l->generator_frame) && w->frame) return;
  }
  w->frame = w->php.after;
  w->php.after = 0;
  w->opens = 1;
}

language_inline void php_follow_generator(const struct php_layout *l, struct language_walk *w) {
  __u64 parent = 0;
  if (language_read(&parent, 8, w->php.generator + l->generator_parent)) parent = 0;
  if (parent) {
    w->php.generators[w->php.waiting & (PHP_GENERATORS - 1)] = w->php.generator;
    w->php.waiting++;
  }
  w->php.generator = parent;
  if (parent) return;
  w->php.oldest = w->php.waiting > PHP_GENERATORS ? w->php.waiting - PHP_GENERATORS : 0;
  php_next_generator(l, w);
}

/* Reads a frame, and goes on to its caller; 1: there is none, and `end` is why. */
language_inline int php_turn(const struct language_table *t, struct language_walk *w) {
  const struct php_layout *l = &t->php;
  w->code = 0;
  if (w->php.generator) {
    php_follow_generator(l, w);
    return 0;
  }
  const __u64 frame = w->frame;
  if (!frame) {
    w->end = LANGUAGE_COMPLETE;
    return 1;
  }
  if (language_read(w->php.frame_bytes, PHP_FRAME_BYTES, frame)) return 1;
  w->frame = language_word(w->php.frame_bytes, l->frame_previous);
  const __u64 function = language_word(w->php.frame_bytes, l->frame_function);
  if (!function) { /* it only holds a place */
    if (w->frame && !w->php.after) php_enter_generators(l, w, frame);
    return 0;
  }
  if (php_read_function(l, w, function)) return 1;
  const int is_internal = php_function_type(l, w) == PHP_INTERNAL_FUNCTION, has_name = language_word(w->php.function_bytes, l->function_name) != 0;
  if (is_internal && !has_name) return 0; /* the outermost frame of a fiber */
  const __u32 info = language_half(w->php.frame_bytes, l->frame_call_info);
  w->position = is_internal ? 0 : php_line(l, w, frame);
  w->is_first = w->opens;
  if (!is_internal && w->php.frameless != frame && php_read_frameless(t, w)) { /* the frame itself is next */
    w->php.frameless = w->frame = frame;
    w->php.kind = 0;
    w->code = language_word(w->php.function_bytes, l->function_handler);
    w->position = w->opens = 0;
    w->check = php_check(l, w);
    return 0;
  }
  if (php_read_function(l, w, function)) return 1;
  w->php.kind = !has_name ? php_include_kind(l, w, w->frame) : (info & 0xff) == PHP_OBJECT ? PHP_WITH_OBJECT : 0;
  w->code = language_word(w->php.function_bytes, is_internal ? l->function_handler : l->function_oplines);
  w->check = php_check(l, w);
  w->opens = !is_internal && info & PHP_CALL_TOP;
  if (w->php.after) {
    w->opens = 0;
    php_next_generator(l, w);
  }
  return 0;
}

/* The function that was read last, and its texts: its own name, its file, and in the place of lines the name of its class. */
language_inline void php_describe(const struct php_layout *l, const struct language_walk *w, struct language_object *object) {
  __u64 class_name = 0;
  const __u64 scope = language_word(w->php.function_bytes, l->function_scope);
  object->object[PHP_KIND] = w->php.kind;
  language_copy(object->name, LANGUAGE_NAME_BYTES, language_word(w->php.function_bytes, l->function_name));
  if (php_function_type(l, w) != PHP_INTERNAL_FUNCTION)
    language_copy(object->file, LANGUAGE_FILE_BYTES, language_word(w->php.function_bytes, l->function_file));
  if (scope && !language_read(&class_name, 8, scope + l->class_name)) language_copy(object->lines, LANGUAGE_LINES_BYTES, class_name);
}
