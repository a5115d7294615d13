/* Which JavaScript function a frame of V8 runs. Plain C, for the walker in the kernel (bpf/lib/node.bpf.c) and for stopped programs; language_read as
 * python_walk.h has it.
 *
 * The collector moves objects, so that a function has no address that lasts. SharedFunctionInfo, which all closures of a function have in common, is
 * moved seldom; its address is that of the entry. The check is of what identifies the function for as long as the process runs: the numbers of its
 * script and of the function in it. So what is at the address later is either the same function, or known not to be.
 *
 * A frame of compiled code has LANGUAGE_FIRST in its entry, and the address is pc; its check is also of the code around pc. Which functions run there,
 * as some are inlined, is found when the entry is first seen (node_code.cc). The check of code of no function of JavaScript is 0;
 * then the position of stubs, which lead from one frame to another, is NODE_NO_POSITION, and that of WebAssembly is 0. */
#pragma once

#include "runtime/language_copy.h"

/* In language_object::object, behind what node_layout.h has there: NODE_TEXT_BYTES of the code around pc. */
enum { NODE_OBJECT_TEXT = 16 };

/* What frames of WebAssembly have in the place of a context. */
enum { NODE_WEBASSEMBLY = 4 << 1 };

/* The check of a function that cannot be read, as it is moved: it has no name, but is no stub. */
enum { NODE_UNREADABLE = 1 };

#define node_slot(m, offset) language_word_at((m)->slots + ((offset) - NODE_SLOT_OFFSET))
#define node_is_object(word) ((word) & 1)

/* Reads what identifies the function with this SharedFunctionInfo; 1: it cannot be read. */
language_inline int node_read_shared(const struct node_layout *l, struct node_memory *m, __u64 shared) {
  m->shared = 0;
  if (!node_is_object(shared) || language_read(m->shared_bytes, NODE_SHARED_BYTES, shared - 1)) return 1;
  m->script = language_word(m->shared_bytes, l->shared_script);
  m->word = 0;
  if (node_is_object(m->script)) language_read(&m->word, 8, m->script - 1 + NODE_SCRIPT_ID);
  __u64 hash = language_mix(0, m->word);
  /* A function of no script is a builtin, which has a number. */
  if (m->word & 0xffffffff || !m->word) hash = language_mix(0, language_word(m->shared_bytes, l->shared_data) ^ language_word(m->shared_bytes, l->shared_other_data));
  hash = language_mix(hash, language_half(m->shared_bytes, l->shared_literal));
  hash = language_mix(hash, language_half(m->shared_bytes, l->shared_counts));
  m->function_check = hash & LANGUAGE_CHECK_MASK;
  if (!m->function_check) m->function_check = 1;
  m->shared = shared;
  return 0;
}

/* Is pc where the interpreter goes on? */
language_inline int node_is_interpreter(const struct node_layout *l, struct node_memory *m) {
  const __u64 low = m->pc & 0xfff;
  if (m->is_exact || (low != l->returns[0] && low != l->returns[1])) return 0;
  return !language_read(&m->word, 8, m->pc) && m->word == l->return_text;
}

