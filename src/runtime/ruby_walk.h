/* From a thread of CRuby to its frames, innermost first, as python_walk.h. A position is a line.
 *
 * What stands for a function is the body of its instructions; for a function in C, the definition of its method. Frames that Ruby's own backtraces
 * leave out have no pc: the outermost ones of a thread, and those of blocks in C. */
#pragma once

#include "runtime/language_copy.h"

/* Whether a return address is in the interpreter, as far as machine code needs to know: its callers are. */
language_inline int ruby_is_near(__u64 evaluation, __u64 address) {
  const __u64 around = 8 << 20;
  return address - evaluation + around < 2 * around;
}

/* How many of the words on the stack are in front of the return address of machine code: RUBY_COMPILED_WORDS, in some calls RUBY_COMPILED_MORE more;
 * 0: it is no machine code of Ruby's. */
language_inline __u32 ruby_compiled_words(__u64 evaluation, const __u64 *words) {
  if (ruby_is_near(evaluation, words[RUBY_COMPILED_WORDS])) return RUBY_COMPILED_WORDS;
  return ruby_is_near(evaluation, words[RUBY_COMPILED_READ - 1]) ? RUBY_COMPILED_READ - 1 : 0;
}

/* Begins the search for the thread of versions that have a list of them; `thread` becomes a node of it. */
language_inline int ruby_search(const struct language_table *t, struct language_walk *w) {
  __u64 vm = 0;
  w->end = LANGUAGE_NO_THREAD;
  if (language_read(&vm, 8, t->root) || !vm) return 1;
  w->ruby.first_thread = vm + t->ruby.vm_threads;
  return language_read(&w->thread, 8, w->ruby.first_thread) != 0;
}

/* Whether `thread`, a node of the list, is the thread with this thread pointer; 0: it is. */
language_inline int ruby_is_thread(const struct ruby_layout *l, const struct language_walk *w) {
  __u64 id = 0;
  return language_read(&id, 8, w->thread - l->thread_node + l->thread_id) || id != w->thread_pointer;
}

/* A turn of the search; 1: it is over, and `end` is LANGUAGE_COMPLETE if the thread was found. */
language_inline int ruby_search_turn(const struct language_table *t, struct language_walk *w) {
  if (!w->thread || w->thread == w->ruby.first_thread) return 1;
  if (!ruby_is_thread(&t->ruby, w)) {
    w->end = LANGUAGE_COMPLETE;
    return 1;
  }
  return language_read(&w->thread, 8, w->thread) != 0;
}

/* Sets `thread` to where the thread's execution context is noted, in versions that have it in thread-local memory. Of glibc: fs:8 is the thread's
 * table of such memory, two words for each library. */
language_inline int ruby_find_context(const struct language_table *t, struct language_walk *w) {
  const struct ruby_layout *l = &t->ruby;
  w->end = LANGUAGE_NO_THREAD;
  w->thread = w->thread_pointer;
  if (l->context == RUBY_BY_MODULE) {
    if (language_read(&w->frame, 8, t->root) || language_read(&w->thread, 8, w->thread_pointer + 8)) return 1;
    if (language_read(&w->thread, 8, w->thread + 16 * w->frame)) return 1;
  }
  w->thread += (__s64)l->context_distance;
  return 0;
}

/* Sets `frame` to the innermost frame. `thread` is as the functions before have found it. */
language_inline int ruby_begin(const struct language_table *t, struct language_walk *w) {
  const struct ruby_layout *l = &t->ruby;
  __u64 context = 0, words = 0;
  w->opens = 1;
  w->ruby.function = 0;
  if (language_read(&context, 8, l->context == RUBY_IN_LIST ? w->thread - l->thread_node + l->thread_context : w->thread) || !context) return 1;
  w->end = LANGUAGE_UNREADABLE;
  if (language_read(&w->frame, 8, context + l->context_frame) || language_read(&w->ruby.last_frame, 8, context + l->context_stack) ||
      language_read(&words, 8, context + l->context_stack_size))
    return 1;
  w->ruby.last_frame += 8 * words - l->frame_bytes; /* the outermost one is no call */
  return 0;
}

