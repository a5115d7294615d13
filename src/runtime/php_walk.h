/* From PHP's executor to its frames, innermost first, as python_walk.h. A position is a line. */
#pragma once

#include "runtime/language_copy.h"

/* Sets `frame` to the innermost frame. */
language_inline int php_begin(const struct language_table *t, struct language_walk *w) {
  w->opens = 1;
  w->end = LANGUAGE_UNREADABLE;
  return language_read(&w->frame, 8, t->root + t->php.current) != 0;
}

/* Whether the function that was read is in C. */
language_inline int php_is_internal(const struct php_layout *l, const struct language_walk *w) {
  return w->php.function_bytes[l->function_type & (PHP_FUNCTION_BYTES - 1)] == PHP_INTERNAL_FUNCTION;
}

/* What identifies the function that was read. */
language_inline __u32 php_check(const struct php_layout *l, const struct language_walk *w, int is_internal) {
  __u64 hash = language_mix(language_word(w->php.function_bytes, l->function_name), language_word(w->php.function_bytes, l->function_scope));
  hash = language_mix(hash, language_word(w->php.function_bytes, is_internal ? l->function_handler : l->function_file));
  return language_mix(hash, is_internal ? 0 : language_half(w->php.function_bytes, l->function_line)) & LANGUAGE_CHECK_MASK;
}

/* Reads a frame, and goes on to its caller; 1: there is none, and `end` is why. */
language_inline int php_turn(const struct language_table *t, struct language_walk *w) {
  const struct php_layout *l = &t->php;
  w->code = 0;
  if (!w->frame) {
    w->end = LANGUAGE_COMPLETE;
    return 1;
  }
  if (language_read(w->php.frame_bytes, PHP_FRAME_BYTES, w->frame)) return 1;
  w->frame = language_word(w->php.frame_bytes, l->frame_previous);
  const __u64 function = language_word(w->php.frame_bytes, l->frame_function);
  if (!function) return 0; /* it only holds a place */
  if (language_read(w->php.function_bytes, l->function_bytes & (PHP_FUNCTION_BYTES - 1), function)) return 1;
  const int is_internal = php_is_internal(l, w);
  __u32 line = 0;
  if (!is_internal) language_read(&line, 4, language_word(w->php.frame_bytes, l->frame_opline) + l->opline_line);
  w->code = function;
  w->check = php_check(l, w, is_internal);
  w->position = line;
  w->is_first = w->opens;
  w->opens = !is_internal && language_half(w->php.frame_bytes, l->frame_call_info) & l->top;
  return 0;
}

/* The texts of the function that was read last: its own name, its file, and in the place of lines the name of its class. */
language_inline void php_describe(const struct php_layout *l, const struct language_walk *w, struct language_object *object) {
  __u64 class_name = 0;
  const __u64 scope = language_word(w->php.function_bytes, l->function_scope);
  language_copy(object->name, LANGUAGE_NAME_BYTES, language_word(w->php.function_bytes, l->function_name));
  if (!php_is_internal(l, w))
    language_copy(object->file, LANGUAGE_FILE_BYTES, language_word(w->php.function_bytes, l->function_file));
  if (scope && !language_read(&class_name, 8, scope + l->class_name)) language_copy(object->lines, LANGUAGE_LINES_BYTES, class_name);
}
