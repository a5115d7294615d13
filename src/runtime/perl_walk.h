/* From a thread of Perl to its frames, innermost first, as python_walk.h.
 *
 * A frame is a sub, an eval, a file that is loaded (require, do), a format, a sort block, code in a regular expression or a deferred block; the
 * outermost is the program itself. A frame is at a statement (COP), which is what word 1 of its entry is: each call of a sub finds its names
 * there, and a statement has them even where the compiler was told of other files and lines (#line). A position is a line.
 *
 * An interpreter calls its evaluation function once for the program, and again for each call that C code makes: from there to the next such
 * call is an activation. C code gives a sub no operation to return to. */
#pragma once

#include "runtime/language_copy.h"

enum { PERL_FRAME_SUB, PERL_FRAME_EVAL, PERL_FRAME_FILE, PERL_FRAME_SORT, PERL_FRAME_REGEX, PERL_FRAME_DEFER, PERL_FRAME_PROGRAM };

/* `opens`: the next frame is the innermost of all, or the one behind it was called by C code. */
enum { PERL_OPENS_STACK = 1, PERL_OPENS_CALLER = 2 };

/* Of glibc: a thread's values of pthread keys are in blocks of 32, each a sequence number and the value; the thread's descriptor has the first
 * block, and behind it the addresses of all blocks, of which the first is that of the first block. No other word of a descriptor is its own
 * address less the size of a block. */
enum { PERL_KEYS = 1024, PERL_BLOCK_KEYS = 32, PERL_BLOCK_BYTES = PERL_BLOCK_KEYS * 16, PERL_DESCRIPTOR_BYTES = 4096 };

/* The first block of values, if it is this thread's; 0: it is. */
language_inline int perl_is_block(const struct language_walk *w, __u64 block) {
  __u64 first = 0;
  return block - w->thread_pointer >= PERL_DESCRIPTOR_BYTES || language_read(&first, 8, block + PERL_BLOCK_BYTES) || first != block;
}

/* A turn of the search for that block in the thread's descriptor; 1: it is over, and `end` is LANGUAGE_COMPLETE if it was found. */
language_inline int perl_search_turn(struct language_walk *w, __u32 turn) {
  w->thread = w->thread_pointer + 8ull * turn;
  if (perl_is_block(w, w->thread)) return 0;
  w->end = LANGUAGE_COMPLETE;
  return 1;
}

/* Sets `interpreter`; with threads `thread` is the thread's block of values. */
language_inline int perl_find_interpreter(const struct language_table *t, struct language_walk *w) {
  __u32 key = 0;
  __u64 block = 0;
  w->end = LANGUAGE_NO_THREAD;
  w->perl.interpreter = t->root;
  if (!t->perl.has_threads) return 0;
  w->perl.interpreter = 0;
  if (language_read(&key, 4, t->root) || key >= PERL_KEYS) return 1;
  if (language_read(&block, 8, w->thread + PERL_BLOCK_BYTES + 8 * (key / PERL_BLOCK_KEYS)) || !block) return 1;
  return language_read(&w->perl.interpreter, 8, block + 16 * (key % PERL_BLOCK_KEYS) + 8) || !w->perl.interpreter;
}

/* Goes to the contexts of a stack. */
language_inline int perl_begin_stack(const struct perl_layout *l, struct language_walk *w, __u64 stack) {
  if (language_read(w->perl.stack_bytes, l->stack_bytes & (PERL_STACK_BYTES - 1), stack)) return 1;
  w->perl.contexts = language_word(w->perl.stack_bytes, l->stack_contexts);
  w->perl.previous = language_word(w->perl.stack_bytes, l->stack_previous);
  w->perl.top = w->perl.index = language_half(w->perl.stack_bytes, l->stack_top) + 1;
  w->perl.last = w->perl.from_c = 0;
  return 0;
}

language_inline int perl_begin(const struct language_table *t, struct language_walk *w) {
  __u64 stack = 0;
  w->opens = PERL_OPENS_STACK;
  w->end = LANGUAGE_UNREADABLE;
  w->perl.is_over = 0;
  if (language_read(&stack, 8, w->perl.interpreter + t->perl.current_stack)) return 1;
  if (language_read(&w->perl.statement, 8, w->perl.interpreter + t->perl.current_statement)) return 1;
  return perl_begin_stack(&t->perl, w, stack);
}