/* Sets code (0: none is known), check and position of the frame of code at pc. Before it has made its frame, code has none. */
language_inline void node_frame(const struct node_layout *l, struct language_walk *w) {
  struct node_memory *m = &w->node;
  w->is_first = 1;
  w->code = m->pc;
  w->check = 0;
  w->position = NODE_NO_POSITION;
  m->shared = 0;
  m->is_code = 1;
  if (m->next_pc || m->bp & 7 || m->bp < m->sp || language_read(m->slots, NODE_FRAME_BYTES, m->bp + NODE_SLOT_OFFSET)) return;
  const __u64 function = node_slot(m, NODE_SLOT_FUNCTION);
  if (node_slot(m, NODE_SLOT_CONTEXT) == NODE_WEBASSEMBLY) w->position = 0;
  /* Frames of no function have a number there. */
  if (!node_is_object(node_slot(m, NODE_SLOT_CONTEXT)) || !node_is_object(function)) return;
  w->check = NODE_UNREADABLE;
  if (language_read(&m->word, 8, function - 1 + l->function_shared) || node_read_shared(l, m, m->word)) return;
  if (node_is_interpreter(l, m)) {
    const __u64 offset = node_slot(m, NODE_SLOT_OFFSET) >> 32;
    w->is_first = m->is_code = 0;
    w->code = m->shared;
    w->check = m->function_check;
    w->position = offset - (l->bytecode_data - 1);
    if (w->position > NODE_NO_POSITION) w->position = NODE_NO_POSITION;
    return;
  }
  __u64 hash = language_mix(m->function_check, m->shared);
  if (language_read(m->text, NODE_TEXT_BYTES, m->pc - NODE_TEXT_BEFORE)) __builtin_memset(m->text, 0, NODE_TEXT_BYTES);
  for (int i = 0; i < NODE_TEXT_BYTES; i += 8) hash = language_mix(hash, language_word(m->text, i));
  w->check = hash & LANGUAGE_CHECK_MASK;
  if (!w->check) w->check = 1;
}

/* Copies a string, or the one that it stands for. */
language_inline void node_copy_text(__u8 *to, __u64 size, __u64 text) {
  __u64 map = 0;
  if (!node_is_object(text) || language_read(&map, 8, text - 1)) return;
  __u32 type = 0;
  if (language_read(&type, 2, map - 1 + NODE_MAP_TYPE)) return;
  if (type < NODE_STRING_TYPES && (type & NODE_STRING_MASK) == NODE_STRING_THIN && language_read(&text, 8, text - 1 + NODE_TEXT_ACTUAL)) return;
  language_copy(to, size, text - 1);
}

/* What names the frame that was read last, for programs that have ended when they are asked. */
language_inline void node_describe(const struct node_layout *l, struct language_walk *w, struct language_object *object) {
  struct node_memory *m = &w->node;
  __builtin_memcpy(object->object + NODE_OBJECT_SHARED, &m->shared, 8);
  __builtin_memcpy(object->object + NODE_OBJECT_CHECK, &m->function_check, 4);
  object->object[NODE_OBJECT_IS_CODE] = m->is_code;
  object->object[NODE_OBJECT_IS_EXACT] = m->is_exact;
  object->object[NODE_OBJECT_HAS_NAME] = 0;
  __builtin_memcpy(object->object + NODE_OBJECT_TEXT, m->text, NODE_TEXT_BYTES);
  if (!m->shared) return;
  __u64 name = language_word(m->shared_bytes, l->shared_name), map = 0;
  if (!node_is_object(name)) return;
  /* A string, or a ScopeInfo that has one behind the variables, each with its name and its properties. */
  __u32 type = 0;
  if (language_read(&map, 8, name - 1) || language_read(&type, 2, map - 1 + NODE_MAP_TYPE)) return;
  if (type >= NODE_STRING_TYPES) {
    __u64 flags = 0, locals = 0;
    if (language_read(&flags, 8, name - 1 + NODE_SCOPE_FLAGS) || language_read(&locals, 8, name - 1 + NODE_SCOPE_LOCALS)) return;
    flags >>= l->scope_flags_shift & 63;
    locals >>= 32;
    const __u64 at = NODE_SCOPE_NAME_AT(l->scope_names, flags, locals);
    if (!NODE_SCOPE_HAS_NAME(flags) || language_read(&name, 8, name - 1 + at)) return;
  }
  node_copy_text(object->name, LANGUAGE_NAME_BYTES, name);
  if (!language_read(&name, 8, m->script - 1 + NODE_SCRIPT_NAME)) node_copy_text(object->file, LANGUAGE_FILE_BYTES, name);
  object->object[NODE_OBJECT_HAS_NAME] = 1;
}