/* Reads the body of a frame's instructions; 1: it is not there. */
language_inline int ruby_read_function(const struct ruby_layout *l, struct language_walk *w, __u64 function) {
  if (function == w->ruby.function) return 0;
  w->ruby.function = 0;
  if (language_read(&w->ruby.body, 8, function + l->function_body) || !w->ruby.body ||
      language_read(w->ruby.body_bytes, l->body_bytes & (RUBY_BODY_BYTES - 1), w->ruby.body))
    return 1;
  w->ruby.function = function;
  return 0;
}

/* Goes to a frame of a function in C: its definition has a name; 1: it is not there. */
language_inline int ruby_read_method(const struct ruby_layout *l, struct language_walk *w) {
  const __u64 method = language_word(w->ruby.environment, 0);
  __u64 word = 0;
  if (language_read(&word, 8, method) || (word & RUBY_OBJECT_KIND) != RUBY_INTERNAL_OBJECT ||
      (word >> RUBY_INTERNAL_SHIFT & 15) != RUBY_METHOD_ENTRY || language_read(&w->ruby.definition, 8, method + l->method_definition))
    return 1;
  if (language_read(&w->ruby.name, 8, w->ruby.definition + l->definition_name) ||
      language_read(&word, 8, w->ruby.definition + l->definition_code))
    return 1;
  w->code = w->ruby.definition;
  w->check = language_mix(language_mix(0, word), w->ruby.name) & LANGUAGE_CHECK_MASK;
  w->position = 0;
  return 0;
}

/* What identifies the instructions that were read. */
language_inline __u32 ruby_check(const struct ruby_layout *l, const struct language_walk *w) {
  __u64 hash = language_mix(language_word(w->ruby.body_bytes, l->body_instructions), language_half(w->ruby.body_bytes, l->body_count));
  hash = language_mix(hash, language_word(w->ruby.body_bytes, l->body_path));
  hash = language_mix(hash, language_word(w->ruby.body_bytes, l->body_name));
  return language_mix(hash, language_half(w->ruby.body_bytes, l->body_first_line)) & LANGUAGE_CHECK_MASK;
}

language_inline __u64 ruby_count_bits(__u64 bits) {
  bits -= bits >> 1 & 0x5555555555555555ull;
  bits = (bits & 0x3333333333333333ull) + (bits >> 2 & 0x3333333333333333ull);
  bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0full;
  return bits * 0x0101010101010101ull >> 56;
}

/* Which entry of the table of lines of the function that was read holds for a position, counted from 1; 0: not known (struct succ_index_table of iseq.c).
 * The first 54 positions have 7 bits each, 9 of them in a word; then come blocks of 512 positions, which have the number of entries before, that before
 * each 64 positions, and a bit where an entry begins. */
language_inline __u64 ruby_entry(const struct ruby_layout *l, const struct language_walk *w, __u64 position) {
  __u64 table = language_word(w->ruby.body_bytes, l->body_positions), found = 0, ranks = 0, bits = 0;
  if (language_half(w->ruby.body_bytes, l->body_lines_count) == 1) return 1;
  if (position < 54) {
    if (language_read(&found, 8, table + position / 9 * 8)) return 0;
    return found >> position % 9 * 7 & 0x7f;
  }
  position -= 54;
  table += 48 + position / 512 * 80;
  position %= 512;
  if (language_read(&found, 4, table) || language_read(&ranks, 8, table + 8) || language_read(&bits, 8, table + 16 + position / 64 * 8)) return 0;
  if (position >= 64) found += ranks >> (position / 64 - 1) * 9 & 0x1ff;
  return found + ruby_count_bits(bits << (63 - position % 64));
}

/* The line of the instruction before `pc` in the function that was read; 0: not known. */
language_inline __u32 ruby_line(const struct ruby_layout *l, const struct language_walk *w, __u64 pc) {
  const __u64 position = (pc - language_word(w->ruby.body_bytes, l->body_instructions)) / 8;
  if (position > language_half(w->ruby.body_bytes, l->body_count)) return 0;
  const __u64 number = ruby_entry(l, w, position - (position != 0));
  __u32 line = 0;
  if (!number || number > language_half(w->ruby.body_bytes, l->body_lines_count)) return 0;
  return language_read(&line, 4, language_word(w->ruby.body_bytes, l->body_lines) + (number - 1) * l->line_bytes) ? 0 : line;
}