/* Adds what names the sub that was read to what identifies the frame. */
language_inline __u64 perl_identify(const struct perl_layout *l, struct language_walk *w, __u64 hash) {
  __u64 body = 0;
  const __u64 code = language_word(w->perl.context_bytes, l->context_code);
  if (language_read(&body, 8, code + l->value_body) || language_read(w->perl.code_bytes, l->code_bytes & (PERL_CODE_BYTES - 1), body))
    __builtin_memset(w->perl.code_bytes, 0, PERL_CODE_BYTES);
  return language_mix(hash, language_word(w->perl.code_bytes, l->code_name));
}

/* The frame of this kind, which is at `statement`. */
language_inline int perl_frame(const struct perl_layout *l, struct language_walk *w, __u32 kind) {
  __builtin_memset(w->perl.statement_bytes, 0, PERL_STATEMENT_BYTES);
  if (w->perl.statement && language_read(w->perl.statement_bytes, PERL_STATEMENT_BYTES, w->perl.statement)) return 1;
  w->code = w->perl.statement ? w->perl.statement : w->perl.interpreter;
  w->position = language_half(w->perl.statement_bytes, l->statement_line);
  w->perl.kind = kind;
  __u64 hash = language_mix(kind, language_word(w->perl.statement_bytes, l->statement_file));
  hash = language_mix(hash, (__u64)language_half(w->perl.statement_bytes, l->statement_sequence) << 32 | w->position);
  if (kind == PERL_FRAME_SUB) hash = perl_identify(l, w, hash);
  w->check = hash & LANGUAGE_CHECK_MASK;
  return 0;
}

/* Reads a frame, and goes on to its caller; 1: there is none, and `end` is why. */
language_inline int perl_turn(const struct language_table *t, struct language_walk *w) {
  const struct perl_layout *l = &t->perl;
  w->code = 0;
  if (w->perl.is_over) {
    w->end = LANGUAGE_COMPLETE;
    return 1;
  }
  if (!w->perl.index || w->perl.index > 0x7fffffff) {
    if (w->perl.previous) return perl_begin_stack(l, w, w->perl.previous);
    w->perl.is_over = 1;
    /* Before the program and behind it there are calls by C code alone: the first context is one of them. */
    w->is_first = w->opens && w->perl.top && w->perl.last != 1;
    return perl_frame(l, w, PERL_FRAME_PROGRAM);
  }
  const __u32 at = w->perl.index--;
  if (language_read(w->perl.context_bytes, l->context_bytes & (PERL_CONTEXT_BYTES - 1), w->perl.contexts + (__u64)(at - 1) * l->context_bytes)) return 1;
  const __u8 type = w->perl.context_bytes[0];
  const int returns_to_c = !language_word(w->perl.context_bytes, l->context_return);
  /* Blocks have nothing to return to, nor has a sub that a block calls last. */
  int is_block = 0, opens = 0;
  __u32 kind = PERL_FRAME_SUB;
  switch (type & PERL_CX_TYPE) {
  case PERL_CX_SUB:
    if (type & PERL_CX_REGEX) {
      kind = PERL_FRAME_REGEX;
      is_block = 1;
      break;
    }
    __attribute__((fallthrough));
  case PERL_CX_FORMAT: opens = returns_to_c; break;
  case PERL_CX_EVAL:
    if (type & PERL_CX_TRY && type & PERL_CX_EVAL_BLOCK) return 0;
    kind = PERL_FRAME_EVAL;
    if (type & PERL_CX_EVAL_BLOCK) break;
    if (!(type & PERL_CX_EVAL_TEXT) && language_word(w->perl.context_bytes, l->context_name)) kind = PERL_FRAME_FILE;
    opens = returns_to_c;
    break;
  case PERL_CX_NULL:
    kind = PERL_FRAME_SORT;
    is_block = 1;
    break;
  case PERL_CX_DEFER:
    kind = PERL_FRAME_DEFER;
    is_block = 1;
    break;
  default: return 0;
  }
  if (perl_frame(l, w, kind)) return 1;
  /* An eval that C code has wrapped around its call (G_EVAL) is no call of its own. */
  const int is_around = kind == PERL_FRAME_EVAL && type & PERL_CX_EVAL_BLOCK && returns_to_c && w->opens == PERL_OPENS_CALLER;
  const int is_called_last = is_block && w->opens == PERL_OPENS_CALLER && w->perl.from_c;
  w->is_first = w->opens && !is_around && !is_called_last;
  if (!is_around) w->opens = opens || is_block ? PERL_OPENS_CALLER : 0;
  w->perl.from_c = opens;
  w->perl.last = at;
  w->perl.statement = language_word(w->perl.context_bytes, l->context_statement);
  return 0;
}

/* Copies the name of a glob, and gives its stash. */
language_inline __u64 perl_copy_glob(const struct perl_layout *l, __u8 *to, __u64 size, __u64 glob, __u64 *name) {
  __u64 body = 0, stash = 0;
  *name = 0;
  if (language_read(&body, 8, glob + l->value_body)) return 0;
  if (!language_read(name, 8, body + l->glob_name)) language_copy(to, size, *name);
  language_read(&stash, 8, body + l->glob_stash);
  return stash;
}

/* The name of a stash. */
language_inline __u64 perl_stash_name(const struct perl_layout *l, __u64 stash) {
  __u64 body = 0, aux = 0, max = 0, name = 0;
  __u32 names = 0;
  if (!stash || language_read(&body, 8, stash + l->value_body)) return 0;
  aux = body + l->stash_aux;
  if (!l->aux_in_body) {
    if (language_read(&aux, 8, stash + l->value_pointer) || language_read(&max, 8, body + l->stash_max)) return 0;
    aux += 8 * (max + 1);
  }
  if (language_read(&name, 8, aux + l->aux_name) || language_read(&names, 4, aux + l->aux_names) || !name) return 0;
  if (names && language_read(&name, 8, name)) return 0;
  return name;
}

/* What is in the object behind the code's own words: the kind of the frame, and the addresses of the texts. */
enum { PERL_OBJECT_KIND = 0, PERL_OBJECT_NAME = 8, PERL_OBJECT_FILE = 16, PERL_OBJECT_STASH = 24 };
struct perl_object {
  __u64 kind, name, file, stash;
};

/* The texts of the frame that was read last: its name, its file, and in the place of lines the name of its package. */
language_inline void perl_describe(const struct perl_layout *l, const struct language_walk *w, struct language_object *object) {
  struct perl_object *out = (struct perl_object *)object->object;
  __u64 stash = 0, glob = 0, effective = 0;
  out->kind = w->perl.kind;
  out->name = out->stash = 0;
  out->file = language_word(w->perl.statement_bytes, l->statement_file);
  if (l->has_threads)
    language_copy(object->file, LANGUAGE_FILE_BYTES, out->file);
  else
    perl_copy_glob(l, object->file, LANGUAGE_FILE_BYTES, out->file, &out->file);
  if (w->perl.kind != PERL_FRAME_SUB) return;
  const __u32 flags = language_half(w->perl.code_bytes, l->code_flags);
  glob = language_word(w->perl.code_bytes, l->code_name);
  if (flags & l->code_is_named) {
    out->name = glob;
    language_copy(object->name, LANGUAGE_NAME_BYTES, glob);
    stash = flags & l->code_is_lexical ? 0 : language_word(w->perl.code_bytes, l->code_stash);
  } else if (glob) {
    if (!language_read(&effective, 8, glob + l->value_pointer) && !language_read(&effective, 8, effective + l->glob_effective) && effective)
      glob = effective;
    stash = perl_copy_glob(l, object->name, LANGUAGE_NAME_BYTES, glob, &out->name);
  }
  out->stash = perl_stash_name(l, stash);
  if (out->stash) language_copy(object->lines, LANGUAGE_LINES_BYTES, out->stash);
}