/* Reads a frame; 1: there are no more, or it cannot be read. */
language_inline int ruby_turn(const struct language_table *t, struct language_walk *w) {
  const struct ruby_layout *l = &t->ruby;
  w->code = 0;
  if (w->frame >= w->ruby.last_frame) {
    w->end = LANGUAGE_COMPLETE;
    return 1;
  }
  if (language_read(w->ruby.frame_bytes, RUBY_FRAME_READ, w->frame)) return 1;
  const __u64 function = language_word(w->ruby.frame_bytes, l->frame_function), pc = language_word(w->ruby.frame_bytes, l->frame_pc);
  /* Words -2, -1 and 0 of the environment. */
  if (language_read(w->ruby.environment, 24, language_word(w->ruby.frame_bytes, l->frame_environment) - 16)) return 1;
  w->frame += l->frame_bytes;
  w->is_first = w->opens;
  w->ruby.definition = 0;
  const __u64 flags = language_word(w->ruby.environment, 16);
  if (function && pc) {
    if (ruby_read_function(l, w, function)) return 1;
    w->code = w->ruby.body;
    w->position = ruby_line(l, w, pc);
    w->check = ruby_check(l, w);
  } else if (!function && (flags & RUBY_FRAME_KIND) == RUBY_C_FRAME && ruby_read_method(l, w)) {
    return 1;
  }
  if (w->code) w->opens = 0;
  if (flags & RUBY_FINISH) w->opens = 1;
  return 0;
}

/* The element of an array of Ruby; 0: it is not there. */
language_inline __u64 ruby_element(__u64 array, __u64 index) {
  __u64 flags = 0, at = array + RUBY_EMBEDDED_AT;
  if (language_read(&flags, 8, array) || (flags & RUBY_OBJECT_KIND) != RUBY_ARRAY) return 0;
  if (!(flags & RUBY_ARRAY_IS_EMBEDDED) && language_read(&at, 8, array + RUBY_ARRAY_AT)) return 0;
  return language_read(&at, 8, at + 8 * index) ? 0 : at;
}

/* The string that is the name of a symbol. */
language_inline __u64 ruby_text_of_symbol(const struct language_table *t, __u64 symbol) {
  const struct ruby_layout *l = &t->ruby;
  const __u64 number = symbol > l->last_operator ? symbol >> RUBY_ID_SHIFT : symbol;
  __u64 array = 0;
  if (!l->symbols || language_read(&array, 8, t->root + (__s64)l->symbols + l->symbols_ids)) return 0;
  array = ruby_element(array, number / RUBY_IDS);
  return array ? ruby_element(array, number % RUBY_IDS * 2) : 0;
}

/* A string of Ruby: RUBY_TEXT_HEADER bytes as they are, then its text if that is elsewhere. */
language_inline void ruby_copy_text(__u8 *to, __u64 size, __u64 text) {
  __u64 flags = 0, at = 0;
  language_copy(to, size, text);
  if (language_read(&flags, 8, text) || !(flags & RUBY_TEXT_IS_ELSEWHERE) || language_read(&at, 8, text + RUBY_TEXT_AT)) return;
  language_copy(to + RUBY_TEXT_HEADER, size - RUBY_TEXT_HEADER, at);
}

/* The body that was read last, its name and its file; of a function in C its name. */
language_inline void ruby_describe(const struct language_table *t, const struct language_walk *w, struct language_object *object) {
  const struct ruby_layout *l = &t->ruby;
  object->object[RUBY_IS_IN_C] = w->ruby.definition != 0;
  object->name[0] = object->file[0] = 0; /* no strings, unless they can be read */
  if (w->ruby.definition) {
    const __u64 name = ruby_text_of_symbol(t, w->ruby.name);
    if (name) ruby_copy_text(object->name, LANGUAGE_NAME_BYTES, name);
    return;
  }
  const __u64 path = language_word(w->ruby.body_bytes, l->body_path);
  __u64 flags = 0;
  ruby_copy_text(object->name, LANGUAGE_NAME_BYTES, language_word(w->ruby.body_bytes, l->body_name));
  language_read(&flags, 8, path);
  ruby_copy_text(object->file, LANGUAGE_FILE_BYTES, (flags & RUBY_OBJECT_KIND) == RUBY_ARRAY ? ruby_element(path, 0) : path);
}
